//! The profile of a session: its distinct terms, which recall routes by. A set, so the order of reading does not matter.

use super::body::{Block, blocks_of, compress, unpack};
use super::compact;
use super::packs::Place;
use super::{StoreError, Write};
use rusqlite::{OptionalExtension, params};
use std::collections::BTreeMap;

/// More terms than this tell a session from no other. The ones kept are those that sort first by hash, whatever the order they came in.
const MAX_TERMS: usize = 30_000;
/// Profiles in the making are held for this many sessions; then they go into their rows.
const HELD: usize = 16;

/// What a transaction adds to the profiles of sessions.
#[derive(Default)]
pub(super) struct Gains(BTreeMap<i64, Gain>);

enum Gain {
    /// The profile with what came; `true` when its row is behind.
    Known(Terms, bool),
    /// It lost words: it is made anew from the observations.
    Stale,
}

impl Write<'_> {
    /// Adds the terms of an observation that is about to be linked to a session.
    pub(super) fn profile_gains(&mut self, session: i64, terms: &str) -> Result<(), StoreError> {
        if !self.profiles.0.contains_key(&session) {
            if self.profiles.0.len() >= HELD {
                self.write_profiles()?;
            }
            let gain = match self.stored_terms(session)? {
                Some(terms) => Gain::Known(terms, false),
                None if self.holds_observations(session)? => Gain::Stale,
                None => Gain::Known(Terms::default(), true),
            };
            self.profiles.0.insert(session, gain);
        }
        if let Some(Gain::Known(set, behind)) = self.profiles.0.get_mut(&session) {
            for term in terms.split_whitespace() {
                *behind |= set.add(term);
            }
        }
        Ok(())
    }

    /// Words may have left a session.
    pub(super) fn forget_profile(&mut self, session: i64) -> Result<(), StoreError> {
        self.transaction.execute("DELETE FROM profiles WHERE session = ?1", [session])?;
        self.profiles.0.insert(session, Gain::Stale);
        Ok(())
    }

    /// Writes the profiles that grew: before a commit, and when there are many.
    pub(super) fn write_profiles(&mut self) -> Result<(), StoreError> {
        for (session, gain) in std::mem::take(&mut self.profiles.0) {
            if let Gain::Known(terms, true) = gain {
                self.write_profile(session, &terms.joined())?;
            }
        }
        Ok(())
    }

    fn write_profile(&self, session: i64, joined: &str) -> Result<(), StoreError> {
        let blob = compress(joined.as_bytes())
            .ok_or_else(|| StoreError::Body("a profile cannot be packed".to_owned()))?;
        self.transaction
            .prepare_cached("INSERT OR REPLACE INTO profiles (session, terms) VALUES (?1, ?2)")?
            .execute(params![session, blob])?;
        Ok(())
    }

    /// A session's profile, joined by spaces; made anew where it is not known. `terms` splits a text into the terms of the index.
    pub(super) fn profile(
        &mut self,
        session: i64,
        terms: &mut dyn FnMut(&str, &mut dyn FnMut(String)),
    ) -> Result<String, StoreError> {
        if let Some(Gain::Known(set, behind)) = self.profiles.0.remove(&session) {
            let joined = set.joined();
            if behind {
                self.write_profile(session, &joined)?;
            }
            return Ok(joined);
        }
        if let Some(known) = self.stored_terms(session)? {
            return Ok(known.joined());
        }
        let mut set = Terms::default();
        let mut query = self.transaction.prepare_cached(
            "SELECT d.speaker, d.pack, d.start, d.length FROM links l JOIN documents d ON d.n = l.document
             WHERE l.session = ?1 AND d.scored = 1",
        )?;
        let mut rows = query.query([session])?;
        while let Some(row) = rows.next()? {
            let blocks = blocks_of(&self.body(Place::read(row, 1)?)?)?;
            for text in telling(compact::speaker_name(row.get(0)?), true, &blocks) {
                terms(text, &mut |term| {
                    set.add(&term);
                });
            }
        }
        drop(rows);
        drop(query);
        let joined = set.joined();
        self.write_profile(session, &joined)?;
        Ok(joined)
    }

    fn stored_terms(&self, session: i64) -> Result<Option<Terms>, StoreError> {
        let known = stored_profile(&self.transaction, session)?;
        Ok(known.map(|known| {
            let mut set = Terms::default();
            known.split_whitespace().for_each(|term| {
                set.add(term);
            });
            set
        }))
    }

    fn holds_observations(&self, session: i64) -> Result<bool, StoreError> {
        Ok(self
            .transaction
            .prepare_cached("SELECT 1 FROM links WHERE session = ?1 LIMIT 1")?
            .exists([session])?)
    }
}

/// The texts of an observation that tell its session from others. What tools print is mostly bulk, and tells them apart worse than what
/// was said.
pub fn telling<'a>(speaker: &str, scored: bool, blocks: &'a [Block]) -> impl Iterator<Item = &'a str> {
    let counts = scored && speaker != "tool" && speaker != "web";
    blocks.iter().filter(move |_| counts).filter_map(|block| match block {
        Block::Text { t } => Some(t.as_str()),
        _ => None,
    })
}

/// The terms whose hashes sort first, at most [`MAX_TERMS`]: the same ones in whatever order and portions they come.
#[derive(Default)]
struct Terms {
    by_hash: BTreeMap<u64, String>,
}

impl Terms {
    /// Adds a term; true when it is one more, or another.
    fn add(&mut self, term: &str) -> bool {
        let hash = stable_hash(term);
        let full = self.by_hash.len() >= MAX_TERMS;
        if full && self.by_hash.last_key_value().is_some_and(|(last, _)| hash > *last) {
            return false;
        }
        match self.by_hash.get_mut(&hash) {
            // Two terms of one hash: the one that sorts first, whichever came first.
            Some(known) if known.as_str() <= term => return false,
            Some(known) => term.clone_into(known),
            None => drop(self.by_hash.insert(hash, term.to_owned())),
        }
        if full && self.by_hash.len() > MAX_TERMS {
            self.by_hash.pop_last();
        }
        true
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
pub(super) fn stored_profile(
    connection: &rusqlite::Connection,
    session: i64,
) -> Result<Option<String>, StoreError> {
    let blob: Option<Vec<u8>> = connection
        .prepare_cached("SELECT terms FROM profiles WHERE session = ?1")?
        .query_row([session], |row| row.get(0))
        .optional()?;
    let read = |blob| String::from_utf8(unpack(1, blob)?).map_err(|e| StoreError::Body(e.to_string()));
    blob.map(read).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terms_kept_do_not_depend_on_their_order() {
        let all: Vec<String> = (0..MAX_TERMS + 5_000).map(|n| format!("term{n}")).collect();
        let kept = |terms: &mut dyn Iterator<Item = &String>| {
            let mut set = Terms::default();
            terms.for_each(|term| {
                set.add(term);
            });
            set.joined()
        };
        let forward = kept(&mut all.iter());
        assert_eq!(forward.split(' ').count(), MAX_TERMS);
        assert_eq!(kept(&mut all.iter().rev().chain(&all)), forward);
    }
}
