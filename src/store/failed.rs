//! What a document of kind failure holds.

use super::StoreError;
use super::body::{not_ours, unpack};
use serde::{Deserialize, Serialize};

/// A failure as it is stored, shown, and put into the index as a header: one a command and error in a project, however often it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The tool that failed.
    pub tool: String,
    /// The command without what only shortens its output; for another tool its name and the file.
    pub command: String,
    /// The line that says what went wrong, of the last time.
    pub error: String,
    /// `failed`, `denied`, `unknown` (no such tool) or `interrupted`.
    pub end: String,
    /// Exit status of the last time, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i64>,
    /// How often it came.
    pub count: u64,
    /// When it came first and last, RFC 3339.
    pub first: String,
    /// See `first`.
    pub last: String,
    /// Our id of the turn or run of the last time.
    pub turn: String,
    /// Uuids of the records that hold the last results, the newest first.
    pub records: Vec<String>,
    /// The run that worked after the last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<Fix>,
}

/// A run that worked where one had failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// When, RFC 3339.
    pub time: String,
    /// The host's session id.
    pub session: String,
    /// Uuid of the record that holds the result.
    pub record: String,
    /// Our id of the turn.
    pub turn: String,
    /// What that turn edited.
    pub files: Vec<String>,
}

impl Failure {
    /// Reads a stored body. Errors: [`StoreError::Body`].
    pub(super) fn read(codec: i64, body: Vec<u8>) -> Result<Self, StoreError> {
        serde_json::from_slice(&unpack(codec, body)?).map_err(|e| not_ours(&e))
    }

    /// The whole of it as a person reads it.
    pub fn text(&self) -> String {
        let mut text = format!("{}: {}", self.command, self.error);
        if let Some(exit) = self.exit {
            text.push_str(&format!("\nexit status: {exit}"));
        }
        let times = if self.count == 1 { "once".to_owned() } else { format!("{} times", self.count) };
        text.push_str(&format!("\n{} {times}, last {}", self.end, self.last));
        if let Some(fix) = &self.fixed {
            text.push_str(&format!("\nworked again {} in session {}", fix.time, fix.session));
            if !fix.files.is_empty() {
                text.push_str(&format!(", after editing {}", fix.files.join(", ")));
            }
        }
        text
    }
}
