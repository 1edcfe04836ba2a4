//! What a store holds as records that another store can take in, to the same ids: what was said and noted, and what is known of sessions.
//!
//! Derived documents are not among them: they are derived again (D5). Neither is how far transcripts were read: those are files of one
//! machine. A record can be taken in any number of times (D4), and what was forgotten here stays so (D12).

mod record;

use super::body::{Beside, body_of, not_ours, whole_of};
use super::compact::{self, Id};
use super::derive::Terms;
use super::documents::{Observation, position};
use super::notes::{Note, OURS, Revision};
use super::outputs::Output;
use super::packs::Place;
use super::profile::telling;
use super::salvage::{OldSession, SESSION_COLUMNS, old_session};
use super::{Change, Reader, StoreError, Write};
use crate::config::Project;
use crate::id;
use crate::ledger::Mark;
use rusqlite::{OptionalExtension, params};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub use record::Portable;
use record::{Kept, Link, Older, Said, Whole};

/// What of a store is wanted; all that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// Of this project.
    pub project: Option<String>,
    /// Of this session.
    pub session: Option<String>,
    /// Not older. Units: milliseconds.
    pub since_ms: Option<i64>,
}

/// Rows looked at in one go.
const CHUNK: i64 = 500;

impl Portable {
    /// Names it in a message.
    pub fn name(&self) -> &str {
        match self {
            Self::Session(session) => &session.facts.id,
            Self::Summary { leaf, .. } => leaf,
            Self::Boundary { id, .. } => id,
            Self::Observation(said) => &said.id,
            Self::Note(kept) => &kept.note.id,
        }
    }
}

impl Reader {
    /// From now on this reader sees the store as it is now. Errors: [`StoreError`].
    pub fn hold(&self) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch("BEGIN")?)
    }

    /// Hands out a part of the store, record by record, in an order in which it can be taken in. Errors: [`StoreError`], or what `take` says.
    pub fn portable<E: From<StoreError>>(
        &self,
        part: &Part,
        take: &mut dyn FnMut(Portable) -> Result<(), E>,
    ) -> Result<(), E> {
        let (sessions, rooms) = self.parted(part)?;
        for session in sessions.values() {
            take(Portable::Session(Box::new(session.clone())))?;
        }
        for record in self.beside_records(&sessions)? {
            take(record)?;
        }
        let last: i64 = self
            .connection
            .query_row("SELECT coalesce(max(n), 0) FROM documents", [], |row| row.get(0))
            .map_err(StoreError::from)?;
        let since = part.since_ms.unwrap_or(i64::MIN);
        let mut after = 0;
        while after < last {
            let upto = after.saturating_add(CHUNK);
            for said in self.said(after, upto, &sessions, since)? {
                take(Portable::Observation(Box::new(said)))?;
            }
            for (room, note, older) in self.whole_notes(after, upto)? {
                let Some(project) = rooms.get(&room).filter(|_| note.at_ms >= since) else { continue };
                let older = older.into_iter().map(|r| (r.at_ms, r.text)).collect();
                let note = Note { project: Some(project.clone()), ..note };
                take(Portable::Note(Box::new(Kept { note, older })))?;
            }
            after = upto;
        }
        Ok(())
    }

    /// The sessions of a part, and the rooms of notes.
    #[allow(clippy::type_complexity, reason = "two maps by row")]
    fn parted(&self, part: &Part) -> Result<(BTreeMap<i64, OldSession>, BTreeMap<i64, Project>), StoreError> {
        let mut query = self.connection.prepare(&format!(
            "SELECT {SESSION_COLUMNS} FROM sessions s LEFT JOIN projects p ON p.id = s.project ORDER BY s.n"
        ))?;
        let mut rows = query.query([])?;
        let (mut sessions, mut rooms) = (BTreeMap::new(), BTreeMap::new());
        while let Some(row) = rows.next()? {
            let session = old_session(row)?;
            let project = session.project.as_ref().map(|p| p.id.as_str());
            if part.project.is_some() && part.project.as_deref() != project {
                continue;
            }
            if session.facts.host == OURS {
                if part.session.is_none() {
                    rooms.extend(session.project.clone().map(|project| (session.n, project)));
                }
                continue;
            }
            let is_old =
                session.facts.last.as_ref().is_some_and(|last| part.since_ms.is_some_and(|t| last.ms < t));
            if !is_old && part.session.as_ref().is_none_or(|id| *id == session.facts.id) {
                sessions.insert(session.n, session);
            }
        }
        Ok((sessions, rooms))
    }

    fn beside_records(&self, sessions: &BTreeMap<i64, OldSession>) -> Result<Vec<Portable>, StoreError> {
        let mut all = Vec::new();
        let mut query = self.connection.prepare(
            "SELECT s.leaf, s.title, l.session FROM summaries s
             JOIN documents d ON substr(d.record, 1, 5) = substr(s.leaf, 1, 5) AND d.record = s.leaf JOIN links l ON l.document = d.n",
        )?;
        let mut rows = query.query([])?;
        let mut seen = BTreeSet::new();
        while let Some(row) = rows.next()? {
            let (leaf, title): (Id, String) = (row.get(0)?, row.get(1)?);
            if sessions.contains_key(&row.get(2)?) && seen.insert((leaf.clone(), title.clone())) {
                all.push(Portable::Summary { leaf: leaf.text(), title });
            }
        }
        let mut query = self
            .connection
            .prepare("SELECT session, id, at_ms, at, time FROM boundaries ORDER BY session, at_ms, at")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let Some(session) = sessions.get(&row.get(0)?) else { continue };
            all.push(Portable::Boundary {
                session: session.facts.id.clone(),
                id: row.get(1)?,
                at_ms: row.get(2)?,
                at: super::read::unsigned(row, 3)?,
                time: row.get(4)?,
            });
        }
        Ok(all)
    }

    fn said(
        &self,
        after: i64,
        upto: i64,
        sessions: &BTreeMap<i64, OldSession>,
        since: i64,
    ) -> Result<Vec<Said>, StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT n, id, speaker, time, time_ms, record, scored, command, content, pack, start, length, at
             FROM documents WHERE n > ?1 AND n <= ?2 AND kind = ?3 ORDER BY n",
        )?;
        let mut rows = query.query(params![after, upto, compact::OBSERVATION])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let n: i64 = row.get(0)?;
            let links = self.links(n, sessions)?;
            let time_ms: Option<i64> = row.get(4)?;
            if links.is_empty() || time_ms.is_some_and(|ms| ms < since) {
                continue;
            }
            let own = self.stored_observation(row)?;
            found.push(Said {
                id: own.id,
                speaker: own.speaker.to_owned(),
                time: own.time,
                time_ms,
                record: own.record,
                parent: own.parent,
                message: own.message,
                model: own.model,
                prompt: own.prompt,
                scored: own.scored,
                command: own.command,
                at: row.get(12)?,
                blocks: own.blocks,
                links,
                revisions: self.older(n)?,
                outputs: self.whole_outputs(n)?,
            });
        }
        Ok(found)
    }

    fn links(&self, n: i64, sessions: &BTreeMap<i64, OldSession>) -> Result<Vec<Link>, StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT l.session, a.name, l.at_ms, l.at, l.is_prompt, f.parent FROM links l JOIN agents a ON a.n = l.agent
             LEFT JOIN follows f ON f.session = l.session AND f.document = l.document WHERE l.document = ?1 ORDER BY l.session",
        )?;
        let mut rows = query.query([n])?;
        let mut links = Vec::new();
        while let Some(row) = rows.next()? {
            let Some(session) = sessions.get(&row.get(0)?) else { continue };
            links.push(Link {
                session: session.facts.id.clone(),
                host: session.facts.host.clone(),
                agent: row.get(1)?,
                at_ms: row.get(2)?,
                at: super::read::unsigned(row, 3)?,
                is_prompt: row.get(4)?,
                follows: row.get(5)?,
            });
        }
        Ok(links)
    }

    fn older(&self, n: i64) -> Result<Vec<Older>, StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT at, pack, start, length FROM revisions WHERE document = ?1 ORDER BY at, content",
        )?;
        let mut rows = query.query([n])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let body = self.packs.body(&self.connection, Place::read(row, 1)?)?;
            let (blocks, Beside { parent, message, prompt, args, .. }) = whole_of(&body)?;
            let own = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
            all.push(Older {
                at: row.get(0)?,
                blocks,
                parent: own(parent),
                message: own(message),
                prompt: own(prompt),
                args: own(args),
            });
        }
        Ok(all)
    }

    fn whole_outputs(&self, n: i64) -> Result<Vec<Whole>, StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT call, bytes, sha256, pack, start, length FROM outputs WHERE document = ?1 ORDER BY call",
        )?;
        let mut rows = query.query([n])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let body = self.packs.body(&self.connection, Place::read(row, 3)?)?;
            let text = String::from_utf8(body).map_err(|e| StoreError::Body(e.to_string()))?;
            all.push(Whole {
                call: row.get(0)?,
                text,
                bytes: super::read::unsigned(row, 1)?,
                sha256: row.get(2)?,
            });
        }
        Ok(all)
    }
}

impl Write<'_> {
    /// Takes a redacted record in. Returns how many rows it was; 0 for one that cannot be used. Errors: [`StoreError`].
    pub fn take_in(&mut self, record: Portable, terms: Terms<'_>) -> Result<usize, StoreError> {
        if !record.is_sound() {
            return Ok(0);
        }
        Ok(match record {
            Portable::Session(session) if session.facts.host == OURS => 0,
            Portable::Session(session) => {
                self.old_session(&session)?;
                1
            }
            Portable::Summary { leaf, title } => {
                self.summary(&leaf, &title)?;
                1
            }
            Portable::Boundary { session, id, at_ms, at, time } => {
                let Some(session) = self.session_row(&session)? else {
                    return Ok(usize::from(self.ledger.holds(&Mark::session(&session))));
                };
                self.boundary(session, &id, at_ms, at, time.as_deref())?;
                1
            }
            Portable::Observation(said) => self.take_in_said(*said, terms)?,
            Portable::Note(kept) => {
                let Kept { note, older } = *kept;
                let Some(project) = note.project.as_ref() else { return Ok(0) };
                let room = self.room(project)?;
                let older: Vec<Revision> =
                    older.into_iter().map(|(at_ms, text)| Revision { at_ms, text }).collect();
                let rows = 1 + older.len();
                self.whole_note(room, &note, older)?;
                rows
            }
        })
    }

    fn session_row(&self, id: &str) -> Result<Option<i64>, StoreError> {
        let mut query =
            self.transaction.prepare_cached("SELECT n FROM sessions WHERE id = ?1 AND host <> ?2")?;
        Ok(query.query_row([id, OURS], |row| row.get(0)).optional()?)
    }

    fn take_in_said(&mut self, said: Said, terms: Terms<'_>) -> Result<usize, StoreError> {
        let speaker = compact::speaker_name(compact::speaker(&said.speaker));
        if !id::is_ours(&said.id, 'o') || speaker.is_empty() || speaker == "unknown" {
            return Ok(0);
        }
        let mut own = BTreeSet::new();
        for text in telling(speaker, said.scored, &said.blocks) {
            terms(text, &mut |term| own.extend([term]));
        }
        let mut observation = Observation {
            id: said.id.clone(),
            host: String::new(),
            session: 0,
            agent: String::new(),
            speaker,
            time: said.time,
            time_ms: said.time_ms,
            at_ms: 0,
            at: 0,
            record: said.record,
            parent: said.parent,
            message: said.message,
            model: said.model,
            prompt: said.prompt,
            is_prompt: false,
            scored: said.scored,
            command: said.command,
            blocks: said.blocks,
            terms: own.into_iter().collect::<Vec<_>>().join(" "),
        };
        let mut rows = 0;
        for link in &said.links {
            let Some(session) = self.session_row(&link.session)? else { continue };
            (observation.session, observation.at_ms, observation.at) = (session, link.at_ms, link.at);
            observation.agent.clone_from(&link.agent);
            observation.host.clone_from(&link.host);
            observation.is_prompt = link.is_prompt;
            if self.observe(&observation)? == Change::Forgotten {
                return Ok(1);
            }
            rows += 1;
            // Where its words were read last.
            observation.at = u64::try_from(said.at).unwrap_or(0).max(link.at);
            self.observe(&observation)?;
            self.follows_there(&said.id, session, link.follows)?;
            for output in &said.outputs {
                let output = Output {
                    observation: said.id.clone(),
                    call: output.call.clone(),
                    text: output.text.clone(),
                    bytes: output.bytes,
                    sha256: output.sha256.clone(),
                };
                self.output(session, &output)?;
            }
        }
        if rows == 0 {
            let gone = said.links.iter().any(|link| self.ledger.holds(&Mark::session(&link.session)));
            return Ok(usize::from(gone));
        }
        for older in said.revisions {
            self.older_words(&observation, older)?;
            rows += 1;
        }
        Ok(rows)
    }

    /// A copy of a record can follow another one than the record itself.
    fn follows_there(&self, id: &str, session: i64, follows: Option<i64>) -> Result<(), StoreError> {
        let Some(parent) = follows else { return Ok(()) };
        self.transaction
            .prepare_cached(
                "UPDATE follows SET parent = ?3 WHERE session = ?2 AND document = (SELECT n FROM documents WHERE id = ?1)",
            )?
            .execute(params![Id::of(id), session, parent])?;
        Ok(())
    }

    /// Keeps a revision that is not current.
    fn older_words(&mut self, of: &Observation, older: Older) -> Result<(), StoreError> {
        let json = serde_json::to_vec(&older.blocks).map_err(|e| not_ours(&e))?;
        let content = compact::short_hash(&id::sha256(&json));
        let known: Option<(i64, i64)> = self
            .transaction
            .prepare_cached("SELECT n, content FROM documents WHERE id = ?1")?
            .query_row([Id::of(&of.id)], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((n, _)) = known.filter(|(_, current)| *current != content) else { return Ok(()) };
        let bytes: u64 = older.blocks.iter().map(|block| block.text().len() as u64).sum();
        let Older { parent, message, prompt, args, .. } = &older;
        let [parent, message, prompt, args] =
            [parent, message, prompt, args].map(|text| text.as_deref().map(Cow::Borrowed));
        let place =
            self.add_body(&body_of(json, &Beside { parent, message, prompt, args, ..Beside::default() })?)?;
        let new = self.transaction.execute(
            "INSERT OR IGNORE INTO revisions (document, content, at, bytes, pack, start, length) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![n, content, older.at, position(bytes), place.pack, place.start, place.length],
        )?;
        if new > 0 {
            let seq = self.next_seq();
            self.transaction.execute(
                "UPDATE documents SET seq = ?2, revision = 1 + (SELECT count(*) FROM revisions WHERE document = ?1) WHERE n = ?1",
                params![n, seq],
            )?;
        }
        Ok(())
    }
}

impl super::Store {
    /// All documents, and the observations among them. Errors: [`StoreError`].
    pub fn totals(&self) -> Result<(u64, u64), StoreError> {
        let total = |key| self.meta(key).map(|n| u64::try_from(n).unwrap_or(0));
        Ok((total("documents")?, total("observations")?))
    }
}
