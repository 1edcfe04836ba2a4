//! Every event that the client reaches without a terminal: what the spool holds when it is over, and what is stored then.

use crate::rig::*;
use serde_json::{Value, json};

/// `speaker: first line` of each record, in order.
fn said_by(world: &World, session: &str) -> Vec<String> {
    let one = |r: &Value| {
        let text = r["text"].as_str().unwrap();
        format!("{}: {}", r["speaker"].as_str().unwrap(), text.lines().next().unwrap_or_default())
    };
    world.records(session).iter().map(one).collect()
}

#[test]
fn tools_that_succeed_and_fail_are_stored_with_their_results() {
    scenario("events::tools_that_succeed_and_fail_are_stored_with_their_results", |world| {
        world.install_in_step();
        let replies = [
            vec![thinking("A file first."), text("First the file."), bash("toolu_01", "cat src/lib.rs")],
            vec![bash("toolu_02", "echo lost the keel >&2; exit 3")],
            vec![call("toolu_03", "Read", json!({ "file_path": world.project().join("src/lib.rs") }))],
            vec![text("The port is 8080.")],
        ];
        world.api.turn("look around", &replies);
        let (said, events) = world.events_of("look around", &[]);
        assert_rang(
            &events,
            "session-start(startup) user-prompt-submit post-tool-use post-tool-batch? post-tool-use-failure post-tool-batch? \
             post-tool-use post-tool-batch? stop session-end(other)",
        );
        world.drain();
        assert_eq!(
            said_by(world, &said.session()),
            [
                "user: look around",
                "assistant: A file first.",
                "assistant: First the file.",
                "assistant: Bash",
                "tool: pub fn port() -> u16 {",
                "assistant: Bash",
                "tool: Exit code 3",
                "assistant: Read",
                "tool: 1\tpub fn port() -> u16 {",
                "assistant: The port is 8080.",
            ]
        );
    });
}

#[test]
fn denied_and_unknown_calls_ring_by_their_batch_alone() {
    scenario("events::denied_and_unknown_calls_ring_by_their_batch_alone", |world| {
        world.install_in_step();
        let web = call("toolu_01", "WebFetch", json!({ "url": "https://example.com", "prompt": "look" }));
        let replies =
            [vec![web, call("toolu_02", "Nonsense", json!({ "a": 1 }))], vec![text("Neither worked.")]];
        world.api.turn("try what is not allowed", &replies);
        let (said, events) = world.events_of("try what is not allowed", &[]);
        assert_rang(
            &events,
            "session-start(startup) user-prompt-submit post-tool-batch stop session-end(other)",
        );
        world.drain();
        let said = said_by(world, &said.session()).join("\n");
        assert!(said.contains("Claude requested permissions to use WebFetch"), "{said}");
        assert!(said.contains("No such tool available: Nonsense"), "{said}");
    });
}

#[test]
fn subagents_before_and_behind_are_stored_in_their_parents_session() {
    scenario("events::subagents_before_and_behind_are_stored_in_their_parents_session", |world| {
        world.install_in_step();
        let ask = |id: &str, what: &str, behind: bool| {
            let input = json!({ "description": what, "prompt": format!("Find the {what} in the tree."),
                                "subagent_type": "general-purpose", "run_in_background": behind });
            vec![call(id, "Agent", input)]
        };
        let replies =
            [ask("toolu_01", "mast", false), ask("toolu_02", "anchor", true), vec![text("Both are asked.")]];
        world.api.turn("ask two helpers", &replies);
        world.api.turn("Find the mast", &[vec![bash("toolu_11", "ls")], vec![text("The mast is in src.")]]);
        world.api.turn(
            "Find the anchor",
            &[vec![bash("toolu_21", "ls src")], vec![text("The anchor is in lib.rs.")]],
        );
        let (said, events) = world.events_of("ask two helpers", &[]);
        let line = line(&events);
        let count = |event: &str| events.iter().filter(|e| e.event == event).count();
        assert_eq!((count("subagent-stop"), count("post-tool-use")), (2, 4), "{line}\n{}", world.api.story());
        assert!(line.ends_with("session-end(other)"), "{line}");
        world.drain();
        let session = said.session();
        let stored = said_by(world, &session);
        for words in [
            "user: ask two helpers",
            "agent: Find the mast in the tree.",
            "agent: Find the anchor in the tree.",
            "assistant: The mast is in src.",
            "assistant: The anchor is in lib.rs.",
            "assistant: Both are asked.",
            "host: <task-notification>",
        ] {
            assert_eq!(stored.iter().filter(|s| *s == words).count(), 1, "{words}: {stored:#?}");
        }
        let all = world.json(&["inspect", "--view", "records"]);
        let outcomes =
            all.iter().filter(|r| r["kind"] == "outcome" && r["session"] == session.as_str()).count();
        assert!(outcomes >= 3, "a turn and two subagents: {outcomes}");
    });
}

#[test]
fn failures_of_the_api_are_told_by_kind() {
    scenario("events::failures_of_the_api_are_told_by_kind", |world| {
        world.install_in_step();
        let cases = [
            (400, "invalid_request_error", "unknown"),
            (429, "rate_limit_error", "rate_limit"),
            (500, "api_error", "server_error"),
            (529, "overloaded_error", "server_error"),
        ];
        for (status, kind, reason) in cases {
            let prompt = format!("fail with {status}");
            world.api.always(&prompt, Reply::Error(status, kind));
            let (said, events) = world.events_of(&prompt, &[]);
            // The client does not wait for this hook when it leaves.
            let line = line(&events);
            assert!(line.starts_with("session-start(startup) user-prompt-submit"), "{line}");
            let failure = format!("stop-failure({reason})");
            assert!(line.contains(&failure) || !line.contains("stop"), "{status}: {line}");
            world.drain();
            assert_eq!(said_by(world, &said.session()).first().unwrap(), &format!("user: {prompt}"));
        }
    });
}

#[test]
fn a_turn_cut_by_its_limit_is_found_at_the_end() {
    scenario("events::a_turn_cut_by_its_limit_is_found_at_the_end", |world| {
        world.install_in_step();
        world.api.turn("too many steps", &[vec![bash("toolu_01", "ls")], vec![bash("toolu_02", "ls src")]]);
        let (said, events) = world.events_of("too many steps", &["--max-turns", "1"]);
        assert_rang(
            &events,
            "session-start(startup) user-prompt-submit post-tool-use post-tool-batch? session-end(other)",
        );
        world.drain();
        assert_eq!(
            said_by(world, &said.session()),
            ["user: too many steps", "assistant: Bash", "tool: README.md"]
        );
    });
}

#[test]
fn commands_and_skills_are_stored_as_typed_and_not_as_expanded() {
    scenario("events::commands_and_skills_are_stored_as_typed_and_not_as_expanded", |world| {
        world.install_in_step();
        let command = "---\ndescription: Review the tide tables\n---\nReview the tide tables of $ARGUMENTS with care.\n";
        write(&world.project().join(".claude/commands/review.md"), command);
        let skill =
            "---\nname: charts\ndescription: How charts are drawn\n---\nDraw charts with blue water.\n";
        write(&world.project().join(".claude/skills/charts/SKILL.md"), skill);
        world.api.turn("Review the tide tables", &[vec![text("Reviewed.")]]);
        let (typed, events) = world.events_of("/review the north sea", &[]);
        assert_rang(&events, "session-start(startup) user-prompt-submit stop session-end(other)");
        let replies = [vec![call("toolu_01", "Skill", json!({ "skill": "charts" }))], vec![text("Drawn.")]];
        world.api.turn("use the skill", &replies);
        let (called, _) = world.events_of("use the skill", &[]);
        world.drain();
        let stored = world.records(&typed.session());
        assert!(
            stored[0]["text"].as_str().unwrap().contains("<command-args>the north sea</command-args>"),
            "{stored:#?}"
        );
        assert_eq!((stored[0]["speaker"].as_str(), stored.len()), (Some("user"), 2), "{stored:#?}");
        let stored = said_by(world, &called.session());
        assert_eq!(
            stored,
            ["user: use the skill", "assistant: Skill", "tool: Launching skill: charts", "assistant: Drawn."]
        );
        let hits = world.json(&["search", "north sea", "--command", "review"]);
        let found = hits[0]["hits"].as_array().unwrap();
        let mut kinds: Vec<_> = found.iter().filter_map(|hit| hit["kind"].as_str()).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, ["observation", "outcome"], "the prompt and the turn that it began: {hits:#?}");
    });
}

#[test]
fn a_resumed_and_a_forked_session_keep_each_record_once() {
    scenario("events::a_resumed_and_a_forked_session_keep_each_record_once", |world| {
        world.install_in_step();
        for n in ["first", "second", "third"] {
            world.api.turn(&format!("{n} words"), &[vec![text(&format!("The {n} answer."))]]);
        }
        let (said, _) = world.events_of("first words", &[]);
        let session = said.session();
        let (said, events) = world.events_of("second words", &["--resume", &session]);
        assert_eq!(said.session(), session);
        assert_rang(&events, "session-start(resume) user-prompt-submit stop session-end(other)");
        let (said, events) = world.events_of("third words", &["--resume", &session, "--fork-session"]);
        let fork = said.session();
        assert_ne!(fork, session);
        assert_rang(&events, "session-start(fork) user-prompt-submit stop session-end(other)");
        world.drain();
        let all = world.json(&["inspect", "--view", "records"]);
        let mut texts: Vec<&str> =
            all.iter().filter(|r| r["kind"] == "observation").map(|r| r["text"].as_str().unwrap()).collect();
        texts.sort_unstable();
        let once = [
            "The first answer.",
            "The second answer.",
            "The third answer.",
            "first words",
            "second words",
            "third words",
        ];
        assert_eq!(texts, once);
        let of = |words: &str| all.iter().find(|r| r["kind"] == "observation" && r["text"] == words).unwrap();
        assert_eq!(of("first words")["sessions"].as_array().unwrap().len(), 2);
        assert_eq!(of("third words")["sessions"], json!([fork]));
    });
}

#[test]
fn compactions_by_hand_and_by_the_client_give_checkpoints() {
    scenario("events::compactions_by_hand_and_by_the_client_give_checkpoints", |world| {
        world.install_in_step();
        let summary = vec![text("<summary>They settled the keel.</summary>")];
        world.api.turn("settle the keel", &[vec![text("Decided: the keel is oak.")]]);
        world.api.always("CRITICAL: Respond with TEXT ONLY", Reply::Blocks(summary));
        let (said, _) = world.events_of("settle the keel", &[]);
        let session = said.session();
        let (_, events) = world.events_of("/compact", &["--resume", &session]);
        // The order of the last ones is that of processes; the nameless agent's stop names a file that never exists.
        assert_rang(
            &events,
            "session-start(resume) pre-compact(manual) subagent-stop/session-start(compact)/post-compact(manual) session-end(other)",
        );
        // A context that the API says is full makes the client compact by itself.
        let full = [vec![bash("toolu_01", "ls")], vec![text("Then the mast.")]];
        world.api.fill();
        world.api.turn("now the mast", &full);
        let (_, events) = world.events_of("now the mast", &["--resume", &session]);
        let line = line(&events);
        assert!(
            line.contains("pre-compact(auto)") && line.contains("post-compact(auto)"),
            "{line}\n{}",
            world.api.story()
        );
        world.drain();
        let all = world.json(&["inspect", "--view", "records"]);
        let checkpoints = all.iter().filter(|r| r["kind"] == "checkpoint").count();
        assert_eq!(checkpoints, 2, "{all:#?}");
    });
}

#[test]
fn a_session_that_moves_into_a_worktree_is_read_where_it_went() {
    scenario("events::a_session_that_moves_into_a_worktree_is_read_where_it_went", |world| {
        world.install_in_step();
        let enter = call("toolu_01", "EnterWorktree", json!({ "name": "wt1" }));
        world
            .api
            .turn("work apart", &[vec![enter], vec![bash("toolu_02", "pwd")], vec![text("Done apart.")]]);
        let (said, events) = world.events_of("work apart", &[]);
        let paths: std::collections::BTreeSet<_> =
            events.iter().map(|e| e.entry["transcript"].as_str().unwrap().to_owned()).collect();
        assert_eq!(paths.len(), 2, "the file was to move: {paths:?}");
        world.drain();
        let session = said.session();
        let stored = said_by(world, &session);
        assert_eq!(stored.first().unwrap(), "user: work apart");
        assert_eq!(stored.last().unwrap(), "assistant: Done apart.");
        assert_eq!(stored.len(), 6, "{stored:#?}");
        // A worktree belongs to the project that it was made from, and the file that went away is no loss.
        let sessions = world.json(&["sessions", "--all"]);
        assert_eq!(sessions.len(), 1, "{sessions:#?}");
        assert!(sessions[0]["project"].as_str().unwrap().starts_with("harbor-"), "{sessions:#?}");
        assert_eq!(world.json(&["status"])[0]["lost_ranges"], 0);
        assert_eq!(finish(world.sinker(&["status", "--session", &session]), "").code, Some(0));
    });
}

#[test]
fn a_session_that_writes_nothing_leaves_nothing_behind() {
    scenario("events::a_session_that_writes_nothing_leaves_nothing_behind", |world| {
        world.install_in_step();
        world.api.turn("leave no trace", &[vec![bash("toolu_01", "ls")], vec![text("None left.")]]);
        let (said, events) = world.events_of("leave no trace", &["--no-session-persistence"]);
        assert_eq!(said.code, Some(0));
        assert!(line(&events).starts_with("session-start(startup) user-prompt-submit"), "{}", line(&events));
        world.drain();
        let status = &world.json(&["status"])[0];
        assert_eq!(
            (&status["store"]["observations"], &status["lost_ranges"], &status["spool"]["odd"]),
            (&json!(0), &json!(0), &json!(0))
        );
        assert_eq!(status["spool"]["new"], 0);
        assert_eq!(world.logs(), "", "no line each turn");
    });
}

#[test]
fn a_killed_client_loses_nothing() {
    scenario("events::a_killed_client_loses_nothing", |world| {
        use rustix::process::{Pid, Signal, kill_process};
        world.install_in_step();
        for (signal, ends) in [(Signal::TERM, true), (Signal::KILL, false)] {
            let prompt = format!("hang until {ends}");
            let replies = [vec![text("A step first."), bash("toolu_01", "cat src/lib.rs")]];
            world.api.turn(&prompt, &replies);
            world.api.on("result of toolu_01", Reply::Hang);
            let mut command = world.claude(&["-p", &prompt, "--allowedTools", TOOLS]);
            command.env("SINKER_AUTOSTART", "0").stdin(std::process::Stdio::null());
            let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
            until(
                "the hanging request",
                || !world.api.asked("result of toolu_01").is_empty(),
                || world.api.story(),
            );
            until(
                "the pointers",
                || line(&world.pointers()).contains("post-tool-batch"),
                || line(&world.pointers()),
            );
            // The client writes a result half a second later; what it never wrote cannot be read.
            let file = world.transcript(&world.pointers().last().unwrap().session);
            let written = || std::fs::read_to_string(&file).unwrap_or_default();
            until("the result on disk", || written().contains("tool_result"), written);
            kill_process(Pid::from_child(&child), signal).unwrap();
            child.wait().unwrap();
            let events = || line(&world.pointers());
            if ends {
                until("the end's pointer", || events().contains("session-end(other)"), events);
            } else {
                assert!(!events().contains("session-end"), "{}", events());
            }
            let session = world.pointers()[0].session.clone();
            world.drain();
            let stored = said_by(world, &session);
            let expected = [
                format!("user: {prompt}"),
                "assistant: A step first.".into(),
                "assistant: Bash".into(),
                "tool: pub fn port() -> u16 {".into(),
            ];
            assert_eq!(stored, expected);
            world.api.clear();
        }
    });
}

#[test]
fn setup_is_checked_and_stays_quiet() {
    scenario("events::setup_is_checked_and_stays_quiet", |world| {
        world.install_in_step();
        for args in [&["--init"][..], &["--maintenance"]] {
            let (said, events) = world.events_of("set up", args);
            assert_eq!(said.code, Some(0), "{said:?}");
            assert_rang(&events, "session-start(startup) user-prompt-submit stop session-end(other)");
        }
        let (said, events) = world.events_of("", &["--init-only"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_rang(&events, "session-start(startup) session-end(other)");

        // With the entry of setup alone: it makes what is missing, and narrows what stands open.
        use std::os::unix::fs::PermissionsExt as _;
        let settings = world.claude_dir().join("settings.json");
        let mut only: Value = serde_json::from_slice(&std::fs::read(&settings).unwrap()).unwrap();
        only["hooks"].as_object_mut().unwrap().retain(|event, _| event == "Setup");
        write(&settings, &only.to_string());
        std::fs::remove_dir_all(world.data("spool")).unwrap();
        std::fs::set_permissions(world.data(""), std::fs::Permissions::from_mode(0o755)).unwrap();
        let said = world.print("", &["--init-only"]);
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{said:?}");
        assert!(world.data("spool/new").is_dir(), "the spool is there again");
        assert_eq!(std::fs::metadata(world.data("")).unwrap().permissions().mode() & 0o777, 0o700);
    });
}
