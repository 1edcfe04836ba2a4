//! The parts of the ranking beside plain term weights. Each was kept since the figures of `scripts/bench-recall` said so, and each can be
//! left out (`[recall] without`), which is how its worth is measured.

use crate::config::RANKING_PARTS;

/// Which parts take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts(u32);

/// One part, by its place in the table of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// What stands around a record speaks for it.
    Neighbours,
    /// A session that answers as a whole speaks for its records.
    Session,
    /// A record that holds many of the query's terms counts more than one that repeats one.
    Coverage,
    /// A date in the query asks for sessions of that date.
    Dates,
    /// Of records that say as much, the newer counts more.
    Age,
    /// The last word of a turn says what came of it.
    Closing,
    /// Where tools worked, the first word of a turn asks for what the last one says.
    Work,
    /// What was replaced gives way to what is in force.
    Claims,
    /// What only announces the next step answers nothing.
    Narration,
    /// Short forms of the trade stand for long ones.
    Synonyms,
}

impl Default for Parts {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Parts {
    /// All but those named; unknown names mean nothing.
    pub fn without(names: &[String]) -> Self {
        let bits = names.iter().filter_map(|name| RANKING_PARTS.iter().position(|part| part == name));
        Self(bits.fold(u32::MAX, |all, bit| all & !(1 << bit)))
    }

    /// Tells if a part takes part.
    pub(super) fn has(self, part: Part) -> bool {
        self.0 & (1 << part as u32) != 0
    }

    /// `weight`, or nothing where the part is left out.
    pub(super) fn weight(self, part: Part, weight: f64) -> f64 {
        if self.has(part) { weight } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_the_settings_leaves_out_its_part() {
        let all = [
            (Part::Neighbours, "neighbours"),
            (Part::Session, "session"),
            (Part::Coverage, "coverage"),
            (Part::Dates, "dates"),
            (Part::Age, "age"),
            (Part::Closing, "closing"),
            (Part::Work, "work"),
            (Part::Claims, "claims"),
            (Part::Narration, "narration"),
            (Part::Synonyms, "synonyms"),
        ];
        assert_eq!(all.len(), RANKING_PARTS.len());
        for (part, name) in all {
            let without = Parts::without(&[name.to_owned()]);
            assert!(!without.has(part), "{name}");
            assert!(all.iter().all(|(other, _)| *other == part || without.has(*other)), "{name}");
        }
    }
}
