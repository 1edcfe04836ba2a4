//! Observations: one row a record, however often and from wherever it is read (D4).

use super::body::{Beside, Block, body_of, not_ours};
use super::compact::{self, Id};
use super::packs::Place;
use super::{StoreError, Write};
use crate::{id, ledger};
use rusqlite::{OptionalExtension, params};
use std::cmp::Ordering;

/// A redacted observation with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// `o-` and 32 hex: a hash of host, record uuid and record timestamp.
    pub id: String,
    /// `claude`.
    pub host: String,
    /// The session's row, from [`Write::session`].
    pub session: i64,
    /// Subagent id, empty in the main line.
    pub agent: String,
    /// `user`, `assistant`, `tool`, `web`, `agent` or `host`.
    pub speaker: &'static str,
    /// RFC 3339 as the host wrote it.
    pub time: Option<String>,
    /// The same, in milliseconds, where it could be read.
    pub time_ms: Option<i64>,
    /// Its place: the latest time seen in the file so far, then the byte position.
    pub at_ms: i64,
    /// First byte of the line.
    pub at: u64,
    /// The host's record uuid.
    pub record: Option<String>,
    /// The host's parent uuid.
    pub parent: Option<String>,
    /// The API message.
    pub message: Option<String>,
    /// The model that said it.
    pub model: Option<String>,
    /// The host's prompt id.
    pub prompt: Option<String>,
    /// It begins a turn.
    pub is_prompt: bool,
    /// False for what repeats a session, such as a compaction summary.
    pub scored: bool,
    /// Slash command and arguments.
    pub command: Option<(String, String)>,
    /// Its parts.
    pub blocks: Vec<Block>,
    /// The terms that tell its session from others: of its prose, each once, joined by spaces.
    pub terms: String,
}

/// What an observation did to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A new row.
    New,
    /// Known already, word for word, in this session.
    Same,
    /// Known, now linked to one session more.
    Linked,
    /// Other content under a known id.
    Revised,
    /// It was forgotten, and stays so.
    Forgotten,
}

struct Known {
    n: i64,
    content: i64,
    at: i64,
    owner: i64,
}

/// Whose derived documents are behind.
struct Mark {
    session: i64,
    document: i64,
    agent: i64,
    is_prompt: bool,
}

impl Write<'_> {
    /// Stores an observation, with what follows from it: its link to the session, files touched, commands run, and which derived
    /// documents are behind now. Errors: [`StoreError`].
    pub fn observe(&mut self, observation: &Observation) -> Result<Change, StoreError> {
        if self.is_forgotten(observation)? {
            return Ok(Change::Forgotten);
        }
        let json = serde_json::to_vec(&observation.blocks).map_err(|e| not_ours(&e))?;
        let content = compact::short_hash(&id::sha256(&json));
        let speaker = self.speaker(observation)?;
        let known = self.known(&observation.id)?;
        let change = match known {
            None => {
                let n = self.insert(&observation.id, observation, speaker, content, json)?;
                self.link(n, observation)?;
                self.facts(n, observation)?;
                Change::New
            }
            Some(known) if known.content == content => self.link_known(&known, observation)?,
            Some(known) if self.is_linked(known.n, observation.session)? => {
                self.revise(&known, observation, content, json)?
            }
            // A fork that copied a revision which is no longer current.
            Some(known) if self.is_revision(known.n, content)? => {
                self.join(&known, observation, false)?;
                self.revise(&known, observation, content, json)?;
                // The words of this revision may not be those of the current one.
                self.forget_profile(observation.session)?;
                Change::Linked
            }
            // Another session says something else under the same id: a document of its own. The plain id belongs to the session whose
            // own id sorts first, whichever was read first.
            Some(known) => {
                let (own, owner) = (self.session_id(observation.session)?, self.session_id(known.owner)?);
                if own < owner {
                    self.rename(known.n, &compact::own_id(&observation.id, &owner))?;
                    let n = self.insert(&observation.id, observation, speaker, content, json)?;
                    self.link(n, observation)?;
                    self.facts(n, observation)?;
                    return Ok(Change::New);
                }
                let id = compact::own_id(&observation.id, &own);
                match self.known(&id)? {
                    None => {
                        let n = self.insert(&id, observation, speaker, content, json)?;
                        self.link(n, observation)?;
                        self.facts(n, observation)?;
                        Change::New
                    }
                    Some(known) if known.content == content => self.link_known(&known, observation)?,
                    Some(known) => self.revise(&known, observation, content, json)?,
                }
            }
        };
        Ok(change)
    }

    /// Was the record forgotten, or what this very session says under its id?
    fn is_forgotten(&self, observation: &Observation) -> Result<bool, StoreError> {
        if self.ledger.is_empty() {
            return Ok(false);
        }
        let own = compact::own_id(&observation.id, &self.session_id(observation.session)?);
        Ok([&observation.id, &own].into_iter().any(|id| self.ledger.holds(&ledger::Mark::document(id))))
    }

    /// Gives a document another id; what rests on it is behind.
    fn rename(&mut self, document: i64, id: &str) -> Result<(), StoreError> {
        let seq = self.next_seq();
        self.transaction.execute(
            "UPDATE documents SET id = ?2, seq = ?3 WHERE n = ?1",
            params![document, Id::of(id), seq],
        )?;
        self.mark_holders(document)
    }

    fn is_revision(&self, document: i64, content: i64) -> Result<bool, StoreError> {
        let mut query = self
            .transaction
            .prepare_cached("SELECT 1 FROM revisions WHERE document = ?1 AND content = ?2")?;
        Ok(query.exists(params![document, content])?)
    }

    fn known(&self, id: &str) -> Result<Option<Known>, StoreError> {
        let mut query =
            self.transaction.prepare_cached("SELECT n, content, at, session FROM documents WHERE id = ?1")?;
        let known = query.query_row([Id::of(id)], |row| {
            Ok(Known { n: row.get(0)?, content: row.get(1)?, at: row.get(2)?, owner: row.get(3)? })
        });
        Ok(known.optional()?)
    }

    fn insert(
        &mut self,
        id: &str,
        observation: &Observation,
        speaker: &str,
        content: i64,
        json: Vec<u8>,
    ) -> Result<i64, StoreError> {
        let place = self.add_body(&body_of(json, &observation.beside())?)?;
        let seq = self.next_seq();
        let agent = self.agent(&observation.agent)?;
        let mut insert = self.transaction.prepare_cached(
            "INSERT INTO documents (id, seq, kind, session, agent, speaker, time, time_ms, record, is_prompt, scored, command,
               at, content, bytes, pack, start, length)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
        )?;
        insert.execute(params![
            Id::of(id),
            seq,
            compact::OBSERVATION,
            observation.session,
            agent,
            compact::speaker(speaker),
            compact::spelled(observation.time.as_deref(), observation.time_ms),
            observation.time_ms,
            observation.record.as_deref().map(Id::of),
            observation.is_prompt,
            observation.scored,
            observation.command.as_ref().map(|(name, _)| name),
            position(observation.at),
            content,
            position(observation.text_bytes()),
            place.pack,
            place.start,
            place.length,
        ])?;
        drop(insert);
        self.added.documents += 1;
        self.added.observations += 1;
        Ok(self.transaction.last_insert_rowid())
    }

    /// The number of a subagent, 0 for the main line.
    fn agent(&self, name: &str) -> Result<i64, StoreError> {
        if name.is_empty() {
            return Ok(0);
        }
        let mut query = self.transaction.prepare_cached("SELECT n FROM agents WHERE name = ?1")?;
        if let Some(n) = query.query_row([name], |row| row.get(0)).optional()? {
            return Ok(n);
        }
        self.transaction.execute("INSERT INTO agents (name) VALUES (?1)", [name])?;
        Ok(self.transaction.last_insert_rowid())
    }

    fn is_linked(&self, document: i64, session: i64) -> Result<bool, StoreError> {
        let mut query =
            self.transaction.prepare_cached("SELECT 1 FROM links WHERE session = ?1 AND document = ?2")?;
        Ok(query.exists([session, document])?)
    }

    /// A document that is known word for word: seen again, or seen in one session more.
    fn link_known(&mut self, known: &Known, observation: &Observation) -> Result<Change, StoreError> {
        self.transaction
            .prepare_cached("UPDATE documents SET at = max(at, ?2) WHERE n = ?1 AND content = ?3")?
            .execute(params![known.n, position(observation.at), known.content])?;
        if self.is_linked(known.n, observation.session)? {
            self.place(known.n, observation)?;
            return Ok(Change::Same);
        }
        self.join(known, observation, true)
    }

    /// A session comes to hold a known document, in its current words or in older ones.
    fn join(
        &mut self,
        known: &Known,
        observation: &Observation,
        current: bool,
    ) -> Result<Change, StoreError> {
        self.held_by_one_more(known.n)?;
        self.link(known.n, observation)?;
        self.calls(known.n, observation)?;
        if current {
            self.touches(known.n, observation)?;
        }
        // The owner of a shared record is the session whose id sorts first: any order of reading gives the same one.
        let (owner, own) = (self.session_id(known.owner)?, self.session_id(observation.session)?);
        let session = if own < owner { observation.session } else { known.owner };
        let seq = self.next_seq();
        self.transaction
            .prepare_cached("UPDATE documents SET session = ?2, seq = ?3 WHERE n = ?1")?
            .execute(params![known.n, session, seq])?;
        Ok(Change::Linked)
    }

    /// The same record can lie in two files of one session, such as a moved and a copied one. The least place counts, so that the order
    /// of reading does not; the turn it leaves is behind as well as the one it comes to.
    fn place(&mut self, document: i64, observation: &Observation) -> Result<(), StoreError> {
        let here = (observation.at_ms, position(observation.at));
        let was: (i64, i64) = self
            .transaction
            .prepare_cached("SELECT at_ms, at FROM links WHERE session = ?1 AND document = ?2")?
            .query_row([observation.session, document], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if observation.is_prompt && observation.agent.is_empty() {
            let parent = observation.parent.as_deref();
            self.follows((observation.session, document), parent, here.cmp(&was))?;
        }
        if here >= was {
            return Ok(());
        }
        self.transaction
            .prepare_cached("UPDATE links SET at_ms = ?3, at = ?4 WHERE session = ?1 AND document = ?2")?
            .execute(params![observation.session, document, here.0, here.1])?;
        self.may_be_named(observation.session, observation.record.as_deref())?;
        let agent = self.agent(&observation.agent)?;
        let mark = Mark { session: observation.session, document, agent, is_prompt: observation.is_prompt };
        self.mark_dirty(&mark, was)?;
        self.mark_dirty(&mark, here)
    }

    /// Other content under a known id: the one read farthest into the file is current, the others are kept. Where two lie equally far, the
    /// content decides, so that the order of reading does not.
    fn revise(
        &mut self,
        known: &Known,
        observation: &Observation,
        content: i64,
        json: Vec<u8>,
    ) -> Result<Change, StoreError> {
        self.place(known.n, observation)?;
        let at = position(observation.at);
        let seen = self.is_revision(known.n, content)?;
        if seen {
            self.transaction.execute(
                "UPDATE revisions SET at = max(at, ?3) WHERE document = ?1 AND content = ?2",
                params![known.n, content, at],
            )?;
        } else {
            let bytes = position(observation.text_bytes());
            let Place { pack, start, length } = self.add_body(&body_of(json, &observation.beside())?)?;
            self.transaction.execute(
                "INSERT INTO revisions (document, content, at, bytes, pack, start, length) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![known.n, content, at, bytes, pack, start, length],
            )?;
        }
        let current = (at, content) > (known.at, known.content);
        if current {
            self.transaction.execute(
                "INSERT INTO revisions (document, content, at, bytes, pack, start, length)
                 SELECT n, content, at, bytes, pack, start, length FROM documents WHERE n = ?1",
                [known.n],
            )?;
            self.transaction.execute(
                "UPDATE documents SET (content, at, bytes, pack, start, length) =
                   (SELECT content, at, bytes, pack, start, length FROM revisions WHERE document = ?1 AND content = ?2) WHERE n = ?1",
                params![known.n, content],
            )?;
            self.transaction.execute(
                "DELETE FROM revisions WHERE document = ?1 AND content = ?2",
                params![known.n, content],
            )?;
            // What the old content touched, the new one may not.
            self.transaction.execute("DELETE FROM touches WHERE document = ?1", [known.n])?;
            self.facts(known.n, observation)?;
        }
        if seen && !current {
            return Ok(Change::Same);
        }
        let seq = self.next_seq();
        self.transaction.execute(
            "UPDATE documents SET seq = ?2,
               revision = 1 + (SELECT count(*) FROM revisions WHERE document = ?1) WHERE n = ?1",
            params![known.n, seq],
        )?;
        self.mark_holders(known.n)?;
        Ok(Change::Revised)
    }

    /// Every session that holds a document is behind in what rests on it; its old words must leave their profiles.
    pub(super) fn mark_holders(&mut self, document: i64) -> Result<(), StoreError> {
        let mut query = self
            .transaction
            .prepare_cached("SELECT session, agent, is_prompt, at_ms, at FROM links WHERE document = ?1")?;
        let rows = query.query_map([document], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, (row.get(3)?, row.get(4)?)))
        })?;
        let holders: Vec<(i64, i64, bool, (i64, i64))> = rows.collect::<Result<_, _>>()?;
        drop(query);
        for (session, agent, is_prompt, place) in holders {
            self.forget_profile(session)?;
            self.mark_dirty(&Mark { session, document, agent, is_prompt }, place)?;
        }
        Ok(())
    }

    fn link(&mut self, document: i64, observation: &Observation) -> Result<(), StoreError> {
        self.profile_gains(observation.session, &observation.terms)?;
        let agent = self.agent(&observation.agent)?;
        let (session, is_prompt) = (observation.session, observation.is_prompt);
        let mut insert = self.transaction.prepare_cached(
            "INSERT INTO links (session, document, agent, is_prompt, at_ms, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        insert.execute(params![
            session,
            document,
            agent,
            is_prompt,
            observation.at_ms,
            position(observation.at)
        ])?;
        drop(insert);
        if is_prompt && agent == 0 {
            self.follows((session, document), observation.parent.as_deref(), Ordering::Less)?;
        }
        self.may_be_named(observation.session, observation.record.as_deref())?;
        let mark = Mark { session, document, agent, is_prompt };
        self.mark_dirty(&mark, (observation.at_ms, position(observation.at)))
    }

    /// Notes which derived documents an observation at a place belongs to.
    fn mark_dirty(&mut self, mark: &Mark, (at_ms, at): (i64, i64)) -> Result<(), StoreError> {
        let session = mark.session;
        if mark.agent != 0 {
            return self.dirty(session, "agent", &mark.agent.to_string());
        }
        if mark.is_prompt {
            self.dirty(session, "turn", &mark.document.to_string())?;
        }
        // The turn it lies in; for a prompt, the turn that it ends. Another index makes a long turn cost the square of its length.
        let mut query = self.transaction.prepare_cached(
            "SELECT document FROM links INDEXED BY links_prompts WHERE session = ?1 AND is_prompt = 1 AND agent = 0 AND (at_ms, at) < (?2, ?3)
             ORDER BY at_ms DESC, at DESC, document DESC LIMIT 1",
        )?;
        let prompt: Option<i64> =
            query.query_row(params![session, at_ms, at], |row| row.get(0)).optional()?;
        drop(query);
        self.dirty(session, "turn", &prompt.unwrap_or(0).to_string())
    }

    /// Notes that what lies around a place is behind: something that lay there is gone.
    pub(super) fn around(&mut self, session: i64, agent: i64, place: (i64, i64)) -> Result<(), StoreError> {
        self.mark_dirty(&Mark { session, document: 0, agent, is_prompt: false }, place)
    }

    pub(super) fn dirty(&mut self, session: i64, part: &str, item: &str) -> Result<(), StoreError> {
        self.transaction
            .prepare_cached("INSERT OR IGNORE INTO dirty (session, part, item) VALUES (?1, ?2, ?3)")?
            .execute(params![session, part, item])?;
        Ok(())
    }
}

impl Observation {
    /// What is kept beside the parts, in one body with them.
    pub(super) fn beside(&self) -> Beside<'_> {
        Beside {
            parent: self.parent.as_deref().map(Into::into),
            message: self.message.as_deref().map(Into::into),
            model: self.model.as_deref().map(Into::into),
            prompt: self.prompt.as_deref().map(Into::into),
            args: self.command.as_ref().map(|(_, args)| args.as_str().into()),
        }
    }

    fn text_bytes(&self) -> u64 {
        self.blocks.iter().map(|b| b.text().len() as u64).sum()
    }
}

/// SQLite's integers are signed; a file of 8 EiB is not expected.
pub(super) fn position(at: u64) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}
