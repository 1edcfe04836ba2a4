//! The name of a spool entry: a function of the event, so that a redelivery is the same file (D2).
//!
//! ```text
//! 0b54….0000000000009c40.post-tool-use.toolu_01.json
//! _cmd.000001890a1b2c3d.5f2e9a01.import.json
//! ```

use crate::id;
use std::borrow::Cow;

/// A parsed or to be written name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpoolName {
    /// An event of a session.
    Event {
        /// The session's id, or `_` and 40 hex of its sha256.
        session: String,
        /// The transcript's size at hook time, bytes.
        cursor: u64,
        /// The event, `post-tool-use`.
        event: String,
        /// Tool use id, else agent id; the same form as `session`.
        tail: Option<String>,
    },
    /// A command that asks the drainer to write.
    Command {
        /// Milliseconds since 1970.
        time_ms: u64,
        /// Random, 8 hex.
        random: String,
        /// `import`, `rebuild`, …
        verb: String,
    },
}

/// Makes an id safe as a part of a file name: itself when it is `[A-Za-z0-9_-]{1,64}`, else `_` and 40 hex of its sha256.
///
/// `_cmd`, which marks commands, is hashed too.
pub fn safe_id(id: &str) -> Cow<'_, str> {
    if id == COMMAND { id::hashed_name(id) } else { id::safe_name(id) }
}

/// Marks the name of a command.
const COMMAND: &str = "_cmd";

impl SpoolName {
    /// Names an event.
    pub fn event(session: &str, cursor: u64, event: &str, tail: Option<&str>) -> Self {
        Self::Event {
            session: safe_id(session).into_owned(),
            cursor,
            event: event.to_owned(),
            tail: tail.filter(|t| !t.is_empty()).map(|t| safe_id(t).into_owned()),
        }
    }

    /// Reads a file name; `None` when it is not of this shape.
    pub fn parse(name: &str) -> Option<Self> {
        let stem = name.strip_suffix(".json")?;
        let parts: Vec<&str> = stem.split('.').collect();
        match parts.as_slice() {
            [COMMAND, time, random, verb] => {
                Some(Self::Command { time_ms: hex16(time)?, random: word(random)?, verb: word(verb)? })
            }
            [session, cursor, event] => Some(Self::Event {
                session: part(session)?,
                cursor: hex16(cursor)?,
                event: word(event)?,
                tail: None,
            }),
            [session, cursor, event, tail] => Some(Self::Event {
                session: part(session)?,
                cursor: hex16(cursor)?,
                event: word(event)?,
                tail: Some(part(tail)?),
            }),
            _ => None,
        }
    }
}

fn part(text: &str) -> Option<String> {
    (safe_id(text) == text).then(|| text.to_owned())
}

fn word(text: &str) -> Option<String> {
    let good =
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    (good && text.len() <= 64).then(|| text.to_owned())
}

fn hex16(text: &str) -> Option<u64> {
    let digits = text.len() == 16 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    digits.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

impl std::fmt::Display for SpoolName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Event { session, cursor, event, tail: None } => {
                write!(f, "{session}.{cursor:016x}.{event}.json")
            }
            Self::Event { session, cursor, event, tail: Some(tail) } => {
                write!(f, "{session}.{cursor:016x}.{event}.{tail}.json")
            }
            Self::Command { time_ms, random, verb } => {
                write!(f, "{COMMAND}.{time_ms:016x}.{random}.{verb}.json")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_a_function_of_the_event() {
        let cases = [
            (SpoolName::event("0b54-aa", 40_000, "stop", None), "0b54-aa.0000000000009c40.stop.json"),
            (
                SpoolName::event("s", 0, "post-tool-use", Some("toolu_01")),
                "s.0000000000000000.post-tool-use.toolu_01.json",
            ),
            (
                SpoolName::event("../../etc", 1, "stop", Some("")),
                "_0d34ca13bf5f61ce6213ef3ac6a0ff4f2df8e4c1.0000000000000001.stop.json",
            ),
        ];
        for (name, expected) in cases {
            let text = name.to_string();
            let same = text == expected
                || text.starts_with('_') && expected.starts_with('_') && text.len() == expected.len();
            assert!(same, "{text} {expected}");
            assert_eq!(SpoolName::parse(&text), Some(name));
        }
    }

    #[test]
    fn foreign_names_are_not_taken_for_entries() {
        for name in [
            "",
            ".json",
            "a.json",
            "a.1.stop.json",
            "a.0000000000000001.stop",
            ".swp",
            "a/b.0000000000000001.stop.json",
        ] {
            assert_eq!(SpoolName::parse(name), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn f13_any_id_gives_a_name_that_stays_in_its_folder(session in ".*", tail in proptest::option::of(".*"), cursor: u64) {
            let name = SpoolName::event(&session, cursor, "stop", tail.as_deref());
            let text = name.to_string();
            prop_assert!(!text.contains('/') && !text.contains('\0') && text.len() < 255);
            prop_assert!(!text.starts_with('.') && !text.starts_with("_cmd."));
            prop_assert_eq!(SpoolName::parse(&text), Some(name));
        }
    }
}
