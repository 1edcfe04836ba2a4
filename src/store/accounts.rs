//! The account of each file: what became of its lines.

use super::StoreError;
use super::read::{Reader, unsigned};
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts by kind.
pub type Kinds = BTreeMap<String, u64>;

/// Classes that count something beside lines: a file passed over, calls and results withheld, what was redacted, ranges lost, zeros beside a record, blocks of unknown types, outputs in files
/// of their own.
const BESIDE: [&str; 7] = ["passed", "withheld", "redacted", "lost", "gap", "unknown-block", "output"];

/// What became of a transcript's lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileAccount {
    /// The file.
    pub path: String,
    /// Its size as seen last, bytes.
    pub size: u64,
    /// How much of it is stored, bytes.
    pub stored: u64,
    /// Its lines: the sum over `by`.
    pub lines: u64,
    /// Lines by class (`said`, `private`, `silent`, `boundary`, `title`, `noise`, `unknown`, `blank`, `odd`) and kind.
    pub by: BTreeMap<String, Kinds>,
    /// What was counted beside the lines.
    pub beside: BTreeMap<String, Kinds>,
}

impl Reader {
    /// Hands out the account of every file ever read, in the order of paths; stops when `take` returns false.
    pub fn each_account(&self, mut take: impl FnMut(FileAccount) -> bool) -> Result<(), StoreError> {
        let mut query = self.connection.prepare(
            "SELECT f.path, f.size, f.settled, c.class, c.kind, c.lines FROM files f
             LEFT JOIN line_counts c ON c.file = f.n AND c.lines > 0 ORDER BY f.path",
        )?;
        let mut rows = query.query([])?;
        let mut account: Option<FileAccount> = None;
        while let Some(row) = rows.next()? {
            let path: String = row.get(0)?;
            if account.as_ref().is_some_and(|known| known.path != path)
                && let Some(done) = account.take()
                && !take(done)
            {
                return Ok(());
            }
            let (size, stored) = (unsigned(row, 1)?, unsigned(row, 2)?);
            let file =
                account.get_or_insert_with(|| FileAccount { path, size, stored, ..FileAccount::default() });
            let Some(class) = row.get::<_, Option<String>>(3)? else { continue };
            let (kind, lines) = (row.get(4)?, unsigned(row, 5)?);
            let beside = BESIDE.contains(&class.as_str());
            file.lines += if beside { 0 } else { lines };
            let place = if beside { &mut file.beside } else { &mut file.by };
            place.entry(class).or_default().insert(kind, lines);
        }
        if let Some(last) = account {
            take(last);
        }
        Ok(())
    }
}
