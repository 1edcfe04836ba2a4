//! The hooks' question: what, if anything, does this moment of a session deserve to be told?

use super::ask::{Ask, By, Deadline, RecallError};
use super::brief::brief;
use super::entry::entries;
use super::query::analyse;
use super::render::{self, Block, fenced};
use super::shown::{Shown, Why};
use crate::config::{Home, Secret, Settings};
use crate::index::Reader;
use crate::{fs, log};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The moment of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// A session begins; `source` is the host's: startup, resume, clear, compact, fork.
    SessionStart {
        /// The host's word.
        source: String,
    },
    /// A person sent a prompt.
    UserPrompt {
        /// As typed.
        prompt: String,
    },
}

/// One delivery of one event.
#[derive(Debug, Clone)]
pub struct Inject<'a> {
    /// Where index and state are.
    pub home: &'a Home,
    /// Budgets, threshold, deadline.
    pub settings: &'a Settings,
    /// Fences derive from it.
    pub secret: &'a Secret,
    /// Project id.
    pub project: &'a str,
    /// Host session id.
    pub session: &'a str,
    /// Identity of the event: the same for a redelivery, another for any other event of the session.
    pub event_key: &'a str,
    /// What happened.
    pub moment: Moment,
}

/// Gives the text for `additionalContext`; `None` means: print nothing. Never fails outward: trouble is a line in the log (D9).
///
/// Whole blocks only; fewer than 10,000 UTF-16 units; writes nothing but `state/shown`.
pub fn inject(ask: &Inject) -> Option<String> {
    if !ask.settings.recall_enabled() {
        return None;
    }
    let deadline = Deadline::after(ask.settings.recall_deadline());
    // A damaged segment can make Tantivy panic.
    let answer = catch_unwind(AssertUnwindSafe(|| answer(ask, &deadline)));
    let Ok(answer) = answer else {
        suspect(ask.home);
        return None;
    };
    match answer {
        Ok(text) => text,
        Err(error) => {
            if error.is_damage() {
                suspect(ask.home);
            }
            log::warn("recall", &[("session", &ask.session), ("error", &error)], "No context given.");
            None
        }
    }
}

/// Leaves a note for the drainer: it looks, and rebuilds the index when it is damaged. Without it the next recall notes the same.
fn suspect(home: &Home) {
    let note = home.suspect_index();
    if !note.exists()
        && let Err(error) = fs::replace(&note, b"", fs::Sync::No)
    {
        log::warn("recall", &[("error", &error)], "Damage of the index could not be noted.");
    }
}

fn answer(ask: &Inject, deadline: &Deadline) -> Result<Option<String>, RecallError> {
    deadline.check()?;
    let (compact, start) = match &ask.moment {
        Moment::SessionStart { source } => match source.as_str() {
            // What a resumed or forked session was told is still in its context.
            "startup" | "clear" => (false, true),
            "compact" => (true, true),
            _ => return Ok(None),
        },
        Moment::UserPrompt { .. } => (false, false),
    };
    let mut shown = Shown::read(ask.home, ask.session, ask.event_key);
    if compact && let Err(error) = shown.compact(ask.home) {
        log::warn(
            "recall",
            &[("session", &ask.session), ("error", &error)],
            "The compaction cannot be remembered.",
        );
    }
    let room = room(ask, &shown, start);
    if room == 0 {
        return Ok(None);
    }
    let Some(reader) = Reader::open(ask.home)? else { return Ok(None) };
    deadline.check()?;
    let blocks = match &ask.moment {
        Moment::SessionStart { .. } => {
            let sessions = ask.settings.recall_sessions();
            brief(&reader, ask.project, ask.session, compact, sessions, deadline)?
        }
        Moment::UserPrompt { prompt } => prompt_blocks(ask, &reader, prompt, shown.is_compacted(), deadline)?,
    };
    let blocks: Vec<Block> = blocks.into_iter().filter(|b| !shown.has(&b.hash)).collect();
    deadline.check()?;
    let Some((text, taken)) = fenced(&blocks, ask.secret, room) else { return Ok(None) };
    record(ask, &shown, &text, &taken, start);
    Ok(Some(text))
}

/// Characters that may be shown now: of the event, of the prompt, of the session, whichever is least.
fn room(ask: &Inject, shown: &Shown, start: bool) -> usize {
    let s = ask.settings;
    let session = s.session_chars().saturating_sub(shown.session_chars());
    // A prompt begins its own budget; tool events of its turn will draw on what it left.
    let event = if start { s.event_chars().saturating_mul(2) } else { s.event_chars().min(s.prompt_chars()) };
    event.min(session)
}

fn prompt_blocks(
    ask: &Inject,
    reader: &Reader,
    prompt: &str,
    compacted: bool,
    deadline: &Deadline,
) -> Result<Vec<Block>, RecallError> {
    let query = analyse(reader, prompt)?;
    if !query.is_useful() {
        return Ok(Vec::new());
    }
    deadline.check()?;
    let question = Ask {
        project: Some(ask.project.to_owned()),
        exclude_session: (!compacted).then(|| ask.session.to_owned()),
        by: By::Session,
        sessions: ask.settings.recall_sessions(),
        threshold: Some(ask.settings.recall_threshold()),
        ..Ask::default()
    };
    let found = entries(reader, &query, &question, deadline)?;
    Ok(found.iter().filter(|e| !e.lines.is_empty()).map(render::entry).collect())
}

/// Remembers what was shown. If that fails it may be said again, which is better than not at all.
fn record(ask: &Inject, shown: &Shown, text: &str, taken: &[Block], start: bool) {
    let why = if start { Why::Other } else { Why::Prompt };
    let total = text.chars().count();
    // The fence and the label are counted with the first block.
    let each = taken.iter().enumerate().map(|(n, b)| (b.hash.clone(), if n == 0 { total } else { 0 }));
    if let Err(error) = shown.add(ask.home, why, &each.collect::<Vec<_>>()) {
        log::warn(
            "recall",
            &[("session", &ask.session), ("error", &error)],
            "Cannot remember what was shown.",
        );
    }
}

#[cfg(test)]
mod tests;
