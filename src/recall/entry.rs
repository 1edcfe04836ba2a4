//! One entry a session: what it was about, and the lines that answer.

use super::ask::{Ask, Deadline, Hit, Line, RecallError};
use super::excerpt;
use super::origin;
use super::query::Query;
use super::rank::{Ranked, Ranker, round};
use super::route::{Route, route};
use super::scope::{Docs, holding, time};
use crate::clock::{self, Millis};
use crate::index::{Reader, Stored};
use tantivy::DocAddress;

/// More sessions than asked for are looked into: the best record may speak against the profile.
const LOOK_INTO: usize = 5;
/// The records that lines are taken from.
const RECORDS: usize = 6;
/// Weight of the profile in the order of sessions; the best record has the rest.
const PROFILE: f64 = 0.4;

/// What one session has to say.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Host session id.
    pub session: String,
    /// Session-summary, else the newest outcome, else the newest checkpoint, else the best record.
    pub header: Stored,
    /// The best record.
    pub best: Stored,
    /// The records that the lines were taken from.
    pub top: Vec<Stored>,
    /// The best lines.
    pub lines: Vec<Line>,
    /// Order of entries.
    pub score: f64,
    /// Share of the query's weight that the best record covers.
    pub coverage: f64,
    /// How it came about, when asked for.
    pub explain: Option<serde_json::Value>,
}

/// Finds entries, best first, at most `ask.sessions`.
pub(super) fn entries(
    reader: &Reader,
    query: &Query,
    ask: &Ask,
    deadline: &Deadline,
) -> Result<Vec<Entry>, RecallError> {
    let routes = route(reader, query, ask, ask.sessions + LOOK_INTO)?;
    deadline.check()?;
    let ranker = Ranker::new(reader, query)?;
    let mut found: Vec<(f64, f64, Route, Vec<Ranked>)> = Vec::new();
    // What a person asked to be noted belongs to no session: it answers for the project, judged by its words alone.
    let notes = Route { profile: Stored::default(), share: 0.0, score: 0.0 };
    for route in routes.into_iter().chain(ask.session.is_none().then_some(notes)) {
        let source = match route.profile.sessions.first() {
            Some(session) => Source::Session(session),
            None => Source::Notes,
        };
        let ranked = records(reader, &ranker, source, ask)?;
        deadline.check()?;
        let coverage = ranked.iter().take(RECORDS).map(|r| query.coverage(r.mask)).fold(0.0, f64::max);
        let Some(best) = ranked.first() else { continue };
        if ask.threshold.is_some_and(|t| coverage < t) {
            continue;
        }
        // A record that holds every term often approaches 2.2 times the weight; prose seldom passes 1.
        let record = if query.mass > 0.0 { best.score / query.mass } else { 0.0 };
        let profile = if source == Source::Notes { coverage } else { route.score };
        let score = PROFILE * profile + (1.0 - PROFILE) * record;
        found.push((score, coverage, route, ranked));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.2.profile.id.cmp(&b.2.profile.id)));
    found.truncate(ask.sessions);
    let mut entries = Vec::new();
    for (score, coverage, route, ranked) in found {
        let mut top = Vec::new();
        for r in ranked.iter().take(RECORDS) {
            top.push(reader.stored(r.at)?);
        }
        deadline.check()?;
        let (Some(best), Some(first)) = (top.first().cloned(), ranked.first()) else { continue };
        let session = route.profile.sessions.first().cloned().unwrap_or_default();
        let explain = if ask.explain {
            Some(serde_json::json!({
                "route": {"share": round(route.share), "score": round(route.score)},
                "coverage": round(coverage), "best": ranker.explain(first)?,
            }))
        } else {
            None
        };
        let about = if session.is_empty() { None } else { header(reader, &session)? };
        // What a session was about is nothing that a tool or a page says.
        let said = top.iter().find(|doc| !origin::is_foreign(&doc.speaker));
        let header = about.unwrap_or_else(|| said.unwrap_or(&best).clone());
        let lines = excerpt::lines(query, &top);
        entries.push(Entry { session, header, best, top, lines, score, coverage, explain });
    }
    origin::settle(query, &mut entries);
    Ok(entries)
}

/// Where an entry's records come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source<'a> {
    /// What was said in a session: the records themselves, since what derives from them repeats them.
    Session(&'a str),
    /// The notes of the project.
    Notes,
}

/// The records of a source that hold any term, best first; ties by place.
fn records(reader: &Reader, ranker: &Ranker, source: Source, ask: &Ask) -> Result<Vec<Ranked>, RecallError> {
    let f = reader.fields();
    let mut all = Vec::new();
    for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
        let (list, value, kind) = match source {
            Source::Session(session) => (f.session, session, ask.kind.as_deref().unwrap_or("observation")),
            Source::Notes => (f.kind, "note", "note"),
        };
        let mut docs = Docs::Only(holding(segment, list, value)?);
        if docs == Docs::Only(Vec::new()) {
            continue;
        }
        docs = docs.keep(segment, f.kind, kind)?;
        if let Some(project) = &ask.project {
            docs = docs.keep(segment, f.project, project)?;
        }
        for (field, value) in [
            (f.speaker, &ask.speaker),
            (f.command, &ask.command),
            (f.status, &ask.status),
            (f.host, &ask.host),
        ] {
            if let Some(value) = value {
                docs = docs.keep(segment, field, value)?;
            }
        }
        if let Some(file) = &ask.file {
            docs = docs.keep(segment, f.files, &crate::index::fold_path(file))?;
        }
        if let Some(current) = &ask.exclude_session {
            docs = docs.drop(segment, f.session, current)?;
        }
        if let Some(since) = ask.since_ms {
            docs = docs.since(segment, since)?;
        }
        all.append(&mut ranker.segment(ord, &docs)?);
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.at.cmp(&b.at)));
    Ok(all)
}

/// The document that says what a session was about.
pub(super) fn header(reader: &Reader, session: &str) -> Result<Option<Stored>, RecallError> {
    for kind in ["session-summary", "outcome", "checkpoint"] {
        if let Some(at) = newest(reader, session, kind, 1)?.first() {
            return Ok(Some(reader.stored(*at)?));
        }
    }
    Ok(None)
}

/// The newest documents of a kind in a session, newest first; ties by place.
pub(super) fn newest(
    reader: &Reader,
    session: &str,
    kind: &str,
    limit: usize,
) -> Result<Vec<DocAddress>, RecallError> {
    let f = reader.fields();
    let mut found = Vec::new();
    for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
        let docs = Docs::Only(holding(segment, f.session, session)?).keep(segment, f.kind, kind)?;
        let Docs::Only(docs) = docs else { continue };
        for doc in docs {
            let at = DocAddress::new(ord, doc);
            found.push((time(reader, at)?, at));
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    Ok(found.into_iter().take(limit).map(|(_, at)| at).collect())
}

impl Entry {
    /// The entry as a hit of a search by session.
    pub(super) fn into_hit(self) -> Hit {
        let mut hit = hit(&self.header, self.score, self.lines);
        hit.session = self.session;
        hit.speaker = self.best.speaker;
        hit.record = Some(self.best.record).filter(|r| !r.is_empty());
        hit.explain = self.explain;
        hit
    }
}

/// A document as a hit.
pub(super) fn hit(doc: &Stored, score: f64, mut excerpt: Vec<Line>) -> Hit {
    if excerpt.is_empty() {
        excerpt.extend(excerpt::first(doc));
    }
    Hit {
        id: doc.id.clone(),
        session: doc.sessions.first().cloned().unwrap_or_default(),
        project: doc.project.clone(),
        kind: doc.kind.clone(),
        speaker: doc.speaker.clone(),
        time: if doc.time_ms == 0 { String::new() } else { clock::format(Millis(doc.time_ms)) },
        score: round(score),
        status: Some(doc.status.clone()).filter(|s| !s.is_empty()),
        files: doc.files.clone(),
        excerpt,
        record: Some(doc.record.clone()).filter(|r| !r.is_empty()),
        header: serde_json::from_str(&doc.header).ok().filter(serde_json::Value::is_object),
        explain: None,
    }
}
