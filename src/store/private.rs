//! Turns of which nothing is stored: their prompt is wholly private.
//!
//! The reader leaves out what lies in the transcript between such a prompt and the next. A subagent launched there has a file of its own, whose first
//! record names the prompt: its rows are left out here, and taken away where they came first.

use super::compact;
use super::documents::Observation;
use super::{StoreError, Write};
use crate::id;
use rusqlite::params;

impl Write<'_> {
    /// Notes that a prompt of a session is wholly private. `prompt`: the host's id. Subagents that were stored for it are taken away:
    /// then true, and their bytes are still in freed pages.
    pub fn private_prompt(&mut self, session: i64, prompt: &str) -> Result<bool, StoreError> {
        let what = key("prompt", prompt);
        let new = self
            .transaction
            .prepare_cached("INSERT OR IGNORE INTO private (session, what) VALUES (?1, ?2)")?
            .execute([session, what])?;
        if new == 0 {
            return Ok(false);
        }
        let mut doomed: Vec<i64> = Vec::new();
        for agent in self.agents_of(session)? {
            let mut documents: Vec<i64> = Vec::new();
            let mut is_of_it = false;
            let mut query = self.transaction.prepare_cached(
                "SELECT d.n, d.pack, d.start, d.length FROM links l JOIN documents d ON d.n = l.document WHERE l.session = ?1 AND l.agent = ?2",
            )?;
            let mut rows = query.query([session, agent])?;
            while let Some(row) = rows.next()? {
                documents.push(row.get(0)?);
                let body = self.body(super::packs::Place::read(row, 1)?)?;
                let (_, beside) = super::body::whole_of(&body)?;
                is_of_it |= beside.prompt.is_some_and(|own| own == prompt);
            }
            if is_of_it {
                doomed.extend(documents);
                self.private_agent(session, agent)?;
            }
        }
        if !doomed.is_empty() {
            self.erase_documents(&doomed)?;
        }
        Ok(!doomed.is_empty())
    }

    /// Is an observation one of a subagent of such a turn?
    pub fn is_private(&mut self, observation: &Observation) -> Result<bool, StoreError> {
        if observation.agent.is_empty() {
            return Ok(false);
        }
        let session = observation.session;
        let by_prompt = observation.prompt.as_deref().map(|prompt| key("prompt", prompt));
        let agent = key("agent", &observation.agent);
        let mut query = self
            .transaction
            .prepare_cached("SELECT 1 FROM private WHERE session = ?1 AND what IN (?2, ?3)")?;
        let found = query.exists(params![session, by_prompt, agent])?;
        drop(query);
        if found {
            self.transaction
                .prepare_cached("INSERT OR IGNORE INTO private (session, what) VALUES (?1, ?2)")?
                .execute([session, agent])?;
        }
        Ok(found)
    }

    fn agents_of(&self, session: i64) -> Result<Vec<i64>, StoreError> {
        let mut query = self
            .transaction
            .prepare_cached("SELECT DISTINCT agent FROM links WHERE session = ?1 AND agent <> 0")?;
        let rows = query.query_map([session], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn private_agent(&self, session: i64, agent: i64) -> Result<(), StoreError> {
        let name: String =
            self.transaction.query_row("SELECT name FROM agents WHERE n = ?1", [agent], |row| row.get(0))?;
        self.transaction.execute(
            "INSERT OR IGNORE INTO private (session, what) VALUES (?1, ?2)",
            [session, key("agent", &name)],
        )?;
        Ok(())
    }
}

fn key(kind: &str, name: &str) -> i64 {
    compact::short_hash(&id::hash(&[kind.as_bytes(), name.as_bytes()]))
}
