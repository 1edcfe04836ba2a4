//! Publishing an entry: written under `tmp/`, renamed into `new/` (D2).

use super::{Command, Entry, SpoolName};
use crate::clock;
use crate::config::Home;
use crate::fs::{self, FsError, Sync};
use std::path::PathBuf;

/// Publishes an event. Errors: those of `fs::publish`; nothing is left in `new/` then.
///
/// The folders are made when they are missing, so the common case costs no look at them.
pub fn publish(home: &Home, entry: &Entry, sync: Sync) -> Result<PathBuf, FsError> {
    let tail = entry.tool_use.as_deref().or(entry.agent.as_ref().map(|a| a.id.as_str()));
    let name = SpoolName::event(&entry.session, entry.cursor, &entry.event, tail).to_string();
    // Serializing plain strings and numbers into memory cannot fail.
    let bytes = serde_json::to_vec(entry).unwrap_or_default();
    put(home, &name, &bytes, sync)
}

/// Publishes a command, synced. Errors: as [`publish`].
pub fn command(home: &Home, time_ms: u64, command: &Command) -> Result<PathBuf, FsError> {
    let name =
        SpoolName::Command { time_ms, random: command.id.clone(), verb: command.verb.clone() }.to_string();
    let bytes = serde_json::to_vec(command).unwrap_or_default();
    put(home, &name, &bytes, Sync::Yes)
}

fn put(home: &Home, name: &str, bytes: &[u8], sync: Sync) -> Result<PathBuf, FsError> {
    let to = home.spool_new().join(name);
    // The pid and the nanosecond keep two hooks with the same event from writing into one file. A name over 255 bytes
    // cannot arise from the published one alone, so the temporary name carries a cut of it.
    let short = name.get(..100).unwrap_or(name);
    let tmp = home.spool_tmp().join(format!("{short}.{}.{:016x}", std::process::id(), clock::nanos()));
    match fs::publish(&tmp, &to, bytes, sync) {
        Err(error) if error.is_missing() => {
            super::prepare(home)?;
            fs::publish(&tmp, &to, bytes, sync)
        }
        done => done,
    }?;
    Ok(to)
}
