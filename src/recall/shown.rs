//! What a session was shown: so that nothing is said twice, a redelivered event gets the same bytes (D15), and budgets hold. A block stands
//! there with the names of its sentences.
//!
//! `state/shown/<session>`, appended, a line a block: `<why> <event> <name,name…> <characters> <prompt> <context>`. `why` is `p` after a prompt,
//! `t` at a tool, `s` at any other event; `prompt` names the prompt of the turn and `context` the subagent, `-` where there is none.
//! `c <event>` and `x <event>` begin a new record, `x` after a compaction. Hashes and numbers only. The first line names the version.
//! The file is bounded by the session's budget; a line that two hooks tear is skipped. A file of another version is left as it is: then
//! something may be said twice.
//!
//! Tools that run at the same time have hooks that run at the same time, and none waits for another (D9). So each first *claims* what it
//! would say by appending its lines, then reads the record again: what stands before its own first line was there before it, for everybody
//! who looks, now and at a redelivery. What another one has claimed there is left to that one.

use crate::config::Home;
use crate::fs::{self, FsError};
use crate::id;
use std::io::Write as _;
use std::path::PathBuf;

const VERSION: &str = "shown 1";
/// A longer file is begun again, with the sum of what was shown. Units: bytes; the budget of a session takes less than half of it, also in the
/// shortest sentences.
const CAP_BYTES: u64 = 64 * 1024;

/// Which kind of event showed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// A prompt.
    Prompt,
    /// A tool of its turn.
    Tool,
    /// Another event.
    Other,
}

/// The event that looks at the record.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Looker<'a> {
    /// Identity of the event.
    pub key: &'a str,
    /// Host id of the prompt whose turn it belongs to.
    pub prompt: Option<&'a str>,
    /// Host id of the subagent whose context it speaks into; `None` for the session's own.
    pub agent: Option<&'a str>,
}

/// The record of one session, as this event has to see it.
#[derive(Debug)]
pub(super) struct Shown {
    path: PathBuf,
    event: String,
    prompt: String,
    context: String,
    before: Vec<Row>,
    /// This event was delivered before, and is in the record.
    again: bool,
    compacted: bool,
    /// Another version wrote it.
    foreign: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    /// Of the block and of what it tells, joined by commas.
    names: String,
    chars: usize,
    prompt: String,
    context: String,
}

const NONE: &str = "-";

/// A damaged record may hold any number.
fn total<'a>(rows: impl Iterator<Item = &'a Row>) -> usize {
    rows.fold(0, |sum, row| sum.saturating_add(row.chars))
}

fn name(id: Option<&str>) -> String {
    id.map_or_else(|| NONE.to_owned(), |id| id::short(&id::hash(&[id.as_bytes()]), 16).to_owned())
}

impl Shown {
    /// Reads the record. A damaged or missing file is an empty record: something may be said twice.
    pub(super) fn read(home: &Home, session: &str, looker: Looker<'_>) -> Self {
        let mut shown = Self {
            path: home.shown().join(id::safe_name(session).as_ref()),
            event: id::short(&id::hash(&[looker.key.as_bytes()]), 16).to_owned(),
            prompt: name(looker.prompt),
            context: name(looker.agent),
            before: Vec::new(),
            again: false,
            compacted: false,
            foreign: false,
        };
        shown.look();
        shown
    }

    /// Reads the file from its start to this event's own first line.
    fn look(&mut self) {
        let bytes = fs::read_small(&self.path, CAP_BYTES).ok().flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        (self.again, self.compacted) = (false, false);
        self.before.clear();
        let mut lines = text.lines();
        self.foreign = lines.next().is_some_and(|version| version != VERSION);
        for line in lines.take_while(|_| !self.foreign) {
            let parts: Vec<_> = line.split(' ').collect();
            match parts.as_slice() {
                ["c" | "x", of] => {
                    self.again |= *of == self.event;
                    self.compacted |= parts.first() == Some(&"x");
                    self.before.clear();
                }
                ["p" | "s" | "t", of, names, chars, rest @ ..] => {
                    // What came after this event's first delivery did not exist for it.
                    self.again |= *of == self.event;
                    if let (false, Ok(chars)) = (self.again, chars.parse()) {
                        let part = |n: usize| (*rest.get(n).unwrap_or(&NONE)).to_owned();
                        self.before.push(Row {
                            names: (*names).into(),
                            chars,
                            prompt: part(0),
                            context: part(1),
                        });
                    }
                }
                _ => {}
            }
        }
    }

    /// Tells if the session's context was compacted: it no longer holds what the session itself said before.
    pub(super) fn is_compacted(&self) -> bool {
        self.compacted
    }

    /// Begins a new record: this event came after a compaction, and everything may be said again. A redelivery changes nothing.
    pub(super) fn compact(&mut self, home: &Home) -> Result<(), FsError> {
        self.before.clear();
        if self.again || self.foreign {
            return Ok(());
        }
        self.compacted = true;
        fs::make_private_dir(&home.shown())?;
        fs::replace(&self.path, format!("{VERSION}\nx {}\n", self.event).as_bytes(), fs::Sync::No)
    }

    /// Tells if another event showed what has this name, in the same context.
    pub(super) fn has(&self, name: &str) -> bool {
        let here = self.before.iter().filter(|row| row.context == self.context);
        here.flat_map(|row| row.names.split(',')).any(|known| known == name)
    }

    /// Characters shown since the session's last compaction, to its subagents, too.
    pub(super) fn session_chars(&self) -> usize {
        total(self.before.iter())
    }

    /// Characters shown for the same prompt in the same context. Without a prompt nothing belongs together.
    pub(super) fn prompt_chars(&self) -> usize {
        let same = |row: &&Row| row.prompt == self.prompt && row.context == self.context;
        if self.prompt == NONE { 0 } else { total(self.before.iter().filter(same)) }
    }

    /// Claims what this event would show: of each block its names and its characters. Afterwards the record is as it stood before the claim, others' earlier
    /// claims included: true when there are some that were not seen before. A redelivery claims nothing.
    pub(super) fn claim(
        &mut self,
        home: &Home,
        why: Why,
        blocks: &[(Vec<String>, usize)],
    ) -> Result<bool, FsError> {
        if self.again || self.foreign {
            return Ok(false);
        }
        let mut lines = String::new();
        let why = match why {
            Why::Prompt => 'p',
            Why::Tool => 't',
            Why::Other => 's',
        };
        for (names, chars) in blocks {
            let names = names.join(",");
            lines.push_str(&format!(
                "{why} {} {names} {chars} {} {}\n",
                self.event, self.prompt, self.context
            ));
        }
        fs::make_private_dir(&home.shown())?;
        let size = std::fs::metadata(&self.path).map_or(0, |m| m.len());
        if size + lines.len() as u64 > CAP_BYTES {
            let head = if self.compacted { 'x' } else { 'c' };
            // What was shown may be said again; how much it was still counts.
            let sum = self.session_chars();
            let text =
                format!("{VERSION}\n{head} {}\ns {NONE} {NONE} {sum} {NONE} {NONE}\n{lines}", self.event);
            fs::replace(&self.path, text.as_bytes(), fs::Sync::No)?;
            return Ok(false);
        }
        if size == 0 {
            // Of two that begin the file at once, the second's version stands in the middle, where it is no line of ours.
            lines.insert_str(0, &format!("{VERSION}\n"));
        }
        // One write, appended: two hooks at once give two whole pieces in some order.
        let mut file = fs::append_to(&self.path)?;
        let written = file.write_all(lines.as_bytes());
        written.map_err(|source| FsError { what: "write", path: self.path.clone(), source })?;
        let seen = (std::mem::take(&mut self.before), self.compacted);
        self.look();
        if !self.again {
            // Somebody began the record anew meanwhile: then what was seen has to do.
            (self.before, self.compacted) = seen;
            return Ok(false);
        }
        Ok(self.before != seen.0)
    }
}

#[cfg(test)]
mod tests;
