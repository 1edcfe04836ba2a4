//! The read gate: a large file of which past sessions know something is not read whole at the first try. Off by default.
//!
//! The call is denied once, with what is known of the file and the advice to read a part. All must hold: the file is larger than the settings
//! allow, what is known is not trivial, the file has not changed since, no part was named, no edit of it was tried in this turn, it was not denied in this
//! session before, and the deadline is met. What cannot be remembered is not denied: the second try always passes.
//!
//! `state/gate`, appended, hashes and numbers:
//!
//! ```text
//! gate 1
//! d <event> <session> <path> <bytes>      denied
//! p <session> <path>                      read whole all the same
//! e <prompt> <path>                       an edit was tried
//! s <denied> <bytes>                      what was before, summed up
//! ```

use super::ask::{Deadline, RecallError};
use super::history::{self, Whose};
use super::inject::{ENTRY_CHARS, Inject, Moment, say};
use super::shown::Shown;
use crate::config::Home;
use crate::fs::{self, FsError};
use crate::id;
use crate::index::Reader;
use crate::log;
use std::collections::HashSet;
use std::io::Write as _;

const VERSION: &str = "gate 1";
/// A longer file is summed up. Units: bytes.
const CAP_BYTES: u64 = 64 * 1024;
/// A file system may keep no finer times than these. Units: milliseconds.
const SLACK_MS: i64 = 2_000;

/// What the gate did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gated {
    /// Whole reads that were denied.
    pub denied: u64,
    /// Sizes of the files that were then not read whole in that session. Units: bytes.
    pub saved_bytes: u64,
}

/// Sums up what the gate did. A file of another version counts as none.
pub fn gated(home: &Home) -> Gated {
    let mut all = Gated::default();
    let text = read(home);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    let passed: HashSet<(&str, &str)> = lines
        .iter()
        .filter_map(|line| match line.as_slice() {
            ["p", session, path] => Some((*session, *path)),
            _ => None,
        })
        .collect();
    for line in &lines {
        match line.as_slice() {
            ["d", _, session, path, bytes] => {
                all.denied += 1;
                let was_read = passed.contains(&(*session, *path));
                all.saved_bytes += if was_read { 0 } else { bytes.parse().unwrap_or(0) };
            }
            ["s", denied, bytes] => {
                all.denied += denied.parse::<u64>().unwrap_or(0);
                all.saved_bytes += bytes.parse::<u64>().unwrap_or(0);
            }
            _ => {}
        }
    }
    all
}

/// Says why a read of a whole file is denied; `None`: it passes.
pub(super) fn deny(
    ask: &Inject,
    reader: &Reader,
    shown: &mut Shown,
    deadline: &Deadline,
) -> Result<Option<String>, RecallError> {
    let Moment::Touch { files, whole: Some(whole), .. } = &ask.moment else { return Ok(None) };
    let Some(names) = files.first().filter(|_| ask.agent.is_none()) else { return Ok(None) };
    let Some(path) = names.first() else { return Ok(None) };
    let (event, session, path) = (short(ask.event_key), short(ask.session), short(path));
    let text = read(ask.home);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    let edit = ask.prompt.map(|prompt| ["e".to_owned(), short(prompt), path.clone()]);
    let tried = edit.is_some_and(|edit| lines.iter().any(|line| *line == edit));
    let before =
        lines.iter().find(|line| matches!(line.as_slice(), ["d", _, s, p, _] if *s == session && *p == path));
    // The same event delivered again gets the same answer.
    let again = before.is_some_and(|line| line.get(1).is_some_and(|of| *of == event));
    if before.is_some() && !again {
        let passed = ["p", session.as_str(), path.as_str()];
        if !lines.iter().any(|line| line.as_slice() == passed) {
            remember(ask.home, &passed.join(" ")).unwrap_or_else(|error| noted(ask, &error));
        }
        return Ok(None);
    }
    if tried {
        return Ok(None);
    }
    let whose = Whose { project: ask.project, but: (!shown.is_compacted()).then_some(ask.session) };
    let mut found = None;
    for name in names {
        found = history::of_file(reader, whose, name, ENTRY_CHARS)?;
        if found.is_some() {
            break;
        }
    }
    let Some(found) = found.filter(|found| whole.changed_ms <= found.newest_ms + SLACK_MS) else {
        return Ok(None);
    };
    // What the start of the session told is not told again, but known all the same.
    let told = say(ask, shown, &[found.block]).map(|text| format!("{text}\n")).unwrap_or_default();
    deadline.check()?;
    if !again && let Err(error) = remember(ask.home, &format!("d {event} {session} {path} {}", whole.bytes)) {
        noted(ask, &error);
        return Ok(None);
    }
    let size = whole.bytes.div_ceil(1000);
    Ok(Some(format!(
        "{told}Sinker: this file has {size} kB and has not changed since the past turn that is told above. Read the part that you need (Grep for the place, then Read \
         with offset and limit), or ask memory_timeline for the file. If you need all of it, read it again: the second try is not denied."
    )))
}

/// Remembers that an edit of a file was tried in this turn: the host wants it read before.
pub(super) fn note_edit(ask: &Inject, files: &[Vec<String>]) {
    let (Some(prompt), Some(path)) = (ask.prompt, files.first().and_then(|names| names.first())) else {
        return;
    };
    let line = format!("e {} {}", short(prompt), short(path));
    if !read(ask.home).lines().any(|known| known == line) {
        remember(ask.home, &line).unwrap_or_else(|error| noted(ask, &error));
    }
}

fn noted(ask: &Inject, error: &FsError) {
    log::warn("recall", &[("session", &ask.session), ("error", error)], "The read gate cannot remember.");
}

fn short(text: &str) -> String {
    id::short(&id::hash(&[text.as_bytes()]), 16).to_owned()
}

/// A damaged file, or one of another version, is an empty one.
fn read(home: &Home) -> String {
    let bytes = fs::read_small(&home.gate(), 2 * CAP_BYTES).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if text.starts_with(VERSION) { text } else { String::new() }
}

fn remember(home: &Home, line: &str) -> Result<(), FsError> {
    let path = home.gate();
    let size = path.symlink_metadata().map_or(0, |meta| meta.len());
    if size > 0 && read(home).is_empty() {
        return Err(FsError {
            what: "write",
            path,
            source: std::io::Error::other("another version wrote it"),
        });
    }
    fs::make_private_dir(&home.state())?;
    if size + line.len() as u64 > CAP_BYTES {
        let Gated { denied, saved_bytes } = gated(home);
        let text = format!("{VERSION}\ns {denied} {saved_bytes}\n{line}\n");
        return fs::replace(&path, text.as_bytes(), fs::Sync::No);
    }
    let head = if size == 0 { format!("{VERSION}\n") } else { String::new() };
    let written = fs::append_to(&path)?.write_all(format!("{head}{line}\n").as_bytes());
    written.map_err(|source| FsError { what: "write", path, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_all_the_same_is_not_saved_and_a_long_record_is_summed_up() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        assert_eq!(gated(&home), Gated::default());
        for line in ["d e1 s1 p1 1000", "d e2 s1 p2 500", "p s1 p2", "e q p3", "nonsense"] {
            remember(&home, line).unwrap();
        }
        assert_eq!(gated(&home), Gated { denied: 2, saved_bytes: 1000 });
        for n in 0..3_000 {
            remember(&home, &format!("d {n:016x} {n:016x} {n:016x} 10")).unwrap();
        }
        assert_eq!(gated(&home), Gated { denied: 3_002, saved_bytes: 31_000 });
        assert!(std::fs::metadata(home.gate()).unwrap().len() <= CAP_BYTES);
        fs::replace(&home.gate(), b"gate 2\nd a b c 5\n", fs::Sync::No).unwrap();
        assert_eq!(gated(&home), Gated::default());
        assert!(remember(&home, "p s p").is_err(), "what another version wrote is left to it");
    }
}
