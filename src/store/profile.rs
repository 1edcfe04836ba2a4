//! The profile of a session: its distinct terms, which recall routes by. A set, so the order of reading does not matter.

use super::body::{Block, compress, unpack};
use super::{StoreError, Write};
use rusqlite::{OptionalExtension, params};
use std::collections::BTreeMap;

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
        let mut set = Terms::default();
        known.split_whitespace().for_each(|term| set.add(term.to_owned()));
        set.grown = false;
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
                    terms(t, &mut |term| set.add(term));
                }
            }
        }
        drop(rows);
        drop(query);
        let grown = set.grown;
        let joined = set.joined();
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

/// The terms whose hashes sort first, at most [`MAX_TERMS`]: the same ones in whatever order and portions they come.
#[derive(Default)]
struct Terms {
    by_hash: BTreeMap<u64, String>,
    grown: bool,
}

impl Terms {
    fn add(&mut self, term: String) {
        let hash = stable_hash(&term);
        let full = self.by_hash.len() >= MAX_TERMS;
        if full && self.by_hash.last_key_value().is_some_and(|(last, _)| hash > *last) {
            return;
        }
        match self.by_hash.get_mut(&hash) {
            // Two terms of one hash: the one that sorts first, whichever came first.
            Some(known) if *known <= term => return,
            Some(known) => *known = term,
            None => drop(self.by_hash.insert(hash, term)),
        }
        if full && self.by_hash.len() > MAX_TERMS {
            self.by_hash.pop_last();
        }
        self.grown = true;
    }

    fn joined(self) -> String {
        let mut terms: Vec<String> = self.by_hash.into_values().collect();
        terms.sort_unstable();
        terms.join(" ")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terms_kept_do_not_depend_on_their_order() {
        let all: Vec<String> = (0..MAX_TERMS + 5_000).map(|n| format!("term{n}")).collect();
        let kept = |terms: &mut dyn Iterator<Item = &String>| {
            let mut set = Terms::default();
            terms.for_each(|term| set.add(term.clone()));
            set.joined()
        };
        let forward = kept(&mut all.iter());
        assert_eq!(forward.split(' ').count(), MAX_TERMS);
        assert_eq!(kept(&mut all.iter().rev().chain(&all)), forward);
    }
}
