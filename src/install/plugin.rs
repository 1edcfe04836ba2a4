//! The same entries as a plugin folder: hooks, MCP server, a skill, two commands, and a marketplace that holds nothing else.
//!
//! The folder holds no program; it names the binary by its absolute path, like the entries in settings.

use super::document::Document;
use super::entries::Entry;
use crate::fs::{self, Dress, FsError};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The plugin's name, and that of its marketplace: the host knows it as `sinker@sinker`.
pub(super) const NAME: &str = "sinker";

const MANIFEST: &str = ".claude-plugin/plugin.json";

/// Why a plugin folder was not written. The user's to choose another.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// Something else lies there.
    #[error("{} is not empty, and not a plugin folder of ours", .0.display())]
    Foreign(PathBuf),
    /// There is a file of that name.
    #[error("{} is not a folder", .0.display())]
    NoFolder(PathBuf),
    /// A path that JSON cannot hold.
    #[error("{} is not UTF-8", .0.display())]
    NotText(PathBuf),
    /// A file operation.
    #[error(transparent)]
    Fs(#[from] FsError),
}

/// A plugin folder, as it should be.
#[derive(Debug, Clone)]
pub struct Folder {
    dir: PathBuf,
    files: Vec<(&'static str, String)>,
}

impl Folder {
    /// Composes the files. `command` is the absolute path of the binary. Errors: `dir` is not UTF-8.
    pub fn new(dir: &Path, wanted: &[Entry], command: &str) -> Result<Self, PluginError> {
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
        let Some(folder) = dir.to_str() else { return Err(PluginError::NotText(dir)) };
        let quoted = |text: &str| shlex::try_quote(text).map_or_else(|_| text.to_owned(), Into::into);
        let page =
            |text: &str| text.replace("{{command}}", &quoted(command)).replace("{{folder}}", &quoted(folder));
        let hooks = Document::absent().with(wanted, command).unwrap_or_default();
        let about = "A memory of past sessions: keeps what was said, hands back the few lines that matter. Local, no model calls.";
        let author = json!({ "name": "The Sinker authors" });
        let files = vec![
            (
                MANIFEST,
                pretty(&json!({
                    "name": NAME, "version": env!("CARGO_PKG_VERSION"), "description": about, "author": author,
                    "license": env!("CARGO_PKG_LICENSE"), "keywords": ["memory", "recall", "search"],
                    // Nothing in it reaches the network, and the host asks.
                    "network": { "hosts": [] },
                })),
            ),
            (
                ".claude-plugin/marketplace.json",
                pretty(&json!({
                    "name": NAME, "owner": author, "description": "Sinker, from a folder of this machine.",
                    "plugins": [{ "name": NAME, "source": "./", "description": about }],
                })),
            ),
            ("hooks/hooks.json", String::from_utf8_lossy(&hooks.bytes).into_owned()),
            (
                ".mcp.json",
                pretty(&json!({ "mcpServers": { NAME: { "command": command, "args": ["mcp"] } } })),
            ),
            ("skills/memory/SKILL.md", page(include_str!("plugin/skill.md"))),
            ("commands/recall.md", page(include_str!("plugin/recall.md"))),
            ("commands/forget.md", page(include_str!("plugin/forget.md"))),
            ("README.md", page(include_str!("plugin/readme.md"))),
        ];
        Ok(Self { dir, files })
    }

    /// The folder, absolute.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes what is missing or differs; returns those files. `dry` only looks. Nothing outside the folder is touched.
    ///
    /// Errors: [`PluginError`]; a folder of somebody else's is left as it is.
    pub fn write(&self, dry: bool) -> Result<Vec<PathBuf>, PluginError> {
        self.check()?;
        let mut written = Vec::new();
        for (name, text) in &self.files {
            let path = self.dir.join(name);
            if fs::read_small(&path, 1024 * 1024).is_ok_and(|now| now.as_deref() == Some(text.as_bytes())) {
                continue;
            }
            if !dry {
                let folder = path.parent().unwrap_or(&self.dir);
                fs::make_dir(folder, 0o755)?;
                let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let prefix = format!(".{file}.sinker-");
                fs::remove_leftovers(folder, -1, |n| n.starts_with(&prefix) && fs::is_replacement(n))?;
                let tmp = path.with_file_name(format!("{prefix}{}.tmp", std::process::id()));
                fs::replace_if(&path, &tmp, text.as_bytes(), Dress::New(0o644), || true)?;
            }
            written.push(path);
        }
        Ok(written)
    }

    /// The manifest is written first, so what a kill leaves is known as ours; before it there are only folders and our temporary file.
    fn check(&self) -> Result<(), PluginError> {
        let Ok(meta) = self.dir.metadata() else { return Ok(()) };
        if !meta.is_dir() {
            return Err(PluginError::NoFolder(self.dir.clone()));
        }
        let manifest = fs::read_small(&self.dir.join(MANIFEST), 1024 * 1024).ok().flatten();
        let manifest = manifest.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        let ours = manifest.is_some_and(|m| m.get("name").and_then(Value::as_str) == Some(NAME));
        let empty = |dir: &Path| std::fs::read_dir(dir).is_ok_and(|mut all| all.next().is_none());
        let begun = || {
            let names = |dir: &Path| -> Vec<String> {
                let all = std::fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
                all.map(|e| e.file_name().to_string_lossy().into_owned()).collect()
            };
            let inside = names(&self.dir.join(".claude-plugin"));
            names(&self.dir) == [".claude-plugin"]
                && inside.iter().all(|n| n.starts_with(".plugin.json.sinker-"))
        };
        if ours || empty(&self.dir) || begun() { Ok(()) } else { Err(PluginError::Foreign(self.dir.clone())) }
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).map(|text| text + "\n").unwrap_or_default()
}
