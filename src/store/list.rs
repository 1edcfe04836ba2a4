//! Lists for people: sessions, projects, directories, timelines.

use super::StoreError;
use super::document::Document;
use super::read::{Reader, unsigned};
use super::sessions::ProjectRow;
use rusqlite::{OptionalExtension, params};
use serde::Serialize;

/// A session as `sessions` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionRow {
    /// The host's session id.
    pub id: String,
    /// Its project's id.
    pub project: String,
    /// Its title.
    pub title: Option<String>,
    /// Time of its first record.
    pub started: Option<String>,
    /// Time of its end, where the host told it.
    pub ended: Option<String>,
    /// Why it ended.
    pub reason: Option<String>,
    /// Time of its newest record.
    pub last: Option<String>,
    /// Git branch.
    pub branch: Option<String>,
    /// Client version.
    pub version: Option<String>,
    /// Observations linked to it.
    pub observations: u64,
    /// Bytes of its transcripts that are stored.
    pub cursor: u64,
    /// Bytes of its transcripts as seen last.
    pub size: u64,
}

/// What a timeline is taken of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Timeline {
    /// What lies before and after a document.
    Around(String),
    /// What touched a file, a whole path or its end; in a project, or in all.
    File(String, Option<String>),
    /// The newest of a project, or of all.
    Newest(Option<String>),
}

impl Reader {
    /// Sessions, newest first; of one project, or of all.
    pub fn sessions(&self, project: Option<&str>) -> Result<Vec<SessionRow>, StoreError> {
        self.session_rows(project, None)
    }

    /// One session, by its id or by a beginning of it that fits only one.
    pub fn session(&self, id: &str) -> Result<Option<SessionRow>, StoreError> {
        let whole = self.session_id(id)?;
        Ok(self.session_rows(None, Some(whole.as_deref().unwrap_or(id)))?.pop())
    }

    /// The id that a beginning of one stands for; `None` when it fits none, or several.
    pub fn session_id(&self, beginning: &str) -> Result<Option<String>, StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT id FROM sessions WHERE id >= ?1 AND id < ?1 || '~' AND host <> 'sinker' ORDER BY id LIMIT 2",
        )?;
        let found: Vec<String> = query.query_map([beginning], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(match found.as_slice() {
            [first, ..] if first == beginning => Some(first.clone()),
            [only] if beginning.len() >= 4 => Some(only.clone()),
            _ => None,
        })
    }

    fn session_rows(&self, project: Option<&str>, id: Option<&str>) -> Result<Vec<SessionRow>, StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT s.id, s.project, s.title, s.started_ms, s.ended, s.reason, s.last_ms, s.branch, s.version,
               (SELECT count(*) FROM links l WHERE l.session = s.n),
               (SELECT coalesce(sum(f.offset), 0) FROM files f JOIN file_sessions fs ON fs.file = f.n WHERE fs.session = s.n),
               (SELECT coalesce(sum(f.size), 0) FROM files f JOIN file_sessions fs ON fs.file = f.n WHERE fs.session = s.n)
             FROM sessions s WHERE s.host <> 'sinker' AND (?1 IS NULL OR s.project = ?1) AND (?2 IS NULL OR s.id = ?2) ORDER BY s.last_ms DESC, s.id",
        )?;
        let rows = query.query_map([project, id], |row| {
            Ok(SessionRow {
                id: row.get(0)?,
                project: row.get(1)?,
                title: row.get(2)?,
                started: time(row.get(3)?),
                ended: row.get(4)?,
                reason: row.get(5)?,
                last: time(row.get(6)?),
                branch: row.get(7)?,
                version: row.get(8)?,
                observations: unsigned(row, 9)?,
                cursor: unsigned(row, 10)?,
                size: unsigned(row, 11)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many documents a session holds, those it shares included.
    pub fn session_documents(&self, session: &str) -> Result<u64, StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT (SELECT count(*) FROM links WHERE session = s.n) + (SELECT count(*) FROM document_sessions WHERE session = s.n)
             FROM sessions s WHERE s.id = ?1",
        )?;
        Ok(query.query_row([session], |row| unsigned(row, 0)).optional()?.unwrap_or(0))
    }

    /// The number of the turn that a document is, or that an observation lies in: prompts of its session up to it, 0 before the first one. `None` for
    /// what belongs to no one turn.
    pub fn turn_number(&self, id: &str) -> Result<Option<u64>, StoreError> {
        let place: Option<(i64, i64, i64)> = self
            .connection
            .prepare_cached(
                "SELECT l.session, l.at_ms, l.at FROM documents d JOIN links l ON l.document = d.n AND l.session = d.session
                 WHERE d.id = ?1 AND l.agent = 0
                 UNION ALL SELECT session, at, 9223372036854775807 FROM documents WHERE id = ?1 AND kind = 1 AND agent = 0",
            )?
            .query_row([super::compact::Id::of(id)], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((session, at_ms, at)) = place else { return Ok(None) };
        let mut query = self.connection.prepare_cached(
            "SELECT count(*) FROM links WHERE session = ?1 AND is_prompt = 1 AND agent = 0 AND (at_ms, at) <= (?2, ?3)",
        )?;
        Ok(Some(query.query_row(params![session, at_ms, at], |row| unsigned(row, 0))?))
    }

    /// Projects, the one used last first.
    pub fn projects(&self) -> Result<Vec<ProjectRow>, StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT p.id, p.name, p.remote, p.directory, count(s.n), max(s.last_ms) FROM projects p
             LEFT JOIN sessions s ON s.project = p.id AND s.host <> 'sinker' GROUP BY p.id ORDER BY max(s.last_ms) DESC, p.id",
        )?;
        let rows = query.query_map([], |row| {
            Ok(ProjectRow {
                id: row.get(0)?,
                name: row.get(1)?,
                remote: row.get(2)?,
                directory: row.get(3)?,
                sessions: unsigned(row, 4)?,
                last: time(row.get(5)?),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Directory and project id of every directory seen.
    pub fn directories(&self) -> Result<Vec<(String, String)>, StoreError> {
        let mut query = self
            .connection
            .prepare_cached("SELECT directory, project FROM directories ORDER BY directory")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Files of a project whose size, as seen last, lies beyond the cursor, and the bytes beyond it.
    pub fn behind_in(&self, project: &str) -> Result<(u64, u64), StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT count(*), coalesce(sum(f.size - f.settled), 0) FROM files f WHERE f.size > f.settled AND f.gone = 0
               AND EXISTS (SELECT 1 FROM file_sessions fs JOIN sessions s ON s.n = fs.session WHERE fs.file = f.n AND s.project = ?1)",
        )?;
        Ok(query.query_row([project], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)))?)
    }

    /// From now on a lock that another process holds, as it does while it repairs a journal, fails this reader after `limit`.
    pub fn wait_at_most(&self, limit: std::time::Duration) -> Result<(), StoreError> {
        Ok(self.connection.busy_timeout(limit)?)
    }

    /// The newest outcomes and notes up to a time, newest first.
    fn newest(&self, project: Option<&str>, upto_ms: i64, limit: i64) -> Result<Vec<Document>, StoreError> {
        let mut found = Vec::new();
        // Each kind has an index of its own.
        for kind in ["1", "6"] {
            let filter = format!(
                "d.kind = {kind} AND (?1 IS NULL OR s.project = ?1) AND d.time_ms <= ?2 ORDER BY d.time_ms DESC, d.seq DESC LIMIT ?3"
            );
            found.extend(self.documents(&filter, params![project, upto_ms, limit])?);
        }
        found.sort_by_key(|d| std::cmp::Reverse((d.time_ms, d.row.seq)));
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    }

    /// What was done, and noted, in a project before and after a note of it.
    fn around_note(
        &self,
        project: &str,
        ms: i64,
        (before, after): (i64, i64),
    ) -> Result<Vec<Document>, StoreError> {
        let mut later = Vec::new();
        for kind in ["1", "6"] {
            let filter = format!(
                "d.kind = {kind} AND s.project = ?1 AND d.time_ms > ?2 ORDER BY d.time_ms, d.seq LIMIT ?3"
            );
            later.extend(self.documents(&filter, params![project, ms, after])?);
        }
        later.sort_by_key(|d| (d.time_ms, d.row.seq));
        later.truncate(usize::try_from(after).unwrap_or(usize::MAX));
        let mut found = self.newest(Some(project), ms, before)?;
        found.reverse();
        found.extend(later);
        Ok(found)
    }

    /// A timeline, oldest first, at most `limit` documents. Empty when what it is taken of is not known.
    pub fn timeline(&self, of: &Timeline, limit: usize) -> Result<Vec<Document>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut found = match of {
            Timeline::Around(id) => {
                let Some(document) = self.document(id)? else { return Ok(Vec::new()) };
                let (session, ms) = (document.row.session, document.time_ms.unwrap_or(0));
                let half = limit / 2;
                if document.sessions.is_empty() {
                    return self.around_note(&document.row.project, ms, (limit - half, half));
                }
                let mut before = self.documents(
                    "d.n IN (SELECT document FROM links WHERE session = (SELECT n FROM sessions WHERE id = ?1)) AND d.time_ms <= ?2 ORDER BY d.time_ms DESC, d.seq DESC LIMIT ?3",
                    params![session, ms, limit - half],
                )?;
                let after = self.documents(
                    "d.n IN (SELECT document FROM links WHERE session = (SELECT n FROM sessions WHERE id = ?1)) AND d.time_ms > ?2 ORDER BY d.time_ms, d.seq LIMIT ?3",
                    params![session, ms, half],
                )?;
                before.reverse();
                before.extend(after);
                return Ok(before);
            }
            Timeline::File(path, project) => {
                // A path, or the end of one behind a `/`: like a person names a file.
                let tail = format!(
                    "%/{}",
                    path.trim_start_matches("./")
                        .replace('\\', "\\\\")
                        .replace('%', "\\%")
                        .replace('_', "\\_")
                );
                self.documents(
                    "d.n IN (SELECT t.document FROM touches t JOIN paths p ON p.n = t.path WHERE p.path = ?1 OR p.path LIKE ?2 ESCAPE '\\')
                     AND (?4 IS NULL OR s.project = ?4) ORDER BY d.time_ms DESC, d.seq DESC LIMIT ?3",
                    params![path, tail, limit, project],
                )?
            }
            Timeline::Newest(project) => self.newest(project.as_deref(), i64::MAX, limit)?,
        };
        found.reverse();
        Ok(found)
    }
}

fn time(ms: Option<i64>) -> Option<String> {
    ms.map(|ms| crate::clock::format(crate::clock::Millis(ms)))
}
