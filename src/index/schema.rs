//! The fields of the index and the version of its format.
//!
//! Scored text keeps frequencies but no positions: nearness is judged on the stored text of the few best documents, which costs
//! no disk. Names that filters use are indexed as they are, without frequencies and lengths. Only the time is a fast field.

use super::document::Document;
use super::paths::Paths;
use super::tokens::Words;
use crate::id;
use std::borrow::Cow;
use tantivy::schema::{
    BytesOptions, FAST, Field, IndexRecordOption, STORED, Schema, SchemaBuilder, TextFieldIndexing,
    TextOptions, Value,
};
use tantivy::tokenizer::{RawTokenizer, TokenizerManager, WhitespaceTokenizer};
use tantivy::{TantivyDocument, Term};

/// The version of schema and analysis together, in each commit's payload. A change of either raises it; older
/// ones are then rebuilt.
pub(super) const FORMAT: u64 = 2;

/// Of prose, so many bytes are stored (cut at a character); all of it is indexed.
const STORED_PROSE_BYTES: usize = 16 * 1024;
/// Of tool text, so many bytes of its beginning and of its end: lines are quoted from there, the whole is in the store.
const STORED_TOOL_BYTES: (usize, usize) = (2560, 1536);

/// Length of a document's key.
const KEY_BYTES: usize = 10;

/// The handles of the fields.
#[derive(Debug, Clone, Copy)]
pub struct Fields {
    /// The beginning of the packed id: finds a document to replace it.
    pub key: Field,
    /// The document's id, packed; stored only.
    pub id: Field,
    /// Kind, a filter.
    pub kind: Field,
    /// Sessions, a filter; the first stored one is the owner.
    pub session: Field,
    /// Project id, a filter.
    pub project: Field,
    /// Host, a filter.
    pub host: Field,
    /// Speaker, a filter.
    pub speaker: Field,
    /// Status, a filter.
    pub status: Field,
    /// Slash command, a filter.
    pub command: Field,
    /// Paths by suffix and by word; filter and score.
    pub files: Field,
    /// Milliseconds; fast, for ranges and for the newest.
    pub time: Field,
    /// Host record uuid, packed; stored only.
    pub record: Field,
    /// Subagent; stored only.
    pub agent: Field,
    /// What was said; scored.
    pub prose: Field,
    /// Tool text; scored.
    pub tool: Field,
    /// Title; scored.
    pub title: Field,
    /// Request; scored, not stored: the header holds it.
    pub request: Field,
    /// Header JSON; stored only.
    pub header: Field,
    /// Distinct terms of a session; for routing, not stored.
    pub profile: Field,
    /// Prose as far as it is stored.
    pub prose_text: Field,
    /// Tool text as far as it is stored.
    pub tool_text: Field,
}

fn scored() -> TextOptions {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("words")
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(true);
    TextOptions::default().set_indexing_options(indexing)
}

fn named(tokenizer: &str) -> TextOptions {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(tokenizer)
        .set_index_option(IndexRecordOption::Basic)
        .set_fieldnorms(false);
    TextOptions::default().set_indexing_options(indexing)
}

/// Once a term, so without frequencies; with lengths, since a long session holds any word by chance.
fn profiled() -> TextOptions {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("terms")
        .set_index_option(IndexRecordOption::Basic)
        .set_fieldnorms(true);
    TextOptions::default().set_indexing_options(indexing)
}

/// Makes the schema and the handles of its fields; the same at every call.
pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = SchemaBuilder::new();
    let mut text = |name: &str, options: TextOptions| builder.add_text_field(name, options);
    let stored = || TextOptions::default().set_stored();
    let kind = text("kind", named("raw").set_stored());
    let session = text("session", named("raw").set_stored());
    let project = text("project", named("raw").set_stored());
    let host = text("host", named("raw").set_stored());
    let speaker = text("speaker", named("raw").set_stored());
    let status = text("status", named("raw").set_stored());
    let command = text("command", named("raw").set_stored());
    let files = text("files", named("paths").set_stored());
    let agent = text("agent", stored());
    let prose = text("prose", scored());
    let tool = text("tool", scored());
    let title = text("title", scored().set_stored());
    let request = text("request", scored());
    let header = text("header", stored());
    let profile = text("profile", profiled());
    let prose_text = text("prose_text", stored());
    let tool_text = text("tool_text", stored());
    let key = builder.add_bytes_field("key", BytesOptions::default().set_indexed());
    let id = builder.add_bytes_field("id", STORED);
    let record = builder.add_bytes_field("record", STORED);
    let time = builder.add_i64_field("time", FAST | STORED);
    let fields = Fields {
        key,
        id,
        kind,
        session,
        project,
        host,
        speaker,
        status,
        command,
        files,
        time,
        record,
        agent,
        prose,
        tool,
        title,
        request,
        header,
        profile,
        prose_text,
        tool_text,
    };
    (builder.build(), fields)
}

/// The analyses that the schema names.
pub(super) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::new();
    manager.register("raw", RawTokenizer::default());
    // Asked for by stored fields that are not indexed.
    manager.register("default", RawTokenizer::default());
    manager.register("words", Words);
    manager.register("paths", Paths);
    // A profile is made of terms already; cutting and stemming them again would change some.
    manager.register("terms", WhitespaceTokenizer::default());
    manager
}

/// The term by which a document is found and replaced.
pub(super) fn id_term(fields: &Fields, id: &str) -> Term {
    Term::from_field_bytes(fields.key, &key_of(id))
}

/// The bytes of that term.
pub(super) fn key_of(id: &str) -> Vec<u8> {
    key(&id::pack(id)).to_vec()
}

/// A dictionary spends two bytes on each byte of a random key, so the key is no longer than it must be: 72 bits of hash are one among
/// ten million documents.
fn key(packed: &[u8]) -> &[u8] {
    if packed.len() == id::PACKED_BYTES { packed.get(..KEY_BYTES).unwrap_or(packed) } else { packed }
}

/// Turns a row into what Tantivy indexes.
pub(super) fn to_tantivy(fields: &Fields, d: &Document) -> TantivyDocument {
    let mut doc = TantivyDocument::new();
    let mut add = |field: Field, text: &str| {
        if !text.is_empty() {
            doc.add_text(field, text);
        }
    };
    add(fields.kind, &d.kind);
    for session in &d.sessions {
        add(fields.session, session);
    }
    add(fields.project, &d.project);
    add(fields.host, &d.host);
    add(fields.speaker, &d.speaker);
    add(fields.status, &d.status);
    add(fields.command, &d.command);
    for file in &d.files {
        add(fields.files, file);
    }
    add(fields.agent, &d.agent);
    add(fields.prose, &d.prose);
    add(fields.tool, &d.tool);
    add(fields.title, &d.title);
    add(fields.request, &d.request);
    add(fields.header, &d.header);
    add(fields.profile, &d.profile);
    add(fields.prose_text, cut(&d.prose, STORED_PROSE_BYTES));
    add(fields.tool_text, &ends(&d.tool));
    let packed = id::pack(&d.id);
    doc.add_bytes(fields.key, key(&packed));
    doc.add_bytes(fields.id, &packed);
    if !d.record.is_empty() {
        doc.add_bytes(fields.record, &id::pack(&d.record));
    }
    if d.time_ms != 0 {
        doc.add_i64(fields.time, d.time_ms);
    }
    doc
}

/// Reads back what is stored of a row: text may be cut, `request`, `profile` and `seq` are not stored.
pub(super) fn from_tantivy(fields: &Fields, doc: &TantivyDocument) -> Document {
    let all = |field: Field| -> Vec<String> {
        doc.get_all(field).filter_map(|v| v.as_str().map(str::to_owned)).collect()
    };
    let one = |field: Field| -> String {
        doc.get_first(field).and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
    };
    let packed = |field: Field| -> String {
        doc.get_first(field).and_then(|v| v.as_bytes().map(id::unpack)).unwrap_or_default()
    };
    let kind = one(fields.kind);
    // No filter finds it by that: the record that says it is found.
    let speaker = if kind == "failure" { "tool".to_owned() } else { one(fields.speaker) };
    Document {
        id: packed(fields.id),
        kind,
        sessions: all(fields.session),
        project: one(fields.project),
        host: one(fields.host),
        speaker,
        time_ms: doc.get_first(fields.time).and_then(|v| v.as_i64()).unwrap_or(0),
        record: packed(fields.record),
        agent: one(fields.agent),
        prose: one(fields.prose_text),
        tool: one(fields.tool_text),
        title: one(fields.title),
        command: one(fields.command),
        files: all(fields.files),
        status: one(fields.status),
        header: one(fields.header),
        ..Document::default()
    }
}

/// The first and the last lines of a long text.
fn ends(text: &str) -> Cow<'_, str> {
    let (head, tail) = STORED_TOOL_BYTES;
    if text.len() <= head + tail {
        return Cow::Borrowed(text);
    }
    let begin = cut(text, head);
    let end = (text.len() - tail..=text.len()).find_map(|at| text.get(at..)).unwrap_or_default();
    // Whole lines, where there are lines.
    let begin = begin.rsplit_once('\n').map_or(begin, |(lines, _)| lines);
    let end = end.split_once('\n').map_or(end, |(_, lines)| lines);
    Cow::Owned(format!("{begin}\n…\n{end}"))
}

fn cut(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_tool_text_the_first_and_the_last_lines_are_stored() {
        let lines: Vec<String> = (0..1000).map(|n| format!("línea {n}")).collect();
        let text = lines.join("\n");
        let stored = ends(&text);
        assert!(stored.starts_with("línea 0\n") && stored.ends_with("\nlínea 999") && stored.len() < 4200);
        assert!(stored.lines().all(|line| line == "…" || lines.iter().any(|l| l == line)));
        assert_eq!(ends("short"), "short");
        assert!(ends(&"é".repeat(5000)).len() < 4200);
    }
}
