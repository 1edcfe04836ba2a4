//! `sinker sessions`.

use super::exit::Failure;
use super::output::{self, Paint};
use super::{Exit, scope};
use crate::config::Home;
use crate::store::Reader;

/// List sessions, newest first.
#[derive(clap::Args)]
pub(super) struct Args {
    /// This project: an id, a name or a path (default: the working directory's)
    #[arg(long, value_name = "P", conflicts_with = "all")]
    project: Option<String>,
    /// All projects
    #[arg(long)]
    all: bool,
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let project = if args.all { None } else { Some(scope::project(home, args.project.as_deref())?) };
    let mut sessions = Reader::open_to_show(home)?.sessions(project.as_deref())?;
    sessions.truncate(args.limit.unwrap_or(usize::MAX));
    if args.json {
        sessions.iter().for_each(output::json);
    } else {
        let rows: Vec<Vec<String>> = sessions
            .iter()
            .map(|s| {
                let ended = s.reason.as_deref().map_or_else(String::new, |r| format!("ended: {r}"));
                vec![
                    s.id.get(..8).unwrap_or(&s.id).to_owned(),
                    output::when(s.last.as_deref()),
                    format!("{} obs", s.observations),
                    output::headline(&ended, 24),
                    if args.all { s.project.clone() } else { String::new() },
                    s.title.clone().unwrap_or_default(),
                ]
            })
            .collect();
        output::table(&rows).iter().for_each(|line| output::say(line));
    }
    if sessions.is_empty() && !args.json {
        let place = project.map_or("at all".to_owned(), |p| format!("of project {p}"));
        output::complain(&format!("no sessions {place}"));
        output::complain("hint: `sinker sessions --all` lists those of every project");
    } else if !args.json {
        output::say(&Paint::new().dim(&output::count(sessions.len() as u64, "sessions")));
    }
    Ok(if sessions.is_empty() { Exit::Nothing } else { Exit::Done })
}
