//! What Sinker is for: what one session settled reaches the next one, once, with where it comes from; and nothing else does.

use crate::rig::*;

/// Three hours, in seconds.
const LATER: [(&str, &str); 1] = [("SINKER_NOW", "+10800")];

/// A session that settles something, stored and searchable when this returns. Gives its id.
fn settle_the_port(world: &World) -> String {
    world.api.turn(
        "Which port shall the harbor gateway use?",
        &[vec![text("Let me look."), bash("toolu_01", "cat src/lib.rs")], vec![text(DECISION)]],
    );
    let said = world.print("Which port shall the harbor gateway use?", &[]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let session = said.session();
    world.settle(&session);
    world.api.clear();
    session
}

#[test]
fn what_was_settled_arrives_once_with_its_origin() {
    scenario("memory::what_was_settled_arrives_once_with_its_origin", |world| {
        world.install();
        let first = settle_the_port(world);
        let record = world.records(&first).into_iter().find(|r| r["text"] == DECISION).unwrap();
        let record = record["record"].as_str().unwrap().to_owned();
        world.other_work();

        // A question that bears on it: the line stands in the request once, in a note that names record and session.
        let prompt = "On which port does the harbor gateway listen?";
        let second = world.print_with(prompt, &[], &LATER);
        let request = world.api.asked(prompt).remove(0);
        let notes = request.notes();
        assert_eq!(request.count(DECISION), 1, "{notes:#?}");
        let note = notes.iter().find(|n| n.contains(DECISION)).unwrap();
        assert!(note.contains(&record) && note.contains(&first), "{note}");
        assert!(
            request.text().contains(&format!("UserPromptSubmit hook additional context: {note}")),
            "{notes:#?}"
        );
        assert_eq!(second.stderr, "");
        world.settle(&second.session());
        world.api.clear();

        // An unrelated prompt: whatever the start of the session tells, the prompt gets nothing.
        world.print_with("Translate the word umbrella into Latvian.", &[], &LATER);
        let request = world.api.asked("umbrella").remove(0);
        assert_eq!(request.count("UserPromptSubmit hook additional context"), 0, "{:#?}", request.notes());
        world.api.clear();

        // The resumed session has it in its context already: nothing is said again.
        let before = notes.len();
        let again = "Say again on which port the harbor gateway listens.";
        world.print_with(again, &["--resume", &second.session()], &LATER);
        let request = world.api.asked(again).remove(0);
        assert_eq!((request.count(DECISION), request.notes().len()), (1, before), "{:#?}", request.notes());
    });
}

#[test]
fn what_the_brief_has_told_the_prompt_does_not_tell_again() {
    scenario("memory::what_the_brief_has_told_the_prompt_does_not_tell_again", |world| {
        world.install();
        settle_the_port(world);
        let prompt = "On which port does the harbor gateway listen?";
        world.print_with(prompt, &[], &LATER);
        let request = world.api.asked(prompt).remove(0);
        assert_eq!(request.count(DECISION), 1, "{:#?}", request.notes());
        assert!(
            request.notes().iter().any(|n| n.contains(DECISION) && n.contains("\nchange ")),
            "{:#?}",
            request.notes()
        );
    });
}

#[test]
fn after_a_compaction_it_is_said_again() {
    scenario("memory::after_a_compaction_it_is_said_again", |world| {
        world.install();
        settle_the_port(world);
        world.other_work();
        let prompt = "On which port does the harbor gateway listen?";
        let second = world.print_with(prompt, &[], &LATER);
        assert_eq!(world.api.asked(prompt)[0].count(DECISION), 1);
        let session = second.session();
        world.settle(&session);
        world.api.clear();
        let summary = vec![text("<summary>They asked about a harbor.</summary>")];
        world.api.on("CRITICAL: Respond with TEXT ONLY", Reply::Blocks(summary));
        world.print_with("/compact", &["--resume", &session], &LATER);
        let again = "Which port does the harbor gateway listen on, once more?";
        world.print_with(again, &["--resume", &session], &LATER);
        let request = world.api.asked(again).remove(0);
        assert_eq!(request.count(DECISION), 1, "{:#?}", request.notes());
    });
}

#[test]
fn our_own_words_do_not_become_memory() {
    scenario("memory::our_own_words_do_not_become_memory", |world| {
        world.install();
        settle_the_port(world);
        let mut sessions = Vec::new();
        for _ in 0..3 {
            let said = world.print_with("On which port does the harbor gateway listen?", &[], &LATER);
            world.settle(&said.session());
            sessions.push(said.session());
        }
        for session in sessions {
            let texts: Vec<_> = world.records(&session).iter().map(|r| r["text"].to_string()).collect();
            assert_eq!(
                texts,
                ["\"On which port does the harbor gateway listen?\"", "\"Understood.\""],
                "the question and the answer only"
            );
        }
    });
}
