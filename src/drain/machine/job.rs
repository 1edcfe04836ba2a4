//! What is to be read, and for whom.

use std::path::PathBuf;

/// A file to read, with everything that asked for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Job {
    /// The transcript.
    pub path: PathBuf,
    /// Names in `cur/` that are done with it.
    pub entries: Vec<String>,
    /// Take a last line without a newline.
    pub last_line: bool,
    /// Ids of commands that asked for it.
    pub(super) commands: Vec<String>,
}

impl Job {
    /// A person asked for this file.
    pub(in crate::drain) fn is_named(&self) -> bool {
        !self.commands.is_empty()
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.entries.extend(other.entries);
        self.commands.extend(other.commands);
        self.last_line |= other.last_line;
    }
}
