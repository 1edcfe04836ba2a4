//! How two claims of a project stand to each other: a pure function of the two.
//!
//! Different wordings of one subject meet when they share enough of the words that say what they are about, or, where the later one says
//! that something has changed, of the words around them. When in doubt, they have nothing to do with each other.

use super::cues::{APART, CHANGE, PLAIN, VALUE};
use super::statement::Kind;
use crate::id;
use crate::store::{Terms, compact};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What the comparison knows of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct Key {
    pub kind: Kind,
    pub by_user: bool,
    /// It says that something has changed.
    pub change: bool,
    /// The terms of its sentence, without those of its value.
    pub about: BTreeSet<String>,
    /// The terms of its value.
    pub value: BTreeSet<String>,
    /// The terms of the turn that it was said in, hashed, in order.
    #[serde(skip)]
    pub around: Vec<u32>,
    /// Words by which it is told from a near one: see [`APART`].
    pub apart: BTreeSet<String>,
}

/// How an earlier claim stands to a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Relation {
    /// The later one says the same.
    Same,
    /// The later one takes its place.
    Superseded,
    /// They disagree, and nothing says which holds.
    Conflict,
}

/// Terms of a turn; more dilute it.
const AROUND: usize = 300;
/// Share of the lesser subject's weight that makes two subjects one.
const ONE_SUBJECT: f64 = 0.5;
/// The same where the later one says that something has changed.
const CHANGED: f64 = 0.4;
/// Weight of the words that two subjects share: one word alone makes them one only where it is all that one of them says.
const TWO_WORDS: f64 = 1.9;
/// Share of the lesser subject that is all that it says.
const WHOLE: f64 = 0.8;
/// Share of all their words that makes two claims say the same.
const SAME: f64 = 0.57;
/// The same where the later one names the value of the earlier one.
const NAMED: f64 = 0.2;
/// Share of what a claim says that a later turn speaks of, and its weight, where that turn changes it.
const SPOKEN: (f64, f64) = (0.3, 2.0);
/// Share of the lesser of both turns that they have in common there.
const ONE_MATTER: f64 = 0.2;

static PLAIN_WORDS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| PLAIN.split_whitespace().collect());

/// Makes the key of a claim. `terms` is the analysis of the index.
pub(in crate::store) fn key(
    statement: &super::statement::Statement,
    by_user: bool,
    around: Vec<u32>,
    terms: Terms<'_>,
) -> Key {
    let mut set = |text: &str| {
        let mut all = BTreeSet::new();
        terms(text, &mut |term| {
            all.insert(term);
        });
        all
    };
    let value = set(&hard(statement));
    let mut about = set(&statement.text);
    about.retain(|term| !value.contains(term));
    if about.is_empty() {
        about = set(&statement.subject);
    }
    let lower = statement.text.to_lowercase();
    let words: BTreeSet<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '+').collect();
    let apart = APART.iter().flat_map(|group| group.iter()).filter(|w| words.contains(**w));
    Key {
        kind: statement.kind,
        by_user,
        change: CHANGE.as_ref().is_some_and(|regex| regex.is_match(&lower)),
        about,
        value,
        around,
        apart: apart.map(|w| (*w).to_owned()).collect(),
    }
}

/// The terms of a turn, without those that many hold. `terms` is the analysis of the index.
pub(in crate::store) fn around(said: &str, terms: Terms<'_>) -> Vec<u32> {
    let mut all = BTreeSet::new();
    terms(said, &mut |term| {
        if all.len() < AROUND && weight(&term) >= 1.0 {
            all.insert(hashed(&term));
        }
    });
    all.into_iter().collect()
}

/// A term among those of a turn.
pub(super) fn hashed(term: &str) -> u32 {
    let hash = compact::short_hash(&id::hash(&[term.as_bytes()]));
    // The lower half is as good as the whole.
    u32::try_from(hash & i64::from(u32::MAX)).unwrap_or(0)
}

/// What a term tells of the matter: a plain word little, a number less than a name.
pub(in crate::store) fn weight(term: &str) -> f64 {
    if PLAIN_WORDS.contains(term) {
        0.2
    } else if term.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        0.3
    } else if term.bytes().any(|b| b"_./:-".contains(&b)) {
        1.5
    } else {
        1.0
    }
}

/// What of a value can be compared: code, names of files, numbers with their units; else its first words.
fn hard(statement: &super::statement::Statement) -> String {
    let value = statement.value.as_deref().unwrap_or_default();
    let lower = value.to_lowercase();
    let found: Vec<&str> =
        HARD.as_ref().into_iter().flat_map(|r| r.find_iter(&lower)).map(|m| m.as_str()).collect();
    match found.first() {
        Some(first) => (*first).to_owned(),
        None => {
            let end = value.find([',', ';', ':']).unwrap_or(value.len());
            let words = value.get(..end).unwrap_or_default().split_whitespace();
            words
                .take_while(|w| !matches!(*w, "as" | "for" | "so" | "because" | "see" | "with"))
                .take(6)
                .collect::<Vec<_>>()
                .join(" ")
        }
    }
}

static HARD: LazyLock<Option<regex::Regex>> = LazyLock::new(|| regex::Regex::new(VALUE).ok());

fn mass<'a>(terms: impl Iterator<Item = &'a String>) -> f64 {
    // A file that a value was read from is not what it is about.
    terms.filter(|t| !t.contains('.')).map(|t| weight(t)).sum()
}

/// The terms by which a claim is found again, hashed: those of its subject and its value that say something, and those around it.
pub(in crate::store) fn handles(key: &Key) -> BTreeSet<u32> {
    let telling = |t: &&String| weight(t) >= 1.0 || (t.len() > 2 && t.bytes().all(|b| b.is_ascii_digit()));
    let own = key.about.iter().chain(&key.value).filter(telling).map(|t| hashed(t));
    // Only one that tells of a change is met by what lies around it.
    own.chain(key.around.iter().copied().filter(|_| key.change)).collect()
}

/// So many of its terms another claim must have to be compared with it; see `claims.needs`.
pub(in crate::store) fn needs(key: &Key) -> i64 {
    // 1. One word may be all that is named of what was refuted or renamed. 2. It may be the whole subject.
    let one = matches!(key.kind, Kind::Refuted | Kind::Rename)
        || key.about.iter().filter(|t| weight(t) >= 1.0).count() < 2;
    if one { 1 } else { 2 }
}

/// How `earlier` stands to `later`; `None`: they have nothing to do with each other. `one_session`: both were said there.
pub(in crate::store) fn relation(earlier: &Key, later: &Key, one_session: bool) -> Option<Relation> {
    if earlier.kind == Kind::Refuted || are_apart(earlier, later) {
        return None;
    }
    let (told_of, told_of_later) = (matter(earlier), matter(later));
    let shared = mass(told_of.intersection(&told_of_later).copied());
    let share = shared / mass(told_of.iter().copied()).min(mass(told_of_later.iter().copied())).max(1.0);
    let enough = if later.change { CHANGED } else { ONE_SUBJECT };
    let subject = (shared >= TWO_WORDS && share >= enough) || (shared >= 1.0 && share >= WHOLE);
    if later.kind == Kind::Refuted {
        let all: BTreeSet<&String> = earlier.about.iter().chain(&earlier.value).collect();
        let met = mass(later.about.iter().filter(|t| all.contains(t)));
        return (one_session && met >= 1.0 && earlier.kind != Kind::Preference)
            .then_some(Relation::Superseded);
    }
    let told: f64 = mass(earlier.value.iter().filter(|t| later.value.contains(*t)));
    let whole = mass(earlier.value.iter()).min(mass(later.value.iter()));
    // Numbers are equal or not.
    let numbers = |key: &Key| -> BTreeSet<String> {
        key.value.iter().filter(|t| t.bytes().any(|b| b.is_ascii_digit())).cloned().collect()
    };
    let (one, other) = (numbers(earlier), numbers(later));
    let units = |key: &Key| -> BTreeSet<String> {
        key.value.iter().filter(|t| t.bytes().all(|b| b.is_ascii_alphabetic())).cloned().collect()
    };
    let (unit, other_unit) = (units(earlier), units(later));
    let units_differ = !one.is_empty()
        && !other.is_empty()
        && !unit.is_empty()
        && !other_unit.is_empty()
        && unit.is_disjoint(&other_unit);
    let numbers_differ = !one.is_empty() && !other.is_empty() && one.is_disjoint(&other);
    let same_value = whole > 0.0 && told / whole >= 0.6 && !numbers_differ;
    let pref = |key: &Key| key.kind == Kind::Preference;
    if pref(earlier) != pref(later) && !(later.change && earlier.by_user) {
        return None;
    }
    let cause = |key: &Key| key.kind == Kind::RootCause;
    if cause(earlier) != cause(later) {
        return None;
    }
    let all = |key: &Key| -> BTreeSet<String> { key.about.union(&key.value).cloned().collect() };
    let (first, second) = (all(earlier), all(later));
    let like = mass(first.intersection(&second));
    let alike = like >= 1.9 && like / mass(first.iter()).min(mass(second.iter())).max(1.0) >= SAME;
    if alike && !numbers_differ && !later.change && earlier.kind == later.kind {
        return Some(Relation::Same);
    }
    if same_value && (subject || share >= 0.3) && earlier.kind == later.kind {
        return Some(Relation::Same);
    }
    // It names what was, and says that it is so no more.
    let telling = |t: &&String| weight(t) >= 1.0 || t.bytes().any(|b| b.is_ascii_digit());
    let named =
        earlier.value.iter().filter(telling).any(|t| later.about.contains(t) || later.value.contains(t));
    let named = named && later.change && share >= NAMED && shared >= 0.9;
    // All of what was is named, and it is no single word.
    let least = if later.kind == Kind::Rename { 1.0 } else { 2.0 };
    let whole_named = later.change
        && mass(earlier.value.iter()) >= least
        && earlier.value.iter().all(|t| second.contains(t));
    let named = named || whole_named;
    let takes_over = later.change || later.by_user;
    if subject || named {
        if takes_over || matches!(later.kind, Kind::Removal | Kind::Rename) {
            return Some(Relation::Superseded);
        }
        if cause(later) {
            return Some(if same_value { Relation::Same } else { Relation::Superseded })
                .filter(|_| one_session);
        }
        let plain = |key: &Key| !key.by_user && key.kind == Kind::Value;
        if plain(earlier) && plain(later) && whole > 0.0 && !units_differ {
            return Some(Relation::Conflict);
        }
        return None;
    }
    if cause(later) || one_session {
        return None;
    }
    let kinds = |key: &Key| matches!(key.kind, Kind::Decision | Kind::Value | Kind::Preference);
    let firm = kinds(later) || later.kind == Kind::Removal;
    let said = mass(first.iter());
    let spoken = mass(first.iter().filter(|t| later.around.binary_search(&hashed(t)).is_ok()));
    let met = earlier.around.iter().filter(|t| later.around.binary_search(t).is_ok()).count() as f64;
    let least = earlier.around.len().min(later.around.len()).max(1) as f64;
    let one_matter = spoken >= SPOKEN.1 && spoken >= SPOKEN.0 * said && met >= ONE_MATTER * least;
    (later.change && firm && kinds(earlier) && one_matter).then_some(Relation::Superseded)
}

/// The terms that say what a claim is about: of `Node 18` it is Node.
fn matter(key: &Key) -> BTreeSet<&String> {
    let has_digit = |t: &&String| t.bytes().any(|b| b.is_ascii_digit());
    let counted = key.value.iter().any(|t| has_digit(&t));
    key.about.iter().chain(key.value.iter().filter(|t| counted && !has_digit(t))).collect()
}

/// Each names another one of a group of which both name one.
fn are_apart(a: &Key, b: &Key) -> bool {
    APART.iter().any(|group| {
        let of = |key: &Key| -> BTreeSet<&str> {
            group.iter().copied().filter(|w| key.apart.contains(*w)).collect()
        };
        let (a, b) = (of(a), of(b));
        !a.is_empty() && !b.is_empty() && a.is_disjoint(&b)
    })
}

#[cfg(test)]
mod tests {
    use super::super::statement::statements;
    use super::*;

    fn key_of(by_user: bool, text: &str) -> Key {
        let statement = statements(text, by_user).into_iter().next().unwrap();
        let terms = &mut |text: &str, take: &mut dyn FnMut(String)| {
            let words = text
                .split(|c: char| !c.is_alphanumeric())
                .filter(|w| (w.len() > 2 && *w != "the") || w.starts_with(|c: char| c.is_ascii_digit()));
            words.for_each(|w| take(w.to_lowercase()));
        };
        let around = around(text, terms);
        key(&statement, by_user, around, terms)
    }

    #[test]
    fn near_subjects_stay_apart_and_one_subject_meets_in_other_words() {
        use Relation::{Conflict, Same, Superseded};
        for (first, second, expected) in [
            (
                (false, "The admin API listens on 8443."),
                (true, "Forget 8443, we moved the admin API to 9443."),
                Some(Superseded),
            ),
            (
                (false, "The admin API listens on 8443."),
                (false, "The billing worker listens on 9443 now."),
                None,
            ),
            ((true, "staging db is on 5433"), (true, "the production db is on 6432 now"), None),
            (
                (false, "Audit logs are kept for 90 days."),
                (false, "Audit logs are kept for 180 days."),
                Some(Conflict),
            ),
            (
                (false, "Audit logs are kept for 90 days."),
                (false, "The audit logs are kept for 90 days."),
                Some(Same),
            ),
        ] {
            let (a, b) = (key_of(first.0, first.1), key_of(second.0, second.1));
            assert_eq!(relation(&a, &b, false), expected, "{first:?} {second:?}");
        }
    }
}
