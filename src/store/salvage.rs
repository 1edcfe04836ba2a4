//! What a damaged store still tells, carried over into the new one: transcripts are kept by the host for some weeks only, the store for ever.
//!
//! Observations are put in as if they were read again, so that a transcript that is still there gives the same rows once more for nothing
//! (D4), and whatever is derived is derived anew (D5). A row whose page or body cannot be read is counted and left. What a later version
//! keeps elsewhere (what was forgotten) is obeyed here, at the one place where old rows come back.

use super::body::{not_ours, whole_of};
use super::compact::{self, Id};
use super::derive::Terms;
use super::documents::Observation;
use super::outputs::Output;
use super::packs::Place;
use super::profile::telling;
use super::sessions::{Claim, Claimant, Dated, SessionFacts};
use super::{Reader, StoreError, Write};
use crate::config::Project;
use crate::{clock, id};
use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A damaged store that is being read out.
pub struct Salvage {
    reader: Reader,
    /// Documents up to this number are done.
    after: i64,
    last: i64,
    begun: bool,
    ended: bool,
    /// Sessions by their old number, with the new one.
    sessions: BTreeMap<i64, i64>,
    /// Rows that could not be read.
    pub unreadable: u64,
}

/// Read at once; a page that cannot be read costs its neighbours nothing, since they are then read one by one.
const CHUNK: i64 = 200;

/// What [`old_session`] reads.
pub(super) const SESSION_COLUMNS: &str = "s.n, s.id, s.host, s.started, s.started_ms, s.last, s.last_ms, s.cwd, s.branch, s.version,
   s.title, s.title_given, s.title_ms, s.title_at, s.ended, s.reason, s.trigger,
   p.id, p.name, p.remote, p.directory, s.cwd_ms, s.branch_ms, s.version_ms, s.claim, s.claim_ms, s.claim_directory";

/// A session as its row says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OldSession {
    #[serde(skip)]
    pub(super) n: i64,
    pub(super) facts: SessionFacts,
    title: Option<(String, i64, i64, i64)>,
    ended: Option<(String, String)>,
    trigger: Option<String>,
    pub(super) project: Option<Project>,
    /// Who said so, when, and the directory.
    claim: (i64, i64, String),
}

impl OldSession {
    /// Hands out what the host or a person wrote: titles, places, names. Ids and times are none.
    pub(super) fn each_text(&mut self, say: &mut dyn FnMut(&mut String)) {
        let SessionFacts { cwd, branch, version, .. } = &mut self.facts;
        [cwd, branch, version].into_iter().flatten().for_each(|dated| say(&mut dated.text));
        self.title.iter_mut().for_each(|(title, ..)| say(title));
        self.ended.iter_mut().for_each(|(_, reason)| say(reason));
        self.trigger.iter_mut().for_each(&mut *say);
        self.project.iter_mut().for_each(|project| project.each_text(say));
        say(&mut self.claim.2);
    }

    /// Are its times such that others can follow? A word without a time counts for less than any that has one.
    pub(super) fn is_sound(&self) -> bool {
        let SessionFacts { first, last, cwd, branch, version, .. } = &self.facts;
        let within = |dated: &Option<Dated>, without: i64| {
            dated.as_ref().is_none_or(|dated| dated.ms == without || clock::is_time(dated.ms))
        };
        [first, cwd].into_iter().all(|dated| within(dated, i64::MAX))
            && [last, branch, version].into_iter().all(|dated| within(dated, i64::MIN))
            && self.title.as_ref().is_none_or(|(_, _, ms, _)| clock::is_time(*ms))
    }

    /// When it ended, as the host wrote it.
    pub(super) fn end_mut(&mut self) -> Option<&mut String> {
        self.ended.as_mut().map(|(time, _)| time)
    }
}

impl Salvage {
    /// Opens what was moved aside. Errors: nothing of it can be read.
    pub fn open(aside: &Path) -> Result<Self, StoreError> {
        let reader = Reader::open_aside(aside)?;
        let last =
            reader.connection.query_row("SELECT coalesce(max(n), 0) FROM documents", [], |row| row.get(0));
        let last = last?;
        Ok(Self {
            reader,
            after: 0,
            last,
            begun: false,
            ended: false,
            sessions: BTreeMap::new(),
            unreadable: 0,
        })
    }

    /// Carries some rows over; call it until it returns false. Errors: those of the new store; never of the old one.
    ///
    /// `terms` splits a text into the terms of the index.
    pub fn some(&mut self, write: &mut Write<'_>, terms: Terms<'_>) -> Result<bool, StoreError> {
        if !std::mem::replace(&mut self.begun, true) {
            for path in self.reader.known_paths() {
                // Never read by this store: the next sweep reads it, wherever it lies.
                write.file(&path)?;
            }
            self.sessions(write)?;
            self.boundaries(write)?;
            self.summaries(write)?;
        }
        if self.after >= self.last {
            if !std::mem::replace(&mut self.ended, true) {
                self.outputs(write)?;
                self.kept_and_taken(write)?;
            }
            return Ok(false);
        }
        let upto = self.after.saturating_add(CHUNK).min(self.last);
        match self.observations(self.after, upto) {
            Ok(found) => self.put(write, found, terms)?,
            Err(_) => {
                for n in self.after..upto {
                    match self.observations(n, n + 1) {
                        Ok(found) => self.put(write, found, terms)?,
                        Err(_) => self.unreadable += 1,
                    }
                }
            }
        }
        self.notes(write, self.after, upto)?;
        self.after = upto;
        Ok(true)
    }

    fn put(
        &mut self,
        write: &mut Write<'_>,
        found: Vec<Option<Observation>>,
        terms: Terms<'_>,
    ) -> Result<(), StoreError> {
        for observation in found {
            let known = observation.and_then(|o| Some((*self.sessions.get(&o.session)?, o)));
            let Some((session, observation)) = known else {
                self.unreadable += 1;
                continue;
            };
            let mut own = BTreeSet::new();
            for text in telling(observation.speaker, observation.scored, &observation.blocks) {
                terms(text, &mut |term| own.extend([term]));
            }
            let terms = own.into_iter().collect::<Vec<_>>().join(" ");
            write.observe(&Observation { session, terms, ..observation })?;
        }
        Ok(())
    }

    /// Notes whose rows lie in a range, with their older revisions.
    fn notes(&mut self, write: &mut Write<'_>, after: i64, upto: i64) -> Result<(), StoreError> {
        let mut found = Vec::new();
        match self.reader.whole_notes(after, upto) {
            Ok(notes) => found = notes,
            Err(_) => {
                for n in after..upto {
                    match self.reader.whole_notes(n, n + 1) {
                        Ok(notes) => found.extend(notes),
                        // A row that nothing can be read of was counted with the observations.
                        Err(_) => self.unreadable += u64::from(self.observations(n, n + 1).is_ok()),
                    }
                }
            }
        }
        for (room, note, older) in found {
            match self.sessions.get(&room) {
                Some(room) => write.whole_note(*room, &note, older)?,
                None => self.unreadable += 1,
            }
        }
        Ok(())
    }

    fn sessions(&mut self, write: &mut Write<'_>) -> Result<(), StoreError> {
        for old in self.old_sessions() {
            if let Some(n) = write.old_session(&old)? {
                self.sessions.insert(old.n, n);
            }
        }
        Ok(())
    }

    /// Every session that can be read, first in one go, then from the other end as well.
    fn old_sessions(&self) -> Vec<OldSession> {
        let mut found = BTreeMap::new();
        for order in ["ASC", "DESC"] {
            let sql = format!(
                "SELECT {SESSION_COLUMNS} FROM sessions s LEFT JOIN projects p ON p.id = s.project ORDER BY s.n {order}"
            );
            let Ok(mut query) = self.reader.connection.prepare(&sql) else { continue };
            let Ok(mut rows) = query.query([]) else { continue };
            while let Ok(Some(row)) = rows.next() {
                if let Ok(session) = old_session(row) {
                    found.insert(session.n, session);
                }
            }
        }
        found.into_values().collect()
    }

    fn boundaries(&mut self, write: &mut Write<'_>) -> Result<(), StoreError> {
        let mut found = Vec::new();
        if let Ok(mut query) =
            self.reader.connection.prepare("SELECT session, id, at_ms, at, time FROM boundaries")
            && let Ok(mut rows) = query.query([])
        {
            while let Ok(Some(row)) = rows.next() {
                found.extend(old_boundary(row));
            }
        }
        for (session, id, at_ms, at, time) in found {
            let Some(session) = self.sessions.get(&session) else { continue };
            write.boundary(*session, &id, at_ms, u64::try_from(at).unwrap_or(0), time.as_deref())?;
        }
        Ok(())
    }

    /// Titles that wait for the record they name.
    fn summaries(&self, write: &mut Write<'_>) -> Result<(), StoreError> {
        let Ok(mut query) = self.reader.connection.prepare("SELECT leaf, title FROM summaries") else {
            return Ok(());
        };
        let Ok(mut rows) = query.query([]) else { return Ok(()) };
        while let Ok(Some(row)) = rows.next() {
            if let (Ok(leaf), Ok(title)) = (row.get::<_, Id>(0), row.get::<_, String>(1)) {
                write.summary(&leaf.text(), &title)?;
            }
        }
        Ok(())
    }

    /// What results say that lay in files of their own: once all documents are there.
    fn outputs(&mut self, write: &mut Write<'_>) -> Result<(), StoreError> {
        let mut found = Vec::new();
        if let Ok(mut query) = self.reader.connection.prepare(
            "SELECT d.id, d.session, o.call, o.bytes, o.sha256, o.pack, o.start, o.length
             FROM outputs o JOIN documents d ON d.n = o.document",
        ) && let Ok(mut rows) = query.query([])
        {
            while let Ok(Some(row)) = rows.next() {
                found.extend(old_output(row));
            }
        }
        for (session, mut output, place) in found {
            let text = self
                .reader
                .packs
                .body(&self.reader.connection, place)
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok());
            match (self.sessions.get(&session), text) {
                (Some(session), Some(text)) => {
                    output.text = text;
                    write.output(*session, &output)?;
                }
                _ => self.unreadable += 1,
            }
        }
        Ok(())
    }

    /// What retention must leave alone, and how much it took: a store before it knew either has neither table nor figure.
    fn kept_and_taken(&self, write: &mut Write<'_>) -> Result<(), StoreError> {
        let old = &self.reader.connection;
        if let Ok(mut query) = old.prepare("SELECT d.id FROM pinned p JOIN documents d ON d.n = p.document")
            && let Ok(mut rows) = query.query([])
        {
            while let Ok(Some(row)) = rows.next() {
                let Ok(id) = row.get::<_, Id>(0) else { continue };
                write.transaction.execute(
                    "INSERT OR IGNORE INTO pinned (document) SELECT n FROM documents WHERE id = ?1",
                    [id],
                )?;
            }
        }
        let taken =
            old.query_row("SELECT value FROM meta WHERE key = 'retained'", [], |row| row.get::<_, i64>(0));
        if let Ok(taken) = taken {
            let sql = "UPDATE meta SET value = max(value, ?1) WHERE key = 'retained'";
            write.transaction.execute(sql, [taken])?;
        }
        Ok(())
    }

    /// The observations whose row is above `after` and up to `upto`, once for each session that holds them, with the old number of that
    /// session; `None` for one whose body is damaged.
    fn observations(&self, after: i64, upto: i64) -> Result<Vec<Option<Observation>>, StoreError> {
        let mut query = self.reader.connection.prepare_cached(
            "SELECT n, id, speaker, time, time_ms, record, scored, command, content, pack, start, length
             FROM documents WHERE n > ?1 AND n <= ?2 AND kind = ?3 ORDER BY n",
        )?;
        let mut links = self.reader.connection.prepare_cached(
            "SELECT l.session, a.name, l.at_ms, l.at, l.is_prompt, s.host
             FROM links l JOIN agents a ON a.n = l.agent JOIN sessions s ON s.n = l.session WHERE l.document = ?1 ORDER BY s.id",
        )?;
        let mut rows = query.query(params![after, upto, compact::OBSERVATION])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let Ok(observation) = self.reader.stored_observation(row) else {
                found.push(None);
                continue;
            };
            let mut holders = links.query([row.get::<_, i64>(0)?])?;
            let before = found.len();
            while let Some(link) = holders.next()? {
                found.push(Some(Observation {
                    session: link.get(0)?,
                    agent: link.get(1)?,
                    at_ms: link.get(2)?,
                    at: u64::try_from(link.get::<_, i64>(3)?).unwrap_or(0),
                    is_prompt: link.get(4)?,
                    host: link.get(5)?,
                    ..observation.clone()
                }));
            }
            if found.len() == before {
                // Nobody is known to hold it any more.
                found.push(None);
            }
        }
        Ok(found)
    }
}

impl Write<'_> {
    /// Puts a session with all that is known of it. `None`: it was forgotten.
    pub(super) fn old_session(&mut self, old: &OldSession) -> Result<Option<i64>, StoreError> {
        let Some(n) = self.session(&old.facts)? else { return Ok(None) };
        // A title drawn from a summary is drawn again.
        if let Some((title, given, ms, at)) = &old.title
            && *given > 0
        {
            self.title(n, title, *given == 2, (*ms, u64::try_from(*at).unwrap_or(0)))?;
        }
        if let Some((time, reason)) = &old.ended {
            self.session_ended(n, Some((time, reason)))?;
        }
        if let Some(trigger) = &old.trigger {
            self.session_trigger(n, trigger)?;
        }
        if let Some(project) = &old.project {
            let (by, ms, directory) = &old.claim;
            let claim = Claim { by: Claimant::of(*by), ms: *ms, directory };
            if self.claims(n, claim)? {
                self.assign_project(n, claim, None, project)?;
            }
        }
        Ok(Some(n))
    }
}

impl Reader {
    /// Reads a row; its content must be what its hash says.
    pub(super) fn stored_observation(&self, row: &Row<'_>) -> Result<Observation, StoreError> {
        let body = self.packs.body(&self.connection, Place::read(row, 9)?)?;
        let (blocks, beside) = whole_of(&body)?;
        let json = serde_json::to_vec(&blocks).map_err(|e| not_ours(&e))?;
        if compact::short_hash(&id::sha256(&json)) != row.get::<_, i64>(8)? {
            return Err(StoreError::Body("it is not what its hash says".to_owned()));
        }
        let time_ms = row.get(4)?;
        let args = beside.args.map(Cow::into_owned).unwrap_or_default();
        Ok(Observation {
            id: row.get::<_, Id>(1)?.text(),
            host: String::new(),
            session: 0,
            agent: String::new(),
            speaker: compact::speaker_name(row.get(2)?),
            time: compact::time(row.get(3)?, time_ms),
            time_ms,
            at_ms: 0,
            at: 0,
            record: row.get::<_, Option<Id>>(5)?.map(|id| id.text()),
            parent: beside.parent.map(Cow::into_owned),
            message: beside.message.map(Cow::into_owned),
            model: beside.model.map(Cow::into_owned),
            prompt: beside.prompt.map(Cow::into_owned),
            is_prompt: false,
            scored: row.get(6)?,
            command: row.get::<_, Option<String>>(7)?.map(|name| (name, args)),
            terms: String::new(),
            blocks,
        })
    }
}

/// Session, output without its text, and where that lies.
fn old_output(row: &Row<'_>) -> rusqlite::Result<(i64, Output, Place)> {
    let output = Output {
        observation: row.get::<_, Id>(0)?.text(),
        call: row.get(2)?,
        text: String::new(),
        bytes: u64::try_from(row.get::<_, i64>(3)?).unwrap_or(0),
        sha256: row.get(4)?,
    };
    Ok((row.get(1)?, output, Place::read(row, 5)?))
}

/// Session, id, place and time.
fn old_boundary(row: &Row<'_>) -> rusqlite::Result<(i64, String, i64, i64, Option<String>)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
}

fn dated(row: &Row<'_>, text: usize, ms: usize) -> rusqlite::Result<Option<Dated>> {
    let (text, ms): (Option<String>, Option<i64>) = (row.get(text)?, row.get(ms)?);
    Ok(text.zip(ms).map(|(text, ms)| Dated { ms, text }))
}

pub(super) fn old_session(row: &Row<'_>) -> rusqlite::Result<OldSession> {
    let project: Option<String> = row.get(17)?;
    let title: Option<String> = row.get(10)?;
    let ended: Option<String> = row.get(14)?;
    let reason: Option<String> = row.get(15)?;
    Ok(OldSession {
        n: row.get(0)?,
        facts: SessionFacts {
            id: row.get(1)?,
            host: row.get(2)?,
            first: dated(row, 3, 4)?,
            last: dated(row, 5, 6)?,
            cwd: dated(row, 7, 21)?,
            branch: dated(row, 8, 22)?,
            version: dated(row, 9, 23)?,
        },
        claim: (row.get(24)?, row.get(25)?, row.get(26)?),
        title: match title {
            Some(title) => Some((title, row.get(11)?, row.get(12)?, row.get(13)?)),
            None => None,
        },
        ended: ended.map(|time| (time, reason.unwrap_or_default())),
        trigger: row.get(16)?,
        project: match project {
            Some(id) => Some(Project {
                id,
                name: row.get(18)?,
                remote: row.get(19)?,
                root: PathBuf::from(row.get::<_, String>(20)?),
                mark: None,
            }),
            None => None,
        },
    })
}
