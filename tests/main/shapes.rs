//! The shape of each reply: what the host takes from which event, and silence everywhere else (F16).

use crate::hook::CAPTURING;
use crate::support::{Fixture, Sandbox, Transcript, aim, fixtures, kebab};
use serde_json::{Value, json};

/// Every event of the host, by its own name.
const HOST_EVENTS: [&str; 34] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "PermissionRequest",
    "PermissionDenied",
    "Setup",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeCreate",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
    "PreSkillShellCommand",
];

/// Those that may hand context to the model, and are ours.
const SPEAKING: [&str; 7] = [
    "SessionStart",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
];

/// A home in which everything that is asked finds something, and every tool may speak.
fn talkative() -> (Sandbox, Transcript) {
    let home = Sandbox::unhurried("tools = \"all\"\nthreshold = 0.0\n");
    let mut past = Transcript::new(&home, 1);
    let text = "List the tests that touch the CSV export: pytest -q tests/test_export.py, harbor/export/csv.py, review tidy now page berth";
    past.prompt(text)
        .calls("toolu_1", "Edit", json!({"file_path": home.project().join("harbor/export/csv.py")}))
        .returns("toolu_1", text)
        .says("Done: pytest -q tests/test_export.py lists the tests of the CSV export, harbor/export/csv.py; review and tidy the page of each berth now.")
        .flush();
    home.drain_once();
    let now = Transcript::new(&home, 9);
    (home, now)
}

/// Every shipped payload of every event: nothing, or one object that holds only what its event may say.
#[test]
fn f16_every_sample_gets_a_legal_reply_or_nothing() {
    let (start, now) = talkative();
    let mut spoke = std::collections::BTreeSet::new();
    for Fixture { name, event, mut payload } in fixtures() {
        let home = start.copy();
        aim(&mut payload, &home, &now);
        let host = payload["hook_event_name"].as_str().unwrap().to_owned();
        if host == "SubagentStart" {
            let mut launch = payload.clone();
            launch["tool_name"] = "Agent".into();
            launch["tool_input"] = json!({"prompt": "List the tests that touch the CSV export", "subagent_type": payload["agent_type"]});
            launch["tool_use_id"] = "toolu_l".into();
            launch.as_object_mut().unwrap().remove("agent_id");
            home.hook("pre-tool-use", &launch);
        }
        let out = home.hook(&event, &payload);
        assert_eq!((out.code, out.stderr.as_str()), (Some(0), ""), "{name}: {out}");
        if out.stdout.is_empty() {
            continue;
        }
        let reply: Value = serde_json::from_str(&out.stdout).unwrap_or_else(|e| panic!("{name}: {e}: {out}"));
        let own = &reply["hookSpecificOutput"];
        assert!(SPEAKING.contains(&host.as_str()), "{name}: {out}");
        assert_eq!(own["hookEventName"], host, "{name}: {out}");
        assert_eq!(
            (reply.as_object().unwrap().len(), own.as_object().unwrap().len()),
            (1, 2),
            "{name}: {out}"
        );
        let text = own["additionalContext"].as_str().unwrap();
        assert!(text.encode_utf16().count() < 10_000, "{name}");
        assert!(!out.stdout.contains('\n'), "{name}: one line");
        spoke.insert(host);
    }
    assert_eq!(
        spoke.iter().collect::<Vec<_>>().len(),
        SPEAKING.len(),
        "a speaking event without a test: {spoke:?}"
    );
}

#[test]
fn f16_events_that_are_not_ours_are_silent_whatever_they_hold() {
    let (home, now) = talkative();
    let ours: Vec<String> =
        CAPTURING.iter().map(|e| (*e).to_owned()).chain(SPEAKING.iter().map(|e| kebab(e))).collect();
    let mut foreign = 0;
    for name in HOST_EVENTS {
        let event = kebab(name);
        if ours.contains(&event) || event == "setup" {
            continue;
        }
        foreign += 1;
        let payload = json!({
            "session_id": now.session, "transcript_path": now.path, "cwd": home.project(), "hook_event_name": name,
            "prompt": "List the tests that touch the CSV export", "source": "startup", "tool_name": "Read",
            "agent_id": "a1", "agent_type": "Explore", "reason": "x", "message": "harbor/export/csv.py",
        });
        for only in [&[][..], &["--only", "recall"], &["--only", "capture"], &["--strict"]] {
            let args = [&["hook", "claude", event.as_str()], only].concat();
            let out = home.sinker_with(&args, format!("{payload}\n").as_bytes(), &[]);
            out.assert_silent(name);
        }
    }
    assert_eq!(foreign, 34 - 15);
    assert!(home.spool("new").is_empty());
}

/// Capture alone prints nothing on any event, with everything to say.
#[test]
fn f16_capture_never_speaks() {
    let (start, now) = talkative();
    for Fixture { name, event, mut payload } in fixtures() {
        let home = start.copy();
        aim(&mut payload, &home, &now);
        let args = ["hook", "claude", event.as_str(), "--only", "capture"];
        let out = home.sinker_with(&args, format!("{payload}\n").as_bytes(), &[]);
        out.assert_silent(&name);
    }
}
