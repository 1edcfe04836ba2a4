//! The hooks' question: what, if anything, does this moment of a session deserve to be told?

use super::ask::{Ask, By, Deadline, RecallError};
use super::block::Block;
use super::brief::brief;
use super::entry::{Entry, entries};
use super::gate;
use super::history::{self, Whose};
use super::launch;
use super::parts::Parts;
use super::piece::{Piece, Worths};
use super::query::{Query, QueryTerm, analyse, analyse_weighted};
use super::render::{self, Size, fenced};
use super::shown::{Looker, Shown, Why};
use crate::config::{Home, Secret, Settings};
use crate::index::Reader;
use crate::{command, fs, log};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The moment of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// A session begins; `source` is the host's: startup, resume, clear, compact, fork.
    SessionStart {
        /// The host's word.
        source: String,
    },
    /// A person sent a prompt, or it expands.
    Prompt {
        /// What is asked by: as typed, or the command, its arguments and the prompt.
        text: String,
    },
    /// A tool is about to touch files or to run a command: one short entry about what became of that before, or nothing.
    Touch {
        /// Each by the names under which it may be known, the surest first.
        files: Vec<Vec<String>>,
        /// What is run.
        command: Option<String>,
        /// The first file is to be read whole, and the settings would rather not.
        whole: Option<Whole>,
        /// The first file is to be changed.
        edits: bool,
    },
    /// A tool failed, or is about to look something up: one short entry, at bar the threshold.
    Call {
        /// What is asked by.
        pieces: Vec<Piece>,
        /// At least so many of its terms must be distinctive; 0: it asks whatever its terms are.
        least: usize,
    },
    /// Before or after any tool: as much as a prompt gets.
    Tool {
        /// What is asked by.
        pieces: Vec<Piece>,
        /// As for a call.
        least: usize,
    },
    /// A subagent is launched: what its prompt finds is left for its start.
    Launch {
        /// The subagent's type.
        kind: String,
        /// What it is to do.
        prompt: String,
        /// Say it here, too.
        aloud: bool,
    },
    /// A subagent starts.
    SubagentStart {
        /// The subagent's type.
        kind: String,
    },
}

/// A file on disk that is to be read whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whole {
    /// Its size.
    pub bytes: u64,
    /// When it changed last. Units: milliseconds.
    pub changed_ms: i64,
}

/// What an event is answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// Text for the model.
    Context(String),
    /// The call is denied, for this reason.
    Deny(String),
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
    /// Host id of the prompt whose turn it is.
    pub prompt: Option<&'a str>,
    /// Host id of the subagent that it happens in; its context is its own.
    pub agent: Option<&'a str>,
    /// Host id of the tool call.
    pub call: Option<&'a str>,
    /// What happened.
    pub moment: Moment,
}

/// The whole text of what is said about a tool call. Units: characters.
pub(super) const ENTRY_CHARS: usize = 400;
/// In a memory of fewer records any term may be what sets one apart.
const FEW_RECORDS: u64 = 50;
/// At most so many files of one call are looked up.
const MAX_FILES: usize = 4;

/// Gives what is said; `None` means: print nothing. Never fails outward: trouble is a line in the log (D9).
///
/// Whole blocks only; fewer than 10,000 UTF-16 units; writes nothing but `state/shown`, `state/launches` and `state/gate`.
pub fn inject(ask: &Inject) -> Option<Said> {
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

fn answer(ask: &Inject, deadline: &Deadline) -> Result<Option<Said>, RecallError> {
    deadline.check()?;
    let compact = match &ask.moment {
        Moment::SessionStart { source } => match source.as_str() {
            // What a resumed or forked session was told is still in its context.
            "startup" | "clear" => false,
            "compact" => true,
            _ => return Ok(None),
        },
        _ => false,
    };
    // What a start says is no prompt's, also where a compaction falls into a turn.
    let prompt = ask.prompt.filter(|_| !matches!(ask.moment, Moment::SessionStart { .. }));
    let looker = Looker { key: ask.event_key, prompt, agent: ask.agent };
    let mut shown = Shown::read(ask.home, ask.session, looker);
    if compact && let Err(error) = shown.compact(ask.home) {
        log::warn(
            "recall",
            &[("session", &ask.session), ("error", &error)],
            "The compaction cannot be remembered.",
        );
    }
    // A launch leaves what it found even where nothing may be said.
    if room(ask, &shown) == 0 && !matches!(ask.moment, Moment::Launch { .. }) {
        return Ok(None);
    }
    let left = match &ask.moment {
        Moment::SubagentStart { kind } => {
            let agent = ask.agent.unwrap_or_default();
            launch::take(ask.home, of(ask, kind), agent)
        }
        _ => Vec::new(),
    };
    if matches!(ask.moment, Moment::SubagentStart { .. }) && left.is_empty() {
        return Ok(None);
    }
    let Some(reader) = Reader::open(ask.home)? else { return Ok(None) };
    let reader = if ask.settings.all_hosts() { reader } else { reader.of_host(HOST)? };
    deadline.check()?;
    if let Moment::Touch { files, edits: true, .. } = &ask.moment {
        gate::note_edit(ask, files);
    }
    if let Some(reason) = gate::deny(ask, &reader, &mut shown, deadline)? {
        return Ok(Some(Said::Deny(reason)));
    }
    let blocks = blocks(ask, &reader, &shown, &left, deadline)?;
    deadline.check()?;
    Ok(say(ask, &mut shown, &blocks).map(Said::Context))
}

/// The host that asks: it is told what its own sessions said.
const HOST: &str = "claude";

/// A call names much that is said often: what is told of it has to cover so much more of it than of a prompt.
const AT_TOOLS: f64 = 1.8;

fn of<'a>(ask: &'a Inject, kind: &'a str) -> launch::Of<'a> {
    launch::Of { session: ask.session, kind, prompt: ask.prompt }
}

fn blocks(
    ask: &Inject,
    reader: &Reader,
    shown: &Shown,
    left: &[String],
    deadline: &Deadline,
) -> Result<Vec<Block>, RecallError> {
    let threshold = ask.settings.recall_threshold();
    let parts = Parts::without(&ask.settings.recall_without());
    let bar = (AT_TOOLS * threshold).min(1.0);
    // What the session did itself is in its context, until that is compacted.
    let but = (!shown.is_compacted()).then_some(ask.session);
    let whose = Whose { project: ask.project, but };
    let find = |pieces: &[Piece], threshold: f64, least: usize| {
        let query = analyse_weighted(reader, pieces, parts)?;
        if is_enough(reader, &query, pieces, least) {
            find(ask, reader, &query, threshold, but, deadline)
        } else {
            Ok(Vec::new())
        }
    };
    Ok(match &ask.moment {
        Moment::SessionStart { source } => {
            let (compact, sessions) = (source == "compact", ask.settings.recall_sessions());
            brief(reader, ask.project, ask.session, compact, sessions, deadline)?
        }
        Moment::Prompt { text } => of_calls(ask, &find(&[Piece::plain(text)], threshold, 1)?),
        Moment::Tool { pieces, least } => of_calls(ask, &find(pieces, threshold, *least)?),
        Moment::Call { pieces, least } => {
            let short = |entry: &Entry| {
                let lines: Vec<String> =
                    entry.lines.iter().map(|line| render::quoted(line, &entry.header.kind)).collect();
                let block = render::short(&entry.header, &entry.session, &lines, ENTRY_CHARS)?;
                Some(of_call(ask, block, &entry.session))
            };
            let found = find(pieces, bar, *least)?;
            let mut blocks: Vec<Block> = found.iter().filter_map(short).collect();
            if *least > 1 && blocks.is_empty() {
                let query = analyse_weighted(reader, pieces, parts)?;
                if is_enough(reader, &query, pieces, *least) {
                    let printed = history::of_output(reader, whose, &query, bar, ENTRY_CHARS, deadline)?;
                    blocks.extend(printed.map(|(block, session)| of_call(ask, block, &session)));
                }
                // A command and its error stand in two records; how its turn ended holds both.
                if blocks.is_empty() && query.is_useful() {
                    let asked = (&query, None);
                    let failed = history::of_command(reader, whose, asked, bar, ENTRY_CHARS, deadline)?;
                    blocks.extend(failed.map(|(block, session)| of_call(ask, block, &session)));
                }
            }
            blocks
        }
        Moment::Touch { files, command, .. } => {
            let mut blocks = Vec::new();
            if let Some(command) = command {
                let query = analyse(reader, &command::told(command), parts)?;
                let asked = (&query, Some(command.as_str()));
                let failed = history::of_command(reader, whose, asked, bar, ENTRY_CHARS, deadline)?;
                blocks.extend(failed.map(|(block, session)| of_call(ask, block, &session)));
            }
            for names in files.iter().take(MAX_FILES) {
                deadline.check()?;
                for name in names {
                    let found = history::of_file(reader, whose, name, ENTRY_CHARS)?;
                    if let Some(found) = found {
                        blocks.push(of_call(ask, found.block, &found.session));
                        break;
                    }
                }
            }
            blocks
        }
        Moment::Launch { kind, prompt, aloud } => {
            let found = find(&[Piece::plain(prompt)], threshold, 1)?;
            let call = ask.call.unwrap_or(ask.event_key);
            if let Err(error) = launch::leave(ask.home, of(ask, kind), call, &found) {
                log::warn(
                    "recall",
                    &[("session", &ask.session), ("error", &error)],
                    "A launch cannot be noted.",
                );
            }
            let blocks = found.iter().map(|entry| of_call(ask, render::entry(entry), &entry.session));
            if *aloud { blocks.collect() } else { Vec::new() }
        }
        Moment::SubagentStart { .. } => {
            let mut blocks: Vec<Block> = Vec::new();
            for left in left {
                if let Some(block) = launch::block(reader, ask.project, left)?
                    && !blocks.iter().any(|known| known.hash == block.hash)
                {
                    blocks.push(block);
                }
                deadline.check()?;
            }
            blocks
        }
    })
}

/// What is said of a session before a call is not said of it again after the call.
fn of_call(ask: &Inject, block: Block, session: &str) -> Block {
    match ask.call {
        Some(call) => block.marked(&[b"call", call.as_bytes(), session.as_bytes()]),
        None => block,
    }
}

fn of_calls(ask: &Inject, found: &[Entry]) -> Vec<Block> {
    found.iter().map(|entry| of_call(ask, render::entry(entry), &entry.session)).collect()
}

/// Is there enough to go by? `least` terms must be distinctive: at most half of the records hold them, and they are more than a path, a flag or a key.
fn is_enough(reader: &Reader, query: &Query, pieces: &[Piece], least: usize) -> bool {
    if least == 0 {
        return !query.terms.is_empty();
    }
    let worths = Worths::of(pieces);
    let records = reader.documents();
    // Of a memory this small a share says nothing.
    let rare = |term: &QueryTerm| records < FEW_RECORDS || term.df.saturating_mul(2) <= records;
    let telling = |term: &&QueryTerm| rare(term) && worths.is_telling(&term.text);
    query.is_useful() && (least == 1 || query.terms.iter().filter(telling).count() >= least)
}

/// Entries that answer a query, each with at least one line.
fn find(
    ask: &Inject,
    reader: &Reader,
    query: &Query,
    threshold: f64,
    but: Option<&str>,
    deadline: &Deadline,
) -> Result<Vec<Entry>, RecallError> {
    let parts = Parts::without(&ask.settings.recall_without());
    deadline.check()?;
    let question = Ask {
        project: Some(ask.project.to_owned()),
        exclude_session: but.map(str::to_owned),
        by: By::Session,
        sessions: ask.settings.recall_sessions(),
        threshold: Some(threshold),
        parts,
        ..Ask::default()
    };
    let mut found = entries(reader, query, &question, deadline)?;
    found.retain(|entry| !entry.lines.is_empty());
    Ok(found)
}

/// Is this moment told one short entry?
fn is_short(ask: &Inject) -> bool {
    matches!(ask.moment, Moment::Touch { .. } | Moment::Call { .. })
}

/// Characters that may be shown now: of the event, of the prompt, of the session, whichever is least.
fn room(ask: &Inject, shown: &Shown) -> usize {
    let s = ask.settings;
    let session = s.session_chars().saturating_sub(shown.session_chars());
    let prompt = s.prompt_chars().saturating_sub(shown.prompt_chars());
    let event = match &ask.moment {
        // As much again as another event, and no prompt's.
        Moment::SessionStart { .. } => s.event_chars().saturating_mul(2),
        _ if is_short(ask) => ENTRY_CHARS.min(s.event_chars()).min(prompt),
        _ => s.event_chars().min(prompt),
    };
    event.min(session)
}

/// Claims what is to be said, and says what nobody else has claimed first.
pub(super) fn say(ask: &Inject, shown: &mut Shown, blocks: &[Block]) -> Option<String> {
    let (text, taken) = choose(ask, shown, blocks)?;
    let total = text.chars().count();
    // Fence and label are counted with the first block.
    let rows = taken.iter().enumerate().map(|(n, block)| {
        let names = std::iter::once(&block.hash).chain(&block.marks).chain(block.tells());
        (names.cloned().collect(), if n == 0 { total } else { 0 })
    });
    let why = match &ask.moment {
        Moment::Prompt { .. } => Why::Prompt,
        Moment::SessionStart { .. } | Moment::SubagentStart { .. } => Why::Other,
        _ => Why::Tool,
    };
    match shown.claim(ask.home, why, &rows.collect::<Vec<_>>()) {
        Ok(false) => Some(text),
        // Of what was claimed, and of nothing else: what is said without a claim would be said again.
        Ok(true) => choose(ask, shown, &taken).map(|(text, _)| text),
        Err(error) => {
            // Said again is better than not said at all.
            log::warn(
                "recall",
                &[("session", &ask.session), ("error", &error)],
                "Cannot remember what was shown.",
            );
            Some(text)
        }
    }
}

/// Of the blocks that were not shown, as many as there is room for.
fn choose(ask: &Inject, shown: &Shown, blocks: &[Block]) -> Option<(String, Vec<Block>)> {
    let new = |block: &&Block| !shown.has(&block.hash) && !block.marks.iter().any(|mark| shown.has(mark));
    let blocks: Vec<Block> = blocks.iter().filter(new).cloned().collect();
    let size = match ask.moment {
        Moment::SessionStart { .. } => Size::Brief { hint: ask.settings.recall_hint() },
        _ if is_short(ask) => Size::Short,
        _ => Size::Full,
    };
    fenced(&blocks, ask.secret, size, room(ask, shown), |name| shown.has(name))
}

#[cfg(test)]
mod tests;
