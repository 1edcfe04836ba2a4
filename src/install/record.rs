//! What an install did to a settings file, and the bytes from before it: `install/<16 hex of the path>.{json,backup}`.
//!
//! ```json
//! {"v": 1, "scope": "user", "root": "/home/dev/app", "path": "/home/dev/.claude/settings.json", "existed": true, "made_folder": false, "wrote": ["<sha256>"]}
//! ```

use super::InstallError;
use super::place::{Held, Place, Scope};
use crate::config::Home;
use crate::fs::{self, Sync};
use crate::id;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

const FORMAT: u32 = 1;

/// What an install did to one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    v: u32,
    scope: String,
    /// The project's root where the install was run. Of paths that are not UTF-8 JSON holds what can be read: the name of the record tells
    /// them apart.
    root: String,
    path: String,
    /// The file itself, given back by whoever reads the record.
    #[serde(skip)]
    target: PathBuf,
    /// The file was there before the first install.
    pub existed: bool,
    /// Its folder was not.
    made_folder: bool,
    /// Nor was `.mcp.json` of the project, into which the host registers the MCP server.
    #[serde(default)]
    made_register: bool,
    /// The programs whose entries they were: one may have another name than `sinker`.
    #[serde(default)]
    pub programs: Vec<String>,
    /// Hashes of what installs wrote, or were about to write, on top of the one backup.
    wrote: Vec<String>,
}

/// What an install is about to write.
pub(super) struct Edit<'a> {
    /// The whole file.
    pub bytes: &'a [u8],
    /// The program in its entries.
    pub command: &'a str,
}

/// More hashes than a person installs on top of one backup; the oldest go.
const MOST_HASHES: usize = 32;

/// Held while settings are changed: of two installs at once, each would take the other's temporary file for a leftover.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes it. Errors: [`InstallError::Locked`] when somebody else has it.
    pub fn take(home: &Home) -> Result<Self, InstallError> {
        fs::make_private_dir(&home.install())?;
        let file = fs::open_in_place(&home.install().join("lock"))?;
        // Where locks do not work, two installs at once are the lesser fault.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(InstallError::Locked);
        }
        // Nobody else writes here now: what has a temporary name was left by a kill.
        fs::remove_leftovers(&home.install(), -1, fs::is_replacement)?;
        Ok(Self { _file: file })
    }
}

fn path(home: &Home, target: &Path, end: &str) -> PathBuf {
    let name = id::hash(&[b"settings", target.as_os_str().as_bytes()]);
    home.install().join(format!("{}.{end}", id::short(&name, 16)))
}

/// Errors of an item: it cannot be read, so nobody knows what it stands for.
fn records(home: &Home) -> impl Iterator<Item = Result<Record, InstallError>> {
    let files =
        std::fs::read_dir(home.install()).into_iter().flatten().filter_map(Result::ok).map(|e| e.path());
    files
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .filter_map(|path| parsed(&path).transpose())
}

/// `None`: there is no such file.
fn parsed(path: &Path) -> Result<Option<Record>, InstallError> {
    #[derive(Deserialize)]
    struct Version {
        v: u64,
    }
    let Some(bytes) = fs::read_small(path, 1024 * 1024)? else { return Ok(None) };
    if serde_json::from_slice::<Version>(&bytes).is_ok_and(|version| version.v > u64::from(FORMAT)) {
        return Err(InstallError::Newer(path.to_path_buf()));
    }
    let damaged = |_| InstallError::Damaged(path.to_path_buf());
    serde_json::from_slice(&bytes).map(Some).map_err(damaged)
}

/// The settings files that installs wrote and no uninstall took up yet, whatever project they belong to. Errors: a record is damaged, or of
/// a newer version.
pub fn recorded(home: &Home) -> Result<Vec<Place>, InstallError> {
    let place = |r: Record| {
        Place::of(Scope::from_name(&r.scope)?, Path::new(&r.root)).filter(|p| *p.target() == *r.path)
    };
    let mut places = Vec::new();
    for record in records(home) {
        places.extend(place(record?));
    }
    places.sort_by(|a: &Place, b| a.path().cmp(b.path()));
    Ok(places)
}

fn register(root: &Path) -> PathBuf {
    root.join(".mcp.json")
}

/// Where the bytes from before are kept.
fn backup_path(home: &Home, target: &Path) -> PathBuf {
    path(home, target, "backup")
}

impl Record {
    /// Reads the record of a file; `None` when no install wrote it. Errors: a newer version wrote it (D11), or it is damaged. It is left as it
    /// is: the backup beside it is the only copy of what was before.
    pub fn read(home: &Home, target: &Path) -> Result<Option<Self>, InstallError> {
        let record = parsed(&path(home, target, "json"))?;
        Ok(record.map(|r| Self { target: target.to_path_buf(), ..r }))
    }

    /// The record of an install that is about to write `next` over what is `held`.
    pub fn before(home: &Home, place: &Place, held: &Held, next: &Edit<'_>) -> Result<Self, InstallError> {
        let known = Self::read(home, place.target())?;
        // What the first install made is ours, also where the settings were changed since and a new backup begins.
        let made_register = known.as_ref().is_some_and(|r| r.made_register)
            || place.scope() == Scope::Project && !register(place.root()).exists();
        let before = known.as_ref().map(|k| k.programs.clone()).unwrap_or_default();
        let mut record = match known {
            // The file is still as an install left it: the older backup stands for what was before us.
            Some(known) if held.bytes.as_deref().is_some_and(|bytes| known.wrote(bytes)) => known,
            // An install began and did not come to the file: the folder it made is ours.
            Some(known) if held.bytes.is_none() && !known.existed => Self { wrote: Vec::new(), ..known },
            _ => Self {
                v: FORMAT,
                scope: place.scope().name().to_owned(),
                root: place.root().to_string_lossy().into_owned(),
                path: place.target().to_string_lossy().into_owned(),
                target: place.target().to_path_buf(),
                existed: held.bytes.is_some(),
                // Two files in a folder that was made for one: the last to go takes it along.
                made_folder: !place.folder().is_dir()
                    || records(home)
                        .filter_map(Result::ok)
                        .any(|r| r.made_folder && Path::new(&r.path).parent() == place.target().parent()),
                made_register,
                programs: before,
                wrote: Vec::new(),
            },
        };
        if !record.programs.iter().any(|program| program == next.command) {
            record.programs.push(next.command.to_owned());
        }
        record.wrote.push(id::sha256(next.bytes));
        let over = record.wrote.len().saturating_sub(MOST_HASHES);
        record.wrote.drain(..over);
        Ok(record)
    }

    /// An install wrote these bytes.
    pub fn wrote(&self, bytes: &[u8]) -> bool {
        self.wrote.contains(&id::sha256(bytes))
    }

    /// Keeps record and, where this record begins a new backup, the bytes. Synced: the settings are replaced next.
    pub fn write(&self, home: &Home, held: Option<&[u8]>) -> Result<(), InstallError> {
        fs::make_private_dir(&home.install())?;
        // 1. The old record names hashes that lie on the old backup. 2. The backup is replaced. 3. A kill here, and an uninstall gives
        //    back bytes that are not from before what it finds. So a record that does not go on is removed first.
        if let [_one] = self.wrote.as_slice() {
            fs::remove(&path(home, &self.target, "json"))?;
            match held {
                Some(bytes) => fs::replace(&backup_path(home, &self.target), bytes, Sync::Yes)?,
                None => fs::remove(&backup_path(home, &self.target))?,
            }
        }
        let json = serde_json::to_vec(self).unwrap_or_default();
        Ok(fs::replace(&path(home, &self.target, "json"), &json, Sync::Yes)?)
    }

    /// The bytes from before; `None` when there was no file, or they are gone.
    pub fn backup(&self, home: &Home) -> Result<Option<Vec<u8>>, InstallError> {
        if !self.existed {
            return Ok(None);
        }
        Ok(fs::read_small(&backup_path(home, &self.target), 64 * 1024 * 1024)?)
    }

    /// The file that keeps them; `None` when there was none.
    pub fn backup_file(&self, home: &Home) -> Option<PathBuf> {
        self.existed.then(|| backup_path(home, &self.target))
    }

    /// Ends it: nothing of ours is in the settings any more. What was made for them and is empty goes: the folder, and the project's
    /// register of MCP servers, which the host leaves behind.
    pub fn forget(&self, home: &Home, place: &Place, held: &Held) -> Result<(), InstallError> {
        let register = register(place.root());
        if self.made_register
            && let Ok(Some(bytes)) = fs::read_small(&register, 64 * 1024)
            && serde_json::from_slice::<serde_json::Value>(&bytes)
                .is_ok_and(|v| v == serde_json::json!({ "mcpServers": {} }))
        {
            fs::remove(&register)?;
        }
        if self.made_folder && held.bytes.is_none() && place.folder().is_dir() {
            place.sweep(place.folder())?;
            fs::remove_empty_dir(place.folder())?;
        }
        fs::remove(&backup_path(home, &self.target))?;
        Ok(fs::remove(&path(home, &self.target, "json"))?)
    }
}
