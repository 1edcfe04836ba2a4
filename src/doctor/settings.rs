//! The host's settings that count here, and the hooks in them.

use crate::config::{Settings, host_folder};
use crate::fs;
use crate::install::{self, Place, Scope, wanted};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// More than any settings hold.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// A file with hooks in it: settings of a scope, or a plugin of ours.
#[derive(Debug)]
pub(super) struct SettingsFile {
    /// Where it lies.
    pub path: PathBuf,
    /// What it holds; `None` for one that is there and cannot be read as JSON.
    pub value: Option<Value>,
}

/// Reads the settings of user, project and this user in the project, and the hooks of a plugin of ours that they switch on.
pub(super) fn read(here: &Path) -> Vec<SettingsFile> {
    let mut files = Vec::new();
    for place in Scope::ALL.into_iter().filter_map(|scope| Place::of(scope, here)) {
        let path = place.path().to_path_buf();
        let twice = files.iter().any(|f: &SettingsFile| f.path == path);
        if place.target().exists() && !twice {
            files.push(SettingsFile { value: install::settings(&place), path });
        }
    }
    let folders: Vec<PathBuf> = files.iter().flat_map(plugin_folders).collect();
    for folder in folders {
        let path = folder.join(super::server::HOOKS);
        let bytes = fs::read_small(&path, MOST_BYTES).ok().flatten();
        let value = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        files.push(SettingsFile { path, value });
    }
    files
}

/// The folders of plugins named `sinker` that a file switches on, from the marketplaces that it names.
fn plugin_folders(file: &SettingsFile) -> Vec<PathBuf> {
    let Some(value) = &file.value else { return Vec::new() };
    let on = value.get("enabledPlugins").and_then(Value::as_object).into_iter().flatten();
    let keys = on.filter(|(_, v)| v.as_bool() == Some(true)).filter_map(|(key, _)| key.split_once('@'));
    let folder = |market: &str| {
        let source = value.pointer(&format!("/extraKnownMarketplaces/{market}/source"))?;
        Some(PathBuf::from(source.get("path")?.as_str()?))
    };
    keys.filter(|(plugin, _)| *plugin == "sinker").filter_map(|(_, market)| folder(market)).collect()
}

/// A hook in the settings, as the host would start it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hook {
    /// The host's event.
    pub event: String,
    /// Program and arguments, or a line for the shell.
    pub call: Call,
}

/// How a hook is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Call {
    /// `command` and `args`.
    Exec(Vec<String>),
    /// `command` alone.
    Shell(String),
}

impl Hook {
    /// The words of it, to be searched.
    pub(super) fn text(&self) -> String {
        match &self.call {
            Call::Exec(words) => words.join(" "),
            Call::Shell(line) => line.clone(),
        }
    }
}

/// Every command hook of a file, in its order.
pub(super) fn hooks(value: &Value) -> Vec<Hook> {
    let mut all = Vec::new();
    for (event, groups) in value.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        let groups = groups.as_array().into_iter().flatten();
        for hook in groups.filter_map(|g| g.get("hooks")?.as_array()).flatten() {
            let Some(command) = hook.get("command").and_then(Value::as_str) else { continue };
            let call = match hook.get("args").and_then(Value::as_array) {
                Some(args) => {
                    let args = args.iter().filter_map(Value::as_str);
                    Call::Exec(std::iter::once(command).chain(args).map(str::to_owned).collect())
                }
                None => Call::Shell(command.to_owned()),
            };
            all.push(Hook { event: event.clone(), call });
        }
    }
    all
}

/// The entries that should be there for this project's settings.
pub(super) fn entries(here: &Path) -> Vec<install::Entry> {
    wanted(Settings::read(Some(here)).tools())
}

/// Days after which the host deletes transcripts: the smallest that any file says.
pub(super) fn cleanup_days(files: &[SettingsFile]) -> u64 {
    const DEFAULT: u64 = 30;
    let days = files.iter().filter_map(|f| f.value.as_ref()?.get("cleanupPeriodDays")?.as_u64());
    days.min().unwrap_or(DEFAULT).max(1)
}

/// The host's folder as a person reads it.
pub(super) fn host_name() -> String {
    host_folder().map_or_else(|| "~/.claude".to_owned(), |folder| folder.display().to_string())
}
