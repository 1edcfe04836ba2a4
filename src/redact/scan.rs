//! Runs the table over a text: one sweep for all keywords, then at each keyword only its own rules, in a bounded window.

use super::encoded;
use super::judge::{self, Candidate};
use super::marker;
use super::pem;
use super::rules::{self, Edges, Rule, Shape};
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::{Regex, RegexBuilder};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

/// A secret in a text, on character boundaries.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) span: Range<usize>,
    pub(super) rule: &'static str,
}

/// The text asks for more work than it is worth, or the table is broken: it must not be kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMuch;

/// Bytes that rules may look at, for each byte of the text and for any text; ordinary code needs a tenth.
const WORK_PER_BYTE: u64 = 64;
const WORK_FOR_ANY: u64 = 1024 * 1024;

/// A span and the position of its rule in the table.
type Hit = (Range<usize>, usize);

/// The work that one text may cost. Counted in bytes handed to a rule, so that it is the same on every machine.
pub(super) struct Work {
    left: u64,
}

impl Work {
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), TooMuch> {
        self.left = self.left.checked_sub(bytes as u64).ok_or(TooMuch)?;
        Ok(())
    }
}

/// The keywords of all rules in one automaton, and which rules each belongs to; patterns are compiled when first met.
#[derive(Debug)]
pub(super) struct Table {
    rules: Vec<Rule>,
    keywords: AhoCorasick,
    words: Vec<&'static str>,
    /// By keyword: positions in `rules`.
    owners: Vec<Vec<usize>>,
    patterns: Vec<OnceLock<Option<Regex>>>,
    /// What a person lets stand: a secret that one of these matches whole.
    allow: Vec<Regex>,
}

/// The table without rules of a person's own.
static BUILT_IN: LazyLock<Option<Arc<Table>>> =
    LazyLock::new(|| Table::build(rules::built_in().copied().collect(), Vec::new()).map(Arc::new));

/// A text inside a text inside a text: base64 of base64 is scanned, and there it ends.
const DEEPEST: u32 = 2;

impl Table {
    /// The built-in rules; `None` when they do not fit together, and then nothing may be kept.
    pub(super) fn built_in() -> Option<Arc<Self>> {
        BUILT_IN.clone()
    }

    /// The built-in rules and a person's own, after them.
    pub(super) fn with(own: &[Rule], allow: Vec<Regex>) -> Option<Arc<Self>> {
        if own.is_empty() && allow.is_empty() {
            return Self::built_in();
        }
        Self::build(rules::built_in().copied().chain(own.iter().copied()).collect(), allow).map(Arc::new)
    }

    fn build(rules: Vec<Rule>, allow: Vec<Regex>) -> Option<Self> {
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut words: Vec<&'static str> = Vec::new();
        let mut owners: Vec<Vec<usize>> = Vec::new();
        for (position, rule) in rules.iter().enumerate() {
            for word in rule.keywords {
                // Words that differ in case only are one to the automaton, but two where the case counts.
                let at = *known.entry((*word).to_owned()).or_insert_with(|| {
                    words.push(word);
                    owners.push(Vec::new());
                    words.len() - 1
                });
                owners.get_mut(at)?.push(position);
            }
        }
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .ok()?;
        let patterns = rules.iter().map(|_| OnceLock::new()).collect();
        Some(Self { rules, keywords, words, owners, patterns, allow })
    }

    /// Finds what the rules take for secrets, in order and apart; where two overlap they are one, named by the longer.
    pub(super) fn secrets(&self, text: &str) -> Result<Vec<Found>, TooMuch> {
        let left = WORK_FOR_ANY.saturating_add(WORK_PER_BYTE.saturating_mul(text.len() as u64));
        let found = self.plain_and_encoded(text, 0, &mut Work { left })?;
        Ok(self.merge(found))
    }

    fn plain_and_encoded(&self, text: &str, depth: u32, work: &mut Work) -> Result<Vec<Hit>, TooMuch> {
        let mut found = self.plain(text, work)?;
        if depth >= DEEPEST {
            return Ok(found);
        }
        let walls = marker::spans(text);
        for run in encoded::base64(text, work)? {
            if walls.iter().any(|wall| wall.start < run.span.end && run.span.start < wall.end) {
                continue;
            }
            let inside = self.plain_and_encoded(&run.text, depth + 1, work)?;
            // What is left of a cut encoding may be decoded, too: so all of it goes.
            found.extend(inside.first().map(|(_, rule)| (run.span, *rule)));
        }
        for run in encoded::percent(text, work)? {
            if walls.iter().any(|wall| wall.start < run.span.end && run.span.start < wall.end) {
                continue;
            }
            let inside = self.plain(&run.text, work)?;
            let back = |at: usize| run.offsets.get(at).copied().unwrap_or(run.span.end);
            found.extend(inside.into_iter().map(|(span, rule)| (back(span.start)..back(span.end), rule)));
        }
        Ok(found)
    }

    fn plain(&self, text: &str, work: &mut Work) -> Result<Vec<Hit>, TooMuch> {
        let bytes = text.as_bytes();
        let mut found: Vec<Hit> = Vec::new();
        let mut done = vec![0..0; self.rules.len()];
        let mut walls: Option<Vec<Range<usize>>> = None;
        for hit in self.keywords.find_overlapping_iter(bytes) {
            let word = hit.pattern().as_usize();
            let owners = self.owners.get(word).map(Vec::as_slice).unwrap_or_default();
            let spelled = bytes.get(hit.range()) == self.words.get(word).map(|word| word.as_bytes());
            for &position in owners {
                let (Some(rule), Some(pattern), Some(done)) =
                    (self.rules.get(position), self.patterns.get(position), done.get_mut(position))
                else {
                    return Err(TooMuch);
                };
                let Some(at) = hit.start().checked_sub(rule.back) else { continue };
                let left = matches!(rule.edges, Edges::Left | Edges::Closed);
                if (rule.exact && !spelled) || done.contains(&at) || (left && !left_edge(bytes, at)) {
                    continue;
                }
                // A bundle of certificates must not cost what as many keys would.
                if matches!(rule.shape, Shape::KeyBlock) && !pem::is_header(bytes, at) {
                    continue;
                }
                // 1. A marker holds the name of a rule, and with it keywords. 2. A value in front of a marker must not reach
                // into it, or a second run would find other ends than the first. So markers are walls.
                let walls = walls.get_or_insert_with(|| marker::spans(text));
                let Some(window) = window(bytes, at, rule, walls) else { continue };
                work.spend(window.end.saturating_sub(at))?;
                let Some(secret) = apply(rule, pattern, bytes, at, window, work)? else { continue };
                *done = secret.clone();
                let allowed =
                    bytes.get(secret.clone()).is_some_and(|s| self.allow.iter().any(|a| a.is_match(s)));
                if !allowed {
                    found.push((on_boundaries(text, secret), position));
                }
            }
        }
        Ok(found)
    }

    fn merge(&self, mut found: Vec<Hit>) -> Vec<Found> {
        // By start; at one start the longest first, and of equals the rule that stands first in the table.
        found.sort_by(|(a, rule_a), (b, rule_b)| {
            a.start.cmp(&b.start).then(b.end.cmp(&a.end)).then(rule_a.cmp(rule_b))
        });
        let mut merged: Vec<(Range<usize>, usize, usize)> = Vec::new();
        for (span, rule) in found {
            let len = span.len();
            match merged.last_mut() {
                Some((last, named, longest)) if span.start < last.end => {
                    last.end = last.end.max(span.end);
                    if len > *longest {
                        (*named, *longest) = (rule, len);
                    }
                }
                _ => merged.push((span, rule, len)),
            }
        }
        let name = |rule: usize| self.rules.get(rule).map_or("unknown", |rule| rule.name);
        merged.into_iter().map(|(span, rule, _)| Found { span, rule: name(rule) }).collect()
    }
}

/// What a rule may look at: from the last wall to the next, and no further than its reach.
fn window(bytes: &[u8], at: usize, rule: &Rule, walls: &[Range<usize>]) -> Option<Range<usize>> {
    let behind = walls.partition_point(|wall| wall.end <= at);
    let limit = match walls.get(behind) {
        Some(wall) if wall.start <= at => return None,
        Some(wall) => wall.start,
        None => bytes.len(),
    };
    let start = behind.checked_sub(1).and_then(|last| walls.get(last)).map_or(0, |wall| wall.end);
    // A match that begins before its keyword must not begin before the wall.
    (start <= at).then(|| start..limit.min(at.saturating_add(rule.back).saturating_add(rule.reach)))
}

fn apply(
    rule: &Rule,
    pattern: &OnceLock<Option<Regex>>,
    bytes: &[u8],
    at: usize,
    window: Range<usize>,
    work: &mut Work,
) -> Result<Option<Range<usize>>, TooMuch> {
    let source = match rule.shape {
        Shape::KeyBlock => {
            work.spend(at - at.saturating_sub(pem::LONGEST).max(window.start))?;
            return Ok(pem::block(bytes, at, window));
        }
        Shape::Before(source) => {
            let from = at.saturating_sub(rule.reach).max(window.start);
            work.spend(at - from)?;
            let regex = pattern.get_or_init(|| compile_before(source)).as_ref().ok_or(TooMuch)?;
            let found =
                bytes.get(from..at).and_then(|seen| regex.captures(seen)).and_then(|groups| groups.get(1));
            let Some(found) = found else { return Ok(None) };
            let next = bytes.get(from + found.end()).copied();
            let candidate = Candidate { secret: found.as_bytes(), name: b"", tail: b"", next };
            let span = from + found.start()..from + found.end();
            return Ok(judge::is_secret(&candidate, rule.leave, rule.floor).then_some(span));
        }
        Shape::Pattern(source) => source,
    };
    let regex = pattern.get_or_init(|| compile(source)).as_ref().ok_or(TooMuch)?;
    let Some(seen) = bytes.get(at..window.end) else { return Ok(None) };
    // Telling whether there is a match costs a fraction of telling where its groups are.
    if !regex.is_match(seen) {
        return Ok(None);
    }
    let Some(groups) = regex.captures(seen) else { return Ok(None) };
    let Some(secret) = groups.iter().skip(1).flatten().next().or_else(|| groups.get(0)) else {
        return Ok(None);
    };
    let start = at + secret.start();
    let mut end = at + secret.end();
    if matches!(rule.edges, Edges::Right | Edges::Closed)
        && bytes.get(end).is_some_and(u8::is_ascii_alphanumeric)
    {
        return Ok(None);
    }
    if end == window.end && window.end == at.saturating_add(rule.back).saturating_add(rule.reach) {
        // Longer than the rule's reach: what goes on in the same run is the secret still.
        let more = bytes.get(end..).unwrap_or_default().iter().take_while(|b| continues(**b)).count();
        work.spend(more)?;
        end += more;
    }
    let before = bytes.get(window.start..at).unwrap_or_default();
    let name_from = at - before.iter().rev().take(24).take_while(|b| named(**b)).count();
    let candidate = Candidate {
        secret: bytes.get(start..end).unwrap_or_default(),
        name: bytes.get(name_from..start).unwrap_or_default(),
        tail: bytes.get(at..start).unwrap_or_default(),
        next: bytes.get(end).copied(),
    };
    Ok(judge::is_secret(&candidate, rule.leave, rule.floor).then_some(start..end))
}

/// Compiles a rule: on bytes, ASCII only, anchored where it begins.
pub(super) fn compile(source: &str) -> Option<Regex> {
    RegexBuilder::new(&format!(r"\A(?:{source})")).unicode(false).build().ok()
}

/// The same for one that ends where its keyword begins.
fn compile_before(source: &str) -> Option<Regex> {
    RegexBuilder::new(&format!(r"(?:{source})\z")).unicode(false).build().ok()
}

/// Bytes of a name: `client.secret-key`, `public key`.
fn named(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b' ')
}

/// Bytes that may continue a secret. A `[` is none of them, so a marker is never eaten.
fn continues(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'~' | b'%')
}

/// Does a word begin at `at`? What stands before it may be an escape that ends in a letter: `\n` in JSON, the `m` of a colour, `%20` in a URL.
fn left_edge(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(at.saturating_sub(12)..at).unwrap_or_default();
    let Some((last, rest)) = before.split_last() else { return true };
    if !last.is_ascii_alphanumeric() {
        return true;
    }
    let escaped = matches!(last, b'n' | b'r' | b't' | b'b' | b'f') && rest.last() == Some(&b'\\');
    let back = |n: usize, sign: &[u8]| {
        before.len() >= n && before.get(before.len() - n..).is_some_and(|b| b.starts_with(sign))
    };
    let colour = *last == b'm'
        && before.iter().rposition(|b| *b == b'[').is_some_and(|open| {
            before
                .get(open + 1..before.len() - 1)
                .unwrap_or_default()
                .iter()
                .all(|b| b.is_ascii_digit() || *b == b';')
        });
    escaped || colour || back(3, b"%") || back(6, b"\\u") || back(4, b"\\x")
}

/// Widens a span to whole characters.
fn on_boundaries(text: &str, span: Range<usize>) -> Range<usize> {
    let (mut start, mut end) = (span.start, span.end);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while end < text.len() && !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_every_keyword_can_begin_its_match() {
        assert!(Table::built_in().is_some());
        for rule in rules::built_in() {
            let compiled = match rule.shape {
                Shape::Pattern(source) => compile(source),
                Shape::Before(source) => compile_before(source),
                Shape::KeyBlock => continue,
            };
            assert!(compiled.is_some(), "{}", rule.name);
        }
    }

    #[test]
    fn a_text_that_asks_for_too_much_is_refused_and_the_cost_is_linear() {
        let near = "token: ".repeat(1000);
        let within = |left| Table::built_in().unwrap().plain(&near, &mut Work { left });
        assert_eq!(within(10), Err(TooMuch));
        assert_eq!(within(u64::MAX), Ok(Vec::new()));
    }

    #[test]
    fn overlapping_finds_are_one_and_the_longest_names_it() {
        let table = Table::built_in().unwrap();
        let merged = table.merge(vec![(5..9, 1), (0..6, 0), (20..30, 3), (20..30, 2)]);
        let spans: Vec<_> = merged.iter().map(|f| (f.span.clone(), f.rule)).collect();
        assert_eq!(spans, [(0..9, table.rules[0].name), (20..30, table.rules[2].name)]);
    }

    #[test]
    fn escapes_end_where_a_word_begins() {
        for (text, expected) in [
            ("", true),
            (" ", true),
            ("a", false),
            ("\\n", true),
            ("n", false),
            ("\u{1b}[1;31m", true),
            ("[m", true),
            ("%3D", true),
            ("\\u0026", true),
            ("é", true),
            ("_", true),
        ] {
            assert_eq!(left_edge(format!("{text}X").as_bytes(), text.len()), expected, "{text:?}");
        }
    }
}
