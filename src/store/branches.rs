//! What a person took back: `/rewind` leaves the abandoned part in the transcript, and the next prompt follows an earlier record.
//!
//! Two prompts of a session that follow the same record are that mark: what lies from the earlier one up to the later one was taken back.
//! It is kept, and its documents have the status `superseded`, which ranks them down. A record that another session holds and did not take
//! back (a fork made before) stays as it is. A prompt that follows nothing (the first one) tells nothing: some files
//! hold several of them. Two clients that resume one session at the same time leave the same mark; that is not told apart.

use super::body::whole_of;
use super::compact;
use super::packs::{Packs, Place as BodyPlace};
use super::{StoreError, Write};
use crate::id;
use rusqlite::{Transaction, params};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// The status of what was taken back.
pub(super) const SUPERSEDED: &str = "superseded";

/// A place in a session's order: time in milliseconds, then byte position.
type Place = (i64, i64);
/// From the first prompt taken back up to the one that took its place.
type Span = (Place, Place);

struct Prompt {
    place: Place,
    /// A hash of the record that it follows.
    follows: Option<i64>,
}

fn key(parent: &str) -> i64 {
    compact::short_hash(&id::sha256(parent.as_bytes()))
}

impl Write<'_> {
    /// Notes which record a prompt of the main line follows in a session: a copy of it in another session may follow another one. `before`
    /// compares its place with the one it was known at in this session. The least place counts, and of two as low the lesser hash, so
    /// that the order of reading does not.
    pub(super) fn follows(
        &mut self,
        (session, document): (i64, i64),
        parent: Option<&str>,
        before: Ordering,
    ) -> Result<(), StoreError> {
        let sql = match before {
            Ordering::Greater => return Ok(()),
            Ordering::Less => {
                "INSERT OR REPLACE INTO follows (session, document, parent) VALUES (?1, ?2, ?3)"
            }
            Ordering::Equal => {
                "INSERT INTO follows (session, document, parent) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET parent = excluded.parent WHERE excluded.parent < parent"
            }
        };
        let changed = match (parent, before) {
            (Some(parent), _) => {
                self.transaction.prepare_cached(sql)?.execute(params![session, document, key(parent)])?
            }
            (None, Ordering::Less) => self
                .transaction
                .prepare_cached("DELETE FROM follows WHERE session = ?1 AND document = ?2")?
                .execute([session, document])?,
            (None, _) => 0,
        };
        if changed > 0 {
            self.dirty(session, "branch", "")?;
        }
        Ok(())
    }

    /// Brings the marks of a session in step with its prompts; what rests on a changed one is behind then.
    pub(super) fn mark_rewound(&mut self, session: i64) -> Result<(), StoreError> {
        let spans = taken_back(&self.prompts(session)?);
        let before = self.spans(session)?;
        if spans.is_empty() && before.is_empty() {
            return Ok(());
        }
        if spans != before {
            self.transaction.execute("DELETE FROM rewound WHERE session = ?1", [session])?;
            for (from, to) in &spans {
                self.transaction.execute(
                    "INSERT INTO rewound (session, from_ms, from_at, to_ms, to_at) VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![session, from.0, from.1, to.0, to.1],
                )?;
            }
        }
        // What came into a stretch since then (a subagent's file that was read late) is looked at with the rest.
        let all: BTreeSet<Span> = spans.into_iter().chain(before).collect();
        for span in all {
            self.restate(session, span)?;
        }
        Ok(())
    }

    /// A record that one session took back comes to be held by another one: the first is to look again.
    pub(super) fn held_by_one_more(&self, document: i64) -> Result<(), StoreError> {
        self.transaction
            .prepare_cached(
                "INSERT OR IGNORE INTO dirty (session, part, item)
                 SELECT DISTINCT r.session, 'branch', '' FROM links l JOIN rewound r ON r.session = l.session WHERE l.document = ?1",
            )?
            .execute([document])?;
        Ok(())
    }

    fn prompts(&self, session: i64) -> Result<Vec<Prompt>, StoreError> {
        let mut query = self.transaction.prepare_cached(
            "SELECT l.at_ms, l.at, f.parent FROM links l INDEXED BY links_prompts LEFT JOIN follows f ON f.session = l.session AND f.document = l.document
             WHERE l.session = ?1 AND l.is_prompt = 1 AND l.agent = 0 ORDER BY l.at_ms, l.at",
        )?;
        let rows = query.query_map([session], |row| {
            Ok(Prompt { place: (row.get(0)?, row.get(1)?), follows: row.get(2)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn spans(&self, session: i64) -> Result<Vec<Span>, StoreError> {
        let mut query = self.transaction.prepare_cached(
            "SELECT from_ms, from_at, to_ms, to_at FROM rewound WHERE session = ?1 ORDER BY from_ms, from_at",
        )?;
        let rows =
            query.query_map([session], |row| Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?))))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Gives each observation of a stretch the status that all sessions holding it agree on.
    fn restate(&mut self, session: i64, (from, to): Span) -> Result<(), StoreError> {
        let mut query = self.transaction.prepare_cached(
            "SELECT d.n, d.status IS NOT NULL,
               NOT EXISTS (SELECT 1 FROM links o WHERE o.document = d.n AND NOT EXISTS (
                 SELECT 1 FROM rewound r WHERE r.session = o.session
                   AND (o.at_ms, o.at) >= (r.from_ms, r.from_at) AND (o.at_ms, o.at) < (r.to_ms, r.to_at)))
             FROM links l JOIN documents d ON d.n = l.document
             WHERE l.session = ?1 AND (l.at_ms, l.at) >= (?2, ?3) AND (l.at_ms, l.at) < (?4, ?5)
             ORDER BY l.agent, l.at_ms, l.at, d.id",
        )?;
        let rows = query.query_map(params![session, from.0, from.1, to.0, to.1], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        let rows: Vec<(i64, bool, bool)> = rows.collect::<Result<_, _>>()?;
        drop(query);
        for (document, was, is) in rows {
            if was == is {
                continue;
            }
            let seq = self.next_seq();
            self.transaction
                .prepare_cached("UPDATE documents SET status = ?2, seq = ?3 WHERE n = ?1")?
                .execute(params![document, is.then_some(SUPERSEDED), seq])?;
            self.restated(document)?;
        }
        Ok(())
    }

    /// What rests on a document whose status changed is behind, in every session that holds it: each has an outcome of its own of a
    /// subagent's run.
    fn restated(&mut self, document: i64) -> Result<(), StoreError> {
        let mut query = self
            .transaction
            .prepare_cached("SELECT session, agent, is_prompt FROM links WHERE document = ?1")?;
        let rows = query.query_map([document], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let holders: Vec<(i64, i64, bool)> = rows.collect::<Result<_, _>>()?;
        drop(query);
        for (session, agent, is_prompt) in holders {
            if agent != 0 {
                self.dirty(session, "agent", &agent.to_string())?;
            } else if is_prompt {
                self.dirty(session, "turn", &document.to_string())?;
            }
        }
        Ok(())
    }

    /// The status of an outcome is that of the observation it begins with.
    pub(super) fn status_of(&self, observation: Option<&i64>) -> Result<Option<&'static str>, StoreError> {
        let Some(n) = observation else { return Ok(None) };
        let mut query =
            self.transaction.prepare_cached("SELECT 1 FROM documents WHERE n = ?1 AND status = ?2")?;
        Ok(query.exists(params![n, SUPERSEDED])?.then_some(SUPERSEDED))
    }
}

/// The stretches that were taken back, in order; none overlaps another.
fn taken_back(prompts: &[Prompt]) -> Vec<Span> {
    let mut going: Vec<&Prompt> = Vec::new();
    let mut spans: Vec<Span> = Vec::new();
    for prompt in prompts {
        // Two of one millisecond are one prompt written twice.
        let same = |p: &&Prompt| p.follows == prompt.follows && p.place.0 < prompt.place.0;
        let back = prompt.follows.and_then(|_| going.iter().position(same));
        if let Some(at) = back
            && let Some(first) = going.get(at)
        {
            let from = first.place;
            spans.retain(|span| span.0 < from);
            spans.push((from, prompt.place));
            going.truncate(at);
        }
        going.push(prompt);
    }
    spans
}

/// Reads which records the prompts of an older store follow, and marks the sessions where two follow the same one.
pub(super) fn fill(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    let packs = Packs::default();
    let mut query = transaction.prepare(
        "SELECT DISTINCT d.n, d.pack, d.start, d.length FROM links l JOIN documents d ON d.n = l.document
         WHERE l.is_prompt = 1 AND l.agent = 0 ORDER BY d.n",
    )?;
    // The body knows one parent, whichever sessions hold it.
    let mut insert = transaction.prepare(
        "INSERT OR REPLACE INTO follows (session, document, parent)
         SELECT session, document, ?2 FROM links WHERE document = ?1 AND is_prompt = 1 AND agent = 0",
    )?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let n: i64 = row.get(0)?;
        // A body that cannot be read is found by whoever reads it; here it says nothing.
        let body = packs.body(transaction, BodyPlace::read(row, 1)?).ok();
        let beside = body.and_then(|body| whole_of(&body).ok()).map(|(_, beside)| beside);
        if let Some(parent) = beside.and_then(|beside| beside.parent) {
            insert.execute(params![n, key(&parent)])?;
        }
    }
    transaction.execute(
        "INSERT OR IGNORE INTO dirty (session, part, item)
         SELECT l.session, 'turn', CAST(max(l.document) AS TEXT) FROM links l JOIN follows f ON f.session = l.session AND f.document = l.document
         WHERE l.is_prompt = 1 AND l.agent = 0 GROUP BY l.session, f.parent HAVING count(*) > 1",
        [],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `follows` of each prompt, in order; the spans by number of prompt.
    fn check(follows: &[i64], expected: &[(i64, i64)]) {
        let place = |n: usize| (i64::try_from(n).unwrap(), 0);
        let prompts: Vec<Prompt> = follows
            .iter()
            .enumerate()
            .map(|(n, f)| Prompt { place: place(n), follows: (*f != 0).then_some(*f) })
            .collect();
        let found: Vec<(i64, i64)> = taken_back(&prompts).iter().map(|(from, to)| (from.0, to.0)).collect();
        assert_eq!(found, expected, "{follows:?}");
    }

    #[test]
    fn a_prompt_behind_an_earlier_one_takes_back_what_lies_between() {
        check(&[0, 1, 2, 3], &[]);
        check(&[0, 1, 1], &[(1, 2)]);
        // Two turns back at once.
        check(&[0, 1, 2, 1, 4], &[(1, 3)]);
        // Twice to the same place; then deeper, which swallows the first.
        check(&[0, 1, 1, 1], &[(1, 2), (2, 3)]);
        check(&[0, 1, 2, 2, 1], &[(1, 4)]);
        // What follows nothing tells nothing.
        check(&[0, 0, 0], &[]);
    }

    #[test]
    fn one_prompt_written_twice_is_no_rewind() {
        let twice = [(5, 10), (5, 90)].map(|place| Prompt { place, follows: Some(1) });
        assert_eq!(taken_back(&twice), []);
    }
}
