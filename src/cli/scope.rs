//! Which project a command means: an id, a name or a path; without one, that of the working directory.

use super::Exit;
use super::exit::Failure;
use crate::config::{self, Home, Project, ProjectMap, Secret};
use crate::store::{ProjectRow, Reader, StoreError};
use std::path::Path;

/// Finds the id of the project named by `wanted`. Errors: no such project, or several of that name.
pub(super) fn project(home: &Home, wanted: Option<&str>) -> Result<String, Failure> {
    let known = match Reader::open(home) {
        Ok(store) => store.projects()?,
        Err(StoreError::Absent(_)) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    match wanted {
        None => {
            let here = std::env::current_dir()
                .map_err(|e| Failure::new(format!("there is no working directory: {e}")))?;
            Ok(of_directory(home, &here)?)
        }
        Some(wanted) => named(home, wanted, &known),
    }
}

/// The project named by `wanted` with all that is known of it; without one, that of the working directory. Errors: as [`project`].
pub(super) fn whole(home: &Home, wanted: Option<&str>) -> Result<Project, Failure> {
    let here = match wanted {
        None => std::env::current_dir().ok(),
        Some(wanted) if wanted.contains('/') || Path::new(wanted).is_dir() => {
            std::path::absolute(wanted).ok()
        }
        Some(_) => None,
    };
    let id = project(home, wanted)?;
    let known = Reader::open(home).ok().and_then(|s| s.projects().ok()).unwrap_or_default();
    if let Some(p) = known.into_iter().find(|p| p.id == id) {
        return Ok(Project {
            id: p.id,
            name: p.name,
            remote: p.remote,
            root: p.directory.into(),
            mark: None,
        });
    }
    if let Some(here) = here {
        let secret = Secret::open(home).map_err(|e| Failure::new(e.to_string()))?;
        let found = config::identify(&here, &secret);
        if found.id == id {
            return Ok(found);
        }
    }
    let name = id.rsplit_once('-').map_or(id.as_str(), |(name, _)| name).to_owned();
    Ok(Project { name, remote: None, root: wanted.unwrap_or_default().into(), mark: None, id })
}

fn of_directory(home: &Home, directory: &Path) -> Result<String, Failure> {
    let secret = Secret::open(home).map_err(|e| Failure::new(e.to_string()))?;
    Ok(ProjectMap::read(home).of(directory, &secret))
}

fn named(home: &Home, wanted: &str, known: &[ProjectRow]) -> Result<String, Failure> {
    match ProjectRow::named(known, wanted).as_slice() {
        [one] => return Ok((*one).to_owned()),
        [] => {}
        ids => {
            return Err(Failure::new(format!("several projects are named {wanted}"))
                .hint(format!("use one of: {}", ids.join(", ")))
                .exit(Exit::Usage));
        }
    }
    let path = Path::new(wanted);
    if wanted.contains('/') || path.is_dir() {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        return of_directory(home, &path);
    }
    Err(Failure::new(format!("no project is named {wanted}"))
        .hint("`sinker project list` shows them")
        .exit(Exit::Nothing))
}
