//! Retention: of what rules are about, the too old and the too much. Nothing is written into the forget ledger: a transcript that still holds
//! it can be imported again once the rule is gone.

use super::compact::{self, Id};
use super::derive::Terms;
use super::read::Reader;
use super::{Store, StoreError};
use crate::config::{Home, RetainRule};
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use std::collections::BTreeSet;

/// What a rule takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expired {
    /// The rule.
    pub rule: RetainRule,
    /// Observations and notes that no rule before it takes.
    pub documents: u64,
    /// Their text. Units: bytes.
    pub bytes: u64,
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const MB: i64 = 1_000_000;
/// Above this share of the pages free, the file is written anew.
const SPARE: i64 = 5;

impl Reader {
    /// What the rules would take now. Units: milliseconds since 1970. Errors: [`StoreError`].
    pub fn expired(&self, rules: &[RetainRule], now_ms: i64) -> Result<Vec<Expired>, StoreError> {
        Ok(expired(&self.connection, rules, now_ms)?.0)
    }

    /// Ids of what is pinned. Errors: [`StoreError`].
    pub fn pinned(&self) -> Result<Vec<String>, StoreError> {
        let mut query = self
            .connection
            .prepare("SELECT d.id FROM pinned p JOIN documents d ON d.n = p.document ORDER BY d.id")?;
        let rows = query.query_map([], |row| row.get::<_, Id>(0).map(|id| id.text()))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many documents retention took away so far; 0 for a store of a version that knew none. Errors: [`StoreError`].
    pub fn retained(&self) -> Result<u64, StoreError> {
        let mut query = self.connection.prepare_cached("SELECT value FROM meta WHERE key = 'retained'")?;
        let mut rows = query.query([])?;
        rows.next()?.map_or(Ok(0), |row| Ok(super::read::unsigned(row, 0)?))
    }
}

impl Store {
    /// Takes away what the rules say. Returns how many documents went. `terms` as for [`super::Write::derive`]. Errors: [`StoreError`].
    pub fn retain(
        &mut self,
        home: &Home,
        rules: &[RetainRule],
        now_ms: i64,
        terms: Terms<'_>,
    ) -> Result<u64, StoreError> {
        let (_, documents) = expired(&self.connection, rules, now_ms)?;
        let count = documents.len();
        if count == 0 {
            return Ok(0);
        }
        self.retire(documents, terms)?;
        let took = i64::try_from(count).unwrap_or(i64::MAX);
        self.set_meta("retained", self.meta("retained")?.saturating_add(took))?;
        let pages = |what: &str| -> Result<i64, StoreError> {
            Ok(self.connection.query_row(&format!("PRAGMA {what}"), [], |row| row.get(0))?)
        };
        if pages("freelist_count")? > pages("page_count")? / SPARE {
            self.scrub(home)?;
        }
        Ok(count as u64)
    }

    /// Pins documents, so that no retention takes them, or lets them go again. Returns how many changed. Errors: [`StoreError`].
    pub fn pin(&self, ids: &[String], pinned: bool) -> Result<u64, StoreError> {
        let sql = if pinned {
            "INSERT OR IGNORE INTO pinned (document) SELECT n FROM documents WHERE id = ?1"
        } else {
            "DELETE FROM pinned WHERE document = (SELECT n FROM documents WHERE id = ?1)"
        };
        let mut changed = 0;
        for id in ids {
            changed += self.connection.execute(sql, [Id::of(id)])? as u64;
        }
        Ok(changed)
    }
}

/// What each rule takes, and all of it by row numbers.
fn expired(
    connection: &Connection,
    rules: &[RetainRule],
    now_ms: i64,
) -> Result<(Vec<Expired>, BTreeSet<i64>), StoreError> {
    let mut all = BTreeSet::new();
    let mut each = Vec::new();
    for rule in rules {
        let kind = rule.kind.as_deref().map_or(Value::Null, |name| compact::kind(name).into());
        let speaker = rule.speaker.as_deref().map_or(Value::Null, |name| compact::speaker(name).into());
        let oldest =
            rule.max_age_days.map_or(Value::Null, |days| Value::from(now_ms - i64::from(days) * DAY_MS));
        let room = rule.max_mb.map_or(Value::Null, |mb| Value::from(i64::from(mb) * MB));
        // An item of work (`w-`) is not over because it is old. The newest come first and fill the room; what is pinned takes its room, too, but stays.
        let mut query = connection.prepare(
            "SELECT n, bytes FROM (
               SELECT d.n, d.bytes, d.time_ms, sum(d.bytes) OVER (ORDER BY coalesce(d.time_ms, 0) DESC, d.n DESC) AS filled
               FROM documents d JOIN sessions s ON s.n = d.session LEFT JOIN projects p ON p.id = s.project
               WHERE d.kind IN (?1, ?2) AND NOT (d.kind = ?2 AND substr(d.id, 1, 1) = x'77') AND (?3 IS NULL OR d.kind = ?3) AND (?4 IS NULL OR d.speaker = ?4)
                 AND (?5 IS NULL OR s.project = ?5 OR p.name = ?5))
             WHERE ((?6 IS NOT NULL AND time_ms < ?6) OR (?7 IS NOT NULL AND filled > ?7))
               AND n NOT IN (SELECT document FROM pinned)",
        )?;
        let mut rows = query.query(params![
            compact::OBSERVATION,
            compact::kind("note"),
            kind,
            speaker,
            rule.project,
            oldest,
            room
        ])?;
        let (mut documents, mut bytes) = (0, 0);
        while let Some(row) = rows.next()? {
            if all.insert(row.get(0)?) {
                documents += 1;
                bytes += super::read::unsigned(row, 1)?;
            }
        }
        each.push(Expired { rule: rule.clone(), documents, bytes });
    }
    Ok((each, all))
}
