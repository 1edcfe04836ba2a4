//! Sessions, projects and compaction boundaries.

use super::documents::position;
use super::{StoreError, Write};
use crate::config::Project;
use rusqlite::{OptionalExtension, params};

/// What a record or an event says about its session; `None` says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFacts {
    /// The host's session id.
    pub id: String,
    /// `claude`.
    pub host: String,
    /// RFC 3339 as the host wrote it.
    pub time: Option<String>,
    /// The same in milliseconds.
    pub time_ms: Option<i64>,
    /// Working directory of the first record.
    pub cwd: Option<String>,
    /// Git branch, the newest.
    pub branch: Option<String>,
    /// Client version, the newest.
    pub version: Option<String>,
}

/// A project as `project list` shows it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ProjectRow {
    /// `<name>-<10 hex>`.
    pub id: String,
    /// The name a person uses.
    pub name: String,
    /// `host/path`, without credentials.
    pub remote: Option<String>,
    /// Where it was seen first.
    pub directory: String,
    /// Its sessions.
    pub sessions: u64,
    /// Time of its newest record.
    pub last: Option<String>,
}

impl Write<'_> {
    /// Finds or makes a session's row, and takes over what is new. Returns its number. Errors: [`StoreError`].
    pub fn session(&mut self, facts: &SessionFacts) -> Result<i64, StoreError> {
        let mut upsert = self.transaction.prepare_cached(
            "INSERT INTO sessions (id, host, started, started_ms, last, last_ms, cwd, branch, version)
             VALUES (?1, ?2, ?3, ?4, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (id) DO UPDATE SET
               started = CASE WHEN started_ms IS NULL OR excluded.started_ms < started_ms THEN excluded.started ELSE started END,
               started_ms = CASE WHEN started_ms IS NULL OR excluded.started_ms < started_ms THEN excluded.started_ms ELSE started_ms END,
               branch = CASE WHEN excluded.branch IS NOT NULL AND (last_ms IS NULL OR excluded.last_ms >= last_ms) THEN excluded.branch ELSE branch END,
               version = CASE WHEN excluded.version IS NOT NULL AND (last_ms IS NULL OR excluded.last_ms >= last_ms) THEN excluded.version ELSE version END,
               last = CASE WHEN last_ms IS NULL OR excluded.last_ms > last_ms THEN excluded.last ELSE last END,
               last_ms = CASE WHEN last_ms IS NULL OR excluded.last_ms > last_ms THEN excluded.last_ms ELSE last_ms END,
               cwd = coalesce(cwd, excluded.cwd)
             RETURNING n",
        )?;
        let n = upsert.query_row(
            params![facts.id, facts.host, facts.time, facts.time_ms, facts.cwd, facts.branch, facts.version],
            |row| row.get(0),
        )?;
        Ok(n)
    }

    /// The session's id. Errors: [`StoreError`].
    pub(super) fn session_id(&self, session: i64) -> Result<String, StoreError> {
        let mut query = self.transaction.prepare_cached("SELECT id FROM sessions WHERE n = ?1")?;
        Ok(query.query_row([session], |row| row.get(0))?)
    }

    /// The project that a session has; `None` as long as it has none.
    pub fn session_project(&self, session: i64) -> Result<Option<String>, StoreError> {
        let mut query =
            self.transaction.prepare_cached("SELECT nullif(project, '') FROM sessions WHERE n = ?1")?;
        Ok(query.query_row([session], |row| row.get(0))?)
    }

    /// Gives a session its project: one a session, the first one seen stays. `directory` goes into the map that hooks look into.
    pub fn assign_project(
        &mut self,
        session: i64,
        directory: Option<&str>,
        project: &Project,
    ) -> Result<(), StoreError> {
        self.transaction.execute(
            "INSERT INTO projects (id, name, remote, directory) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
            params![project.id, project.name, project.remote, project.root.to_string_lossy()],
        )?;
        if let Some(directory) = directory {
            self.transaction.execute(
                "INSERT INTO directories (directory, project) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET project = excluded.project",
                params![directory, project.id],
            )?;
        }
        self.transaction.execute(
            "UPDATE sessions SET project = ?2 WHERE n = ?1 AND project = ''",
            params![session, project.id],
        )?;
        Ok(())
    }

    /// Notes that a session ended, or goes on: a `session-start` takes the end back.
    pub fn session_ended(&mut self, session: i64, end: Option<(&str, &str)>) -> Result<(), StoreError> {
        let (time, reason) = end.unzip();
        self.transaction.execute(
            "UPDATE sessions SET ended = ?2, reason = ?3 WHERE n = ?1",
            params![session, time, reason],
        )?;
        Ok(())
    }

    /// Notes what set off the newest compaction, `manual` or `auto`.
    pub fn session_trigger(&mut self, session: i64, trigger: &str) -> Result<(), StoreError> {
        self.transaction
            .execute("UPDATE sessions SET trigger = ?2 WHERE n = ?1", params![session, trigger])?;
        Ok(())
    }

    /// Sets the title, read at a place (milliseconds, byte); one that a person gave is not replaced by one that was not, and a later one not
    /// by an earlier one.
    pub fn title(
        &mut self,
        session: i64,
        title: &str,
        given: bool,
        place: (i64, u64),
    ) -> Result<(), StoreError> {
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

    /// Notes a compaction boundary: what lies before it makes a checkpoint.
    pub fn boundary(
        &mut self,
        session: i64,
        id: &str,
        at_ms: i64,
        at: u64,
        time: Option<&str>,
    ) -> Result<(), StoreError> {
        let known: Option<i64> = self
            .transaction
            .query_row(
                "SELECT 1 FROM boundaries WHERE session = ?1 AND id = ?2",
                params![session, id],
                |row| row.get(0),
            )
            .optional()?;
        if known.is_none() {
            self.transaction.execute(
                "INSERT INTO boundaries (session, id, at_ms, at, time) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![session, id, at_ms, position(at), time],
            )?;
            self.dirty(session, "checkpoint", id)?;
        }
        Ok(())
    }
}
