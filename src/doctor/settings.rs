//! The host's settings that count here, and the hooks in them.

use crate::config::{Settings, host_folder};
use crate::fs;
use crate::install::{self, Entry, Form, Found, Place, Scope, find, wanted};
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
    /// Whose it is; of a plugin, whose settings switch it on.
    pub scope: Scope,
    /// The entries that should be in it: an install of this scope would write them.
    pub wanted: Vec<Entry>,
}

/// Reads the settings of user, project and this user in the project, and the hooks of a plugin of ours that they switch on.
pub(super) fn read(here: &Path) -> Vec<SettingsFile> {
    let mut files = Vec::new();
    // Where one file stands for two scopes, it is the user's: they come first.
    let mut met: Vec<PathBuf> = Vec::new();
    for place in Scope::ALL.into_iter().filter_map(|scope| Place::of(scope, here)) {
        let target = place.target().to_path_buf();
        if target.exists() && !met.contains(&target) {
            met.push(target);
            let (scope, path) = (place.scope(), place.path().to_path_buf());
            let wanted = install::wanted_in(&place);
            files.push(SettingsFile { value: install::settings(&place), path, scope, wanted });
        }
    }
    let folders: Vec<_> =
        files.iter().flat_map(|f| plugin_folders(f).into_iter().map(|folder| (folder, f.scope))).collect();
    for (folder, scope) in folders {
        let path = folder.join(super::server::HOOKS);
        let bytes = fs::read_small(&path, MOST_BYTES).ok().flatten();
        let value = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        // A plugin folder belongs to no project, so it is written by the user's config.
        files.push(SettingsFile { path, value, scope, wanted: wanted(Settings::read(None).tools()) });
    }
    files
}

impl SettingsFile {
    /// The hooks of ours in it that nobody made by hand, and how many somebody did. `program` is the path of this binary.
    pub(super) fn ours(&self, program: &Path) -> (Vec<Hook>, usize) {
        let Some(value) = &self.value else { return (Vec::new(), 0) };
        let all = find(value, &[], &program.to_string_lossy());
        let by_hand = all.iter().filter(|f| f.form == Form::ByHand).count();
        let at = |f: &Found| {
            let one = value.get("hooks")?.get(&f.key)?.get(f.group)?.get("hooks")?.get(f.hook)?;
            let alone = serde_json::json!({ "hooks": { f.key.as_str(): [{ "hooks": [one] }] } });
            hooks(&alone).pop()
        };
        (all.iter().filter(|f| f.form != Form::ByHand).filter_map(at).collect(), by_hand)
    }
}

/// The folders of plugins named `sinker` that a file switches on, from the marketplaces that it names.
fn plugin_folders(file: &SettingsFile) -> Vec<PathBuf> {
    let Some(value) = &file.value else { return Vec::new() };
    let on = value.get("enabledPlugins").and_then(Value::as_object).into_iter().flatten();
    let keys = on.filter(|(_, v)| v.as_bool() == Some(true)).filter_map(|(key, _)| key.split_once('@'));
    let folder = |market: &str| {
        let source = value.pointer(&format!("/extraKnownMarketplaces/{market}/source"))?;
        Some(PathBuf::from(source.get("path")?.as_str()?)).filter(|path| path.is_absolute())
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

    /// Its words as a program gets them. Of a line only `$HOME` and `~` are read as a shell does: what any other variable holds is not known.
    pub(super) fn words(&self) -> Vec<String> {
        match &self.call {
            Call::Exec(words) => words.clone(),
            Call::Shell(line) => {
                let mut words = shlex::split(line).unwrap_or_default();
                let home = std::env::var("HOME").unwrap_or_default();
                // Within single quotes it would be no variable.
                if let Some(program) = words.first_mut().filter(|_| !home.is_empty() && !line.contains('\''))
                {
                    let begins = ["$HOME/", "${HOME}/", "~/"];
                    if let Some(rest) = begins.iter().find_map(|begin| program.strip_prefix(begin)) {
                        *program = format!("{home}/{rest}");
                    }
                }
                words
            }
        }
    }

    /// The program that the host would start. `None`: nobody can tell, since a shell would make another name of it.
    pub(super) fn program(&self) -> Option<PathBuf> {
        let program = self.words().into_iter().next()?;
        let is_line = matches!(self.call, Call::Shell(_));
        (!is_line || self.is_literal(&program)).then(|| PathBuf::from(program))
    }

    /// A shell takes this word of the line for what it is.
    fn is_literal(&self, word: &str) -> bool {
        let quoted = matches!(&self.call, Call::Shell(line) if line.contains('\''));
        quoted || !word.contains(['$', '~', '*', '?', '['])
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
