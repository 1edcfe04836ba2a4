//! What a line is: an observation, a fact about its session, noise by type, or odd with a reason.
//!
//! Every line falls into exactly one case, so that an account of a file adds up to its number of lines. Types of fields are not
//! trusted: a field of a wrong type is as good as missing.

use super::blocks::{Details, blocks, text};
use super::kinds::{Fate, Place, fate};
use super::mend::{bare, mend, second_beginnings};
use super::observation::{Block, Observation, Speaker};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::ops::Range;

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
    /// Uuid and parent uuid of a record of a subagent that has no id: old clients kept subagents inline, and only the chain of parents tells
    /// one from the next.
    pub inline: Option<(String, Option<String>)>,
}

/// Who named a session; the later in this order wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Namer {
    /// A model.
    Model,
    /// A person.
    Person,
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
    /// A title of the session.
    Title(Context, String, Namer),
    /// A title of the session that holds a record, whichever it is: record uuid, title.
    Summary(String, String),
    /// Noise, by name.
    Noise(String),
    /// A type that is not in the table, by name.
    Unknown(String),
    /// An empty line.
    Blank,
    /// Not a record: why.
    Odd(&'static str),
}

/// A line, and what in it is no part of its record.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// What it is.
    pub parsed: Parsed,
    /// What a torn write left in it, zeros or half a record. Units: bytes from the start of the line.
    pub torn: Vec<Range<usize>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Wire<'a> {
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
    summary: Value,
    leaf_uuid: Value,
}

impl Wire<'_> {
    /// Puts the large parts in, which are not copied on their way.
    pub(super) fn holding(self, message: Value, attachment: Value) -> Self {
        Self { message, attachment, ..self }
    }
}

/// The first look: a client's log of requests is a hundred times the conversation, and is not built.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

/// Says what a line is. Never fails: what is no record is [`Parsed::Odd`].
pub fn look(line: &[u8]) -> Look {
    let whole = |parsed| Look { parsed, torn: Vec::new() };
    if line.trim_ascii().is_empty() {
        return whole(Parsed::Blank);
    }
    let Some(range) = bare(line) else { return whole(Parsed::Odd("zero bytes")) };
    let zeros = |part: Range<usize>| {
        let filler = line.get(part.clone()).unwrap_or_default();
        filler.contains(&0).then_some(part)
    };
    let around = zeros(0..range.start).into_iter().chain(zeros(range.end..line.len())).collect();
    let record = line.get(range.clone()).unwrap_or_default();
    if let Some(parsed) = read_or_mend(record) {
        return Look { parsed, torn: around };
    }
    // Half a record, and behind it a whole one: the host died while writing, and went on in the same line.
    for at in second_beginnings(record) {
        let behind = read_or_mend(record.get(at..).unwrap_or_default());
        if let Some(parsed @ (Parsed::Said(..) | Parsed::Silent(..))) = behind {
            let half = 0..range.start + at;
            return Look { parsed, torn: Vec::from([half]) };
        }
    }
    whole(Parsed::Odd("not JSON"))
}

fn read_or_mend(record: &[u8]) -> Option<Parsed> {
    read(record).or_else(|| read(&mend(record)))
}

fn read(line: &[u8]) -> Option<Parsed> {
    let text = std::str::from_utf8(line).ok()?;
    if !text.starts_with('{') {
        let other: Result<serde::de::IgnoredAny, _> = serde_json::from_str(text);
        return other.is_ok().then_some(Parsed::Odd("not an object"));
    }
    let first: Kind = serde_json::from_str(text).ok()?;
    let kind: Option<String> = first.kind.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let Some(kind) = kind else { return Some(Parsed::Odd("no type")) };
    let light = match fate(Place::Record, &kind) {
        Fate::See(Place::Progress) => {
            let data: Option<Kind> = first.data.and_then(|raw| serde_json::from_str(raw.get()).ok());
            let of = data.and_then(|d| d.kind).and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
            return Some(progress(of.as_deref()));
        }
        Fate::Noise | Fate::Unknown => true,
        _ => false,
    };
    let wire: Wire = if light { Wire::default() } else { serde_json::from_str(text).ok()? };
    let details = Details::read(wire.tool_use_result);
    Some(classify(&kind, wire, &details))
}

/// A progress record by the type of its data.
pub(super) fn progress(of: Option<&str>) -> Parsed {
    let of = of.unwrap_or("none");
    by_table(Place::Progress, "progress", of)
}

/// Noise, where the table knows the name; else unknown.
fn by_table(place: Place, kind: &str, of: &str) -> Parsed {
    let name = format!("{kind}/{}", of.chars().take(64).collect::<String>());
    match fate(place, of) {
        Fate::Unknown => Parsed::Unknown(name),
        _ => Parsed::Noise(name),
    }
}

/// Says what the record of a type is.
pub(super) fn classify(kind: &str, mut wire: Wire, details: &Details) -> Parsed {
    let agent = text(&wire.agent_id);
    let inline = match (is_true(&wire.is_sidechain), &agent, text(&wire.uuid)) {
        (true, None, Some(uuid)) => Some((uuid, text(&wire.parent_uuid))),
        _ => None,
    };
    let context = Context {
        session: text(&wire.session_id),
        timestamp: text(&wire.timestamp),
        cwd: text(&wire.cwd),
        branch: text(&wire.git_branch),
        version: text(&wire.version),
        inline,
    };
    match fate(Place::Record, kind) {
        Fate::Said => match silent(&wire) {
            Some(why) => Parsed::Silent(context, why),
            None => {
                let observation = said(kind, &mut wire, &context, details);
                Parsed::Said(context, Box::new(observation))
            }
        },
        Fate::See(Place::Attachment) => attachment(context, &mut wire),
        Fate::See(Place::Progress) => progress(None),
        Fate::See(_) => {
            let subtype = text(&wire.subtype);
            match subtype.as_deref().map(|subtype| fate(Place::System, subtype)) {
                Some(Fate::Boundary) => Parsed::Boundary(context, text(&wire.uuid)),
                _ => by_table(Place::System, "system", subtype.as_deref().unwrap_or("none")),
            }
        }
        Fate::Title => match (text(&wire.custom_title), text(&wire.ai_title)) {
            (Some(title), _) => Parsed::Title(context, title, Namer::Person),
            (None, Some(title)) => Parsed::Title(context, title, Namer::Model),
            (None, None) => Parsed::Noise(kind.to_owned()),
        },
        Fate::Summary => match (text(&wire.leaf_uuid), text(&wire.summary)) {
            (Some(leaf), Some(title)) => Parsed::Summary(leaf, title),
            _ => Parsed::Noise(kind.to_owned()),
        },
        Fate::Unknown => Parsed::Unknown(kind.chars().take(64).collect()),
        _ => Parsed::Noise(kind.to_owned()),
    }
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

fn said(kind: &str, wire: &mut Wire, context: &Context, details: &Details) -> Observation {
    let mut unknown = Vec::new();
    let content = wire.message.get_mut("content").map(Value::take).unwrap_or_default();
    let whole = content.as_str().unwrap_or_default().to_owned();
    let blocks = blocks(content, details, &mut unknown);
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
    // Old clients kept subagents inline, without an id: whoever knows the chain gives each its name.
    let agent = if agent.is_empty() && sidechain { INLINE.to_owned() } else { agent };
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
        model: wire.message.get("model").and_then(text).filter(|model| !model.starts_with('<')),
        prompt_id: text(&wire.prompt_id),
        is_prompt,
        is_summary,
        command,
        blocks,
        unknown,
    }
}

/// The name of a subagent that has none.
pub const INLINE: &str = "sidechain";

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

/// Attachments mirror what the client added to the request. The one that a person typed is a prompt queued while the model was busy.
fn attachment(context: Context, wire: &mut Wire) -> Parsed {
    let kind = wire.attachment.get("type").and_then(Value::as_str).unwrap_or("none").to_owned();
    if fate(Place::Attachment, &kind) != Fate::Queued {
        return by_table(Place::Attachment, "attachment", &kind);
    }
    if let Some(why) = silent(wire) {
        return Parsed::Silent(context, why);
    }
    let mode = wire.attachment.get("commandMode").and_then(text);
    let content = wire.attachment.get_mut("prompt").map(Value::take).unwrap_or_default();
    let mut unknown = Vec::new();
    let blocks = blocks(content, &Details::default(), &mut unknown);
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
        model: None,
        prompt_id: text(&wire.prompt_id),
        is_prompt: !host,
        is_summary: false,
        command: None,
        blocks,
        unknown,
    };
    Parsed::Said(context, Box::new(observation))
}

#[cfg(test)]
mod tests;
