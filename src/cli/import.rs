//! `sinker import`.

use super::exit::Failure;
use super::output::{self, Paint};
use super::{Exit, scope};
use crate::config::{Home, Project, Settings};
use crate::drain::{self, DrainError, Mode, Options, Outcome, Progress};
use crate::store::Reader;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Take in transcripts that are on disk already; returns when they are stored and searchable. Interrupted, it goes on where it stopped.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Transcripts, or folders with transcripts; without one, the host's own folder
    paths: Vec<PathBuf>,
    /// Put these sessions into this project, whatever they say: an id, a name or a path
    #[arg(long, value_name = "P")]
    project: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let paths = if args.paths.is_empty() {
        Settings::read(None).roots().into_iter().filter(|root| root.exists()).collect()
    } else {
        args.paths.iter().map(|p| std::path::absolute(p).unwrap_or_else(|_| p.clone())).collect::<Vec<_>>()
    };
    if paths.is_empty() {
        return Err(Failure::new("the host has kept no transcripts here")
            .hint("`sinker import PATH` takes them from another place; `sinker config show` names the host's folders")
            .exit(Exit::Nothing));
    }
    if let Some(missing) = paths.iter().find(|p| p.symlink_metadata().is_err()) {
        return Err(DrainError::NoSuchPath(missing.clone()).into());
    }
    let project = match &args.project {
        Some(wanted) => Some(given(home, wanted)?),
        None => None,
    };
    let outcome = import(home, args, paths, project)?;
    if args.json {
        output::json(&outcome);
    } else {
        let paint = Paint::new();
        let line = format!(
            "{} files, {} new observations, {} new documents",
            outcome.files, outcome.observations, outcome.documents
        );
        output::say(&format!("{} {line}", paint.good("imported")));
        if outcome.odd > 0 {
            let place = home.spool_odd();
            output::say(&format!(
                "{} lines could not be used; reasons are in {}",
                outcome.odd,
                place.display()
            ));
        }
        output::say(
            &paint.dim("`sinker search WORDS --all` looks through them; `sinker sessions --all` lists them"),
        );
    }
    match outcome.error {
        Some(error) => {
            Err(Failure::new(error).hint("run the same import again: it goes on where it stopped"))
        }
        None => Ok(Exit::Done),
    }
}

/// Does the work itself, or asks the drainer that holds the lock.
fn import(
    home: &Home,
    args: &Args,
    paths: Vec<PathBuf>,
    project: Option<Project>,
) -> Result<Outcome, Failure> {
    let options =
        Options { home: home.clone(), mode: Mode::Import, roots: paths.clone(), project: project.clone() };
    loop {
        let bar = bar(args.json);
        let done = drain::run(&options, &mut |progress| show(&bar, progress));
        bar.finish_and_clear();
        match done {
            Err(DrainError::Locked(_)) => {}
            done => return Ok(done?),
        }
        let id = project.as_ref().map(|p| p.id.clone());
        if let Some(reply) = drain::ask(home, "import", paths.clone(), id)? {
            return Ok(Outcome {
                entries: 0,
                files: reply.files,
                observations: reply.observations,
                documents: reply.documents,
                odd: reply.odd,
                error: reply.error,
            });
        }
    }
}

fn given(home: &Home, wanted: &str) -> Result<Project, Failure> {
    let id = scope::project(home, Some(wanted))?;
    let known = Reader::open(home).ok().and_then(|s| s.projects().ok()).unwrap_or_default();
    let known = known.into_iter().find(|p| p.id == id);
    let name = id.rsplit_once('-').map_or(id.as_str(), |(name, _)| name).to_owned();
    Ok(match known {
        Some(p) => Project { id: p.id, name: p.name, remote: p.remote, root: p.directory.into() },
        None => Project { name, remote: None, root: PathBuf::from(wanted), id },
    })
}

fn bar(json: bool) -> ProgressBar {
    let shown = !json && std::io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr_with_hz(8) } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(0), target);
    let style = "{bar:30} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left, {msg}";
    bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn show(bar: &ProgressBar, progress: &Progress) {
    let (bytes, total) = progress.bytes();
    let (files, all) = progress.files();
    if total > 0 {
        bar.set_length(total);
        bar.set_position(bytes.min(total));
        bar.set_message(format!("{files} of {all} files, {} observations", progress.observations()));
    }
}
