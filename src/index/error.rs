//! What can go wrong with the index.

use crate::fs::FsError;
use std::io;
use std::path::{Path, PathBuf};
use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

/// An index operation that failed.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// It may still hold what was forgotten: nobody is answered from it (D12).
    #[error("what was forgotten is still being removed")]
    Forgetting,
    /// What was forgotten cannot be told: nobody is answered (D12).
    #[error(transparent)]
    Ledger(#[from] crate::ledger::LedgerError),
    /// A file operation failed: disk full, permissions.
    #[error(transparent)]
    Fs(#[from] FsError),
    /// An injected failure at a kill point, or a plain read that failed.
    #[error("cannot use the index: {0}")]
    Io(#[from] std::io::Error),
    /// A newer Sinker wrote it; it is left unchanged (D11). The person updates Sinker.
    #[error("the index {} has format {found}, newer than {known}, the newest this version knows", path.display())]
    Newer {
        /// The generation's directory.
        path: PathBuf,
        /// The format found.
        found: u64,
        /// The newest format known.
        known: u64,
    },
    /// Tantivy failed: damage on disk, disk full, or a dead indexing thread.
    #[error("cannot {what} the index {}: {source}", path.display())]
    Engine {
        /// The operation, as a verb.
        what: &'static str,
        /// The generation's directory.
        path: PathBuf,
        /// What Tantivy said.
        source: Box<tantivy::TantivyError>,
    },
}

impl IndexError {
    /// What is on disk is not what was written: a rebuild helps, waiting does not.
    pub fn is_damage(&self) -> bool {
        matches!(self, IndexError::Engine { source, .. } if is_damage(source))
    }
}

/// The same for Tantivy's own errors. What the system says (no space, no permission, no descriptors) is no damage.
pub fn is_damage(error: &TantivyError) -> bool {
    // Without a number of the system's it is Tantivy that did not like what it read.
    let environment = |error: &io::Error| error.raw_os_error().is_some();
    match error {
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => !environment(io_error),
        TantivyError::OpenReadError(_) | TantivyError::DataCorruption(_) => true,
        TantivyError::InternalError(_)
        | TantivyError::SchemaError(_)
        | TantivyError::IncompatibleIndex(_) => true,
        TantivyError::IoError(error) => !environment(error),
        _ => false,
    }
}

/// Adds operation and path to Tantivy's errors.
pub(super) trait At<T> {
    fn at(self, what: &'static str, path: &Path) -> Result<T, IndexError>;
}

impl<T, E: Into<tantivy::TantivyError>> At<T> for Result<T, E> {
    fn at(self, what: &'static str, path: &Path) -> Result<T, IndexError> {
        self.map_err(|source| IndexError::Engine {
            what,
            path: path.to_path_buf(),
            source: Box::new(source.into()),
        })
    }
}
