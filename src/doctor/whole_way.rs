//! Proves the whole way in a temporary home: a made-up event, drained, becomes an answer. Mend: it says which part failed.

use super::trial::Trial;
use super::{Finding, Patient};
use serde_json::Value;
use std::process::Command;

/// A word that nobody says.
const WORD: &str = "quillwhelk";

pub(super) fn look(patient: &Patient) -> Finding {
    match way(patient) {
        Ok(()) => Finding::good("a made-up event was captured, stored, indexed and found"),
        Err(why) => Finding::bad(why, "the other lines may say why; `sinker demo` shows each part at work"),
    }
}

fn way(patient: &Patient) -> Result<(), String> {
    let trial = Trial::begin(WORD).map_err(|e| e.to_string())?;
    let run = |args: &[&str], stdin: String| {
        let mut command = Command::new(&patient.program);
        command.args(args);
        trial.run(command, stdin).map_err(|why| format!("`sinker {}`: {why}", args.join(" ")))
    };
    let payload = format!("{}\n", trial.payload("SessionEnd"));
    run(&["hook", "claude", "session-end", "--only", "capture", "--strict"], payload)?;
    if trial.spooled().is_empty() {
        return Err("the hook left no pointer".to_owned());
    }
    run(&["drain", "--once"], String::new())?;
    let found = run(&["search", WORD, "--all", "--json"], String::new())?;
    let found: Value = serde_json::from_str(&found).unwrap_or_default();
    let hits = found.get("hits").and_then(Value::as_array).map_or(0, Vec::len);
    if hits == 0 { Err("what was drained is not found".to_owned()) } else { Ok(()) }
}
