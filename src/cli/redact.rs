//! `sinker redact`.

use super::Exit;
use super::exit::Failure;
use super::output::{self, Paint};
use crate::config::Home;
use crate::drain;

/// Redact anew what is stored, after the rules have changed.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["rescan"])))]
pub(super) struct Args {
    /// Redact everything that is stored by the rules in force: rows, revisions, titles, paths and the index
    #[arg(long)]
    rescan: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    debug_assert!(args.rescan);
    rescan(home, args.json)
}

fn rescan(home: &Home, json: bool) -> Result<Exit, Failure> {
    let reply = drain::order(home, "rescan", &serde_json::json!({}))?;
    if let Some(error) = reply.error {
        return Err(Failure::new(error).hint("run it again: what was redacted stays so"));
    }
    if json {
        output::json(&serde_json::json!({ "redacted": reply.redacted }));
    } else {
        output::say(&format!("{} {} texts", Paint::new().good("redacted anew"), reply.redacted));
    }
    Ok(Exit::Done)
}
