//! Of two records that say as much about a query, the newer one is more likely to hold: decisions are replaced, seldom restored.

use super::parts::{Part, Parts};
use super::query::Query;

/// What the older of two counts.
const OLDER: f64 = 0.95;
/// A newer record says as much when it holds this share of the terms of the older one, by weight,
const HOLDS: f64 = 0.8;
/// and is itself no worse than this share of it.
const GOOD: f64 = 0.6;
/// Within one conversation the order is no replacement. Units: milliseconds.
const APART_MS: i64 = 60 * 60 * 1000;

/// What has to be known of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dated {
    /// When it was said.
    pub time_ms: i64,
    /// The terms that were said in it.
    pub said: u16,
    /// Its score.
    pub score: f64,
}

/// The factor of each record.
pub(super) fn factors(query: &Query, parts: Parts, records: &[Dated]) -> Vec<f64> {
    let weight = |mask: u16| query.masked(mask).map(|term| term.weight).sum::<f64>();
    let factor = |old: &Dated| {
        let replaced = records.iter().any(|new| {
            new.time_ms > old.time_ms + APART_MS
                && old.time_ms != 0
                && new.score >= GOOD * old.score
                && weight(new.said & old.said) >= HOLDS * weight(old.said)
        });
        if replaced && parts.has(Part::Age) { OLDER } else { 1.0 }
    };
    records.iter().map(factor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::query::tests::plain;

    #[test]
    fn the_newer_of_two_that_say_as_much_is_not_lessened() {
        let query = plain(&["port", "stage", "proxy"]);
        let day = 24 * APART_MS;
        let record = |time_ms, said, score| Dated { time_ms, said, score };
        let of = |records: &[Dated]| factors(&query, Parts::default(), records);
        assert_eq!(of(&[record(day, 7, 1.0), record(2 * day, 7, 0.9)]), [OLDER, 1.0]);
        assert_eq!(of(&[record(day, 7, 1.0), record(2 * day, 1, 0.9)]), [1.0, 1.0], "it says less");
        assert_eq!(of(&[record(day, 7, 1.0), record(2 * day, 7, 0.3)]), [1.0, 1.0], "it is hardly about it");
        assert_eq!(
            of(&[record(day, 7, 1.0), record(day + 1000, 7, 1.0)]),
            [1.0, 1.0],
            "the same conversation"
        );
        assert_eq!(of(&[record(0, 7, 1.0), record(day, 7, 1.0)]), [1.0, 1.0], "nobody knows when");
    }
}
