//! A line of an export.

use crate::config::Project;
use crate::store::body::Block;
use crate::store::notes::Note;
use crate::store::salvage::OldSession;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A record of an export: one line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "kebab-case")]
pub enum Portable {
    /// A session with its project; it comes before what it holds.
    Session(Box<OldSession>),
    /// A title that names a record.
    Summary {
        /// The record.
        leaf: String,
        /// The title.
        title: String,
    },
    /// A compaction.
    Boundary {
        /// The host's session id.
        session: String,
        /// Its own.
        id: String,
        /// Its place. Units: milliseconds.
        at_ms: i64,
        /// Its place, byte.
        at: u64,
        /// Its time.
        time: Option<String>,
    },
    /// A record of a session.
    Observation(Box<Said>),
    /// A note.
    Note(Box<Kept>),
}

impl Portable {
    /// Takes out what belongs to projects of which `passes` says that nothing is stored. `passed` holds their sessions, as far as they came.
    /// Returns false when nothing is left of the record.
    pub fn keep(&mut self, passed: &mut BTreeSet<String>, passes: &mut dyn FnMut(&Project) -> bool) -> bool {
        match self {
            Portable::Session(session) => {
                let out = session.project.as_ref().is_some_and(passes);
                if out {
                    passed.insert(session.facts.id.clone());
                }
                !out
            }
            Portable::Boundary { session, .. } => !passed.contains(session),
            Portable::Observation(said) => {
                let before = said.links.len();
                said.links.retain(|link| !passed.contains(&link.session));
                before == 0 || !said.links.is_empty()
            }
            Portable::Note(kept) => !kept.note.project.as_ref().is_some_and(passes),
            Portable::Summary { .. } => true,
        }
    }
}

/// An observation with what is kept of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Said {
    pub(super) id: String,
    pub(super) speaker: String,
    pub(super) time: Option<String>,
    pub(super) time_ms: Option<i64>,
    pub(super) record: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) message: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) scored: bool,
    pub(super) command: Option<(String, String)>,
    pub(super) at: i64,
    pub(super) blocks: Vec<Block>,
    pub(super) links: Vec<Link>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) revisions: Vec<Older>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) outputs: Vec<Whole>,
}

/// A session that holds it, and where.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Link {
    pub(super) session: String,
    pub(super) host: String,
    pub(super) agent: String,
    pub(super) at_ms: i64,
    pub(super) at: u64,
    pub(super) is_prompt: bool,
    /// Which record it follows there, as a hash.
    pub(super) follows: Option<i64>,
}

/// A revision that is no longer current.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Older {
    pub(super) at: i64,
    pub(super) blocks: Vec<Block>,
}

/// The whole of a result that lay in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Whole {
    pub(super) call: String,
    pub(super) text: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// A note with its older revisions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kept {
    pub(super) note: Note,
    pub(super) older: Vec<(i64, String)>,
}
