//! The profile of a session: its distinct terms, which recall routes by. A set, so the order of reading does not matter.

use super::body::{Block, compress, unpack};
use super::{StoreError, Write};
use rusqlite::{OptionalExtension, params};
use std::collections::BTreeSet;

/// More terms than this tell a session from no other. The ones kept are those that sort first by hash, whatever the order they came in.
const MAX_TERMS: usize = 30_000;
impl Write<'_> {
    /// Brings a session's profile up to date; `terms` splits a text into the terms of the index. Returns the terms, joined by spaces.
    pub(super) fn profile(
        &mut self,
        session: i64,
        terms: &mut dyn FnMut(&str, &mut dyn FnMut(String)),
    ) -> Result<String, StoreError> {
        let stored: Option<(i64, Vec<u8>)> = self
            .transaction
            .query_row("SELECT upto, terms FROM profiles WHERE session = ?1", [session], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let (upto, known) = match stored {
            Some((upto, blob)) => {
                let bytes = unpack(1, blob)?;
                (upto, String::from_utf8(bytes).map_err(|e| StoreError::Body(e.to_string()))?)
            }
            None => (0, String::new()),
        };
        let mut set: BTreeSet<String> = known.split_whitespace().map(str::to_owned).collect();
        let before = set.len();
        let mut newest = upto;
        let mut query = self.transaction.prepare_cached(
            "SELECT l.n, d.codec, d.body, d.speaker FROM links l JOIN documents d ON d.n = l.document
             WHERE l.session = ?1 AND l.n > ?2 AND d.scored = 1 ORDER BY l.n",
        )?;
        let mut rows = query.query(params![session, upto])?;
        while let Some(row) = rows.next()? {
            newest = row.get(0)?;
            let blocks: Vec<Block> = serde_json::from_slice(&unpack(row.get(1)?, row.get(2)?)?)
                .map_err(|e| StoreError::Body(e.to_string()))?;
            let speaker: String = row.get(3)?;
            // What tools print is mostly bulk, and tells sessions apart worse than what was said.
            for block in &blocks {
                let Block::Text { t } = block else { continue };
                if speaker != "tool" {
                    terms(t, &mut |term| {
                        set.insert(term);
                    });
                }
            }
        }
        drop(rows);
        drop(query);
        if set.len() > MAX_TERMS {
            let mut hashed: Vec<(u64, String)> = set.into_iter().map(|t| (stable_hash(&t), t)).collect();
            hashed.sort();
            hashed.truncate(MAX_TERMS);
            set = hashed.into_iter().map(|(_, t)| t).collect();
        }
        let grown = set.len() != before;
        let joined = set.into_iter().collect::<Vec<_>>().join(" ");
        if grown || newest != upto {
            let blob = compress(joined.as_bytes())
                .ok_or_else(|| StoreError::Body("a profile cannot be packed".to_owned()))?;
            self.transaction.execute(
                "INSERT OR REPLACE INTO profiles (session, upto, terms) VALUES (?1, ?2, ?3)",
                params![session, newest, blob],
            )?;
        }
        Ok(joined)
    }
}

/// FNV-1a: the same in every version and on every machine, which the standard hasher does not promise.
fn stable_hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Reads a stored profile. Errors: [`StoreError`].
pub(super) fn stored_profile(connection: &rusqlite::Connection, session: i64) -> Result<String, StoreError> {
    let blob: Option<Vec<u8>> = connection
        .prepare_cached("SELECT terms FROM profiles WHERE session = ?1")?
        .query_row([session], |row| row.get(0))
        .optional()?;
    match blob {
        Some(blob) => String::from_utf8(unpack(1, blob)?).map_err(|e| StoreError::Body(e.to_string())),
        None => Ok(String::new()),
    }
}
