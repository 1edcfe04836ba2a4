//! `sinker timeline`.

use super::exit::Failure;
use super::output::{self, Paint};
use super::{Exit, scope};
use crate::config::Home;
use crate::store::{Document, DocumentRow, Reader, Timeline};
use serde::Serialize;

/// Show what happened around a document, to a file, or lately in a project.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Around this document, in its session
    #[arg(long, value_name = "ID", conflicts_with = "file")]
    around: Option<String>,
    /// What touched this file: a path, or the end of one
    #[arg(long, value_name = "F")]
    file: Option<String>,
    /// This project: an id, a name or a path (default: the working directory's)
    #[arg(long, value_name = "P", conflicts_with = "all")]
    project: Option<String>,
    /// All projects
    #[arg(long)]
    all: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Moment<'a> {
    #[serde(flatten)]
    row: &'a DocumentRow,
    files: &'a [String],
    text: String,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let project = || match args.all {
        true => Ok(None),
        false => scope::project(home, args.project.as_deref()).map(Some),
    };
    let of = match (&args.around, &args.file) {
        (Some(id), _) => Timeline::Around(id.clone()),
        (None, Some(file)) => Timeline::File(file.clone(), project()?),
        (None, None) => Timeline::Newest(project()?),
    };
    let found = Reader::open_to_show(home)?.timeline(&of, args.limit.clamp(1, 10_000))?;
    for document in &found {
        if args.json {
            let text = document.text().chars().take(500).collect();
            output::json(&Moment { row: &document.row, files: &document.files, text });
        } else {
            print(document);
        }
    }
    if found.is_empty() && !args.json {
        output::complain("nothing is known of that");
        output::complain("hint: `--all` looks in every project, not only in that of the working directory");
    }
    Ok(if found.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn print(document: &Document) {
    let paint = Paint::new();
    let row = &document.row;
    let time = row.time.as_deref().and_then(|t| t.get(..16)).unwrap_or("no time         ").replace('T', " ");
    let who = if row.speaker.is_empty() { row.kind.as_str() } else { row.speaker.as_str() };
    let id = row.id.get(..12).unwrap_or(&row.id);
    let room = output::width().saturating_sub(time.len() + 12 + 12 + 6);
    let text = output::headline(&document.text(), room);
    output::say(&format!("{}  {who:<10}  {}  {text}", paint.dim(&time), paint.accent(id)));
}
