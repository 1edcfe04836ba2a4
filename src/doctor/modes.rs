//! Proves that nobody else may read what is remembered: folders 0700, files 0600. Mend: `--fix` takes the rights away.

use super::{Finding, Patient};
use crate::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

pub(super) fn look(patient: &Patient) -> Finding {
    let root = patient.home.root();
    if !root.is_dir() {
        return Finding::good("there is nothing to be read yet");
    }
    let open = open(root);
    let Some(first) = open.first() else { return Finding::good("only its owner may read it") };
    let what = format!("{} files or folders are open to others, such as {}", open.len(), first.display());
    if !patient.mend {
        return Finding::bad(what, format!("`sinker doctor --fix`, or `chmod -R go= '{}'`", root.display()));
    }
    let hint = "they may belong to another user: `ls -l` in the data directory";
    match open.iter().try_for_each(|path| fs::keep_private(path).map(drop)) {
        // What belongs to somebody else is left as it is.
        Ok(()) => match self::open(root).first() {
            None => Finding::mended(format!("{what}: closed")),
            Some(path) => Finding::bad(format!("{} stays open to others", path.display()), hint),
        },
        Err(error) => Finding::bad(error.to_string(), hint),
    }
}

/// Files and folders that others than the owner have a right to.
fn open(root: &Path) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(root).into_iter().filter_map(Result::ok);
    let all = all.filter(|entry| !entry.path_is_symlink());
    let open = all.filter(|entry| entry.metadata().is_ok_and(|meta| meta.mode() & 0o077 != 0));
    open.map(walkdir::DirEntry::into_path).collect()
}
