//! Writing an item of open work down, or saying where it stands: redacted here, kept like a note (D2).

use super::gate::Gate;
use super::notes::{NoteError, Saved, order};
use super::run::start;
use super::{Patience, Reply};
use crate::config::{Home, Project, Secret};
use crate::redact::{Redactor, Report};
use crate::store::Note;
use crate::work::{self, State};
use crate::{clock, visible};

/// A longer text is no item. Units: bytes.
pub const ITEM_BYTES: usize = 2_000;

/// An item as somebody wrote it: not redacted.
#[derive(Debug, Clone)]
pub struct Task {
    /// What is to be done.
    pub text: String,
    /// Where it stands.
    pub state: State,
    /// `user` or `assistant`.
    pub speaker: &'static str,
    /// Where it belongs.
    pub project: Project,
}

/// Redacts an item and has it stored; the same words in a project are the same item. `patience`: how long a running drainer is waited for.
///
/// Errors: [`NoteError`].
pub fn task(home: &Home, task: &Task, mut patience: Patience<'_>) -> Result<Saved, NoteError> {
    if task.text.len() > ITEM_BYTES {
        return Err(NoteError::LongItem(task.text.len()));
    }
    if Gate::new(home).passes_project(&task.project) {
        return Err(NoteError::Excluded(task.project.name.clone()));
    }
    let redactor = Redactor::new(&Secret::open(home).map_err(start)?);
    let mut report = Report::default();
    let mut say = |text: &str| redactor.clean(text, &mut report).into_owned();
    let line = task.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = say(&line);
    let withheld =
        text.starts_with("[redacted:private:") && text.matches('[').count() == 1 && text.ends_with(']');
    if withheld || !visible::shows(&text) || work::key(&text).is_empty() {
        return Err(NoteError::Empty);
    }
    let project = &task.project;
    let project = Project {
        id: project.id.clone(),
        name: say(&project.name),
        remote: project.remote.as_deref().map(&mut say),
        root: say(&project.root.to_string_lossy()).into(),
        mark: project.mark.clone(),
    };
    let now = clock::now().0;
    let note = Note {
        id: work::id(&project.id, &text),
        text: work::kept(task.state, &text),
        files: None,
        speaker: task.speaker.to_owned(),
        time_ms: now,
        at_ms: now,
        project: Some(project),
    };
    let what = serde_json::to_value(&note).unwrap_or_default();
    let saved = |is_stored| Saved { id: note.id.clone(), text, redacted: report.total(), is_stored };
    match order(home, &what, &mut patience)? {
        Some(Reply { error: Some(error), .. }) => Err(NoteError::Refused(error)),
        Some(_) => Ok(saved(true)),
        None => Ok(saved(false)),
    }
}
