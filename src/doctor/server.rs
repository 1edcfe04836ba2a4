//! Proves that the host knows the tools server, may start it, and that it answers. Mend: `claude mcp add`, or an approval.

use super::trial::Trial;
use super::{Finding, Patient, trust};
use crate::install::{Scope, Server, host_json, host_project, project_root};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const NAME: &str = "sinker";
/// Where a plugin keeps its hooks.
pub(super) const HOOKS: &str = "hooks/hooks.json";

pub(super) fn look(patient: &Patient) -> Finding {
    let own = patient.program.to_string_lossy();
    let registered = [Scope::Local, Scope::Project, Scope::User].into_iter().find_map(|scope| {
        let entry = Server::new(scope, &patient.here, &own).entry()?;
        // This user's own file holds both what is the user's and what is local.
        let whose = if scope == Scope::Project { Scope::Project } else { Scope::User };
        Some((format!("scope {}", scope.name()), whose, entry))
    });
    let of_plugin = || {
        patient.files.iter().find_map(|file| {
            let register = host_json(&plugin_folder(&file.path)?.join(".mcp.json"))?;
            Some((
                file.path.display().to_string(),
                file.scope,
                register.pointer("/mcpServers/sinker")?.clone(),
            ))
        })
    };
    let Some((place, whose, server)) = registered.or_else(of_plugin) else {
        return Finding::bad(
            "the host does not know the tools server: the assistant cannot ask by itself",
            format!(
                "`sinker install`, or `claude mcp add --scope user sinker -- {} mcp`",
                patient.program.display()
            ),
        );
    };
    let command = match command(patient, whose, &server) {
        Ok(command) => command,
        Err(other) => {
            return Finding::bad(
                format!("the server of {place} was not tried: another program ({other})"),
                "look at it before you approve it; `sinker install` registers this binary for all your sessions",
            );
        }
    };
    if place == "scope project"
        && let Some(wrong) = approval(patient)
    {
        return wrong;
    }
    match answers(command) {
        Ok(()) => Finding::good(format!("{place}; it was started and answered")),
        Err(why) => Finding::bad(
            format!("the server of {place} does not work: {why}"),
            "`sinker install` registers this binary; or `claude mcp remove sinker` and add it again",
        ),
    }
}

/// A server in `.mcp.json` needs a person's word. Nobody else's counts: a project may not approve what it brings along.
fn approval(patient: &Patient) -> Option<Finding> {
    let project = host_project(&project_root(&patient.here));
    let of_person =
        patient.files.iter().filter(|f| f.scope != Scope::Project && plugin_folder(&f.path).is_none());
    let values = of_person.filter_map(|f| f.value.as_ref()).chain(&project).collect::<Vec<_>>();
    let names = |key: &str| {
        let lists = values.iter().filter_map(|v| v.get(key)?.as_array());
        lists.flatten().any(|name| name.as_str() == Some(NAME))
    };
    if names("disabledMcpjsonServers") {
        let hint = "take `sinker` out of `disabledMcpjsonServers`, or approve it with `/mcp` in a session";
        return Some(Finding::bad("the server of this project was refused by its user", hint));
    }
    let all = |v: &&Value| v.get("enableAllProjectMcpServers").and_then(Value::as_bool) == Some(true);
    if !values.iter().any(all) && !names("enabledMcpjsonServers") {
        let hint = "approve it with `/mcp` in a session, or add \"sinker\" to `enabledMcpjsonServers` of your settings";
        return Some(Finding::bad("the server of this project waits for an approval", hint));
    }
    None
}

/// How the host would start it. Errors: the name of a program that is not ours to start.
fn command(patient: &Patient, whose: Scope, server: &Value) -> Result<Command, String> {
    let named = server.get("command").and_then(Value::as_str).unwrap_or_default();
    let args = server.get("args").and_then(Value::as_array).into_iter().flatten();
    let args: Vec<&str> = args.filter_map(Value::as_str).collect();
    // This program can do more than answer: what a project has it do is no other than `mcp`.
    let program = trust::program(patient, whose, named.as_ref(), args == ["mcp"]);
    let mut command = Command::new(program.map_err(|_| format!("{named} {}", args.join(" ")))?);
    command.args(args);
    Ok(command)
}

/// Starts it as the host does, and lets it introduce itself.
fn answers(command: Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let trial = Trial::begin("nothing").map_err(|e| e.to_string())?;
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

/// The folder of a plugin whose hooks lie in this file.
fn plugin_folder(file: &Path) -> Option<&Path> {
    file.ends_with(HOOKS).then(|| file.ancestors().nth(2)).flatten()
}
