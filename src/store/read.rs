//! Reading the store: for the index, for commands, and for the sweep. Opens it read only; any number of readers beside the one writer.

use super::body::{Beside, Block, Fields, blocks_of, whole_of};
use super::compact::{self, Id};
use super::damage::{Look, look};
use super::document::{Document, DocumentRow};
use super::migrate::VERSION;
use super::packs::{Packs, Place};
use super::profile::stored_profile;
use super::{Behind, Failure, Item, Stated, StoreError};
use crate::config::Home;
use crate::{ledger, work};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The store, opened for reading.
pub struct Reader {
    pub(super) connection: Connection,
    pub(super) packs: Packs,
}

/// Totals of the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    /// All rows that the index must hold.
    pub documents: u64,
    /// Of them, observations.
    pub observations: u64,
    /// Of them, outcomes of turns and runs.
    pub turns: u64,
    /// Sessions.
    pub sessions: u64,
    /// The newest change.
    pub seq: u64,
}

const ROW: &str = "d.id, d.kind, s.id, s.project, d.speaker, d.time, d.time_ms, d.revision, d.bytes, d.status, d.record, d.seq";
const ROW_WIDTH: usize = 12;

fn document_row(row: &Row<'_>) -> rusqlite::Result<DocumentRow> {
    let time_ms: Option<i64> = row.get(6)?;
    let shown = time_ms.map(|ms| crate::clock::format(crate::clock::Millis(ms)));
    let record: Option<Id> = row.get(10)?;
    let (id, number) = (row.get::<_, Id>(0)?.text(), row.get(1)?);
    // An item of work that somebody wrote is kept like a note.
    let kind =
        if number == compact::NOTE && id.starts_with("w-") { "work" } else { compact::kind_name(number) };
    Ok(DocumentRow {
        id,
        kind: kind.to_owned(),
        session: if row.get::<_, i64>(1)? == compact::NOTE { String::new() } else { row.get(2)? },
        project: row.get(3)?,
        speaker: compact::speaker_name(row.get(4)?).to_owned(),
        time: shown.or(row.get(5)?),
        revision: unsigned(row, 7)?,
        bytes: unsigned(row, 8)?,
        status: row.get(9)?,
        record: record.map(|record| record.text()),
        seq: unsigned(row, 11)?,
    })
}

pub(super) fn unsigned(row: &Row<'_>, i: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(i).map(|v| u64::try_from(v).unwrap_or(0))
}

impl Reader {
    /// Opens it. Errors: [`StoreError::Absent`] when there is none, [`StoreError::Newer`], SQLite's.
    pub fn open(home: &Home) -> Result<Self, StoreError> {
        let path = home.store();
        match look(home)? {
            Look::Absent => return Err(StoreError::Absent(path)),
            Look::Damaged(why) => return Err(StoreError::Damaged { path, why }),
            // SQLite makes files beside a store even for a reader: one of a newer version is not touched.
            Look::Plausible { version } if version > VERSION => {
                return Err(StoreError::Newer { path, found: version, known: VERSION });
            }
            Look::Empty | Look::Plausible { .. } => {}
        }
        Self::open_file(path)
    }

    pub(super) fn open_file(path: PathBuf) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.set_prepared_statement_cache_capacity(32);
        let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if found > VERSION {
            return Err(StoreError::Newer { path, found, known: VERSION });
        }
        if found == 0 {
            return Err(StoreError::Absent(path));
        }
        Ok(Self { connection, packs: Packs::default() })
    }

    /// Opens it for those who show what it holds. Errors: those of [`Reader::open`]; [`StoreError::Forgetting`] while it holds what was forgotten.
    pub fn open_to_show(home: &Home) -> Result<Self, StoreError> {
        let reader = Self::open(home)?;
        if reader.ledger()? != ledger::size(home) {
            ledger::Ledger::read(home, 0)?;
            return Err(StoreError::Forgetting);
        }
        Ok(reader)
    }

    /// How much of the forget ledger it obeys, bytes; 0 for a store of a version that knew none.
    pub fn ledger(&self) -> Result<u64, StoreError> {
        let known = self
            .connection
            .prepare_cached("SELECT value FROM meta WHERE key = 'ledger'")?
            .query_row([], |row| unsigned(row, 0));
        Ok(known.optional()?.unwrap_or(0))
    }

    /// The newest committed change.
    pub fn seq(&self) -> Result<u64, StoreError> {
        Ok(self
            .connection
            .query_row("SELECT value FROM meta WHERE key = 'seq'", [], |row| unsigned(row, 0))?)
    }

    /// Totals, as the writer keeps them: read in the same time from a store of any size.
    pub fn figures(&self) -> Result<Figures, StoreError> {
        let mut query = self.connection.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
        let mut total = |key: &str| query.query_row([key], |row| unsigned(row, 0));
        Ok(Figures {
            documents: total("documents")?,
            observations: total("observations")?,
            turns: total("turns")?,
            seq: total("seq")?,
            sessions: self.connection.query_row(
                "SELECT count(*) FROM sessions WHERE host <> 'sinker'",
                [],
                |row| unsigned(row, 0),
            )?,
        })
    }

    /// Counts of lines by class (`noise`, `silent`, `unknown`, `odd`, `said`, …) and kind, over all files.
    pub fn line_counts(&self) -> Result<BTreeMap<String, BTreeMap<String, u64>>, StoreError> {
        let mut query =
            self.connection.prepare_cached("SELECT class, kind, lines FROM line_totals WHERE lines > 0")?;
        let rows =
            query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?, unsigned(row, 2)?)))?;
        let mut all: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for row in rows {
            let (class, kind, lines) = row?;
            all.entry(class).or_default().insert(kind, lines);
        }
        Ok(all)
    }

    /// The files that hold, held or should hold records of a session: also those that are gone.
    pub fn session_files(&self, session: &str) -> Result<Vec<PathBuf>, StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT f.path FROM files f JOIN file_sessions fs ON fs.file = f.n JOIN sessions s ON s.n = fs.session
             WHERE s.id = ?1 ORDER BY f.path",
        )?;
        let rows = query.query_map([session], |row| Ok(PathBuf::from(row.get::<_, String>(0)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Files whose size on disk, as seen last, lies beyond the cursor.
    pub fn behind(&self, limit: usize) -> Result<Vec<Behind>, StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT path, offset, size FROM files WHERE size > settled AND gone = 0 AND path NOT LIKE 'forgotten:%' ORDER BY size - settled DESC, path LIMIT ?1",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = query.query_map([limit], |row| {
            Ok(Behind { path: row.get(0)?, cursor: unsigned(row, 1)?, size: unsigned(row, 2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Documents changed after `seq` and up to `upto`, in the order of their changes: at most `limit`, and fewer once their texts are
    /// `bytes` together. Empty when there are no more.
    pub fn changes(
        &self,
        seq: u64,
        upto: u64,
        (limit, bytes): (usize, u64),
    ) -> Result<Vec<Document>, StoreError> {
        let after = i64::try_from(seq).unwrap_or(i64::MAX);
        let upto = i64::try_from(upto).unwrap_or(i64::MAX);
        let mut some = Vec::new();
        let mut size = 0;
        self.take(
            "d.seq > ?1 AND d.seq <= ?2 ORDER BY d.seq",
            params![after, upto],
            |document: Document| {
                size += document.loaded_bytes();
                some.push(document);
                some.len() < limit && size < bytes
            },
        )?;
        Ok(some)
    }

    /// Ids of documents taken away after `seq` and up to `upto`.
    pub fn removed(&self, seq: u64, upto: u64) -> Result<Vec<String>, StoreError> {
        let after = i64::try_from(seq).unwrap_or(i64::MAX);
        let upto = i64::try_from(upto).unwrap_or(i64::MAX);
        let mut query = self.connection.prepare_cached(
            // One that was taken away and has come back is no longer taken away.
            "SELECT DISTINCT id FROM removed WHERE seq > ?1 AND seq <= ?2 AND id NOT IN (SELECT id FROM documents) ORDER BY id",
        )?;
        let rows = query.query_map([after, upto], |row| row.get::<_, Id>(0).map(|id| id.text()))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Hands out the ids of all documents, sorted.
    pub fn each_id(&self, mut take: impl FnMut(String)) -> Result<(), StoreError> {
        let mut query = self.connection.prepare("SELECT id FROM documents ORDER BY id")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            take(row.get::<_, Id>(0)?.text());
        }
        Ok(())
    }

    /// Finds a document by its id, by a beginning of it that fits only one, or by the host's record uuid.
    pub fn document(&self, id: &str) -> Result<Option<Document>, StoreError> {
        let exact = self.documents("d.id = ?1", params![Id::of(id)])?;
        if let Some(document) = exact.into_iter().next() {
            return Ok(Some(document));
        }
        let by_record = self.documents(
            "substr(d.record, 1, 5) = substr(?1, 1, 5) AND d.record = ?1 ORDER BY d.seq LIMIT 1",
            params![Id::of(id)],
        )?;
        if let Some(document) = by_record.into_iter().next() {
            return Ok(Some(document));
        }
        let Some((least, greatest)) = Id::range(id).filter(|_| id.len() >= 6) else { return Ok(None) };
        let mut found = self.documents("d.id BETWEEN ?1 AND ?2 LIMIT 2", params![least, greatest])?;
        Ok(if found.len() == 1 { found.pop() } else { None })
    }

    /// Revisions of a document that are no longer current, oldest first, as texts.
    pub fn revisions(&self, id: &str) -> Result<Vec<String>, StoreError> {
        let mut query = self.connection.prepare_cached(
            "SELECT r.pack, r.start, r.length FROM revisions r JOIN documents d ON d.n = r.document
             WHERE d.id = ?1 ORDER BY r.at, r.content",
        )?;
        let mut rows = query.query([Id::of(id)])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let blocks = blocks_of(&self.packs.body(&self.connection, Place::read(row, 0)?)?)?;
            all.push(blocks.iter().map(Block::text).collect::<Vec<_>>().join("\n"));
        }
        Ok(all)
    }

    /// Ids of what a derived document rests on, or of the derived documents that rest on a document.
    pub fn evidence(&self, id: &str) -> Result<Vec<String>, StoreError> {
        // What rests on it is held by a session that holds it too: no index from observations to what rests on them is needed.
        let mut query = self.connection.prepare_cached(
            "WITH own AS (SELECT n FROM documents WHERE id = ?1),
               holders AS (SELECT session FROM links WHERE document = (SELECT n FROM own)
                 UNION SELECT session FROM document_sessions WHERE document = (SELECT n FROM own))
             SELECT o.id FROM evidence e JOIN documents o ON o.n = e.observation WHERE e.document = (SELECT n FROM own)
             UNION SELECT o.id FROM holders h JOIN document_sessions ds ON ds.session = h.session
               JOIN evidence e ON e.document = ds.document AND e.observation = (SELECT n FROM own)
               JOIN documents o ON o.n = e.document ORDER BY 1",
        )?;
        let rows = query.query_map([Id::of(id)], |row| row.get::<_, Id>(0).map(|id| id.text()))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Hands out documents in the order of their ids, all or of one kind; stops when `take` returns false.
    pub fn each_document(
        &self,
        kind: Option<&str>,
        mut take: impl FnMut(Document) -> bool,
    ) -> Result<(), StoreError> {
        let mut last = Id::of("");
        loop {
            let some = self.documents(
                "d.id > ?1 AND (?2 IS NULL OR d.kind = ?2) ORDER BY d.id LIMIT 500",
                params![last, kind.map(compact::kind)],
            )?;
            let Some(end) = some.last() else { return Ok(()) };
            last = Id::of(&end.row.id);
            for document in some {
                if !take(document) {
                    return Ok(());
                }
            }
        }
    }

    pub(super) fn documents(
        &self,
        filter: &str,
        params: impl rusqlite::Params,
    ) -> Result<Vec<Document>, StoreError> {
        let mut all = Vec::new();
        self.take(filter, params, |document| {
            all.push(document);
            true
        })?;
        Ok(all)
    }

    /// Hands out documents until `next` returns false.
    pub(super) fn take(
        &self,
        filter: &str,
        params: impl rusqlite::Params,
        mut next: impl FnMut(Document) -> bool,
    ) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT {ROW}, d.n, d.session, a.name, d.scored, d.command, s.host, s.title, d.codec, d.body, d.pack, d.start, d.length
             FROM documents d JOIN sessions s ON s.n = d.session JOIN agents a ON a.n = d.agent WHERE {filter}"
        );
        let mut query = self.connection.prepare_cached(&sql)?;
        let mut rows = query.query(params)?;
        while let Some(row) = rows.next()? {
            if !next(self.whole(row)?) {
                break;
            }
        }
        Ok(())
    }

    fn whole(&self, row: &Row<'_>) -> Result<Document, StoreError> {
        let column = |i: usize| ROW_WIDTH + i;
        let (n, session): (i64, i64) = (row.get(column(0))?, row.get(column(1))?);
        let mut shown = document_row(row)?;
        let (mut stated, mut failure, mut item) = (None, None, None);
        let observation = shown.kind == "observation";
        let is_note = row.get::<_, i64>(1)? == compact::NOTE;
        let (blocks, beside, fields) = if observation || is_note {
            let (mut blocks, beside) =
                whole_of(&self.packs.body(&self.connection, Place::read(row, column(9))?)?)?;
            self.put_outputs(n, &mut blocks)?;
            (blocks, beside, None)
        } else if shown.kind == "claim" {
            let claim = Stated::read(row.get(column(7))?, row.get(column(8))?)?;
            (shown.speaker, shown.record) = (claim.speaker.clone(), claim.evidence.first().cloned());
            stated = Some(claim);
            (Vec::new(), Beside::default(), None)
        } else if shown.kind == "failure" {
            let failed = Failure::read(row.get(column(7))?, row.get(column(8))?)?;
            (shown.speaker, shown.record) = ("tool".to_owned(), failed.records.first().cloned());
            failure = Some(failed);
            (Vec::new(), Beside::default(), None)
        } else if shown.kind == "work" {
            item = Some(Item::read(row.get(column(7))?, row.get(column(8))?)?);
            (Vec::new(), Beside::default(), None)
        } else {
            (Vec::new(), Beside::default(), Some(Fields::read(row.get(column(7))?, row.get(column(8))?)?))
        };
        if is_note && shown.kind == "work" {
            let kept = blocks.iter().map(Block::text).collect::<Vec<_>>().join("\n");
            let (state, text) = work::read(&kept);
            item = Some(Item {
                text: text.to_owned(),
                state,
                source: shown.speaker.clone(),
                record: String::new(),
            });
        }
        let files = match &fields {
            None => self.column("SELECT DISTINCT p.path FROM touches t JOIN paths p ON p.n = t.path WHERE t.document = ?1 ORDER BY p.path", n)?,
            Some(fields) => {
                let mut files = fields.files_edited.clone();
                files.extend(fields.files_read.iter().filter(|f| !fields.files_edited.contains(f)).cloned());
                let known = files.len();
                let is_known = |path: &String| files.iter().take(known).any(|f| is_end(f, path));
                let named: Vec<String> = fields.files_named.iter().filter(|path| !is_known(path)).cloned().collect();
                files.extend(named);
                files
            }
        };
        let holders = if observation {
            "SELECT s.id FROM links l JOIN sessions s ON s.n = l.session WHERE l.document = ?1 ORDER BY s.id"
        } else {
            "SELECT s.id FROM document_sessions l JOIN sessions s ON s.n = l.session WHERE l.document = ?1 ORDER BY s.id"
        };
        // A note belongs to a project only.
        let mut sessions: Vec<String> = (!is_note).then(|| shown.session.clone()).into_iter().collect();
        sessions.extend(self.column(holders, n)?.into_iter().filter(|s| *s != shown.session));
        let profile = match shown.kind.as_str() {
            "session" => stored_profile(&self.connection, session)?.unwrap_or_default(),
            _ => String::new(),
        };
        Ok(Document {
            time_ms: row.get(6)?,
            row: shown,
            sessions,
            agent: row.get(column(2))?,
            parent: beside.parent.map(Into::into),
            blocks,
            fields,
            stated,
            failure,
            item,
            scored: row.get(column(3))?,
            command: row.get(column(4))?,
            args: beside.args.map(Into::into),
            files,
            host: row.get(column(5))?,
            title: row.get(column(6))?,
            profile,
        })
    }

    fn column(&self, sql: &str, n: i64) -> Result<Vec<String>, StoreError> {
        let mut query = self.connection.prepare_cached(sql)?;
        let rows = query.query_map([n], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Is it a path, or the end of it behind a `/`?
fn is_end(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|head| head.is_empty() || head.ends_with('/') || end.starts_with('/'))
}
