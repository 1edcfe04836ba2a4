//! Where the host's settings lie, and how they are read and replaced: whole or not at all, and never over what another wrote meanwhile.

use super::InstallError;
use crate::config::host_folder;
use crate::fs::{self, Dress, FsError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All sessions of this user.
    User,
    /// All who work in this project: the file is part of it.
    Project,
    /// This user in this project.
    Local,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Scope; 3] = [Scope::User, Scope::Project, Scope::Local];

    /// Finds a scope by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }

    /// Its name, ours and the host's.
    pub fn name(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Project => "project",
            Scope::Local => "local",
        }
    }
}

/// A settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    scope: Scope,
    path: PathBuf,
    target: PathBuf,
    root: PathBuf,
}

/// Settings as they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    /// `None`: there is no file.
    pub bytes: Option<Vec<u8>>,
    dress: Dress,
}

/// How a write ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrote {
    /// The file is the new one.
    Whole,
    /// Somebody else has written it since it was read: nothing was done.
    Changed,
}

/// More than any settings hold; what is larger is something else.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

impl Place {
    /// The settings of a scope; `here` lies in the project. `None` for the user's when neither `CLAUDE_CONFIG_DIR` nor `HOME` is set.
    pub fn of(scope: Scope, here: &Path) -> Option<Self> {
        let root = project_root(here);
        let path = match scope {
            Scope::User => host_folder()?.join("settings.json"),
            Scope::Project => root.join(".claude/settings.json"),
            Scope::Local => root.join(".claude/settings.local.json"),
        };
        Some(Self { scope, target: behind_links(&path), path, root })
    }

    /// The project's root, for the scopes that have one.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The scope.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The file as the host names it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file itself: where the host's name is a link, what it points at.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The folder that the file lies in, as the host names it.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    pub(super) fn read(&self) -> Result<Held, InstallError> {
        let bytes = fs::read_small(&self.target, MOST_BYTES)?;
        // Settings of a user may hold tokens; those of a project are part of what is shared. They name programs that are started: nobody
        // else may write them, whatever the mask is.
        let fresh = if self.scope == Scope::Project { 0o644 } else { 0o600 };
        let meta = self.target.symlink_metadata().ok().filter(|_| bytes.is_some());
        let kept = |m: std::fs::Metadata| Dress::Kept { mode: m.mode() & 0o7777, owner: (m.uid(), m.gid()) };
        Ok(Held { dress: meta.map_or(Dress::New(fresh), kept), bytes })
    }

    /// Errors: the file carries no right to be written. A rename would go around that; whoever took the right away meant it.
    pub(super) fn check_writable(&self, held: &Held) -> Result<(), InstallError> {
        let allowed = match held.dress {
            Dress::New(_) => true,
            Dress::Kept { mode, .. } => {
                mode & 0o222 != 0 && rustix::fs::access(&self.target, rustix::fs::Access::WRITE_OK).is_ok()
            }
        };
        if allowed { Ok(()) } else { Err(InstallError::ReadOnly(self.path.clone())) }
    }

    /// Replaces the file, with its mode and owner, unless it is no longer what was read.
    pub(super) fn write(&self, held: &Held, bytes: &[u8]) -> Result<Wrote, InstallError> {
        let folder = self.target.parent().unwrap_or(&self.target);
        let mode = if self.scope == Scope::User { 0o700 } else { 0o755 };
        fs::make_dir(folder, mode)?;
        self.sweep(folder)?;
        let as_before = || fs::read_small(&self.target, MOST_BYTES).is_ok_and(|now| now == held.bytes);
        let written = fs::replace_if(&self.target, &self.temporary(), bytes, held.dress, as_before)?;
        Ok(if written { Wrote::Whole } else { Wrote::Changed })
    }

    /// Removes the file unless it is no longer what was read.
    pub(super) fn remove(&self, held: &Held) -> Result<Wrote, InstallError> {
        if self.read()?.bytes != held.bytes {
            return Ok(Wrote::Changed);
        }
        fs::remove(&self.target)?;
        Ok(Wrote::Whole)
    }

    /// Removes temporary files of ours that a kill has left. Nobody else writes one now: the record's lock is held.
    pub(super) fn sweep(&self, folder: &Path) -> Result<(), FsError> {
        let prefix = self.prefix();
        match fs::remove_leftovers(folder, -1, |name| name.starts_with(&prefix) && fs::is_replacement(name)) {
            Err(error) if error.is_missing() => Ok(()),
            swept => swept.map(drop),
        }
    }

    fn prefix(&self) -> String {
        format!(".{}.sinker-", self.target.file_name().unwrap_or_default().to_string_lossy())
    }

    fn temporary(&self) -> PathBuf {
        self.target.with_file_name(format!("{}{}.tmp", self.prefix(), std::process::id()))
    }
}

/// The work tree's root, else the directory itself.
pub fn project_root(here: &Path) -> PathBuf {
    let real = here.canonicalize().unwrap_or_else(|_| here.to_path_buf());
    let root = real.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok());
    root.unwrap_or(&real).to_path_buf()
}

/// Follows links at the last part of a name, also to a file that does not exist yet.
fn behind_links(path: &Path) -> PathBuf {
    let mut at = path.to_path_buf();
    for _ in 0..40 {
        match std::fs::read_link(&at) {
            Ok(to) => at = at.parent().unwrap_or(Path::new("/")).join(to),
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(_) => break,
        }
    }
    // One name for one file, whatever links lead to its folder.
    match (at.parent().and_then(|dir| dir.canonicalize().ok()), at.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => at,
    }
}
