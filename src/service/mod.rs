//! `sinker service`: the drainer as a service of the user's own, for those who want one that is there from the login on.
//!
//! Nothing needs it: a hook starts a drainer when none runs. The service's drainer stays when there is nothing to do, is started again when it
//! ends, and takes over from one that a hook has started as soon as that leaves; the drain lock decides who works (D7).
//!
//! | file | what |
//! |---|---|
//! | `unit` | the text of the systemd user unit |
//! | `agent` | the text of the launchd agent |
//! | `manager` | asks systemd or launchd, where there is one to ask |
//!
//! Both texts are made and tested on every platform. A file that we did not write is neither replaced nor removed.

mod agent;
mod manager;
mod unit;

pub use manager::Manager;

use crate::fs::{self, FsError, Sync};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Which kind of service manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Linux: a user unit.
    Systemd,
    /// macOS: an agent of the user.
    Launchd,
}

impl Kind {
    /// The one of this platform.
    pub fn here() -> Self {
        if cfg!(target_os = "macos") { Kind::Launchd } else { Kind::Systemd }
    }
}

/// Why there is no service.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// Neither `XDG_CONFIG_HOME` nor `HOME` says where units lie.
    #[error("there is no place for it: HOME is not set")]
    NoPlace,
    /// Somebody else's file has the name.
    #[error("{} was not written by Sinker and is left as it is", .0.display())]
    Foreign(PathBuf),
    /// XML has no way to write a path like this.
    #[error("{} cannot be written into a launchd agent", .0.display())]
    Path(PathBuf),
    /// A file operation.
    #[error(transparent)]
    Fs(#[from] FsError),
    /// systemd or launchd refused.
    #[error("`{command}` failed: {why}")]
    Manager {
        /// What was run.
        command: String,
        /// What it said.
        why: String,
    },
}

/// What the service runs, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// The binary, absolute.
    pub program: PathBuf,
    /// Environment of the drainer, besides what every user's service has.
    pub environment: Vec<(String, PathBuf)>,
}

/// Both texts hold it: a file without it is somebody else's.
const MARK: &str = "Written by `sinker service install`";
/// A unit is a page at most.
const MOST_BYTES: u64 = 64 * 1024;

impl Service {
    /// The text of its file. Errors: a path that the format cannot hold.
    pub fn text(&self, kind: Kind) -> Result<String, ServiceError> {
        match kind {
            Kind::Systemd => Ok(unit::text(self)),
            Kind::Launchd => agent::text(self),
        }
    }
}

/// Where the file lies: `$XDG_CONFIG_HOME/systemd/user/sinker.service`, `~/Library/LaunchAgents/sinker.drain.plist`.
pub fn path(kind: Kind) -> Result<PathBuf, ServiceError> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = || set("HOME").ok_or(ServiceError::NoPlace);
    match kind {
        Kind::Systemd => {
            let config = set("XDG_CONFIG_HOME").filter(|p| p.is_absolute());
            let config = config.map_or_else(|| home().map(|h| h.join(".config")), Ok)?;
            Ok(config.join("systemd/user").join(unit::NAME))
        }
        Kind::Launchd => Ok(home()?.join("Library/LaunchAgents").join(format!("{}.plist", agent::LABEL))),
    }
}

/// What lies at the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Installed {
    /// Nothing.
    Absent,
    /// Ours, as it would be written now.
    Current,
    /// Ours, for another binary or from another version.
    Older,
    /// Somebody else's.
    Foreign,
}

/// Looks at the file.
pub fn look(path: &Path, text: &str) -> Result<Installed, ServiceError> {
    let Some(bytes) = fs::read_small(path, MOST_BYTES)? else { return Ok(Installed::Absent) };
    Ok(if bytes == text.as_bytes() {
        Installed::Current
    } else if memchr::memmem::find(&bytes, MARK.as_bytes()).is_some() {
        Installed::Older
    } else {
        Installed::Foreign
    })
}

/// Puts the file there; false when it was there already. Errors: [`ServiceError::Foreign`].
pub fn write(path: &Path, text: &str) -> Result<bool, ServiceError> {
    match look(path, text)? {
        Installed::Current => return Ok(false),
        Installed::Foreign => return Err(ServiceError::Foreign(path.to_path_buf())),
        Installed::Absent | Installed::Older => {}
    }
    if let Some(folder) = path.parent() {
        fs::make_private_dir(folder)?;
    }
    fs::replace(path, text.as_bytes(), Sync::Yes)?;
    Ok(true)
}

/// Removes the file; false when there was none. Errors: [`ServiceError::Foreign`].
pub fn remove(path: &Path) -> Result<bool, ServiceError> {
    match look(path, "")? {
        Installed::Absent => Ok(false),
        Installed::Foreign => Err(ServiceError::Foreign(path.to_path_buf())),
        Installed::Current | Installed::Older => {
            fs::remove(path)?;
            Ok(true)
        }
    }
}

/// What `enable` makes, so that an uninstall can take it away where no manager runs.
pub fn enabled_link(kind: Kind, file: &Path) -> Option<PathBuf> {
    match kind {
        Kind::Systemd => Some(file.parent()?.join("default.target.wants").join(unit::NAME)),
        Kind::Launchd => None,
    }
}

/// The bytes of a path as they are on this system.
fn bytes(path: &OsStr) -> &[u8] {
    use std::os::unix::ffi::OsStrExt as _;
    path.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_file_is_neither_replaced_nor_removed_and_ours_is_written_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("units/sinker.service");
        let text = format!("# {MARK}\n[Service]\n");
        assert!(!remove(&path).unwrap());
        assert!(write(&path, &text).unwrap());
        assert!(!write(&path, &text).unwrap());
        assert_eq!(look(&path, "other").unwrap(), Installed::Older);
        assert!(write(&path, &format!("{text}More=1\n")).unwrap());
        assert!(remove(&path).unwrap() && !path.exists());
        fs::replace(&path, b"[Service]\nExecStart=/bin/true\n", Sync::No).unwrap();
        assert!(matches!(write(&path, &text), Err(ServiceError::Foreign(_))));
        assert!(matches!(remove(&path), Err(ServiceError::Foreign(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[Service]\nExecStart=/bin/true\n");
    }
}
