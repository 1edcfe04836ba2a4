//! What a line is: an observation, a fact about its session, noise by type, or odd with a reason.
//!
//! Every line falls into exactly one case, so that an account of a file adds up to its number of lines. Types of fields are not
//! trusted: a field of a wrong type is as good as missing.

use super::kinds::{Fate, fate};
use super::observation::{Block, Observation, Speaker, flatten_input};
use crate::id;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// What a record says about its session, beside what was said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// The host's session id.
    pub session: Option<String>,
    /// RFC 3339, as the host wrote it.
    pub timestamp: Option<String>,
    /// Working directory.
    pub cwd: Option<String>,
    /// Git branch.
    pub branch: Option<String>,
    /// Client version.
    pub version: Option<String>,
}

/// The case a line falls into.
#[derive(Debug, Clone, PartialEq)]
pub enum Parsed {
    /// Somebody said it.
    Said(Context, Box<Observation>),
    /// Nobody said it (meta records, expanded bodies, caveats, client notes): counted by kind.
    Silent(Context, &'static str),
    /// A compaction boundary: what lies before it makes a checkpoint.
    Boundary(Context, Option<String>),
    /// A title of the session; `true` when a person gave it.
    Title(Context, String, bool),
    /// Noise, by name.
    Noise(Context, String),
    /// A type that is not in the table, by name.
    Unknown(Context, String),
    /// An empty line.
    Blank,
    /// Not a record: why.
    Odd(&'static str),
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wire<'a> {
    #[serde(rename = "type")]
    kind: Value,
    subtype: Value,
    uuid: Value,
    parent_uuid: Value,
    timestamp: Value,
    session_id: Value,
    cwd: Value,
    git_branch: Value,
    version: Value,
    agent_id: Value,
    is_sidechain: Value,
    is_meta: Value,
    is_compact_summary: Value,
    is_api_error_message: Value,
    own_note: Value,
    hook_text: Value,
    turn_companion: Value,
    row_source: Value,
    origin: Value,
    prompt_source: Value,
    prompt_id: Value,
    message: Value,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
    attachment: Value,
    custom_title: Value,
    ai_title: Value,
}

/// The first look: a client's log of requests is a hundred times the conversation, and is not built.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<&'a RawValue>,
}

/// Says what a line is. Never fails: what is no record is [`Parsed::Odd`].
pub fn parse(line: &[u8]) -> Parsed {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Parsed::Blank;
    }
    // A torn write leaves zeros before the next good line.
    let line = match line.iter().position(|b| *b != 0) {
        None => return Parsed::Odd("zero bytes"),
        Some(first) => line.get(first..).unwrap_or_default(),
    };
    match read(line) {
        Some(parsed) => parsed,
        None => read(&mend(line)).unwrap_or(Parsed::Odd("not JSON")),
    }
}

fn read(line: &[u8]) -> Option<Parsed> {
    let text = std::str::from_utf8(line).ok()?;
    if !text.starts_with('{') {
        let other: Result<serde::de::IgnoredAny, _> = serde_json::from_str(text);
        return other.is_ok().then_some(Parsed::Odd("not an object"));
    }
    let kind: Kind = serde_json::from_str(text).ok()?;
    let kind: Option<String> = kind.kind.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let Some(kind) = kind else { return Some(Parsed::Odd("no type")) };
    let light = matches!(fate(&kind), Fate::Noise | Fate::Unknown);
    let wire: Wire = if light { Wire::default() } else { serde_json::from_str(text).ok()? };
    Some(classify(&kind, wire))
}

/// Makes bytes readable that a strict parser refuses: what is not UTF-8, and halves of surrogate pairs, become U+FFFD.
fn mend(line: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(line);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find("\\") {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let unit = |s: &str| {
            s.strip_prefix("\\u").and_then(|h| h.get(..4)).and_then(|h| u16::from_str_radix(h, 16).ok())
        };
        let (take, good) = match unit(escape) {
            Some(0xd800..=0xdbff) => match escape.get(6..).and_then(unit) {
                Some(0xdc00..=0xdfff) => (12, true),
                _ => (6, false),
            },
            Some(0xdc00..=0xdfff) => (6, false),
            // An escaped backslash must not be taken for the start of the next escape.
            _ => (2, true),
        };
        let taken = escape.get(..take).unwrap_or(escape);
        out.push_str(if good { taken } else { "\\ufffd" });
        rest = escape.get(taken.len()..).unwrap_or_default();
    }
    out.push_str(rest);
    out.into_bytes()
}

fn classify(kind: &str, mut wire: Wire) -> Parsed {
    let context = Context {
        session: text(&wire.session_id),
        timestamp: text(&wire.timestamp),
        cwd: text(&wire.cwd),
        branch: text(&wire.git_branch),
        version: text(&wire.version),
    };
    match fate(kind) {
        Fate::Said => match silent(&wire) {
            Some(why) => Parsed::Silent(context, why),
            None => {
                let observation = said(kind, &mut wire, &context);
                Parsed::Said(context, Box::new(observation))
            }
        },
        Fate::Attachment => attachment(context, &mut wire),
        Fate::System => match text(&wire.subtype).as_deref() {
            Some("compact_boundary") => Parsed::Boundary(context, text(&wire.uuid)),
            subtype => Parsed::Noise(context, format!("system/{}", subtype.unwrap_or("none"))),
        },
        Fate::Title => match (text(&wire.custom_title), text(&wire.ai_title)) {
            (Some(title), _) => Parsed::Title(context, title, true),
            (None, Some(title)) => Parsed::Title(context, title, false),
            (None, None) => Parsed::Noise(context, kind.to_owned()),
        },
        Fate::Noise => Parsed::Noise(context, kind.to_owned()),
        Fate::Unknown => Parsed::Unknown(context, kind.chars().take(64).collect()),
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|t| !t.is_empty()).map(str::to_owned)
}

fn is_true(value: &Value) -> bool {
    value == &Value::Bool(true)
}

/// Names the kind of a user or assistant record that nobody said; `None` when somebody did.
fn silent(wire: &Wire) -> Option<&'static str> {
    if is_true(&wire.is_meta) {
        return Some(match text(&wire.row_source).as_deref() {
            Some("hook") => "hook-text",
            Some("harness") => "caveat",
            _ if is_true(&wire.turn_companion) => "expanded-body",
            _ => "meta",
        });
    }
    if is_true(&wire.own_note) {
        return Some("client-note");
    }
    if is_true(&wire.hook_text) || wire.row_source.as_str() == Some("hook") {
        return Some("hook-text");
    }
    if is_true(&wire.turn_companion) {
        return Some("expanded-body");
    }
    if wire.kind.as_str() != Some("user") {
        return None;
    }
    let content = only_text(wire.message.get("content")?)?;
    let content = content.trim_start();
    // Older clients wrote caveats and hook text without a mark.
    let caveat = content.starts_with("<local-command-caveat>")
        || content.starts_with(
            "Caveat: The messages below were generated by the user while running local commands",
        );
    let (first, rest) = content.split_once(" hook feedback:").unwrap_or_default();
    let feedback = HOOK_EVENTS.contains(&first) && !rest.is_empty();
    match (caveat, feedback || content.starts_with("<user-prompt-submit-hook>")) {
        (true, _) => Some("caveat"),
        (_, true) => Some("hook-text"),
        _ => None,
    }
}

/// Events whose hooks' words older clients wrote into a user record.
const HOOK_EVENTS: [&str; 8] = [
    "Stop",
    "SubagentStop",
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "SessionStart",
    "PreCompact",
    "Notification",
];

/// The text of a message that holds nothing but text.
fn only_text(content: &Value) -> Option<&str> {
    match content {
        Value::String(text) => Some(text),
        Value::Array(parts) => {
            let all = parts.iter().all(|p| p.get("type").and_then(Value::as_str) == Some("text"));
            parts.first().filter(|_| all)?.get("text")?.as_str()
        }
        _ => None,
    }
}

fn said(kind: &str, wire: &mut Wire, context: &Context) -> Observation {
    let details = result_details(wire.tool_use_result);
    let content = wire.message.get_mut("content").map(Value::take).unwrap_or_default();
    let whole = content.as_str().unwrap_or_default().to_owned();
    let blocks = blocks(content, details);
    let first = blocks.iter().find_map(|b| match b {
        Block::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let opening = if whole.is_empty() { first.unwrap_or_default() } else { &whole };
    let is_result = blocks.iter().any(|b| matches!(b, Block::ToolResult { .. }));
    let command = if kind == "user" && !is_result { slash_command(opening) } else { None };
    let is_summary = is_true(&wire.is_compact_summary);
    let agent = text(&wire.agent_id).unwrap_or_default();
    let sidechain = is_true(&wire.is_sidechain);
    // Old clients kept subagents inline, without an id: they share one name, so that they stay out of the main line.
    let agent = if agent.is_empty() && sidechain { "sidechain".to_owned() } else { agent };
    let speaker = match kind {
        "assistant" if is_true(&wire.is_api_error_message) => Speaker::Host,
        "assistant" => Speaker::Assistant,
        _ if is_result || opening.starts_with("<bash-stdout>") => Speaker::Tool,
        _ if is_summary || is_host_text(opening, wire) => Speaker::Host,
        _ if sidechain => Speaker::Agent,
        _ => Speaker::User,
    };
    let built_in = command.as_ref().is_some_and(|(name, _)| BUILT_IN.contains(&name.as_str()));
    let is_prompt = speaker == Speaker::User && !built_in && !opening.starts_with("<bash-input>");
    Observation {
        uuid: text(&wire.uuid),
        parent: text(&wire.parent_uuid),
        timestamp: context.timestamp.clone(),
        session: context.session.clone(),
        agent,
        speaker,
        message_id: wire.message.get("id").and_then(text),
        prompt_id: text(&wire.prompt_id),
        is_prompt,
        is_summary,
        command,
        blocks,
    }
}

/// Commands of the client itself: typed, but not a request to the model.
const BUILT_IN: [&str; 16] = [
    "clear", "compact", "model", "resume", "exit", "quit", "config", "cost", "help", "hooks", "login",
    "logout", "mcp", "memory", "rewind", "status",
];

/// Texts in a user record that the client wrote (host facts, section 5.2).
fn is_host_text(opening: &str, wire: &Wire) -> bool {
    let notification = wire.origin.get("kind").and_then(Value::as_str) == Some("task-notification")
        || wire.prompt_source.as_str() == Some("system");
    let harness = wire.row_source.as_str() == Some("harness");
    const HEADS: [&str; 4] = [
        "<task-notification>",
        "<local-command-stdout>",
        "<local-command-stderr>",
        "[Request interrupted by user",
    ];
    notification || harness || HEADS.iter().any(|head| opening.starts_with(head))
}

/// `<command-message>…</command-message><command-name>/x</command-name><command-args>…</command-args>`, in any order.
fn slash_command(opening: &str) -> Option<(String, String)> {
    let opening = opening.trim_start();
    if !opening.starts_with("<command-") {
        return None;
    }
    let part = |tag: &str| {
        let (_, rest) = opening.split_once(&format!("<{tag}>"))?;
        rest.split_once(&format!("</{tag}>")).map(|(inner, _)| inner.trim().to_owned())
    };
    let name = part("command-name")?;
    Some((name.trim_start_matches('/').to_owned(), part("command-args").unwrap_or_default()))
}

/// What only `toolUseResult` holds; the rest of it is a second copy.
#[derive(Clone, Copy, Default)]
struct Details {
    exit: Option<i64>,
    interrupted: bool,
}

fn result_details(raw: Option<&RawValue>) -> Details {
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Known {
        exit_code: Option<i64>,
        interrupted: Option<bool>,
    }
    let known = raw.and_then(|raw| serde_json::from_str::<Known>(raw.get()).ok()).unwrap_or_default();
    Details { exit: known.exit_code, interrupted: known.interrupted.unwrap_or(false) }
}

fn blocks(content: Value, details: Details) -> Vec<Block> {
    match content {
        Value::String(text) => vec![Block::Text(text)],
        Value::Array(parts) => parts.into_iter().map(|part| block(part, details)).collect(),
        Value::Null => Vec::new(),
        other => vec![other_block("none", &other)],
    }
}

fn other_block(kind: &str, value: &Value) -> Block {
    Block::Other { kind: kind.to_owned(), json: value.to_string() }
}

fn block(mut part: Value, details: Details) -> Block {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or("none").to_owned();
    let mut take = |key: &str| match part.get_mut(key).map(Value::take) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    match kind.as_str() {
        "text" => Block::Text(take("text")),
        "thinking" => Block::Thinking(take("thinking")),
        "tool_use" => {
            let (id, name) = (take("id"), take("name"));
            let input = part.get("input").cloned().unwrap_or_default();
            let named = |key: &str| input.get(key).and_then(text);
            let file = ["file_path", "notebook_path"].iter().find_map(|key| named(key));
            let command = if name == "Bash" { named("command") } else { None };
            Block::ToolUse { id, name, input: flatten_input(&input), file, command }
        }
        "tool_result" => {
            let id = take("tool_use_id");
            let failed = part.get("is_error").is_some_and(is_true);
            let text = result_text(part.get_mut("content").map(Value::take).unwrap_or_default());
            let exit = details.exit.or_else(|| exit_status(&text, failed));
            Block::ToolResult { id, text, failed, exit, interrupted: details.interrupted }
        }
        "image" | "document" => media(&part),
        other => other_block(other, &part),
    }
}

/// A result's content is a string or a list of parts; images become a line that identifies them.
fn result_text(content: Value) -> String {
    match content {
        Value::String(text) => text,
        Value::Array(parts) => {
            let lines = parts.into_iter().map(|part| match block(part, Details::default()) {
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

fn media(part: &Value) -> Block {
    let source = part.get("source").unwrap_or(part);
    let data = source.get("data").and_then(Value::as_str).unwrap_or_default();
    Block::Media {
        media_type: source.get("media_type").and_then(text).unwrap_or_else(|| "unknown".to_owned()),
        bytes: data.len() as u64,
        sha256: id::sha256(data.as_bytes()),
    }
}

/// Attachments mirror what the client added to the request. The one that a person typed is a prompt queued while the model was busy.
fn attachment(context: Context, wire: &mut Wire) -> Parsed {
    let kind = wire.attachment.get("type").and_then(Value::as_str).unwrap_or("none").to_owned();
    if kind != "queued_command" {
        return Parsed::Noise(context, format!("attachment/{kind}"));
    }
    if let Some(why) = silent(wire) {
        return Parsed::Silent(context, why);
    }
    let mode = wire.attachment.get("commandMode").and_then(text);
    let content = wire.attachment.get_mut("prompt").map(Value::take).unwrap_or_default();
    let blocks = blocks(content, Details::default());
    let opening = blocks.iter().find_map(|b| match b {
        Block::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let host = mode.as_deref().is_some_and(|m| m != "prompt")
        || opening.is_some_and(|o| o.trim_start().starts_with("<task-notification>"));
    let observation = Observation {
        uuid: text(&wire.uuid),
        parent: text(&wire.parent_uuid),
        timestamp: context.timestamp.clone(),
        session: context.session.clone(),
        agent: text(&wire.agent_id).unwrap_or_default(),
        speaker: if host { Speaker::Host } else { Speaker::User },
        message_id: None,
        prompt_id: text(&wire.prompt_id),
        is_prompt: !host,
        is_summary: false,
        command: None,
        blocks,
    };
    Parsed::Said(context, Box::new(observation))
}

#[cfg(test)]
mod tests;
