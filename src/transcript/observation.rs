//! One record that somebody said: who, when, where in the order, and its blocks.

use serde_json::Value;

/// Who said it (design, section 3). Only what someone typed is the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// Typed by a person, sent by the SDK, or queued while busy.
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
    /// A prompt that a model wrote.
    Agent,
    /// The client itself.
    Host,
}

impl Speaker {
    /// The name used in rows and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
            Speaker::Tool => "tool",
            Speaker::Agent => "agent",
            Speaker::Host => "host",
        }
    }
}

/// A part of a record, raw: not yet redacted.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Prose.
    Text(String),
    /// The model's thinking: stored, neither scored nor used for claims.
    Thinking(String),
    /// A tool call.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// Its input, flattened by [`flatten_input`].
        input: String,
        /// The file it names, where it names one.
        file: Option<String>,
        /// The shell command, where it is one.
        command: Option<String>,
    },
    /// A tool's result.
    ToolResult {
        /// The call's id.
        id: String,
        /// What the model read.
        text: String,
        /// It failed or was denied.
        failed: bool,
        /// Exit status, where it is known.
        exit: Option<i64>,
        /// Cut off by the user.
        interrupted: bool,
    },
    /// An image or document: only what identifies it.
    Media {
        /// `image/png`.
        media_type: String,
        /// Size of the encoded data, bytes.
        bytes: u64,
        /// sha256 of the encoded data, hex.
        sha256: String,
    },
    /// A block of a type that is not known: its type and JSON.
    Other {
        /// Its type.
        kind: String,
        /// Its JSON.
        json: String,
    },
}

/// One record, raw. Times are the host's texts; the order comes from the position.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The host's record uuid, whatever it holds.
    pub uuid: Option<String>,
    /// The host's parent uuid.
    pub parent: Option<String>,
    /// RFC 3339, as the host wrote it.
    pub timestamp: Option<String>,
    /// The host's session id; a subagent's records carry its parent's.
    pub session: Option<String>,
    /// The subagent's id; empty in the main line.
    pub agent: String,
    /// Who said it.
    pub speaker: Speaker,
    /// The API message it is a part of.
    pub message_id: Option<String>,
    /// The model that said it, by the API's name.
    pub model: Option<String>,
    /// The host's prompt id.
    pub prompt_id: Option<String>,
    /// It begins a turn: a person typed it.
    pub is_prompt: bool,
    /// It is the summary of a compaction: stored, not scored.
    pub is_summary: bool,
    /// Slash command and its arguments.
    pub command: Option<(String, String)>,
    /// Its parts, in order.
    pub blocks: Vec<Block>,
    /// Types of its parts that are in no row of the table.
    pub unknown: Vec<String>,
}

/// Writes a tool's input as lines, `key: value`; strings as they are, the rest as JSON. Keys in the order of their names.
pub fn flatten_input(input: &Value) -> String {
    let Some(map) = input.as_object() else { return scalar(input) };
    let mut out = String::new();
    for (key, value) in map {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(key);
        out.push_str(": ");
        out.push_str(&scalar(value));
    }
    out
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
