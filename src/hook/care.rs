//! The care of our own directory: what is missing in it is made, what others may read is closed. Capture never comes here: it makes what it
//! misses when it misses it.

use crate::config::{Home, Secret};
use crate::fs::{self, FsError, Sync};
use crate::{log, spool};
use std::path::PathBuf;

/// Repairs what is safe to repair: missing directories, and modes of the home's own top level. Costs a look at each.
///
/// Errors: what could not be made.
pub(super) fn mend(home: &Home) -> Result<(), FsError> {
    fs::make_private_dir(home.root())?;
    spool::prepare(home)?;
    for dir in [home.state(), home.shown(), home.launches(), home.log()] {
        fs::make_private_dir(&dir)?;
    }
    let mut closed = 0_u32;
    for path in ours(home) {
        match fs::keep_private(&path) {
            Ok(changed) => closed += u32::from(changed),
            // It works as it is, for us.
            Err(error) => log::warn("hook", &[("error", &error)], "Others may read what is ours."),
        }
    }
    if closed > 0 {
        log::warn(
            "hook",
            &[("names", &closed)],
            "Modes were set right: nobody else may read the data directory.",
        );
    }
    Ok(())
}

fn ours(home: &Home) -> impl Iterator<Item = PathBuf> {
    let dirs = [
        home.root().to_path_buf(),
        home.root().join("spool"),
        home.spool_tmp(),
        home.spool_new(),
        home.spool_cur(),
        home.spool_odd(),
        home.state(),
        home.shown(),
        home.launches(),
        home.log(),
        home.index(),
    ];
    let files = [home.secret(), home.store(), home.lock(), home.status()];
    dirs.into_iter().chain(files)
}

/// At setup: makes what is missing and tries to write. One line for the user when that fails.
pub(super) fn check(home: &Home) -> Option<String> {
    let failed = match mend(home).and_then(|()| write(home)) {
        Err(error) => error.to_string(),
        Ok(()) => Secret::open(home).err()?.to_string(),
    };
    log::error("hook", &[("error", &failed)], "The data directory cannot be used.");
    Some(super::notice::line(&[format!("nothing can be remembered: {failed}")]))
}

/// Writes a file as capture does, and removes it.
fn write(home: &Home) -> Result<(), FsError> {
    let name = format!("setup.{}", std::process::id());
    let (tmp, done) = (home.spool_tmp().join(&name), home.spool_tmp().join(format!("{name}.done")));
    fs::publish(&tmp, &done, b"setup", Sync::Yes)?;
    fs::remove(&done)
}
