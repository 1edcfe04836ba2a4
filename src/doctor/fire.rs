//! Proves that each entry does its work, started as the host starts it: the event on stdin, `/bin/sh -c` for a line, no shell for a list of words. A
//! capture leaves its pointer, a recall says nothing or one JSON object. Mend: `sinker install`.
//!
//! Everything happens in a temporary home. A line that a person made around our binary is not run: what else it does is not known.

use super::settings::{Call, Hook, hooks};
use super::trial::{SESSION, Trial};
use super::{Finding, Patient};
use crate::install::{Form, find};
use serde_json::Value;
use std::process::Command;

pub(super) fn look(patient: &Patient) -> Finding {
    let mut tried = 0;
    let mut by_hand = 0;
    let mut wrong: Vec<String> = Vec::new();
    for value in patient.files.iter().filter_map(|f| f.value.as_ref()) {
        for hook in ours(patient, value, &mut by_hand) {
            tried += 1;
            let trial = match Trial::begin("nothing") {
                Ok(trial) => trial,
                Err(error) => {
                    return Finding::bad(error.to_string(), "give TMPDIR a folder that can be written");
                }
            };
            if let Err(why) = fire(&trial, &hook) {
                wrong.push(format!("{} `{}`: {why}", hook.event, hook.text()));
            }
        }
    }
    let passed_over =
        if by_hand > 0 { format!("; {by_hand} made by hand were not tried") } else { String::new() };
    match wrong.first() {
        Some(first) => Finding::bad(
            format!("{} of {tried} entries do not work, such as {first}", wrong.len()),
            "`sinker install` writes entries that work; the log in the data directory may say more",
        ),
        None => Finding::good(format!("{tried} entries were started as the host starts them{passed_over}")),
    }
}

/// The hooks of ours, those by hand only counted.
fn ours(patient: &Patient, value: &Value, by_hand: &mut usize) -> Vec<Hook> {
    let own = patient.program.to_string_lossy();
    let all = find(value, &[], &own);
    *by_hand += all.iter().filter(|f| f.form == Form::ByHand).count();
    let at = |key: &str, group: usize, hook: usize| {
        let one = value.get("hooks")?.get(key)?.get(group)?.get("hooks")?.get(hook)?;
        let alone = serde_json::json!({ "hooks": { key: [{ "hooks": [one] }] } });
        hooks(&alone).pop()
    };
    all.iter().filter(|f| f.form != Form::ByHand).filter_map(|f| at(&f.key, f.group, f.hook)).collect()
}

fn fire(trial: &Trial, hook: &Hook) -> Result<(), String> {
    let command = match &hook.call {
        Call::Exec(words) => {
            let (program, args) = words.split_first().ok_or("there is no command")?;
            let mut command = Command::new(program);
            command.args(args);
            command
        }
        Call::Shell(line) => {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", line]);
            command
        }
    };
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
