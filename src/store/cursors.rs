//! Transcript files: how far each is stored (D3), and what its lines were.

use super::documents::position;
use super::{StoreError, Write};
use rusqlite::{OptionalExtension, Row, params};
use std::path::Path;

/// The class of lines that counts ranges of a file which were gone before they were stored; their kind is `<from>-<to>`, 16 hex each.
pub(super) const LOST: &str = "lost";

/// The range that a kind of the class [`LOST`] names; older stores did not keep its end.
pub(super) fn lost_range(kind: &str) -> (u64, Option<u64>) {
    let number = |hex: &str| u64::from_str_radix(hex, 16).ok();
    let (from, to) = kind.split_once('-').map_or((kind, None), |(from, to)| (from, number(to)));
    (number(from).unwrap_or(0), to)
}

/// A file's row number.
pub type FileRow = i64;

/// How far a transcript is stored. Units: bytes; times in milliseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileState {
    /// One past the last newline stored.
    pub offset: u64,
    /// Length of the marked first bytes.
    pub head_len: u64,
    /// Their hash.
    pub head_hash: String,
    /// Length of the marked bytes before the offset.
    pub tail_len: u64,
    /// Their hash.
    pub tail_hash: String,
    /// The latest record time before the offset.
    pub clock_ms: i64,
    /// The size when read last.
    pub size: u64,
    /// How much of it is stored: the offset, or the end of a last line without a newline; or passed over.
    pub settled: u64,
    /// The prompt before the offset is wholly private: nothing is stored up to the next one.
    pub private: bool,
    /// It was passed over when it was looked at last: nothing of it is to be stored.
    pub passed: bool,
}

/// A transcript that is not stored to its end.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Behind {
    /// The file.
    pub path: String,
    /// Stored up to here, bytes.
    pub cursor: u64,
    /// Size on disk, bytes.
    pub size: u64,
}

pub(super) fn file_state(row: &Row<'_>) -> rusqlite::Result<FileState> {
    let unsigned = |i: usize| row.get::<_, i64>(i).map(|v| u64::try_from(v).unwrap_or(0));
    Ok(FileState {
        offset: unsigned(0)?,
        head_len: unsigned(1)?,
        head_hash: row.get(2)?,
        tail_len: unsigned(3)?,
        tail_hash: row.get(4)?,
        clock_ms: row.get(5)?,
        size: unsigned(6)?,
        settled: unsigned(7)?,
        private: row.get(8)?,
        passed: row.get(9)?,
    })
}

pub(super) const STATE_COLUMNS: &str =
    "offset, head_len, head_hash, tail_len, tail_hash, clock_ms, size, settled, private,
     EXISTS (SELECT 1 FROM line_counts c WHERE c.file = files.n AND c.class = 'passed')";

/// The class that counts files of which nothing is to be stored, one each; their kind says why.
pub(super) const PASSED: &str = "passed";

impl Write<'_> {
    /// Finds or makes a file's row. Errors: [`StoreError`].
    pub fn file(&mut self, path: &Path) -> Result<FileRow, StoreError> {
        match self.known_file(path)? {
            Some(n) => Ok(n),
            None => {
                self.transaction
                    .execute("INSERT INTO files (path) VALUES (?1)", [&path.to_string_lossy()])?;
                Ok(self.transaction.last_insert_rowid())
            }
        }
    }

    /// The file's state as this transaction sees it.
    pub fn file_state(&self, file: FileRow) -> Result<FileState, StoreError> {
        let sql = format!("SELECT {STATE_COLUMNS} FROM files WHERE n = ?1");
        Ok(self.transaction.prepare_cached(&sql)?.query_row([file], file_state)?)
    }

    /// Moves the cursor: in the transaction that stores the rows it covers, and in no other place (D3).
    pub fn set_file_state(&mut self, file: FileRow, state: &FileState) -> Result<(), StoreError> {
        self.transaction
            .prepare_cached(
                "UPDATE files SET offset = ?2, head_len = ?3, head_hash = ?4, tail_len = ?5, tail_hash = ?6, clock_ms = ?7,
                   size = ?8, settled = ?9, private = ?10, gone = 0 WHERE n = ?1",
            )?
            .execute(params![
                file,
                position(state.offset),
                position(state.head_len),
                state.head_hash,
                position(state.tail_len),
                state.tail_hash,
                state.clock_ms,
                position(state.size),
                position(state.settled),
                state.private,
            ])?;
        Ok(())
    }

    /// Forgets what the lines of a file were: it is read again from the start.
    pub fn restart_file(&mut self, file: FileRow) -> Result<(), StoreError> {
        self.transaction.execute(
            "UPDATE line_totals SET lines = lines - (SELECT lines FROM line_counts c
               WHERE c.file = ?1 AND c.class = line_totals.class AND c.kind = line_totals.kind)
             WHERE (class, kind) IN (SELECT class, kind FROM line_counts WHERE file = ?1)",
            [file],
        )?;
        self.transaction.execute("DELETE FROM line_counts WHERE file = ?1", [file])?;
        self.transaction.execute("DELETE FROM silent WHERE file = ?1", [file])?;
        Ok(())
    }

    /// Notes that a file is gone; what was stored of it stays. Returns the state it had.
    pub fn file_gone(&mut self, file: FileRow) -> Result<FileState, StoreError> {
        self.transaction.execute("UPDATE files SET gone = 1, size = settled WHERE n = ?1", [file])?;
        self.file_state(file)
    }

    /// Notes that a range of a file was gone before it was stored. Returns false when that was known already.
    pub fn lost(&mut self, file: FileRow, from: u64, to: u64) -> Result<bool, StoreError> {
        let known = self.kinds(file, LOST)?.into_iter().find(|kind| lost_range(kind).0 == from);
        if let Some(known) = known {
            if lost_range(&known).1.is_some_and(|end| end >= to) {
                return Ok(false);
            }
            // A later event tells that the file had been longer: it is the same range.
            self.count_lines_less(file, LOST, &known)?;
        }
        self.count_lines(file, LOST, &format!("{from:016x}-{to:016x}"), 1)?;
        Ok(true)
    }

    /// Passes a file over: its cursor stays, so that it can be read from there one day, and it is not looked at again until it grows.
    pub fn pass_over(&mut self, path: &Path, why: &str, size: u64) -> Result<(), StoreError> {
        let file = self.file(path)?;
        let mut state = self.file_state(file)?;
        (state.size, state.settled) = (size, size.max(state.offset));
        self.set_file_state(file, &state)?;
        if !self.kinds(file, PASSED)?.iter().any(|kind| kind == why) {
            self.pass_no_more(file)?;
            self.count_lines(file, PASSED, why, 1)?;
        }
        Ok(())
    }

    /// The file is stored again.
    pub fn pass_no_more(&mut self, file: FileRow) -> Result<(), StoreError> {
        self.kinds(file, PASSED)?.iter().try_for_each(|kind| self.count_lines_less(file, PASSED, kind))
    }

    /// Takes what a file's lines of one kind were counted back.
    fn count_lines_less(&mut self, file: FileRow, class: &str, kind: &str) -> Result<(), StoreError> {
        let lines = self.lines(file, class, kind)?;
        self.transaction.execute(
            "UPDATE line_totals SET lines = lines - ?3 WHERE class = ?1 AND kind = ?2",
            params![class, kind, lines],
        )?;
        self.transaction.execute(
            "DELETE FROM line_counts WHERE file = ?1 AND class = ?2 AND kind = ?3",
            params![file, class, kind],
        )?;
        Ok(())
    }

    /// Notes that a file holds records of a session, or held some that were lost.
    pub fn file_holds(&mut self, file: FileRow, session: i64) -> Result<(), StoreError> {
        self.transaction
            .prepare_cached("INSERT OR IGNORE INTO file_sessions (file, session) VALUES (?1, ?2)")?
            .execute([file, session])?;
        Ok(())
    }

    /// Adds to the account of a file's lines.
    pub fn count_lines(
        &mut self,
        file: FileRow,
        class: &str,
        kind: &str,
        lines: u64,
    ) -> Result<(), StoreError> {
        self.transaction
            .prepare_cached(
                "INSERT INTO line_counts (file, class, kind, lines) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET lines = lines + excluded.lines",
            )?
            .execute(params![file, class, kind, position(lines)])?;
        self.transaction
            .prepare_cached(
                "INSERT INTO line_totals (class, kind, lines) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET lines = lines + excluded.lines",
            )?
            .execute(params![class, kind, position(lines)])?;
        Ok(())
    }

    /// How many lines of a file were counted so.
    pub fn lines(&self, file: FileRow, class: &str, kind: &str) -> Result<i64, StoreError> {
        let sql = "SELECT lines FROM line_counts WHERE file = ?1 AND class = ?2 AND kind = ?3";
        let found =
            self.transaction.prepare_cached(sql)?.query_row(params![file, class, kind], |row| row.get(0));
        Ok(found.optional()?.unwrap_or(0))
    }

    /// The kinds under which lines of a file were counted in a class.
    pub fn kinds(&self, file: FileRow, class: &str) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT kind FROM line_counts WHERE file = ?1 AND class = ?2 ORDER BY kind";
        let mut query = self.transaction.prepare_cached(sql)?;
        let kinds = query.query_map(params![file, class], |row| row.get(0))?;
        Ok(kinds.collect::<Result<_, _>>()?)
    }

    /// Keeps size and hash of a record that nobody said.
    pub fn silent(
        &mut self,
        file: FileRow,
        at: u64,
        kind: &str,
        bytes: u64,
        sha256: &str,
    ) -> Result<(), StoreError> {
        self.transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO silent (file, at, kind, bytes, sha256) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![file, position(at), kind, position(bytes), sha256])?;
        Ok(())
    }
}
