//! By which name a transcript is known: its path; or a hash of that, once all that it held was forgotten.
//!
//! A path tells what was forgotten: it holds the session's id and the project's folder. But where a file stands must stay known, or it would
//! be read again at every sweep for nothing.

use super::cursors::{FileRow, FileState, STATE_COLUMNS, file_state};
use super::{Reader, StoreError, Write};
use crate::id;
use crate::ledger::Mark;
use rusqlite::{OptionalExtension, params};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How such a name begins; a path begins with `/`.
const FORGOTTEN: &str = "forgotten:";

/// The name of a file all of which was forgotten. It needs no key: the host's names are random.
pub(super) fn forgotten_name(path: &str) -> String {
    format!("{FORGOTTEN}{}", id::short(&id::hash(&[b"file", path.as_bytes()]), 32))
}

/// Is it the path of a file, and not a name that stands for one?
pub(super) fn is_path(name: &str) -> bool {
    !name.starts_with(FORGOTTEN)
}

/// Every transcript that is known and not gone, with its state.
#[derive(Debug, Default)]
pub struct KnownFiles {
    paths: BTreeMap<PathBuf, FileState>,
    forgotten: BTreeMap<String, FileState>,
}

impl KnownFiles {
    /// The state of one; `None` for one never read.
    pub fn get(&self, path: &Path) -> Option<&FileState> {
        self.paths.get(path).or_else(|| {
            let hashed = || self.forgotten.get(&forgotten_name(&path.to_string_lossy()));
            if self.forgotten.is_empty() { None } else { hashed() }
        })
    }

    /// Those that are known by their path.
    pub fn paths(&self) -> &BTreeMap<PathBuf, FileState> {
        &self.paths
    }
}

impl Reader {
    /// A file's state; `None` for one never read.
    pub fn file(&self, path: &Path) -> Result<Option<FileState>, StoreError> {
        let sql =
            format!("SELECT {STATE_COLUMNS} FROM files WHERE path IN (?1, ?2) ORDER BY path = ?2 LIMIT 1");
        let mut query = self.connection.prepare_cached(&sql)?;
        let path = path.to_string_lossy();
        Ok(query.query_row([path.as_ref(), &forgotten_name(&path)], file_state).optional()?)
    }

    /// Every known file that is not gone, with its state.
    pub fn files(&self) -> Result<KnownFiles, StoreError> {
        let sql = format!("SELECT {STATE_COLUMNS}, path FROM files WHERE gone = 0");
        let mut query = self.connection.prepare(&sql)?;
        let mut known = KnownFiles::default();
        let rows = query.query_map([], |row| Ok((row.get::<_, String>(10)?, file_state(row)?)))?;
        for row in rows {
            let (name, state) = row?;
            if is_path(&name) {
                known.paths.insert(PathBuf::from(name), state);
            } else {
                known.forgotten.insert(name, state);
            }
        }
        Ok(known)
    }
}

impl Write<'_> {
    /// Finds a file's row. Errors: [`StoreError`].
    pub fn known_file(&self, path: &Path) -> Result<Option<FileRow>, StoreError> {
        let path = path.to_string_lossy();
        let mut query = self
            .transaction
            .prepare_cached("SELECT n FROM files WHERE path IN (?1, ?2) ORDER BY path = ?2 LIMIT 1")?;
        Ok(query.query_row([path.as_ref(), &forgotten_name(&path)], |row| row.get(0)).optional()?)
    }

    /// Gives a file the name that it is to be known by, after something was read from it. `refused`: some of that belongs to a session that
    /// was forgotten.
    pub fn name_file(&mut self, file: FileRow, path: &Path, refused: bool) -> Result<(), StoreError> {
        if self.ledger.is_empty() {
            return Ok(());
        }
        let path = path.to_string_lossy();
        let holds =
            self.transaction.prepare_cached("SELECT 1 FROM file_sessions WHERE file = ?1")?.exists([file])?;
        let name = match (holds, refused) {
            (true, _) => path.into_owned(),
            (false, true) => forgotten_name(&path),
            (false, false) => return Ok(()),
        };
        self.transaction
            .prepare_cached("UPDATE OR IGNORE files SET path = ?2 WHERE n = ?1 AND path <> ?2")?
            .execute(params![file, name])?;
        Ok(())
    }

    /// The files of a session, when it goes: those that held nothing else lose their paths, unless it may come back.
    pub(super) fn leave_files(&mut self, session: i64) -> Result<(), StoreError> {
        let id = self.session_id(session)?;
        let files: Vec<(FileRow, String)> = {
            let mut query = self.transaction.prepare_cached(
                "SELECT f.n, f.path FROM file_sessions fs JOIN files f ON f.n = fs.file WHERE fs.session = ?1",
            )?;
            let rows = query.query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<Result<_, _>>()?
        };
        self.transaction.execute("DELETE FROM file_sessions WHERE session = ?1", [session])?;
        if self.ledger.holds(&Mark::session(&id)) {
            for (file, path) in files.into_iter().filter(|(_, path)| is_path(path)) {
                self.name_file(file, Path::new(&path), true)?;
            }
        }
        Ok(())
    }
}
