//! `sinker project`.

use super::exit::Failure;
use super::{Exit, output, scope};
use crate::config::{Home, Project};
use crate::drain;
use crate::store::{ProjectRow, Reader};
use clap::Subcommand;
use serde::Serialize;
use serde_json::json;
use std::path::Path;

/// List projects, or say that two are one.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Every project, the one used last first
    List {
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Say that a project is another one: a renamed remote, a folder that moved
    Link {
        /// The project that it was: an id, a name or a path
        old: String,
        /// The project that it is (default: the working directory's)
        new: Option<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Take a link back
    Unlink {
        /// The id that was linked
        old: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    match &args.what {
        What::List { json } => list(home, *json),
        What::Link { old, new, json } => {
            let from = scope::whole(home, Some(old))?;
            let to = scope::whole(home, new.as_deref())?;
            if from.id == to.id {
                return Err(Failure::new(format!("{} is one project already", to.id)).exit(Exit::Usage));
            }
            change(home, &from, Some(&to), *json)
        }
        What::Unlink { old, json } => {
            let known = Reader::open_to_show(home)?.aliases()?;
            let mut fitting = known.iter().filter(|(id, _)| id.starts_with(old.as_str()));
            let (Some((id, _)), None) = (fitting.next(), fitting.next()) else {
                return Err(Failure::new(format!("{old} is linked to no project"))
                    .hint("`sinker project list --json` shows what is linked")
                    .exit(Exit::Nothing));
            };
            let name = id.rsplit_once('-').map_or(id.as_str(), |(name, _)| name).to_owned();
            let was = Project { id: id.clone(), name, remote: None, root: "".into(), mark: None };
            change(home, &was, None, *json)
        }
    }
}

fn change(home: &Home, old: &Project, new: Option<&Project>, json: bool) -> Result<Exit, Failure> {
    let what = json!({ "old": old, "new": new });
    let reply = drain::order(home, "link", &what, &mut output::complain)?;
    if let Some(error) = reply.error {
        return Err(Failure::new(error));
    }
    let to = new.map_or(old.id.as_str(), |new| new.id.as_str());
    if json {
        output::json(&json!({ "old": old.id, "new": new.map(|new| &new.id), "sessions": reply.files }));
    } else {
        let moved = output::count(reply.files, "sessions");
        output::say(&format!("{moved} now of {to}; `sinker project unlink {}` takes it back", old.id));
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    row: &'a ProjectRow,
    /// Ids that are this project, too.
    aliases: Vec<&'a str>,
    /// Its directory is not there any more.
    gone: bool,
}

fn list(home: &Home, json: bool) -> Result<Exit, Failure> {
    let store = Reader::open_to_show(home)?;
    let (projects, known) = (store.projects()?, store.aliases()?);
    let rows: Vec<Row<'_>> = projects
        .iter()
        .map(|row| {
            let own = known.iter().filter(|(_, new)| *new == row.id);
            let gone =
                row.remote.is_none() && !row.directory.is_empty() && !Path::new(&row.directory).exists();
            Row { row, aliases: own.map(|(old, _)| old.as_str()).collect(), gone }
        })
        .collect();
    if json {
        rows.iter().for_each(output::json);
    } else {
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|Row { row, aliases, gone }| {
                let mut place = row.remote.clone().unwrap_or_else(|| row.directory.clone());
                if *gone {
                    place.push_str(" (gone)");
                }
                if !aliases.is_empty() {
                    place.push_str(&format!(", was {}", aliases.join(", ")));
                }
                vec![
                    row.id.clone(),
                    output::count(row.sessions, "sessions"),
                    output::when(row.last.as_deref()),
                    place,
                ]
            })
            .collect();
        output::table(&cells).iter().for_each(|line| output::say(line));
    }
    Ok(if projects.is_empty() { Exit::Nothing } else { Exit::Done })
}
