//! Results that the host moved to a file of their own: the transcript holds their first two thousand characters and the file's name.
//!
//! The document is what the transcript says, so its id, content and revisions do not depend on the file (D4). What the file says stands
//! beside it, once it was there to be read; a later reading without the file takes nothing away, and of two readings the longer one holds.

use super::body::Block;
use super::compact::{self, Id};
use super::documents::position;
use super::packs::Place;
use super::read::Reader;
use super::{StoreError, Write};
use rusqlite::{OptionalExtension, params};

/// The text of such a file, redacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The observation whose result it is.
    pub observation: String,
    /// The call's id.
    pub call: String,
    /// The text; of a long one its ends.
    pub text: String,
    /// Size of the file, bytes.
    pub bytes: u64,
    /// Its sha256, hex.
    pub sha256: String,
}

/// How the text of a result begins that lies in a file.
pub const PERSISTED: &str = "<persisted-output>";

impl Write<'_> {
    /// Keeps the text of an output's file beside the observation, unless a longer one is there. Errors: [`StoreError`].
    pub fn output(&mut self, session: i64, output: &Output) -> Result<(), StoreError> {
        let own = compact::own_id(&output.observation, &self.session_id(session)?);
        let mut query = self.transaction.prepare_cached(
            "SELECT d.n FROM documents d JOIN links l ON l.document = d.n AND l.session = ?2 WHERE d.id = ?1",
        )?;
        let mut document: Option<i64> = None;
        for id in [&output.observation, &own] {
            document =
                document.or(query.query_row(params![Id::of(id), session], |row| row.get(0)).optional()?);
        }
        drop(query);
        let Some(document) = document else { return Ok(()) };
        let known: Option<(i64, String)> = self
            .transaction
            .prepare_cached("SELECT bytes, sha256 FROM outputs WHERE document = ?1 AND call = ?2")?
            .query_row(params![document, output.call], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let bytes = position(output.bytes);
        if known.is_some_and(|known| known >= (bytes, output.sha256.clone())) {
            return Ok(());
        }
        let place = self.add_body(output.text.as_bytes())?;
        self.transaction.execute(
            "INSERT OR REPLACE INTO outputs (document, call, bytes, sha256, pack, start, length) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![document, output.call, bytes, output.sha256, place.pack, place.start, place.length],
        )?;
        let seq = self.next_seq();
        self.transaction.execute("UPDATE documents SET seq = ?2 WHERE n = ?1", [document, seq])?;
        Ok(())
    }
}

impl Reader {
    /// Puts the text of the file where the transcript has its beginning, or says that the file was not there.
    pub(super) fn put_outputs(&self, document: i64, blocks: &mut [Block]) -> Result<(), StoreError> {
        for block in blocks {
            let Block::Result { id, t, .. } = block else { continue };
            if !t.starts_with(PERSISTED) {
                continue;
            }
            let mut query = self.connection.prepare_cached(
                "SELECT pack, start, length FROM outputs WHERE document = ?1 AND call = ?2",
            )?;
            let place = query.query_row(params![document, *id], |row| Place::read(row, 0)).optional()?;
            match place {
                Some(place) => {
                    let body = self.packs.body(&self.connection, place)?;
                    *t = String::from_utf8(body).map_err(|e| StoreError::Body(e.to_string()))?;
                }
                None => t.push_str("\n[the file with the whole output was not there to be read]"),
            }
        }
        Ok(())
    }
}
