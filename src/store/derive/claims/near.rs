//! How a claim stands among those near it, and what is told of that.

use super::relation::Relation;
use super::statement::Kind;
use crate::store::stated::Related;

/// A claim in relation to another one.
pub(super) struct Near {
    pub how: i64,
    pub is_later: bool,
    pub observation: i64,
    /// It was refuted.
    pub is_void: bool,
    pub is_superseded: bool,
    pub related: Related,
}

impl Near {
    /// How it stands to the other one, in the words of the outside; `None` where that is not told.
    pub(super) fn told(&self) -> Option<&'static str> {
        match (self.how, self.is_later) {
            (SUPERSEDED, true) if self.is_void => None,
            (SUPERSEDED, true) => Some("superseded_by"),
            (SUPERSEDED, false) if self.is_void => None,
            (SUPERSEDED, false) => Some("supersedes"),
            (SAME, true) if self.is_void => None,
            (SAME, true) => Some("restated_by"),
            (SAME, false) => Some("restates"),
            (CONFLICT, _) if !self.is_superseded => Some("conflicts_with"),
            _ => None,
        }
    }
}

/// The numbers of `claim_relations.how`.
const SAME: i64 = 1;
const SUPERSEDED: i64 = 2;
const REFUTED: i64 = 3;
const CONFLICT: i64 = 4;

pub(super) fn number(relation: Relation, later: Kind) -> i64 {
    match relation {
        Relation::Same => SAME,
        Relation::Superseded if later == Kind::Refuted => REFUTED,
        Relation::Superseded => SUPERSEDED,
        Relation::Conflict => CONFLICT,
    }
}

pub(super) fn status(near: &[Near]) -> &'static str {
    let holds = |how: i64| near.iter().any(|n| n.how == how && n.is_later && !n.is_void);
    if holds(SAME) || holds(SUPERSEDED) || near.iter().any(|n| n.how == REFUTED && n.is_later) {
        "superseded"
    } else if near.iter().any(|n| n.how == CONFLICT && !n.is_superseded) {
        "conflicted"
    } else {
        "current"
    }
}
