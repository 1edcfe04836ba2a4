//! A document as those who read the store see it.

use super::body::{Block, Fields};
use super::{Failure, Item, Stated};
use serde::Serialize;

/// A document as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// What lists show of it.
    pub row: DocumentRow,
    /// All sessions that hold it, the owner first.
    pub sessions: Vec<String>,
    /// Subagent id or empty.
    pub agent: String,
    /// The host's parent uuid.
    pub parent: Option<String>,
    /// Its parts; empty for a derived document.
    pub blocks: Vec<Block>,
    /// Its fields; `None` for an observation.
    pub fields: Option<Fields>,
    /// Kind `claim` only.
    pub stated: Option<Stated>,
    /// Kind `failure` only.
    pub failure: Option<Failure>,
    /// Kind `work` only.
    pub item: Option<Item>,
    /// False for what recall does not score.
    pub scored: bool,
    /// Slash command.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Option<String>,
    /// Files it touches.
    pub files: Vec<String>,
    /// `claude`.
    pub host: String,
    /// Milliseconds, where the time could be read.
    pub time_ms: Option<i64>,
    /// Title of the owner session.
    pub title: Option<String>,
    /// Kind `session` only: its distinct terms.
    pub profile: String,
}

impl Document {
    /// Size of what was loaded: a result that lies in a file of its own is larger than its row says.
    pub(super) fn loaded_bytes(&self) -> u64 {
        let blocks = self.blocks.iter().map(|block| match block {
            Block::Text { t } | Block::Think { t } | Block::Use { t, .. } => t.len(),
            Block::Result { t, .. } | Block::Other { t, .. } => t.len(),
            Block::Media { .. } => 0,
        });
        self.row.bytes.max(blocks.map(|len| len as u64).sum())
    }

    /// All text of it, as a person reads it.
    pub fn text(&self) -> String {
        if let Some(item) = &self.item {
            return item.text.clone();
        }
        match (&self.fields, &self.stated, &self.failure) {
            (Some(fields), ..) => fields.text(),
            (None, Some(stated), _) => stated.text.clone(),
            (None, None, Some(failure)) => failure.text(),
            (None, None, None) => self.blocks.iter().map(Block::text).collect::<Vec<_>>().join("\n"),
        }
    }
}

/// A document without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DocumentRow {
    /// Our id.
    pub id: String,
    /// `observation`, `outcome`, …
    pub kind: String,
    /// The owner session.
    pub session: String,
    /// Its project's id.
    pub project: String,
    /// `user`, … or empty.
    pub speaker: String,
    /// RFC 3339, UTC, milliseconds; as the host wrote it where it could not be read; JSON has an empty text where there is none.
    #[serde(serialize_with = "or_empty")]
    pub time: Option<String>,
    /// Counts from 1.
    pub revision: u64,
    /// Size of its text.
    pub bytes: u64,
    /// `current`, `superseded`, `conflicted` or none.
    pub status: Option<String>,
    /// The host's record uuid.
    pub record: Option<String>,
    /// The sequence of its last change.
    pub seq: u64,
}

fn or_empty<S: serde::Serializer>(time: &Option<String>, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(time.as_deref().unwrap_or_default())
}
