//! `state/status`: the drainer's figures in one small file, so that `status` costs the same at any size of the store.

use super::DrainError;
use super::progress::Progress;
use crate::config::{Home, version};
use crate::fs::{self, Sync};
use crate::redact::{Redactor, Report};
use crate::store::{Behind, Figures, Reader, StoreError};
use crate::{clock, log};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

/// The content of `state/status`. Written by the holder of the drain lock only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusFile {
    /// Format version.
    pub v: u32,
    /// Version of Sinker.
    pub version: String,
    /// For people; liveness is the lock and the heartbeat.
    pub pid: u32,
    /// When it was written, RFC 3339 UTC.
    pub time: String,
    /// Rows that the index must hold.
    pub documents: u64,
    /// Of them, observations.
    pub observations: u64,
    /// Of them, outcomes.
    pub turns: u64,
    /// Sessions.
    pub sessions: u64,
    /// Newest change of the store.
    pub seq: u64,
    /// The change the index shows.
    pub index_seq: u64,
    /// Documents in the index.
    pub index_documents: u64,
    /// Entries drained in the last hour.
    pub drained_1h: u64,
    /// At most 20 transcripts that are not stored to their end.
    pub behind: Vec<BehindFile>,
    /// Ranges of transcripts that were gone before they were stored.
    pub lost_ranges: u64,
    /// Sessions whose host wrote no transcript though something was said.
    pub unwritten_sessions: u64,
    /// Transcripts passed over, by the reason: `excluded`, `off`.
    pub passed_files: BTreeMap<String, u64>,
    /// Records passed over in other transcripts, by the reason.
    pub passed_records: BTreeMap<String, u64>,
    /// Inputs and results of tools that are not stored, by the reason: `tool`, `file`.
    pub withheld: BTreeMap<String, u64>,
    /// Record types that this version does not know, with their number.
    pub unknown_types: BTreeMap<String, u64>,
    /// What was redacted, by rule.
    pub redacted: BTreeMap<String, u64>,
    /// Documents that retention took away.
    pub retained: u64,
    /// Some of what is stored was redacted by other rules than those in force.
    pub rescan_due: bool,
    /// What went wrong last.
    pub last_error: Option<String>,
}

/// A transcript that is not stored to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BehindFile {
    /// The file.
    pub path: String,
    /// Stored up to here, bytes.
    pub cursor: u64,
    /// Size, bytes.
    pub size: u64,
}

impl From<Behind> for BehindFile {
    fn from(behind: Behind) -> Self {
        Self { path: behind.path, cursor: behind.cursor, size: behind.size }
    }
}

impl StatusFile {
    /// Reads it; a missing or foreign one is `None`.
    pub fn read(home: &Home) -> Option<Self> {
        let bytes = fs::read_small(&home.status(), 1024 * 1024).ok()??;
        serde_json::from_slice(&bytes).ok()
    }
}

/// Errors: [`DrainError::Newer`] when a newer version wrote this file of `state/` (D11).
pub(super) fn refuse_newer(path: &Path) -> Result<(), DrainError> {
    let bytes = fs::read_small(path, 1024 * 1024).ok().flatten().unwrap_or_default();
    let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    match value.get("v").and_then(serde_json::Value::as_u64) {
        Some(found) if found > FORMAT.into() => Err(DrainError::Newer { path: path.to_path_buf(), found }),
        _ => Ok(()),
    }
}

/// The class of lines, one a session's transcript, by which sessions without one are counted.
pub(super) const UNWRITTEN: &str = "unwritten";

/// The version of `state/status` and `state/repair`.
pub(super) const FORMAT: u32 = 1;

/// Writes the figures, at most once a second.
pub(super) struct Board {
    hour: VecDeque<(i64, u64)>,
    entries: u64,
    written_ms: i64,
    shown: Option<StatusFile>,
}

const EVERY_MS: i64 = 1_000;
const ROOM_BYTES: usize = 4_096;
const MINUTE_MS: i64 = 60_000;

impl Board {
    pub(super) fn new() -> Self {
        Self { hour: VecDeque::new(), entries: 0, written_ms: -EVERY_MS, shown: None }
    }

    /// Writes what changed; `last` writes whatever the clock says. A fault is logged: figures are not worth a drainer.
    pub(super) fn write(
        &mut self,
        home: &Home,
        store: &Reader,
        progress: &Progress,
        redactor: &Redactor,
        last: bool,
    ) {
        let now_ms = progress.now_ms();
        if !last && now_ms - self.written_ms < EVERY_MS {
            return;
        }
        self.written_ms = now_ms;
        let due = store.rules().is_ok_and(|rules| rules != i64::from(redactor.version()));
        let mut status = match gather(store, progress).map(|s| StatusFile { rescan_due: due, ..s }) {
            Ok(status) => status,
            Err(error) => {
                return log::warn("drain", &[("error", &error)], "The figures could not be gathered.");
            }
        };
        for behind in &mut status.behind {
            behind.path = redactor.clean(&behind.path, &mut Report::default()).into_owned();
        }
        status.drained_1h = self.drained(now_ms, progress);
        if !last && self.shown.as_ref() == Some(&status) {
            return;
        }
        let timed = StatusFile { time: clock::format(clock::now()), ..status.clone() };
        let mut bytes = serde_json::to_vec(&timed).unwrap_or_default();
        // Room for what a full disk makes us say: then the file can be written over in its place.
        bytes.resize(bytes.len().next_multiple_of(ROOM_BYTES), b' ');
        match fs::replace(&home.status(), &bytes, Sync::No) {
            Ok(()) => self.shown = Some(status),
            // A full disk is when figures matter most.
            Err(error) if fs::overwrite(&home.status(), &bytes).is_ok() => {
                log::warn(
                    "drain",
                    &[("error", &error)],
                    "The figures could not be replaced; they are written over.",
                );
                self.shown = Some(status);
            }
            Err(error) => log::warn("drain", &[("error", &error)], "The figures could not be written."),
        }
    }

    fn drained(&mut self, now_ms: i64, progress: &Progress) -> u64 {
        let done = progress.entries_done();
        let new = done - self.entries;
        self.entries = done;
        let minute = now_ms / MINUTE_MS;
        match self.hour.back_mut() {
            Some((known, n)) if *known == minute => *n += new,
            _ => self.hour.push_back((minute, new)),
        }
        while self.hour.front().is_some_and(|(known, _)| minute - known >= 60) {
            self.hour.pop_front();
        }
        self.hour.iter().map(|(_, n)| n).sum()
    }
}

fn gather(store: &Reader, progress: &Progress) -> Result<StatusFile, StoreError> {
    let Figures { documents, observations, turns, sessions, seq } = store.figures()?;
    let mut lines = store.line_counts()?;
    let (index_seq, index_documents) = progress.index();
    let mut unknown_types = lines.remove("unknown").unwrap_or_default();
    unknown_types.extend(lines.remove("unknown-block").unwrap_or_default());
    Ok(StatusFile {
        v: FORMAT,
        version: version::own(),
        pid: std::process::id(),
        time: String::new(),
        documents,
        observations,
        turns,
        sessions,
        seq,
        index_seq,
        index_documents,
        drained_1h: 0,
        behind: store.behind(20)?.into_iter().map(BehindFile::from).collect(),
        lost_ranges: lines.get("lost").map_or(0, |kinds| kinds.values().sum()),
        unwritten_sessions: lines.get(UNWRITTEN).map_or(0, |kinds| kinds.values().sum()),
        passed_files: lines.remove("passed").unwrap_or_default(),
        withheld: lines.remove("withheld").unwrap_or_default(),
        passed_records: lines.remove("excluded").unwrap_or_default(),
        unknown_types,
        redacted: lines.remove("redacted").unwrap_or_default(),
        retained: store.retained()?,
        rescan_due: false,
        last_error: progress.last_word(),
    })
}
