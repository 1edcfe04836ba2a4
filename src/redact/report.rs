//! What was taken out, counted by rule; never the secrets themselves.

use serde::Serialize;
use std::collections::BTreeMap;

/// Counts by rule name (`own-context`, `private` and `unscanned` among them). Shape in JSON: `{"counts":{"jwt":2}}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    counts: BTreeMap<&'static str, u64>,
}

impl Report {
    pub(super) fn add(&mut self, rule: &'static str) {
        *self.counts.entry(rule).or_default() += 1;
    }

    /// Adds the counts of another report.
    pub fn merge(&mut self, other: &Self) {
        for (rule, count) in &other.counts {
            *self.counts.entry(rule).or_default() += count;
        }
    }

    /// Rule names and counts, by name; only those above zero.
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// The count of one rule.
    pub fn count(&self, rule: &str) -> u64 {
        self.counts.get(rule).copied().unwrap_or(0)
    }

    /// All of them together.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Was nothing taken out?
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_add_up_and_serialise_by_rule() {
        let mut all = Report::default();
        all.add("jwt");
        let mut more = Report::default();
        more.add("jwt");
        more.add("private");
        all.merge(&more);
        assert_eq!((all.total(), all.count("jwt"), all.count("npm-token")), (3, 2, 0));
        assert_eq!(serde_json::to_string(&all).unwrap(), r#"{"counts":{"jwt":2,"private":1}}"#);
    }
}
