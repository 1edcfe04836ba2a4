//! Sessions whose host writes no transcript (`--no-session-persistence`): hooks run and name a file that never comes.
//!
//! A file that is not there yet is normal: the host begins it with the first answer, and writes late. So an entry that finds no file, and
//! never heard of one (F33 tells that: a cursor or a size), is done, and leaves a mark once its event shows that something was said. Only when
//! the session goes on to its next prompt or ends, and there still is no file, is the session counted, once. A file that comes after all takes
//! mark and count away.

use super::figures::UNWRITTEN;
use crate::spool::Entry;
use crate::store::{StoreError, Write};
use std::path::Path;

/// The class of the mark.
const ABSENT: &str = "absent";
const KIND: &str = "session";

/// After these the host has something to write.
fn shows_words(event: &str) -> bool {
    matches!(
        event,
        "post-tool-use"
            | "post-tool-use-failure"
            | "post-tool-batch"
            | "stop"
            | "stop-failure"
            | "subagent-stop"
    )
}

/// By these it has been written.
fn comes_later(event: &str) -> bool {
    matches!(event, "user-prompt-submit" | "session-end" | "pre-compact")
}

/// Notes what the entries of a file that is not there tell, in the order of their times; each with its session's row.
pub(super) fn note(write: &mut Write<'_>, path: &Path, entries: &[(&Entry, i64)]) -> Result<(), StoreError> {
    for (entry, session) in entries.iter().filter(|(entry, _)| entry.transcript == path) {
        if shows_words(&entry.event) {
            let file = write.file(path)?;
            write.file_gone(file)?;
            count(write, file, ABSENT)?;
        } else if comes_later(&entry.event)
            && let Some(file) = write.known_file(path)?
            && write.lines(file, ABSENT, KIND)? > 0
        {
            count(write, file, UNWRITTEN)?;
            write.file_holds(file, *session)?;
        }
    }
    Ok(())
}

fn count(write: &mut Write<'_>, file: i64, class: &str) -> Result<(), StoreError> {
    if write.lines(file, class, KIND)? == 0 {
        write.count_lines(file, class, KIND, 1)?;
    }
    Ok(())
}

/// The file has come after all.
pub(super) fn forget(write: &mut Write<'_>, file: i64) -> Result<(), StoreError> {
    if write.lines(file, ABSENT, KIND)? > 0 {
        write.restart_file(file)?;
    }
    Ok(())
}
