//! Removing the data directory: only names that we give, and only where nothing else lies among them.

use crate::config::Home;
use crate::fs::{self, FsError};
use std::path::PathBuf;

/// What lies at the top of the data directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// Files and folders of ours.
    pub ours: Vec<PathBuf>,
    /// Names that we do not give.
    pub foreign: Vec<PathBuf>,
}

const NAMES: [&str; 10] =
    ["spool", "index", "forgotten", "secret", "state", "install", "vault", "log", "store.db", "drain.lock"];
/// Beside `store.db`: its log, its shared memory, damaged ones set aside.
const STORE: &str = "store.db";

/// Looks at the data directory; empty when there is none. Errors: it cannot be listed.
pub fn survey(home: &Home) -> Result<Survey, FsError> {
    let mut survey = Survey::default();
    let list = match std::fs::read_dir(home.root()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(survey),
        list => list.map_err(|source| FsError { what: "list", path: home.root().to_path_buf(), source })?,
    };
    for entry in list.filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let store = name.strip_prefix(STORE).is_some_and(|end| end.starts_with(['-', '.']));
        let ours = NAMES.contains(&name.as_str()) || store || fs::is_replacement(&name);
        if ours { survey.ours.push(entry.path()) } else { survey.foreign.push(entry.path()) }
    }
    survey.ours.sort();
    survey.foreign.sort();
    Ok(survey)
}

/// A Sinker has been at work here. A directory that `SINKER_HOME` names by mistake may hold a `log` or an `index` of somebody else's.
pub fn is_ours(home: &Home) -> bool {
    let marks = [home.secret(), home.store(), home.spool_new(), home.lock(), home.install().join("lock")];
    // An empty one is what a purge that was killed has left.
    let empty = || std::fs::read_dir(home.root()).is_ok_and(|mut all| all.next().is_none());
    marks.iter().any(|path| path.exists()) || empty()
}

/// Removes what is ours, then the directory if nothing else is in it; `Ok(false)` when it stays. The caller holds the drainer's lock.
///
/// What a kill leaves is removed by the next call. Errors: something could not be removed.
pub fn purge(home: &Home) -> Result<bool, FsError> {
    let mut ours = survey(home)?.ours;
    // 1. A purge is killed. 2. A drainer reads the transcripts anew. 3. Without the ledger it stores what was forgotten (D12). So the ledger
    //    outlives all that is stored, and the secret, by which it names things, the ledger. The lock goes last: as long as it lies there
    //    and is held, no drainer begins to work on what is half gone.
    let last = [home.root().join("forgotten"), home.secret(), home.lock()];
    ours.sort_by_key(|path| last.iter().position(|late| late == path).map_or(0, |n| n + 1));
    for path in &ours {
        if path.symlink_metadata().is_ok_and(|m| m.is_dir()) {
            fs::remove_tree(path)?;
        } else {
            fs::remove(path)?;
        }
    }
    fs::remove_empty_dir(home.root())
}
