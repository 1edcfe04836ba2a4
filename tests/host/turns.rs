//! What the events inside a turn tell the model: before a tool, after a failure, to a subagent.

use crate::rig::*;
use serde_json::json;

const DECISION: &str = "Decided: port() returns 7443 because 8080 belongs to the tide service.";
const COMMAND: &str = "cat charts/northsea-depths.txt";

/// A session that edits a file, fails at a command and settles something. Gives its id.
fn past(world: &World) -> String {
    let file = world.project().join("src/lib.rs");
    let edit = json!({ "file_path": file, "old_string": "8080", "new_string": "7443" });
    world.api.turn(
        "Which port shall the harbor gateway use?",
        &[
            vec![call("toolu_01", "Read", json!({ "file_path": file }))],
            vec![call("toolu_02", "Edit", edit)],
            vec![bash("toolu_03", COMMAND)],
            vec![text(DECISION)],
        ],
    );
    let said = world.print("Which port shall the harbor gateway use?", &["--permission-mode", "acceptEdits"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let session = said.session();
    world.settle(&session);
    world.other_work();
    session
}

#[test]
fn files_commands_and_subagents_are_told_what_became_of_them() {
    scenario("turns::files_commands_and_subagents_are_told_what_became_of_them", |world| {
        world.install();
        let first = past(world);
        let file = world.project().join("src/lib.rs");
        let read = |id: &str| call(id, "Read", json!({ "file_path": file }));
        let task = "Say why port() returns 7443, and that 8080 belongs to the tide service.";
        let launch = json!({ "description": "ask", "prompt": task, "subagent_type": "general-purpose" });
        world.api.turn(
            "Look at the umbrella stand.",
            &[
                // At once: their hooks run at the same time.
                vec![read("toolu_11"), read("toolu_12")],
                vec![bash("toolu_13", COMMAND)],
                vec![call("toolu_14", "Agent", launch)],
                vec![text("Done.")],
            ],
        );
        world.api.turn("Say why port()", &[vec![text("On 7443.")]]);
        let said = world.print("Look at the umbrella stand.", &[]);
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{said:?}");
        let asked = world.api.requests();
        let last = asked.iter().rev().find(|r| r.count("Look at the umbrella stand.") > 0).unwrap();
        let about = |what: &str| {
            let is = |n: &&String| n.contains(what);
            last.notes().iter().filter(is).cloned().collect::<Vec<_>>()
        };
        assert_eq!(last.count("PreToolUse:Read hook additional context"), 1, "{:#?}", last.notes());
        assert_eq!(last.count("PreToolUse:Bash hook additional context"), 1, "{:#?}", last.notes());
        let failed = about("failed: cat charts/northsea-depths.txt");
        assert_eq!(failed.len(), 1, "{:#?}", last.notes());
        assert!(failed[0].contains(&first) && failed[0].chars().count() <= 400, "{failed:?}");
        assert_eq!(last.count("PreToolUse:Agent hook additional context"), 0);
        // The subagent's own requests hold what its launch found, and the parent's do not hold it for it.
        let inside = world.api.asked(task);
        let of_agent = inside.iter().find(|r| r.count("SubagentStart hook additional context") > 0);
        let of_agent = of_agent.unwrap_or_else(|| panic!("{}", world.api.story()));
        assert!(of_agent.notes().iter().any(|n| n.contains(DECISION)), "{:#?}", of_agent.notes());
        assert_eq!(last.count("SubagentStart hook additional context"), 0);
        // None of it becomes memory.
        world.settle(&said.session());
        let records = world.records(&said.session());
        assert!(
            records.iter().all(|r| !r["text"].as_str().unwrap().contains("sinker-memory")),
            "{records:#?}"
        );
    });
}

#[test]
fn a_session_that_is_not_persisted_is_counted_and_costs_nothing() {
    scenario("turns::a_session_that_is_not_persisted_is_counted_and_costs_nothing", |world| {
        world.install();
        world.api.turn("leave no trace", &[vec![text("None.")]]);
        let said = world.print("leave no trace", &["--no-session-persistence"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let session = said.session();
        let status = || world.json(&["status"]).remove(0);
        until("it is counted", || status()["unwritten_sessions"] == 1, || world.logs());
        let one = world.json(&["status", "--session", &session]).remove(0);
        assert_eq!((&one["stored"], &one["unwritten"]), (&json!(true), &json!(true)), "{one}");
        assert_eq!((&status()["spool"]["odd"], &status()["lost_ranges"]), (&json!(0), &json!(0)));
        assert!(!world.logs().contains(" error ") && !world.logs().contains(" warn "), "{}", world.logs());
    });
}
