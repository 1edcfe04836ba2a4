//! The order of records found anywhere: each with what stands around it in its session.

use super::ask::{Ask, Deadline, RecallError};
use super::entry::{Source, records};
use super::newer::{self, Dated};
use super::rank::{Ranked, Ranker};
use super::route::route;
use super::session::{Scale, Told, told};
use super::weigh;
use crate::index::{Reader, Stored};
use std::collections::HashMap;
use tantivy::DocAddress;

/// So many sessions are looked into.
const SESSIONS: usize = 48;
/// So many records beyond those asked for are read: their text may change the order.
const SPARE: usize = 20;
/// Ties at the edge are read too, so that ids decide, not places in the index.
const MAX_TIES: usize = 100;

/// The best records with their scores, best first; ties by id.
pub(super) fn best(
    reader: &Reader,
    ranker: &Ranker,
    ask: &Ask,
    ranked: Vec<Ranked>,
    deadline: &Deadline,
) -> Result<Vec<(Ranked, f64, Stored)>, RecallError> {
    let all = Ask {
        threshold: None,
        kind: None,
        speaker: None,
        file: None,
        status: None,
        command: None,
        since_ms: None,
        ..ask.clone()
    };
    let average = ranker.average_session()?;
    let mut sessions = Vec::new();
    for route in route(reader, ranker.query, &all, SESSIONS)? {
        if let Some(session) = route.profile.sessions.first() {
            sessions.push(told(reader, ranker, &records(reader, Source::Session(session), &all)?, average)?);
        }
        deadline.check()?;
    }
    let others = ranked.iter().map(|r| r.score).fold(0.0, f64::max);
    let scale = Scale::of(ask.parts, sessions.iter(), others);
    let mut around: HashMap<DocAddress, (&Ranked, &Told)> = HashMap::new();
    for told in &sessions {
        around.extend(told.ranked.iter().map(|r| (r.at, (r, told))));
    }
    let place = |r: Ranked| match around.get(&r.at) {
        Some((placed, told)) => (r, scale.record(placed, Some(told))),
        None => (r, scale.record(&r, None)),
    };
    let mut scored: Vec<(Ranked, f64)> = ranked.into_iter().map(place).collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.at.cmp(&b.0.at)));
    let mut read: Vec<(Ranked, f64, Stored)> = Vec::new();
    let mut last = f64::NAN;
    for (r, score) in scored {
        let tied = last.total_cmp(&score).is_eq();
        if read.len() >= ask.limit + SPARE && !(tied && read.len() < ask.limit + SPARE + MAX_TIES) {
            break;
        }
        last = score;
        let doc = reader.stored(r.at)?;
        read.push((r, score * weigh::factor(&doc, ask.parts), doc));
    }
    deadline.check()?;
    let dated: Vec<Dated> = read
        .iter()
        .map(|(r, score, doc)| Dated { time_ms: doc.time_ms, said: r.said, score: *score })
        .collect();
    for ((_, score, _), factor) in read.iter_mut().zip(newer::factors(ranker.query, ask.parts, &dated)) {
        *score *= factor;
    }
    read.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.2.id.cmp(&b.2.id)));
    read.truncate(ask.limit);
    Ok(read)
}
