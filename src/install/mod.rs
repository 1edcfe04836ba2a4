//! Entries in the host's settings: put in, kept right, taken out again.
//!
//! Only what is ours is touched, by the smallest edit; on any doubt nothing is. Before the first write the file's bytes are kept in our own
//! data directory, so that an uninstall gives them back, byte for byte, where nobody changed the file since.
//!
//! | file | what |
//! |---|---|
//! | `entries` | the table of entries that should be there |
//! | `ours` | which hooks in given settings are ours, and in what form |
//! | `document` | settings as text, edited; pure |
//! | `place` | where the settings lie, read and replaced safely |
//! | `record` | what an install did, and the bytes from before it |
//! | `server` | the MCP server, registered through the host's own command |
//! | `proof` | one made-up event through the installed command |
//! | `plugin` | the same entries as a plugin folder |
//! | `purge` | removes the data directory |
//! | `program` | the path under which the host will start us |

mod document;
mod entries;
mod ours;
mod place;
mod plugin;
mod process;
mod program;
mod proof;
mod purge;
mod record;
mod server;

pub use document::{Document, Doubt, Edited};
pub use entries::{Entry, Half, wanted};
pub use ours::{Form, Found, find, missing};
pub use place::{Place, Scope, project_root};
pub use plugin::{Folder, PluginError};
pub use process::run;
pub use program::{Program, ProgramError, find_in_path};
pub use proof::{Proof, prove};
pub use purge::{Survey, is_ours, purge, survey};
pub use record::{Lock, recorded};
pub use server::{Server, ServerState, host_json, host_project};

use crate::config::{Home, Settings};
use crate::fs::FsError;
use place::{Held, Wrote};
use record::{Edit, Record};
use serde_json::Value;
use std::path::PathBuf;

/// Why settings were not changed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// They are not understood beyond doubt; they were left byte for byte.
    #[error("{} was left as it is: {doubt}", path.display())]
    Doubt {
        /// The file.
        path: PathBuf,
        /// What is in doubt.
        doubt: Doubt,
    },
    /// They may not be written.
    #[error("{} is read-only", .0.display())]
    ReadOnly(PathBuf),
    /// Somebody else wrote them each time between our reading and our writing.
    #[error("{} is being written by another program; nothing was changed", .0.display())]
    Busy(PathBuf),
    /// A newer version keeps the record of what was before; nothing was changed.
    #[error("{} was written by a newer version", .0.display())]
    Newer(PathBuf),
    /// The record of what was before cannot be read; nothing was changed, since the backup beside it would be lost.
    #[error("{} is damaged", .0.display())]
    Damaged(PathBuf),
    /// Another install or uninstall is at work.
    #[error("another install or uninstall is at work")]
    Locked,
    /// A file operation.
    #[error(transparent)]
    Fs(#[from] FsError),
}

/// What became of one settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The file as the host names it.
    pub path: PathBuf,
    /// The entries.
    pub edited: Edited,
    /// The bytes from before, in our data directory; `None` when there was no file.
    pub backup: Option<PathBuf>,
    /// An uninstall gave the bytes from before the install back, or removed the file that was not there before.
    pub restored: bool,
}

/// How often settings that change under us are read again.
const TRIES: usize = 5;

/// Puts the entries into one settings file, or keeps them right there; `dry` only says what would change.
///
/// A kill at any instant leaves the old file or the new one whole, and the same call completes it. Errors: [`InstallError`]; the file is
/// then as it was.
pub fn install(
    home: &Home,
    place: &Place,
    wanted: &[Entry],
    command: &str,
    dry: bool,
) -> Result<Done, InstallError> {
    for _ in 0..TRIES {
        let held = place.read()?;
        let document = understood(place, &held)?.known_by(&programs(home, place)?);
        let edited = document.with(wanted, command).map_err(|doubt| in_doubt(place, doubt))?;
        if !edited.is_change() || dry {
            let backup = Record::read(home, place.target())?.and_then(|record| record.backup_file(home));
            return Ok(Done { path: place.path().to_path_buf(), edited, backup, restored: false });
        }
        place.check_writable(&held)?;
        // The record comes first: a file of ours without one could not be given back.
        let record = Record::before(home, place, &held, &Edit { bytes: &edited.bytes, command })?;
        record.write(home, held.bytes.as_deref())?;
        if place.write(&held, &edited.bytes)? == Wrote::Whole {
            let backup = record.backup_file(home);
            return Ok(Done { path: place.path().to_path_buf(), edited, backup, restored: false });
        }
    }
    Err(InstallError::Busy(place.path().to_path_buf()))
}

/// Takes our entries out of one settings file. Where nobody changed it since the install, it is given back byte for byte.
///
/// `Ok(None)`: nothing of ours is there. Errors: [`InstallError`]; the file is then as it was.
pub fn uninstall(home: &Home, place: &Place, dry: bool) -> Result<Option<Done>, InstallError> {
    for _ in 0..TRIES {
        let held = place.read()?;
        let record = Record::read(home, place.target())?;
        let Some(plan) = plan(home, place, &held, record.as_ref())? else {
            if let (Some(record), false) = (&record, dry) {
                record.forget(home, place, &held)?;
            }
            return Ok(None);
        };
        let Plan { edited, restored } = plan;
        let done = Done { path: place.path().to_path_buf(), edited, backup: None, restored };
        if dry {
            return Ok(Some(done));
        }
        place.check_writable(&held)?;
        let gone = done.edited.bytes.is_empty() && record.as_ref().is_some_and(|r| !r.existed);
        let wrote = if gone { place.remove(&held)? } else { place.write(&held, &done.edited.bytes)? };
        if wrote == Wrote::Whole {
            if let Some(record) = record {
                record.forget(home, place, &place.read()?)?;
            }
            return Ok(Some(done));
        }
    }
    Err(InstallError::Busy(place.path().to_path_buf()))
}

/// The entries that a settings file should hold: by the config of its project, or by the user's where it belongs to none.
pub fn wanted_in(place: &Place) -> Vec<Entry> {
    let project = (place.scope() != Scope::User).then_some(place.root());
    wanted(Settings::read(project).tools())
}

struct Plan {
    edited: Edited,
    restored: bool,
}

/// What an uninstall would make of the file; `None` when nothing of ours is in it. No bytes: it was not there before us.
fn plan(
    home: &Home,
    place: &Place,
    held: &Held,
    record: Option<&Record>,
) -> Result<Option<Plan>, InstallError> {
    if held.bytes.is_none() {
        return Ok(None);
    }
    let programs = programs(home, place)?;
    let document = understood(place, held)?.known_by(&programs);
    let backup = match record {
        Some(record) => record.backup(home)?,
        None => None,
    };
    let before =
        backup.as_deref().and_then(|bytes| Document::parse(bytes).ok()).map(|d| d.known_by(&programs));
    // A backup of settings that were changed after an earlier install holds entries of ours: the lists around them are not the user's.
    let others = before.as_ref().and_then(|b| Document::parse(&b.without(None).ok()?.bytes).ok());
    let mut edited = document.without(others.as_ref()).map_err(|doubt| in_doubt(place, doubt))?;
    if edited.removed == 0 {
        return Ok(None);
    }
    let Some(record) = record else { return Ok(Some(Plan { edited, restored: false })) };
    let untouched = held.bytes.as_deref().is_some_and(|bytes| record.wrote(bytes));
    // What was kept may hold entries of ours in an older form: giving that back would be no uninstall.
    let clean = before.as_ref().is_none_or(|b| b.find(&[], "").iter().all(|f| f.form == Form::ByHand));
    let left = Document::parse(&edited.bytes).ok().map(|d| d.value().clone());
    let empty = left.as_ref().and_then(Value::as_object).is_some_and(serde_json::Map::is_empty);
    // What was kept says what is left without our entries; a backup that says anything else was damaged.
    let whole = before.as_ref().map(Document::value) == left.as_ref();
    let restored = if !record.existed && (untouched || empty) {
        edited.bytes = Vec::new();
        true
    } else if let (true, true, Some(bytes)) = (untouched, clean && whole, backup) {
        edited.bytes = bytes;
        true
    } else {
        false
    };
    Ok(Some(Plan { edited, restored }))
}

/// Programs whose entries in a settings file are ours: those that an install has written there, and this one.
pub fn programs(home: &Home, place: &Place) -> Result<Vec<String>, InstallError> {
    let recorded = Record::read(home, place.target())?.map(|record| record.programs).unwrap_or_default();
    let own = Program::own().ok().map(|program| program.path);
    Ok(recorded.into_iter().chain(own).collect())
}

fn understood(place: &Place, held: &Held) -> Result<Document, InstallError> {
    match &held.bytes {
        None => Ok(Document::absent()),
        Some(bytes) => Document::parse(bytes).map_err(|doubt| in_doubt(place, doubt)),
    }
}

fn in_doubt(place: &Place, doubt: Doubt) -> InstallError {
    InstallError::Doubt { path: place.path().to_path_buf(), doubt }
}

/// What a person adds by hand where the settings are in doubt: a whole settings file that holds nothing else.
pub fn snippet(wanted: &[Entry], command: &str) -> String {
    let edited = Document::absent().with(wanted, command).unwrap_or_default();
    String::from_utf8_lossy(&edited.bytes).into_owned()
}

/// The settings of a place as JSON; `None` where they cannot be read or are in doubt.
pub fn settings(place: &Place) -> Option<Value> {
    let bytes = place.read().ok()?.bytes?;
    Document::parse(&bytes).ok().map(|d| d.value().clone())
}

/// What in settings bears on the entries, beside the entries themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// `disableAllHooks` is true: no hook of any file runs.
    pub disabled: bool,
    /// The key under `enabledPlugins` by which the plugin of ours is on.
    pub plugin: Option<String>,
    /// Entries of ours, in any form.
    pub entries: usize,
}

/// Looks at settings without judging them: what cannot be read says nothing.
pub fn around(place: &Place) -> Around {
    let Some(value) = settings(place) else { return Around::default() };
    let plugins = value.get("enabledPlugins").and_then(Value::as_object);
    let own = Program::own().map(|program| program.path).unwrap_or_default();
    let is_ours = |key: &str| key.split('@').next() == Some(plugin::NAME);
    let on = |v: &Value| v.as_bool() != Some(false) && !v.is_null();
    Around {
        disabled: value.get("disableAllHooks").and_then(Value::as_bool) == Some(true),
        plugin: plugins.into_iter().flatten().find(|(k, v)| is_ours(k) && on(v)).map(|(k, _)| k.clone()),
        entries: find(&value, &[], &own).iter().filter(|f| f.form != Form::ByHand).count(),
    }
}
