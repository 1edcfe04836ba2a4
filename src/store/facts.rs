//! What an observation says beside its words: the files it touches, its calls to the web, and which document is the result of which call.

use super::body::Block;
use super::compact;
use super::documents::Observation;
use super::{StoreError, Write};
use crate::id;
use rusqlite::{OptionalExtension, params};

/// Results of these tools are the web's words, not this machine's.
const WEB_TOOLS: [&str; 4] = ["WebFetch", "WebSearch", "web_fetch", "web_search"];

impl Write<'_> {
    /// A tool's result is `web` when its call was one to the web; where the call is read later, [`Write::facts`] mends it.
    pub(super) fn speaker(&self, observation: &Observation) -> Result<&'static str, StoreError> {
        let result = observation.blocks.iter().find_map(|block| match block {
            Block::Result { id, .. } => Some(id),
            _ => None,
        });
        let Some(id) = result.filter(|_| observation.speaker == "tool") else {
            return Ok(observation.speaker);
        };
        let mut query =
            self.transaction.prepare_cached("SELECT 1 FROM web_calls WHERE session = ?1 AND call = ?2")?;
        let to_web = query.exists(params![observation.session, call(id)])?;
        Ok(if to_web { "web" } else { observation.speaker })
    }

    /// What an observation says beside its words: the files it touches, the calls in it.
    pub(super) fn facts(&mut self, document: i64, observation: &Observation) -> Result<(), StoreError> {
        self.calls(document, observation)?;
        self.touches(document, observation)
    }

    /// Calls to the web, and which document is the result of which call.
    pub(super) fn calls(&mut self, document: i64, observation: &Observation) -> Result<(), StoreError> {
        let session = observation.session;
        for block in &observation.blocks {
            match block {
                Block::Use { id, name, .. } if WEB_TOOLS.contains(&name.as_str()) => {
                    self.transaction
                        .prepare_cached("INSERT OR IGNORE INTO web_calls (session, call) VALUES (?1, ?2)")?
                        .execute(params![session, call(id)])?;
                    self.result_is_webs(session, id)?;
                }
                Block::Result { id, .. } => {
                    self.transaction
                        .prepare_cached(
                            "INSERT OR REPLACE INTO results (session, call, document) VALUES (?1, ?2, ?3)",
                        )?
                        .execute(params![session, call(id), document])?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Files that the current words of a document touch.
    pub(super) fn touches(&mut self, document: i64, observation: &Observation) -> Result<(), StoreError> {
        for block in &observation.blocks {
            let Block::Use { name, file: Some(path), .. } = block else { continue };
            let Some(action) = action(name) else { continue };
            let path = self.path(path)?;
            self.transaction
                .prepare_cached("INSERT OR IGNORE INTO touches (document, path, action) VALUES (?1, ?2, ?3)")?
                .execute(params![document, path, action])?;
        }
        Ok(())
    }

    /// The number of a path that a tool touched.
    pub(super) fn path(&self, path: &str) -> Result<i64, StoreError> {
        let mut query = self.transaction.prepare_cached("SELECT n FROM paths WHERE path = ?1")?;
        if let Some(n) = query.query_row([path], |row| row.get(0)).optional()? {
            return Ok(n);
        }
        self.transaction.prepare_cached("INSERT INTO paths (path) VALUES (?1)")?.execute([path])?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// The call of a result that was read before it turns out to be one to the web.
    fn result_is_webs(&mut self, session: i64, id: &str) -> Result<(), StoreError> {
        let result: Option<i64> = self
            .transaction
            .prepare_cached(
                "SELECT r.document FROM results r JOIN documents d ON d.n = r.document
                 WHERE r.session = ?1 AND r.call = ?2 AND d.speaker = ?3",
            )?
            .query_row(params![session, call(id), compact::TOOL], |row| row.get(0))
            .optional()?;
        let Some(document) = result else { return Ok(()) };
        let seq = self.next_seq();
        self.transaction.execute(
            "UPDATE documents SET speaker = ?3, seq = ?2 WHERE n = ?1",
            params![document, seq, compact::WEB],
        )?;
        Ok(())
    }
}

/// A call by a hash of its id: ids of the host are long, and only compared.
fn call(id: &str) -> i64 {
    compact::short_hash(&id::sha256(id.as_bytes()))
}

/// What a tool does to the file it names; `None` for a tool that touches no file.
pub(super) fn action(tool: &str) -> Option<&'static str> {
    match tool {
        "Read" | "NotebookRead" => Some("read"),
        "Edit" | "MultiEdit" | "NotebookEdit" => Some("edit"),
        "Write" => Some("write"),
        _ => None,
    }
}
