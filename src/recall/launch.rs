//! What waits for the subagents that a session launches.
//!
//! The host tells the launching prompt before the call (PreToolUse) and not to the subagent (SubagentStart), which names its type only. So
//! the first leaves what it found for the second, in `state/launches/<session>.<type>`, appended: ids, hashes and numbers, no text.
//!
//! ```text
//! launches 1
//! l <call> <time, ms> <prompt> <entry> …     an entry: <header's id>[,<record's id>:<p|t>:<from>:<bytes>:<hash>]…
//! s <agent> <time, ms> <prompt>
//! ```
//!
//! Several of one type start in any order: each start takes the union of what waits. A launch leaves when as many have started as were
//! launched, or after ten minutes. What a start takes is decided by what stands before its own line, so a start that is delivered again takes
//! the same, and two at once are in some order for both.

use super::ask::{Line, RecallError};
use super::block::Block;
use super::entry::Entry;
use super::render;
use crate::clock;
use crate::config::Home;
use crate::fs::{self, FsError};
use crate::id;
use crate::index::{Reader, Stored};
use std::io::Write as _;
use std::path::{Path, PathBuf};

const VERSION: &str = "launches 1";
/// A subagent starts at once; one that has not by then was not allowed to. Units: milliseconds.
const AGE_MS: i64 = 10 * 60 * 1000;
/// A longer file is begun again. Units: bytes.
const CAP_BYTES: u64 = 64 * 1024;

/// One launch or one start: of which session, type and turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Of<'a> {
    /// Host session id.
    pub session: &'a str,
    /// The subagent's type, as the host names it.
    pub kind: &'a str,
    /// Host id of the prompt of the turn.
    pub prompt: Option<&'a str>,
}

impl Of<'_> {
    fn path(&self, home: &Home) -> PathBuf {
        home.launches().join(format!("{}.{}", id::safe_name(self.session), short(self.kind)))
    }

    fn prompt(&self) -> String {
        self.prompt.map_or_else(|| "-".to_owned(), short)
    }
}

fn short(text: &str) -> String {
    id::short(&id::hash(&[text.as_bytes()]), 16).to_owned()
}

/// Leaves what was found for a launch, `call` being the host's id of it. The same launch again leaves nothing. Errors: `state/` cannot be
/// written.
pub(super) fn leave(home: &Home, of: Of<'_>, call: &str, found: &[Entry]) -> Result<(), FsError> {
    let dir = home.launches();
    fs::make_private_dir(&dir)?;
    // Whoever adds sweeps, so that what is there is bounded by what ten minutes bring.
    fs::remove_leftovers(&dir, AGE_MS, |_| true)?;
    let (path, call) = (of.path(home), short(call));
    let known = |line: &str| line.split(' ').take(2).eq(["l", &call]);
    let text = read(&path);
    // What another version left there is left to it; an empty file was just made by a launch beside this one.
    let foreign = text.is_empty() && path.symlink_metadata().is_ok_and(|m| m.len() > 0);
    if foreign || text.lines().any(known) {
        return Ok(());
    }
    let mut line = format!("l {call} {} {}", clock::now().0, of.prompt());
    for entry in found {
        line.push_str(&format!(" {}", entry.header.id));
        line.extend(entry.lines.iter().filter_map(|l| place(l, &entry.top)));
    }
    append(&path, &line)
}

/// Where a line stands: `,<id>:<field>:<from>:<bytes>:<hash>`.
fn place(line: &Line, records: &[Stored]) -> Option<String> {
    records.iter().find_map(|doc| {
        let uuid = Some(&doc.record).filter(|r| !r.is_empty());
        if uuid != line.record.as_ref() {
            return None;
        }
        let (field, from) = match (doc.prose.find(&line.text), doc.tool.find(&line.text)) {
            (Some(from), _) => ('p', from),
            (None, Some(from)) => ('t', from),
            (None, None) => return None,
        };
        Some(format!(",{}:{field}:{from}:{}:{}", doc.id, line.text.len(), short(&line.text)))
    })
}

fn append(path: &Path, line: &str) -> Result<(), FsError> {
    let size = path.symlink_metadata().map_or(0, |m| m.len());
    let full = size + line.len() as u64 > CAP_BYTES;
    if full {
        fs::remove(path)?;
    }
    let head = if size == 0 || full { format!("{VERSION}\n") } else { String::new() };
    let text = format!("{head}{line}\n");
    let written = fs::append_to(path)?.write_all(text.as_bytes());
    written.map_err(|source| FsError { what: "write", path: path.to_path_buf(), source })
}

/// A damaged file, or one of another version, is an empty one.
fn read(path: &Path) -> String {
    let bytes = fs::read_small(path, 2 * CAP_BYTES).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if text.starts_with(VERSION) { text } else { String::new() }
}

/// Takes what waits for a subagent that starts, as the names under which it was left. Nothing when nothing waits, or `state/` cannot be
/// written.
pub(super) fn take(home: &Home, of: Of<'_>, agent: &str) -> Vec<String> {
    let path = of.path(home);
    let agent = short(agent);
    let text = read(&path);
    if let Some(taken) = waiting(&text, &agent) {
        return taken;
    }
    if text.is_empty() || append(&path, &format!("s {agent} {} {}", clock::now().0, of.prompt())).is_err() {
        return Vec::new();
    }
    waiting(&read(&path), &agent).unwrap_or_default()
}

/// What stood there when an agent started: of the launches in turn the first entry, then the second; each once. `None` when it has not.
fn waiting(text: &str, agent: &str) -> Option<Vec<String>> {
    struct Launch<'a> {
        ms: i64,
        prompt: &'a str,
        entries: Vec<&'a str>,
    }
    let mut open: Vec<Launch<'_>> = Vec::new();
    let (mut started, mut calls) = (0, Vec::new());
    for line in text.lines() {
        let mut words = line.split(' ');
        let (Some(what), Some(who), Some(ms), Some(prompt)) =
            (words.next(), words.next(), words.next().and_then(|ms| ms.parse::<i64>().ok()), words.next())
        else {
            continue;
        };
        match what {
            "l" if calls.contains(&who) => {}
            "l" => {
                calls.push(who);
                if open.is_empty() {
                    started = 0;
                }
                open.push(Launch { ms, prompt, entries: words.collect() });
            }
            "s" => {
                let same = |l: &Launch<'_>| l.prompt == prompt || l.prompt == "-" || prompt == "-";
                // A clock that was set back makes nothing old.
                open.retain(|l| ms.saturating_sub(l.ms) <= AGE_MS && same(l));
                if who == agent {
                    let most = open.iter().map(|l| l.entries.len()).max().unwrap_or(0);
                    let turns = (0..most).flat_map(|n| open.iter().filter_map(move |l| l.entries.get(n)));
                    let mut taken: Vec<String> = Vec::new();
                    for entry in turns {
                        if !taken.iter().any(|known| known == entry) {
                            taken.push((*entry).to_owned());
                        }
                    }
                    return Some(taken);
                }
                started += 1;
                if started >= open.len() {
                    (started, open) = (0, Vec::new());
                }
            }
            _ => {}
        }
    }
    None
}

/// Renders what was left under a name, from the index as it is now. `None` when it is gone, or of another project.
pub(super) fn block(reader: &Reader, project: &str, left: &str) -> Result<Option<Block>, RecallError> {
    let mut parts = left.split(',');
    let Some(header) = parts.next() else { return Ok(None) };
    let Some(header) = reader.find(header)?.filter(|doc| doc.project == project) else { return Ok(None) };
    let mut lines = Vec::new();
    let mut best = None;
    for part in parts {
        let Some((doc, line)) = line(reader, project, part)? else { continue };
        best.get_or_insert(doc);
        lines.push(line);
    }
    let Some(best) = best else { return Ok(None) };
    let session = header.sessions.first().cloned().unwrap_or_default();
    let entry = Entry {
        session,
        header,
        top: Vec::new(),
        best,
        lines,
        states: false,
        score: 0.0,
        coverage: 0.0,
        explain: None,
    };
    Ok(Some(render::entry(&entry)))
}

/// Reads a line where it stood; one that says something else by now is left out.
fn line(reader: &Reader, project: &str, place: &str) -> Result<Option<(Stored, Line)>, RecallError> {
    let parts: Vec<&str> = place.split(':').collect();
    let [id, field, from, bytes, hash] = parts.as_slice() else { return Ok(None) };
    let (Ok(from), Ok(bytes)) = (from.parse::<usize>(), bytes.parse::<usize>()) else { return Ok(None) };
    let Some(doc) = reader.find(id)?.filter(|doc| doc.project == project) else { return Ok(None) };
    let text = if *field == "t" { &doc.tool } else { &doc.prose };
    let Some(text) = text.get(from..from.saturating_add(bytes)).filter(|t| short(t) == *hash) else {
        return Ok(None);
    };
    let record = Some(doc.record.clone()).filter(|r| !r.is_empty());
    let line = Line { text: text.to_owned(), record, speaker: doc.speaker.clone() };
    Ok(Some((doc, line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, agent: &str, expected: Option<&[&str]>) {
        let expected = expected.map(|all| all.iter().map(|e| (*e).to_owned()).collect::<Vec<_>>());
        assert_eq!(waiting(text, agent), expected, "{agent} in {text}");
    }

    #[test]
    fn a_file_that_another_launch_just_made_is_written_and_one_of_another_version_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        let of = Of { session: "s", kind: "Explore", prompt: None };
        fs::make_private_dir(&home.launches()).unwrap();
        for (text, written) in [("", true), ("launches 2\n", false)] {
            fs::replace(&of.path(&home), text.as_bytes(), fs::Sync::No).unwrap();
            leave(&home, of, "call", &[]).unwrap();
            let now = std::fs::read_to_string(of.path(&home)).unwrap();
            assert_eq!(now.contains("\nl "), written, "{text:?}: {now}");
        }
    }

    #[test]
    fn each_start_takes_the_union_until_as_many_have_started_as_were_launched() {
        let text = "launches 1\nl c1 0 p e1 e2\nl c2 5 p e3 e1\ns a1 10 p\ns a2 11 p\ns a3 12 p\nl c3 20 p e4\ns a4 21 p\n";
        check(text, "a1", Some(&["e1", "e3", "e2"]));
        check(text, "a2", Some(&["e1", "e3", "e2"]));
        check(text, "a3", Some(&[]));
        check(text, "a4", Some(&["e4"]));
        check(text, "a5", None);
        check("launches 1\nl c1 0 p e1\nl c1 0 p e1\ns a1 1 p\ns a2 1 p\n", "a2", Some(&[]));
    }

    #[test]
    fn what_is_old_or_of_another_turn_waits_for_nobody() {
        let text = "launches 1\nl c1 0 p e1\nl c2 500000 p e2\ns a1 700000 p\n";
        check(text, "a1", Some(&["e2"]));
        check("launches 1\nl c1 0 p e1\nl c2 1 q e2\ns a1 2 q\n", "a1", Some(&["e2"]));
        check("launches 1\nl c1 0 - e1\nl c2 1 q e2\ns a1 2 q\n", "a1", Some(&["e1", "e2"]));
        check("launches 1\nl c1 900000 p e1\ns a1 2 p\n", "a1", Some(&["e1"]));
        check("launches 1\nl c1 x p e1\nl\n\ns a1 2 p\n", "a1", Some(&[]));
    }
}
