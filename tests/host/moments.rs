//! Recall at the other moments of a session: tools, commands, subagents, and the line that is for the user alone.

use crate::rig::*;
use serde_json::json;

fn read(world: &World, id: &str) -> serde_json::Value {
    call(id, "Read", json!({ "file_path": world.project().join("src/lib.rs") }))
}

/// A session that changes a file and says why, and sessions about other things after it.
fn past(world: &World) {
    let edit = json!({ "file_path": world.project().join("src/lib.rs"), "old_string": "8080", "new_string": "7443" });
    world.api.turn(
        "Which port shall the harbor gateway use?",
        &[vec![read(world, "toolu_p1")], vec![call("toolu_p2", "Edit", edit)], vec![text(DECISION)]],
    );
    let make = "make keel";
    world.api.turn(
        "Build the keel.",
        &[vec![bash("toolu_p3", make)], vec![text("The keel cannot be built: the Makefile names no rule for it; oak.mk has to be included first.")]],
    );
    for prompt in ["Which port shall the harbor gateway use?", "Build the keel."] {
        let said = world.print(prompt, &[]);
        world.settle(&said.session());
    }
    world.other_work();
}

/// Notes of the newest request that ends with `needle`, with what stands before each.
fn labels(world: &World, needle: &str) -> Vec<String> {
    let request = world.api.asked(needle).pop().unwrap_or_else(|| panic!("{needle}: {}", world.api.story()));
    let text = request.text();
    let hooks = text.lines().filter_map(|line| line.split_once(" hook additional context: "));
    hooks.map(|(hook, _)| hook.rsplit('\n').next().unwrap_or(hook).to_owned()).collect()
}

#[test]
fn a_file_with_a_history_is_told_once_before_it_is_touched() {
    scenario("moments::a_file_with_a_history_is_told_once_before_it_is_touched", |world| {
        world.install();
        past(world);
        let replies = [vec![read(world, "toolu_01")], vec![read(world, "toolu_02")], vec![text("Seen.")]];
        world.api.turn("Translate the word umbrella into Latvian.", &replies);
        world.print("Translate the word umbrella into Latvian.", &[]);
        let before = world.api.asked("umbrella").remove(0);
        let first = world.api.asked("result of toolu_01").remove(0);
        let second = world.api.asked("result of toolu_02").remove(0);
        let fresh: Vec<_> = first.notes().into_iter().filter(|n| !before.notes().contains(n)).collect();
        assert_eq!(fresh.len(), 1, "{:#?}", first.notes());
        assert!(fresh[0].chars().count() <= 400 && fresh[0].contains("7443"), "{}", fresh[0]);
        assert!(labels(world, "result of toolu_01").contains(&"PreToolUse:Read".to_owned()));
        assert_eq!(second.notes(), first.notes(), "once a session");
    });
}

#[test]
fn a_failure_that_was_met_before_is_told() {
    scenario("moments::a_failure_that_was_met_before_is_told", |world| {
        world.install();
        past(world);
        world.api.turn("Try it.", &[vec![bash("toolu_01", "make keel")], vec![text("No.")]]);
        world.print("Try it.", &[]);
        let labels = labels(world, "result of toolu_01");
        assert!(
            labels.iter().any(|l| l == "PreToolUse:Bash" || l == "PostToolUseFailure:Bash"),
            "{labels:?}"
        );
        let request = world.api.asked("result of toolu_01").remove(0);
        // The start told that the command failed; what came of it is told once, where it fails again.
        assert_eq!(
            request.notes().iter().filter(|n| n.contains("oak.mk")).count(),
            1,
            "{:#?}",
            request.notes()
        );
    });
}

#[test]
fn a_typed_command_is_answered_like_a_prompt() {
    scenario("moments::a_typed_command_is_answered_like_a_prompt", |world| {
        world.install();
        past(world);
        let command = "---\ndescription: Explain a thing\n---\nExplain this: $ARGUMENTS\n";
        write(&world.project().join(".claude/commands/explain.md"), command);
        world.print("/explain On which port does the harbor gateway listen?", &[]);
        let request = world.api.asked("Explain this").remove(0);
        assert_eq!(request.count(DECISION), 1, "{:#?}", request.notes());
    });
}

#[test]
fn a_subagent_gets_what_bears_on_its_own_prompt() {
    scenario("moments::a_subagent_gets_what_bears_on_its_own_prompt", |world| {
        world.install();
        past(world);
        let ask = |id: &str, prompt: &str| {
            let input = json!({ "description": "look it up", "prompt": prompt, "subagent_type": "general-purpose",
                                "run_in_background": false });
            call(id, "Agent", input)
        };
        let port = "Find out on which port the harbor gateway listens.";
        let other = "Translate the word umbrella into Latvian.";
        world.api.turn("Ask around.", &[vec![ask("toolu_01", port)], vec![text("Asked.")]]);
        world.api.turn(port, &[vec![text("It is 7443.")]]);
        world.print("Ask around.", &[]);
        let of_agent = world.api.asked(port).remove(0);
        assert_eq!(of_agent.count(DECISION), 1, "{:#?}", of_agent.notes());
        assert!(of_agent.text().contains("SubagentStart hook additional context"));
        let of_parent = world.api.asked("result of toolu_01").remove(0);
        assert_eq!(of_parent.count(DECISION), 0, "the parent did not ask: {:#?}", of_parent.notes());
        world.api.clear();

        // Two of one type at once share what was found for both; one that asks of nothing known alone gets nothing.
        world
            .api
            .turn("Ask both.", &[vec![ask("toolu_11", port), ask("toolu_12", other)], vec![text("Asked.")]]);
        world.print("Ask both.", &[]);
        for prompt in [port, other] {
            let request = world.api.asked(prompt).remove(0);
            assert_eq!(request.count(DECISION), 1, "{prompt}: {:#?}", request.notes());
        }
        world.api.clear();
        let alone = "Whistle a polka backwards.";
        world.api.turn("Ask one.", &[vec![ask("toolu_21", alone)], vec![text("Asked.")]]);
        world.print("Ask one.", &[]);
        let request = world.api.asked(alone).remove(0);
        assert!(request.notes().is_empty(), "{:#?}", request.notes());
    });
}

#[test]
fn the_user_alone_is_told_what_is_behind() {
    scenario("moments::the_user_alone_is_told_what_is_behind", |world| {
        world.install();
        world.api.turn("first words", &[vec![text("First answer.")]]);
        let (said, _) = world.events_of("first words", &[]);
        // Nobody has drained for a day.
        let yesterday = std::time::SystemTime::now() - std::time::Duration::from_secs(25 * 60 * 60);
        for entry in std::fs::read_dir(world.data("spool/new")).unwrap() {
            std::fs::File::open(entry.unwrap().path()).unwrap().set_modified(yesterday).unwrap();
        }
        let later = [("SINKER_AUTOSTART", "0")];
        let mut t = Terminal::start(world, &["--resume", &said.session()], &later);
        t.see("says: sinker: ");
        t.enter("second words");
        t.see("Understood.");
        let request = world.api.asked("second words").remove(0);
        assert!(!request.text().contains("of 1 session wait"), "it reached the model");
        t.enter("/exit");
        t.ended();
        // Once a day.
        let again = Terminal::start(world, &["--resume", &said.session()], &later);
        again.see("First answer.");
        // The line of the first time stands in the transcript that it shows.
        again.see("second words");
        assert_eq!(again.screen().matches("says: sinker: ").count(), 1, "{}", again.screen());
    });
}
