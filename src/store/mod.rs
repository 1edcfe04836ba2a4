//! The store: SQLite, the truth (D3–D6). Only the holder of the drain lock writes it; everybody may read it.
//!
//! Text that comes in here is redacted already: `drain` is the only caller that writes, and redacts on the way.
//!
//! [`Store::begin`] opens a transaction; rows, cursor and the fact that an entry is done become true together, or not at all.

mod accounts;
mod aliases;
mod body;
mod branches;
mod compact;
mod cursors;
mod damage;
mod derive;
mod document;
mod documents;
mod erase;
mod facts;
mod failed;
mod item;
mod known;
mod list;
mod migrate;
mod notes;
mod outputs;
mod packs;
mod portable;
mod private;
mod profile;
mod read;
mod rescan;
mod retain;
mod salvage;
mod schema;
mod select;
mod sessions;
mod standing;
mod stated;
mod titles;
mod transcripts;

pub use accounts::{FileAccount, Kinds};
pub use aliases::Linked;
pub use body::{Block, Fields, TEXT_CAP_BYTES, cap_text};
pub use cursors::{Behind, FileRow, FileState};
pub use damage::{Check, Look, check, is_unclean, look, refuse_newer, set_aside};
pub use derive::Terms;
pub use derive::claims::statement::Kind;
pub use document::{Document, DocumentRow};
pub use documents::{Change, Observation};
pub use erase::{Doomed, Gone};
pub use failed::{Failure, Fix};
pub use item::Item;
pub use known::KnownFiles;
pub use list::{SessionRow, Timeline};
pub use notes::{Note, NoteRow, Noted};
pub use outputs::{Output, PERSISTED};
pub use portable::{Part, Portable};
pub use profile::telling;
pub use read::{Figures, Reader};
pub use rescan::Redact;
pub use retain::Expired;
pub use salvage::Salvage;
pub use select::{Criteria, Selection};
pub use sessions::{Claim, Claimant, Dated, ProjectRow, SessionFacts};
pub use standing::{LostRange, Standing, Wait};
pub use stated::{Related, Stated};
pub use transcripts::{transcripts, transcripts_beating, transcripts_beside};

use crate::config::Home;
use crate::fs;
use crate::ledger::{Ledger, LedgerError};
use crate::step::{Did, did, step};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What went wrong in the store, with what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite's own word. Full disk, damaged file, or a fault of ours.
    #[error("the store: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A newer Sinker wrote it; it is left unchanged (D11).
    #[error("the store {} has format {found}; this version knows up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest this version knows.
        known: i64,
    },
    /// It is no store, or not all of one. The drainer moves it aside and rebuilds it.
    #[error("the store {} is damaged: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is no store yet.
    #[error("there is no store at {}", .0.display())]
    Absent(PathBuf),
    /// A file operation failed.
    #[error(transparent)]
    Fs(#[from] fs::FsError),
    /// It still holds what was forgotten: nothing of it is shown (D12).
    #[error("what was forgotten is still being removed")]
    Forgetting,
    /// What was forgotten cannot be told: nothing is stored that might be part of it.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Injected by a test, or the system.
    #[error("the store: {0}")]
    Io(#[from] std::io::Error),
    /// A stored body cannot be read back.
    #[error("the store holds a damaged body: {0}")]
    Body(String),
}

impl StoreError {
    /// What is on disk is not what was written: waiting does not help, a rebuild does.
    pub fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match self {
            StoreError::Sqlite(error) => {
                matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
            }
            StoreError::Damaged { .. } | StoreError::Body(_) => true,
            _ => false,
        }
    }

    /// The disk is full, read only, or beyond a limit: waiting and trying again may help.
    pub fn is_transient(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked, DiskFull, ReadOnly, SystemIoFailure};
        match self {
            StoreError::Sqlite(error) => matches!(
                error.sqlite_error_code(),
                Some(DiskFull | DatabaseBusy | DatabaseLocked | ReadOnly | SystemIoFailure)
            ),
            StoreError::Io(_) | StoreError::Fs(_) => true,
            _ => false,
        }
    }
}

/// The store, opened for writing.
pub struct Store {
    connection: Connection,
    seq: i64,
    open: packs::Open,
    packs: packs::Packs,
    ledger: Arc<Ledger>,
}

/// Readers and the writer wait this long for each other; WAL makes that rare.
const BUSY: Duration = Duration::from_secs(10);

impl Store {
    /// Opens it, making or migrating it as needed. Errors: [`StoreError`].
    pub fn open(home: &Home) -> Result<Self, StoreError> {
        fs::make_private_dir(home.root())?;
        let path = home.store();
        // SQLite would create it with the umask's mode; its -wal and -shm take the mode of the file.
        drop(fs::open_in_place(&path)?);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&path, flags)?;
        connection.busy_timeout(BUSY)?;
        connection.set_prepared_statement_cache_capacity(64);
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // FULL: a commit that was answered survives a power cut, and only then is the spool entry removed.
        connection.pragma_update(None, "synchronous", "FULL")?;
        // A long transaction grows the log; once it is written back, the file is cut to this. Units: bytes.
        connection.pragma_update(None, "journal_size_limit", 4 * 1024 * 1024)?;
        connection.pragma_update(None, "cache_size", -16_000)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        migrate::migrate(&mut connection, &path)?;
        let seq = connection.query_row("SELECT value FROM meta WHERE key = 'seq'", [], |row| row.get(0))?;
        let open = packs::Open::of(&connection)?;
        let ledger = Arc::new(Ledger::read(home, 0)?);
        Ok(Self { connection, seq, open, packs: packs::Packs::default(), ledger })
    }

    /// Writes the log back into the file and empties it, as far as readers let it: before the process ends.
    pub fn settle(&self) {
        // What it leaves is done by the next one.
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).ok();
    }

    /// True when a drainer died between storing and deriving. Takes no lock.
    pub fn is_behind(&self) -> Result<bool, StoreError> {
        Ok(self.connection.prepare_cached("SELECT 1 FROM dirty")?.exists([])?)
    }

    /// The sequence of the newest committed change.
    pub fn seq(&self) -> i64 {
        self.seq
    }

    /// Begins a transaction. Errors: [`StoreError`].
    pub fn begin(&mut self) -> Result<Write<'_>, StoreError> {
        step("store::begin")?;
        self.packs.let_go(self.open.number());
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        Ok(Write {
            transaction,
            seq: self.seq,
            open: self.open.clone(),
            packs: &self.packs,
            ledger: Arc::clone(&self.ledger),
            profiles: profile::Gains::default(),
            kept: (&mut self.seq, &mut self.open),
            added: Added::default(),
        })
    }
}

/// A transaction in the making; dropped without [`Write::commit`], nothing of it happened.
pub struct Write<'a> {
    transaction: Transaction<'a>,
    seq: i64,
    open: packs::Open,
    packs: &'a packs::Packs,
    ledger: Arc<Ledger>,
    profiles: profile::Gains,
    /// What the store goes on with when this holds.
    kept: (&'a mut i64, &'a mut packs::Open),
    added: Added,
}

/// What a transaction adds to the totals that `meta` keeps, so that no one has to count a million rows.
#[derive(Debug, Clone, Copy, Default)]
struct Added {
    documents: i64,
    observations: i64,
    turns: i64,
}

impl Write<'_> {
    /// Makes all of it true. Returns the new sequence. Errors: [`StoreError`]; nothing of it happened then.
    pub fn commit(mut self) -> Result<i64, StoreError> {
        step("store::commit")?;
        self.write_pack()?;
        self.write_profiles()?;
        for (key, value) in [("seq", self.seq), ("packs", self.open.number())] {
            self.transaction
                .prepare_cached("UPDATE meta SET value = ?2 WHERE key = ?1")?
                .execute(rusqlite::params![key, value])?;
        }
        let Added { documents, observations, turns } = self.added;
        for (key, added) in [("documents", documents), ("observations", observations), ("turns", turns)] {
            self.transaction
                .prepare_cached("UPDATE meta SET value = value + ?2 WHERE key = ?1")?
                .execute(rusqlite::params![key, added])?;
        }
        let path = self.transaction.path().map(PathBuf::from).unwrap_or_default();
        self.transaction.commit()?;
        (*self.kept.0, *self.kept.1) = (self.seq, self.open);
        did(Did::Commit(&path));
        step("store::committed")?;
        Ok(self.seq)
    }

    fn next_seq(&mut self) -> i64 {
        self.seq += 1;
        self.seq
    }
}
