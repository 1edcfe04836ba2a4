//! `memory_save`: a note, written on behalf of the user. The one tool that writes.

use super::Memory;
use super::arguments::{Save, Scope};
use super::page::{Page, cut, gist};
use super::search::whole_project;
use super::tools::{self, Trouble};
use crate::drain::{self, Draft, NoteError, Patience};
use serde_json::{Map, Value};
use std::time::Duration;

/// Units: characters of an answer.
pub(super) const BOUND: usize = 2_000;
/// A drainer at work has so long to say that it is stored; after that the command stands, and is done later.
const PATIENCE: Duration = Duration::from_millis(1_200);
/// What the answer shows of a text.
const SHOWN_CHARS: usize = 1_200;

pub(super) fn answer(memory: &Memory, given: &Map<String, Value>) -> Result<String, Trouble> {
    let args: Save = tools::read(given)?;
    let secret = tools::secret(memory)?;
    let scope = Scope { project: args.project, all: false };
    let draft = Draft {
        text: args.text,
        files: args.files.or_else(|| args.id.is_none().then(Vec::new)),
        // Whoever asked for it: these are the assistant's words.
        speaker: "assistant",
        project: whole_project(memory, &scope, &secret)?,
        edits: args.id,
    };
    let saved =
        drain::note(&memory.home, &draft, Patience::AtMost(PATIENCE)).map_err(|error| match error {
            NoteError::Drain(error) => Trouble::Drain(error),
            other => Trouble::Arguments(cut(&other.to_string(), 300)),
        })?;
    let mut page = Page::new(BOUND);
    page.add(&format!("note {} project {}", saved.id, draft.project.id));
    page.add(&format!("(note) {}", gist(&saved.text, SHOWN_CHARS)));
    let taken = match saved.redacted {
        0 => String::new(),
        n => format!(" Taken out as secret or private: {n}."),
    };
    let stored =
        if saved.is_stored { "Kept; it can be found now." } else { "Kept; it can be found in a moment." };
    // Whoever trusts a rule of theirs has to know that it did not look at this.
    let doubt =
        drain::rules_in_doubt().map(|what| format!(" Warning: {}.", cut(&what, 300))).unwrap_or_default();
    Ok(page.close(&format!("{stored}{taken}{doubt}"), &secret))
}
