//! Hook payloads: the shipped samples, turned towards a transcript of this world.

use super::{Sandbox, Transcript};
use serde_json::Value;
use std::path::PathBuf;

/// One file of `spool-fixtures/payloads`.
pub struct Fixture {
    /// `Stop.stop_hook_active`, the file's name without its end.
    pub name: String,
    /// The event as our command line names it, `post-tool-use`.
    pub event: String,
    /// The payload as it is in the file.
    pub payload: Value,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("spool-fixtures/payloads")
}

/// Every shipped payload, by name.
pub fn fixtures() -> Vec<Fixture> {
    let mut found: Vec<Fixture> = std::fs::read_dir(folder())
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .map(|path| {
            let payload: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let event = kebab(payload["hook_event_name"].as_str().unwrap());
            Fixture { name: path.file_stem().unwrap().to_string_lossy().into_owned(), event, payload }
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(found.len() > 40, "the payload samples are missing");
    found
}

/// The sample `name`, with the session, paths and directory of `transcript`.
pub fn payload(name: &str, sandbox: &Sandbox, transcript: &Transcript) -> Value {
    let file = folder().join(format!("{name}.json"));
    let text = std::fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut payload: Value = serde_json::from_slice(&text).unwrap();
    aim(&mut payload, sandbox, transcript);
    payload
}

/// Turns a payload towards a transcript.
pub fn aim(payload: &mut Value, sandbox: &Sandbox, transcript: &Transcript) {
    payload["session_id"] = transcript.session.clone().into();
    payload["transcript_path"] = transcript.path.to_str().unwrap().into();
    payload["cwd"] = sandbox.project().to_str().unwrap().into();
    if let (Some(_), Some(agent)) = (payload.get("agent_transcript_path"), payload["agent_id"].as_str()) {
        payload["agent_transcript_path"] = transcript.agent_path(agent).to_str().unwrap().into();
    }
}

/// An event of the host as our command line names it.
pub fn kebab(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
