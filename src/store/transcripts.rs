//! Where transcripts lie: below a folder, and beside one another.

use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Deeper than any layout of the host (`<slug>/<session>/subagents/workflows/<run>/agent-….jsonl`), and than what a person keeps.
const MAX_DEPTH: usize = 64;

/// Every transcript below a path (or the path itself), sorted; links are not followed, what cannot be read is passed over.
pub fn transcripts(root: &Path) -> Vec<PathBuf> {
    transcripts_beating(root, &mut || {})
}

/// The same; `beat` is called after every few hundred names.
pub fn transcripts_beating(root: &Path, beat: &mut dyn FnMut()) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = WalkDir::new(root)
        .max_depth(MAX_DEPTH)
        .into_iter()
        .enumerate()
        .inspect(|(n, _)| {
            if n % 500 == 499 {
                beat();
            }
        })
        .filter_map(|(_, entry)| entry.ok())
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    found.sort();
    found
}

/// The session's other files: what lies in the folder that is named like the transcript.
pub fn transcripts_beside(transcript: &Path) -> Vec<PathBuf> {
    let folder = transcript.with_extension("");
    if folder.is_dir() { transcripts(&folder) } else { Vec::new() }
}
