//! Which past sessions a query is about, by the profiles of sessions: the distinct terms of each.
//!
//! A term that few sessions use counts more; several terms together beat one repeated, since a profile holds each once. A
//! session with too little of the query's weight is not routed to, and then nothing is said.

use super::ask::{Ask, RecallError};
use super::query::Query;
use super::scope::{Docs, postings};
use crate::index::{Reader, Stored};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, DocSet as _, SegmentReader, TERMINATED};

/// A profile must cover this share of the query's weight among sessions, unless a person asks: they see for themselves.
const SIGNAL: f64 = 0.25;
/// How much the length of a profile counts.
const LENGTH: f64 = 0.2;

/// One session that may answer.
#[derive(Debug, Clone)]
pub(super) struct Route {
    /// Its `session` document.
    pub profile: Stored,
    /// Share of the query's weight among sessions that it covers.
    pub share: f64,
    /// The share, less for long profiles: what the order goes by.
    pub score: f64,
}

/// Finds at most `limit` sessions, best first, ties by id.
pub(super) fn route(
    reader: &Reader,
    query: &Query,
    ask: &Ask,
    limit: usize,
) -> Result<Vec<Route>, RecallError> {
    let mut found: Vec<(f64, f64, DocAddress)> = Vec::new();
    let average = average_length(reader)?;
    for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
        let norms = segment.get_fieldnorms_reader(reader.fields().profile)?;
        for (doc, mask) in candidates(reader, segment, query, ask)? {
            let covered: f64 = query.masked(mask).map(|t| t.session_weight).sum();
            let share = if query.session_mass > 0.0 { covered / query.session_mass } else { 0.0 };
            let length = f64::from(norms.fieldnorm(doc)) / average;
            let score = share / (1.0 - LENGTH + LENGTH * length).max(0.5);
            if share >= SIGNAL || (ask.threshold.is_none() && share > 0.0) {
                found.push((score, share, DocAddress::new(ord, doc)));
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.2.cmp(&b.2)));
    // Ties at the edge are read too, so that ids decide, not places in the index; each costs a block of stored text.
    let edge = limit.checked_sub(1).and_then(|last| found.get(last)).map(|(score, ..)| *score);
    let tied = found.iter().take_while(|(score, ..)| edge.is_none_or(|edge| *score >= edge)).count();
    found.truncate(tied.min(limit + 8));
    let mut routes = Vec::new();
    for (score, share, at) in found {
        routes.push(Route { profile: reader.stored(at)?, share, score });
    }
    routes.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.profile.id.cmp(&b.profile.id)));
    routes.truncate(limit);
    Ok(routes)
}

/// Session documents that hold any term and pass the filters, with their terms.
fn candidates(
    reader: &Reader,
    segment: &SegmentReader,
    query: &Query,
    ask: &Ask,
) -> Result<Vec<(DocId, u16)>, RecallError> {
    let f = reader.fields();
    // Sessions are few beside their records: their lists are read whole, once.
    let mut holding: Vec<(DocId, u16)> = Vec::new();
    for (n, term) in query.terms.iter().enumerate() {
        for (form, _) in term.forms() {
            let Some(mut list) = postings(segment, f.profile, form, IndexRecordOption::Basic)? else {
                continue;
            };
            while list.doc() != TERMINATED {
                holding.push((list.doc(), 1 << n));
                list.advance();
            }
        }
    }
    holding.sort_unstable();
    holding.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 |= next.1;
        }
        same
    });
    holding.retain(|(doc, _)| !segment.is_deleted(*doc));
    let mut docs = Docs::Only(holding.iter().map(|(doc, _)| *doc).collect());
    for (field, value) in [(f.project, &ask.project), (f.session, &ask.session), (f.host, &ask.host)] {
        if let Some(value) = value {
            docs = docs.keep(segment, field, value)?;
        }
    }
    if let Some(current) = &ask.exclude_session {
        docs = docs.drop(segment, f.session, current)?;
    }
    let Docs::Only(docs) = docs.visible(segment, reader)? else { return Ok(Vec::new()) };
    holding.retain(|(doc, _)| docs.binary_search(doc).is_ok());
    Ok(holding)
}

/// Terms in the average profile.
fn average_length(reader: &Reader) -> Result<f64, RecallError> {
    let (mut tokens, mut docs) = (0_u64, 0_u64);
    for segment in reader.searcher().segment_readers() {
        tokens += segment.inverted_index(reader.fields().profile)?.total_num_tokens();
        docs += segment
            .inverted_index(reader.fields().kind)?
            .doc_freq(&tantivy::Term::from_field_text(reader.fields().kind, "session"))
            .map(u64::from)?;
    }
    Ok((tokens as f64 / docs.max(1) as f64).max(1.0))
}
