//! The path under which the host will start this program.

use std::path::{Path, PathBuf};

/// Why no path can be written into settings.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The system does not say where this program lies.
    #[error("cannot tell where this program lies: {0}")]
    Unknown(std::io::Error),
    /// The file was replaced or removed since this process started.
    #[error("{} is gone", .0.display())]
    Gone(PathBuf),
    /// Settings are JSON, which holds no other paths.
    #[error("{} is not UTF-8, and settings can hold no such path", .0.display())]
    NotText(PathBuf),
}

/// The program as the host will start it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its absolute path.
    pub path: String,
    /// Why it may be gone one day, in words for a person; `None` for a place that lasts.
    pub passing: Option<&'static str>,
}

impl Program {
    /// This process's own program.
    ///
    /// Where a package manager keeps each version in a folder of its own, the name on the search path is taken: it outlives an update.
    pub fn own() -> Result<Self, ProgramError> {
        let own = std::env::current_exe().map_err(ProgramError::Unknown)?;
        let Ok(real) = own.canonicalize() else { return Err(ProgramError::Gone(own)) };
        let named = find_in_path("sinker").filter(|p| p.canonicalize().is_ok_and(|p| p == real));
        let path = match named {
            Some(named) if passing(&real).is_some() && passing(&named).is_none() => named,
            _ => real,
        };
        let passing = passing(&path);
        let path = path.into_os_string().into_string().map_err(|p| ProgramError::NotText(p.into()))?;
        Ok(Self { path, passing })
    }
}

/// Says why a path will not last.
fn passing(path: &Path) -> Option<&'static str> {
    let text = path.to_string_lossy();
    let within = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    let temporary = std::env::temp_dir();
    if within(&["/debug/sinker", "/release/sinker", "/dist/sinker"]) {
        Some(
            "it lies where cargo builds, and goes with the next `cargo clean`; `scripts/dist` makes one to install",
        )
    } else if path.starts_with(&temporary) || within(&["/tmp/", "/var/folders/"]) {
        Some("it lies in a folder for temporary files")
    } else if within(&["/Cellar/", "/nix/store/"]) {
        Some("its path holds a version, and goes with the next update")
    } else {
        None
    }
}

/// Finds a program on the search path, as a shell would. The name is not resolved further.
pub fn find_in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(name));
    found
        .into_iter()
        .find(|file| file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_do_not_last_are_told() {
        let lasts = ["/usr/local/bin/sinker", "/home/dev/.local/bin/sinker", "/opt/targets/sinker"];
        assert!(lasts.iter().all(|p| passing(Path::new(p)).is_none()));
        let goes = [
            "/home/dev/sinker/target/release/sinker",
            "/home/dev/sinker/target/x86_64-unknown-linux-gnu/dist/sinker",
            "/tmp/sinker",
            "/opt/homebrew/Cellar/sinker/0.1.0/bin/sinker",
            "/nix/store/abc-sinker/bin/sinker",
        ];
        for path in goes {
            assert!(passing(Path::new(path)).is_some(), "{path}");
        }
    }
}
