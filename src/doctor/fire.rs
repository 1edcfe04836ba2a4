//! Proves that each entry does its work, started as the host starts it: the event on stdin, `/bin/sh -c` for a line, no shell for a list of words. A
//! capture leaves its pointer, a recall says nothing or one JSON object. Mend: `sinker install`.
//!
//! Everything happens in a temporary home. Not run are a line that a person made around our binary (what else it does is not known), and what a
//! project's files name unless it is this very binary: see `trust`.

use super::settings::{Call, Hook};
use super::trial::{SESSION, Trial};
use super::{Finding, Patient, trust};
use crate::install::Scope;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

pub(super) fn look(patient: &Patient) -> Finding {
    let (mut tried, mut by_hand) = (0, 0);
    let mut wrong: Vec<String> = Vec::new();
    let mut others: BTreeSet<String> = BTreeSet::new();
    for file in &patient.files {
        let (hooks, made) = file.ours(&patient.program);
        by_hand += made;
        for hook in hooks {
            let command = match command(patient, file.scope, &hook) {
                Ok(command) => command,
                Err(other) => {
                    others.insert(other);
                    continue;
                }
            };
            tried += 1;
            let trial = match Trial::begin("nothing") {
                Ok(trial) => trial,
                Err(error) => {
                    return Finding::bad(error.to_string(), "give TMPDIR a folder that can be written");
                }
            };
            if let Err(why) = fire(&trial, &hook, command) {
                wrong.push(format!("{} `{}`: {why}", hook.event, hook.text()));
            }
        }
    }
    let mut passed_over = String::new();
    if by_hand > 0 {
        passed_over.push_str(&format!("; {by_hand} made by hand were not tried"));
    }
    for other in &others {
        passed_over.push_str(&format!("; not tried: another program ({other})"));
    }
    match wrong.first() {
        Some(first) => Finding::bad(
            format!("{} of {tried} entries do not work, such as {first}{passed_over}", wrong.len()),
            "`sinker install` writes entries that work; the log in the data directory may say more",
        ),
        None => Finding::good(format!("{tried} entries were started as the host starts them{passed_over}")),
    }
}

/// How the host would start it. Errors: the name of a program that is not ours to start.
fn command(patient: &Patient, scope: Scope, hook: &Hook) -> Result<Command, String> {
    if let (Scope::User, Call::Shell(line)) = (scope, &hook.call) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]);
        return Ok(command);
    }
    // A project's line goes through no shell: which words are the program's is then not the line's to say.
    let words = hook.words();
    let (named, args) = words.split_first().ok_or_else(|| hook.text())?;
    let harmless = matches!(args, [first, ..] if first == "hook");
    let program = trust::program(patient, scope, named.as_ref(), harmless);
    let mut command = Command::new(program.map_err(|other| other.display().to_string())?);
    command.args(args);
    Ok(command)
}

fn fire(trial: &Trial, hook: &Hook, command: Command) -> Result<(), String> {
    let said = trial.run(command, format!("{}\n", trial.payload(&hook.event)))?;
    let text = hook.text();
    if text.contains("--only capture") || text.contains("--only=capture") {
        let landed = trial.spooled().iter().any(|name| name.starts_with(SESSION) && name.ends_with(".json"));
        if !landed {
            return Err("no pointer came to the spool".to_owned());
        }
    }
    if !said.is_empty() && serde_json::from_str::<serde_json::Map<String, Value>>(&said).is_err() {
        return Err("it printed what is no reply to the host".to_owned());
    }
    Ok(())
}
