//! What one session says to a query: its records, each with what stands around it, and the session as a whole.
//!
//! A record seldom answers alone: the question stands in one, the answer in the next. So the scores of the two turns before and behind count for a
//! record, too, and so does the session as one text. Both are shares of the best that was found, so that they mean the same for any query.

use super::ask::RecallError;
use super::parts::{Part, Parts};
use super::rank::{Cell, Counts, Ranked, Ranker};
use super::scope::{meet, postings};
use crate::index::Reader;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId};

const K1: f64 = 1.2;
const B: f64 = 0.4;
/// So many turns on either side count.
const REACH: usize = 2;
/// A term that stands in a neighbour covers so much of the query.
const NEIGHBOUR: f64 = 0.7;
/// What the neighbours of a record count beside it, and its session.
const NEAR: f64 = 0.4;
const WHOLE: f64 = 0.4;
/// What a session of the date asked for gains, as a share of the best session.
const DATE: f64 = 1.0;
/// The last word of a turn says what came of it.
const CLOSING: f64 = 1.2;
/// What all counts that speaks for the first and for the last word of a turn in which tools worked: the one asks for what the other says.
const WORK: (f64, f64) = (0.8, 1.1);

/// What a session has to say.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    /// The records that hold any term; in no order.
    pub ranked: Vec<Ranked>,
    /// BM25 of all that was said in it, as one text.
    pub whole: f64,
    /// Share of the query's weight among sessions that was said in it.
    pub share: f64,
    /// Share of the query's weight that the best record covers.
    pub record: f64,
    /// The same with what stands around it.
    pub window: f64,
    /// The terms that were said in it.
    pub said: u16,
    /// When its last record was said. Units: milliseconds since 1970, UTC.
    pub time_ms: i64,
    /// How well its time fits the date that is asked for, 0 to 1.
    pub date: f64,
}

impl Told {
    /// How much of the query is answered here, 0 to 1: half by what is known at all (`known`), half by the session: its best record, that
    /// record with its neighbours, and all of it.
    pub(super) fn coverage(&self, known: f64) -> f64 {
        (known + (self.record + self.window + self.share) / 3.0) / 2.0
    }

    fn best(&self) -> f64 {
        self.ranked.iter().map(|r| r.score).fold(0.0, f64::max)
    }
}

/// A record in its place.
struct Place {
    at: DocAddress,
    time: i64,
    cell: Cell,
    /// Nothing but tool text stands there.
    silent: bool,
    by_user: bool,
}

/// Reads what a session says; `docs` are its records, of each segment in order.
pub(super) fn told(
    reader: &Reader,
    ranker: &Ranker,
    docs: &[(u32, Vec<DocId>)],
    average: f64,
) -> Result<Told, RecallError> {
    let query = ranker.query;
    let f = reader.fields();
    let mut counts = Counts::default();
    let mut words = 0.0;
    let mut places = Vec::new();
    for (ord, docs) in docs {
        let segment = reader.searcher().segment_reader(*ord);
        let cells = ranker.cells(*ord, docs, &mut counts)?;
        let norms = segment.get_fieldnorms_reader(f.prose)?;
        let mut users = vec![false; docs.len()];
        if let Some(mut list) = postings(segment, f.speaker, "user", IndexRecordOption::Basic)? {
            meet(docs, &mut list, |at, _| {
                users.iter_mut().skip(at).take(1).for_each(|by_user| *by_user = true)
            });
        }
        for ((doc, cell), by_user) in docs.iter().zip(cells).zip(users) {
            let at = DocAddress::new(*ord, *doc);
            let length = norms.fieldnorm(*doc);
            words += f64::from(length);
            places.push(Place { at, time: reader.time(at)?, cell, silent: length == 0, by_user });
        }
    }
    places.sort_by(|a, b| a.time.cmp(&b.time).then_with(|| a.at.cmp(&b.at)));
    let k = K1 * (1.0 - B + B * words / average);
    let terms = query.terms.iter().zip(counts);
    let whole = terms.map(|(term, tf)| term.session_weight * tf * (K1 + 1.0) / (tf + k)).sum();
    let said: u16 = places.iter().fold(0, |mask, place| mask | place.cell.said);
    let held: f64 = query.masked(said).map(|term| term.session_weight).sum();
    let share = if query.session_mass > 0.0 { held / query.session_mass } else { 0.0 };
    let date = match query.date {
        Some(date) => places.iter().map(|place| date.fit(place.time)).fold(0.0, f64::max),
        None => 0.0,
    };
    let mut told = Told {
        whole,
        share,
        said,
        time_ms: places.last().map_or(0, |place| place.time),
        date,
        ..Told::default()
    };
    gather(ranker, &places, &mut told);
    Ok(told)
}

/// Fills in the records, each with its neighbours.
fn gather(ranker: &Ranker, places: &[Place], told: &mut Told) {
    let query = ranker.query;
    // Tools speak between the turns; the conversation goes on over them.
    let turns: Vec<&Place> = places.iter().filter(|place| !place.silent).collect();
    let works = works(places);
    let scores: Vec<Ranked> = turns.iter().map(|place| ranker.ranked(place.at, &place.cell)).collect();
    for (at, (place, ranked)) in turns.iter().zip(&scores).enumerate() {
        let from = at.saturating_sub(REACH);
        let around = || {
            (from..(at + REACH + 1).min(turns.len()))
                .filter(|other| *other != at)
                .filter_map(|other| scores.get(other))
        };
        let near: f64 = around().map(|other| other.score).sum();
        let beside = around().fold(0, |mask, other| mask | other.said);
        if ranked.mask == 0 {
            continue;
        }
        let closes = !place.by_user && turns.get(at + 1).is_none_or(|next| next.by_user);
        let more = if closes && ranker.parts.has(Part::Closing) { CLOSING } else { 1.0 };
        let place = match works.get(at) {
            Some(true) if ranker.parts.has(Part::Work) && place.by_user => WORK.0,
            Some(true) if ranker.parts.has(Part::Work) && closes => WORK.1,
            _ => 1.0,
        };
        let record = query.covered(ranked.said, ranked.mask);
        told.record = told.record.max(record);
        told.window = told.window.max(record + NEIGHBOUR * query.coverage(beside & !ranked.said));
        told.ranked.push(Ranked { near, score: ranked.score * more, place, ..*ranked });
    }
    for place in places.iter().filter(|place| place.silent && place.cell.mask != 0) {
        let ranked = ranker.ranked(place.at, &place.cell);
        told.record = told.record.max(query.covered(ranked.said, ranked.mask));
        told.ranked.push(ranked);
    }
    told.window = told.window.max(told.record).min(1.0);
}

/// Of each place where somebody speaks, whether tools work in its turn: behind the first word, before the last.
fn works(places: &[Place]) -> Vec<bool> {
    let mut all = Vec::new();
    for turn in places.chunk_by(|_, next| next.silent || !next.by_user) {
        let works = turn.iter().any(|place| place.silent);
        all.extend(turn.iter().filter(|place| !place.silent).map(|_| works));
    }
    all
}

/// The best of everything that was found: scores are shares of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    parts: Parts,
    record: f64,
    near: f64,
    whole: f64,
}

impl Scale {
    /// Over all sessions, and over other records.
    pub(super) fn of<'a>(parts: Parts, told: impl Iterator<Item = &'a Told>, others: f64) -> Self {
        let mut scale = Self { parts, record: others, near: 0.0, whole: 0.0 };
        for told in told {
            scale.record = scale.record.max(told.best());
            scale.near = told.ranked.iter().map(|r| r.near).fold(scale.near, f64::max);
            scale.whole = scale.whole.max(told.whole);
        }
        scale
    }

    fn share(of: f64, best: f64) -> f64 {
        if best > 0.0 { of / best } else { 0.0 }
    }

    /// Of a session as a whole, its date with it. 0 to 2.
    fn whole(&self, told: &Told) -> f64 {
        Self::share(told.whole, self.whole) + DATE * told.date
    }

    /// Of a record in a session.
    pub(super) fn record(&self, ranked: &Ranked, told: Option<&Told>) -> f64 {
        let around = told.map_or(0.0, |told| {
            self.parts.weight(Part::Neighbours, NEAR) * Self::share(ranked.near, self.near)
                + self.parts.weight(Part::Session, WHOLE) * self.whole(told)
        });
        (Self::share(ranked.score, self.record) + around) * ranked.place
    }

    /// Of a session among sessions.
    pub(super) fn session(&self, told: &Told) -> f64 {
        let whole = self.whole(told);
        BEST * Self::share(told.best(), self.record) + self.parts.weight(Part::Session, 1.0 - BEST) * whole
    }
}

/// What the best record of a session counts in the order of sessions; all that was said there has the rest.
const BEST: f64 = 0.4;
