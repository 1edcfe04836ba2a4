//! Proves that the data directory is whole: its folders, its secret, no stale mark of a start. Mend: `--fix` makes and removes them.

use super::{Finding, Patient};
use crate::config::{Home, Look, Secret};
use crate::fs::{self, FsError};
use crate::{clock, spool};
use std::path::PathBuf;

/// A mark that is older stands for a start that failed. Units: milliseconds.
const STALE_MS: i64 = 60_000;

pub(super) fn look(patient: &Patient) -> Finding {
    let home = &match patient.home.clone().trusted(Look::Whole) {
        Ok(home) => home,
        Err(error) => return Finding::bad(format!("{error}; nothing is remembered"), error.hint()),
    };
    if let Err(error) = Secret::read(home) {
        return Finding::bad(
            error.to_string(),
            "what was stored with it is found under another project id without it: bring it back from a copy, or move it away and import again",
        );
    }
    let stale = is_stale(home);
    if !home.root().join("spool").exists() && !home.store().exists() && !stale && !patient.mend {
        return Finding::good(format!("{} is made by the first event of a session", home.root().display()));
    }
    let missing = missing(home);
    if missing.is_empty() && !stale {
        return Finding::good(home.root().display().to_string());
    }
    let mut what: Vec<String> = missing.iter().map(|dir| format!("{} is missing", dir.display())).collect();
    if stale {
        what.push("a drainer was being started long ago".to_owned());
    }
    let what = what.join(", ");
    if !patient.mend {
        return Finding::bad(what, "`sinker doctor --fix`; the next event of a session does it, too");
    }
    match mend(home, stale) {
        Ok(()) => Finding::mended(format!("{what}: mended")),
        Err(error) => {
            Finding::bad(error.to_string(), "check who owns the data directory, and its permissions")
        }
    }
}

fn missing(home: &Home) -> Vec<PathBuf> {
    let wanted = [home.spool_tmp(), home.spool_new(), home.spool_cur(), home.spool_odd(), home.state()];
    wanted.into_iter().filter(|dir| !dir.is_dir()).collect()
}

fn is_stale(home: &Home) -> bool {
    let time = home.starting().symlink_metadata().and_then(|m| m.modified());
    time.is_ok_and(|time| clock::wall().0 - clock::from_system(time).0 > STALE_MS)
}

fn mend(home: &Home, stale: bool) -> Result<(), FsError> {
    spool::prepare(home)?;
    fs::make_private_dir(&home.state())?;
    if stale {
        fs::remove(&home.starting())?;
    }
    Ok(())
}
