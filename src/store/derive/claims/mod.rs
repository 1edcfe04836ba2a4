//! Claims: what was decided, what holds, what a person wants, why something failed, what was renamed or removed.
//!
//! Statements are drawn from the turns of the main line, from what user and assistant said; not from what was taken back. A row of
//! `claims` is a statement, found again by the words of its subject; `claim_relations` holds how pairs stand to each other, which is a function of
//! the two alone. So the status of a claim is a function of all that are stored, whatever was read first (D5):
//!
//! | status | when |
//! |---|---|
//! | superseded | a later one takes its place or says it again, or it was refuted |
//! | conflicted | it disagrees with one that is not superseded, and nothing says which holds |
//! | current | otherwise |
//!
//! One that was refuted takes the place of none.

mod cues;
mod near;
mod relation;
pub(in crate::store) mod statement;

use super::{Derived, derived_id};
use crate::clock::{self, Millis};
use crate::id;
use crate::store::body::{Fields, not_ours};
use crate::store::compact::{self, Id};
use crate::store::stated::{Related, Stated};
use crate::store::{StoreError, Terms, Write};
use near::{Near, number, status};
use relation::Key;
use rusqlite::{OptionalExtension, params};
use statement::{Kind, Statement};
use std::collections::{BTreeMap, BTreeSet};

/// A statement of a turn, before it is stored.
pub(in crate::store) struct Drawn {
    observation: i64,
    time_ms: i64,
    statement: Statement,
    key: Key,
}

/// Collects the statements of a turn, record by record.
#[derive(Default)]
pub(super) struct Collector {
    /// What was said in the turn, as far as it tells what its claims are about.
    said: String,
    found: Vec<(i64, i64, bool, Statement)>,
}

/// Of a turn, at most so many.
const MOST: usize = 200;
/// Of each record, and of a turn, so much tells what its claims are about. Units: bytes.
const SAID_BYTES: (usize, usize) = (1500, 6000);
/// Related claims that a document names.
const NAMED: usize = 8;
/// Marks that belong to no session.
const NO_SESSION: i64 = 0;

impl Collector {
    /// Takes what a record of the main line says.
    pub(super) fn add(&mut self, observation: i64, time_ms: Option<i64>, speaker: &str, text: &str) {
        let by_user = speaker == "user";
        if !by_user && speaker != "assistant" {
            return;
        }
        if self.said.len() < SAID_BYTES.1 {
            self.said.push_str(begin(text, SAID_BYTES.0));
            self.said.push('\n');
        }
        if self.found.len() < MOST {
            let found = statement::statements(text, by_user);
            self.found.extend(found.into_iter().map(|s| (observation, time_ms.unwrap_or(0), by_user, s)));
        }
    }

    /// Was something settled?
    pub(super) fn has_decided(&self) -> bool {
        let settles = |kind: Kind| matches!(kind, Kind::Decision | Kind::Preference);
        self.found.iter().any(|(.., statement)| settles(statement.kind))
    }

    /// What was drawn. `terms` is the analysis of the index.
    pub(super) fn drawn(self, terms: Terms<'_>) -> Vec<Drawn> {
        if self.found.is_empty() {
            return Vec::new();
        }
        let around = relation::around(&self.said, terms);
        let found = self.found.into_iter();
        found
            .map(|(observation, time_ms, by_user, statement)| {
                let key = relation::key(&statement, by_user, around.clone(), terms);
                Drawn { observation, time_ms, statement, key }
            })
            .collect()
    }
}

fn begin(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// A row of `claims`.
struct Row {
    n: i64,
    id: Id,
    session: i64,
    time_ms: i64,
    key: Key,
}

impl Row {
    fn is_before(&self, other: &Row) -> bool {
        (self.time_ms, &self.id) < (other.time_ms, &other.id)
    }
}

impl Write<'_> {
    /// Brings the claims of a turn in step with what was drawn from it. `session` owns it.
    pub(super) fn claim(&mut self, turn: &str, session: i64, drawn: &[Drawn]) -> Result<(), StoreError> {
        let project = self.project_of(session)?;
        let mut wanted = Vec::new();
        for claim in drawn {
            let observation = self.document_id(claim.observation)?;
            let id = derived_id("k", &[turn, &observation, &claim.statement.text]);
            let key = serde_json::to_string(&claim.key).map_err(|e| not_ours(&e))?;
            let Statement { kind, subject, value, text } = &claim.statement;
            let stated = serde_json::to_string(&(kind, subject, value, text)).map_err(|e| not_ours(&e))?;
            wanted.push((Id::of(&id), claim, key, stated, packed(&claim.key.around)));
        }
        for (n, id, same) in self.claims_of(turn)? {
            let at = wanted.iter().position(|(wanted, claim, key, stated, around)| {
                *wanted == id
                    && same
                        == (
                            claim.observation,
                            session,
                            project.clone(),
                            claim.time_ms,
                            key.clone(),
                            stated.clone(),
                            around.clone(),
                        )
            });
            match at {
                Some(at) => {
                    // The sessions that hold it may have changed.
                    self.dirty(NO_SESSION, "claim", &n.to_string())?;
                    wanted.remove(at);
                }
                None => self.unclaim(n)?,
            }
        }
        for (id, claim, key, stated, around) in wanted {
            self.transaction
                .prepare_cached(
                    "INSERT OR IGNORE INTO claims (id, turn, observation, session, project, time_ms, key, stated, around, needs)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                )?
                .execute(params![
                    id,
                    Id::of(turn),
                    claim.observation,
                    session,
                    project,
                    claim.time_ms,
                    key,
                    stated,
                    around,
                    relation::needs(&claim.key)
                ])?;
            if self.transaction.changes() == 0 {
                continue;
            }
            let n = self.transaction.last_insert_rowid();
            for term in relation::handles(&claim.key) {
                self.transaction
                    .prepare_cached("INSERT OR IGNORE INTO claim_terms (term, claim) VALUES (?1, ?2)")?
                    .execute(params![handle(&project, term), n])?;
            }
            let row = Row { n, id, session, time_ms: claim.time_ms, key: claim.key.clone() };
            self.relate(&project, &row)?;
            self.touch(n)?;
        }
        Ok(())
    }

    fn project_of(&self, session: i64) -> Result<String, StoreError> {
        let mut query = self.transaction.prepare_cached("SELECT project FROM sessions WHERE n = ?1")?;
        Ok(query.query_row([session], |row| row.get(0))?)
    }

    fn document_id(&self, n: i64) -> Result<String, StoreError> {
        let mut query = self.transaction.prepare_cached("SELECT id FROM documents WHERE n = ?1")?;
        Ok(query.query_row([n], |row| row.get::<_, Id>(0))?.text())
    }

    fn claims_of(&self, turn: &str) -> Result<Vec<(i64, Id, Columns)>, StoreError> {
        let mut query = self.transaction.prepare_cached(
            "SELECT n, id, observation, session, project, time_ms, key, stated, around FROM claims WHERE turn = ?1 ORDER BY n",
        )?;
        let rows = query.query_map([Id::of(turn)], |row| {
            let same =
                (row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?, row.get(8)?);
            Ok((row.get(0)?, row.get(1)?, same))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Notes how a new claim stands to those that share a word of its subject.
    fn relate(&mut self, project: &str, claim: &Row) -> Result<(), StoreError> {
        let mut shared: BTreeMap<i64, i64> = BTreeMap::new();
        for term in relation::handles(&claim.key) {
            let mut query =
                self.transaction.prepare_cached("SELECT claim FROM claim_terms WHERE term = ?1")?;
            let rows = query.query_map([handle(project, term)], |row| row.get::<_, i64>(0))?;
            for n in rows {
                *shared.entry(n?).or_default() += 1;
            }
        }
        let needs = relation::needs(&claim.key);
        for (n, shared) in shared {
            // Most share one word, and nothing is to be said of those.
            if n == claim.n || (shared < needs && shared < self.needs(n)?) {
                continue;
            }
            let Some(other) = self.claim_row(n)? else { continue };
            let (first, second) = if claim.is_before(&other) { (claim, &other) } else { (&other, claim) };
            let one_session = first.session == second.session;
            let Some(how) = relation::relation(&first.key, &second.key, one_session) else { continue };
            self.transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO claim_relations (earlier, later, how) VALUES (?1, ?2, ?3)",
                )?
                .execute(params![first.n, second.n, number(how, second.key.kind)])?;
        }
        Ok(())
    }

    fn needs(&self, n: i64) -> Result<i64, StoreError> {
        let mut query = self.transaction.prepare_cached("SELECT needs FROM claims WHERE n = ?1")?;
        Ok(query.query_row([n], |row| row.get(0)).optional()?.unwrap_or(i64::MAX))
    }

    fn claim_row(&self, n: i64) -> Result<Option<Row>, StoreError> {
        let mut query = self
            .transaction
            .prepare_cached("SELECT n, id, session, time_ms, key, around FROM claims WHERE n = ?1")?;
        let row = query.query_row([n], |row| {
            let (key, around): (String, Vec<u8>) = (row.get(4)?, row.get(5)?);
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, key, around))
        });
        let Some((n, id, session, time_ms, key, around)) = row.optional()? else { return Ok(None) };
        let key = Key { around: unpacked(&around), ..serde_json::from_str(&key).map_err(|e| not_ours(&e))? };
        Ok(Some(Row { n, id, session, time_ms, key }))
    }

    /// The status of a claim and of those near it is behind.
    fn touch(&mut self, n: i64) -> Result<(), StoreError> {
        let mut all = BTreeSet::from([n]);
        for _ in 0..2 {
            for n in all.clone() {
                let mut query = self.transaction.prepare_cached(
                    "SELECT later FROM claim_relations WHERE earlier = ?1 UNION SELECT earlier FROM claim_relations WHERE later = ?1",
                )?;
                for other in query.query_map([n], |row| row.get::<_, i64>(0))? {
                    all.insert(other?);
                }
            }
        }
        all.iter().try_for_each(|n| self.dirty(NO_SESSION, "claim", &n.to_string()))
    }

    /// Takes a claim away, with its document.
    fn unclaim(&mut self, n: i64) -> Result<(), StoreError> {
        self.touch(n)?;
        let Some(row) = self.claim_row(n)? else { return Ok(()) };
        let project: String = self
            .transaction
            .prepare_cached("SELECT project FROM claims WHERE n = ?1")?
            .query_row([n], |row| row.get(0))?;
        let id = row.id;
        for term in relation::handles(&row.key) {
            self.transaction
                .prepare_cached("DELETE FROM claim_terms WHERE term = ?1 AND claim = ?2")?
                .execute(params![handle(&project, term), n])?;
        }
        self.transaction
            .prepare_cached("DELETE FROM claim_relations WHERE earlier = ?1 OR later = ?1")?
            .execute([n])?;
        self.transaction.prepare_cached("DELETE FROM claims WHERE n = ?1")?.execute([n])?;
        self.take_away(&id.text())
    }

    /// Takes away the claims of observations that go, and of the turns that begin with them.
    pub(in crate::store) fn unclaim_doomed(&mut self) -> Result<(), StoreError> {
        let ids: Vec<Id> = {
            let mut query = self
                .transaction
                .prepare("SELECT id FROM documents WHERE n IN (SELECT n FROM temp.doomed)")?;
            query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?
        };
        let mut gone =
            self.numbers("SELECT n FROM claims WHERE observation IN (SELECT n FROM temp.doomed)")?;
        let turns: Vec<Id> = ids.iter().map(|id| Id::of(&derived_id("t", &["turn", &id.text()]))).collect();
        self.unrun_doomed(&turns)?;
        for turn in turns {
            let mut query = self.transaction.prepare_cached("SELECT n FROM claims WHERE turn = ?1")?;
            for n in query.query_map([turn], |row| row.get::<_, i64>(0))? {
                gone.insert(n?);
            }
        }
        gone.into_iter().try_for_each(|n| self.unclaim(n))
    }

    /// The turns with claims that a session owns are behind: its project, or what it holds, is another one.
    pub(in crate::store) fn reclaim(&mut self, session: i64) -> Result<(), StoreError> {
        if self.numbers(&format!("SELECT n FROM claims WHERE session = {session} LIMIT 1"))?.is_empty() {
            return Ok(());
        }
        let turns = self.numbers(&format!(
            "SELECT DISTINCT p.document FROM claims c JOIN links o ON o.document = c.observation AND o.session = {session}
             JOIN links p ON p.session = o.session AND p.is_prompt = 1 AND p.agent = 0 AND (p.at_ms, p.at) <= (o.at_ms, o.at)
             WHERE c.session = {session}"
        ))?;
        for turn in turns {
            self.dirty(session, "turn", &turn.to_string())?;
        }
        self.dirty(session, "turn", "0")
    }

    /// Takes away all claims that a session owns: who else holds their turns derives them anew.
    pub(in crate::store) fn unclaim_session(&mut self, session: i64) -> Result<(), StoreError> {
        let all = self.numbers(&format!("SELECT n FROM claims WHERE session = {session}"))?;
        all.into_iter().try_for_each(|n| self.unclaim(n))
    }

    /// Writes the documents of the claims whose status may have changed. Returns how many did.
    pub(super) fn restate_claims(&mut self) -> Result<u64, StoreError> {
        let mut changed = 0;
        let behind =
            self.numbers("SELECT CAST(item AS INTEGER) FROM dirty WHERE session = 0 AND part = 'claim'")?;
        for n in behind {
            if let Some((derived, stated)) = self.claim_document(n)? {
                let json = serde_json::to_vec(&stated).map_err(|e| not_ours(&e))?;
                changed += u64::from(self.put_body(&derived, json, stated.text.len(), "")?);
            }
        }
        Ok(changed)
    }

    fn claim_document(&mut self, n: i64) -> Result<Option<(Derived, Stated)>, StoreError> {
        let Some(row) = self.claim_row(n)? else { return Ok(None) };
        if row.key.kind == Kind::Refuted {
            return Ok(None);
        }
        let (observation, turn, stated): (i64, Id, String) = self.transaction.query_row(
            "SELECT observation, turn, stated FROM claims WHERE n = ?1",
            [n],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let (kind, subject, value, text): (Kind, String, Option<String>, String) =
            serde_json::from_str(&stated).map_err(|e| not_ours(&e))?;
        let near = self.near(&row)?;
        let status = status(&near);
        let mut evidence: Vec<i64> = vec![observation];
        let mut records: Vec<String> = self.record_of(observation)?.into_iter().collect();
        let mut related = Vec::new();
        for other in &near {
            let Some(relation) = other.told() else { continue };
            if relation == "restates" && related.len() < NAMED {
                evidence.push(other.observation);
                records.extend(Some(other.related.record.clone()).filter(|r| !r.is_empty()));
            }
            if related.len() < NAMED {
                related.push(Related { relation: relation.to_owned(), ..other.related.clone() });
            }
        }
        records.dedup();
        let speaker = if row.key.by_user { "user" } else { "assistant" };
        let document = self.document_id(observation)?;
        let stated = Stated {
            kind,
            subject,
            value,
            document,
            evidence: records,
            related,
            speaker: speaker.to_owned(),
            text,
        };
        let sessions: Vec<i64> = {
            let mut query = self.transaction.prepare_cached(
                "SELECT ds.session FROM documents d JOIN document_sessions ds ON ds.document = d.n WHERE d.id = ?1 ORDER BY 1",
            )?;
            query.query_map([turn], |row| row.get(0))?.collect::<Result<_, _>>()?
        };
        let derived = Derived {
            id: row.id.text(),
            kind: "claim",
            session: row.session,
            agent: 0,
            time: None,
            time_ms: Some(row.time_ms),
            at_ms: row.time_ms,
            fields: Fields::default(),
            command: None,
            evidence,
            status: Some(status),
            sessions: if sessions.is_empty() { vec![row.session] } else { sessions },
        };
        Ok(Some((derived, stated)))
    }

    pub(in crate::store::derive) fn record_of(&self, observation: i64) -> Result<Option<String>, StoreError> {
        let mut query = self.transaction.prepare_cached("SELECT record FROM documents WHERE n = ?1")?;
        let record: Option<Option<Id>> = query.query_row([observation], |row| row.get(0)).optional()?;
        Ok(record.flatten().map(|record| record.text()))
    }

    /// Those that stand in a relation to a claim, the newest first.
    fn near(&self, claim: &Row) -> Result<Vec<Near>, StoreError> {
        let mut query = self.transaction.prepare_cached(
            "SELECT r.how, r.later <> ?1, c.id, c.time_ms, c.observation, c.stated, s.id, d.record,
               EXISTS (SELECT 1 FROM claim_relations v WHERE v.earlier = c.n AND v.how = 3),
               EXISTS (SELECT 1 FROM claim_relations v WHERE v.earlier = c.n AND v.how IN (1, 2, 3))
             FROM (SELECT how, later, later AS other FROM claim_relations WHERE earlier = ?1
               UNION ALL SELECT how, later, earlier FROM claim_relations WHERE later = ?1) r
             JOIN claims c ON c.n = r.other JOIN sessions s ON s.n = c.session JOIN documents d ON d.n = c.observation
             ORDER BY c.time_ms DESC, c.id DESC",
        )?;
        let rows = query.query_map([claim.n], |row| {
            let time_ms = row.get(3)?;
            let record: Option<Id> = row.get(7)?;
            let stated: String = row.get(5)?;
            let text = serde_json::from_str::<(Kind, String, Option<String>, String)>(&stated).map(|s| s.3);
            Ok(Near {
                how: row.get(0)?,
                is_later: row.get(1)?,
                observation: row.get(4)?,
                is_void: row.get(8)?,
                is_superseded: row.get(9)?,
                related: Related {
                    id: row.get::<_, Id>(2)?.text(),
                    relation: String::new(),
                    record: record.map(|r| r.text()).unwrap_or_default(),
                    session: row.get(6)?,
                    time: clock::format(Millis(time_ms)),
                    text: text.unwrap_or_default(),
                },
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// A term of a project's claims, as a row holds it.
fn handle(project: &str, term: u32) -> i64 {
    compact::short_hash(&id::hash(&[project.as_bytes(), &term.to_le_bytes()]))
}

/// What a row holds of a claim: observation, session, project, time, key, statement, and what is around it.
type Columns = (i64, i64, String, i64, String, String, Vec<u8>);

fn packed(around: &[u32]) -> Vec<u8> {
    around.iter().flat_map(|term| term.to_le_bytes()).collect()
}

fn unpacked(around: &[u8]) -> Vec<u32> {
    around.as_chunks::<4>().0.iter().map(|term| u32::from_le_bytes(*term)).collect()
}
