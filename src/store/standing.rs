//! How much of a session is stored and can be found: one answer for the command, the tool and whoever asks next.

use super::StoreError;
use super::cursors::{LOST, lost_range};
use super::read::Reader;
use super::transcripts::transcripts_beside;
use std::path::PathBuf;

/// How much of a session can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// All of it.
    Stored,
    /// Something is still to be done.
    Behind(Wait),
    /// Its host keeps no transcript, or nothing was said: there is nothing to store.
    Unwritten,
    /// These ranges were gone before anybody read them; the rest is stored. Waiting does not help.
    Lost(Vec<LostRange>),
}

/// What a session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Nothing is known of it.
    Unknown,
    /// It has begun; its words are still to come.
    Words,
    /// An event of it is in the spool.
    Spool,
    /// So many bytes of its transcripts are not stored.
    Bytes(u64),
    /// It is stored, and the index is behind the store.
    Index,
}

/// A range of a transcript that was gone before it was stored. Units: bytes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LostRange {
    /// The file.
    pub path: String,
    /// Stored up to here.
    pub from: u64,
    /// Where it ended, as far as anybody was told; `None` for one of an older store.
    pub to: Option<u64>,
}

impl Reader {
    /// The standing of a session, by its whole id.
    ///
    /// `waits`: something of it was in the spool; that is looked at before this is called, for what is not in the spool any more is in
    /// the store. `published`: the sequence of the published index. Errors: [`StoreError`].
    pub fn standing(&self, session: &str, waits: bool, published: u64) -> Result<Standing, StoreError> {
        let Some(row) = self.session(session)?.filter(|row| row.id == session) else {
            return Ok(Standing::Behind(if waits { Wait::Spool } else { Wait::Unknown }));
        };
        if waits {
            return Ok(Standing::Behind(Wait::Spool));
        }
        let files = self.session_files(session)?;
        let lost = self.lost(session)?;
        let there = |path: &PathBuf| path.symlink_metadata().is_ok();
        if !files.iter().any(there) && row.observations == 0 && lost.is_empty() {
            // Of a session that has only begun the words are still to come. One that has ended without a file, or went on without, has none.
            let over = row.ended.is_some() || !files.is_empty();
            return Ok(if over { Standing::Unwritten } else { Standing::Behind(Wait::Words) });
        }
        // Its subagents' files, too, also those that nobody has looked into yet.
        let beside: Vec<PathBuf> = files.iter().flat_map(|path| transcripts_beside(path)).collect();
        let mut unread = 0;
        for path in files.iter().chain(&beside) {
            let size = path.symlink_metadata().map_or(0, |m| m.len());
            let settled = self.file(path)?.map_or(0, |state| state.settled);
            unread += size.saturating_sub(settled);
        }
        Ok(if unread > 0 {
            Standing::Behind(Wait::Bytes(unread))
        } else if files.is_empty() {
            Standing::Behind(Wait::Words)
        } else if published < self.seq()? {
            Standing::Behind(Wait::Index)
        } else if lost.is_empty() {
            Standing::Stored
        } else {
            Standing::Lost(lost)
        })
    }

    /// Ranges of a session's files that were gone before they were stored, and have not come back.
    fn lost(&self, session: &str) -> Result<Vec<LostRange>, StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT f.path, c.kind, f.settled FROM sessions s JOIN file_sessions fs ON fs.session = s.n JOIN files f ON f.n = fs.file
             JOIN line_counts c ON c.file = f.n AND c.class = ?2 AND c.lines > 0 WHERE s.id = ?1 ORDER BY f.path, c.kind",
        )?;
        let rows = query.query_map([session, LOST], |row| {
            let kind: String = row.get(1)?;
            let (from, to) = lost_range(&kind);
            let settled = u64::try_from(row.get::<_, i64>(2)?).unwrap_or(0);
            Ok((LostRange { path: row.get(0)?, from, to }, settled))
        })?;
        let rows: Vec<(LostRange, u64)> = rows.collect::<Result<_, _>>()?;
        let is_lost = |range: &LostRange, settled| range.to.unwrap_or(range.from + 1) > settled;
        Ok(rows
            .into_iter()
            .filter(|(range, settled)| is_lost(range, *settled))
            .map(|(range, _)| range)
            .collect())
    }
}
