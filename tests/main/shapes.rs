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

/// What every sample is answered with, word for word: a change of it is a change that somebody has to want. `SINKER_WRITE_REPLIES=1` writes it anew.
const REPLIES: &str = "spool-fixtures/replies.json";

/// Without what depends on where the test runs.
fn plain(sandbox: &Sandbox, reply: &str) -> Value {
    let [place, own] =
        [sandbox.project(), sandbox.root().to_path_buf()].map(|p| p.to_str().unwrap().to_owned());
    let mut text = reply.replace(&place, "/project").replace(&own, "/sandbox");
    let fence = "sinker-memory-";
    let ends: Vec<usize> = text.match_indices(fence).map(|(at, _)| at + fence.len()).collect();
    for at in ends.into_iter().rev() {
        let digits = text[at..].find(|c: char| !c.is_ascii_hexdigit()).unwrap();
        text.replace_range(at..at + digits, "0");
    }
    serde_json::from_str(&text).unwrap_or_default()
}

#[test]
fn every_reply_is_the_one_that_was_written_down() {
    let start = Sandbox::unhurried("");
    let csv = start.project_file("harbor/export/csv.py", 2_000);
    let mut past = Transcript::new(&start, 1);
    past.prompt("Which encoding does the CSV export of berths need for Excel?")
        .calls("t1", "Edit", json!({"file_path": csv, "old_string": "a", "new_string": "b"}))
        .returns("t1", "done")
        .calls("t2", "Bash", json!({"command": "pytest -q tests/test_export.py"}))
        .fails("t2", "Exit code 1\nE   UnicodeDecodeError: invalid start byte in berths.csv")
        .calls("t3", "TodoWrite", json!({"todos": [{"content": "Ask the harbor office for a sample", "status": "pending", "activeForm": "x"}]}))
        .returns("t3", "ok")
        .says("The CSV export of berths needs utf-8-sig for Excel.\n\n## Next steps\n- Fix the failing export test")
        .flush();
    start.drain_once();
    start.sinker_with(
        &["work", "add", "Write to the pilots"],
        b"",
        &[("SINKER_NOW", "2026-11-21T08:00:00Z")],
    );
    let now = Transcript::new(&start, 9);
    let mut replies = serde_json::Map::new();
    for Fixture { name, event, mut payload } in fixtures() {
        let home = start.copy();
        aim(&mut payload, &home, &now);
        match name.as_str() {
            "UserPromptSubmit" => {
                payload["prompt"] = "Which encoding does the CSV export of berths need?".into()
            }
            "UserPromptExpansion.command" => {
                payload["command_args"] = "encoding of the CSV export of berths".into()
            }
            "PreToolUse.Read" | "PreToolUse.Edit" => payload["tool_input"]["file_path"] = csv.clone().into(),
            "PreToolUse.Bash" => {
                payload["tool_input"]["command"] = "pytest -q tests/test_export.py 2>&1 | tail -3".into()
            }
            "PreToolUse.Agent" => {
                payload["tool_input"]["prompt"] = "Look up the encoding of the CSV export of berths".into()
            }
            "PostToolUseFailure.Bash" => {
                payload["tool_input"]["command"] = "python export.py".into();
                payload["error"] = "Exit code 1\nUnicodeDecodeError: invalid start byte in berths.csv".into();
            }
            "SubagentStart" => {
                let mut launch = payload.clone();
                launch["tool_name"] = "Agent".into();
                launch["tool_input"] = json!({"prompt": "Look up the encoding of the CSV export of berths", "subagent_type": payload["agent_type"]});
                launch["tool_use_id"] = "toolu_l".into();
                launch.as_object_mut().unwrap().remove("agent_id");
                home.hook("pre-tool-use", &launch);
            }
            _ => {}
        }
        let out = home.hook(&event, &payload);
        assert_eq!((out.code, out.stderr.as_str()), (Some(0), ""), "{name}: {out}");
        replies.insert(name, plain(&home, &out.stdout));
    }
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(REPLIES);
    if std::env::var_os("SINKER_WRITE_REPLIES").is_some() {
        std::fs::write(&file, serde_json::to_string_pretty(&replies).unwrap() + "\n").unwrap();
    }
    let wanted: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    for (name, reply) in &replies {
        assert_eq!(*reply, wanted[name], "{name}");
    }
    assert_eq!(replies.len(), wanted.as_object().unwrap().len());
    let speaking = replies.values().filter(|reply| !reply.is_null()).count();
    assert!(speaking >= 8, "{speaking}");
}

/// What a dependency prints while a handler works does not reach the host.
#[test]
fn f16_noise_in_the_process_is_no_part_of_the_reply() {
    let (home, now) = talkative();
    let mut spoke = 0;
    for event in ["session-start", "user-prompt-submit", "pre-tool-use", "stop"] {
        let sample = match event {
            "session-start" => "SessionStart.startup",
            "user-prompt-submit" => "UserPromptSubmit",
            "pre-tool-use" => "PreToolUse.Read",
            _ => "Stop",
        };
        let payload = crate::support::payload(sample, &home, &now);
        let ask = |loud: bool| {
            let poison = if loud { format!("hook::compose=print={event}") } else { String::new() };
            let env = [("STEP_POISON", poison.as_str())];
            let env = if loud { &env[..] } else { &[] };
            home.copy().sinker_with(&["hook", "claude", event], format!("{payload}\n").as_bytes(), env)
        };
        let (plain, loud) = (ask(false), ask(true));
        assert_eq!((loud.code, &loud.stdout), (Some(0), &plain.stdout), "{event}: {loud}");
        spoke += usize::from(loud.stderr.contains("noise"));
    }
    assert_eq!(spoke, 3, "each that recalls was loud");
}
