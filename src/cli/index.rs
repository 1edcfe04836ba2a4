//! `sinker index`.

use super::Exit;
use super::exit::Failure;
use super::output::{self, Paint};
use crate::config::Home;
use crate::drain::{self, DrainError};
use crate::index;
use crate::store::Reader;
use clap::Subcommand;

/// Check or rebuild the index.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Compare the index with the store, and check its files
    Verify {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Make the index anew from the store; the old one answers meanwhile
    Rebuild {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    match args.what {
        What::Verify { json } => verify(home, json),
        What::Rebuild { json } => rebuild(home, json),
    }
}

fn verify(home: &Home, json: bool) -> Result<Exit, Failure> {
    let mut ids = Vec::new();
    Reader::open(home)?.each_id(|id| ids.push(id))?;
    let report = index::verify(home, &mut ids.into_iter())?;
    if json {
        output::json(&report);
    } else if report.ok {
        output::say(&format!("{} the index holds exactly what the store holds", Paint::new().good("ok")));
    } else {
        output::say(&format!(
            "{} {} documents missing, {} too many, damaged files: {}",
            Paint::new().bad("not ok"),
            report.missing,
            report.extra,
            if report.bad_files.is_empty() { "none".to_owned() } else { report.bad_files.join(", ") }
        ));
        output::complain("hint: `sinker index rebuild` makes it anew from the store");
    }
    Ok(if report.ok { Exit::Done } else { Exit::Failed })
}

fn rebuild(home: &Home, json: bool) -> Result<Exit, Failure> {
    drop(Reader::open(home)?);
    let documents = loop {
        match drain::rebuild(home) {
            Err(DrainError::Locked(_)) => {}
            done => break done?,
        }
        if let Some(reply) = drain::ask(home, "rebuild", Vec::new(), None, &mut output::complain)? {
            if let Some(error) = reply.error {
                return Err(Failure::new(error).hint("log/drain.log has more"));
            }
            break reply.documents;
        }
    };
    if json {
        output::json(&serde_json::json!({ "documents": documents }));
    } else {
        output::say(&format!("{} {documents} documents", Paint::new().good("rebuilt")));
    }
    Ok(Exit::Done)
}
