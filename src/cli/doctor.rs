//! `sinker doctor`.

use super::Exit;
use super::exit::Failure;
use super::output::{self, Paint};
use super::{install, service};
use crate::config::Home;
use crate::doctor::{self, Patient};
use crate::log;

/// Check that memory works here, from the host's settings to an answer; exit code 1 when something is wrong.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Only these checks
    #[arg(value_name = "CHECK", value_parser = clap::builder::PossibleValuesParser::new(doctor::names()))]
    checks: Vec<String>,
    /// Mend what is safe to mend in the data directory: missing folders, modes, stale marks
    #[arg(long)]
    fix: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    // A check that panics is told as one that failed, and the log says where.
    log::panics("doctor");
    let service = service::wanted(home)?;
    let program = service.program.clone();
    let patient = Patient::new(home.clone(), install::here()?, program, service, args.fix);
    let paint = Paint::new();
    let mut wrong = 0;
    for found in doctor::examine(&patient, &args.checks) {
        wrong += usize::from(!found.ok);
        if args.json {
            output::json(&found);
            continue;
        }
        let mark = match (found.ok, found.fixed) {
            (true, false) => paint.good("ok   "),
            (true, true) => paint.good("fixed"),
            (false, _) => paint.bad("wrong"),
        };
        output::say(&format!("{mark}  {:<14} {}", found.check, output::plain(&found.detail)));
        if !found.ok {
            output::say(&format!(
                "       {:<14} {}",
                "",
                paint.dim(&format!("hint: {}", output::plain(&found.hint)))
            ));
        }
    }
    if !args.json && wrong > 0 {
        output::complain(&format!("{wrong} checks found something wrong"));
    }
    Ok(if wrong == 0 { Exit::Done } else { Exit::Failed })
}
