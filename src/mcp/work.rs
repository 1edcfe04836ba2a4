//! `work_list` and `work_update`: what is open in the project.

use super::Memory;
use super::arguments::{Scope, WorkList, WorkUpdate};
use super::page::{Page, cut, gist};
use super::search::{project, whole_project};
use super::tools::{self, OWN_LIMIT, Trouble};
use crate::drain::{self, NoteError, Patience, Task};
use crate::recall::{self, Deadline, Work};
use crate::work::State;
use serde_json::{Map, Value};
use std::time::Duration;

/// Units: characters of an answer.
pub(super) const BOUND: usize = 4_000;
/// What is shown of an item.
const ITEM_CHARS: usize = 240;
/// Finding the item and the wait for the drainer together stay within what a call may take: the command is published in any case.
const FIND: Duration = Duration::from_millis(600);
/// See [`FIND`].
const PATIENCE: Duration = Duration::from_millis(1_000);
/// States that can be asked for.
pub(super) const STATES: [&str; 4] = ["open", "doing", "done", "dropped"];

/// Lists the open items of a project.
pub(super) fn list(memory: &Memory, given: &Map<String, Value>) -> Result<String, Trouble> {
    let args: WorkList = tools::read(given)?;
    let secret = tools::secret(memory)?;
    let project = project(memory, &Scope { project: args.project, all: false }, &secret)?.unwrap_or_default();
    let items = items(memory, &project, OWN_LIMIT)?;
    let shown: Vec<&Work> = items.iter().filter(|item| args.all || item.state.is_open()).collect();
    let mut page = Page::new(BOUND);
    let added = shown.iter().take_while(|item| page.add(&line(item))).count();
    let last = match shown.len() {
        0 => "Nothing is open here.".to_owned(),
        n if added < n => format!("{added} of {n} items."),
        1 => "1 item.".to_owned(),
        n => format!("{n} items."),
    };
    Ok(page.close(&last, &secret))
}

/// Writes an item down, or says where one stands.
pub(super) fn update(memory: &Memory, given: &Map<String, Value>) -> Result<String, Trouble> {
    let args: WorkUpdate = tools::read(given)?;
    let secret = tools::secret(memory)?;
    let state = match args.state.as_deref() {
        None => State::Open,
        Some(name) => State::parse(name)
            .ok_or_else(|| Trouble::Arguments(format!("state is one of {}", STATES.join(", "))))?,
    };
    let scope = Scope { project: args.project, all: false };
    let project = whole_project(memory, &scope, &secret)?;
    let text = match (args.id, args.text) {
        (Some(id), None) => {
            let items = items(memory, &project.id, FIND)?;
            let fitting: Vec<&Work> = items.iter().filter(|item| item.id.starts_with(&id)).collect();
            match fitting.as_slice() {
                [item] => item.text.clone(),
                [] => {
                    return Err(Trouble::Arguments(format!(
                        "there is no item {}; work_list prints ids",
                        cut(&id, 80)
                    )));
                }
                _ => return Err(Trouble::Arguments(format!("several items begin with {}", cut(&id, 80)))),
            }
        }
        (None, Some(text)) => text,
        _ => return Err(Trouble::Arguments("pass text for a new item, or the id of one".to_owned())),
    };
    let task = Task { text, state, speaker: "assistant", project };
    let saved =
        drain::task(&memory.home, &task, Patience::AtMost(PATIENCE)).map_err(|error| match error {
            NoteError::Drain(error) => Trouble::Drain(error),
            other => Trouble::Arguments(cut(&other.to_string(), 300)),
        })?;
    let mut page = Page::new(BOUND);
    page.add(&format!("{} {} {}", saved.id, state.name(), gist(&saved.text, ITEM_CHARS)));
    let taken = match saved.redacted {
        0 => String::new(),
        n => format!(" Taken out as secret or private: {n}."),
    };
    let stored = if saved.is_stored { "Kept." } else { "Kept; it shows in a moment." };
    Ok(page.close(&format!("{stored}{taken}"), &secret))
}

fn items(memory: &Memory, project: &str, limit: Duration) -> Result<Vec<Work>, Trouble> {
    recall::work(&memory.home, project, &Deadline::after(limit))?.ok_or(Trouble::NoIndex)
}

fn line(item: &Work) -> String {
    let id = item.id.get(..12).unwrap_or(&item.id);
    let day = item.time.get(..10).unwrap_or_default();
    // What stands in the host's lists and in next steps, the assistant wrote.
    let who = if item.source == "user" { "user" } else { "assistant" };
    format!(
        "{id} {} {day} {} {}",
        item.state.name(),
        item.source,
        recall::quoted(who, &gist(&item.text, ITEM_CHARS))
    )
}
