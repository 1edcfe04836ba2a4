//! What a model may pass to a tool. A mistake is told in words, so that the next call can be right.

use super::page::headline;
use serde::Deserialize;
use serde::de::{self, Deserializer};
use serde_json::{Map, Number, Value};

/// Longer texts to look for say no more. Units: characters.
const QUERY_CHARS: usize = 4_000;

/// A count from 1 on. A number beyond every bound is taken for the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count(pub usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = Number::deserialize(from)?;
        let whole = number.as_u64().and_then(|n| usize::try_from(n).ok());
        let huge = number.as_f64().is_some_and(|n| n >= 1e15);
        match whole {
            Some(n) if n > 0 => Ok(Self(n)),
            None if huge => Ok(Self(usize::MAX)),
            _ => Err(de::Error::custom(format!("{number} is not a whole number from 1 on"))),
        }
    }
}

/// A place in a text: characters from its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Offset(pub usize);

impl<'de> Deserialize<'de> for Offset {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = Number::deserialize(from)?;
        let whole = number.as_u64().and_then(|n| usize::try_from(n).ok());
        let huge = number.as_f64().is_some_and(|n| n >= 1e15);
        match whole {
            Some(n) => Ok(Self(n)),
            None if huge => Ok(Self(usize::MAX)),
            None => Err(de::Error::custom(format!("{number} is not a whole number from 0 on"))),
        }
    }
}

/// Where to look.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Scope {
    /// An id, a name or a path; without one the project of this session.
    pub project: Option<String>,
    /// All projects.
    #[serde(default)]
    pub all: bool,
}

/// Arguments of `memory_search`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Search {
    pub query: String,
    pub project: Option<String>,
    #[serde(default)]
    pub all: bool,
    pub session: Option<String>,
    pub kind: Option<String>,
    pub speaker: Option<String>,
    pub file: Option<String>,
    pub since: Option<String>,
    pub limit: Option<Count>,
}

/// Arguments of `memory_timeline`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Timeline {
    pub around: Option<String>,
    pub file: Option<String>,
    pub project: Option<String>,
    #[serde(default)]
    pub all: bool,
    pub kind: Option<String>,
    pub limit: Option<Count>,
}

/// Arguments of `memory_get`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Get {
    pub ids: Vec<String>,
    pub offset: Option<Offset>,
}

/// Arguments of `memory_status`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Status {
    pub project: Option<String>,
    pub session: Option<String>,
}

/// Arguments of `memory_save`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Save {
    pub text: String,
    pub project: Option<String>,
    pub files: Option<Vec<String>>,
    /// The note that is edited.
    pub id: Option<String>,
}

/// Arguments of `work_list`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct WorkList {
    pub project: Option<String>,
    /// What is done and dropped, too.
    #[serde(default)]
    pub all: bool,
}

/// Arguments of `work_update`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct WorkUpdate {
    pub id: Option<String>,
    pub text: Option<String>,
    pub state: Option<String>,
    pub project: Option<String>,
}

/// Kinds of documents.
pub(super) const KINDS: [&str; 8] =
    ["observation", "outcome", "checkpoint", "session-summary", "claim", "note", "work", "failure"];
/// Who can have said something.
pub(super) const SPEAKERS: [&str; 6] = ["user", "assistant", "tool", "web", "agent", "host"];

/// Reads the arguments of a tool. Errors: a sentence for the model.
pub(super) fn read<'a, T: Deserialize<'a>>(arguments: &'a Map<String, Value>) -> Result<T, String> {
    T::deserialize(arguments)
        .map_err(|error| format!("these arguments cannot be used: {}", without_value(&error.to_string())))
}

/// What is wrong, without the text that was passed: nothing has looked for secrets in it (D8), and whoever passed it knows it.
fn without_value(error: &str) -> String {
    match (error.find('"'), error.rfind('"')) {
        (Some(from), Some(to)) if from < to => {
            let (before, behind) = (error.get(..from), error.get(to + 1..));
            format!("{}of its own{}", before.unwrap_or_default(), behind.unwrap_or_default())
        }
        _ => error.to_owned(),
    }
}

/// The beginning of an id that is not known, enough to tell it from the others that were passed.
pub(super) fn beginning(id: &str) -> String {
    headline(id, 12)
}

/// One of a list of words. Errors: a sentence that names them.
pub(super) fn one_of(name: &str, given: Option<&String>, words: &[&str]) -> Result<(), String> {
    match given {
        Some(given) if !words.contains(&given.as_str()) => {
            Err(format!("{name} must be one of {}", words.join(", ")))
        }
        _ => Ok(()),
    }
}

/// As much of a query as is looked at.
pub(super) fn query(text: &str) -> &str {
    match text.char_indices().nth(QUERY_CHARS) {
        Some((at, _)) => text.get(..at).unwrap_or_default(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn search(arguments: &Value) -> Result<Search, String> {
        read(arguments.as_object().unwrap())
    }

    #[test]
    fn counts_are_bounded_and_never_negative() {
        let limit = |limit: Value| search(&json!({"query": "x", "limit": limit})).map(|s| s.limit.unwrap().0);
        assert_eq!(limit(json!(5)), Ok(5));
        assert_eq!(limit(json!(u64::MAX)), Ok(usize::MAX));
        assert_eq!(limit(json!(1e300)), Ok(usize::MAX));
        for wrong in [json!(0), json!(-1), json!(1.5), json!(-1e300), json!("5"), json!([]), json!(true)] {
            assert!(limit(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_missing_or_of_a_wrong_type_is_named() {
        assert!(search(&json!({})).unwrap_err().contains("query"));
        assert!(search(&json!({"query": 5})).unwrap_err().contains("string"));
        assert!(search(&json!({"query": "x", "all": "yes"})).unwrap_err().contains("boolean"));
        // And not repeated.
        let told = search(&json!({"query": "x", "all": "hunter2 \"and\" more"})).unwrap_err();
        assert!(told.contains("boolean") && !told.contains("hunter2") && !told.contains("and\\"), "{told}");
        // What a later version may know is no mistake.
        assert!(search(&json!({"query": "x", "colour": 1})).is_ok());
    }

    #[test]
    fn a_long_query_is_cut_at_a_character() {
        let long = "é".repeat(QUERY_CHARS + 1);
        assert_eq!(query(&long).chars().count(), QUERY_CHARS);
        assert_eq!(query("short"), "short");
    }
}
