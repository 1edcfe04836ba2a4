//! The lines of a few records that answer best: at most 3 lines and 800 bytes together.
//!
//! A line is what stands between two newlines of the source; of a long paragraph the sentences that answer are taken. Each is
//! a piece of the source text as it is, never put together from two places.

use super::ask::Line;
use super::query::{Query, QueryTerm};
use crate::index::{Stored, irregular_forms, tokens};
use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// Lines of one entry.
pub(super) const MAX_LINES: usize = 3;
/// Bytes of all lines of one entry together.
pub(super) const MAX_BYTES: usize = 800;
/// A longer line is cut into sentences, and a longer sentence at spaces.
const LINE_BYTES: usize = 380;
/// So many pieces of one text are looked at (D13).
const MAX_PIECES: usize = 600;

/// A line of a page counts so much of one that was said.
const WEB: f64 = 0.5;

/// A line that asks counts so much of one that tells.
const ASKING: f64 = 0.6;
/// So much counts a further line of a record that has spoken.
const AGAIN: f64 = 0.6;

struct Piece<'a> {
    text: &'a str,
    mask: u16,
    score: f64,
    record: usize,
}

/// Chooses lines from one record, or from equals, the best of them first.
pub(super) fn lines(query: &Query, records: &[Stored]) -> Vec<Line> {
    lines_of(query, records, &vec![1.0; records.len()])
}

/// Chooses lines from `records`, the best of them first; `worth` is what each record's lines count, at most 1.
pub(super) fn lines_of(query: &Query, records: &[Stored], worth: &[f64]) -> Vec<Line> {
    let mut pieces = Vec::new();
    let needles = query.needles();
    for (n, (record, rank)) in records.iter().zip(worth).enumerate() {
        let foreign = if record.speaker == "web" { WEB } else { 0.7 };
        for (text, weight) in [(&record.prose, 1.0), (&record.tool, foreign)] {
            for text in split(text).take(MAX_PIECES).filter(|t| needles.may_hold(t)) {
                let mask = mask(query, text);
                if mask != 0 {
                    let asks = if text.trim_end().ends_with(['?', '？']) { ASKING } else { 1.0 };
                    let score = rank * weight * brevity(text) * asks;
                    pieces.push(Piece { text, mask, score, record: n });
                }
            }
        }
    }
    let mut chosen: Vec<Piece> = Vec::new();
    let (mut bytes, mut seen) = (0, 0_u16);
    while chosen.len() < MAX_LINES {
        // What an earlier line said already counts little.
        let gain = |p: &Piece| {
            let new: f64 = query.masked(p.mask & !seen).map(|t| t.weight).sum();
            let old: f64 = query.masked(p.mask & seen).map(|t| t.weight).sum();
            let again = if chosen.iter().any(|c| c.record == p.record) { AGAIN } else { 1.0 };
            (new + 0.35 * old) * p.score * again
        };
        let fits = |p: &Piece| bytes + p.text.len() <= MAX_BYTES;
        let new = |p: &Piece| !chosen.iter().any(|c| c.text.trim() == p.text.trim());
        let open = pieces.iter().enumerate().filter(|(_, p)| fits(p) && new(p));
        // The first of equals: max_by would take the last.
        let best = open.fold(None, |best: Option<(usize, f64)>, (n, p)| {
            let g = gain(p);
            if best.is_none_or(|(_, b)| g > b) { Some((n, g)) } else { best }
        });
        let Some((n, g)) = best else { break };
        // A line that adds next to nothing is not worth its tokens.
        if !chosen.is_empty() && g < 0.08 * query.mass {
            break;
        }
        let piece = pieces.swap_remove(n);
        bytes += piece.text.len();
        seen |= piece.mask;
        chosen.push(piece);
    }
    chosen.iter().filter_map(|p| line(p.text, records.get(p.record)?)).collect()
}

/// The beginning of a document, where no line holds a term: found by its title or its files.
pub(super) fn first(doc: &Stored) -> Option<Line> {
    [&doc.prose, &doc.title, &doc.tool].into_iter().find_map(|text| line(split(text).next()?, doc))
}

fn line(text: &str, record: &Stored) -> Option<Line> {
    let uuid = Some(record.record.clone()).filter(|r| !r.is_empty());
    let text = text.trim();
    // What a turn notes of a command that failed ends with what the command printed.
    let failed = text.strip_prefix("notes: ").unwrap_or(text).starts_with("failed: ");
    let speaker = if record.speaker.is_empty() && failed { "tool" } else { &record.speaker };
    (!text.is_empty()).then(|| Line { text: text.to_owned(), record: uuid, speaker: speaker.to_owned() })
}

/// Tells quickly which lines cannot hold any term: most, and analysing a line costs far more than scanning it.
#[derive(Debug, Clone)]
pub(super) struct Needles(Option<AhoCorasick>);

impl Needles {
    pub(super) fn new(terms: &[QueryTerm]) -> Self {
        let forms = terms.iter().flat_map(|t| t.forms().map(|(form, _)| (form, t.whole)));
        let forms: Vec<(&str, bool)> = forms.filter(|(form, _)| form.is_ascii()).collect();
        // `wrote` shares nothing with `write`.
        let irregular = irregular_forms(|stem| forms.iter().any(|(form, whole)| !whole && *form == stem));
        let needles = forms.iter().map(|(form, whole)| needle(form, *whole)).chain(irregular);
        // Without a scanner every line is analysed.
        Self(
            AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::NoncontiguousNFA))
                .ascii_case_insensitive(true)
                .build(needles)
                .ok(),
        )
    }

    fn may_hold(&self, text: &str) -> bool {
        // Folding changes other letters, so their lines are all analysed.
        !text.is_ascii() || self.0.as_ref().is_none_or(|scanner| scanner.is_match(text))
    }
}

/// What the surface of a word shares with its stem: `retry`, `retried` and `retries` all hold `retr`.
fn needle(form: &str, whole: bool) -> &str {
    let cut = match form.len() {
        _ if whole => None,
        3 if form.ends_with('i') => Some(2),
        0..=3 => None,
        len => Some(len - 1),
    };
    cut.and_then(|to| form.get(..to)).unwrap_or(form)
}

/// The terms of the query that a text holds.
pub(super) fn mask(query: &Query, text: &str) -> u16 {
    let mut mask = 0;
    for term in tokens::terms(text) {
        mask |= query.bit(&term);
    }
    mask
}

/// A heading of two words says less than a sentence; a full line says no more than it has room for.
fn brevity(text: &str) -> f64 {
    match text.len() {
        0..=24 => 0.7,
        25..=240 => 1.0,
        _ => 0.9,
    }
}

/// Lines; long ones by sentences, as many as fit into [`LINE_BYTES`].
fn split(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|l| !l.trim().is_empty()).flat_map(|line| Cuts { rest: line })
}

struct Cuts<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Cuts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        if self.rest.len() <= LINE_BYTES {
            return Some(std::mem::take(&mut self.rest));
        }
        let limit = (0..=LINE_BYTES).rev().find(|at| self.rest.is_char_boundary(*at)).unwrap_or(0);
        let window = self.rest.get(..limit).unwrap_or_default();
        let sentence = ["。", ". ", "! ", "? ", "; "]
            .iter()
            .filter_map(|end| window.rfind(end).map(|at| at + end.len()).filter(|at| *at >= 60));
        let cut = sentence.max().or_else(|| window.rfind(' ').map(|at| at + 1)).unwrap_or(limit);
        let (piece, rest) = self.rest.split_at_checked(cut.max(1)).unwrap_or((self.rest, ""));
        self.rest = rest;
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::query::tests::plain as query;
    use proptest::prelude::*;

    fn record(prose: &str) -> Stored {
        Stored { prose: prose.into(), record: "u1".into(), speaker: "user".into(), ..Stored::default() }
    }

    #[test]
    fn the_line_with_most_of_the_query_comes_first() {
        let text = "Intro.\nWe chose port 8443 for staging because 8080 was taken.\nport\nOther things.";
        let found = lines(&query(&["port", "staging"]), &[record(text)]);
        assert_eq!(found[0].text, "We chose port 8443 for staging because 8080 was taken.");
        assert_eq!(found[0].record.as_deref(), Some("u1"));
    }

    #[test]
    fn words_are_found_in_any_form_and_case() {
        let pairs = [
            ("retry", "We RETRIED it."),
            ("try", "He tries again."),
            ("parseRetryAfter", "call parseRetryAfter(x)"),
            ("src/a.rs", "in src/a.rs:4"),
            ("configuration", "It was configured so."),
            ("cafe", "Le café."),
            ("relational", "Relations matter."),
            ("write", "We wrote it."),
            ("chosen", "She chooses."),
            ("chose", "It was chosen."),
        ];
        for (word, text) in pairs {
            assert_eq!(lines(&query(&[word]), &[record(text)]).len(), 1, "{word} in {text}");
        }
    }

    proptest! {
        #[test]
        fn lines_are_bounded_pieces_of_their_source(text in "(port|staging|é|。|[a-z .\n]){0,900}") {
            let found = lines(&query(&["port", "staging"]), &[record(&text), record("staging port")]);
            prop_assert!(found.len() <= MAX_LINES);
            prop_assert!(found.iter().map(|l| l.text.len()).sum::<usize>() <= MAX_BYTES);
            for line in found {
                prop_assert!(text.contains(&line.text) || "staging port".contains(&line.text));
            }
        }
    }
}
