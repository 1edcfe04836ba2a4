//! From text to weighted terms.
//!
//! A term weighs by how few records hold it (idf over the whole corpus). Terms that nothing holds stay in the weight of the
//! query: a question about something unheard of must not be answered by its common words.

use super::ask::RecallError;
use super::dates::Date;
use super::excerpt::Needles;
use super::parts::{Part, Parts};
use super::piece::{Piece, Worths};
use super::synonyms;
use crate::index::{Reader, tokens};
use std::cell::OnceCell;
use std::collections::HashMap;
use tantivy::Term;
use tantivy::schema::Field;

/// At most so many terms are searched.
pub(super) const MAX_TERMS: usize = 12;
/// Of these, at most so many that nothing holds.
const MAX_UNKNOWN: usize = 4;
/// So much of a long text is read, from its start and from its end. Units: bytes.
const HEAD_BYTES: usize = 6 * 1024;
const TAIL_BYTES: usize = 2 * 1024;
/// At most so many different terms are looked up.
const MAX_LOOKUPS: usize = 120;
/// A part of a compound that is itself known as a whole.
const PART_WEIGHT: f64 = 0.4;
/// A term that nothing holds may be a typing error.
const UNKNOWN_WEIGHT: f64 = 0.9;
/// What a term counts that stands for another: the long form of a short one, or the short form of a long one.
const OTHER_WEIGHT: f64 = 0.8;
/// What is only found by a text's tool part counts so much of what was said.
const TOOL_SHARE: f64 = 0.3;

/// One term of a query.
#[derive(Debug, Clone)]
pub(super) struct QueryTerm {
    /// The term, as the index holds it.
    pub text: String,
    /// Records that hold it in prose or tool text.
    pub df: u64,
    /// Sessions that hold it.
    pub sessions: u64,
    /// Its weight among records.
    pub weight: f64,
    /// Its weight among sessions.
    pub session_weight: f64,
    /// A compound: an identifier, a path, a version.
    pub whole: bool,
    /// Terms that stand for it.
    pub others: Vec<String>,
}

impl QueryTerm {
    /// The term and those that stand for it, each with what it counts.
    pub(super) fn forms(&self) -> impl Iterator<Item = (&str, f64)> {
        let others = self.others.iter().map(|other| (other.as_str(), OTHER_WEIGHT));
        std::iter::once((self.text.as_str(), 1.0)).chain(others)
    }
}

/// A text made ready to be searched.
#[derive(Debug, Clone, Default)]
pub(super) struct Query {
    /// Heaviest first; all of them are held by something. At most [`MAX_TERMS`].
    pub terms: Vec<QueryTerm>,
    /// Weight of all terms, of those too that nothing holds.
    pub mass: f64,
    /// The same among sessions.
    pub session_mass: f64,
    /// How many different words it has besides stop words, known or not.
    pub words: usize,
    /// The date that it names.
    pub date: Option<Date>,
    needles: OnceCell<Needles>,
}

impl Query {
    /// Enough to go by: two words, or one identifier that few sessions hold.
    pub(super) fn is_useful(&self) -> bool {
        let rare = |t: &QueryTerm| t.sessions <= 3 && t.sessions > 0 && (t.whole || t.text.len() >= 8);
        !self.terms.is_empty() && (self.words >= 2 || self.terms.iter().any(rare))
    }

    /// Share of the weight that the terms in `mask` have.
    pub(super) fn coverage(&self, mask: u16) -> f64 {
        let covered: f64 = self.masked(mask).map(|t| t.weight).sum();
        if self.mass > 0.0 { covered / self.mass } else { 0.0 }
    }

    /// The same of a record: `said` are the terms in what was said, `mask` those in its tool text, too.
    pub(super) fn covered(&self, said: u16, mask: u16) -> f64 {
        (1.0 - TOOL_SHARE) * self.coverage(said) + TOOL_SHARE * self.coverage(mask)
    }

    /// What tells quickly which lines cannot hold any of its terms; made once.
    pub(super) fn needles(&self) -> &Needles {
        self.needles.get_or_init(|| Needles::new(&self.terms))
    }

    /// The bit of a term of a text; 0 for one that is not asked for.
    pub(super) fn bit(&self, term: &str) -> u16 {
        let found = self.terms.iter().position(|t| t.forms().any(|(form, _)| form == term));
        found.map_or(0, |n| 1 << n)
    }

    /// The terms whose bits are set.
    pub(super) fn masked(&self, mask: u16) -> impl Iterator<Item = &QueryTerm> {
        self.terms.iter().enumerate().filter(move |(n, _)| mask & (1 << n) != 0).map(|(_, t)| t)
    }
}

/// Analyses `text` against the whole corpus. Bounded, whatever the length of the text.
pub(super) fn analyse(reader: &Reader, text: &str, parts: Parts) -> Result<Query, RecallError> {
    analyse_with(reader, text, parts, |_| 1.0)
}

/// The same of a text in pieces that weigh differently.
pub(super) fn analyse_weighted(
    reader: &Reader,
    pieces: &[Piece],
    parts: Parts,
) -> Result<Query, RecallError> {
    let worths = Worths::of(pieces);
    analyse_with(reader, &Piece::join(pieces), parts, |term| worths.factor(term))
}

fn analyse_with(
    reader: &Reader,
    text: &str,
    parts: Parts,
    weigh: impl Fn(&str) -> f64,
) -> Result<Query, RecallError> {
    let forms = distinct(text);
    let fields = reader.fields();
    let records = reader.documents();
    let sessions = doc_freq(reader, fields.kind, "session")?;
    let mut known_wholes: Vec<(usize, usize)> = Vec::new();
    let mut known = Vec::new();
    let mut unknown = Vec::new();
    let mut words = 0;
    // A whole form comes before its parts.
    for (form, position, span) in forms {
        let text: String = form;
        let whole = span > 1;
        words += usize::from(!whole);
        let mut df = doc_freq(reader, fields.prose, &text)?.max(doc_freq(reader, fields.tool, &text)?);
        let mut in_sessions = doc_freq(reader, fields.profile, &text)?;
        let mut others = Vec::new();
        if !whole && parts.has(Part::Synonyms) {
            others.extend(synonyms::of(&text).map(str::to_owned));
        }
        for other in &others {
            // What stands for a word is as common as both together.
            df += doc_freq(reader, fields.prose, other)?;
            in_sessions += doc_freq(reader, fields.profile, other)?;
        }
        let is_known = df > 0 || in_sessions > 0;
        if whole && !is_known {
            // Its parts stand for it.
            continue;
        }
        let inside = known_wholes.iter().any(|(from, to)| (*from..*to).contains(&position));
        if whole {
            known_wholes.push((position, position + span));
        }
        let factor = match (is_known, inside) {
            (true, false) => 1.0,
            (true, true) => PART_WEIGHT,
            (false, true) => 0.0,
            (false, false) => UNKNOWN_WEIGHT,
        } * weigh(&text);
        // In a small corpus nothing must outweigh what is there.
        let weight = factor * idf(df.max(1), records);
        let session_weight = factor * idf(in_sessions.max(1), sessions);
        let term = QueryTerm { text, df, sessions: in_sessions, weight, session_weight, whole, others };
        if is_known { known.push(term) } else { unknown.push(term) }
    }
    known.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.text.cmp(&b.text)));
    known.truncate(MAX_TERMS);
    unknown.truncate(MAX_UNKNOWN);
    let all = || known.iter().chain(&unknown);
    let (mass, session_mass) = (all().map(|t| t.weight).sum(), all().map(|t| t.session_weight).sum());
    let date = if parts.has(Part::Dates) { Date::of(ends(text).0) } else { None };
    Ok(Query { mass, session_mass, words, terms: known, date, needles: OnceCell::new() })
}

/// Different terms in their order, with position and span.
fn distinct(text: &str) -> Vec<(String, usize, usize)> {
    let mut seen: HashMap<String, ()> = HashMap::new();
    let mut forms = Vec::new();
    let (head, tail) = ends(text);
    for form in tokens::forms_of(head).chain(tokens::forms_of(tail)) {
        if forms.len() >= MAX_LOOKUPS {
            break;
        }
        if seen.insert(form.text.clone(), ()).is_none() {
            forms.push((form.text, form.position, form.span));
        }
    }
    forms
}

/// Start and end of a long text, cut at characters; the end is empty for a short one.
fn ends(text: &str) -> (&str, &str) {
    if text.len() <= HEAD_BYTES + TAIL_BYTES {
        return (text, "");
    }
    let head = (0..=HEAD_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let from = text.len() - TAIL_BYTES;
    let tail = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default())
}

/// How many documents hold a term in a field; counts deleted ones until their segment is merged.
pub(super) fn doc_freq(reader: &Reader, field: Field, text: &str) -> Result<u64, RecallError> {
    let term = Term::from_field_text(field, text);
    let mut sum = 0;
    for segment in reader.searcher().segment_readers() {
        sum += u64::from(segment.inverted_index(field)?.doc_freq(&term)?);
    }
    Ok(sum)
}

/// Inverse document frequency; never negative.
pub(super) fn idf(df: u64, of: u64) -> f64 {
    let (df, of) = (df as f64, of.max(df) as f64);
    (1.0 + (of - df + 0.5) / (df + 0.5)).ln()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A query of these words, each of the same weight.
    pub(in crate::recall) fn plain(words: &[&str]) -> Query {
        let term = |word: &&str| QueryTerm {
            text: tokens::terms(word).next().unwrap(),
            df: 1,
            sessions: 1,
            weight: 1.0,
            session_weight: 1.0,
            whole: false,
            others: Vec::new(),
        };
        let terms: Vec<_> = words.iter().map(term).collect();
        let mass = terms.len() as f64;
        Query { mass, session_mass: mass, words: words.len(), terms, ..Query::default() }
    }
}
