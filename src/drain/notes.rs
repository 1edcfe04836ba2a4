//! Writing a note: redacted here, by the process that was asked, then given to whoever holds the lock (D2).

use super::commands::{self, Patience, Waited};
use super::gate::Gate;
use super::run::start;
use super::work::ITEM_BYTES;
use super::{DrainError, Reply, asks};
use crate::config::{Home, Project, Secret};
use crate::redact::{Redactor, Report};
use crate::store::{Note, Reader, StoreError};
use crate::{clock, visible};

/// A longer text is a document, not a note. Units: bytes.
pub const NOTE_BYTES: usize = 64 * 1024;
/// Files that one note can name.
const FILES: usize = 100;
/// A longer path is none. Units: bytes.
const FILE_BYTES: usize = 4_096;

/// A note as somebody wrote it: not redacted.
#[derive(Debug, Clone)]
pub struct Draft {
    /// What is to be remembered.
    pub text: String,
    /// Paths that it is about; `None` leaves those of the note that is edited.
    pub files: Option<Vec<String>>,
    /// `user` or `assistant`.
    pub speaker: &'static str,
    /// Where a new one belongs.
    pub project: Project,
    /// The note that is edited: its id, or a beginning of it that fits only one.
    pub edits: Option<String>,
}

/// What was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The note's id.
    pub id: String,
    /// Its text, as it is kept.
    pub text: String,
    /// Secrets and private spans taken out of it.
    pub redacted: u64,
    /// It is stored and can be found; else a drainer has it on its list.
    pub is_stored: bool,
}

/// Why a note was not kept.
#[derive(Debug, thiserror::Error)]
pub enum NoteError {
    /// The user's: nothing in it.
    #[error("a note needs text")]
    Empty,
    /// The user's: too much in it.
    #[error("a note holds at most {} KiB; this one has {}", NOTE_BYTES / 1024, .0.div_ceil(1024))]
    Long(usize),
    /// The user's: too much in an item of work.
    #[error("an item of work holds at most {ITEM_BYTES} bytes; this one has {0}")]
    LongItem(usize),
    /// The user's: too many paths, or one that is none.
    #[error("a note names at most {FILES} files, none of them longer than {FILE_BYTES} bytes")]
    Files,
    /// The user's: no note of that id.
    #[error("there is no note {0}")]
    Unknown(String),
    /// The user's: nothing of this project is to be stored.
    #[error("nothing is kept of the project {0}: the settings leave it out")]
    Excluded(String),
    /// It was refused, or could not be done.
    #[error("{0}")]
    Refused(String),
    /// The drainer, the store or the disk.
    #[error(transparent)]
    Drain(#[from] DrainError),
}

/// Redacts a note and has it stored. `patience`: how long a running drainer is waited for.
///
/// Errors: [`NoteError`].
pub fn note(home: &Home, draft: &Draft, mut patience: Patience<'_>) -> Result<Saved, NoteError> {
    if draft.text.len() > NOTE_BYTES {
        return Err(NoteError::Long(draft.text.len()));
    }
    let named = draft.files.iter().flatten();
    if named.clone().count() > FILES || named.clone().any(|file| file.is_empty() || file.len() > FILE_BYTES) {
        return Err(NoteError::Files);
    }
    if draft.edits.is_none() && Gate::new(home).passes_project(&draft.project) {
        return Err(NoteError::Excluded(draft.project.name.clone()));
    }
    let redactor = Redactor::new(&Secret::open(home).map_err(start)?);
    let mut report = Report::default();
    let mut say = |text: &str| redactor.clean(text, &mut report).into_owned();
    let text = say(draft.text.trim());
    let kept = text.trim();
    let withheld =
        kept.starts_with("[redacted:private:") && kept.matches('[').count() == 1 && kept.ends_with(']');
    if withheld || !visible::shows(kept) {
        return Err(NoteError::Empty);
    }
    let files = draft.files.as_ref().map(|files| files.iter().map(|file| say(file)).collect());
    let project = &draft.project;
    let project = Project {
        id: project.id.clone(),
        name: say(&project.name),
        remote: project.remote.as_deref().map(&mut say),
        root: say(&project.root.to_string_lossy()).into(),
        mark: project.mark.clone(),
    };
    let now = clock::now().0;
    let (id, at_ms, project) = match &draft.edits {
        None => (Note::new_id().map_err(start)?, now, Some(project)),
        Some(wanted) => {
            let known = match Reader::open_to_show(home) {
                Ok(store) => store.note(wanted).map_err(DrainError::from)?,
                Err(StoreError::Absent(_)) => None,
                Err(error) => return Err(DrainError::from(error).into()),
            };
            let known = known.ok_or_else(|| NoteError::Unknown(wanted.clone()))?;
            // Later than what it replaces, whatever the clock says.
            (known.id, now.max(known.at_ms.saturating_add(1)), None)
        }
    };
    let speaker = draft.speaker.to_owned();
    let note = Note { id, text, files, speaker, time_ms: now, at_ms, project };
    let (redacted, text) = (report.total(), note.text.clone());
    let what = serde_json::to_value(&note).unwrap_or_default();
    let saved = |id: String, is_stored| Saved { id, text, redacted, is_stored };
    match order(home, &what, &mut patience)? {
        Some(Reply { error: Some(error), .. }) => Err(NoteError::Refused(error)),
        Some(reply) => Ok(saved(reply.id.unwrap_or(note.id), true)),
        None => Ok(saved(note.id, false)),
    }
}

/// As [`commands::order`], but with an end to its patience: `None` when the drainer has it and has not answered yet.
pub(super) fn order(
    home: &Home,
    what: &serde_json::Value,
    patience: &mut Patience<'_>,
) -> Result<Option<Reply>, DrainError> {
    loop {
        match asks::here(home, "note", what) {
            Err(DrainError::Locked(_)) => {}
            done => return done.map(Some),
        }
        match commands::ask_for(home, "note", what, patience)? {
            Waited::Answered(reply) => return Ok(Some(*reply)),
            Waited::TakenBack => {}
            Waited::Waits => return Ok(None),
        }
    }
}
