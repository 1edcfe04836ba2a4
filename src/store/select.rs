//! What a person names when something is to be forgotten: which documents, which whole sessions, and who else holds them.

use super::compact;
use super::document::Document;
use super::erase::Doomed;
use super::read::Reader;
use super::{Block, StoreError};
use rusqlite::params;
use rusqlite::types::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What is looked for; all that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct Criteria {
    /// The host's session ids.
    pub sessions: Vec<String>,
    /// Project ids.
    pub projects: Vec<String>,
    /// Older than this. Units: milliseconds since 1970.
    pub before_ms: Option<i64>,
    /// Said by this speaker.
    pub speaker: Option<String>,
    /// Holding this text, whatever the case.
    pub text: Option<String>,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// It, by ids.
    pub doomed: Doomed,
    /// Observations and notes that go.
    pub forgotten: u64,
    /// Documents that stay, because other sessions hold them, too.
    pub shared: u64,
    /// The host's transcripts that hold it, as far as they exist. They are not ours to change.
    pub transcripts: Vec<PathBuf>,
    /// A few of the documents, for a person to look at: id, time, speaker, beginning of the text.
    pub examples: Vec<[String; 4]>,
}

/// Documents shown of a selection.
const EXAMPLES: usize = 5;

impl Reader {
    /// Finds what criteria hold for. Errors: [`StoreError`].
    pub fn select(&self, criteria: &Criteria) -> Result<Selection, StoreError> {
        let mut found = Selection::default();
        let whole = criteria.text.is_none() && criteria.speaker.is_none();
        if whole {
            found.doomed.sessions = self.whole_sessions(criteria)?;
        }
        // Without a word about single documents the sessions are all that is meant.
        if !whole || criteria.before_ms.is_some() {
            let going: BTreeSet<String> = found.doomed.sessions.iter().cloned().collect();
            self.select_documents(criteria, &going, &mut found)?;
        }
        // A project takes its notes with it; no session holds them.
        if whole && criteria.before_ms.is_none() && criteria.sessions.is_empty() {
            found.doomed.documents.extend(self.notes_of(&criteria.projects)?);
        }
        self.complete(&mut found)?;
        Ok(found)
    }

    /// Finds what ids name: ours or their beginnings, the host's record ids. A derived document stands for what it rests on.
    ///
    /// Errors: [`StoreError`]. Returns the ids that name nothing beside the selection.
    pub fn select_ids(&self, ids: &[String]) -> Result<(Selection, Vec<String>), StoreError> {
        let mut found = Selection::default();
        let mut unknown = Vec::new();
        let mut documents = BTreeSet::new();
        for id in ids {
            match self.document(id)? {
                None => unknown.push(id.clone()),
                Some(document) if is_said(&document) => {
                    found.show(&document);
                    documents.insert(document.row.id);
                }
                Some(document) => {
                    // A summary rests on turns, and those on what was said. What rests on it in turn is not meant.
                    let mut above = vec![document.row];
                    while let Some(row) = above.pop() {
                        for id in self.evidence(&row.id)? {
                            let Some(evidence) = self.document(&id)? else { continue };
                            if is_said(&evidence) {
                                found.show(&evidence);
                                documents.insert(id);
                            } else if height(&evidence.row.kind) < height(&row.kind) {
                                above.push(evidence.row);
                            }
                        }
                    }
                }
            }
        }
        found.doomed.documents = documents.into_iter().collect();
        self.complete(&mut found)?;
        Ok((found, unknown))
    }

    /// Sessions that go as a whole: all that were named, or of those the ones that ended before the time.
    fn whole_sessions(&self, criteria: &Criteria) -> Result<Vec<String>, StoreError> {
        let mut query = self
            .connection
            .prepare("SELECT id, project, last_ms FROM sessions WHERE host <> 'sinker' ORDER BY id")?;
        let mut rows = query.query([])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let (id, project, last): (String, String, Option<i64>) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let old = criteria.before_ms.is_none_or(|before| last.is_some_and(|last| last < before));
            if old && criteria.is_of(&id, &project) {
                all.push(id);
            }
        }
        // One that is not known yet is forgotten all the same.
        if criteria.before_ms.is_none() && criteria.projects.is_empty() {
            let unknown =
                criteria.sessions.iter().filter(|id| !all.contains(id)).cloned().collect::<Vec<_>>();
            all.extend(unknown);
        }
        Ok(all)
    }

    fn select_documents(
        &self,
        criteria: &Criteria,
        going: &BTreeSet<String>,
        found: &mut Selection,
    ) -> Result<(), StoreError> {
        let needle = criteria.text.as_ref().map(|text| text.to_lowercase());
        let before = criteria.before_ms.unwrap_or(i64::MAX);
        let speaker = criteria.speaker.as_deref().map_or(Value::Null, |name| compact::speaker(name).into());
        let mut damaged = None;
        self.take(
            "d.kind IN (0, ?1) AND (?2 IS NULL OR d.speaker = ?2) AND (d.time_ms < ?3 OR (d.time_ms IS NULL AND ?3 = ?4)) ORDER BY d.n",
            params![compact::kind("note"), speaker, before, i64::MAX],
            |document| {
                // A note is held by no session.
                let is_note = document.sessions.is_empty();
                let held = (is_note && criteria.sessions.is_empty())
                    || document.sessions.iter().any(|id| criteria.is_of_session(id));
                let of_project =
                    criteria.projects.is_empty() || criteria.projects.contains(&document.row.project);
                let goes = !is_note && document.sessions.iter().all(|id| going.contains(id));
                if !held || !of_project || goes {
                    return true;
                }
                let hit = match &needle {
                    None => Ok(true),
                    Some(needle) => self.holds(&document, needle),
                };
                match hit {
                    Ok(true) => {
                        found.show(&document);
                        found.doomed.documents.push(document.row.id);
                    }
                    Ok(false) => {}
                    Err(error) => damaged = Some(error),
                }
                damaged.is_none()
            },
        )?;
        if let Some(error) = damaged {
            return Err(error);
        }
        if let Some(needle) = &needle
            && criteria.speaker.is_none()
        {
            let mut query =
                self.connection.prepare("SELECT id, project, title FROM sessions WHERE title IS NOT NULL")?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                let (id, project, title): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
                if title.to_lowercase().contains(needle) && criteria.is_of(&id, &project) {
                    found.doomed.titles.push(id);
                }
            }
        }
        Ok(())
    }

    /// Does a document hold a text (lower case) anywhere a person could find it?
    fn holds(&self, document: &Document, needle: &str) -> Result<bool, StoreError> {
        let in_text = |text: &str| text.to_lowercase().contains(needle);
        let in_block = |block: &Block| {
            in_text(&block.text())
                || matches!(block, Block::Use { file, cmd, .. }
                    if file.as_deref().is_some_and(in_text) || cmd.as_deref().is_some_and(in_text))
        };
        Ok(document.blocks.iter().any(in_block)
            || in_text(&document.text())
            || document.files.iter().any(|file| in_text(file))
            || document.command.as_deref().is_some_and(in_text)
            || document.args.as_deref().is_some_and(in_text)
            || self.revisions(&document.row.id)?.iter().any(|text| in_text(text)))
    }

    /// Counts, and names the transcripts.
    fn complete(&self, found: &mut Selection) -> Result<(), StoreError> {
        let going: BTreeSet<&String> = found.doomed.sessions.iter().collect();
        let mut holders: BTreeSet<String> = found.doomed.sessions.iter().cloned().collect();
        let mut held: BTreeMap<i64, bool> = BTreeMap::new();
        let mut query = self.connection.prepare_cached(
            "SELECT l.document, o.id FROM sessions s JOIN links l ON l.session = s.n JOIN links k ON k.document = l.document
             JOIN sessions o ON o.n = k.session WHERE s.id = ?1",
        )?;
        for id in &found.doomed.sessions {
            let mut rows = query.query([id])?;
            while let Some(row) = rows.next()? {
                let (document, session): (i64, String) = (row.get(0)?, row.get(1)?);
                let elsewhere = !going.contains(&session);
                *held.entry(document).or_default() |= elsewhere;
                if elsewhere {
                    holders.insert(session);
                }
            }
        }
        found.shared = held.values().filter(|elsewhere| **elsewhere).count() as u64;
        let alone = held.len() as u64 - found.shared;
        let mut query = self.connection.prepare_cached(
            "SELECT s.id FROM documents d JOIN links l ON l.document = d.n JOIN sessions s ON s.n = l.session WHERE d.id = ?1",
        )?;
        for id in &found.doomed.documents {
            let rows = query.query_map([compact::Id::of(id)], |row| row.get::<_, String>(0))?;
            holders.extend(rows.collect::<Result<Vec<_>, _>>()?);
        }
        holders.extend(found.doomed.titles.iter().cloned());
        found.forgotten = alone + found.doomed.documents.len() as u64;
        let mut files = BTreeSet::new();
        for session in holders {
            files.extend(self.session_files(&session)?.into_iter().filter(|path| path.exists()));
        }
        found.transcripts = files.into_iter().collect();
        Ok(())
    }
}

/// What rests on what: each kind on lower ones.
fn height(kind: &str) -> u8 {
    match kind {
        "outcome" => 1,
        "checkpoint" => 2,
        "work" => 2,
        "session-summary" => 3,
        _ => 0,
    }
}

/// Somebody wrote it: a record, a note or an item of work.
fn is_said(document: &Document) -> bool {
    document.row.kind == "observation" || document.sessions.is_empty()
}

impl Criteria {
    fn is_of(&self, session: &str, project: &String) -> bool {
        self.is_of_session(session) && (self.projects.is_empty() || self.projects.contains(project))
    }

    fn is_of_session(&self, session: &str) -> bool {
        self.sessions.is_empty() || self.sessions.iter().any(|id| id == session)
    }
}

impl Selection {
    fn show(&mut self, document: &Document) {
        if self.examples.len() < EXAMPLES {
            let text = document.text();
            let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            self.examples.push([
                document.row.id.clone(),
                document.row.time.clone().unwrap_or_default(),
                document.row.speaker.clone(),
                line.chars().take(100).collect(),
            ]);
        }
    }

    /// Was nothing found?
    pub fn is_empty(&self) -> bool {
        self.doomed == Doomed::default()
    }
}
