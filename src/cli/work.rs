//! `sinker work`.

use super::exit::Failure;
use super::output::{self, Paint};
use super::{Exit, redact, scope};
use crate::config::{Home, Project, Secret};
use crate::drain::{self, Patience, Task};
use crate::recall::{self, Deadline, Work};
use crate::work::State;
use clap::Subcommand;
use serde_json::json;

/// Open work of a project: written down by hand, from the host's todo lists, and next steps that nothing took up.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Write an item down; one that is there already is open again
    Add {
        /// What is to be done
        text: String,
        #[command(flatten)]
        of: Of,
    },
    /// Show what is being done and what is open
    List {
        /// Show what is done and dropped, too
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        of: Of,
    },
    /// Say that somebody works on it
    Doing(One),
    /// Say that it is done
    Done(One),
    /// Say that it is not to be done any more
    Drop(One),
}

#[derive(clap::Args)]
struct Of {
    /// This project: an id, a name or a path (default: the working directory's)
    #[arg(long, value_name = "P")]
    project: Option<String>,
    /// Print one JSON object (list: one a line)
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct One {
    /// Its id, or a beginning of it that fits only one
    id: String,
    #[command(flatten)]
    of: Of,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    match &args.what {
        What::Add { text, of } => {
            redact::warn_of(&drain::unusable_rules());
            let project = scope::whole(home, of.project.as_deref())?;
            write(home, project, text, State::Open, of.json)
        }
        What::List { all, of } => list(home, *all, of),
        What::Doing(one) => set(home, one, State::Doing),
        What::Done(one) => set(home, one, State::Done),
        What::Drop(one) => set(home, one, State::Dropped),
    }
}

fn known(home: &Home, project: &str) -> Result<Vec<Work>, Failure> {
    Ok(recall::work(home, project, &Deadline::never())?.unwrap_or_default())
}

fn list(home: &Home, all: bool, of: &Of) -> Result<Exit, Failure> {
    let project = scope::project(home, of.project.as_deref())?;
    let mut items = known(home, &project)?;
    items.retain(|item| all || item.state.is_open());
    if of.json {
        items.iter().for_each(output::json);
    } else {
        let paint = Paint::new();
        let room = output::width().saturating_sub(12 + 2 + 8 + 10 + 2 + 10 + 2);
        for item in &items {
            let id = item.id.get(..12).unwrap_or(&item.id);
            let day = item.time.get(..10).unwrap_or_default();
            output::say(&format!(
                "{}  {:<8}{}  {:<10}{}",
                paint.accent(id),
                item.state.name(),
                paint.dim(day),
                item.source,
                output::headline(&item.text, room)
            ));
        }
        if items.is_empty() {
            output::complain("nothing is open in this project");
            output::complain(
                "hint: `sinker work add TEXT` writes an item down, `sinker work list --all` shows what is done",
            );
        }
    }
    Ok(if items.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn set(home: &Home, one: &One, state: State) -> Result<Exit, Failure> {
    let project = scope::whole(home, one.of.project.as_deref())?;
    let items = known(home, &project.id)?;
    let mut fitting = items.iter().filter(|item| item.id.starts_with(&one.id));
    let item = match (fitting.next(), fitting.next()) {
        (Some(item), None) => item,
        (None, _) => {
            return Err(Failure::new(format!("there is no item {} in {}", one.id, project.name))
                .hint("`sinker work list --all` prints ids; `--project P` looks elsewhere")
                .exit(Exit::Nothing));
        }
        (Some(_), Some(_)) => {
            return Err(Failure::new(format!("several items begin with {}", one.id))
                .hint("`sinker work list --all --json` prints whole ids")
                .exit(Exit::Usage));
        }
    };
    write(home, project, &item.text, state, one.of.json)
}

fn write(home: &Home, project: Project, text: &str, state: State, json: bool) -> Result<Exit, Failure> {
    // A store that is not there yet is made with its secret.
    Secret::open(home).map_err(|e| Failure::new(e.to_string()))?;
    let task = Task { text: text.to_owned(), state, speaker: "user", project };
    let saved = drain::task(home, &task, Patience::Person(&mut output::complain))?;
    if json {
        output::json(&json!({
            "id": saved.id, "state": state, "text": saved.text, "project": task.project.id, "redacted": saved.redacted,
        }));
        return Ok(Exit::Done);
    }
    let paint = Paint::new();
    output::say(&format!("{} {}", paint.good(state.name()), paint.accent(&saved.id)));
    if saved.redacted > 0 {
        output::say(&format!("taken out of it, as secret or private: {}", saved.redacted));
    }
    Ok(Exit::Done)
}
