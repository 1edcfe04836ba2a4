//! Claims that no longer hold: what was replaced gives way to what is in force, and what is disputed says so.
//!
//! A claim's document names the record that states it and how other claims stand to it; the index is asked for those of the sessions at
//! hand whose status is `superseded` or `conflicted`, which are few. What only says the same again replaces nothing.

use super::ask::{Hit, Line, RecallError};
use super::entry::hit;
use super::scope::{Docs, holding};
use crate::index::{Reader, Stored};
use serde::Deserialize;
use std::collections::BTreeMap;
use tantivy::DocAddress;

/// Claims of one session that are looked at.
const LOOK_AT: usize = 200;
/// Replacements of replacements that are followed.
const HOPS: usize = 16;
/// What a record counts that was replaced.
const REPLACED: f64 = 0.5;
/// A replaced record that scores this share of its session's best is what the question is about.
const BESIDE: f64 = 0.5;
/// What took the place of a record comes just before what stood beside it.
const AHEAD: f64 = 1.001;

/// The header of a claim.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Header {
    /// The record that states it, as a document of ours.
    document: String,
    evidence: Vec<String>,
    related: Vec<Related>,
    speaker: String,
    text: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Related {
    id: String,
    relation: String,
}

/// A claim that stands in the place of another one, or against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Other {
    /// Our id of the record that states it.
    pub document: String,
    /// The host's uuid of that record.
    pub record: String,
    /// `user` or `assistant`.
    pub speaker: String,
    /// The day it was said, `2026-11-30`.
    pub day: String,
    /// The sentence.
    pub text: String,
}

/// A claim that is not simply in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fallen {
    /// Another one took its place.
    Replaced(Other),
    /// It turned out not to be so.
    Refuted,
    /// Others disagree.
    Disputed(Vec<Other>),
}

/// A sentence of a record, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    /// The host's uuid of the record.
    pub record: String,
    /// The sentence.
    pub text: String,
    /// What became of it.
    pub fallen: Fallen,
}

/// The sentences of a session that are not simply in force. Errors: damage on disk.
pub(super) fn fallen(reader: &Reader, session: &str) -> Result<Vec<Sentence>, RecallError> {
    let f = reader.fields();
    let mut all = Vec::new();
    for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
        let claims = Docs::Only(holding(segment, f.session, session)?).keep(segment, f.kind, "claim")?;
        if claims == Docs::Only(Vec::new()) {
            continue;
        }
        for status in ["superseded", "conflicted"] {
            let Docs::Only(docs) = claims.clone().keep(segment, f.status, status)? else { continue };
            for doc in docs.into_iter().take(LOOK_AT) {
                let claim = reader.stored(DocAddress::new(ord, doc))?;
                all.extend(became(reader, &claim)?);
            }
        }
    }
    all.sort_by(|a, b| (&a.record, &a.text).cmp(&(&b.record, &b.text)));
    Ok(all)
}

fn header(claim: &Stored) -> Header {
    serde_json::from_str(&claim.header).unwrap_or_default()
}

fn other(claim: &Stored, header: Header) -> Other {
    let time = crate::clock::format(crate::clock::Millis(claim.time_ms));
    Other {
        document: header.document,
        record: header.evidence.into_iter().next().unwrap_or_default(),
        speaker: header.speaker,
        day: time.get(..10).unwrap_or_default().to_owned(),
        text: header.text,
    }
}

/// What became of a claim; `None` where it is as good as in force.
fn became(reader: &Reader, claim: &Stored) -> Result<Option<Sentence>, RecallError> {
    let own = header(claim);
    let told = |fallen| {
        let record = own.evidence.first().cloned().unwrap_or_default();
        Some(Sentence { record, text: own.text.clone(), fallen })
    };
    if claim.status == "conflicted" {
        let mut others = Vec::new();
        for related in own.related.iter().filter(|r| r.relation == "conflicts_with") {
            if let Some(found) = reader.find(&related.id)? {
                let header = header(&found);
                others.push(other(&found, header));
            }
        }
        return Ok(if others.is_empty() { None } else { told(Fallen::Disputed(others)) });
    }
    // 1. A took B's place, and C took A's: C is in force. 2. What only says it again carries it on.
    let mut replaced = false;
    let mut at = own.clone();
    for _ in 0..HOPS {
        let next = at.related.iter().find(|r| r.relation == "superseded_by");
        replaced |= next.is_some();
        let next = next.or_else(|| at.related.iter().find(|r| r.relation == "restated_by"));
        let Some(next) = next else { return Ok(told(Fallen::Refuted)) };
        let Some(found) = reader.find(&next.id)? else { return Ok(None) };
        let header = header(&found);
        if found.status != "superseded" {
            return Ok(if replaced { told(Fallen::Replaced(other(&found, header))) } else { None });
        }
        at = header;
    }
    Ok(None)
}

fn says(line: &str, sentence: &str) -> bool {
    let line = line.trim().trim_start_matches(['-', '*', ' ']);
    line.contains(sentence) || (line.len() >= 12 && sentence.contains(line))
}

/// Lets lines of a session that are no longer so give way: to what is in force, to both sides of a dispute, or to nothing.
pub(super) fn settle(reader: &Reader, session: &str, lines: Vec<Line>) -> Result<Vec<Line>, RecallError> {
    if session.is_empty() || lines.is_empty() {
        return Ok(lines);
    }
    Ok(give_way(&fallen(reader, session)?, lines))
}

/// Does one of the lines state something that the request of their header holds, too? What was asked tells nothing by itself, but what a person
/// stated when asking does.
pub(super) fn are_stated(
    reader: &Reader,
    session: &str,
    about: &Stored,
    lines: &[Line],
) -> Result<bool, RecallError> {
    let asked: serde_json::Value = serde_json::from_str(&about.header).unwrap_or_default();
    let asked = asked.get("request").and_then(serde_json::Value::as_str).unwrap_or_default();
    let repeated: Vec<&Line> =
        lines.iter().filter(|line| line.speaker == "user" && asked.contains(line.text.trim())).collect();
    if repeated.is_empty() || session.is_empty() {
        return Ok(false);
    }
    let f = reader.fields();
    for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
        let claims = Docs::Only(holding(segment, f.session, session)?).keep(segment, f.kind, "claim")?;
        let Docs::Only(docs) = claims else { continue };
        for doc in docs.into_iter().take(LOOK_AT) {
            let claim = reader.stored(DocAddress::new(ord, doc))?;
            let own = header(&claim);
            let is_of =
                |line: &&&Line| line.record.as_ref() == own.evidence.first() && says(&line.text, &own.text);
            if claim.status != "superseded" && repeated.iter().any(|line| is_of(&line)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// A text of a session without the sentences in it that are no longer so.
pub(super) fn in_force(reader: &Reader, session: &str, text: &str) -> Result<String, RecallError> {
    if session.is_empty() || text.is_empty() {
        return Ok(text.to_owned());
    }
    let mut left = text.to_owned();
    for sentence in fallen(reader, session)? {
        if !matches!(sentence.fallen, Fallen::Disputed(_)) {
            left = left.replace(&sentence.text, "");
        }
    }
    Ok(left.trim().to_owned())
}

fn give_way(fallen: &[Sentence], lines: Vec<Line>) -> Vec<Line> {
    let mut out: Vec<Line> = Vec::new();
    for line in lines {
        let mut met =
            fallen.iter().filter(|s| line.record.as_deref() == Some(&s.record) && says(&line.text, &s.text));
        let of = |other: &Other, word: &str| Line {
            text: format!("{} [{word} {}]", other.text, other.day),
            record: Some(other.record.clone()).filter(|r| !r.is_empty()),
            speaker: other.speaker.clone(),
        };
        let found = met.next();
        let new = match found.map(|s| &s.fallen) {
            None => vec![line],
            Some(Fallen::Refuted) => Vec::new(),
            Some(Fallen::Replaced(other)) => vec![of(other, "since")],
            Some(Fallen::Disputed(others)) => {
                let mut both = vec![Line { text: format!("{} [disputed]", line.text), ..line }];
                both.extend(others.iter().take(1).map(|other| of(other, "against it, of")));
                both
            }
        };
        for line in new {
            if !out.contains(&line) {
                out.push(line);
            }
        }
    }
    out
}

/// Brings records in force before those that they replaced: a replaced one counts half, and what took its place comes in where it stood.
pub(super) fn prefer(reader: &Reader, hits: &mut Vec<Hit>) -> Result<(), RecallError> {
    let mut known: BTreeMap<String, Vec<Sentence>> = BTreeMap::new();
    let mut raised: Vec<(Other, f64)> = Vec::new();
    let mut best: BTreeMap<String, f64> = BTreeMap::new();
    for found in hits.iter() {
        let best = best.entry(found.session.clone()).or_default();
        *best = best.max(found.score);
    }
    for found in hits.iter_mut().filter(|h| h.kind == "observation") {
        let Some(record) = found.record.clone() else { continue };
        if !known.contains_key(&found.session) {
            known.insert(found.session.clone(), fallen(reader, &found.session)?);
        }
        let of = known.get(&found.session).map(Vec::as_slice).unwrap_or_default();
        let replaced = of.iter().filter(|s| s.record == record).find_map(|s| match &s.fallen {
            Fallen::Replaced(other) if other.record != record => Some(other),
            _ => None,
        });
        if let Some(other) = replaced {
            // Whoever asked and what was tried stands beside the answer that is no longer so: what took its place comes before all of it.
            let best = best.get(&found.session).copied().unwrap_or(found.score);
            raised.push((other.clone(), if found.score >= BESIDE * best { best } else { found.score }));
            found.score *= REPLACED;
        }
    }
    for (other, score) in raised {
        match hits.iter_mut().find(|h| h.id == other.document) {
            Some(found) => found.score = found.score.max(AHEAD * score),
            None => {
                let Some(doc) = reader.find(&other.document)? else { continue };
                let line = Line { text: other.text, record: Some(other.record), speaker: other.speaker };
                hits.push(hit(&doc, AHEAD * score, vec![line]));
            }
        }
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(record: &str, text: &str) -> Line {
        Line { text: text.to_owned(), record: Some(record.to_owned()), speaker: "assistant".to_owned() }
    }

    #[test]
    fn a_line_that_is_no_longer_so_gives_way() {
        let other = Other {
            document: "o-2".into(),
            record: "r2".into(),
            speaker: "assistant".into(),
            day: "2026-06-01".into(),
            text: "The gateway listens on 9090 now.".into(),
        };
        let old = "The gateway listens on 8080.";
        let lines = || vec![line("r1", old), line("r1", "It is written in Go."), line("r3", old)];
        let fallen = |fallen| vec![Sentence { record: "r1".into(), text: old.into(), fallen }];
        let texts = |lines: Vec<Line>| lines.into_iter().map(|l| l.text).collect::<Vec<_>>();
        let rest = ["It is written in Go.", old];
        assert_eq!(
            texts(give_way(&fallen(Fallen::Replaced(other.clone())), lines())),
            ["The gateway listens on 9090 now. [since 2026-06-01]", rest[0], rest[1]]
        );
        assert_eq!(texts(give_way(&fallen(Fallen::Refuted), lines())), rest);
        assert_eq!(
            texts(give_way(&fallen(Fallen::Disputed(vec![other])), lines()))[..2],
            [
                "The gateway listens on 8080. [disputed]",
                "The gateway listens on 9090 now. [against it, of 2026-06-01]"
            ]
        );
    }
}
