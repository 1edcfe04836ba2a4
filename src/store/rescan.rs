//! Redacting anew what is stored: rules change, and what an older table let through must leave rows, revisions, titles and paths (F67).

use super::body::{Beside, body_of, not_ours, whole_of};
use super::compact;
use super::derive::Terms;
use super::packs::Place as BodyPlace;
use super::read::Reader;
use super::{Store, StoreError, Write};
use crate::config::Home;
use crate::id;
use crate::step::step;
use rusqlite::{OptionalExtension, params};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Redacts a text; `None` when nothing is to be taken out.
pub type Redact<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Rows looked at in one transaction.
const CHUNK: i64 = 5_000;

/// A body that a row points at: of a document, of a revision, or of a file with a long result.
struct Body {
    document: i64,
    content: i64,
    call: Option<String>,
    place: BodyPlace,
}

impl Store {
    /// Redacts everything that is stored, and returns how many texts changed. `rules` is the version of the rules, which is then that of the
    /// store. `terms` as for [`super::Write::derive`].
    ///
    /// Errors: [`StoreError`]. What was done holds, and it can be begun again: a redacted text stays as it is.
    pub fn rescan(
        &mut self,
        home: &Home,
        rules: i64,
        redact: Redact<'_>,
        terms: Terms<'_>,
    ) -> Result<u64, StoreError> {
        let mut changed = 0;
        let last: i64 =
            self.connection.query_row("SELECT coalesce(max(n), 0) FROM documents", [], |row| row.get(0))?;
        self.note_residue(home)?;
        for from in (0..=last).step_by(usize::try_from(CHUNK).unwrap_or(1)) {
            step("rescan::chunk")?;
            let mut write = self.begin()?;
            let here = write.redact_bodies((from, from + CHUNK), redact)?;
            changed += here;
            if here > 0 {
                write.derive(terms)?;
                write.commit()?;
            }
        }
        step("rescan::names")?;
        let mut write = self.begin()?;
        changed += write.redact_names(redact)?;
        write.derive(terms)?;
        write.commit()?;
        self.set_meta("rules", rules)?;
        Ok(changed)
    }

    /// The version of the rules by which everything in the store was redacted; 0 when that is not known.
    pub fn rules(&self) -> Result<i64, StoreError> {
        self.meta("rules")
    }

    /// Says by which rules an empty store is going to be filled. Errors: [`StoreError`].
    pub fn begin_with_rules(&self, rules: i64) -> Result<(), StoreError> {
        let empty: bool = self.connection.query_row(
            "SELECT NOT EXISTS (SELECT 1 FROM documents) AND NOT EXISTS (SELECT 1 FROM sessions)",
            [],
            |row| row.get(0),
        )?;
        if empty && self.rules()? != rules { self.set_meta("rules", rules) } else { Ok(()) }
    }
}

impl Reader {
    /// The same as [`Store::rules`], for those who tell whether it is time.
    pub fn rules(&self) -> Result<i64, StoreError> {
        let known =
            self.connection.query_row("SELECT value FROM meta WHERE key = 'rules'", [], |row| row.get(0));
        Ok(known.optional()?.unwrap_or(0))
    }
}

impl Write<'_> {
    /// Redacts the bodies of documents from one number up to another. Returns how many texts changed.
    fn redact_bodies(&mut self, (from, to): (i64, i64), redact: Redact<'_>) -> Result<u64, StoreError> {
        let mut changed = 0;
        let mut left = BTreeSet::new();
        let mut documents = BTreeSet::new();
        for body in self.bodies(from, to)? {
            let bytes = self.body(body.place)?;
            let Some(new) = redacted(&bytes, body.call.is_some(), redact)? else { continue };
            changed += 1;
            left.insert(body.place.pack);
            documents.insert(body.document);
            let place = self.add_body(&new.bytes)?;
            self.point(&body, &new, place)?;
        }
        for document in documents {
            let seq = self.next_seq();
            self.transaction.execute("UPDATE documents SET seq = ?2 WHERE n = ?1", [document, seq])?;
            self.mark_holders(document)?;
        }
        if !left.is_empty() {
            self.repack(&left)?;
        }
        Ok(changed)
    }

    fn bodies(&self, from: i64, to: i64) -> Result<Vec<Body>, StoreError> {
        let mut query = self.transaction.prepare_cached(
            "SELECT n, content, NULL, pack, start, length FROM documents WHERE n >= ?1 AND n < ?2 AND pack IS NOT NULL
             UNION ALL SELECT document, content, NULL, pack, start, length FROM revisions WHERE document >= ?1 AND document < ?2
             UNION ALL SELECT document, 0, call, pack, start, length FROM outputs WHERE document >= ?1 AND document < ?2",
        )?;
        let rows = query.query_map([from, to], |row| {
            Ok(Body {
                document: row.get(0)?,
                content: row.get(1)?,
                call: row.get(2)?,
                place: BodyPlace::read(row, 3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn point(&self, body: &Body, new: &Redacted, place: BodyPlace) -> Result<(), StoreError> {
        let BodyPlace { pack, start, length } = place;
        if let Some(call) = &body.call {
            self.transaction.execute(
                "UPDATE outputs SET pack = ?3, start = ?4, length = ?5 WHERE document = ?1 AND call = ?2",
                params![body.document, call, pack, start, length],
            )?;
            return Ok(());
        }
        let current = self.transaction.execute(
            "UPDATE documents SET content = ?3, bytes = ?4, pack = ?5, start = ?6, length = ?7 WHERE n = ?1 AND content = ?2",
            params![body.document, body.content, new.content, new.text_bytes, pack, start, length],
        )?;
        if current == 0 {
            // Two revisions may have differed in nothing but the secret.
            self.transaction.execute(
                "UPDATE OR REPLACE revisions SET content = ?3, bytes = ?4, pack = ?5, start = ?6, length = ?7 WHERE document = ?1 AND content = ?2",
                params![body.document, body.content, new.content, new.text_bytes, pack, start, length],
            )?;
        }
        self.transaction.execute(
            "DELETE FROM revisions WHERE document = ?1 AND content = (SELECT content FROM documents WHERE n = ?1)",
            [body.document],
        )?;
        self.transaction.execute(
            "UPDATE documents SET revision = 1 + (SELECT count(*) FROM revisions WHERE document = ?1) WHERE n = ?1",
            [body.document],
        )?;
        Ok(())
    }

    /// Redacts what lies beside the bodies: titles, directories, paths, names. Returns how many texts changed.
    fn redact_names(&mut self, redact: Redact<'_>) -> Result<u64, StoreError> {
        let mut changed = 0;
        for (table, key, column) in [
            ("sessions", "n", "title"),
            ("sessions", "n", "cwd"),
            ("sessions", "n", "branch"),
            ("sessions", "n", "claim_directory"),
            ("sessions", "n", "version"),
            ("sessions", "n", "reason"),
            ("sessions", "n", "trigger"),
            ("projects", "id", "name"),
            ("projects", "id", "remote"),
            ("projects", "id", "directory"),
            ("directories", "directory", "directory"),
            ("documents", "n", "command"),
            ("outputs", "document", "call"),
            ("agents", "n", "name"),
            ("summaries", "leaf", "title"),
        ] {
            let mut query = self.transaction.prepare(&format!(
                "SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL AND {column} <> ''"
            ))?;
            let texts: Vec<String> = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            drop(query);
            for text in texts {
                let Some(new) = redact(&text) else { continue };
                changed += 1;
                let rows: Vec<rusqlite::types::Value> = {
                    let mut query = self
                        .transaction
                        .prepare(&format!("SELECT {key} FROM {table} WHERE {column} = ?1"))?;
                    query.query_map([&text], |row| row.get(0))?.collect::<Result<_, _>>()?
                };
                self.transaction.execute(
                    &format!("UPDATE OR REPLACE {table} SET {column} = ?2 WHERE {column} = ?1"),
                    params![text, new],
                )?;
                for row in rows {
                    self.behind_for(table, &row)?;
                }
            }
        }
        Ok(changed + self.redact_paths(redact)?)
    }

    /// Marks what rests on a row that was redacted beside its body.
    fn behind_for(&mut self, table: &str, row: &rusqlite::types::Value) -> Result<(), StoreError> {
        let rusqlite::types::Value::Integer(n) = *row else { return Ok(()) };
        match table {
            "sessions" => self.dirty(n, "session", ""),
            "documents" | "outputs" => {
                let seq = self.next_seq();
                self.transaction.execute("UPDATE documents SET seq = ?2 WHERE n = ?1", [n, seq])?;
                self.mark_holders(n)
            }
            _ => Ok(()),
        }
    }

    fn redact_paths(&mut self, redact: Redact<'_>) -> Result<u64, StoreError> {
        let mut query = self.transaction.prepare("SELECT n, path FROM paths")?;
        let paths: Vec<(i64, String)> =
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
        drop(query);
        let mut changed = 0;
        for (n, path) in paths {
            let Some(new) = redact(&path) else { continue };
            changed += 1;
            self.transaction.execute("INSERT OR IGNORE INTO paths (path) VALUES (?1)", [&new])?;
            self.transaction.execute(
                "UPDATE OR REPLACE touches SET path = (SELECT n FROM paths WHERE path = ?2) WHERE path = ?1",
                params![n, new],
            )?;
            self.transaction.execute("DELETE FROM paths WHERE n = ?1", [n])?;
            let holders = self.numbers(&format!(
                "SELECT document FROM touches WHERE path = (SELECT n FROM paths WHERE path = '{}')",
                new.replace('\'', "''")
            ))?;
            for document in holders {
                let seq = self.next_seq();
                self.transaction.execute("UPDATE documents SET seq = ?2 WHERE n = ?1", [document, seq])?;
                self.mark_holders(document)?;
            }
        }
        Ok(changed)
    }
}

/// A body after redaction.
struct Redacted {
    bytes: Vec<u8>,
    content: i64,
    text_bytes: i64,
}

/// Redacts a body; `None` when it stays as it is. `plain`: it is text, not parts.
fn redacted(body: &[u8], plain: bool, redact: Redact<'_>) -> Result<Option<Redacted>, StoreError> {
    if plain {
        let text = String::from_utf8_lossy(body);
        let new = redact(&text).map(String::into_bytes);
        return Ok(new.map(|bytes| Redacted { bytes, content: 0, text_bytes: 0 }));
    }
    let (mut blocks, mut beside) = whole_of(body)?;
    let mut changed = false;
    let mut say = |text: &mut String| {
        if let Some(new) = redact(text) {
            *text = new;
            changed = true;
        }
    };
    for block in &mut blocks {
        block.each_text(&mut say);
    }
    let Beside { parent, message, model, prompt, args } = &mut beside;
    for text in [parent, message, model, prompt, args].into_iter().flatten() {
        let mut owned = text.to_string();
        say(&mut owned);
        *text = Cow::Owned(owned);
    }
    if !changed {
        return Ok(None);
    }
    let json = serde_json::to_vec(&blocks).map_err(|e| not_ours(&e))?;
    let content = compact::short_hash(&id::sha256(&json));
    let bytes: u64 = blocks.iter().map(|block| block.text().len() as u64).sum();
    let text_bytes = super::documents::position(bytes);
    Ok(Some(Redacted { bytes: body_of(json, &beside)?, content, text_bytes }))
}
