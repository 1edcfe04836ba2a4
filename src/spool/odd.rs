//! `spool/odd`: what cannot be used, each with its reason; nothing is dropped silently (D10).

use crate::clock;
use crate::config::Home;
use crate::fs::{self, FsError, Sync};
use serde::Serialize;
use std::path::Path;

/// The reason beside an odd file, `<name>.why`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Odd {
    /// Format version.
    pub v: u32,
    /// Why it could not be used, one sentence.
    pub reason: String,
    /// When it was set aside, RFC 3339 UTC.
    pub time: String,
    /// The transcript concerned, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// First lost or unusable byte, where that is the matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// One past the last such byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
}

impl Odd {
    /// A reason, with the time of the clock.
    pub fn new(reason: impl Into<String>) -> Self {
        let time = clock::format(clock::now());
        Self { v: super::FORMAT, reason: reason.into(), time, path: None, from: None, to: None }
    }
}

/// Moves a claimed file to `odd/` under its own name, or with a number behind it where that is taken, and its reason beside it.
///
/// The reason is written first: a file in `odd/` always has one. Errors: those of `fs`.
pub fn quarantine(home: &Home, file: &Path, odd: &Odd) -> Result<(), FsError> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let free = |name: &String| home.spool_odd().join(name).symlink_metadata().is_err();
    let numbered = (2..10_000).map(|n| format!("{name}.{n}"));
    let name = std::iter::once(name.clone()).chain(numbered).find(free).unwrap_or(name);
    write_report(home, &name, odd)?;
    fs::rename(file, &home.spool_odd().join(name))
}

/// Writes `odd/<name>.why` alone: for a fault that has no file of ours, such as a lost range of a transcript.
pub fn write_report(home: &Home, name: &str, odd: &Odd) -> Result<(), FsError> {
    let bytes = serde_json::to_vec(odd).unwrap_or_default();
    fs::replace(&home.spool_odd().join(format!("{name}.why")), &bytes, Sync::No)
}
