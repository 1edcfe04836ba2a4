//! Rows that go, one transaction: documents and what hangs on them, sessions, and the packs that held their bodies.

use crate::store::compact::{self, Id};
use crate::store::packs::Place as BodyPlace;
use crate::store::{StoreError, Write};
use rusqlite::params;
use rusqlite::types::Value;
use std::collections::BTreeSet;

/// Where a document lay in a session: what lies around it is to be derived anew.
struct Hole {
    session: i64,
    agent: i64,
    at_ms: i64,
    at: i64,
}

impl Write<'_> {
    pub(super) fn untitle(&mut self, session: i64) -> Result<(), StoreError> {
        self.transaction
            .execute("UPDATE sessions SET title = NULL, title_given = 0 WHERE n = ?1", [session])?;
        self.dirty(session, "title", "")?;
        self.dirty(session, "session", "")
    }

    /// Takes observations and notes away, from all sessions that hold them. Returns the sessions that hold nothing any more.
    pub(in crate::store) fn erase_documents(&mut self, numbers: &[i64]) -> Result<Vec<i64>, StoreError> {
        self.transaction.execute_batch(
            "CREATE TEMP TABLE IF NOT EXISTS doomed (n INTEGER PRIMARY KEY); DELETE FROM temp.doomed;",
        )?;
        let mut insert = self.transaction.prepare_cached("INSERT OR IGNORE INTO temp.doomed VALUES (?1)")?;
        for n in numbers {
            insert.execute([n])?;
        }
        drop(insert);
        let packs: BTreeSet<i64> = self.numbers(
            "SELECT pack FROM documents WHERE n IN (SELECT n FROM temp.doomed) AND pack IS NOT NULL
             UNION SELECT pack FROM revisions WHERE document IN (SELECT n FROM temp.doomed)
             UNION SELECT pack FROM outputs WHERE document IN (SELECT n FROM temp.doomed)",
        )?;
        let paths =
            self.numbers("SELECT DISTINCT path FROM touches WHERE document IN (SELECT n FROM temp.doomed)")?;
        let holes = self.holes("l.document IN (SELECT n FROM temp.doomed)")?;
        let sessions: BTreeSet<i64> = holes.iter().map(|hole| hole.session).collect();
        for session in &sessions {
            self.take_away_what_rests(*session)?;
        }
        self.unclaim_doomed()?;
        let ids: Vec<(Id, i64)> = {
            let mut query = self
                .transaction
                .prepare("SELECT id, kind FROM documents WHERE n IN (SELECT n FROM temp.doomed)")?;
            let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<Result<_, _>>()?
        };
        for (id, kind) in ids {
            self.added.documents -= 1;
            self.added.observations -= i64::from(kind == compact::OBSERVATION);
            let seq = self.next_seq();
            self.transaction
                .prepare_cached("INSERT INTO removed (seq, id) VALUES (?1, ?2)")?
                .execute(params![seq, id])?;
        }
        self.transaction.execute_batch(
            "DELETE FROM links WHERE document IN (SELECT n FROM temp.doomed);
             DELETE FROM revisions WHERE document IN (SELECT n FROM temp.doomed);
             DELETE FROM outputs WHERE document IN (SELECT n FROM temp.doomed);
             DELETE FROM touches WHERE document IN (SELECT n FROM temp.doomed);
             DELETE FROM results WHERE document IN (SELECT n FROM temp.doomed);
             DELETE FROM follows WHERE document IN (SELECT n FROM temp.doomed);
             DELETE FROM pinned WHERE document IN (SELECT n FROM temp.doomed);
             DELETE FROM document_sessions WHERE document IN (SELECT n FROM temp.doomed);
             DELETE FROM documents WHERE n IN (SELECT n FROM temp.doomed);",
        )?;
        self.drop_paths(&paths)?;
        self.repack(&packs)?;
        for session in &sessions {
            self.forget_profile(*session)?;
        }
        self.mend(&holes)?;
        let mut emptied = Vec::new();
        for session in sessions {
            if self.close_if_empty(session)? {
                emptied.push(session);
            }
        }
        Ok(emptied)
    }

    /// Takes a session away: what it alone held went before; what others hold stays with them.
    pub(super) fn erase_session(&mut self, session: i64) -> Result<(), StoreError> {
        // What others make of the shared part may have been this session's.
        self.take_away_all_derived(session)?;
        self.unclaim_session(session)?;
        self.unrun_session(session)?;
        let others = self.holes(&format!(
            "l.session <> {session} AND l.document IN (SELECT document FROM links WHERE session = {session})"
        ))?;
        let shared = self.numbers(&format!("SELECT document FROM links WHERE session = {session}"))?;
        for table in [
            "links",
            "boundaries",
            "follows",
            "rewound",
            "web_calls",
            "results",
            "dirty",
            "profiles",
            "private",
        ] {
            self.transaction.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [session])?;
        }
        self.leave_files(session)?;
        for document in shared {
            let seq = self.next_seq();
            // As in `join`: the session whose id sorts first owns it.
            self.transaction.execute(
                "UPDATE documents SET seq = ?2, session = (SELECT s.n FROM links l JOIN sessions s ON s.n = l.session
                   WHERE l.document = ?1 ORDER BY s.id LIMIT 1) WHERE n = ?1 AND EXISTS (SELECT 1 FROM links WHERE document = ?1)",
                params![document, seq],
            )?;
        }
        self.forget_profile(session)?;
        self.transaction.execute("DELETE FROM sessions WHERE n = ?1", [session])?;
        self.mend(&others)
    }

    /// Projects that no session is left of, and where they were seen.
    pub(super) fn erase_empty_projects(&self) -> Result<(), StoreError> {
        self.transaction.execute_batch(
            "DELETE FROM directories WHERE project NOT IN (SELECT project FROM sessions);
             DELETE FROM projects WHERE id NOT IN (SELECT project FROM sessions);",
        )?;
        Ok(())
    }

    /// A session that holds nothing any more has no summary and no profile.
    fn close_if_empty(&mut self, session: i64) -> Result<bool, StoreError> {
        let held =
            self.transaction.prepare_cached("SELECT 1 FROM links WHERE session = ?1")?.exists([session])?;
        if !held {
            self.take_away_all_derived(session)?;
            self.transaction.execute("DELETE FROM dirty WHERE session = ?1", [session])?;
        }
        Ok(!held)
    }

    fn take_away_what_rests(&mut self, session: i64) -> Result<(), StoreError> {
        let ids = self.ids(
            "SELECT DISTINCT d.id FROM document_sessions s JOIN evidence e ON e.document = s.document
             JOIN temp.doomed t ON t.n = e.observation JOIN documents d ON d.n = s.document WHERE s.session = ?1",
            session,
        )?;
        ids.iter().try_for_each(|id| self.take_away(&id.text()))
    }

    fn take_away_all_derived(&mut self, session: i64) -> Result<(), StoreError> {
        let ids = self.ids(
            "SELECT d.id FROM document_sessions s JOIN documents d ON d.n = s.document WHERE s.session = ?1",
            session,
        )?;
        ids.iter().try_for_each(|id| self.take_away(&id.text()))
    }

    /// Marks what lies around holes as behind.
    fn mend(&mut self, holes: &[Hole]) -> Result<(), StoreError> {
        let mut seen = BTreeSet::new();
        for hole in holes {
            self.around(hole.session, hole.agent, (hole.at_ms, hole.at))?;
            if seen.insert(hole.session) {
                self.dirty(hole.session, "branch", "")?;
                self.dirty(hole.session, "session", "")?;
            }
        }
        Ok(())
    }

    fn holes(&self, filter: &str) -> Result<Vec<Hole>, StoreError> {
        let sql = format!("SELECT l.session, l.agent, l.at_ms, l.at FROM links l WHERE {filter}");
        let mut query = self.transaction.prepare(&sql)?;
        let rows = query.query_map([], |row| {
            Ok(Hole { session: row.get(0)?, agent: row.get(1)?, at_ms: row.get(2)?, at: row.get(3)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub(in crate::store) fn numbers(&self, sql: &str) -> Result<BTreeSet<i64>, StoreError> {
        let mut query = self.transaction.prepare(sql)?;
        let rows = query.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn ids(&self, sql: &str, session: i64) -> Result<Vec<Id>, StoreError> {
        let mut query = self.transaction.prepare_cached(sql)?;
        let rows = query.query_map([session], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub(in crate::store) fn drop_paths(&self, paths: &BTreeSet<i64>) -> Result<(), StoreError> {
        let mut delete = self.transaction.prepare_cached(
            "DELETE FROM paths WHERE n = ?1 AND NOT EXISTS (SELECT 1 FROM touches WHERE path = ?1)",
        )?;
        paths.iter().try_for_each(|n| delete.execute([n]).map(|_| ()))?;
        Ok(())
    }

    /// Writes what is left of packs into new ones, and removes the old: no reader ever finds other bytes at a place it knows.
    pub(in crate::store) fn repack(&mut self, packs: &BTreeSet<i64>) -> Result<(), StoreError> {
        self.leave_pack()?;
        self.transaction.execute_batch(
            "CREATE TEMP TABLE IF NOT EXISTS leaving (n INTEGER PRIMARY KEY); DELETE FROM temp.leaving;",
        )?;
        for pack in packs {
            self.transaction.prepare_cached("INSERT INTO temp.leaving VALUES (?1)")?.execute([pack])?;
        }
        for (table, key) in [
            ("documents", ["n", "id"]),
            ("revisions", ["document", "content"]),
            ("outputs", ["document", "call"]),
        ] {
            self.move_bodies(table, key)?;
        }
        self.transaction.execute("DELETE FROM packs WHERE n IN (SELECT n FROM temp.leaving)", [])?;
        self.packs.lose(packs);
        Ok(())
    }

    fn move_bodies(&mut self, table: &str, [first, second]: [&str; 2]) -> Result<(), StoreError> {
        let places: Vec<(Value, Value, BodyPlace)> = {
            let mut query = self.transaction.prepare(&format!(
                "SELECT {first}, {second}, pack, start, length FROM {table} WHERE pack IN (SELECT n FROM temp.leaving) ORDER BY pack, start"
            ))?;
            let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, BodyPlace::read(row, 2)?)))?;
            rows.collect::<Result<_, _>>()?
        };
        let sql = format!(
            "UPDATE {table} SET pack = ?3, start = ?4, length = ?5 WHERE {first} = ?1 AND {second} = ?2"
        );
        for (one, two, place) in places {
            let body = self.body(place)?;
            let to = self.add_body(&body)?;
            self.transaction
                .prepare_cached(&sql)?
                .execute(params![one, two, to.pack, to.start, to.length])?;
        }
        Ok(())
    }
}
