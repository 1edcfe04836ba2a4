//! Derived documents: functions of stored observations, never of a slice or an event, replaced in place (D5).
//!
//! | part | id | from |
//! |---|---|---|
//! | turn | `t-` hash of its prompt | the main line from one prompt to the next: one outcome |
//! | agent | `a-` hash of session and agent | a subagent's run: one outcome in its parent's session |
//! | failure | `f-` hash of project, what was run and error | the runs of turns, compared over the project |
//! | claim | `k-` hash of turn, record and sentence | what user and assistant stated in a turn, compared over the project |
//! | checkpoint | `c-` hash of session and boundary | the turns before a compaction boundary |
//! | work | `w-` hash of session and item | the host's lists of things to do in a session |
//! | session | `s-`, `p-` hash of session | the session's summary, and its profile |
//!
//! `dirty` names what is behind; a transaction that adds observations marks, a later one derives and clears. A process that dies in
//! between leaves the marks, and the next drainer begins with them.

pub(super) mod claims;
mod extract;
mod failures;
mod outcome;
mod runs;
mod sentences;
mod sort;
mod summary;
mod todos;

use super::body::{Fields, not_ours, pack};
use super::compact::{self, Id};
use super::documents::position;
use super::{StoreError, Write};
use crate::id;
use rusqlite::{OptionalExtension, params};

/// Splits a text into the terms of the index, handing each to the callback; given by the caller, since the store knows no index.
pub type Terms<'a> = &'a mut dyn FnMut(&str, &mut dyn FnMut(String));

/// A derived document before it is written.
struct Derived {
    id: String,
    kind: &'static str,
    session: i64,
    agent: i64,
    time: Option<String>,
    time_ms: Option<i64>,
    /// Its place in the order of the session.
    at_ms: i64,
    fields: Fields,
    evidence: Vec<i64>,
    /// The slash command that the turn began with.
    command: Option<String>,
    /// `superseded` for what was taken back.
    status: Option<&'static str>,
    /// All sessions that hold it; the owner among them.
    sessions: Vec<i64>,
}

impl Write<'_> {
    /// Derives everything that is behind. Returns how many documents changed. Errors: [`StoreError`].
    pub fn derive(&mut self, terms: Terms<'_>) -> Result<u64, StoreError> {
        let mut changed = 0;
        // What was taken back is known from the prompts; it says which outcomes are behind.
        for session in self.sessions_behind()? {
            self.mark_rewound(session)?;
        }
        let mut turns = Vec::new();
        for (session, part, item) in self.behind()? {
            let derived = match part.as_str() {
                "turn" => {
                    let turn = outcome::turn(self, session, &item, terms)?;
                    if let Some(id) = turn.id {
                        let owner = turn.derived.as_ref().map_or(session, |d| d.session);
                        turns.push((id, owner, turn.claims, turn.runs));
                    }
                    turn.derived
                }
                "agent" => {
                    let (id, derived, runs) = outcome::agent(self, session, &item)?;
                    turns.push((id, session, Vec::new(), runs));
                    derived
                }
                "title" => {
                    self.name_by_summary(session)?;
                    continue;
                }
                _ => continue,
            };
            if let Some(derived) = derived
                && self.put(&derived, "")?
            {
                changed += 1;
                // A fork shares the turn: what rests on it there is behind as well.
                for session in &derived.sessions {
                    self.dirty(*session, "session", "")?;
                }
            }
            for (turn, owner, claims, runs) in turns.drain(..) {
                self.claim(&turn, owner, &claims)?;
                self.keep_runs(&turn, owner, &runs)?;
            }
        }
        // Sessions and checkpoints rest on turns, so they come after them.
        for session in self.sessions_behind()? {
            let turns = summary::turns(self, session)?;
            for boundary in summary::boundaries(self, session)? {
                let derived = summary::checkpoint(self, session, &boundary, &turns)?;
                changed += u64::from(self.put(&derived, "")?);
            }
            // The index holds the title beside them.
            let title = self.session_title(session)?.unwrap_or_default();
            if let Some(derived) = summary::session_summary(self, session, &turns)? {
                changed += u64::from(self.put(&derived, &title)?);
            }
            changed += summary::work(self, session, &turns)?;
            let profile = self.profile(session, terms)?;
            let derived = summary::profile(self, session, &turns)?;
            changed += u64::from(self.put(&derived, &profile)?);
        }
        changed += self.restate_claims()?;
        changed += self.restate_failures()?;
        self.transaction.execute("DELETE FROM dirty", [])?;
        Ok(changed)
    }

    /// True when a drainer died between storing and deriving.
    pub fn is_behind(&self) -> Result<bool, StoreError> {
        Ok(self.transaction.prepare_cached("SELECT 1 FROM dirty")?.exists([])?)
    }

    fn behind(&self) -> Result<Vec<(i64, String, String)>, StoreError> {
        let mut query = self.transaction.prepare_cached(
            "SELECT session, part, item FROM dirty WHERE session <> 0 ORDER BY session, part, item",
        )?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn sessions_behind(&self) -> Result<Vec<i64>, StoreError> {
        let mut query = self
            .transaction
            .prepare_cached("SELECT DISTINCT session FROM dirty WHERE session <> 0 ORDER BY session")?;
        let rows = query.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Writes a derived document unless it is there already, word for word; `beside` is what belongs to it but lies in another table. Returns
    /// whether it changed.
    fn put(&mut self, derived: &Derived, beside: &str) -> Result<bool, StoreError> {
        let json = serde_json::to_vec(&derived.fields).map_err(|e| not_ours(&e))?;
        let changed = self.put_body(derived, json, derived.fields.text().len(), beside)?;
        if changed && derived.kind == "outcome" {
            self.names(derived)?;
        }
        Ok(changed)
    }

    /// Notes the files that the commands of a turn named: a timeline of a file has them.
    fn names(&mut self, derived: &Derived) -> Result<(), StoreError> {
        let n: i64 = self
            .transaction
            .prepare_cached("SELECT n FROM documents WHERE id = ?1")?
            .query_row([Id::of(&derived.id)], |row| row.get(0))?;
        self.transaction.prepare_cached("DELETE FROM touches WHERE document = ?1")?.execute([n])?;
        for path in &derived.fields.files_named {
            let path = self.path(path)?;
            self.transaction
                .prepare_cached(
                    "INSERT OR IGNORE INTO touches (document, path, action) VALUES (?1, ?2, 'run')",
                )?
                .execute([n, path])?;
        }
        Ok(())
    }

    /// The same for a body of another shape than six fields.
    fn put_body(
        &mut self,
        derived: &Derived,
        json: Vec<u8>,
        text_bytes: usize,
        beside: &str,
    ) -> Result<bool, StoreError> {
        let mut sessions = derived.sessions.clone();
        sessions.sort_unstable();
        let listed: Vec<String> = sessions.iter().map(i64::to_string).collect();
        let time = derived.time.clone().unwrap_or_default();
        // What the row holds beside its body belongs to its identity: a change in any of it is a change of the document.
        let listed = listed.join(",");
        let (session, at_ms) = (derived.session.to_le_bytes(), derived.at_ms.to_le_bytes());
        let mut parts: Vec<&[u8]> =
            vec![&json, beside.as_bytes(), time.as_bytes(), listed.as_bytes(), &session, &at_ms];
        // Left out where there is none, as in the rows of a store that knew no status.
        parts.extend(derived.status.map(str::as_bytes));
        let command = derived.command.as_ref().map(|name| format!("/{name}"));
        parts.extend(command.as_ref().map(|name| name.as_bytes()));
        let hash = id::hash(&parts);
        let content = compact::short_hash(&hash);
        let known: Option<(i64, i64)> = self
            .transaction
            .prepare_cached("SELECT n, content FROM documents WHERE id = ?1")?
            .query_row([Id::of(&derived.id)], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if known.as_ref().is_some_and(|(_, known)| *known == content) {
            return Ok(false);
        }
        let bytes = position(text_bytes as u64);
        let (codec, body) = pack(json);
        let seq = self.next_seq();
        let n = match known {
            Some((n, _)) => {
                self.transaction
                    .prepare_cached(
                        "UPDATE documents SET seq = ?2, session = ?3, time = ?4, time_ms = ?5, content = ?6,
                           bytes = ?7, codec = ?8, body = ?9, at = ?10, status = ?11, command = ?12 WHERE n = ?1",
                    )?
                    .execute(params![
                        n,
                        seq,
                        derived.session,
                        compact::spelled(derived.time.as_deref(), derived.time_ms),
                        derived.time_ms,
                        content,
                        bytes,
                        codec,
                        body,
                        derived.at_ms,
                        derived.status,
                        derived.command,
                    ])?;
                n
            }
            None => {
                self.transaction
                    .prepare_cached(
                        "INSERT INTO documents (id, seq, kind, session, agent, time, time_ms, content, bytes, codec, body, at, status, command)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                    )?
                    .execute(params![
                        Id::of(&derived.id),
                        seq,
                        compact::kind(derived.kind),
                        derived.session,
                        derived.agent,
                        compact::spelled(derived.time.as_deref(), derived.time_ms),
                        derived.time_ms,
                        content,
                        bytes,
                        codec,
                        body,
                        derived.at_ms,
                        derived.status,
                        derived.command,
                    ])?;
                self.added.documents += 1;
                self.added.turns += i64::from(derived.kind == "outcome");
                self.transaction.last_insert_rowid()
            }
        };
        self.transaction.prepare_cached("DELETE FROM evidence WHERE document = ?1")?.execute([n])?;
        let mut insert = self
            .transaction
            .prepare_cached("INSERT OR IGNORE INTO evidence (document, observation) VALUES (?1, ?2)")?;
        for observation in &derived.evidence {
            insert.execute([n, *observation])?;
        }
        drop(insert);
        self.transaction.prepare_cached("DELETE FROM document_sessions WHERE document = ?1")?.execute([n])?;
        let mut insert = self
            .transaction
            .prepare_cached("INSERT INTO document_sessions (document, session) VALUES (?1, ?2)")?;
        for session in &sessions {
            insert.execute([n, *session])?;
        }
        Ok(true)
    }

    /// Takes a derived document away; what rested on it is told by `removed`.
    pub(super) fn take_away(&mut self, id: &str) -> Result<(), StoreError> {
        let known: Option<(i64, i64)> = self
            .transaction
            .query_row("SELECT n, kind FROM documents WHERE id = ?1", [Id::of(id)], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let Some((n, kind)) = known else { return Ok(()) };
        self.added.documents -= 1;
        self.added.turns -= i64::from(kind == compact::OUTCOME);
        self.transaction.execute("DELETE FROM evidence WHERE document = ?1", [n])?;
        let paths = self.numbers(&format!("SELECT path FROM touches WHERE document = {n}"))?;
        self.transaction.execute("DELETE FROM touches WHERE document = ?1", [n])?;
        self.drop_paths(&paths)?;
        self.transaction.execute("DELETE FROM document_sessions WHERE document = ?1", [n])?;
        self.transaction.execute("DELETE FROM documents WHERE n = ?1", [n])?;
        let seq = self.next_seq();
        self.transaction
            .execute("INSERT INTO removed (seq, id) VALUES (?1, ?2)", params![seq, Id::of(id)])?;
        Ok(())
    }
}

fn derived_id(letter: &str, parts: &[&str]) -> String {
    let parts: Vec<&[u8]> = parts.iter().map(|p| p.as_bytes()).collect();
    format!("{letter}-{}", id::short(&id::hash(&parts), 32))
}
