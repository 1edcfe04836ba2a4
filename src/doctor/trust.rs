//! What may be tried: a project's files are somebody else's words, and looking at a project must not start what they name.

use super::Patient;
use super::trial::real;
use crate::install::{Scope, find_in_path};
use std::path::{Path, PathBuf};

/// The program to start for words that stand in settings or in a register. `Err` names one that is not started.
///
/// What the user's own files name is started as it stands there. Of what a project brings along (also as its local settings: a tree may
/// come with them) only this very program is, by its real path, and only when `harmless` says so of its arguments.
pub(super) fn program(
    patient: &Patient,
    scope: Scope,
    named: &Path,
    harmless: bool,
) -> Result<PathBuf, PathBuf> {
    if scope == Scope::User {
        return Ok(named.to_path_buf());
    }
    let own = real(&patient.program);
    match found(named) {
        // By its own name: a link of the project's may lead elsewhere a moment later.
        Some(file) if harmless && file == own => Ok(own),
        _ => Err(named.to_path_buf()),
    }
}

/// The file behind a name; one without a slash is looked up on the search path, as a shell does. `None` for one that depends on where the
/// host is started, or is not there.
pub(super) fn found(program: &Path) -> Option<PathBuf> {
    let file = match program.to_str() {
        Some(name) if !name.contains('/') => find_in_path(name)?,
        _ => program.to_path_buf(),
    };
    file.is_absolute().then(|| real(&file))
}
