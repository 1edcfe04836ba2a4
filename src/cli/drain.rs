//! `sinker drain`.

use super::Exit;
use super::exit::Failure;
use super::output::{self, Paint};
use crate::config::{Home, Settings};
use crate::drain::{self, Mode, Options};
use std::path::PathBuf;

/// Bring spool and transcripts into the store and publish the index.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Drain what is there, then leave
    #[arg(long)]
    once: bool,
    /// Leave when nothing came for this long
    #[arg(long, value_name = "SECS", conflicts_with = "once")]
    idle_exit: Option<u32>,
    /// Print the result as JSON (with --once)
    #[arg(long)]
    json: bool,
    /// Only read this transcript and throw away what it gives: set by a drainer that fears it
    #[arg(long, hide = true, value_name = "PATH")]
    probe: Option<PathBuf>,
    /// Read a last line without a newline, too
    #[arg(long, hide = true, requires = "probe")]
    last_line: bool,
    /// Begin a session of its own: set by the hook that starts a drainer
    #[arg(long, hide = true)]
    detached: bool,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    if args.detached {
        // Refused for a group leader, who needs none.
        rustix::process::setsid().ok();
    }
    if let Some(path) = &args.probe {
        drain::probe(home, path, args.last_line)?;
        return Ok(Exit::Done);
    }
    let idle_exit_ms = args.idle_exit.map(|s| i64::from(s) * 1000);
    let mode = if args.once { Mode::Once } else { Mode::Serve { idle_exit_ms } };
    let options = Options { home: home.clone(), mode, roots: Settings::read(None).roots(), project: None };
    let outcome = drain::run(&options, &mut |_| {})?;
    if args.once && args.json {
        output::json(&outcome);
    } else if args.once {
        let paint = Paint::new();
        let line = format!(
            "{} entries, {} files, {} new observations, {} new documents",
            outcome.entries, outcome.files, outcome.observations, outcome.documents
        );
        output::say(&format!("{} {line}", paint.good("drained")));
        if outcome.odd > 0 {
            output::say(&format!(
                "{} {} set aside; reasons are in {}",
                paint.bad("odd"),
                outcome.odd,
                home.spool_odd().display()
            ));
        }
    }
    match outcome.error {
        Some(error) if args.once => {
            Err(Failure::new(error).hint("`sinker drain --once` tries again; log/drain.log has more"))
        }
        _ => Ok(Exit::Done),
    }
}
