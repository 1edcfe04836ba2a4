//! An item of open work: its states, what makes two texts one item, and how an item that a person wrote is kept.

use crate::id;
use serde::{Deserialize, Serialize};

/// Where an item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Somebody works on it.
    Doing,
    /// To be done.
    Open,
    /// Done.
    Done,
    /// Not to be done any more.
    Dropped,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Doing, Self::Open, Self::Done, Self::Dropped];

    /// `doing`, `open`, `done` or `dropped`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Doing => "doing",
            Self::Open => "open",
            Self::Done => "done",
            Self::Dropped => "dropped",
        }
    }

    /// Reads a name: ours, or the host's of a todo or a task.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "open" | "pending" | "todo" => Self::Open,
            "doing" | "in_progress" => Self::Doing,
            "done" | "completed" => Self::Done,
            "dropped" | "cancelled" | "canceled" | "deleted" => Self::Dropped,
            _ => return None,
        })
    }

    /// Is there still something to do?
    pub fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Doing)
    }
}

/// What two texts of one item have in common: their words, lower case.
pub fn key(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// The id of an item that somebody wrote: the same words in a project are the same item.
pub fn id(project: &str, text: &str) -> String {
    let hash = id::hash(&[b"work", project.as_bytes(), key(text).as_bytes()]);
    format!("w-{}", id::short(&hash, 32))
}

/// An item that somebody wrote as its text is kept: `[open] write the page about limits`.
pub fn kept(state: State, text: &str) -> String {
    format!("[{}] {text}", state.name())
}

/// Reads what [`kept`] wrote; what has no state is open.
pub fn read(kept: &str) -> (State, &str) {
    let split = kept.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    split.and_then(|(state, text)| Some((State::parse(state)?, text))).unwrap_or((State::Open, kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_back_and_dress_makes_no_other_item() {
        for state in State::ALL {
            assert_eq!(read(&kept(state, "[x] write")), (state, "[x] write"));
            assert_eq!(State::parse(state.name()), Some(state));
        }
        assert_eq!(read("[tbd] write"), (State::Open, "[tbd] write"));
        assert_eq!(id("p", "Write the page."), id("p", "write  the *page*"));
        assert_ne!(id("p", "write the page"), id("q", "write the page"));
    }
}
