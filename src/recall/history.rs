//! What past sessions have to do with a tool call: a file that they touched, a command that failed.

use super::ask::{Deadline, RecallError};
use super::block::Block;
use super::brief::gist;
use super::claims;
use super::entry::header;
use super::excerpt::{self, mask};
use super::origin;
use super::parts::Parts;
use super::query::Query;
use super::rank::Ranker;
use super::render;
use super::scope::{Docs, holding};
use crate::clock::{self, Millis};
use crate::command;
use crate::index::{Reader, Stored, fold_path};
use tantivy::{DocAddress, SegmentReader};

/// So many documents are looked at for one answer.
const LOOK_AT: usize = 8;
/// Of how a turn ended, so much is said where what failed in it matters more. Units: characters.
const END_CHARS: usize = 120;
/// Of how the newest turn with a file ended, so much is said beside earlier ones. Units: characters.
const BESIDE_CHARS: usize = 130;
/// Earlier turns with a file that are told, and the characters of each.
const EARLIER: usize = 2;
/// See [`EARLIER`].
const EARLIER_CHARS: usize = 70;
/// A shorter answer of a turn that changed nothing tells nothing. Units: characters.
const TELLING_CHARS: usize = 40;

/// Whose past is looked through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whose<'a> {
    /// Project id.
    pub project: &'a str,
    /// A session whose own doings are left out.
    pub but: Option<&'a str>,
}

impl Whose<'_> {
    fn keep(&self, reader: &Reader, segment: &SegmentReader, docs: Docs) -> Result<Vec<u32>, RecallError> {
        let mut docs = docs.keep(segment, reader.fields().project, self.project)?;
        if let Some(own) = self.but {
            docs = docs.drop(segment, reader.fields().session, own)?;
        }
        docs = docs.visible(segment, reader)?;
        Ok(match docs {
            Docs::Only(docs) => docs,
            Docs::All => Vec::new(),
        })
    }
}

/// What past sessions know of a file.
#[derive(Debug, Clone)]
pub(super) struct OfFile {
    /// One short entry.
    pub block: Block,
    /// The session of the newest turn in it.
    pub session: String,
    /// The time of that turn. Units: milliseconds.
    pub newest_ms: i64,
}

/// The newest turns that changed a file or learned something with it at hand, as one short entry: how the newest ended, and of earlier ones
/// a line each. Known by the newest: when something new comes, it is told again. `None` when there are only trivial ones. Units:
/// `chars` of the whole text.
pub(super) fn of_file(
    reader: &Reader,
    whose: Whose<'_>,
    path: &str,
    chars: usize,
) -> Result<Option<OfFile>, RecallError> {
    let folded = fold_path(path);
    // A single name is a word of many paths.
    if !folded.contains('/') {
        return Ok(None);
    }
    let f = reader.fields();
    for kind in ["outcome", "session-summary"] {
        let mut found = Vec::new();
        for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
            let docs = Docs::Only(holding(segment, f.files, &folded)?).keep(segment, f.kind, kind)?;
            for doc in whose.keep(reader, segment, docs)? {
                let at = DocAddress::new(ord, doc);
                found.push((reader.time(at)?, at));
            }
        }
        newest_first(&mut found);
        let mut known: Vec<(Stored, String, String)> = Vec::new();
        for (_, at) in found.into_iter().take(LOOK_AT) {
            let doc = reader.stored(at)?;
            if is_taken_back(&doc) || is_trivial(&doc, &folded) {
                continue;
            }
            let session = doc.sessions.first().cloned().unwrap_or_default();
            let end = ended(reader, &doc, &session, usize::MAX)?.unwrap_or_default();
            known.push((doc, session, end));
            if known.len() > EARLIER {
                break;
            }
        }
        let Some(((doc, session, end), earlier)) = known.split_first() else { continue };
        let earlier: Vec<String> =
            earlier.iter().filter_map(|(doc, _, end)| earlier_line(doc, end)).collect();
        let end_chars = if earlier.is_empty() { usize::MAX } else { BESIDE_CHARS };
        let mut parts = Vec::new();
        parts.extend((!end.is_empty()).then(|| render::cut(end, end_chars)));
        parts.extend(earlier);
        for (name, label) in [("request", "request"), ("next_steps", "next steps")] {
            parts.extend(render::told(doc, name).map(|text| format!("{label}: {text}")));
        }
        if let Some(block) = render::ending(doc, session, &parts, chars) {
            let block = block.marked(&[b"file", folded.as_bytes(), doc.id.as_bytes()]);
            return Ok(Some(OfFile { block, session: session.clone(), newest_ms: doc.time_ms }));
        }
    }
    Ok(None)
}

/// `earlier, <day>: <how it ended>`.
fn earlier_line(doc: &Stored, end: &str) -> Option<String> {
    let end = gist(end.strip_prefix("completed: ").unwrap_or(end), EARLIER_CHARS);
    let day: String = clock::format(Millis(doc.time_ms)).chars().take(10).collect();
    (!end.is_empty()).then(|| format!("earlier, {day}: {}", render::cut(&end, EARLIER_CHARS)))
}

/// It only looked at the file, and nothing came of it.
fn is_trivial(doc: &Stored, folded: &str) -> bool {
    let header: serde_json::Value = serde_json::from_str(&doc.header).unwrap_or_default();
    let says = |name: &str| {
        header.get(name).and_then(serde_json::Value::as_str).is_some_and(|text| !text.is_empty())
    };
    let edited = header.get("files_edited").and_then(serde_json::Value::as_array);
    let is_it =
        |path: &serde_json::Value| path.as_str().is_some_and(|path| fold_path(path).ends_with(folded));
    let changed = edited.is_some_and(|files| files.iter().any(is_it));
    let completed = header.get("completed").and_then(serde_json::Value::as_str).unwrap_or_default();
    let tells = says("learned") || says("notes") || completed.chars().count() >= TELLING_CHARS;
    !changed && !tells
}

/// A failure as the index holds it.
#[derive(Debug, Clone, Default)]
pub(super) struct Failed {
    /// The tool.
    pub tool: String,
    /// What was run.
    pub command: String,
    /// What went wrong, the last time.
    pub error: String,
    /// `failed`, `denied`, `unknown` or `interrupted`.
    pub end: String,
    count: u64,
    /// Our id of the turn of the last time.
    pub turn: String,
}

impl Failed {
    /// Reads the header of a document of kind failure; what is missing is empty.
    pub(super) fn of(doc: &Stored) -> Self {
        let header: serde_json::Value = serde_json::from_str(&doc.header).unwrap_or_default();
        let text =
            |name: &str| header.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        Self {
            tool: text("tool"),
            command: text("command"),
            error: text("error"),
            end: text("end"),
            count: header.get("count").and_then(serde_json::Value::as_u64).unwrap_or(1),
            turn: text("turn"),
        }
    }

    /// `<command>: <error>`, and how often.
    pub(super) fn told(&self) -> String {
        let times = if self.count > 1 { format!(" ({} times)", self.count) } else { String::new() };
        format!("{}: {}{times}", self.command, self.error)
    }
}

/// The newest failure of a command that did not work since, as one short entry, with its session.
///
/// `command` is looked up as it is; what else is known of a failure is asked by `query`: `threshold` is the share of its weight that
/// a failed command with its error must cover. Units: `chars` of the whole text.
pub(super) fn of_command(
    reader: &Reader,
    whose: Whose<'_>,
    (query, command): (&Query, Option<&str>),
    threshold: f64,
    chars: usize,
    deadline: &Deadline,
) -> Result<Option<(Block, String)>, RecallError> {
    deadline.check()?;
    let f = reader.fields();
    let mut found: Vec<(i64, DocAddress)> = Vec::new();
    if let Some(command) = command {
        let told = command::told(command);
        for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
            let docs = Docs::Only(holding(segment, f.command, &told)?).keep(segment, f.kind, "failure")?;
            for doc in whose.keep(reader, segment, docs)? {
                let at = DocAddress::new(ord, doc);
                found.push((reader.time(at)?, at));
            }
        }
    }
    newest_first(&mut found);
    if let Some(told) = tell(reader, &found, chars, &|_| true)? {
        return Ok(Some(told));
    }
    let Some(rarest) = query.terms.first().filter(|_| query.is_useful()) else { return Ok(None) };
    deadline.check()?;
    let ranker = Ranker::new(reader, query, Parts::default())?;
    found.clear();
    for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
        // What lacks the rarest term covers too little in any case, and few hold it.
        let docs = Docs::Only(holding(segment, f.tool, &rarest.text)?).keep(segment, f.kind, "failure")?;
        let docs = Docs::Only(whose.keep(reader, segment, docs)?);
        for ranked in ranker.segment(ord, &docs)? {
            if query.coverage(ranked.mask) >= threshold {
                found.push((reader.time(ranked.at)?, ranked.at));
            }
        }
    }
    deadline.check()?;
    newest_first(&mut found);
    tell(reader, &found, chars, &|line| query.coverage(mask(query, line)) >= threshold)
}

fn newest_first(found: &mut [(i64, DocAddress)]) {
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
}

/// The first of some failures that may be told, with how its turn ended.
fn tell(
    reader: &Reader,
    found: &[(i64, DocAddress)],
    chars: usize,
    covers: &dyn Fn(&str) -> bool,
) -> Result<Option<(Block, String)>, RecallError> {
    for (_, at) in found.iter().take(LOOK_AT) {
        let doc = reader.stored(*at)?;
        let failed = Failed::of(&doc);
        let line = format!("failed: {}", failed.told());
        if is_taken_back(&doc) || failed.end != "failed" || !covers(&line) || origin::is_addressed(&line) {
            continue;
        }
        let session = doc.sessions.first().cloned().unwrap_or_default();
        let mut parts = vec![origin::quoted("tool", &line)];
        let about = reader.find(&failed.turn)?.unwrap_or(doc);
        parts.extend(ended(reader, &about, &session, END_CHARS)?);
        return Ok(render::short(&about, &session, &parts, chars).map(|block| (block, session)));
    }
    Ok(None)
}

/// The best record of a tool's output that says the same, as one short entry, with its session. Sessions are routed to by what was said in them, and what tools
/// print is not part of that: so the records themselves are asked.
pub(super) fn of_output(
    reader: &Reader,
    whose: Whose<'_>,
    query: &Query,
    threshold: f64,
    chars: usize,
    deadline: &Deadline,
) -> Result<Option<(Block, String)>, RecallError> {
    let Some(rarest) = query.terms.first() else { return Ok(None) };
    deadline.check()?;
    let f = reader.fields();
    let ranker = Ranker::new(reader, query, Parts::default())?;
    let mut found = Vec::new();
    for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
        let docs = Docs::Only(holding(segment, f.tool, &rarest.text)?).keep(segment, f.speaker, "tool")?;
        let docs = Docs::Only(whose.keep(reader, segment, docs)?);
        found.extend(ranker.segment(ord, &docs)?);
    }
    found.retain(|ranked| query.coverage(ranked.mask) >= threshold);
    deadline.check()?;
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.at.cmp(&b.at)));
    for ranked in found.into_iter().take(LOOK_AT) {
        let doc = reader.stored(ranked.at)?;
        if is_taken_back(&doc) {
            continue;
        }
        let session = doc.sessions.first().cloned().unwrap_or_default();
        let mut lines = excerpt::lines(query, std::slice::from_ref(&doc));
        lines.retain(|line| !origin::is_addressed(&line.text));
        if lines.is_empty() {
            continue;
        }
        let about = header(reader, &session)?.unwrap_or(doc);
        let mut parts: Vec<String> = lines.iter().map(|line| render::quoted(line, &about.kind)).collect();
        parts.extend(ended(reader, &about, &session, usize::MAX)?);
        if let Some(block) = render::short(&about, &session, &parts, chars) {
            return Ok(Some((block, session)));
        }
    }
    Ok(None)
}

/// How a turn or a session ended, without what is no longer so; `None` when nothing is left.
fn ended(reader: &Reader, doc: &Stored, session: &str, chars: usize) -> Result<Option<String>, RecallError> {
    let Some(end) = render::told(doc, "completed") else { return Ok(None) };
    let end: String = claims::in_force(reader, session, &end)?.chars().take(chars).collect();
    Ok(if end.is_empty() { None } else { Some(format!("completed: {end}")) })
}

/// A person took it back, or something later replaced it: it is there to be found, not to be told.
fn is_taken_back(doc: &Stored) -> bool {
    doc.status == "superseded"
}
