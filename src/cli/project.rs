//! `sinker project`.

use super::Exit;
use super::exit::Failure;
use super::output;
use crate::config::Home;
use crate::store::Reader;
use clap::Subcommand;

/// List projects.
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
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let What::List { json } = args.what;
    let projects = Reader::open_to_show(home)?.projects()?;
    if json {
        projects.iter().for_each(output::json);
    } else {
        let rows: Vec<Vec<String>> = projects
            .iter()
            .map(|p| {
                vec![
                    p.id.clone(),
                    output::count(p.sessions, "sessions"),
                    output::when(p.last.as_deref()),
                    p.remote.clone().unwrap_or_else(|| p.directory.clone()),
                ]
            })
            .collect();
        output::table(&rows).iter().for_each(|line| output::say(line));
    }
    Ok(if projects.is_empty() { Exit::Nothing } else { Exit::Done })
}
