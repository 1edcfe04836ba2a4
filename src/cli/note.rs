//! `sinker note`.

use super::exit::Failure;
use super::output::{self, Paint};
use super::{Exit, redact, scope};
use crate::config::Home;
use crate::drain::{self, Draft, NOTE_BYTES, NoteError, Patience};
use std::io::Read;

/// Keep a note: found by search, and given to sessions of its project where it fits. Secrets and `<private>` spans are taken out.
#[derive(clap::Args)]
pub(super) struct Args {
    /// What is to be remembered; `-` reads it from stdin
    text: String,
    /// The project that it belongs to: an id, a name or a path; without it the one of the working directory
    #[arg(long, value_name = "P", conflicts_with = "edit")]
    project: Option<String>,
    /// A file that it is about; may be given several times
    #[arg(long, value_name = "F")]
    file: Vec<String>,
    /// Write a new revision of this note: its id, or a beginning of it
    #[arg(long, value_name = "ID")]
    edit: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let text = if args.text == "-" { from_stdin()? } else { args.text.clone() };
    let draft = Draft {
        text,
        files: (!args.file.is_empty() || args.edit.is_none()).then(|| args.file.clone()),
        speaker: "user",
        project: scope::whole(home, args.project.as_deref())?,
        edits: args.edit.clone(),
    };
    redact::warn_of(&drain::unusable_rules());
    let saved = drain::note(home, &draft, Patience::Person(&mut output::complain))?;
    if args.json {
        output::json(&serde_json::json!({
            "id": saved.id, "project": draft.project.id, "redacted": saved.redacted,
        }));
        return Ok(Exit::Done);
    }
    let paint = Paint::new();
    output::say(&format!("{} {}", paint.good("noted"), paint.accent(&saved.id)));
    if saved.redacted > 0 {
        output::say(&format!("taken out of it, as secret or private: {}", saved.redacted));
    }
    Ok(Exit::Done)
}

fn from_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    // One byte more than there may be: then it is known to be too long.
    let limit = NOTE_BYTES as u64 + 1;
    let read = std::io::stdin().lock().take(limit).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new(format!("stdin cannot be read: {error}")))?;
    if bytes.len() > NOTE_BYTES {
        return Err(NoteError::Long(bytes.len()).into());
    }
    String::from_utf8(bytes).map_err(|_| Failure::new("the note is not UTF-8").exit(Exit::Usage))
}

impl From<NoteError> for Failure {
    fn from(error: NoteError) -> Self {
        let what = error.to_string();
        match error {
            NoteError::Empty => {
                Self::new(what).hint("sinker note 'the staging server is rebuilt on mondays'").exit(Exit::Usage)
            }
            NoteError::Long(_) => Self::new(what)
                .hint("keep the text in a file of the project and note where it lies: `sinker note TEXT --file F`")
                .exit(Exit::Usage),
            NoteError::LongItem(_) => Self::new(what).hint("`sinker note TEXT` keeps a longer text").exit(Exit::Usage),
            NoteError::Excluded(_) => Self::new(what)
                .hint("`sinker config show` names the setting ([capture] exclude, or enabled = false) and its file; `--project P` notes it elsewhere")
                .exit(Exit::Refused),
            NoteError::Files => Self::new(what).exit(Exit::Usage),
            NoteError::Unknown(_) => {
                Self::new(what).hint("`sinker search WORDS --kind note` prints ids").exit(Exit::Nothing)
            }
            NoteError::Refused(_) => Self::new(what).hint("`sinker note TEXT` keeps a new one"),
            NoteError::Drain(error) => error.into(),
        }
    }
}
