//! Is the data directory ours alone? What another user may swap, or a link leads elsewhere, is neither read nor written.
//!
//! | found | done |
//! |---|---|
//! | `SINKER_HOME` is a link of the user's own | followed once, and the place it leads to is looked at and used |
//! | the directory, or something of ours in it, belongs to another user | refused |
//! | a link, a pipe or a device where a file or a folder of ours should be | refused |
//! | everybody may write to a directory above it, and no sticky bit keeps them from renaming what is there | refused |
//! | a mode that is too wide | narrowed by who comes along ([`Home::narrow`]), and said |
//!
//! A hook looks at the folders that it uses (their files are opened without following links); everything else looks at all names.

use super::Home;
use crate::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Why the data directory is not used. The user's to set right, or an attack.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unsafe {
    /// It belongs to somebody else.
    #[error("{} belongs to another user (uid {uid})", path.display())]
    Foreign {
        /// What.
        path: PathBuf,
        /// Whose.
        uid: u32,
    },
    /// It leads out of the data directory.
    #[error("{} is a symbolic link; nothing is followed out of the data directory", .0.display())]
    Link(PathBuf),
    /// A pipe, a device, a file in place of a folder.
    #[error("{} is not a {wanted}", path.display())]
    Kind {
        /// What.
        path: PathBuf,
        /// `directory` or `regular file`.
        wanted: &'static str,
    },
    /// Who may write there may put another directory in the place of ours.
    #[error("everybody may write to {}, and so replace the data directory in it", .0.display())]
    Open(PathBuf),
}

impl Unsafe {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Foreign { path, .. } => format!(
                "let SINKER_HOME name a directory of your own; if this one should be yours: `sudo chown -R \"$(id -u)\" '{}'`",
                path.display()
            ),
            Self::Link(path) => format!(
                "look where `readlink '{}'` leads; move the link away, or put what it leads to in its place (SINKER_HOME itself may be a link)",
                path.display()
            ),
            Self::Kind { path, .. } => format!("move '{}' away; it is made anew", path.display()),
            Self::Open(path) => {
                format!("`chmod o-w '{}'`, or let SINKER_HOME name another place", path.display())
            }
        }
    }
}

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// The folders that hooks use: a dozen system calls.
    Hook,
    /// Every name that is known, and the files of the index.
    Whole,
}

/// Folders that hooks use.
const HOOK: [&str; 8] =
    ["spool", "spool/tmp", "spool/new", "state", "state/shown", "state/launches", "index", "vault"];
const FOLDERS: [&str; 4] = ["spool/cur", "spool/odd", "state/replies", "install"];
const FILES: [&str; 22] = [
    "secret",
    "store.db",
    "store.db-wal",
    "store.db-shm",
    "store.db-journal",
    "drain.lock",
    "forgotten",
    "index/current",
    "state/heartbeat",
    "state/status",
    "state/starting",
    "state/reading",
    "state/suspects",
    "state/projects",
    "state/notice",
    "state/successor",
    "state/retained",
    "state/residue",
    "state/rescan",
    "state/suspect-store",
    "state/suspect-index",
    "state/repair",
];

impl Home {
    /// Gives the directory as it may be used: a link to it is resolved, so that it can lead nowhere else later. Errors: [`Unsafe`].
    pub fn trusted(self, look: Look) -> Result<Self, Unsafe> {
        let own = rustix::process::geteuid().as_raw();
        let mut home = self;
        if let Ok(meta) = home.root().symlink_metadata()
            && meta.is_symlink()
        {
            owned(home.root(), meta.uid(), own)?;
            // One that leads nowhere is made by nobody: `create` would refuse it.
            let target = home.root().canonicalize();
            home = Self::at(target.map_err(|_| Unsafe::Link(home.root().to_path_buf()))?);
        }
        for dir in home.root().ancestors().skip(1) {
            if dir.metadata().is_ok_and(|meta| meta.mode() & 0o1002 == 0o002) {
                return Err(Unsafe::Open(dir.to_path_buf()));
            }
        }
        if !is_ours(home.root(), true, own)? {
            return Ok(home);
        }
        // A mistake such as a file in the place of a folder is told only where nothing is worse: whoever goes on all the same has
        // looked at everything.
        let mut mistake = None;
        let mut look_at = |path: PathBuf, folder| match is_ours(&path, folder, own) {
            Err(kind @ Unsafe::Kind { .. }) => {
                mistake.get_or_insert(kind);
                Ok(())
            }
            looked => looked.map(drop),
        };
        for name in HOOK {
            look_at(home.root().join(name), true)?;
        }
        // A log that cannot be written holds nobody up, and its files are opened without following links.
        if let Ok(meta) = home.log().symlink_metadata() {
            if meta.is_symlink() {
                return Err(Unsafe::Link(home.log()));
            }
            owned(&home.log(), meta.uid(), own)?;
        }
        if look == Look::Whole {
            for name in FOLDERS {
                look_at(home.root().join(name), true)?;
            }
            for name in FILES {
                look_at(home.root().join(name), false)?;
            }
            let index = walkdir::WalkDir::new(home.index()).min_depth(1).into_iter().filter_map(Result::ok);
            if let Some(link) = index.into_iter().find(walkdir::DirEntry::path_is_symlink) {
                return Err(Unsafe::Link(link.into_path()));
            }
        }
        mistake.map_or(Ok(home), Err)
    }

    /// Takes everybody else's rights off the directory and all that is in it. Returns how many names were open to others. Errors: the first
    /// that could not be narrowed; the others were.
    pub fn narrow(&self) -> Result<u64, fs::FsError> {
        let mut narrowed = 0;
        let mut fault = None;
        for entry in walkdir::WalkDir::new(self.root()).into_iter().filter_map(Result::ok) {
            match fs::keep_private(entry.path()) {
                Ok(changed) => narrowed += u64::from(changed),
                Err(error) => drop(fault.get_or_insert(error)),
            }
        }
        fault.map_or(Ok(narrowed), Err)
    }
}

/// False when there is nothing.
fn is_ours(path: &Path, folder: bool, own: u32) -> Result<bool, Unsafe> {
    // What cannot be looked at fails where it is used.
    let Ok(meta) = path.symlink_metadata() else { return Ok(false) };
    if meta.is_symlink() {
        return Err(Unsafe::Link(path.to_path_buf()));
    }
    let (fits, wanted) = if folder { (meta.is_dir(), "directory") } else { (meta.is_file(), "regular file") };
    if !fits {
        return Err(Unsafe::Kind { path: path.to_path_buf(), wanted });
    }
    owned(path, meta.uid(), own).map(|()| true)
}

fn owned(path: &Path, uid: u32, own: u32) -> Result<(), Unsafe> {
    if uid == own { Ok(()) } else { Err(Unsafe::Foreign { path: path.to_path_buf(), uid }) }
}
