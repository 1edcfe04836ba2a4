//! Finding transcripts whose end lies beyond their cursor: a lost doorbell costs only time.

use crate::clock;
use crate::store::{FileState, KnownFiles, transcripts};
use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// A last line without a newline that nobody touched for this long will not be finished. Units: milliseconds.
pub(super) const SETTLE_MS: i64 = 60_000;

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
pub(super) fn behind(files: Vec<PathBuf>, known: &KnownFiles) -> Vec<PathBuf> {
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
    state.settled < state.size && untouched_ms(&meta) > SETTLE_MS
}

/// For how long nobody has changed a file. Units: milliseconds; without end where that cannot be told.
///
/// A time from the future (the file was copied with it, or the clock was set back) would never grow old: then the time of the inode's last
/// change counts, which nobody can set, and where that lies in the future as well, nobody has written since the clock was set.
pub(super) fn untouched_ms(meta: &Metadata) -> i64 {
    let now = clock::wall().0;
    let changed = meta.ctime().saturating_mul(1000).saturating_add(meta.ctime_nsec() / 1_000_000);
    let modified = meta.modified().map_or(changed, |time| clock::from_system(time).0);
    age_ms(now, modified, changed)
}

fn age_ms(now: i64, modified: i64, changed: i64) -> i64 {
    // File times run ahead of the clock by a tick, and of another machine's by more.
    let soon = now.saturating_add(SETTLE_MS);
    let past = [modified, changed].into_iter().find(|time| *time <= soon);
    past.map_or(i64::MAX, |time| now.saturating_sub(time).max(0))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f63_a_time_from_the_future_grows_old_all_the_same() {
        const DAY: i64 = 86_400_000;
        let now = 1_000 * DAY;
        let cases = [
            ("written a minute and a bit ago", now - 61_000, now - 61_000, 61_000),
            ("written just now, a tick ahead of the clock", now + 4, now + 4, 0),
            ("copied with a time from next year", now + 365 * DAY, now - DAY, DAY),
            ("the clock was set back after it was written", now + DAY, now + DAY, i64::MAX),
        ];
        for (case, modified, changed, expected) in cases {
            assert_eq!(age_ms(now, modified, changed), expected, "{case}");
        }
    }
}
