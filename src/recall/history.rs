//! What past sessions have to do with a tool call: a file that they touched, a command that failed.

use super::ask::{Deadline, RecallError};
use super::block::Block;
use super::claims;
use super::entry::header;
use super::excerpt::{self, mask};
use super::origin;
use super::parts::Parts;
use super::query::Query;
use super::rank::{Ranked, Ranker};
use super::render;
use super::scope::{Docs, holding};
use crate::index::{Reader, Stored, fold_path};
use tantivy::{DocAddress, SegmentReader};

/// So many documents are looked at for one answer.
const LOOK_AT: usize = 8;
/// The store keeps so much of a command that failed. Units: characters.
const COMMAND_CHARS: usize = 160;
/// Of how a turn ended, so much is said where what failed in it matters more. Units: characters.
const END_CHARS: usize = 120;

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
        Ok(match docs {
            Docs::Only(docs) => docs,
            Docs::All => Vec::new(),
        })
    }
}

/// The newest turn that read or edited a file, as one short entry, with its session. Units: `chars` of the whole text.
pub(super) fn of_file(
    reader: &Reader,
    whose: Whose<'_>,
    path: &str,
    chars: usize,
) -> Result<Option<(Block, String)>, RecallError> {
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
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        for (_, at) in found.into_iter().take(LOOK_AT) {
            let doc = reader.stored(at)?;
            if is_taken_back(&doc) {
                continue;
            }
            let session = doc.sessions.first().cloned().unwrap_or_default();
            let mut parts: Vec<String> = ended(reader, &doc, &session, usize::MAX)?.into_iter().collect();
            for (name, label) in [("request", "request"), ("next_steps", "next steps")] {
                parts.extend(render::told(&doc, name).map(|text| format!("{label}: {text}")));
            }
            if let Some(block) = render::ending(&doc, &session, &parts, chars) {
                return Ok(Some((block.marked(&[b"file", folded.as_bytes()]), session)));
            }
        }
    }
    Ok(None)
}

/// As much of a command as is known of one that failed.
pub(super) fn as_kept(command: &str) -> String {
    command.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(COMMAND_CHARS).collect()
}

/// The newest turn in which a command failed and did not work later on, as one short entry, with its session.
///
/// `query`: the command, or what is known of a failure. `threshold`: the share of its weight that the failed command with its error must
/// cover; of a command whose words are too few to go by it must be that very `command`. Units: `chars` of the whole text.
pub(super) fn of_command(
    reader: &Reader,
    whose: Whose<'_>,
    (query, command): (&Query, Option<&str>),
    threshold: f64,
    chars: usize,
    deadline: &Deadline,
) -> Result<Option<(Block, String)>, RecallError> {
    let Some(rarest) = query.terms.first() else { return Ok(None) };
    deadline.check()?;
    let f = reader.fields();
    let ranker = Ranker::new(reader, query, Parts::default())?;
    let mut found: Vec<(i64, Ranked)> = Vec::new();
    for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
        // What lacks the rarest term covers too little in any case, and few hold it.
        let docs = Docs::Only(holding(segment, f.prose, &rarest.text)?).keep(segment, f.kind, "outcome")?;
        let docs = Docs::Only(whose.keep(reader, segment, docs)?);
        for ranked in ranker.segment(ord, &docs)? {
            if query.coverage(ranked.mask) >= threshold {
                found.push((reader.time(ranked.at)?, ranked));
            }
        }
    }
    deadline.check()?;
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.at.cmp(&b.1.at)));
    for (_, ranked) in found.into_iter().take(LOOK_AT) {
        let doc = reader.stored(ranked.at)?;
        if is_taken_back(&doc) {
            continue;
        }
        // The end of the line is what the command printed.
        let is_it = |line: &str| {
            let rest = command.and_then(|command| line.strip_prefix("failed: ")?.strip_prefix(command));
            query.is_useful() || rest.is_some_and(|rest| rest.starts_with(": "))
        };
        let covers = |line: &String| {
            query.coverage(mask(query, line)) >= threshold && is_it(line) && !origin::is_addressed(line)
        };
        let Some(line) = failures(&doc).into_iter().find(covers) else { continue };
        let mut parts = vec![origin::quoted("tool", &line)];
        let session = doc.sessions.first().cloned().unwrap_or_default();
        parts.extend(ended(reader, &doc, &session, END_CHARS)?);
        return Ok(render::short(&doc, &session, &parts, chars).map(|block| (block, session)));
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

/// The commands that a turn left failing: `failed: <command>: <error>`.
pub(super) fn failures(doc: &Stored) -> Vec<String> {
    let header: serde_json::Value = serde_json::from_str(&doc.header).unwrap_or_default();
    let notes = header.get("notes").and_then(serde_json::Value::as_str).unwrap_or_default();
    notes.lines().filter(|line| line.starts_with("failed: ")).map(str::to_owned).collect()
}
