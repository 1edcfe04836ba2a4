//! Which Tantivy index answers: names, the file `current`, and what a commit's payload says.

use super::error::IndexError;
use super::schema::FORMAT;
use crate::config::Home;
use crate::step::step;
use crate::{fs, log};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One Tantivy index beside others: `g000001`, `g000002`, …
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Generation(u64);

/// What the meta file of a generation says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meta {
    /// A commit of our format.
    Ours {
        /// The store sequence it reflects.
        seq: u64,
        /// How much of the forget ledger it obeys, bytes.
        ledger: u64,
    },
    /// Missing, damaged, never committed, or of an older format: to be built again.
    Unusable,
}

impl Generation {
    fn parse(name: &str) -> Option<Self> {
        let digits = name.trim_end().strip_prefix('g')?;
        let good = digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit());
        good.then(|| digits.parse().ok()).flatten().map(Self)
    }

    /// The directory.
    pub(super) fn path(self, home: &Home) -> PathBuf {
        home.index().join(format!("g{:06}", self.0))
    }

    /// The published one; `None` when there is none or its name is damaged.
    pub(super) fn current(home: &Home) -> Result<Option<Self>, IndexError> {
        let bytes = fs::read_small(&home.index().join("current"), 64)?;
        Ok(bytes.and_then(|b| Self::parse(std::str::from_utf8(&b).ok()?)))
    }

    /// A name that none on disk has.
    pub(super) fn next(home: &Home) -> Self {
        Self(all(home).into_iter().map(|g| g.0).max().unwrap_or(0) + 1)
    }

    /// Makes it the one that answers, then removes all others.
    pub(super) fn publish(self, home: &Home) -> Result<(), IndexError> {
        step("index::publish")?;
        let name = format!("g{:06}\n", self.0);
        fs::replace(&home.index().join("current"), name.as_bytes(), fs::Sync::Yes)?;
        step("index::published")?;
        // A reader that has just read the old name finds its files gone, and reads `current` again.
        remove_all_but(home, self);
        Ok(())
    }
}

/// Every generation on disk, published or not.
fn all(home: &Home) -> Vec<Generation> {
    let Ok(entries) = std::fs::read_dir(home.index()) else { return Vec::new() };
    let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
    names.filter_map(|n| Generation::parse(&n)).collect()
}

/// Removes what crashed builds and replaced generations left. What cannot be removed now is tried again at the next open: it only takes room.
pub(super) fn remove_all_but(home: &Home, keep: Generation) {
    for other in all(home).into_iter().filter(|g| *g != keep) {
        if let Err(error) = fs::remove_tree(&other.path(home)) {
            log::warn("index", &[("error", &error)], "An old generation of the index stays for now.");
        }
    }
}

/// The store sequence that the published index shows; 0 when that cannot be told.
pub fn published_seq(home: &Home) -> u64 {
    match Generation::current(home).ok().flatten().map(|generation| meta(&generation.path(home))) {
        Some(Ok(Meta::Ours { seq, .. })) => seq,
        _ => 0,
    }
}

/// Errors: [`IndexError::Newer`] when a newer version wrote the published index. Opens and changes nothing.
pub fn refuse_newer(home: &Home) -> Result<(), IndexError> {
    if let Ok(Some(generation)) = Generation::current(home) {
        meta(&generation.path(home))?;
    }
    Ok(())
}

/// The writer's list of its files; `None` when it is gone or cannot be read.
pub(super) fn file_list(path: &Path) -> Option<BTreeSet<PathBuf>> {
    let bytes = fs::read_small(&path.join(".managed.json"), 16 * 1024 * 1024).ok().flatten()?;
    serde_json::from_slice(&bytes).ok()
}

/// Removes what Tantivy's own replacing of a file leaves when its process is killed: `.tmp…`, worthless.
pub(super) fn sweep(path: &Path) {
    let Ok(entries) = std::fs::read_dir(path) else { return };
    for entry in entries.flatten().filter(|e| e.file_name().to_string_lossy().starts_with(".tmp")) {
        if let Err(error) = fs::remove(&entry.path()) {
            log::warn("index", &[("error", &error)], "A leftover in the index stays for now.");
        }
    }
}

/// Writes the payload of a commit.
pub(super) fn payload(seq: u64, ledger: u64) -> String {
    format!("{{\"seq\":{seq},\"format\":{FORMAT},\"ledger\":{ledger}}}")
}

/// Reads the payload out of `meta.json`, before Tantivy is asked: a newer version may not even parse for it.
///
/// Errors: [`IndexError::Newer`]; everything else is [`Meta::Unusable`].
pub(super) fn meta(path: &Path) -> Result<Meta, IndexError> {
    // A meta file holds a few hundred bytes a segment.
    let Ok(Some(bytes)) = fs::read_small(&path.join("meta.json"), 16 * 1024 * 1024) else {
        return Ok(Meta::Unusable);
    };
    let meta: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let payload = meta.get("payload").and_then(serde_json::Value::as_str).unwrap_or_default();
    parse_payload(path, payload)
}

/// Judges a payload: see [`meta`].
pub(super) fn parse_payload(path: &Path, payload: &str) -> Result<Meta, IndexError> {
    let payload: serde_json::Value = serde_json::from_str(payload).unwrap_or_default();
    let number = |name: &str| payload.get(name).and_then(serde_json::Value::as_u64);
    match (number("format"), number("seq")) {
        (Some(found), _) if found > FORMAT => {
            Err(IndexError::Newer { path: path.to_path_buf(), found, known: FORMAT })
        }
        (Some(FORMAT), Some(seq)) => Ok(Meta::Ours { seq, ledger: number("ledger").unwrap_or(0) }),
        _ => Ok(Meta::Unusable),
    }
}
