//! Taking documents away for good: rows, bodies in packs, what rests on them, and then the bytes on disk (D12).
//!
//! First, what is to go is named in the ledger, which is synced. Then rows go, in transactions of bounded size; bodies that shared a pack
//! with one that goes are written anew under a new number. At last the file is written anew, and the log emptied. A process that dies on
//! the way leaves `meta.ledger` behind the ledger, or the note `state/residue`, and the next drainer goes on where it stood. The note
//! stays until the index has lost the bytes as well.

mod rows;

use super::compact::{self, Id};
use super::derive::Terms;
use super::{Store, StoreError};
use crate::config::Home;
use crate::fs;
use crate::ledger::{self, Ledger, Mark};
use crate::step::step;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is to be forgotten, by ids.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Doomed {
    /// The host's session ids. What other sessions hold too stays with those.
    pub sessions: Vec<String>,
    /// Our ids of observations and notes; they go from all sessions that hold them.
    pub documents: Vec<String>,
    /// Sessions that lose the title they have.
    pub titles: Vec<String>,
}

/// What went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gone {
    /// Observations and notes.
    pub forgotten: u64,
    /// Documents that stay with another session.
    pub shared: u64,
}

/// Rows taken away in one transaction.
const CHUNK: usize = 20_000;

/// What goes, by row numbers.
#[derive(Default)]
struct Fate {
    sessions: Vec<i64>,
    documents: BTreeSet<i64>,
    titles: Vec<i64>,
    shared: u64,
    /// Sessions that come to hold nothing go, too.
    empties: bool,
}

impl Store {
    /// Forgets for good, and returns once the bytes are off the store's files. `terms` as for [`super::Write::derive`].
    ///
    /// Errors: [`StoreError`]; once the ledger is written, what was named in it is hidden, and goes with the next start at the latest.
    pub fn forget(&mut self, home: &Home, doomed: &Doomed, terms: Terms<'_>) -> Result<Gone, StoreError> {
        step("erase::begin")?;
        let fate = self.fate(doomed)?;
        let marks = self.marks(doomed, &fate)?;
        ledger::append(home, &marks)?;
        self.ledger = Arc::new(Ledger::read(home, 0)?);
        let gone = Gone { forgotten: fate.documents.len() as u64, shared: fate.shared };
        self.erase(home, &fate, terms)?;
        self.note_ledger()?;
        self.scrub(home)?;
        remove_asides(home)?;
        Ok(gone)
    }

    /// Brings the store in line with a ledger that is ahead of it: a forget that was cut short, or a store that came from a backup.
    /// Returns true when something went, whose bytes must leave the index as well. Errors: [`StoreError`].
    pub fn obey(&mut self, home: &Home, terms: Terms<'_>) -> Result<bool, StoreError> {
        let mut went = false;
        if self.meta("ledger")? != self.ledger_bytes() {
            let fate = self.named()?;
            went = !fate.documents.is_empty() || !fate.sessions.is_empty() || !fate.titles.is_empty();
            self.erase(home, &fate, terms)?;
            self.note_ledger()?;
        }
        if home.residue().exists() {
            went = true;
            self.scrub(home)?;
            if !self.ledger.is_empty() {
                remove_asides(home)?;
            }
        }
        Ok(went)
    }

    /// Takes documents away without a word in the ledger: they are too old, or too many. Sessions that lose everything go as well.
    /// Errors: [`StoreError`].
    pub(super) fn retire(&mut self, documents: BTreeSet<i64>, terms: Terms<'_>) -> Result<(), StoreError> {
        self.erase_securely(&Fate { documents, empties: true, ..Fate::default() }, terms)
    }

    fn ledger_bytes(&self) -> i64 {
        i64::try_from(self.ledger.bytes()).unwrap_or(i64::MAX)
    }

    pub(super) fn meta(&self, key: &str) -> Result<i64, StoreError> {
        Ok(self.connection.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))?)
    }

    pub(super) fn set_meta(&self, key: &str, value: i64) -> Result<(), StoreError> {
        self.connection.execute("UPDATE meta SET value = ?2 WHERE key = ?1", params![key, value])?;
        Ok(())
    }

    fn note_ledger(&self) -> Result<(), StoreError> {
        step("erase::note")?;
        self.set_meta("ledger", self.ledger_bytes())
    }

    /// The rows that ids name. A session takes with it what it alone holds.
    fn fate(&self, doomed: &Doomed) -> Result<Fate, StoreError> {
        let mut fate = Fate::default();
        let number = |sql: &str, id: &dyn rusqlite::ToSql| -> Result<Option<i64>, StoreError> {
            let mut query = self.connection.prepare_cached(sql)?;
            let mut rows = query.query([id])?;
            Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
        };
        for id in &doomed.documents {
            fate.documents.extend(number("SELECT n FROM documents WHERE id = ?1", &Id::of(id))?);
        }
        for id in &doomed.sessions {
            fate.sessions.extend(number("SELECT n FROM sessions WHERE id = ?1", id)?);
        }
        for id in &doomed.titles {
            fate.titles.extend(number("SELECT n FROM sessions WHERE id = ?1", id)?);
        }
        self.with_sessions(&mut fate)?;
        Ok(fate)
    }

    fn with_sessions(&self, fate: &mut Fate) -> Result<(), StoreError> {
        let going: BTreeSet<i64> = fate.sessions.iter().copied().collect();
        let mut shared = BTreeSet::new();
        for session in &fate.sessions {
            let mut query = self.connection.prepare_cached(
                "SELECT l.document, o.session FROM links l LEFT JOIN links o ON o.document = l.document AND o.session <> l.session
                 WHERE l.session = ?1",
            )?;
            let mut rows = query.query([session])?;
            let mut held: BTreeMap<i64, bool> = BTreeMap::new();
            while let Some(row) = rows.next()? {
                let (document, other): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
                *held.entry(document).or_default() |= other.is_some_and(|other| !going.contains(&other));
            }
            for (document, elsewhere) in held {
                if elsewhere {
                    shared.insert(document);
                } else {
                    fate.documents.insert(document);
                }
            }
        }
        fate.shared = shared.difference(&fate.documents).count() as u64;
        Ok(())
    }

    /// What the ledger names and the store still holds.
    fn named(&self) -> Result<Fate, StoreError> {
        let mut fate = Fate::default();
        let mut query = self.connection.prepare("SELECT n, id FROM documents WHERE kind IN (?1, ?2)")?;
        let mut rows = query.query([compact::OBSERVATION, compact::kind("note")])?;
        while let Some(row) = rows.next()? {
            if self.ledger.holds(&Mark::document(&row.get::<_, Id>(1)?.text())) {
                fate.documents.insert(row.get(0)?);
            }
        }
        let mut query = self.connection.prepare("SELECT n, id, title FROM sessions")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let (n, id, title): (i64, String, Option<String>) = (row.get(0)?, row.get(1)?, row.get(2)?);
            if self.ledger.holds(&Mark::session(&id)) {
                fate.sessions.push(n);
            } else if title.is_some_and(|title| self.ledger.holds(&Mark::title(&id, &title))) {
                fate.titles.push(n);
            }
        }
        self.with_sessions(&mut fate)?;
        Ok(fate)
    }

    fn marks(&self, doomed: &Doomed, fate: &Fate) -> Result<Vec<Mark>, StoreError> {
        // A session that is not known yet is forgotten all the same: its events may lie in the spool.
        let mut marks: Vec<Mark> = doomed.sessions.iter().map(|id| Mark::session(id)).collect();
        marks.extend(doomed.documents.iter().map(|id| Mark::document(id)));
        for n in &fate.documents {
            let mut query = self.connection.prepare_cached("SELECT id FROM documents WHERE n = ?1")?;
            marks.push(Mark::document(&query.query_row([n], |row| row.get::<_, Id>(0))?.text()));
        }
        for n in &fate.titles {
            let mut query = self.connection.prepare_cached("SELECT id, title FROM sessions WHERE n = ?1")?;
            let (id, title): (String, Option<String>) =
                query.query_row([n], |row| Ok((row.get(0)?, row.get(1)?)))?;
            marks.extend(title.map(|title| Mark::title(&id, &title)));
        }
        for (leaf, title) in summaries(&self.connection, fate)? {
            marks.push(Mark::title(&leaf.text(), &title));
        }
        Ok(marks)
    }

    fn erase(&mut self, home: &Home, fate: &Fate, terms: Terms<'_>) -> Result<(), StoreError> {
        if fate.documents.is_empty() && fate.sessions.is_empty() && fate.titles.is_empty() {
            return Ok(());
        }
        self.note_residue(home)?;
        self.erase_securely(fate, terms)
    }

    fn erase_securely(&mut self, fate: &Fate, terms: Terms<'_>) -> Result<(), StoreError> {
        // What goes is overwritten where it lies; the whole file is written anew afterwards, but that needs room on the disk.
        self.connection.pragma_update(None, "secure_delete", "ON")?;
        let done = self.erase_rows(fate, terms);
        self.connection.pragma_update(None, "secure_delete", "OFF")?;
        done
    }

    /// Notes that old bytes may lie in freed pages and in segments from now on.
    pub(super) fn note_residue(&self, home: &Home) -> Result<(), StoreError> {
        // Another note each time: whoever cleans up for an older one must not take it for done.
        let text = format!("{}\n", self.seq);
        Ok(fs::replace(&home.residue(), text.as_bytes(), fs::Sync::Yes)?)
    }

    fn erase_rows(&mut self, fate: &Fate, terms: Terms<'_>) -> Result<(), StoreError> {
        let all: Vec<i64> = fate.documents.iter().copied().collect();
        let titles = summaries(&self.connection, fate)?;
        let mut write = self.begin()?;
        for (leaf, title) in titles {
            write
                .transaction
                .execute("DELETE FROM summaries WHERE leaf = ?1 AND title = ?2", params![leaf, title])?;
        }
        for session in &fate.titles {
            write.untitle(*session)?;
        }
        write.derive(terms)?;
        write.commit()?;
        for chunk in all.chunks(CHUNK) {
            step("erase::chunk")?;
            let mut write = self.begin()?;
            let emptied = write.erase_documents(chunk)?;
            if fate.empties {
                for session in emptied {
                    write.erase_session(session)?;
                }
            }
            write.close_rooms()?;
            write.erase_empty_projects()?;
            write.derive(terms)?;
            write.commit()?;
        }
        if !fate.sessions.is_empty() {
            step("erase::sessions")?;
            let mut write = self.begin()?;
            for session in &fate.sessions {
                write.erase_session(*session)?;
            }
            write.erase_empty_projects()?;
            write.derive(terms)?;
            write.commit()?;
        }
        Ok(())
    }

    /// Writes the whole file anew and empties the log, so that no freed page keeps old bytes. Needs as much room as the store.
    ///
    /// Errors: [`StoreError`]; the store is as it was, and the next start tries again.
    pub fn scrub(&mut self, home: &Home) -> Result<(), StoreError> {
        step("erase::scrub")?;
        let pages: i64 = self.connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        let size: i64 = self.connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        let needed = u64::try_from(pages.saturating_mul(size).saturating_mul(2)).unwrap_or(u64::MAX);
        if pages >= SMALL_PAGES && fs::free_bytes(home.root()).is_some_and(|free| free < needed) {
            let why = format!("{needed} bytes must be free to write the store anew");
            return Err(StoreError::Io(std::io::Error::new(std::io::ErrorKind::StorageFull, why)));
        }
        let in_memory = pages < SMALL_PAGES;
        // What is stored stays in the data directory, also while it is moved.
        self.connection.pragma_update(None, "temp_store_directory", home.state().to_string_lossy())?;
        self.connection.flush_prepared_statement_cache();
        self.connection.pragma_update(None, "temp_store", if in_memory { "MEMORY" } else { "FILE" })?;
        let done = self.connection.execute_batch("VACUUM");
        self.connection.pragma_update(None, "temp_store", "MEMORY")?;
        done?;
        self.empty_log()
    }

    /// Writes the log back and cuts it; waits for readers, but not for ever.
    fn empty_log(&self) -> Result<(), StoreError> {
        let busy: i64 = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if busy == 0 {
            return Ok(());
        }
        let why = "somebody reads the store without end: its log still holds old bytes; it is emptied later";
        Err(StoreError::Io(std::io::Error::new(std::io::ErrorKind::ResourceBusy, why)))
    }
}

/// A smaller store is written anew in memory; a larger one through a nameless file. Units: pages.
const SMALL_PAGES: i64 = 16_384;

/// Removes stores that were damaged and moved aside: they hold what was forgotten.
fn remove_asides(home: &Home) -> Result<(), StoreError> {
    let name = home.store().file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    for entry in std::fs::read_dir(home.root())?.filter_map(Result::ok) {
        if entry.file_name().to_string_lossy().starts_with(&format!("{name}.damaged-")) {
            fs::remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Titles that name a record which goes, and those that a session which loses its title was drawn from.
fn summaries(connection: &Connection, fate: &Fate) -> Result<Vec<(Id, String)>, StoreError> {
    let mut all = Vec::new();
    let mut known = connection.prepare_cached("SELECT 1 FROM summaries")?;
    if !known.exists([])? {
        return Ok(all);
    }
    let mut query = connection.prepare_cached(
        "SELECT s.leaf, s.title FROM documents d JOIN summaries s ON s.leaf = d.record WHERE d.n = ?1",
    )?;
    for n in &fate.documents {
        let rows = query.query_map([n], |row| Ok((row.get(0)?, row.get(1)?)))?;
        all.extend(rows.collect::<Result<Vec<_>, _>>()?);
    }
    let mut query = connection.prepare_cached(
        "SELECT u.leaf, u.title FROM summaries u JOIN sessions s ON s.title = u.title WHERE s.n = ?1",
    )?;
    for n in &fate.titles {
        let rows = query.query_map([n], |row| Ok((row.get(0)?, row.get(1)?)))?;
        all.extend(rows.collect::<Result<Vec<_>, _>>()?);
    }
    Ok(all)
}
