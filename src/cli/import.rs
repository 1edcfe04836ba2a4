//! `sinker import`.

use super::exit::Failure;
use super::output::{self, Paint};
use super::{Exit, redact, scope};
use crate::config::{Capture, Home, Project, Secret, Settings};
use crate::drain::{self, DrainError, Mode, Options, Outcome, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Take in transcripts that are on disk already, or what `sinker export` wrote; returns when they are stored and searchable. Interrupted, it goes on where it stopped.
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
    let odd = |path: &&PathBuf| path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
    if let Some(odd) = paths.iter().find(odd) {
        return Err(Failure::new(format!("{} is neither a file nor a folder", odd.display()))
            .hint("a transcript is a regular file, such as `~/.claude/projects/*/*.jsonl`")
            .exit(Exit::Usage));
    }
    let project = match &args.project {
        Some(wanted) => {
            let project = scope::whole(home, Some(wanted))?;
            refuse_excluded(home, &project)?;
            Some(project)
        }
        None => None,
    };
    let (exports, paths) = exports(paths)?;
    redact::warn_of(&drain::unusable_rules());
    let mut outcome = Outcome::default();
    for path in &exports {
        if project.is_some() {
            return Err(Failure::new(format!(
                "{} is an export: its sessions keep their projects",
                path.display()
            ))
            .hint("sinker import FILE, without --project")
            .exit(Exit::Usage));
        }
        let what = serde_json::json!({ "path": path });
        add(&mut outcome, &drain::order(home, "load", &what, &mut output::complain)?);
    }
    if !paths.is_empty() && outcome.error.is_none() {
        let other = import(home, args, paths, project)?;
        outcome = Outcome {
            files: outcome.files + other.files,
            observations: outcome.observations + other.observations,
            documents: outcome.documents + other.documents,
            odd: outcome.odd + other.odd,
            passed: outcome.passed + other.passed,
            ..other
        };
    }
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
        if outcome.passed > 0 {
            output::say(&format!(
                "{} transcripts, sessions or notes were passed over: `sinker config show` names the excluded and switched-off projects",
                outcome.passed
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
        if let Some(reply) = drain::ask(home, "import", paths.clone(), id, &mut output::complain)? {
            return Ok(Outcome {
                entries: 0,
                files: reply.files,
                observations: reply.observations,
                documents: reply.documents,
                odd: reply.odd,
                passed: reply.passed,
                error: reply.error,
            });
        }
    }
}

/// Exports among the paths, and the others. Errors: an export of a newer version.
fn exports(paths: Vec<PathBuf>) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Failure> {
    let (mut exports, mut others) = (Vec::new(), Vec::new());
    for path in paths {
        match drain::export_head(&path) {
            Some(head) if head.sinker_export > drain::EXPORT_FORMAT => {
                let what = format!(
                    "{} is an export of format {}, newer than this version knows",
                    path.display(),
                    head.sinker_export
                );
                return Err(Failure::new(what)
                    .hint("update Sinker; nothing was changed")
                    .exit(Exit::Refused));
            }
            // The drainer that takes it in follows no link.
            Some(_) => exports.push(path.canonicalize().unwrap_or(path)),
            None => others.push(path),
        }
    }
    Ok((exports, others))
}

fn add(outcome: &mut Outcome, reply: &drain::Reply) {
    outcome.files += reply.files;
    outcome.observations += reply.observations;
    outcome.documents += reply.documents;
    outcome.odd += reply.odd;
    outcome.passed += reply.passed;
    outcome.error.clone_from(&reply.error);
}

/// Errors: the settings keep the project out.
fn refuse_excluded(home: &Home, project: &Project) -> Result<(), Failure> {
    let Project { id, name, root, .. } = project;
    let capture = Capture::of(&Settings::read(Some(root)));
    let secret = || Secret::read(home).ok().flatten();
    let out = capture.names(id)
        || capture.names(name)
        || (root.is_absolute() && capture.passes(root, secret).is_some());
    if !out {
        return Ok(());
    }
    Err(Failure::new(format!("nothing is stored of the project {id}: it is excluded, or switched off"))
        .hint(
            "`sinker config show` names `capture.exclude` and `capture.enabled`, and the file they come from",
        )
        .exit(Exit::Refused))
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
