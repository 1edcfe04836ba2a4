//! The layers of settings: default < user < project < environment; each value knows its origin.
//!
//! User: `~/.config/sinker/config.toml`; project: `<project>/.sinker/settings.toml`. A project file comes with a checkout that somebody
//! else may have written: it may never set paths, a hub address, or switch redaction off. A value that is of the
//! wrong type, out of range or not allowed where it stands is a [`Problem`], and the next lower layer holds.

use super::glob;
use super::home;
use super::retain::RetainRule;
use crate::fs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

mod keys;

pub use keys::RANKING_PARTS;
use keys::{Adds, KEYS, Kind};

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// The user's file.
    User(PathBuf),
    /// The project's file.
    Project(PathBuf),
    /// An environment variable.
    Env(&'static str),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::User(path) => write!(f, "user ({})", path.display()),
            Origin::Project(path) => write!(f, "project ({})", path.display()),
            Origin::Env(name) => write!(f, "environment ({name})"),
        }
    }
}

/// A value with its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// The value in force.
    pub value: toml::Value,
    /// Where it comes from.
    pub origin: Origin,
}

/// What is wrong in a settings file, for `config check` and the log; the value is then not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// The key, dotted; empty when the whole file is meant.
    pub key: String,
    /// What is wrong, one sentence.
    pub what: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = if self.key.is_empty() { String::new() } else { format!(" {}:", self.key) };
        write!(f, "{}:{key} {}", self.path.display(), self.what)
    }
}

/// When recall speaks on the events of tools (`recall.tools`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tools {
    /// On a file with history, a command that failed before, a failure, and to a subagent.
    #[default]
    Quiet,
    /// Before and after every call.
    All,
    /// Never.
    Off,
}

/// All settings of one process, for one project.
#[derive(Debug, Clone)]
pub struct Settings {
    values: BTreeMap<&'static str, Value>,
    /// What was wrong in the files read.
    pub problems: Vec<Problem>,
    /// What a file says of capture could not be read.
    unclear: bool,
}

impl Settings {
    /// Reads the layers; `directory` lies in the project whose file is to be heard: the nearest one up to its work tree's root.
    /// Never fails: see [`Settings::problems`].
    pub fn read(directory: Option<&Path>) -> Self {
        let defaults = KEYS.iter().map(|k| (k.name, Value { value: (k.default)(), origin: Origin::Default }));
        let mut settings = Self { values: defaults.collect(), problems: Vec::new(), unclear: false };
        if let Some(path) = home::user_config() {
            settings.layer(&path, false);
        }
        settings.project(directory);
        settings
    }

    /// Reads one file as the user's, and no project's.
    #[cfg(test)]
    pub(crate) fn read_user(path: &Path) -> Self {
        let defaults = KEYS.iter().map(|k| (k.name, Value { value: (k.default)(), origin: Origin::Default }));
        let mut settings = Self { values: defaults.collect(), problems: Vec::new(), unclear: false };
        settings.layer(path, false);
        settings
    }

    fn project(&mut self, directory: Option<&Path>) {
        if let Some(path) = directory.and_then(project_file) {
            self.layer(&path, true);
        }
    }

    /// True when a settings file says anything of capture: what a capture hook asks before it reads them all.
    pub fn speak_of_capture(directory: Option<&Path>) -> bool {
        let files = home::user_config().into_iter().chain(directory.and_then(project_file));
        files.into_iter().any(|path| speaks_of_capture(&path))
    }

    fn layer(&mut self, path: &Path, project: bool) {
        let before = self.problems.len();
        self.apply(path, project);
        let whole = |p: &Problem| p.key.is_empty() && speaks_of_capture(path);
        let new = self.problems.iter().skip(before);
        self.unclear |= new.into_iter().any(|p| p.key.starts_with("capture") || whole(p));
    }

    fn apply(&mut self, path: &Path, project: bool) {
        let mut problem = |key: &str, what: String| {
            self.problems.push(Problem { path: path.to_path_buf(), key: key.to_owned(), what });
        };
        let bytes = match fs::read_small(path, LIMIT) {
            Ok(None) => return,
            Ok(Some(bytes)) => bytes,
            Err(error) => return problem("", error.to_string()),
        };
        let table = match String::from_utf8_lossy(&bytes).parse::<toml::Table>() {
            Ok(table) => table,
            Err(error) => return problem("", format!("it is not TOML: {}", error.message())),
        };
        let mut flat = Vec::new();
        flatten("", &table, &mut flat);
        for (name, value) in flat {
            let Some(key) = KEYS.iter().find(|k| k.name == name) else {
                problem(&name, "no such setting".to_owned());
                continue;
            };
            if project && !key.project {
                problem(&name, "a project's file may not set this; set it in the user's file".to_owned());
                continue;
            }
            if let Some(what) = misfit(key.kind, &value) {
                problem(&name, what);
                continue;
            }
            let value = match (key.kind, self.values.get(key.name).map(|known| &known.value)) {
                (Kind::Switch, Some(known)) if project && value.as_bool() == Some(true) => {
                    if known.as_bool() == Some(false) {
                        problem(&name, "a project's file may only switch this off".to_owned());
                    }
                    continue;
                }
                (Kind::Globs(adds), Some(known)) if project || adds == Adds::Always => {
                    let lists = [known, &value].into_iter().filter_map(toml::Value::as_array);
                    let wrong = |glob: &toml::Value| {
                        glob.as_str().is_some_and(|g| g.starts_with('!')) != (adds == Adds::Replaces)
                    };
                    if project && value.as_array().is_some_and(|list| list.iter().any(wrong)) {
                        let word = if adds == Adds::Replaces { "only with" } else { "none with" };
                        problem(
                            &name,
                            format!(
                                "a project's file may only keep more out: entries {word} a ! before them"
                            ),
                        );
                        continue;
                    }
                    toml::Value::Array(lists.flatten().cloned().collect())
                }
                _ => value,
            };
            let path = path.to_path_buf();
            let origin = if project { Origin::Project(path) } else { Origin::User(path) };
            self.values.insert(key.name, Value { value, origin });
        }
    }

    /// Every setting in the order of the table: name, value, one line of help.
    pub fn list(&self) -> impl Iterator<Item = (&'static str, &Value, &'static str)> {
        KEYS.iter().filter_map(|k| self.values.get(k.name).map(|v| (k.name, v, k.help)))
    }

    /// One setting by name, as it was written; for a module that knows more of its shape than this table.
    pub fn setting(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    fn value(&self, name: &str) -> Option<&toml::Value> {
        self.values.get(name).map(|v| &v.value)
    }

    fn int(&self, name: &str) -> usize {
        self.value(name).and_then(toml::Value::as_integer).and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
    }

    fn flag(&self, name: &str) -> bool {
        self.value(name).and_then(toml::Value::as_bool).unwrap_or(false)
    }

    /// `capture.enabled`; false, too, where what the files say of capture cannot be read: what is not clear is not stored.
    pub fn capture_enabled(&self) -> bool {
        self.flag("capture.enabled") && !self.unclear
    }
    /// A list of texts.
    pub(super) fn words(&self, name: &str) -> Vec<String> {
        let list = self.value(name).and_then(toml::Value::as_array);
        list.into_iter().flatten().filter_map(toml::Value::as_str).map(str::to_owned).collect()
    }
    /// `recall.enabled`.
    pub fn recall_enabled(&self) -> bool {
        self.flag("recall.enabled")
    }
    /// `recall.deadline_ms`.
    pub fn recall_deadline(&self) -> std::time::Duration {
        std::time::Duration::from_millis(self.int("recall.deadline_ms") as u64)
    }
    /// `recall.event_chars`.
    pub fn event_chars(&self) -> usize {
        self.int("recall.event_chars")
    }
    /// `recall.prompt_chars`.
    pub fn prompt_chars(&self) -> usize {
        self.int("recall.prompt_chars")
    }
    /// `recall.session_chars`.
    pub fn session_chars(&self) -> usize {
        self.int("recall.session_chars")
    }
    /// `recall.sessions`.
    pub fn recall_sessions(&self) -> usize {
        self.int("recall.sessions")
    }
    /// `recall.threshold`, a share of 1.
    pub fn recall_threshold(&self) -> f64 {
        let number = |v: &toml::Value| v.as_float().or_else(|| v.as_integer().map(|n| n as f64));
        self.value("recall.threshold").and_then(number).unwrap_or(1.0)
    }
    /// `recall.without`: names of parts of the ranking.
    pub fn recall_without(&self) -> Vec<String> {
        self.words("recall.without")
    }
    /// `recall.hint`.
    pub fn recall_hint(&self) -> bool {
        self.flag("recall.hint")
    }
    /// `recall.show_brief`.
    pub fn show_brief(&self) -> bool {
        self.flag("recall.show_brief")
    }
    /// `recall.tools`.
    pub fn tools(&self) -> Tools {
        match self.value("recall.tools").and_then(toml::Value::as_str) {
            Some("all") => Tools::All,
            Some("off") => Tools::Off,
            _ => Tools::Quiet,
        }
    }
    /// `recall.all_hosts`.
    pub fn all_hosts(&self) -> bool {
        self.flag("recall.all_hosts")
    }
    /// `recall.read_gate`: the size from which on it is shut, bytes; `None` when it is open.
    pub fn read_gate(&self) -> Option<u64> {
        self.flag("recall.read_gate").then(|| self.int("recall.read_gate_bytes") as u64)
    }
    /// `project.split`.
    pub fn split(&self) -> Vec<String> {
        self.words("project.split")
    }
    /// `retain.rules`.
    pub fn retain(&self) -> Vec<RetainRule> {
        self.value("retain.rules").and_then(|rules| RetainRule::read(rules).ok()).unwrap_or_default()
    }
    /// `transcripts.roots`.
    pub fn roots(&self) -> Vec<PathBuf> {
        let paths = self.value("transcripts.roots").and_then(toml::Value::as_array);
        paths.into_iter().flatten().filter_map(toml::Value::as_str).map(PathBuf::from).collect()
    }
}

/// Units: bytes.
const LIMIT: u64 = 1024 * 1024;

/// One that cannot be read may say anything.
fn speaks_of_capture(path: &Path) -> bool {
    let Ok(bytes) = fs::read_small(path, LIMIT) else { return true };
    bytes.is_some_and(|bytes| memchr::memmem::find(&bytes, b"capture").is_some())
}

/// The settings file that holds in a directory: the nearest one up to its work tree's root.
fn project_file(directory: &Path) -> Option<PathBuf> {
    for dir in directory.ancestors() {
        let file = dir.join(".sinker/settings.toml");
        if file.symlink_metadata().is_ok() {
            return Some(file);
        }
        if dir.join(".git").symlink_metadata().is_ok() {
            break;
        }
    }
    None
}

fn flatten(prefix: &str, table: &toml::Table, out: &mut Vec<(String, toml::Value)>) {
    for (key, value) in table {
        let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            toml::Value::Table(inner) => flatten(&name, inner, out),
            value => out.push((name, value.clone())),
        }
    }
}

/// Says what is wrong with a value; `None` when it fits.
fn misfit(kind: Kind, value: &toml::Value) -> Option<String> {
    match (kind, value) {
        (Kind::Bool | Kind::Switch, toml::Value::Boolean(_)) => None,
        (Kind::Bool | Kind::Switch, _) => Some("it must be true or false".to_owned()),
        (Kind::Int { min, max }, toml::Value::Integer(n)) if (min..=max).contains(n) => None,
        (Kind::Int { min, max }, _) => Some(format!("it must be a whole number from {min} to {max}")),
        (Kind::Float { min, max }, toml::Value::Float(n)) if (min..=max).contains(n) => None,
        (Kind::Float { min, max }, toml::Value::Integer(n)) if (min..=max).contains(&(*n as f64)) => None,
        (Kind::Float { min, max }, _) => Some(format!("it must be a number from {min} to {max}")),
        (Kind::Paths, toml::Value::Array(all)) => {
            let good = all.iter().all(|p| p.as_str().is_some_and(|p| Path::new(p).is_absolute()));
            (!good).then(|| "each entry must be an absolute path".to_owned())
        }
        (Kind::Paths, _) => Some("it must be a list of absolute paths".to_owned()),
        (Kind::Retain, value) => RetainRule::read(value).err(),
        // What is wrong with one of them is said where they are compiled: the others hold.
        (Kind::Rules, toml::Value::Array(_)) | (Kind::Patterns, toml::Value::Array(_)) => None,
        (Kind::Rules, _) => Some("it must be a list of { name, pattern, keywords }".to_owned()),
        (Kind::Patterns, _) => Some("it must be a list of patterns".to_owned()),
        (Kind::Globs(_), toml::Value::Array(all)) => {
            let good =
                all.iter().all(|g| g.as_str().is_some_and(|g| glob::is_sound(g.trim_start_matches('!'))));
            (!good).then(|| "each entry must be a glob: brackets closed, no `./` and no variables".to_owned())
        }
        (Kind::Globs(_), _) => Some("it must be a list of globs".to_owned()),
        (Kind::Words(words), toml::Value::Array(all)) => {
            let good = all.iter().all(|w| w.as_str().is_some_and(|word| words.contains(&word)));
            (!good).then(|| format!("each entry must be one of {}", words.join(", ")))
        }
        (Kind::Words(_), _) => Some("it must be a list of words".to_owned()),
        (Kind::Folders, toml::Value::Array(all)) => {
            let plain = |p: &str| {
                let mut parts = Path::new(p).components();
                !p.is_empty() && parts.all(|part| matches!(part, std::path::Component::Normal(_)))
            };
            let good = all.iter().all(|p| p.as_str().is_some_and(plain));
            (!good).then(|| "each entry must be a folder below the root, such as `packages/*`".to_owned())
        }
        (Kind::Folders, _) => Some("it must be a list of folders".to_owned()),
        (Kind::Choice(words), value) => {
            let good = value.as_str().is_some_and(|word| words.contains(&word));
            (!good).then(|| format!("it must be one of {}", words.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests;
