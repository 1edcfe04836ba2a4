//! Finding transcripts whose end lies beyond their cursor: a lost doorbell costs only time.

use crate::clock;
use crate::store::FileState;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Deeper than any layout of the host (`<slug>/<session>/subagents/workflows/<run>/agent-….jsonl`), and than what a person keeps.
const MAX_DEPTH: usize = 64;
/// A last line without a newline that nobody touched for this long will not be finished. Units: milliseconds.
pub(super) const SETTLE_MS: i64 = 60_000;

/// Every transcript below a path (or the path itself), sorted; links are not followed, what cannot be read is passed over.
pub fn transcripts(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = WalkDir::new(root)
        .max_depth(MAX_DEPTH)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    found.sort();
    found
}

/// The transcripts that a person named: files whatever their ending, and what lies in folders. Sorted, each once.
pub(super) fn named(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = BTreeSet::new();
    for path in paths {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        if path.is_file() {
            files.insert(path);
        } else {
            files.extend(transcripts(&path));
        }
    }
    files.into_iter().collect()
}

/// Those of `files` that hold something not stored yet.
pub(super) fn behind(files: Vec<PathBuf>, known: &BTreeMap<PathBuf, FileState>) -> Vec<PathBuf> {
    files.into_iter().filter(|path| is_behind(path, known.get(path))).collect()
}

/// Does a file hold something that is not stored yet?
pub(super) fn is_behind(path: &Path, state: Option<&FileState>) -> bool {
    let Ok(meta) = path.symlink_metadata() else { return false };
    if !meta.is_file() {
        return false;
    }
    let Some(state) = state else { return true };
    if meta.len() != state.size {
        return true;
    }
    let age_ms =
        meta.modified().map(|t| clock::wall().0.saturating_sub(clock::from_system(t).0)).unwrap_or(0);
    state.settled < state.size && age_ms > SETTLE_MS
}

/// The session's other files: what lies in the folder that is named like the transcript.
pub(super) fn beside(transcript: &Path) -> Vec<PathBuf> {
    let folder = transcript.with_extension("");
    if folder.is_dir() { transcripts(&folder) } else { Vec::new() }
}

/// Finds where a transcript that is gone went: the host moves it to another project's folder under its own name.
pub(super) fn moved(path: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    let name = path.file_name()?;
    let mut found = None;
    for root in roots {
        let folders = WalkDir::new(root).min_depth(1).max_depth(1).into_iter().filter_map(Result::ok);
        let places = folders.map(|folder| folder.path().join(name)).filter(|p| p.is_file());
        found = found.into_iter().chain(places).min();
    }
    found
}
