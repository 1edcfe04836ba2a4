//! Whether what was installed works: one made-up event goes through the command as it stands in the settings, into a home of its own.

use super::process;
use crate::clock;
use crate::fs::{self, FsError, Sync};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What the proof showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The capture command that was run.
    pub command: Vec<String>,
    /// What is wrong; `None` when the pointer lay in the spool and the recall command ended well.
    pub problem: Option<String>,
}

/// The host gives our entries no more than 5 s; a busy machine gets twice that before it is called a fault.
const LIMIT: Duration = Duration::from_secs(10);

/// Runs the capture entry of a session's end and the recall entry of its start, read from `settings`, as the host would: no shell, the
/// event on stdin. The data directory is a temporary one, and no drainer is started. Errors: the temporary folder.
pub fn prove(settings: &Value, command: &str) -> Result<Proof, FsError> {
    let name = format!("sinker-proof-{}-{}", std::process::id(), clock::nanos());
    // The commands run in it: a path that begins here would lead elsewhere there.
    let temporary = std::env::temp_dir();
    let root = std::path::absolute(&temporary).unwrap_or(temporary).join(name);
    fs::make_private_dir(&root)?;
    let proof = tried(settings, command, &root);
    fs::remove_tree(&root)?;
    proof
}

fn tried(settings: &Value, own: &str, root: &Path) -> Result<Proof, FsError> {
    let transcript = root.join("projects/made-up/7b7c0de5-0000-4000-8000-000000000000.jsonl");
    fs::make_private_dir(transcript.parent().unwrap_or(root))?;
    fs::replace(&transcript, b"{\"type\":\"mode\",\"mode\":\"normal\"}\n", Sync::No)?;
    let capture = entry(settings, own, "SessionEnd", "capture");
    let recall = entry(settings, own, "SessionStart", "recall");
    let (Some(capture), Some(recall)) = (capture, recall) else {
        return Ok(Proof {
            command: Vec::new(),
            problem: Some("the entries are not in the settings".to_owned()),
        });
    };
    let payload = |event: &str, key: &str, value: &str| {
        json!({
            "session_id": "7b7c0de5-0000-4000-8000-000000000000", "transcript_path": transcript.to_string_lossy(), "cwd": root.to_string_lossy(),
            "hook_event_name": event, key: value,
        })
    };
    let run = |words: &[String], payload: &Value| ran(words, payload, root);
    let problem = run(&capture, &payload("SessionEnd", "reason", "other"))
        .and_then(|_| landed(root))
        .and_then(|()| run(&recall, &payload("SessionStart", "source", "startup")))
        .and_then(|said| silent_or_json(&said))
        .err();
    Ok(Proof { command: capture, problem })
}

/// The words of the entry of ours for an event, as they stand in the settings.
fn entry(settings: &Value, own: &str, event: &str, half: &str) -> Option<Vec<String>> {
    let groups = settings.pointer("/hooks")?.get(event)?.as_array()?;
    let hooks = groups.iter().filter_map(|g| g.get("hooks")?.as_array()).flatten();
    let words = hooks.filter(|h| h.get("command").and_then(Value::as_str) == Some(own)).filter_map(|hook| {
        let args = hook.get("args")?.as_array()?;
        let args = args.iter().filter_map(Value::as_str).map(str::to_owned);
        Some(std::iter::once(own.to_owned()).chain(args).collect::<Vec<_>>())
    });
    words.into_iter().find(|words| words.last().is_some_and(|last| last == half))
}

/// Runs one entry. Errors: what is wrong, in words.
fn ran(words: &[String], payload: &Value, root: &Path) -> Result<Vec<u8>, String> {
    let Some((program, args)) = words.split_first() else { return Err("the entry is empty".to_owned()) };
    let mut command = Command::new(program);
    command.args(args).current_dir(root).env("SINKER_HOME", home(root)).env("SINKER_AUTOSTART", "0");
    command.env("SINKER_CONFIG", root.join("config.toml")).env("CLAUDE_PROJECT_DIR", root);
    let line = words.join(" ");
    match process::run(&mut command, format!("{payload}\n").into_bytes(), LIMIT) {
        Err(error) => Err(format!("`{line}` cannot be started: {error}")),
        Ok(None) => Err(format!("`{line}` did not end within {} s", LIMIT.as_secs())),
        Ok(Some(output)) if output.status.success() => Ok(output.stdout),
        Ok(Some(output)) => {
            let words = String::from_utf8_lossy(&output.stderr);
            Err(format!(
                "`{line}` ended with {}: {}",
                output.status,
                words.lines().next().unwrap_or_default()
            ))
        }
    }
}

fn home(root: &Path) -> PathBuf {
    root.join("home")
}

/// The pointer lies in the spool, and names the session.
fn landed(root: &Path) -> Result<(), String> {
    let spool = crate::config::Home::at(home(root)).spool_new();
    let names = std::fs::read_dir(&spool).map(|dir| dir.filter_map(Result::ok).collect::<Vec<_>>());
    let is_ours = |name: &str| name.starts_with("7b7c0de5-") && name.ends_with(".session-end.json");
    match names {
        Ok(found) if found.iter().any(|f| is_ours(&f.file_name().to_string_lossy())) => Ok(()),
        _ => Err("the event that was sent did not reach the spool".to_owned()),
    }
}

/// What a hook owes the host: nothing, or one JSON object.
fn silent_or_json(said: &[u8]) -> Result<(), String> {
    if said.is_empty() || serde_json::from_slice::<serde_json::Map<String, Value>>(said).is_ok() {
        return Ok(());
    }
    Err("the recall entry printed something that the host does not take".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(program: &str, half: bool) -> String {
        let hook = |event: &str, half: &str| json!({ "command": program, "args": ["hook", "claude", event, "--only", half] });
        let mut events = json!({ "SessionEnd": [{ "hooks": [hook("session-end", "capture")] }] });
        if !half {
            events["SessionStart"] = json!([{ "hooks": [hook("session-start", "recall")] }]);
        }
        let proof = prove(&json!({ "hooks": events }), program).unwrap();
        proof.problem.unwrap()
    }

    #[test]
    fn a_command_that_does_not_work_is_told_with_what_it_did() {
        assert!(problem("/nowhere/sinker", false).contains("cannot be started"));
        assert!(problem("/bin/false", false).contains("ended with"));
        assert!(problem("/bin/true", false).contains("did not reach the spool"));
        assert!(problem("/bin/true", true).contains("not in the settings"));
    }
}
