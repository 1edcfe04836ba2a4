//! Searching: by record over everything that the filters leave, by session through the routing that hooks use.

use super::ask::{Answer, Ask, By, Deadline, RecallError};
use super::claims;
use super::context;
use super::entry::{Entry, entries, hit};
use super::excerpt;
use super::parts::Part;
use super::query::{Query, analyse};
use super::rank::{Ranked, Ranker};
use super::scope::{Docs, meet, postings};
use crate::config::Home;
use crate::index::{Reader, fold_path};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, SegmentReader, TantivyError};

/// Opens the published index, for those who ask through recall alone; `None` when there is none that this version can read.
pub fn published(home: &Home) -> Result<Option<Reader>, RecallError> {
    // A damaged file can make Tantivy panic where it could fail.
    let opened = catch_unwind(AssertUnwindSafe(|| Reader::open(home)));
    let damaged = || TantivyError::InternalError("the index is damaged".to_owned());
    Ok(opened.map_err(|_| damaged())??)
}

/// Answers a question. Errors: [`RecallError`]; a question that finds nothing is an empty answer.
pub fn search(reader: &Reader, ask: &Ask, deadline: &Deadline) -> Result<Answer, RecallError> {
    // The bytes of a damaged dictionary lead anywhere: Tantivy panics where it could fail.
    let answer = catch_unwind(AssertUnwindSafe(|| answer(reader, ask, deadline)));
    let damaged = || TantivyError::InternalError("a segment is damaged".to_owned());
    answer.unwrap_or_else(|_| Err(damaged().into()))
}

fn answer(reader: &Reader, ask: &Ask, deadline: &Deadline) -> Result<Answer, RecallError> {
    let query = analyse(reader, &ask.text, ask.parts)?;
    deadline.check()?;
    match ask.by {
        By::Session => by_session(reader, &query, ask, deadline),
        By::Record => by_record(reader, &query, ask, deadline),
    }
}

fn by_session(reader: &Reader, query: &Query, ask: &Ask, deadline: &Deadline) -> Result<Answer, RecallError> {
    let found = entries(reader, query, ask, deadline)?;
    let coverage = found.iter().map(|e| e.coverage).fold(0.0, f64::max);
    let routed = found.iter().map(|e| e.session.clone()).collect();
    let hits = found.into_iter().take(ask.limit).map(Entry::into_hit).collect();
    Ok(Answer { hits, routed, coverage })
}

fn by_record(reader: &Reader, query: &Query, ask: &Ask, deadline: &Deadline) -> Result<Answer, RecallError> {
    if query.terms.is_empty() {
        // Words that nothing holds find nothing; no words at all ask for the newest.
        let listing = query.words == 0 && ask.text.trim().is_empty();
        return if listing { newest(reader, query, ask, deadline) } else { Ok(Answer::default()) };
    }
    let ranker = Ranker::new(reader, query, ask.parts)?;
    let mut ranked = Vec::new();
    for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
        let docs = filter(reader, segment, ask)?;
        let mut found = ranker.segment(ord, &docs)?;
        if ask.kind.is_none() {
            derived(reader, segment, &mut found)?;
        }
        ranked.append(&mut found);
        deadline.check()?;
    }
    ranked.retain(|r| !reader.searcher().segment_reader(r.at.segment_ord).is_deleted(r.at.doc_id));
    let coverage = ranked.iter().map(|r| query.covered(r.said, r.mask)).fold(0.0, f64::max);
    let best = context::best(reader, &ranker, ask, ranked, deadline)?;
    let mut answer = Answer { coverage, ..Answer::default() };
    for (ranked, score, doc) in best {
        deadline.check()?;
        let lines = excerpt::lines(query, std::slice::from_ref(&doc));
        let mut hit = hit(&doc, score, lines);
        if ask.explain {
            hit.explain = Some(ranker.explain(&ranked)?);
        }
        answer.hits.push(hit);
    }
    if ask.kind.is_none() && ask.status.is_none() && ask.parts.has(Part::Claims) {
        claims::prefer(reader, &mut answer.hits)?;
        answer.hits.truncate(ask.limit);
    }
    Ok(answer)
}

/// What is derived from records repeats them: it counts less than they do where both are asked for.
fn derived(reader: &Reader, segment: &SegmentReader, found: &mut [Ranked]) -> Result<(), RecallError> {
    const DERIVED: f64 = 0.5;
    let docs: Vec<DocId> = found.iter().map(|r| r.at.doc_id).collect();
    for kind in ["outcome", "checkpoint", "session-summary", "claim", "failure"] {
        let list = postings(segment, reader.fields().kind, kind, IndexRecordOption::Basic)?;
        let Some(mut list) = list else { continue };
        meet(&docs, &mut list, |at, _| found.iter_mut().skip(at).take(1).for_each(|r| r.score *= DERIVED));
    }
    Ok(())
}

fn newest(reader: &Reader, query: &Query, ask: &Ask, deadline: &Deadline) -> Result<Answer, RecallError> {
    let mut found = Vec::new();
    for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
        let mut docs = filter(reader, segment, ask)?;
        if ask.kind.is_none() {
            // These carry a profile only, and are no answer.
            docs = docs.drop(segment, reader.fields().kind, "session")?;
            docs = docs.drop(segment, reader.fields().kind, "failure")?;
        }
        let docs: Vec<_> = match docs {
            Docs::All => segment.doc_ids_alive().collect(),
            Docs::Only(docs) => docs,
        };
        for doc in docs {
            let at = DocAddress::new(ord, doc);
            found.push((reader.time(at)?, at));
        }
        deadline.check()?;
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut answer = Answer::default();
    for (_, at) in found.into_iter().take(ask.limit) {
        let doc = reader.stored(at)?;
        answer.hits.push(hit(&doc, 0.0, excerpt::lines(query, std::slice::from_ref(&doc))));
    }
    Ok(answer)
}

fn filter(reader: &Reader, segment: &SegmentReader, ask: &Ask) -> Result<Docs, RecallError> {
    let f = reader.fields();
    let mut docs = Docs::All;
    // The narrow ones first: what follows only looks at what they left.
    if let Some(file) = &ask.file {
        docs = docs.keep(segment, f.files, &fold_path(file))?;
    }
    let filters = [
        (f.session, &ask.session),
        (f.command, &ask.command),
        (f.status, &ask.status),
        (f.kind, &ask.kind),
        (f.speaker, &ask.speaker),
        (f.project, &ask.project),
        (f.host, &ask.host),
    ];
    for (field, value) in filters {
        if let Some(value) = value {
            docs = docs.keep(segment, field, value)?;
        }
    }
    if let Some(current) = &ask.exclude_session {
        docs = docs.drop(segment, f.session, current)?;
    }
    match ask.since_ms {
        Some(since) => docs.since(segment, since),
        None => Ok(docs),
    }
}

#[cfg(test)]
pub(super) mod tests;
