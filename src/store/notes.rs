//! Notes: what a person asked to be kept, or the assistant for them.
//!
//! A note belongs to a project and to no session. Its row points at a row of `sessions` all the same, one a project, which stands for the
//! project and is shown to nobody: whoever lists documents finds the project of each in one way. A note is edited by a new revision, the
//! newest is current; texts lie in packs, as those of observations do.

use super::body::{Block, not_ours};
use super::compact::{self, Id};
use super::documents::position;
use super::packs::Place;
use super::sessions::{Claim, Claimant, SessionFacts};
use super::{Reader, StoreError, Write};
use crate::config::Project;
use crate::ledger::Mark;
use crate::{clock, id};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

/// Who wrote the rows that stand for projects: no host.
pub(super) const OURS: &str = "sinker";
/// How the ids of those rows begin: no host's session is named so.
pub(super) const ROOM: &str = "sinker:notes:";

/// A note, or a new revision of one; redacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// `n-` and 32 hex, chosen by who writes it: done twice, it is one note. `w-` for an item of work, whose text begins with its state.
    pub id: String,
    /// What is to be remembered.
    pub text: String,
    /// Paths that it is about; `None` leaves them as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// `user` or `assistant`: who wrote this revision.
    pub speaker: String,
    /// When it was written first. Units: milliseconds.
    pub time_ms: i64,
    /// When this revision was written; the latest is current. Units: milliseconds.
    pub at_ms: i64,
    /// Where a new one belongs; an edit leaves it where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
}

/// What became of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Noted {
    /// It is kept under this id; the same words in the same project keep the id that they had.
    Kept(String),
    /// There is none to be edited.
    Absent,
    /// It was forgotten, and stays so.
    Forgotten,
}

/// A note as it is found for an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteRow {
    /// Its whole id.
    pub id: String,
    /// When its newest revision was written. Units: milliseconds.
    pub at_ms: i64,
}

/// One revision of a note.
pub(super) struct Revision {
    pub at_ms: i64,
    pub text: String,
}

struct Known {
    n: i64,
    content: i64,
    at: i64,
}

impl Write<'_> {
    /// Keeps a note. Errors: [`StoreError`].
    pub fn note(&mut self, note: &Note) -> Result<Noted, StoreError> {
        let Some(project) = &note.project else { return self.note_in(None, note) };
        let room = self.room(project)?;
        let (content, _) = body(&note.text)?;
        let same: Option<Id> = self
            .transaction
            .prepare_cached("SELECT id FROM documents WHERE kind = 6 AND session = ?1 AND content = ?2")?
            .query_row([room, content], |row| row.get(0))
            .optional()?;
        match same {
            Some(id) => Ok(Noted::Kept(id.text())),
            None => self.note_in(Some(room), note),
        }
    }

    /// Keeps a note in the room of a project, or edits one where it is.
    pub(super) fn note_in(&mut self, room: Option<i64>, note: &Note) -> Result<Noted, StoreError> {
        if self.ledger.holds(&Mark::document(&note.id)) {
            return Ok(Noted::Forgotten);
        }
        let known = self
            .transaction
            .prepare_cached("SELECT n, content, at FROM documents WHERE id = ?1 AND kind = 6")?
            .query_row([Id::of(&note.id)], |row| {
                Ok(Known { n: row.get(0)?, content: row.get(1)?, at: row.get(2)? })
            })
            .optional()?;
        match (known, room) {
            (Some(known), _) => self.revise_note(&known, note)?,
            (None, None) => return Ok(Noted::Absent),
            (None, Some(room)) => self.insert_note(room, note)?,
        }
        Ok(Noted::Kept(note.id.clone()))
    }

    /// Puts a note with all its revisions into a room, or what is new of it.
    pub(super) fn whole_note(
        &mut self,
        room: i64,
        note: &Note,
        older: Vec<Revision>,
    ) -> Result<(), StoreError> {
        for Revision { at_ms, text } in older {
            self.note_in(Some(room), &Note { at_ms, text, ..note.clone() })?;
        }
        self.note_in(Some(room), note)?;
        Ok(())
    }

    fn insert_note(&mut self, room: i64, note: &Note) -> Result<(), StoreError> {
        let (content, body) = body(&note.text)?;
        let place = self.add_body(&body)?;
        let seq = self.next_seq();
        self.transaction.execute(
            "INSERT INTO documents (id, seq, kind, session, speaker, time_ms, at, content, bytes, pack, start, length)
             VALUES (?1, ?2, 6, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                Id::of(&note.id),
                seq,
                room,
                compact::speaker(&note.speaker),
                note.time_ms,
                note.at_ms,
                content,
                position(note.text.len() as u64),
                place.pack,
                place.start,
                place.length,
            ],
        )?;
        self.added.documents += 1;
        let n = self.transaction.last_insert_rowid();
        self.about(n, note)
    }

    /// As for observations: the revision written last is current, of two of one time the content decides; the others are kept.
    fn revise_note(&mut self, known: &Known, note: &Note) -> Result<(), StoreError> {
        let (content, body) = body(&note.text)?;
        let (n, at) = (known.n, note.at_ms);
        let current = (at, content) > (known.at, known.content);
        if content != known.content {
            let Place { pack, start, length } = self.add_body(&body)?;
            let changed = self.transaction.execute(
                "INSERT INTO revisions (document, content, at, bytes, pack, start, length) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT DO UPDATE SET at = excluded.at WHERE excluded.at > at",
                params![n, content, at, position(note.text.len() as u64), pack, start, length],
            )?;
            if changed == 0 && !current {
                return Ok(());
            }
        } else if !current {
            return Ok(());
        }
        if current {
            self.transaction.execute(
                "INSERT OR REPLACE INTO revisions (document, content, at, bytes, pack, start, length)
                 SELECT n, content, at, bytes, pack, start, length FROM documents WHERE n = ?1",
                [n],
            )?;
            self.transaction.execute(
                "UPDATE documents SET (content, bytes, pack, start, length) =
                   (SELECT content, bytes, pack, start, length FROM revisions WHERE document = ?1 AND content = ?2),
                   at = ?3, speaker = ?4 WHERE n = ?1",
                params![n, content, at, compact::speaker(&note.speaker)],
            )?;
            self.transaction
                .execute("DELETE FROM revisions WHERE document = ?1 AND content = ?2", params![n, content])?;
            // An item of work stands as it does since its state was said last.
            if id::is_ours(&note.id, 'w') {
                self.transaction.execute("UPDATE documents SET time_ms = ?2 WHERE n = ?1", [n, at])?;
            }
            self.about(n, note)?;
        }
        let seq = self.next_seq();
        self.transaction.execute(
            "UPDATE documents SET seq = ?2,
               revision = 1 + (SELECT count(*) FROM revisions WHERE document = ?1) WHERE n = ?1",
            params![n, seq],
        )?;
        Ok(())
    }

    /// The files that a note is about.
    fn about(&mut self, document: i64, note: &Note) -> Result<(), StoreError> {
        let Some(files) = &note.files else { return Ok(()) };
        self.transaction.execute("DELETE FROM touches WHERE document = ?1", [document])?;
        for file in files {
            let path = self.path(file)?;
            self.transaction
                .prepare_cached(
                    "INSERT OR IGNORE INTO touches (document, path, action) VALUES (?1, ?2, 'note')",
                )?
                .execute([document, path])?;
        }
        Ok(())
    }

    /// The row that stands for a project.
    pub(super) fn room(&mut self, project: &Project) -> Result<i64, StoreError> {
        let facts = SessionFacts {
            id: format!("{ROOM}{}", project.id),
            host: OURS.to_owned(),
            ..SessionFacts::default()
        };
        let Some(room) = self.session(&facts)? else {
            return Err(StoreError::Io(std::io::Error::other("the notes of this project were forgotten")));
        };
        let directory = project.root.to_string_lossy();
        let claim = Claim { by: Claimant::Person, ms: 0, directory: &directory };
        if self.claims(room, claim)? {
            self.assign_project(room, claim, None, project)?;
        }
        Ok(room)
    }

    /// Rows that stand for projects which hold no note any more.
    pub(super) fn close_rooms(&self) -> Result<(), StoreError> {
        self.transaction.execute(
            "DELETE FROM sessions WHERE host = ?1 AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.kind = 6 AND d.session = sessions.n)",
            [OURS],
        )?;
        Ok(())
    }
}

impl Reader {
    /// Finds a note by its id, or by a beginning of it that fits only one. Errors: [`StoreError`].
    pub fn note(&self, id: &str) -> Result<Option<NoteRow>, StoreError> {
        let Some(document) = self.document(id)?.filter(|found| found.row.kind == "note") else {
            return Ok(None);
        };
        let at_ms = self.connection.query_row(
            "SELECT at FROM documents WHERE id = ?1",
            [Id::of(&document.row.id)],
            |row| row.get(0),
        )?;
        Ok(Some(NoteRow { id: document.row.id, at_ms }))
    }

    /// Ids of the notes of some projects. Errors: [`StoreError`].
    pub fn notes_of(&self, projects: &[String]) -> Result<Vec<String>, StoreError> {
        let mut query = self.connection.prepare(
            "SELECT d.id FROM sessions s JOIN documents d ON d.session = s.n AND d.kind = 6 WHERE s.host = ?2 AND s.project = ?1 ORDER BY d.id",
        )?;
        let mut all = Vec::new();
        for project in projects {
            let rows = query.query_map([project.as_str(), OURS], |row| row.get::<_, Id>(0))?;
            for id in rows {
                all.push(id?.text());
            }
        }
        Ok(all)
    }

    /// The notes whose rows lie in a range, whole: room, note with its current text, older revisions, oldest first.
    pub(super) fn whole_notes(
        &self,
        after: i64,
        upto: i64,
    ) -> Result<Vec<(i64, Note, Vec<Revision>)>, StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT n, session, id, speaker, time_ms, at, pack, start, length FROM documents
             WHERE n > ?1 AND n <= ?2 AND kind = 6 ORDER BY n",
        )?;
        let mut rows = query.query([after, upto])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let n: i64 = row.get(0)?;
            let mut older = Vec::new();
            let mut revisions = self.connection.prepare_cached(
                "SELECT at, pack, start, length FROM revisions WHERE document = ?1 ORDER BY at, content",
            )?;
            let mut kept = revisions.query([n])?;
            while let Some(row) = kept.next()? {
                older.push(Revision { at_ms: row.get(0)?, text: self.note_text(row, 1)? });
            }
            let at_ms = row.get(5)?;
            let note = Note {
                id: row.get::<_, Id>(2)?.text(),
                text: self.note_text(row, 6)?,
                files: Some(files(&self.connection, n)?),
                speaker: compact::speaker_name(row.get(3)?).to_owned(),
                time_ms: row.get::<_, Option<i64>>(4)?.unwrap_or(at_ms),
                at_ms,
                project: None,
            };
            found.push((row.get(1)?, note, older));
        }
        Ok(found)
    }

    fn note_text(&self, row: &Row<'_>, first: usize) -> Result<String, StoreError> {
        let blocks = super::body::blocks_of(&self.packs.body(&self.connection, Place::read(row, first)?)?)?;
        Ok(blocks.iter().map(Block::text).collect::<Vec<_>>().join("\n"))
    }
}

fn files(connection: &Connection, n: i64) -> Result<Vec<String>, StoreError> {
    let mut query = connection.prepare_cached(
        "SELECT DISTINCT p.path FROM touches t JOIN paths p ON p.n = t.path WHERE t.document = ?1 ORDER BY p.path",
    )?;
    let rows = query.query_map([n], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The hash of a text as a row holds it, and its body.
fn body(text: &str) -> Result<(i64, Vec<u8>), StoreError> {
    let json = serde_json::to_vec(&[Block::Text { t: text.to_owned() }]).map_err(|e| not_ours(&e))?;
    Ok((compact::short_hash(&id::sha256(&json)), json))
}

impl Note {
    /// An id for a new one. Errors: no random bytes from the system.
    pub fn new_id() -> std::io::Result<String> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|_| std::io::Error::other("no random bytes from the system"))?;
        Ok(format!("n-{}", id::hex(&random)))
    }

    /// What a row of ours can hold: an id of ours, a known speaker, times that are ones.
    pub fn is_sound(&self) -> bool {
        (id::is_ours(&self.id, 'n') || id::is_ours(&self.id, 'w'))
            && matches!(self.speaker.as_str(), "user" | "assistant")
            && clock::is_time(self.time_ms)
            && clock::is_time(self.at_ms)
    }
}
