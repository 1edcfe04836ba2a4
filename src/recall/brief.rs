//! What a new session is told: where the project stands.
//!
//! After startup and clear: the newest sessions of the project. After a compaction: what this very session did, since its own context
//! no longer holds it, then the others. No clock is read: newest means newest in the index.

use super::ask::{Deadline, RecallError};
use super::entry::newest;
use super::render::{Block, summary};
use super::scope::{Docs, holding, time};
use crate::index::Reader;
use std::collections::BTreeSet;
use tantivy::DocAddress;

/// Outcomes of the compacted session, newest first.
const OWN_OUTCOMES: usize = 5;

/// Gives the blocks of a brief in the order of their worth.
pub(super) fn brief(
    reader: &Reader,
    project: &str,
    session: &str,
    compacted: bool,
    sessions: usize,
    deadline: &Deadline,
) -> Result<Vec<Block>, RecallError> {
    let mut blocks: Vec<Block> = Vec::new();
    if compacted {
        for kind in ["session-summary", "outcome"] {
            let limit = if kind == "outcome" { OWN_OUTCOMES } else { 1 };
            for at in newest(reader, session, kind, limit)? {
                push(&mut blocks, summary(&reader.stored(at)?));
            }
        }
    }
    deadline.check()?;
    let mut seen = BTreeSet::from([session.to_owned()]);
    for kind in ["session-summary", "outcome", "checkpoint"] {
        for at in of_project(reader, project, kind)? {
            if seen.len() > sessions {
                return Ok(blocks);
            }
            let doc = reader.stored(at)?;
            // A fork shares its parent's documents, and its context holds them.
            if doc.sessions.iter().any(|s| s == session) {
                continue;
            }
            let owner = doc.sessions.first().cloned().unwrap_or_default();
            if !seen.contains(&owner)
                && let Some(block) = summary(&doc)
            {
                seen.insert(owner);
                push(&mut blocks, Some(block));
            }
        }
        deadline.check()?;
    }
    Ok(blocks)
}

/// A summary and the only outcome of a session often say the same.
fn push(blocks: &mut Vec<Block>, block: Option<Block>) {
    if let Some(block) = block
        && !blocks.iter().any(|b| b.hash == block.hash)
    {
        blocks.push(block);
    }
}

/// The newest documents of a kind in a project; ties by place. Bounded: a brief never needs more.
fn of_project(reader: &Reader, project: &str, kind: &str) -> Result<Vec<DocAddress>, RecallError> {
    let f = reader.fields();
    let mut found = Vec::new();
    for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
        let docs = Docs::Only(holding(segment, f.kind, kind)?).keep(segment, f.project, project)?;
        let Docs::Only(docs) = docs else { continue };
        for doc in docs {
            let at = DocAddress::new(ord, doc);
            found.push((time(reader, at)?, at));
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    Ok(found.into_iter().take(40).map(|(_, at)| at).collect())
}
