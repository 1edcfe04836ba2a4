//! The content of a spool entry: ids, paths, a byte cursor and times; never text of a session (D1).

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The format this version writes, and the newest it reads.
pub const FORMAT: u32 = 1;

/// One delivered event.
///
/// ```json
/// {"v":1,"host":"claude","event":"stop","session":"0b54…","transcript":"/home/dev/.claude/projects/-app/0b54….jsonl",
///  "cursor":40000,"cwd":"/home/dev/app","project_dir":"/home/dev/app","prompt":"77aa…","time":"2026-11-30T13:54:13.854Z"}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Format version, see [`FORMAT`].
    pub v: u32,
    /// `claude`.
    pub host: String,
    /// The event, `post-tool-use`.
    pub event: String,
    /// The host's session id, as it is.
    pub session: String,
    /// The session's transcript; it need not exist.
    pub transcript: PathBuf,
    /// Its size at hook time, bytes; 0 when it did not exist.
    pub cursor: u64,
    /// The payload's directory; it follows `cd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// The host's project directory variable; stable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_dir: Option<PathBuf>,
    /// The host's transcript root, where the host was told to keep it in another place than usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
    /// The subagent the event belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// Tool name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Tool use id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use: Option<String>,
    /// Prompt id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Source, reason, trigger or error kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The host's recursion indicator.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop_hook_active: bool,
    /// When the hook ran, RFC 3339 UTC.
    pub time: String,
}

/// The subagent an event belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// The host's agent id.
    pub id: String,
    /// Its type; empty for the nameless agent of a compaction.
    #[serde(default)]
    pub kind: String,
    /// Its own transcript, where the payload names one; it may never exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<PathBuf>,
}

/// A command to the drainer; its answer appears under `state/replies/<id>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Format version, see [`FORMAT`].
    pub v: u32,
    /// `import`, `rebuild`, `stop`, or what the store is asked to do: `forget`, `note`, …
    pub verb: String,
    /// Names the answer: the random part of the entry's name.
    pub id: String,
    /// What to import.
    #[serde(default)]
    pub paths: Vec<PathBuf>,
    /// A project id that overrides what the records say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What the verb asks for; text in it was redacted by the process that wrote it.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub what: serde_json::Value,
}

/// Why the bytes of an entry could not be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum EntryError {
    /// Written by a newer version; it must be left unchanged.
    #[error("its format {0} is newer than this version knows")]
    Newer(u64),
    /// Not JSON, or a field is missing or of a wrong type.
    #[error("it is not an entry: {0}")]
    Shape(String),
}

impl Entry {
    /// Reads an entry. Errors: [`EntryError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, EntryError> {
        check_version(bytes)?;
        serde_json::from_slice(bytes).map_err(|e| EntryError::Shape(e.to_string()))
    }
}

impl Command {
    /// Reads a command. Errors: [`EntryError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, EntryError> {
        check_version(bytes)?;
        serde_json::from_slice(bytes).map_err(|e| EntryError::Shape(e.to_string()))
    }
}

fn check_version(bytes: &[u8]) -> Result<(), EntryError> {
    #[derive(Deserialize)]
    struct Version {
        v: u64,
    }
    let version: Version = serde_json::from_slice(bytes).map_err(|e| EntryError::Shape(e.to_string()))?;
    if version.v > u64::from(FORMAT) {
        return Err(EntryError::Newer(version.v));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_shapes_are_told_apart() {
        let cases: [(&[u8], fn(&EntryError) -> bool); 4] = [
            (b"{\"v\":2,\"anything\":[]}", |e| *e == EntryError::Newer(2)),
            (b"{\"v\":1}", |e| matches!(e, EntryError::Shape(_))),
            (b"", |e| matches!(e, EntryError::Shape(_))),
            (b"\0\0\0", |e| matches!(e, EntryError::Shape(_))),
        ];
        for (bytes, expected) in cases {
            assert!(expected(&Entry::parse(bytes).unwrap_err()), "{:?}", String::from_utf8_lossy(bytes));
        }
    }
}
