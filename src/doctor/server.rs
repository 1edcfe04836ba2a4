//! Proves that the host knows the tools server, may start it, and that it answers. Mend: `claude mcp add`, or an approval.

use super::trial::Trial;
use super::{Finding, Patient};
use crate::config::host_state;
use crate::fs;
use crate::install::project_root;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const NAME: &str = "sinker";
/// Where a plugin keeps its hooks.
pub(super) const HOOKS: &str = "hooks/hooks.json";

pub(super) fn look(patient: &Patient) -> Finding {
    let root = project_root(&patient.here);
    let state = host_state().and_then(|path| json_of(&path)).unwrap_or_default();
    let project = state.get("projects").and_then(|p| p.get(root.to_string_lossy().as_ref()));
    let shared = json_of(&root.join(".mcp.json")).unwrap_or_default();
    let plugin = patient.files.iter().find_map(|file| {
        let folder = plugin_folder(&file.path)?;
        Some((
            file.path.display().to_string(),
            json_of(&folder.join(".mcp.json"))?.pointer("/mcpServers/sinker")?.clone(),
        ))
    });
    let local = project.and_then(|p| p.pointer("/mcpServers/sinker")).cloned();
    let of_user = state.pointer("/mcpServers/sinker").cloned();
    let of_project = shared.pointer("/mcpServers/sinker").cloned();
    let found = [("local", local), ("project", of_project), ("user", of_user)];
    let found =
        found.into_iter().find_map(|(scope, server)| Some((format!("scope {scope}"), server?))).or(plugin);
    let Some((place, server)) = found else {
        return Finding::bad(
            "the host does not know the tools server: the assistant cannot ask by itself",
            format!(
                "`sinker install`, or `claude mcp add --scope user sinker -- {} mcp`",
                patient.program.display()
            ),
        );
    };
    if place == "scope project"
        && let Some(wrong) = approval(patient, project)
    {
        return wrong;
    }
    match answers(&server) {
        Ok(()) => Finding::good(format!("{place}; it was started and answered")),
        Err(why) => Finding::bad(
            format!("the server of {place} does not work: {why}"),
            "`sinker install` registers this binary; or `claude mcp remove sinker` and add it again",
        ),
    }
}

/// A server in `.mcp.json` needs a person's word.
fn approval(patient: &Patient, project: Option<&Value>) -> Option<Finding> {
    let values = || patient.files.iter().filter_map(|f| f.value.as_ref()).chain(project);
    let names = |key: &str| {
        values().filter_map(|v| v.get(key)?.as_array()).flatten().any(|name| name.as_str() == Some(NAME))
    };
    if names("disabledMcpjsonServers") {
        let hint = "take `sinker` out of `disabledMcpjsonServers`, or approve it with `/mcp` in a session";
        return Some(Finding::bad("the server of this project was refused by its user", hint));
    }
    let all = values().any(|v| v.get("enableAllProjectMcpServers").and_then(Value::as_bool) == Some(true));
    if !all && !names("enabledMcpjsonServers") {
        let hint = "approve it with `/mcp` in a session, or add \"sinker\" to `enabledMcpjsonServers`";
        return Some(Finding::bad("the server of this project waits for an approval", hint));
    }
    None
}

/// Starts it as the host does, and lets it introduce itself.
fn answers(server: &Value) -> Result<(), String> {
    let program = server.get("command").and_then(Value::as_str).ok_or("it has no command")?;
    let trial = Trial::begin("nothing").map_err(|e| e.to_string())?;
    let mut command = Command::new(program);
    let args = server.get("args").and_then(Value::as_array).into_iter().flatten();
    command.args(args.filter_map(Value::as_str));
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "doctor", "version": "0" } },
    });
    let said = trial.run(command, format!("{hello}\n")).map_err(|why| format!("`{program}`: {why}"))?;
    let answer: Value =
        said.lines().next().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    match answer.pointer("/result/serverInfo/name").and_then(Value::as_str) {
        Some(NAME) => Ok(()),
        _ => Err(format!("`{program}` did not introduce itself as a tools server of Sinker")),
    }
}

fn json_of(path: &Path) -> Option<Value> {
    let bytes = fs::read_small(&path.canonicalize().ok()?, 256 * 1024 * 1024).ok()??;
    serde_json::from_slice(&bytes).ok()
}

/// The folder of a plugin whose hooks lie in this file.
fn plugin_folder(file: &Path) -> Option<&Path> {
    file.ends_with(HOOKS).then(|| file.ancestors().nth(2)).flatten()
}
