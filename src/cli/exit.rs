//! Exit codes, and errors as a person reads them.

use super::output;
use crate::config::{Home, Unsafe};
use crate::drain::DrainError;
use crate::fs;
use crate::index::IndexError;
use crate::ledger::LedgerError;
use crate::recall::RecallError;
use crate::spool::SpoolError;
use crate::store::StoreError;
use std::process::ExitCode;

/// The exit codes of every command (design, section 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0
    Done,
    /// 1
    Failed,
    /// 2
    Usage,
    /// 3: nothing found, or not yet
    Nothing,
    /// 4: newer format, or the lock is held
    Refused,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Nothing => 3,
            Exit::Refused => 4,
        })
    }
}

/// What failed and why, and what to do about it.
#[derive(Debug)]
pub(super) struct Failure {
    what: String,
    hint: Option<String>,
    exit: Exit,
    damaged: Option<Damaged>,
}

/// What was found damaged: the drainer is to look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damaged {
    /// SQLite's file.
    Store,
    /// A file of Tantivy's.
    Index,
}

impl Failure {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), hint: None, exit: Exit::Failed, damaged: None }
    }

    /// A command, or a sentence with one in backquotes.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    fn damaged(mut self, what: Damaged) -> Self {
        self.damaged = Some(what);
        self
    }

    /// What failed, without the hint: where one of several things did.
    pub(super) fn what(&self) -> &str {
        &self.what
    }

    /// Tells the drainer, which looks and repairs: without the note it might meet the damage much later.
    pub(super) fn note(&self, home: &Home) {
        let note = match self.damaged {
            Some(Damaged::Store) => home.suspect_store(),
            Some(Damaged::Index) => home.suspect_index(),
            None => return,
        };
        // A command that reads must not fail for what it cannot write.
        drop(fs::replace(&note, b"", fs::Sync::No));
    }

    /// Prints it on stderr. Returns its exit code.
    pub(super) fn report(&self) -> Exit {
        output::complain(&format!("error: {}", self.what));
        if let Some(hint) = &self.hint {
            output::complain(&format!("hint: {hint}"));
        }
        self.exit
    }
}

const NO_STORE: &str =
    "`sinker import` takes in what Claude Code has kept so far; `sinker demo` shows how it works";

const LEDGER: &str = "put it back from a backup, or update Sinker if a newer one wrote it; without it, what was forgotten would come back";
const FORGETTING: &str = "a running drainer does it by itself; `sinker drain --once` does it now";

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let what = error.to_string();
        match error {
            StoreError::Absent(_) => {
                Self::new("nothing is remembered yet").hint(NO_STORE).exit(Exit::Nothing)
            }
            StoreError::Newer { .. } => {
                Self::new(what).hint("update Sinker; nothing was changed").exit(Exit::Refused)
            }
            error if error.is_damage() => Self::new(what).damaged(Damaged::Store).hint(
                "`sinker drain --once` moves it aside and rebuilds it from what is left of it and from the transcripts; a running drainer does so by itself",
            ),
            StoreError::Ledger(LedgerError::Fs(_)) => Self::new(what)
                .hint("check free space and permissions of the data directory; nothing was forgotten yet"),
            StoreError::Ledger(_) => Self::new(what).hint(LEDGER).exit(Exit::Refused),
            StoreError::Forgetting => Self::new(what).hint(FORGETTING).exit(Exit::Refused),
            error if error.is_transient() => Self::new(what)
                .hint("check free space and permissions of the data directory, then run it again"),
            _ => {
                Self::new(what).hint("`sinker status` names the file; keep a copy of it before anything else")
            }
        }
    }
}

impl From<IndexError> for Failure {
    fn from(error: IndexError) -> Self {
        let what = error.to_string();
        match error {
            IndexError::Newer { .. } => {
                Self::new(what).hint("update Sinker; nothing was changed").exit(Exit::Refused)
            }
            IndexError::Ledger(_) => Self::new(what).hint(LEDGER).exit(Exit::Refused),
            IndexError::Forgetting => Self::new(what).hint(FORGETTING).exit(Exit::Refused),
            error if error.is_damage() => Self::new(what).damaged(Damaged::Index).hint(
                "`sinker index rebuild` makes it anew from the store; a running drainer does so by itself",
            ),
            _ => Self::new(what).hint("`sinker index rebuild` makes it anew from the store"),
        }
    }
}

impl From<RecallError> for Failure {
    fn from(error: RecallError) -> Self {
        if let RecallError::Index(error) = error {
            return error.into();
        }
        let failure = Self::new(error.to_string());
        let failure = if error.is_damage() { failure.damaged(Damaged::Index) } else { failure };
        failure.hint("`sinker index verify` names what is damaged; `sinker index rebuild` makes it anew")
    }
}

impl From<DrainError> for Failure {
    fn from(error: DrainError) -> Self {
        let what = error.to_string();
        match error {
            DrainError::Locked(_) => {
                Self::new(what).hint("`sinker status` shows what it is doing").exit(Exit::Refused)
            }
            DrainError::Store(error) => error.into(),
            DrainError::Index(error) => error.into(),
            DrainError::NoSuchPath(_) => {
                Self::new(what).hint("`sinker import` without a path takes the host's own folder")
            }
            DrainError::Spool(SpoolError::Split(_)) => Self::new(what)
                .hint("unmount it there, or let SINKER_HOME name a directory that lies on one file system"),
            DrainError::Stuck => Self::new(what)
                .hint("`sinker drain --once` makes it; log/drain.log has more")
                .exit(Exit::Failed),
            DrainError::Newer { .. } => {
                Self::new(what).hint("update Sinker; nothing was changed").exit(Exit::Refused)
            }
            DrainError::NoLocks(_) => Self::new(what)
                .hint("SINKER_HOME=/path/on/a/local/disk; two drainers at once would damage the store"),
            DrainError::Interrupted { .. } => {
                Self::new(what).hint("`sinker status` shows what the drainer is doing; `sinker drain --once` does what waits where none runs")
            }
            DrainError::Stopped => Self::new(what).hint("`sinker drain --once` goes on where it stopped"),
            _ => Self::new(what).hint("`sinker config show` names the paths; check their permissions"),
        }
    }
}

impl From<Unsafe> for Failure {
    fn from(error: Unsafe) -> Self {
        Self::new(format!("the data directory is not used: {error}")).hint(error.hint()).exit(Exit::Refused)
    }
}

impl From<crate::fs::FsError> for Failure {
    fn from(error: crate::fs::FsError) -> Self {
        Self::new(error.to_string()).hint("check the permissions of the data directory")
    }
}
