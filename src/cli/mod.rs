//! The command line: one file a subcommand. At this edge errors become *what failed*, *why*, and a `hint:` that can be run.

mod config;
mod consent;
mod demo;
mod doctor;
mod drain;
mod exit;
mod export;
mod forget;
mod import;
mod index;
mod inspect;
mod install;
mod mcp;
mod note;
mod output;
mod project;
mod redact;
mod retain;
mod scope;
mod search;
mod service;
mod sessions;
mod show;
mod status;
mod timeline;
mod uninstall;
mod work;

use crate::config::{Home, Look};
use crate::{fs, log};
use clap::{Parser, Subcommand};
pub use exit::Exit;
use exit::Failure;
use std::process::ExitCode;

/// A memory for Claude Code: keeps what sessions said, finds it again in milliseconds.
#[derive(Parser)]
#[command(name = "sinker", version, max_term_width = 110, after_help = AFTER)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "Hooks of the host call `sinker hook claude <event>`; a person needs none of it.
Data: $SINKER_HOME, else the platform's data directory. Settings: `sinker config show`.
Exit codes: 0 done, 1 failed, 2 usage, 3 nothing found or not yet, 4 refused (newer format, lock held).";

#[derive(Subcommand)]
enum Command {
    /// Show the whole way on shipped sessions, in a temporary home
    Demo(demo::Args),
    /// Enter Sinker in Claude Code's settings: hooks and MCP server
    Install(install::Args),
    /// Take it out again
    Uninstall(uninstall::Args),
    /// Find past work
    Search(search::Args),
    /// Show one document whole
    Show(show::Args),
    /// Show what happened around a document, to a file, or lately
    Timeline(timeline::Args),
    /// List sessions
    Sessions(sessions::Args),
    /// Keep a note
    Note(note::Args),
    /// Write open work down, list it, say that it is done
    Work(work::Args),
    /// Show whether everything is stored and searchable
    Status(status::Args),
    /// Take in transcripts that are on disk already
    Import(import::Args),
    /// Write what is stored as JSON lines, for `sinker import`
    Export(export::Args),
    /// Bring spool and transcripts into the store and publish the index
    Drain(drain::Args),
    /// List what is stored, row by row
    Inspect(inspect::Args),
    /// Forget for good: documents, sessions, a project, what is old, or what holds a text
    Forget(forget::Args),
    /// Take away what is too old or too much, by the rules in the settings
    Retain(retain::Args),
    /// Report which secrets lie in files, or redact anew what is stored
    Redact(redact::Args),
    /// Check or rebuild the index
    Index(index::Args),
    /// Show or check the settings
    Config(config::Args),
    /// List projects, or say that two are one
    Project(project::Args),
    /// Serve memory to the host as tools (MCP over stdin and stdout)
    Mcp(mcp::Args),
    /// Check that memory works here, from the host's settings to an answer
    Doctor(doctor::Args),
    /// Keep a drainer running from the login on, as a service of the user's own
    Service(service::Args),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            // Help and version go to stdout, mistakes to stderr; a closed pipe is nobody's fault.
            drop(error.print());
            return code.into();
        }
    };
    match run(cli.command) {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report().into(),
    }
}

fn run(command: Command) -> Result<Exit, Failure> {
    // These two need no data directory of their own.
    match command {
        Command::Demo(args) => return demo::run(&args),
        Command::Config(args) => return config::run(&args),
        _ => {}
    }
    let Some(home) = Home::find() else {
        return Err(Failure::new("there is no data directory: neither SINKER_HOME nor HOME is set")
            .hint("SINKER_HOME=/path sinker status"));
    };
    // Doctor says what is wrong; an uninstall follows no link, and may have to take such a directory away.
    let home = match command {
        Command::Doctor(_) | Command::Uninstall(_) => home,
        _ => home.trusted(Look::Whole)?,
    };
    // These write files of the user's, too, and start programs that do.
    if !matches!(
        command,
        Command::Install(_) | Command::Uninstall(_) | Command::Doctor(_) | Command::Service(_)
    ) {
        fs::private_umask();
    }
    match command {
        // No log: an uninstall must not leave a data directory behind that it has just removed.
        Command::Install(args) => install::run(&home, &args),
        Command::Uninstall(args) => uninstall::run(&home, &args),
        Command::Drain(args) => {
            log::open(&home, "drain");
            log::panics("drain");
            drain::run(&home, &args)
        }
        Command::Mcp(args) => {
            log::open(&home, "mcp");
            log::panics("mcp");
            mcp::run(&home, &args)
        }
        command => {
            log::open(&home, "cli");
            read(&home, command).inspect_err(|failure| failure.note(&home))
        }
    }
}

fn read(home: &Home, command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Search(args) => search::run(home, &args),
        Command::Show(args) => show::run(home, &args),
        Command::Timeline(args) => timeline::run(home, &args),
        Command::Sessions(args) => sessions::run(home, &args),
        Command::Note(args) => note::run(home, &args),
        Command::Work(args) => work::run(home, &args),
        Command::Status(args) => status::run(home, &args),
        Command::Import(args) => import::run(home, &args),
        Command::Export(args) => export::run(home, &args),
        Command::Inspect(args) => inspect::run(home, &args),
        Command::Forget(args) => forget::run(home, &args),
        Command::Retain(args) => retain::run(home, &args),
        Command::Redact(args) => redact::run(home, &args),
        Command::Index(args) => index::run(home, &args),
        Command::Project(args) => project::run(home, &args),
        Command::Service(args) => service::run(home, &args),
        Command::Doctor(args) => doctor::run(home, &args),
        Command::Demo(_)
        | Command::Config(_)
        | Command::Drain(_)
        | Command::Mcp(_)
        | Command::Install(_)
        | Command::Uninstall(_) => Ok(Exit::Usage),
    }
}
