//! A world of its own for what is tried: a temporary data directory, host folder and transcript, and programs run in it with an end to waiting.

use crate::config::Home;
use crate::fs::{self, FsError, Sync};
use crate::install::run;
use crate::{clock, id};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A busy machine gets this long before it is called a fault; the host gives less.
const LIMIT: Duration = Duration::from_secs(20);

/// The session that is made up.
pub(super) const SESSION: &str = "0d0c7042-0000-4000-8000-000000000000";

/// Removed when dropped.
pub(super) struct Trial {
    root: PathBuf,
}

impl Trial {
    /// Makes it, with a transcript of one prompt that holds `word`.
    pub(super) fn begin(word: &str) -> Result<Self, FsError> {
        // Somebody else may guess a name, and may not read what is in it.
        let name = id::hash(&[&clock::nanos().to_le_bytes(), &std::process::id().to_le_bytes()]);
        let trial =
            Self { root: std::env::temp_dir().join(format!("sinker-doctor-{}", id::short(&name, 16))) };
        fs::make_private_dir(&trial.root)?;
        let transcript = trial.transcript();
        fs::make_private_dir(transcript.parent().unwrap_or(&trial.root))?;
        let record = json!({
            "type": "user", "uuid": "0d0c7042-0000-4000-8000-000000000001", "parentUuid": null, "sessionId": SESSION,
            "timestamp": clock::format(clock::now()), "cwd": trial.root, "isSidechain": false, "version": "0.0.0",
            "message": { "role": "user", "content": format!("A made-up prompt about {word}.") },
        });
        fs::replace(&transcript, format!("{record}\n").as_bytes(), Sync::No)?;
        Ok(trial)
    }

    pub(super) fn home(&self) -> Home {
        Home::at(self.root.join("home"))
    }

    fn transcript(&self) -> PathBuf {
        self.root.join(format!("claude/projects/made-up/{SESSION}.jsonl"))
    }

    /// What the host sends with an event.
    pub(super) fn payload(&self, host_event: &str) -> Value {
        json!({
            "session_id": SESSION, "transcript_path": self.transcript(), "cwd": self.root, "hook_event_name": host_event,
            "source": "startup", "reason": "other", "trigger": "manual", "prompt": "a made-up prompt", "prompt_id": "0d0c7042",
            "tool_name": "Bash", "tool_input": { "command": "true" }, "tool_use_id": "toolu_0d0c7042", "tool_response": {}, "tool_calls": [],
            "error": "made up", "agent_id": "a0d0c7042", "agent_type": "made-up", "stop_hook_active": false,
            "agent_transcript_path": self.transcript().with_extension("").join("subagents/agent-a0d0c7042.jsonl"),
            "command_name": "made-up", "command_args": "",
        })
    }

    /// Runs a program in this world. Errors: what is wrong, in words; the line that names the program is the caller's.
    pub(super) fn run(&self, mut command: Command, stdin: String) -> Result<String, String> {
        command.current_dir(&self.root);
        command.env("SINKER_HOME", self.home().root()).env("SINKER_CONFIG", self.root.join("config.toml"));
        command.env("CLAUDE_CONFIG_DIR", self.root.join("claude")).env("CLAUDE_PROJECT_DIR", &self.root);
        command.env("SINKER_AUTOSTART", "0");
        match run(&mut command, stdin.into_bytes(), LIMIT) {
            Err(error) => Err(format!("it cannot be started: {error}")),
            Ok(None) => Err(format!("it did not end within {} s", LIMIT.as_secs())),
            Ok(Some(out)) if out.status.success() => Ok(String::from_utf8_lossy(&out.stdout).into_owned()),
            Ok(Some(out)) => {
                let said = String::from_utf8_lossy(&out.stderr);
                Err(format!("it ended with {}: {}", out.status, said.lines().next().unwrap_or_default()))
            }
        }
    }

    /// Names in the spool.
    pub(super) fn spooled(&self) -> Vec<String> {
        let found = std::fs::read_dir(self.home().spool_new()).into_iter().flatten().flatten();
        found.map(|f| f.file_name().to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        // What cannot be removed is in the folder for temporary files.
        fs::remove_tree(&self.root).ok();
    }
}

/// The program itself, not a link to it; as it is where it does not exist.
pub(super) fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
