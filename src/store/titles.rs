//! The title of a session: a person's before a model's, a model's before a summary's; of two of one kind the later.
//!
//! A summary names a record, not a session, and the file with that record may be read earlier, later or never. So summaries are kept,
//! and a session's is drawn from them whenever one of its records turns out to be named: among those that name it, the one whose record
//! lies last in the session.

use super::compact::Id;
use super::documents::position;
use super::{StoreError, Write};
use crate::ledger::Mark;
use rusqlite::{OptionalExtension, params};

impl Write<'_> {
    /// Sets the title that a record gives (`by_person`, or by a model), read at a place (milliseconds, byte).
    pub fn title(
        &mut self,
        session: i64,
        title: &str,
        by_person: bool,
        place: (i64, u64),
    ) -> Result<(), StoreError> {
        if !self.ledger.is_empty() && self.ledger.holds(&Mark::title(&self.session_id(session)?, title)) {
            return Ok(());
        }
        let given = if by_person { 2 } else { 1 };
        let changed = self.transaction.execute(
            "UPDATE sessions SET title = ?2, title_given = ?3, title_ms = ?4, title_at = ?5
             WHERE n = ?1 AND (title IS NULL OR (title_given, title_ms, title_at, title) < (?3, ?4, ?5, ?2))",
            params![session, title, given, place.0, position(place.1)],
        )?;
        if changed > 0 {
            self.dirty(session, "session", "")?;
        }
        Ok(())
    }

    /// Keeps a summary: the title of the sessions that hold the record `leaf`.
    pub fn summary(&mut self, leaf: &str, title: &str) -> Result<(), StoreError> {
        if self.ledger.holds(&Mark::title(leaf, title)) {
            return Ok(());
        }
        let new = self
            .transaction
            .prepare_cached("INSERT OR IGNORE INTO summaries (leaf, title) VALUES (?1, ?2)")?
            .execute(params![Id::of(leaf), title])?;
        if new == 0 {
            return Ok(());
        }
        for document in self.by_record(leaf)? {
            let mut query =
                self.transaction.prepare_cached("SELECT session FROM links WHERE document = ?1")?;
            let holders: Vec<i64> =
                query.query_map([document], |row| row.get(0))?.collect::<Result<_, _>>()?;
            drop(query);
            for session in holders {
                self.dirty(session, "title", "")?;
            }
        }
        Ok(())
    }

    /// The documents of a record of the host, by its uuid: several where sessions say different things under one.
    pub(super) fn by_record(&self, record: &str) -> Result<Vec<i64>, StoreError> {
        let mut query = self.transaction.prepare_cached(
            "SELECT n FROM documents WHERE substr(record, 1, 5) = substr(?1, 1, 5) AND record = ?1",
        )?;
        let rows = query.query_map([Id::of(record)], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// A session came to hold a record, or holds it at another place: it may be one that a summary names.
    pub(super) fn may_be_named(&mut self, session: i64, record: Option<&str>) -> Result<(), StoreError> {
        let Some(record) = record else { return Ok(()) };
        let named = self
            .transaction
            .prepare_cached("SELECT 1 FROM summaries WHERE leaf = ?1")?
            .exists([Id::of(record)])?;
        if named { self.dirty(session, "title", "") } else { Ok(()) }
    }

    /// Draws a session's title from the summaries, unless it has a better one.
    pub(super) fn name_by_summary(&mut self, session: i64) -> Result<(), StoreError> {
        let title: Option<String> = self
            .transaction
            .prepare_cached(
                "SELECT s.title FROM summaries s
                 CROSS JOIN documents d ON substr(d.record, 1, 5) = substr(s.leaf, 1, 5) AND d.record = s.leaf
                 CROSS JOIN links l ON l.document = d.n AND l.session = ?1
                 ORDER BY l.at_ms DESC, l.at DESC, s.title DESC LIMIT 1",
            )?
            .query_row([session], |row| row.get(0))
            .optional()?;
        self.transaction.execute(
            "UPDATE sessions SET title = ?2 WHERE n = ?1 AND title_given = 0",
            params![session, title],
        )?;
        Ok(())
    }
}
