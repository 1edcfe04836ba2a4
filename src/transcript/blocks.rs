//! The parts of a message, and what only the client's structured copy of a result holds.

use super::kinds::{Fate, LEFT_OUT, Place, fate};
use super::observation::{Block, flatten_input};
use crate::id;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// What only `toolUseResult` holds; the rest of it is a second copy.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Details {
    pub exit: Option<i64>,
    pub interrupted: bool,
}

impl Details {
    /// Reads them from the JSON of `toolUseResult`; of one that is no object, or of fields of wrong types, nothing is taken.
    pub(super) fn read(raw: Option<&RawValue>) -> Self {
        #[derive(Deserialize, Default)]
        #[serde(rename_all = "camelCase", default)]
        struct Known {
            exit_code: Value,
            interrupted: Value,
        }
        let known = raw.and_then(|raw| serde_json::from_str::<Known>(raw.get()).ok()).unwrap_or_default();
        Self::of(&known.exit_code, &known.interrupted)
    }

    /// The same from its fields.
    pub(super) fn of(exit_code: &Value, interrupted: &Value) -> Self {
        Self { exit: exit_code.as_i64(), interrupted: interrupted.as_bool().unwrap_or(false) }
    }
}

/// More blocks than this are counted, not kept: no message that anyone wrote has as many.
const MAX_BLOCKS: usize = 10_000;

/// Reads the blocks of a message. `unknown` takes the names of types that are in no row of the table.
pub(super) fn blocks(content: Value, details: &Details, unknown: &mut Vec<String>) -> Vec<Block> {
    match content {
        Value::String(text) => vec![Block::Text(text)],
        Value::Array(parts) => {
            let over = parts.len().saturating_sub(MAX_BLOCKS);
            let mut blocks: Vec<Block> =
                parts.into_iter().take(MAX_BLOCKS).map(|part| block(part, details, unknown)).collect();
            if over > 0 {
                let json = format!("{{\"blocks\":{over}}}");
                blocks.push(Block::Other { kind: LEFT_OUT.to_owned(), json });
            }
            blocks
        }
        Value::Null => Vec::new(),
        other => vec![other_block("none", &other)],
    }
}

fn other_block(kind: &str, value: &Value) -> Block {
    Block::Other { kind: kind.to_owned(), json: value.to_string() }
}

fn block(mut part: Value, details: &Details, unknown: &mut Vec<String>) -> Block {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or("none").to_owned();
    let mut take = |key: &str| match part.get_mut(key).map(Value::take) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    match fate(Place::Block, &kind) {
        Fate::Text => Block::Text(take("text")),
        Fate::Thinking => Block::Thinking(take("thinking")),
        Fate::Call => {
            let (id, name) = (take("id"), take("name"));
            let input = part.get_mut("input").map(Value::take).unwrap_or_default();
            let named = |key: &str| input.get(key).and_then(text);
            let file = ["file_path", "notebook_path"].iter().find_map(|key| named(key));
            let command = if name == "Bash" { named("command") } else { None };
            Block::ToolUse { id, name, input: flatten_input(&input), file, command }
        }
        Fate::Result => {
            let id = take("tool_use_id");
            let failed = part.get("is_error") == Some(&Value::Bool(true));
            let text = result_text(part.get_mut("content").map(Value::take).unwrap_or_default(), unknown);
            let exit = details.exit.or_else(|| exit_status(&text, failed));
            Block::ToolResult { id, text, failed, exit, interrupted: details.interrupted }
        }
        Fate::Media => media(&kind, &part),
        found => {
            if found == Fate::Unknown && kind != "none" {
                unknown.push(kind.chars().take(64).collect());
            }
            other_block(&kind, &part)
        }
    }
}

/// A text that is there and not empty.
pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|t| !t.is_empty()).map(str::to_owned)
}

/// A result's content is a string or a list of parts; images become a line that identifies them.
fn result_text(content: Value, unknown: &mut Vec<String>) -> String {
    match content {
        Value::String(text) => text,
        Value::Array(parts) => {
            let lines = parts.into_iter().map(|part| match block(part, &Details::default(), unknown) {
                Block::Text(text) => text,
                Block::Media { media_type, bytes, sha256 } => {
                    format!("[{media_type}, {bytes} bytes, sha256 {}]", id::short(&sha256, 16))
                }
                Block::Other { json, .. } => json,
                _ => String::new(),
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The client writes `Exit code N` before the output of a failed command; a command that did not fail ended with 0, but not every
/// tool is a command, so success says nothing here.
fn exit_status(text: &str, failed: bool) -> Option<i64> {
    let code = text.strip_prefix("Exit code ")?.split_whitespace().next()?;
    if failed { code.parse().ok() } else { None }
}

/// What stands in the place of a hash may be anything, and is kept unread.
fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Of a long line the data was not kept: then size and hash stand in its place (`{"bytes":…,"sha256":…}`).
fn media(kind: &str, part: &Value) -> Block {
    let source = part.get("source").unwrap_or(part);
    let data = source.get("data").unwrap_or(&Value::Null);
    let (bytes, sha256) = match (
        data.get("bytes").and_then(Value::as_u64),
        data.get("sha256").and_then(text).filter(|hash| is_sha256(hash)),
    ) {
        (Some(bytes), Some(sha256)) => (bytes, sha256),
        _ => {
            let other = if data.is_null() { String::new() } else { data.to_string() };
            let data = data.as_str().unwrap_or(&other);
            (data.len() as u64, id::sha256(data.as_bytes()))
        }
    };
    let media_type = source.get("media_type").and_then(text);
    let unnamed = || if kind == "redacted_thinking" { kind } else { "unknown" }.to_owned();
    Block::Media { media_type: media_type.unwrap_or_else(unnamed), bytes, sha256 }
}
