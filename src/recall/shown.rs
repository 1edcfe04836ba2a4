//! What a session was shown: so that nothing is said twice, a redelivered event gets the same bytes (D15), and budgets hold.
//!
//! `state/shown/<session>` holds a line a block, appended: `p <event> <block> <characters>` after a prompt, `s` for any other event;
//! `c <event>` begins a new record, `x <event>` one after a compaction. Hashes and numbers only. The first line names the version. The
//! file is bounded by the session's budget; a line that two hooks tear is skipped.

use crate::config::Home;
use crate::fs::{self, FsError};
use crate::id;
use std::io::Write as _;
use std::path::PathBuf;

const VERSION: &str = "shown 1";
/// A longer file is begun again. Units: bytes; a full session budget takes a few thousand.
const CAP_BYTES: u64 = 64 * 1024;

/// Which kind of event showed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// A prompt: begins the prompt's budget, on which the tool events of its turn will draw.
    Prompt,
    /// Another event.
    Other,
}

/// The record of one session, as this event has to see it.
#[derive(Debug)]
pub(super) struct Shown {
    path: PathBuf,
    event: String,
    before: Vec<Row>,
    /// This event was delivered before, and is in the record.
    again: bool,
    compacted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    block: String,
    chars: usize,
}

impl Shown {
    /// Reads the record. A damaged or missing file is an empty record: something may be said twice.
    pub(super) fn read(home: &Home, session: &str, event_key: &str) -> Self {
        let path = home.shown().join(id::safe_name(session).as_ref());
        let event = id::short(&id::hash(&[event_key.as_bytes()]), 16).to_owned();
        let bytes = fs::read_small(&path, CAP_BYTES).ok().flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let mut before = Vec::new();
        let mut again = false;
        let mut compacted = false;
        for line in text.lines().skip_while(|_| !text.starts_with(VERSION)).skip(1) {
            let parts: Vec<_> = line.split(' ').collect();
            match parts.as_slice() {
                ["c" | "x", of] => {
                    again |= *of == event;
                    compacted |= parts.first() == Some(&"x");
                    before.clear();
                }
                ["p" | "s", of, block, chars] => {
                    // What came after this event's first delivery did not exist for it.
                    again |= *of == event;
                    if let (false, Ok(chars)) = (again, chars.parse()) {
                        before.push(Row { block: (*block).into(), chars });
                    }
                }
                _ => {}
            }
        }
        Self { path, event, before, again, compacted }
    }

    /// Tells if the session's context was compacted: it no longer holds what the session itself said before.
    pub(super) fn is_compacted(&self) -> bool {
        self.compacted
    }

    /// Begins a new record: this event came after a compaction, and everything may be said again. A redelivery changes nothing.
    pub(super) fn compact(&mut self, home: &Home) -> Result<(), FsError> {
        self.before.clear();
        if self.again {
            return Ok(());
        }
        self.compacted = true;
        fs::make_private_dir(&home.shown())?;
        fs::replace(&self.path, format!("{VERSION}\nx {}\n", self.event).as_bytes(), fs::Sync::No)
    }

    /// Tells if another event showed this block.
    pub(super) fn has(&self, block: &str) -> bool {
        self.before.iter().any(|row| row.block == block)
    }

    /// Characters shown since the session's last compaction.
    pub(super) fn session_chars(&self) -> usize {
        self.before.iter().map(|row| row.chars).sum()
    }

    /// Adds what this event shows. A redelivery adds nothing.
    pub(super) fn add(&self, home: &Home, why: Why, blocks: &[(String, usize)]) -> Result<(), FsError> {
        if self.again {
            return Ok(());
        }
        let mut lines = String::new();
        let why = if why == Why::Prompt { 'p' } else { 's' };
        for (block, chars) in blocks {
            lines.push_str(&format!("{why} {} {block} {chars}\n", self.event));
        }
        fs::make_private_dir(&home.shown())?;
        let size = std::fs::metadata(&self.path).map_or(0, |m| m.len());
        if size == 0 || size + lines.len() as u64 > CAP_BYTES {
            let head = if self.compacted { 'x' } else { 'c' };
            let text = format!("{VERSION}\n{head} {}\n{lines}", self.event);
            return fs::replace(&self.path, text.as_bytes(), fs::Sync::No);
        }
        // One write, appended: two hooks at once give two whole lines in some order.
        let mut file = fs::append_to(&self.path)?;
        let written = file.write_all(lines.as_bytes());
        written.map_err(|source| FsError { what: "write", path: self.path.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(home: &Home, event: &str, why: Why, block: &str, chars: usize) {
        Shown::read(home, "s", event).add(home, why, &[(block.to_owned(), chars)]).unwrap();
    }

    #[test]
    fn a_redelivered_event_sees_what_it_saw_first() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        add(&home, "e1", Why::Prompt, "b1", 10);
        add(&home, "e2", Why::Prompt, "b2", 20);
        add(&home, "e3", Why::Other, "b3", 30);
        let third = Shown::read(&home, "s", "e4");
        assert_eq!(third.session_chars(), 60);
        let again = Shown::read(&home, "s", "e2");
        assert!(again.has("b1") && !again.has("b2") && !again.has("b3"));
        let before = std::fs::read(home.shown().join("s")).unwrap();
        add(&home, "e2", Why::Prompt, "b2", 20);
        assert_eq!(std::fs::read(home.shown().join("s")).unwrap(), before);
    }

    #[test]
    fn a_compaction_begins_again_and_other_sessions_are_apart() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        add(&home, "e1", Why::Prompt, "b1", 10);
        let mut compact = Shown::read(&home, "s", "c1");
        compact.compact(&home).unwrap();
        assert!(!compact.has("b1") && compact.is_compacted());
        compact.add(&home, Why::Other, &[("b1".to_owned(), 10)]).unwrap();
        let mut again = Shown::read(&home, "s", "c1");
        again.compact(&home).unwrap();
        assert!(!again.has("b1"));
        let next = Shown::read(&home, "s", "e2");
        assert!(next.has("b1") && next.is_compacted());
        assert_eq!(next.session_chars(), 10);
        assert!(!Shown::read(&home, "t", "e2").has("b1"));
    }
}
