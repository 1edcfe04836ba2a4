//! Open work of a project: what people and the assistant wrote down, the host's lists, and next steps that nothing took up.
//!
//! Items of the same words are one: what was said last about it holds, and what was written down here before what the host's lists say at the
//! same time. An item of a list that a later turn was about is done.

use super::ask::{Deadline, RecallError};
use super::brief::{Past, Scope, left, of_kind, taken_up};
use crate::clock::{self, Millis};
use crate::config::Home;
use crate::index::Reader;
use crate::work::{self, State};
use serde::Serialize;
use std::collections::BTreeMap;

/// Items of a project that are looked at, the newest.
const ITEMS: usize = 1_000;
/// Turns that are looked at for what they left to do, and for what they did.
const TURNS: usize = 40;

/// An item of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Work {
    /// Its id: `w-` and 32 hex.
    pub id: String,
    /// What is to be done.
    pub text: String,
    /// `doing`, `open`, `done` or `dropped`.
    pub state: State,
    /// `user` or `assistant` where it was written down; `todo` or `task` where the host's list holds it; `next-step` of a turn.
    pub source: String,
    /// RFC 3339: since when it stands so.
    pub time: String,
    /// The host's session id, or empty.
    pub session: String,
    /// Our id of what it is from: the item, or the turn of a next step.
    pub from: String,
    #[serde(skip)]
    time_ms: i64,
}

/// The items of a project: what is being done, then what is open, then the rest; of each the newest first.
///
/// `None` when there is no index. Errors: [`RecallError`].
pub fn work(home: &Home, project: &str, deadline: &Deadline) -> Result<Option<Vec<Work>>, RecallError> {
    let Some(reader) = Reader::open(home)? else { return Ok(None) };
    all(&reader, project, deadline).map(Some)
}

fn all(reader: &Reader, project: &str, deadline: &Deadline) -> Result<Vec<Work>, RecallError> {
    let scope = Scope::Others { project, session: "" };
    let turns = of_kind(reader, scope, "outcome", TURNS)?;
    deadline.check()?;
    let sessions = of_kind(reader, scope, "session-summary", 1)?;
    let mut by_key = items(reader, scope, &turns, deadline)?;
    for (past, step) in left(&sessions, &turns) {
        // By its words, like one that is written down: whichever turn or session is the last, it is the same step.
        let next = Work {
            id: work::id(project, &step),
            text: step,
            state: State::Open,
            source: "next-step".to_owned(),
            time: clock::format(Millis(past.doc.time_ms)),
            session: past.session().to_owned(),
            from: past.doc.id.clone(),
            time_ms: past.doc.time_ms,
        };
        keep(&mut by_key, next);
    }
    let mut all: Vec<Work> = by_key.into_values().collect();
    all.sort_by(|a, b| {
        let rank = |item: &Work| if item.state.is_open() { item.state as u8 } else { 2 };
        rank(a).cmp(&rank(b)).then(b.time_ms.cmp(&a.time_ms)).then_with(|| a.id.cmp(&b.id))
    });
    Ok(all)
}

/// The items of a scope that were written down or listed, by the words that make them one.
pub(super) fn items(
    reader: &Reader,
    scope: Scope<'_>,
    turns: &[Past],
    deadline: &Deadline,
) -> Result<BTreeMap<String, Work>, RecallError> {
    let mut by_key: BTreeMap<String, Work> = BTreeMap::new();
    for past in of_kind(reader, scope, "work", ITEMS)? {
        deadline.check()?;
        let Some(item) = item(&past) else { continue };
        keep(&mut by_key, item);
    }
    for item in by_key.values_mut().filter(|item| item.state.is_open() && item.is_listed()) {
        let mut later = turns.iter().filter(|turn| turn.doc.time_ms > item.time_ms);
        if let Some(turn) = later.rfind(|turn| taken_up(&item.text, turn)) {
            (item.state, item.time_ms) = (State::Done, turn.doc.time_ms);
            item.time = clock::format(Millis(turn.doc.time_ms));
        }
    }
    Ok(by_key)
}

impl Work {
    /// Units: milliseconds.
    pub(super) fn time_ms(&self) -> i64 {
        self.time_ms
    }

    /// The host's list holds it.
    pub(super) fn is_listed(&self) -> bool {
        matches!(self.source.as_str(), "todo" | "task")
    }

    /// Of two that say something of one item at one time, the higher holds.
    fn rank(&self) -> (i64, u8) {
        let weight = match self.source.as_str() {
            "user" | "assistant" => 2,
            "next-step" => 0,
            _ => 1,
        };
        (self.time_ms, weight)
    }
}

fn keep(all: &mut BTreeMap<String, Work>, item: Work) {
    let key = work::key(&item.text);
    match all.get(&key) {
        // A step that was written down is that item, until somebody says otherwise.
        Some(known) if item.source == "next-step" && known.state.is_open() => {}
        Some(known) if known.rank() >= item.rank() => {}
        _ => drop(all.insert(key, item)),
    }
}

/// An item as the index holds it.
fn item(past: &Past) -> Option<Work> {
    let header: serde_json::Value = serde_json::from_str(&past.doc.header).ok()?;
    let text = |name: &str| header.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
    Some(Work {
        id: past.doc.id.clone(),
        text: text("text").to_owned(),
        state: State::parse(text("state"))?,
        source: text("source").to_owned(),
        time: clock::format(Millis(past.doc.time_ms)),
        session: past.session().to_owned(),
        from: past.doc.id.clone(),
        time_ms: past.doc.time_ms,
    })
}
