//! The MCP server, `sinker mcp`, in the host's own register: looked up by reading, changed only through the host's command.

use super::place::{Scope, project_root};
use super::process;
use super::program::find_in_path;
use crate::config::host_state;
use crate::fs;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The name under which the server is registered; its tools are `mcp__sinker__…` to the host.
pub const NAME: &str = "sinker";

const LIMIT: Duration = Duration::from_secs(60);

/// How the server stands in the register of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// Not there.
    Absent,
    /// Ours, as it would be registered now.
    Current,
    /// Ours, under another path or with other arguments.
    Older,
    /// A server of somebody else's has the name.
    Foreign,
}

/// The server of one scope.
#[derive(Debug, Clone)]
pub struct Server {
    scope: Scope,
    root: PathBuf,
    command: String,
    programs: Vec<String>,
}

impl Server {
    /// `here` lies in the project; `command` is the absolute path of the binary.
    pub fn new(scope: Scope, here: &Path, command: &str) -> Self {
        Self { scope, root: project_root(here), command: command.to_owned(), programs: Vec::new() }
    }

    /// The same server, which is ours under these programs as well, whatever their names are.
    pub fn known_by(self, programs: Vec<String>) -> Self {
        Self { programs, ..self }
    }

    /// Looks it up in the host's files. What cannot be read holds no server.
    pub fn entry(&self) -> Option<Value> {
        let register = match self.scope {
            Scope::Project => host_json(&self.root.join(".mcp.json")),
            Scope::User => host_state().and_then(|path| host_json(&path)),
            Scope::Local => host_project(&self.root),
        };
        register?.pointer("/mcpServers/sinker").cloned()
    }

    /// How it stands there.
    pub fn state(&self) -> ServerState {
        let Some(server) = self.entry() else { return ServerState::Absent };
        let command = server.get("command").and_then(Value::as_str).unwrap_or_default();
        let args: Vec<&str> = server
            .get("args")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if command == self.command && args == ["mcp"] {
            ServerState::Current
        } else if self.is_binary(command) && args.first() == Some(&"mcp") {
            ServerState::Older
        } else {
            ServerState::Foreign
        }
    }

    fn is_binary(&self, command: &str) -> bool {
        Path::new(command).file_name().is_some_and(|n| n == NAME)
            || self.programs.iter().any(|known| known == command)
    }

    /// The words that register it, for a person to type.
    pub fn add_words(&self) -> Vec<String> {
        let words = ["claude", "mcp", "add", "--scope", self.scope.name(), NAME, "--", &self.command, "mcp"];
        words.map(str::to_owned).to_vec()
    }

    /// The words that take it out again.
    pub fn remove_words(&self) -> Vec<String> {
        ["claude", "mcp", "remove", "--scope", self.scope.name(), NAME].map(str::to_owned).to_vec()
    }

    /// Registers it, in the place of an older one. Errors: what the host's command said, in words, and what became of the older one.
    pub fn add(&self) -> Result<(), String> {
        let older = if self.state() == ServerState::Older { self.entry() } else { None };
        let Some(older) = older else { return self.host(&self.add_words()) };
        // The host knows no command that replaces one.
        self.remove()?;
        let Err(why) = self.host(&self.add_words()) else { return Ok(()) };
        Err(match self.host(&self.words_of(&older)) {
            Ok(()) => format!("{why}; the one that was registered before was put back"),
            Err(_) => format!("{why}; the one that was registered before is gone"),
        })
    }

    /// The words that register what stood there.
    fn words_of(&self, entry: &Value) -> Vec<String> {
        let mut words = self.add_words();
        words.truncate(words.len() - 2);
        let args = entry.get("args").and_then(Value::as_array).into_iter().flatten();
        let all = entry.get("command").into_iter().chain(args);
        words.extend(all.filter_map(Value::as_str).map(str::to_owned));
        words
    }

    /// Takes it out of the register. Errors: as [`Server::add`].
    pub fn remove(&self) -> Result<(), String> {
        self.host(&self.remove_words())
    }

    fn host(&self, words: &[String]) -> Result<(), String> {
        let Some(program) = find_in_path("claude") else {
            return Err("there is no `claude` on the search path".to_owned());
        };
        let mut command = Command::new(program);
        // The host takes the project from its working directory.
        command.args(words.get(1..).unwrap_or_default()).current_dir(&self.root);
        match process::run(&mut command, Vec::new(), LIMIT) {
            Err(error) => Err(format!("`claude` cannot be started: {error}")),
            Ok(None) => Err(format!("`claude` did not end within {} s", LIMIT.as_secs())),
            Ok(Some(output)) if output.status.success() => Ok(()),
            Ok(Some(output)) => {
                let said = [output.stderr, output.stdout].concat();
                let said = String::from_utf8_lossy(&said);
                let first = said.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
                Err(format!("`claude` ended with {}: {first}", output.status))
            }
        }
    }
}

/// What the host's own file keeps of a project: its local servers, and a person's word on those of `.mcp.json`.
pub fn host_project(root: &Path) -> Option<Value> {
    let state = host_json(&host_state()?)?;
    state.get("projects")?.get(root.to_string_lossy().as_ref()).cloned()
}

/// Reads a JSON file of the host's.
pub fn host_json(path: &Path) -> Option<Value> {
    // The host's file may be a link into a folder of dotfiles.
    let path = path.canonicalize().ok()?;
    let bytes = fs::read_small(&path, 256 * 1024 * 1024).ok()??;
    serde_json::from_slice(&bytes).ok()
}
