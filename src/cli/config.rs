//! `sinker config`.

use super::Exit;
use super::exit::Failure;
use super::output::{self, Paint};
use crate::config::{Home, Problem, Settings, user_config};
use crate::redact::OwnRules;
use clap::Subcommand;

/// Show or check the settings that hold in the working directory.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Each value and where it comes from
    Show {
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// What is wrong in the settings files
    Check {
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let here = std::env::current_dir().ok();
    let settings = Settings::read(here.as_deref());
    match args.what {
        What::Show { json } => show(&settings, json),
        What::Check { json } => check(&settings, json),
    }
}

fn show(settings: &Settings, json: bool) -> Result<Exit, Failure> {
    let home =
        Home::find().map_or("none: set SINKER_HOME or HOME".to_owned(), |h| h.root().display().to_string());
    if json {
        let file = user_config().map(|path| path.to_string_lossy().into_owned());
        output::json(&serde_json::json!({ "key": "settings_file", "value": file, "origin": "environment" }));
        output::json(&serde_json::json!({ "key": "home", "value": home, "origin": "environment" }));
        for (key, value, help) in settings.list() {
            output::json(&serde_json::json!({
                "key": key, "value": value.value, "origin": value.origin.to_string(), "help": help,
            }));
        }
        return Ok(Exit::Done);
    }
    let paint = Paint::new();
    output::say(&format!("{}  {home}", paint.bold("data directory")));
    let file = user_config().map_or("none: set SINKER_CONFIG or HOME".to_owned(), |path| {
        let missing = if path.is_file() { "" } else { " (not there: defaults hold)" };
        format!("{}{missing}", path.display())
    });
    output::say(&format!("{}  {file}", paint.bold("settings file")));
    for (key, value, help) in settings.list() {
        output::say(&format!(
            "{} = {}  {}",
            paint.bold(key),
            value.value,
            paint.dim(&value.origin.to_string())
        ));
        output::say(&format!("    {}", paint.dim(help)));
    }
    Ok(Exit::Done)
}

fn check(settings: &Settings, json: bool) -> Result<Exit, Failure> {
    // A rule of redaction is told to be wrong by who compiles it; what is wrong with the file itself is there twice.
    let own = OwnRules::of(settings).problems.into_iter().filter(|p| !settings.problems.contains(p));
    let problems: Vec<Problem> = settings.problems.iter().cloned().chain(own).collect();
    for problem in &problems {
        let path = problem.path.display().to_string();
        if json {
            output::json(&serde_json::json!({ "path": path, "key": problem.key, "problem": problem.what }));
        } else {
            output::say(&format!("{} {problem}", Paint::new().bad("problem")));
        }
    }
    if problems.is_empty() {
        if !json {
            output::say(&format!("{} no problems", Paint::new().good("ok")));
        }
        return Ok(Exit::Done);
    }
    Ok(Exit::Failed)
}
