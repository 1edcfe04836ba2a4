//! Sessions whose host writes no transcript (`--no-session-persistence`): hooks run and name a file that never comes.
//!
//! A file that is not there yet is normal: the host begins it with the first answer, and writes late. So an entry that finds no file, and
//! never heard of one (F33 tells that: a cursor or a size), is done, and leaves a mark where its event shows that something was said. Only when
//! the session ends or goes on to another prompt, by which the host has written what was said, and there still is no file, is the session
//! counted, once. A file that comes after all takes marks and count away.

use super::figures::UNWRITTEN;
use crate::id;
use crate::spool::Entry;
use crate::store::{StoreError, Write};
use std::path::Path;

/// The class of the marks; their kind names the prompt.
const ABSENT: &str = "absent";

/// After these the host has something to write. Not all are heard of: a headless client ends hooks that still run when it leaves.
fn shows_words(event: &str) -> bool {
    !matches!(event, "session-start" | "session-end" | "pre-compact" | "post-compact")
}

/// Notes what the entries of a file that is not there tell, in the order of their times; each with its session's row.
pub(super) fn note(write: &mut Write<'_>, path: &Path, entries: &[(&Entry, i64)]) -> Result<(), StoreError> {
    for (entry, session) in entries.iter().filter(|(entry, _)| entry.transcript == path) {
        let known = write.known_file(path)?;
        let marks = known.map(|file| write.kinds(file, ABSENT)).transpose()?.unwrap_or_default();
        let prompt =
            id::short(&id::sha256(entry.prompt.as_deref().unwrap_or_default().as_bytes()), 16).to_owned();
        let over = match entry.event.as_str() {
            "session-end" => !marks.is_empty(),
            "user-prompt-submit" => marks.iter().any(|mark| *mark != prompt),
            _ => false,
        };
        if over {
            let file = write.file(path)?;
            if write.lines(file, UNWRITTEN, "session")? == 0 {
                write.count_lines(file, UNWRITTEN, "session", 1)?;
            }
            write.file_holds(file, *session)?;
        } else if shows_words(&entry.event) && !marks.contains(&prompt) {
            let file = write.file(path)?;
            write.file_gone(file)?;
            write.count_lines(file, ABSENT, &prompt, 1)?;
        }
    }
    Ok(())
}

/// The file has come after all.
pub(super) fn forget(write: &mut Write<'_>, file: i64) -> Result<(), StoreError> {
    if !write.kinds(file, ABSENT)?.is_empty() {
        write.restart_file(file)?;
    }
    Ok(())
}
