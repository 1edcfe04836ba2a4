//! Failures: one document a command and error in a project, with how often it came, and the run that worked afterwards.
//!
//! A row of `runs` is a run of a turn; the rows of a turn are replaced with it. A failure's document is a function of the rows of its key (what was
//! run) over the project's sessions, whatever was read first (D5). It is `superseded` when the command worked later, or failed with another
//! error since; else `current`.

use super::runs::{End, Run};
use super::{Derived, derived_id};
use crate::clock::{self, Millis};
use crate::command;
use crate::id;
use crate::store::body::{Fields, not_ours, unpack};
use crate::store::compact::{self, Id};
use crate::store::failed::{Failure, Fix};
use crate::store::{StoreError, Write};
use rusqlite::{OptionalExtension, params};
use std::collections::{BTreeMap, BTreeSet};

/// Records that a failure names, and sessions that hold its document: the newest.
const NAMED: usize = 8;
/// See [`NAMED`].
const SESSIONS: usize = 50;
/// Files that a fix names.
const FILES: usize = 6;
/// Rows of a key that are looked at: the newest.
const ROWS: i64 = 2_000;
/// Marks that belong to no session.
const NO_SESSION: i64 = 0;

/// A run that did not work.
struct Row {
    time_ms: i64,
    session: i64,
    observation: i64,
    end: i64,
    error: i64,
    stated: String,
    turn: Id,
}

impl Write<'_> {
    /// Brings the runs of a turn in step with what was drawn from it. `session` owns it.
    pub(super) fn keep_runs(&mut self, turn: &str, session: i64, runs: &[Run]) -> Result<(), StoreError> {
        let mut rows = Vec::new();
        for (n, run) in (0_i64..).zip(runs) {
            let key = compact::short_hash(&id::sha256(run.key.as_bytes()));
            let (error, stated) = match run.end {
                End::Well => (None, None),
                _ => {
                    let stated = serde_json::to_string(&(&run.tool, &run.told, &run.error, run.exit));
                    let error = id::sha256(command::plain_error(&run.error).as_bytes());
                    (Some(compact::short_hash(&error)), Some(stated.map_err(|e| not_ours(&e))?))
                }
            };
            rows.push((n, key, run.end as i64, run.time_ms, session, run.observation, error, stated));
        }
        let mut query = self.transaction.prepare_cached(
            "SELECT n, key, end, time_ms, session, observation, error, stated FROM runs WHERE turn = ?1 ORDER BY n",
        )?;
        let known = query.query_map([Id::of(turn)], |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get(3)?,
                row.get(4)?,
                row.get(5)?,
                row.get(6)?,
                row.get(7)?,
            ))
        })?;
        let known: Vec<(i64, i64, i64, i64, i64, i64, Option<i64>, Option<String>)> =
            known.collect::<Result<_, _>>()?;
        drop(query);
        if known == rows {
            return Ok(());
        }
        let mut keys: BTreeSet<i64> =
            known.iter().filter(|row| !rows.contains(row)).map(|row| row.1).collect();
        keys.extend(rows.iter().filter(|row| !known.contains(row)).map(|row| row.1));
        for key in &keys {
            self.failure_is_behind(*key)?;
        }
        self.transaction.prepare_cached("DELETE FROM runs WHERE turn = ?1")?.execute([Id::of(turn)])?;
        let mut insert = self.transaction.prepare_cached(
            "INSERT INTO runs (turn, n, key, end, time_ms, session, observation, error, stated) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        for (n, key, end, time_ms, session, observation, error, stated) in rows {
            insert.execute(params![
                Id::of(turn),
                n,
                key,
                end,
                time_ms,
                session,
                observation,
                error,
                stated
            ])?;
        }
        drop(insert);
        // Those that are new may be the first that failed.
        keys.iter().try_for_each(|key| self.failure_is_behind(*key))
    }

    /// What rests on the runs of a key is behind, if anything does: most commands never fail.
    fn failure_is_behind(&mut self, key: i64) -> Result<(), StoreError> {
        let fails = self
            .transaction
            .prepare_cached("SELECT 1 FROM runs WHERE key = ?1 AND end > 0")?
            .exists([key])?;
        if fails { self.dirty(NO_SESSION, "failure", &key.to_string()) } else { Ok(()) }
    }

    /// Failures that rest on a session's runs are behind: its project is another one.
    pub(in crate::store) fn refail(&mut self, session: i64) -> Result<(), StoreError> {
        self.transaction.execute(
            "INSERT OR IGNORE INTO dirty (session, part, item)
             SELECT 0, 'failure', CAST(r.key AS TEXT) FROM document_sessions s JOIN documents d ON d.n = s.document JOIN runs r ON r.turn = d.id
             WHERE s.session = ?1",
            [session],
        )?;
        Ok(())
    }

    /// Takes away the runs that rest on documents that go, and those of turns that begin with one.
    pub(in crate::store) fn unrun_doomed(&mut self, turns: &[Id]) -> Result<(), StoreError> {
        let mut keys =
            self.numbers("SELECT DISTINCT key FROM runs WHERE observation IN (SELECT n FROM temp.doomed)")?;
        self.transaction.execute("DELETE FROM runs WHERE observation IN (SELECT n FROM temp.doomed)", [])?;
        for turn in turns {
            let mut query =
                self.transaction.prepare_cached("DELETE FROM runs WHERE turn = ?1 RETURNING key")?;
            for key in query.query_map([turn], |row| row.get(0))? {
                keys.insert(key?);
            }
        }
        keys.iter().try_for_each(|key| self.dirty(NO_SESSION, "failure", &key.to_string()))
    }

    /// Takes away all runs of turns that a session owns: who else holds them derives them anew.
    pub(in crate::store) fn unrun_session(&mut self, session: i64) -> Result<(), StoreError> {
        let keys = self.numbers(&format!("SELECT DISTINCT key FROM runs WHERE session = {session}"))?;
        self.transaction.execute("DELETE FROM runs WHERE session = ?1", [session])?;
        keys.iter().try_for_each(|key| self.dirty(NO_SESSION, "failure", &key.to_string()))
    }

    /// Writes the documents of the failures that are behind, and takes away those that are none any more. Returns how many changed.
    pub(super) fn restate_failures(&mut self) -> Result<u64, StoreError> {
        let mut changed = 0;
        let behind =
            self.numbers("SELECT CAST(item AS INTEGER) FROM dirty WHERE session = 0 AND part = 'failure'")?;
        for key in behind {
            let mut known = self.keyed("failure", key)?;
            for (derived, failure) in self.failures_of(key)? {
                known.remove(&Id::of(&derived.id));
                self.transaction
                    .prepare_cached("INSERT OR IGNORE INTO keyed (kind, key, id) VALUES ('failure', ?1, ?2)")?
                    .execute(params![key, Id::of(&derived.id)])?;
                let json = serde_json::to_vec(&failure).map_err(|e| not_ours(&e))?;
                changed += u64::from(self.put_body(&derived, json, failure.text().len(), "")?);
            }
            for id in known {
                self.unkey("failure", key, &id)?;
                changed += 1;
            }
        }
        Ok(changed)
    }

    /// Documents that rest on the rows of a key.
    pub(super) fn keyed(&self, kind: &str, key: i64) -> Result<BTreeSet<Id>, StoreError> {
        let mut query =
            self.transaction.prepare_cached("SELECT id FROM keyed WHERE kind = ?1 AND key = ?2")?;
        let rows = query.query_map(params![kind, key], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Takes away a document that rests on the rows of a key.
    pub(super) fn unkey(&mut self, kind: &str, key: i64, id: &Id) -> Result<(), StoreError> {
        self.transaction
            .prepare_cached("DELETE FROM keyed WHERE kind = ?1 AND key = ?2 AND id = ?3")?
            .execute(params![kind, key, id])?;
        self.take_away(&id.text())
    }

    /// The failures that the rows of a key come to, project by project.
    fn failures_of(&mut self, key: i64) -> Result<Vec<(Derived, Failure)>, StoreError> {
        let mut query = self.transaction.prepare_cached(
            "SELECT s.project, r.time_ms, r.session, r.observation, r.end, r.error, r.stated, r.turn FROM runs r JOIN sessions s ON s.n = r.session
             WHERE r.key = ?1 AND r.end > 0 ORDER BY r.time_ms DESC, r.turn DESC, r.n DESC LIMIT ?2",
        )?;
        let rows = query.query_map(params![key, ROWS], |row| {
            let failed = Row {
                time_ms: row.get(1)?,
                session: row.get(2)?,
                observation: row.get(3)?,
                end: row.get(4)?,
                error: row.get(5)?,
                stated: row.get(6)?,
                turn: row.get(7)?,
            };
            Ok((row.get::<_, String>(0)?, failed))
        })?;
        let mut projects: BTreeMap<String, Vec<Row>> = BTreeMap::new();
        for row in rows {
            let (project, row) = row?;
            projects.entry(project).or_default().push(row);
        }
        drop(query);
        let mut all = Vec::new();
        for (project, rows) in projects {
            // By error, each list the newest first.
            let mut errors: BTreeMap<i64, Vec<&Row>> = BTreeMap::new();
            for row in &rows {
                errors.entry(row.error).or_default().push(row);
            }
            let newest = rows.first().map(|row| row.error);
            for (error, rows) in errors {
                let id = derived_id("f", &[&project, &key.to_string(), &error.to_string()]);
                if let Some(made) = self.failure(id, &project, key, &rows, newest == Some(error))? {
                    all.push(made);
                }
            }
        }
        Ok(all)
    }

    fn failure(
        &mut self,
        id: String,
        project: &str,
        key: i64,
        rows: &[&Row],
        is_newest: bool,
    ) -> Result<Option<(Derived, Failure)>, StoreError> {
        let (Some(last), Some(first)) = (rows.first(), rows.last()) else { return Ok(None) };
        let (tool, command, error, exit): (String, String, String, Option<i64>) =
            serde_json::from_str(&last.stated).map_err(|e| not_ours(&e))?;
        let fixed = self.fix(project, key, last.time_ms)?;
        let mut records = Vec::new();
        for row in rows.iter().take(NAMED) {
            records.extend(self.record_of(row.observation)?);
        }
        let mut sessions: Vec<i64> = Vec::new();
        for row in rows {
            if sessions.len() < SESSIONS && !sessions.contains(&row.session) {
                sessions.push(row.session);
            }
        }
        let status = if fixed.is_some() || !is_newest { "superseded" } else { "current" };
        let failure = Failure {
            tool,
            command: command.clone(),
            error,
            end: End::name(last.end).to_owned(),
            exit,
            count: rows.len() as u64,
            first: clock::format(Millis(first.time_ms)),
            last: clock::format(Millis(last.time_ms)),
            turn: last.turn.text(),
            records,
            fixed,
        };
        let derived = Derived {
            id,
            kind: "failure",
            session: last.session,
            agent: 0,
            time: None,
            time_ms: Some(last.time_ms),
            at_ms: last.time_ms,
            fields: Fields::default(),
            evidence: rows.iter().take(NAMED).map(|row| row.observation).collect(),
            // By this a hook finds it.
            command: Some(command),
            status: Some(status),
            sessions,
        };
        Ok(Some((derived, failure)))
    }

    /// The first run of a key in a project that worked after a time.
    fn fix(&mut self, project: &str, key: i64, after_ms: i64) -> Result<Option<Fix>, StoreError> {
        let mut query = self.transaction.prepare_cached(
            "SELECT r.time_ms, s.id, r.observation, r.turn FROM runs r JOIN sessions s ON s.n = r.session
             WHERE r.key = ?1 AND r.end = 0 AND r.time_ms > ?2 AND s.project = ?3 ORDER BY r.time_ms, r.turn, r.n LIMIT 1",
        )?;
        let found: Option<(i64, String, i64, Id)> = query
            .query_row(params![key, after_ms, project], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .optional()?;
        drop(query);
        let Some((time_ms, session, observation, turn)) = found else { return Ok(None) };
        let body: Option<(i64, Vec<u8>)> = self
            .transaction
            .prepare_cached("SELECT codec, body FROM documents WHERE id = ?1")?
            .query_row([&turn], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let mut files = match body {
            Some((codec, body)) => {
                let fields: Fields =
                    serde_json::from_slice(&unpack(codec, body)?).map_err(|e| not_ours(&e))?;
                fields.files_edited
            }
            None => Vec::new(),
        };
        files.truncate(FILES);
        let record = self.record_of(observation)?.unwrap_or_default();
        Ok(Some(Fix { time: clock::format(Millis(time_ms)), session, record, turn: turn.text(), files }))
    }
}
