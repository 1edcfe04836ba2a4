//! What can be asked, and what comes back.

use super::parts::Parts;
use crate::clock::Stopwatch;
use crate::index::{IndexError, is_damage};
use std::time::Duration;

/// What a hit stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// One document.
    #[default]
    Record,
    /// One session, with its best lines: what hooks inject.
    Session,
}

/// A question with its filters. Every filter left out means all.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// Any characters; never a parse error. May be empty when there is a filter: then the newest come first.
    pub text: String,
    /// Project id.
    pub project: Option<String>,
    /// Only this session's documents.
    pub session: Option<String>,
    /// None of this session's documents, also not those it shares as a fork.
    pub exclude_session: Option<String>,
    /// Kind of document.
    pub kind: Option<String>,
    /// Who said it.
    pub speaker: Option<String>,
    /// A path, or any suffix of one from a `/` on.
    pub file: Option<String>,
    /// Name of a slash command.
    pub command: Option<String>,
    /// `current`, `superseded` or `conflicted`.
    pub status: Option<String>,
    /// Not older than this. Units: milliseconds since 1970, UTC.
    pub since_ms: Option<i64>,
    /// Host.
    pub host: Option<String>,
    /// At most so many hits.
    pub limit: usize,
    /// What a hit stands for.
    pub by: By,
    /// At most so many sessions (By::Session).
    pub sessions: usize,
    /// By::Session: the share of the query's weight that a session must cover; `None` for all.
    pub threshold: Option<f64>,
    /// Say how each score came about.
    pub explain: bool,
    /// Which parts of the ranking take part.
    pub parts: Parts,
}

/// One line of an excerpt, as it stands in its record.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Line {
    /// The line, or the sentences of it that answer.
    pub text: String,
    /// Uuid of the host's record; `None` for derived documents.
    pub record: Option<String>,
    /// Who said it; empty for derived documents.
    pub speaker: String,
}

/// One answer; the JSON names are a contract (design, section 7).
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Hit {
    /// The document's id; By::Session: that of the header.
    pub id: String,
    /// The session that owns it.
    pub session: String,
    /// Project id.
    pub project: String,
    /// Kind of document.
    pub kind: String,
    /// Who said it; empty for derived documents.
    pub speaker: String,
    /// RFC 3339 UTC with milliseconds, or empty.
    pub time: String,
    /// Higher is better; comparable within one answer only.
    pub score: f64,
    /// `current`, `superseded`, `conflicted`, or none.
    pub status: Option<String>,
    /// Paths read or edited.
    pub files: Vec<String>,
    /// The best lines.
    pub excerpt: Vec<Line>,
    /// Uuid of the host's record; By::Session: that of the best record.
    pub record: Option<String>,
    /// Header of a derived document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<serde_json::Value>,
    /// How the score came about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<serde_json::Value>,
}

/// Everything that one question found.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Best first; ties by id.
    pub hits: Vec<Hit>,
    /// The sessions routed to, best first (By::Session).
    pub routed: Vec<String>,
    /// The share of the query's weight that the best hit covers, 0 to 1.
    pub coverage: f64,
}

/// When to stop: checked between phases, so that a hook fails to no context, not to a late one.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    watch: Stopwatch,
    limit: Duration,
}

impl Deadline {
    /// `limit` from now.
    pub fn after(limit: Duration) -> Self {
        Self::since(Stopwatch::start(), limit)
    }

    /// `limit` from the start of `watch`: a hook counts from its own start.
    pub fn since(watch: Stopwatch, limit: Duration) -> Self {
        Self { watch, limit }
    }

    /// For commands: a person waits as long as they like.
    pub fn never() -> Self {
        Self::after(Duration::from_secs(60 * 60 * 24))
    }

    /// Errors: [`RecallError::Late`] when the time is over.
    pub(super) fn check(&self) -> Result<(), RecallError> {
        if self.watch.elapsed() >= self.limit { Err(RecallError::Late) } else { Ok(()) }
    }
}

impl RecallError {
    /// What is on disk is not what was written.
    pub fn is_damage(&self) -> bool {
        match self {
            RecallError::Index(error) => error.is_damage(),
            RecallError::Engine(error) => is_damage(error),
            RecallError::Io(error) => error.raw_os_error().is_none(),
            RecallError::Late => false,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The deadline passed.
    #[error("recall ran out of time")]
    Late,
    /// The index is damaged or newer.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// Reading the index failed.
    #[error("cannot search the index: {0}")]
    Engine(#[from] tantivy::TantivyError),
    /// Reading the index failed.
    #[error("cannot search the index: {0}")]
    Io(#[from] std::io::Error),
}
