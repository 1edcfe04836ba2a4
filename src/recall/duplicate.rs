//! Texts that say the same in nearly the same words: told once.
//!
//! A text is the set of its pairs of neighbouring terms. Two are near when they share most pairs, or when nearly all pairs of the shorter one
//! stand in the longer one. A number or a negation is what a change changes: where these differ, nothing is near.

use crate::index::tokens;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Pairs that two texts share, among those of both.
const SHARED: f64 = 0.6;
/// Pairs of the shorter text that stand in the longer one, among its own.
const HELD: f64 = 0.85;
/// A shorter text stands in many a longer one by chance. Units: pairs.
const LEAST: usize = 3;
/// More of a text is not compared. Units: terms.
const MAX_TERMS: usize = 400;

/// The pairs of terms of a text, as hashes, with what must not differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shingles {
    pairs: BTreeSet<u64>,
    numbers: BTreeSet<String>,
    negations: usize,
}

impl Shingles {
    /// Cuts a text; its case, its punctuation and its stop words do not matter.
    pub(super) fn of(text: &str) -> Self {
        let terms: Vec<String> = tokens::terms(text).take(MAX_TERMS).collect();
        let mut shingles = Self { negations: negations(text), ..Self::default() };
        for (n, term) in terms.iter().enumerate() {
            if term.bytes().any(|b| b.is_ascii_digit()) {
                shingles.numbers.insert(term.clone());
            }
            // A text of one term has a pair, too.
            let next = terms.get(n + 1).map(String::as_str).or((terms.len() == 1).then_some(""));
            shingles.pairs.extend(next.map(|next| hash(term, next)));
        }
        shingles
    }

    /// Tells if the other text says the same. Never of a text without a term.
    pub(super) fn is_near(&self, other: &Self) -> bool {
        if self.negations != other.negations || self.pairs.is_empty() || other.pairs.is_empty() {
            return false;
        }
        let (short, long) = if self.pairs.len() <= other.pairs.len() { (self, other) } else { (other, self) };
        let shared = short.pairs.intersection(&long.pairs).count() as f64;
        let all = (short.pairs.len() + long.pairs.len()) as f64 - shared;
        if short.numbers == long.numbers && shared >= SHARED * all {
            return true;
        }
        short.pairs.len() >= LEAST
            && short.numbers.is_subset(&long.numbers)
            && shared >= HELD * short.pairs.len() as f64
    }
}

fn hash(one: &str, two: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (one, two).hash(&mut hasher);
    hasher.finish()
}

/// How often a text says no.
fn negations(text: &str) -> usize {
    let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'));
    words
        .filter(|word| {
            let word = word.to_lowercase().replace('’', "'");
            matches!(word.as_str(), "no" | "not" | "never" | "cannot" | "without" | "none")
                || word.ends_with("n't")
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(one: &str, two: &str) -> bool {
        Shingles::of(one).is_near(&Shingles::of(two))
    }

    #[test]
    fn what_says_the_same_is_near_and_what_changes_a_number_or_the_sense_is_not() {
        let same = [
            ("The gateway listens on port 7443.", "the gateway listens on port 7443"),
            ("- We use Postgres for the job queue.", "We use Postgres for the job queue now."),
            (
                "Run the load test against staging",
                "Next: run the load test against staging, then tag the release",
            ),
            ("retry", "Retry!"),
        ];
        let other = [
            ("The gateway listens on port 7443.", "The gateway listens on port 7444."),
            (
                "Use tabs in the Makefile of the harbor project",
                "Do not use tabs in the Makefile of the harbor project",
            ),
            ("we should keep the csv export", "we shouldn’t keep the csv export"),
            ("Fix the login test", "Fix the logout page"),
            ("write docs", "Write docs for the harbor paging module and its mooring cursor"),
            ("", ""),
            ("the", "of"),
        ];
        for (one, two) in same {
            assert!(near(one, two) && near(two, one), "{one} | {two}");
        }
        for (one, two) in other {
            assert!(!near(one, two) && !near(two, one), "{one} | {two}");
        }
    }

    proptest! {
        #[test]
        fn a_text_with_a_term_is_near_to_itself_and_nearness_has_no_direction(one in "\\PC{0,80}", two in "\\PC{0,80}") {
            let (a, b) = (Shingles::of(&one), Shingles::of(&two));
            prop_assert_eq!(a.is_near(&a), !a.pairs.is_empty());
            prop_assert_eq!(a.is_near(&b), b.is_near(&a));
        }
    }
}
