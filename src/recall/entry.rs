//! One entry a session: what it was about, and the lines that answer.

use super::ask::{Ask, Deadline, Hit, Line, RecallError};
use super::claims;
use super::excerpt;
use super::newer::{self, Dated};
use super::origin;
use super::parts::Part;
use super::query::Query;
use super::rank::{Ranked, Ranker, round};
use super::route::{Route, route};
use super::scope::{Docs, holding};
use super::session::{Scale, Told, told};
use super::weigh;
use crate::clock::{self, Millis};
use crate::index::{Reader, Stored};
use tantivy::{DocAddress, DocId};

/// More sessions than asked for are looked into: the best record may speak against the profile.
const LOOK_INTO: usize = 8;
/// So many records are read: their text decides which of them are the best.
const READ: usize = 8;
/// The records that lines are taken from.
const RECORDS: usize = 6;
/// A session that answers less than this share of the best one is not worth its tokens.
const BESIDE: f64 = 0.5;

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
    /// What was asked states what one of the lines says: the line is shown, and not twice.
    pub states: bool,
    /// Order of entries.
    pub score: f64,
    /// Share of the query's weight that it covers: see [`Told::coverage`].
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
    let ranker = Ranker::new(reader, query, ask.parts)?;
    let average = ranker.average_session()?;
    let mut found: Vec<(Route, Told)> = Vec::new();
    // What a person asked to be noted belongs to no session: it answers for the project, judged by its words alone.
    let notes = Route { profile: Stored::default(), share: 0.0, score: 0.0 };
    for route in routes.into_iter().chain(ask.session.is_none().then_some(notes)) {
        let source = match route.profile.sessions.first() {
            Some(session) => Source::Session(session),
            None => Source::Notes,
        };
        let told = told(reader, &ranker, &records(reader, source, ask)?, average)?;
        deadline.check()?;
        if !told.ranked.is_empty() {
            found.push((route, told));
        }
    }
    let scale = Scale::of(ask.parts, found.iter().map(|(_, told)| told), 0.0);
    // What no session of the project has ever said, none of them answers.
    let known = query.coverage(found.iter().fold(0, |mask, (_, told)| mask | told.said));
    found.retain(|(_, told)| ask.threshold.is_none_or(|threshold| told.coverage(known) >= threshold));
    let dated: Vec<Dated> = found
        .iter()
        .map(|(_, told)| Dated { time_ms: told.time_ms, said: told.said, score: scale.session(told) })
        .collect();
    let factors = newer::factors(query, ask.parts, &dated);
    let mut found: Vec<(f64, Route, Told)> = found
        .into_iter()
        .zip(factors)
        .map(|((route, told), factor)| (factor * scale.session(&told), route, told))
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.profile.id.cmp(&b.1.profile.id)));
    found.truncate(ask.sessions);
    if ask.threshold.is_some() {
        let best = found.first().map_or(0.0, |(score, ..)| *score);
        found.retain(|(score, ..)| *score >= BESIDE * best);
    }
    let mut entries = Vec::new();
    for (score, route, told) in found {
        let read = best(reader, &scale, &told, ask)?;
        deadline.check()?;
        let Some((first, best)) = read.first().map(|(first, _, best)| (*first, best.clone())) else {
            continue;
        };
        let most = read.first().map_or(1.0, |(_, score, _)| *score);
        let worth: Vec<f64> =
            read.iter().map(|(_, score, _)| if most > 0.0 { score / most } else { 1.0 }).collect();
        let top: Vec<Stored> = read.into_iter().map(|(.., doc)| doc).take(RECORDS).collect();
        let coverage = told.coverage(known);
        let session = route.profile.sessions.first().cloned().unwrap_or_default();
        let explain = if ask.explain {
            Some(serde_json::json!({
                "route": {"share": round(route.share), "score": round(route.score)},
                "coverage": {"all": round(coverage), "known": round(known), "record": round(told.record), "around": round(told.window), "session": round(told.share)},
                "session": {"score": round(score), "whole": round(told.whole), "date": round(told.date)},
                "best": ranker.explain(&first)?,
            }))
        } else {
            None
        };
        let about = if session.is_empty() { None } else { header(reader, &session)? };
        // What a session was about is nothing that a tool or a page says.
        let said = top.iter().find(|doc| !origin::is_foreign(&doc.speaker));
        let header = about.unwrap_or_else(|| said.unwrap_or(&best).clone());
        let mut lines = excerpt::lines_of(query, &top, &worth);
        if ask.parts.has(Part::Claims) {
            lines = claims::settle(reader, &session, lines)?;
        }
        let states = ask.parts.has(Part::Claims) && claims::are_stated(reader, &session, &header, &lines)?;
        entries.push(Entry { session, header, best, top, lines, states, score, coverage, explain });
    }
    origin::settle(query, &mut entries);
    Ok(entries)
}

/// Where an entry's records come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source<'a> {
    /// What was said in a session: the records themselves, since what derives from them repeats them.
    Session(&'a str),
    /// The notes of the project.
    Notes,
}

/// The records of a source, of each segment in order.
pub(super) fn records(
    reader: &Reader,
    source: Source,
    ask: &Ask,
) -> Result<Vec<(u32, Vec<DocId>)>, RecallError> {
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
        docs = docs.visible(segment, reader)?;
        if let Docs::Only(docs) = docs
            && !docs.is_empty()
        {
            all.push((ord, docs));
        }
    }
    Ok(all)
}

/// The best records of a session, read, best first; ties by id.
fn best(
    reader: &Reader,
    scale: &Scale,
    told: &Told,
    ask: &Ask,
) -> Result<Vec<(Ranked, f64, Stored)>, RecallError> {
    let mut ranked: Vec<(Ranked, f64)> =
        told.ranked.iter().map(|r| (*r, scale.record(r, Some(told)))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.at.cmp(&b.0.at)));
    let mut read = Vec::new();
    for (ranked, score) in ranked.into_iter().take(READ) {
        let doc = reader.stored(ranked.at)?;
        read.push((ranked, score * weigh::factor(&doc, ask.parts), doc));
    }
    read.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.2.id.cmp(&b.2.id)));
    Ok(read)
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
            found.push((reader.time(at)?, at));
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
