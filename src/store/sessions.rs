//! Sessions, projects and compaction boundaries.

use super::documents::position;
use super::notes::{OURS, ROOM};
use super::{StoreError, Write};
use crate::config::Project;
use crate::ledger::Mark;
use rusqlite::params;
use serde::{Deserialize, Serialize};

/// A text with the time of the record that says it. Units: milliseconds; extreme for a record without a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Dated {
    /// The time.
    pub ms: i64,
    /// The text.
    pub text: String,
}

impl Dated {
    /// Takes over what is earlier; of two of one time, what sorts first: the order of reading decides nothing.
    pub fn least(known: &mut Option<Self>, ms: i64, text: Option<&str>) {
        let Some(text) = text else { return };
        if known.as_ref().is_none_or(|known| (ms, text) < (known.ms, known.text.as_str())) {
            *known = Some(Self { ms, text: text.to_owned() });
        }
    }

    /// Takes over what is later; of two of one time, what sorts last.
    pub fn most(known: &mut Option<Self>, ms: i64, text: Option<&str>) {
        let Some(text) = text else { return };
        match known {
            Some(known) if known.text == text => known.ms = known.ms.max(ms),
            Some(known) if (ms, text) < (known.ms, known.text.as_str()) => {}
            _ => *known = Some(Self { ms, text: text.to_owned() }),
        }
    }
}

/// What records or an event say about their session; `None` says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFacts {
    /// The host's session id.
    pub id: String,
    /// `claude`.
    pub host: String,
    /// The time of the first record, as the host wrote it.
    pub first: Option<Dated>,
    /// That of the newest.
    pub last: Option<Dated>,
    /// Working directory, the earliest.
    pub cwd: Option<Dated>,
    /// Git branch, the newest.
    pub branch: Option<Dated>,
    /// Client version, the newest.
    pub version: Option<Dated>,
}

/// Who says which project a session belongs to; the later in this order wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claimant {
    /// The folder that keeps its transcript.
    Folder = 1,
    /// An event of the host.
    Event = 2,
    /// Its earliest record.
    Record = 3,
    /// A person.
    Person = 4,
}

impl Claimant {
    /// The one with this number; the weakest for a number that there is not.
    pub(super) fn of(number: i64) -> Self {
        match number {
            4 => Self::Person,
            3 => Self::Record,
            2 => Self::Event,
            _ => Self::Folder,
        }
    }
}

/// A word about the project of a session.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// Whose.
    pub by: Claimant,
    /// Of what time: of two of one kind the earlier wins, of two of a person the later.
    pub ms: i64,
    /// The directory, redacted; of two of one time the one that sorts first wins.
    pub directory: &'a str,
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

impl ProjectRow {
    /// The ids of those that `wanted` names: one of that id, else all of that name.
    pub fn named<'a>(known: &'a [Self], wanted: &str) -> Vec<&'a str> {
        if let Some(project) = known.iter().find(|p| p.id == wanted) {
            return vec![&project.id];
        }
        known.iter().filter(|p| p.name == wanted).map(|p| p.id.as_str()).collect()
    }
}

impl Write<'_> {
    /// Finds or makes a session's row, and takes over what is new. Returns its number; `None` for a session that was forgotten: nothing of
    /// it is stored. Errors: [`StoreError`].
    pub fn session(&mut self, facts: &SessionFacts) -> Result<Option<i64>, StoreError> {
        // Our own rows are not a host's to write into.
        if self.ledger.holds(&Mark::session(&facts.id)) || (facts.host != OURS && facts.id.starts_with(ROOM))
        {
            return Ok(None);
        }
        let mut upsert = self.transaction.prepare_cached(&upsert())?;
        let pair = |dated: &'_ Option<Dated>| dated.as_ref().map(|d| (d.text.clone(), d.ms)).unzip();
        let (first, first_ms): (Option<String>, Option<i64>) = pair(&facts.first);
        let (last, last_ms): (Option<String>, Option<i64>) = pair(&facts.last);
        let (cwd, cwd_ms): (Option<String>, Option<i64>) = pair(&facts.cwd);
        let (branch, branch_ms): (Option<String>, Option<i64>) = pair(&facts.branch);
        let (version, version_ms): (Option<String>, Option<i64>) = pair(&facts.version);
        let n = upsert.query_row(
            params![
                facts.id, facts.host, first, first_ms, last, last_ms, cwd, cwd_ms, branch, branch_ms,
                version, version_ms
            ],
            |row| row.get(0),
        )?;
        Ok(Some(n))
    }

    /// The session's id. Errors: [`StoreError`].
    pub(super) fn session_id(&self, session: i64) -> Result<String, StoreError> {
        let mut query = self.transaction.prepare_cached("SELECT id FROM sessions WHERE n = ?1")?;
        Ok(query.query_row([session], |row| row.get(0))?)
    }

    /// The session's title. Errors: [`StoreError`].
    pub(super) fn session_title(&self, session: i64) -> Result<Option<String>, StoreError> {
        let mut query = self.transaction.prepare_cached("SELECT title FROM sessions WHERE n = ?1")?;
        Ok(query.query_row([session], |row| row.get(0))?)
    }

    /// Would a claim give the session its project? Errors: [`StoreError`].
    pub fn claims(&self, session: i64, claim: Claim<'_>) -> Result<bool, StoreError> {
        let mut query = self
            .transaction
            .prepare_cached("SELECT project, claim, claim_ms, claim_directory FROM sessions WHERE n = ?1")?;
        let wins = query.query_row([session], |row| {
            let (project, by, ms): (String, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let directory: String = row.get(3)?;
            let mine = (claim.ms, claim.directory);
            Ok(project.is_empty()
                || claim.by as i64 > by
                || (claim.by as i64 == by
                    && (claim.by == Claimant::Person || mine < (ms, directory.as_str()))))
        });
        Ok(wins?)
    }

    /// Gives a session its project: one a session, that of the best claim. `directory` goes into the map that hooks look into.
    ///
    /// Call it when [`Write::claims`] says so. What the session owns is indexed again when its project changes.
    pub fn assign_project(
        &mut self,
        session: i64,
        claim: Claim<'_>,
        directory: Option<&str>,
        project: &Project,
    ) -> Result<(), StoreError> {
        let identified = project.id.as_str();
        let project = &self.real_project(project)?;
        self.transaction.execute(
            "INSERT INTO projects (id, name, remote, directory) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
            params![project.id, project.name, project.remote, project.root.to_string_lossy()],
        )?;
        if let Some(directory) = directory {
            self.transaction.execute(
                "INSERT INTO directories (directory, project, mark) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET project = excluded.project, mark = excluded.mark",
                params![directory, project.id, project.mark.as_deref().unwrap_or_default()],
            )?;
        }
        self.transaction.execute(
            "UPDATE sessions SET claim = ?2, claim_ms = ?3, claim_directory = ?4, own_project = ?5 WHERE n = ?1",
            params![session, claim.by as i64, claim.ms, claim.directory, identified],
        )?;
        self.move_session(session, &project.id)
    }

    /// Gives a session another project; what it owns is indexed again.
    pub(super) fn move_session(&mut self, session: i64, project: &str) -> Result<(), StoreError> {
        let was: String =
            self.transaction
                .query_row("SELECT project FROM sessions WHERE n = ?1", [session], |row| row.get(0))?;
        if was == project {
            return Ok(());
        }
        // What rests on its runs is behind under the old project as under the new one.
        self.transaction
            .execute("UPDATE sessions SET project = ?2 WHERE n = ?1", params![session, project])?;
        self.reclaim(session)?;
        self.refail(session)?;
        if was.is_empty() {
            return Ok(());
        }
        self.transaction.execute(
            "DELETE FROM projects WHERE id = ?1 AND id NOT IN (SELECT project FROM sessions)",
            [&was],
        )?;
        let mut query = self.transaction.prepare_cached(
            "SELECT d.n FROM links l JOIN documents d ON d.n = l.document WHERE l.session = ?1 AND d.session = ?1
             UNION SELECT d.n FROM document_sessions l JOIN documents d ON d.n = l.document WHERE l.session = ?1 AND d.session = ?1
             UNION SELECT n FROM documents WHERE session = ?1 AND kind = 6",
        )?;
        let owned: Vec<i64> = query.query_map([session], |row| row.get(0))?.collect::<Result<_, _>>()?;
        drop(query);
        for document in owned {
            let seq = self.next_seq();
            self.transaction
                .prepare_cached("UPDATE documents SET seq = ?2 WHERE n = ?1")?
                .execute([document, seq])?;
        }
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

    /// Notes a compaction boundary: what lies before it makes a checkpoint.
    pub fn boundary(
        &mut self,
        session: i64,
        id: &str,
        at_ms: i64,
        at: u64,
        time: Option<&str>,
    ) -> Result<(), StoreError> {
        // The same boundary can lie in two files of one session: the least place counts, like that of an observation.
        let changed = self
            .transaction
            .prepare_cached(
                "INSERT INTO boundaries (session, id, at_ms, at, time) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO UPDATE SET at_ms = excluded.at_ms, at = excluded.at, time = excluded.time
                 WHERE (excluded.at_ms, excluded.at, coalesce(excluded.time, '')) < (at_ms, at, coalesce(time, ''))",
            )?
            .execute(params![session, id, at_ms, position(at), time])?;
        if changed > 0 {
            self.dirty(session, "checkpoint", id)?;
        }
        Ok(())
    }
}

/// Each fact stands beside its time; the earlier or the later pair is kept, so that the order of reading decides nothing.
fn upsert() -> String {
    let columns = [("started", "<"), ("last", ">"), ("cwd", "<"), ("branch", ">"), ("version", ">")];
    let sets = columns.map(|(name, than)| {
        let wins = format!(
            "excluded.{name}_ms IS NOT NULL AND ({name}_ms IS NULL OR (excluded.{name}_ms, excluded.{name}) {than} ({name}_ms, {name}))"
        );
        format!(
            "{name} = CASE WHEN {wins} THEN excluded.{name} ELSE {name} END,
             {name}_ms = CASE WHEN {wins} THEN excluded.{name}_ms ELSE {name}_ms END"
        )
    });
    format!(
        "INSERT INTO sessions (id, host, started, started_ms, last, last_ms, cwd, cwd_ms, branch, branch_ms, version, version_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
         ON CONFLICT (id) DO UPDATE SET {} RETURNING n",
        sets.join(", ")
    )
}
