//! The drainer: from the pointers in the spool to rows in the store and a published index.
//!
//! ```text
//! watch ─▶ run ──Job──▶ read ──Parcel──▶ write ──seq──▶ publish
//!           ▲   machine decides          │ one transaction: rows + cursor, then the entry is unlinked
//!           └────────── Finished ◀───────┘
//! ```
//!
//! `machine` is a pure function of state and event; `run` performs what it decides. Stages are joined by bounded channels, so a slow
//! disk slows the reader and not the memory. Whoever holds `drain.lock` may write store and index; nobody else does.

mod account;
mod apart;
mod asks;
mod chains;
mod clean;
mod commands;
mod figures;
mod gate;
mod indexed;
mod intake;
mod load;
mod lock;
mod machine;
mod notes;
mod outputs;
mod progress;
mod publish;
mod pulse;
mod read;
mod repair;
mod roots;
mod rounds;
mod rules;
mod run;
mod stand;
mod suspects;
mod sweep;
mod unwritten;
mod watch;
mod work;
mod write;

pub use apart::probe;
pub use commands::{Patience, Reply, ask, end, order};
pub use figures::StatusFile;
pub use load::{EXPORT_FORMAT, ExportHead, clean_record, export_head};
pub use lock::{Lock, is_held};
pub use machine::Mode;
pub use notes::{Draft, NOTE_BYTES, NoteError, Saved, note};
pub use progress::Progress;
pub use rounds::{rebuild, run};
pub use rules::{rescan_due, retention_in_doubt, rules_in_doubt, unusable_rules};
pub use run::{Options, Outcome};
pub use work::{ITEM_BYTES, Task, task};

use crate::config::Home;
pub use crate::store::transcripts;
use crate::{fs, index, log, spool, store};
use std::path::PathBuf;

/// Why a drainer could not work.
#[derive(Debug, thiserror::Error)]
pub enum DrainError {
    /// Another process holds the lock; it does the work.
    #[error("the store is locked by another drainer{}", .0.as_deref().map(|w| format!(" ({w})")).unwrap_or_default())]
    Locked(Option<String>),
    /// The store.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// The index.
    #[error(transparent)]
    Index(#[from] index::IndexError),
    /// File locks mean nothing where the data directory lies.
    #[error("the file system of {} grants every lock", .0.display())]
    NoLocks(PathBuf),
    /// The spool.
    #[error(transparent)]
    Spool(#[from] spool::SpoolError),
    /// A file operation.
    #[error(transparent)]
    Fs(#[from] fs::FsError),
    /// The local secret, a thread, or the signal handler.
    #[error("{0}")]
    Start(String),
    /// The second signal: everything was left as it was.
    #[error("stopped at once; what was in work will be done again")]
    Stopped,
    /// Somebody left off waiting for a running drainer.
    #[error("{}", if *withdrawn { "interrupted before the drainer took it up: it was taken back, nothing was changed" }
        else { "interrupted, but the drainer has taken it up: it will be done, also if that drainer ends" })]
    Interrupted {
        /// Nobody had taken the command up, and nobody will.
        withdrawn: bool,
    },
    /// The reader computes over one piece of a transcript and does not come back; the next drainer will know.
    #[error(
        "a transcript could not be read in any reasonable time; the next try is made apart from the others"
    )]
    Stuck,
    /// A newer Sinker wrote this file of `state/`; nothing was changed (D11).
    #[error("{} has format {found}, newer than this version knows", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
    /// A path given to import does not exist.
    #[error("there is nothing at {}", .0.display())]
    NoSuchPath(PathBuf),
}

impl DrainError {
    /// The store on disk is not what was written.
    pub fn is_store_damage(&self) -> bool {
        matches!(self, DrainError::Store(error) if error.is_damage())
    }
}

/// Makes the folders that a drainer works in.
fn prepare(home: &Home) -> Result<(), DrainError> {
    match home.narrow() {
        Ok(0) => {}
        Ok(names) => log::warn(
            "drain",
            &[("names", &names)],
            "Modes were set right: nobody else may read the data directory.",
        ),
        Err(error) => log::warn("drain", &[("error", &error)], "Others may read what is ours."),
    }
    fs::make_private_dir(home.root())?;
    fs::make_private_dir(&home.state())?;
    spool::prepare(home)?;
    spool::check_file_system(home)?;
    Ok(())
}
