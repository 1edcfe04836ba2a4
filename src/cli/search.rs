//! `sinker search`.

use super::exit::Failure;
use super::output::{self, Paint};
use super::{Exit, scope};
use crate::clock::{self, Stopwatch};
use crate::config::{Home, Settings};
use crate::index;
use crate::recall::{self, Ask, By, Deadline, Hit, Parts};
use crate::store::Reader;
use serde::Serialize;

/// Find past work.
#[derive(clap::Args)]
pub(super) struct Args {
    /// What to look for: any words, names, paths or error text
    query: Vec<String>,
    /// This project: an id, a name or a path (default: the working directory's)
    #[arg(long, value_name = "P", conflicts_with = "all")]
    project: Option<String>,
    /// All projects
    #[arg(long)]
    all: bool,
    /// Only this session
    #[arg(long, value_name = "S")]
    session: Option<String>,
    /// Only documents of this kind
    #[arg(long, value_name = "K", value_parser = KINDS)]
    kind: Option<String>,
    /// Only what this one said
    #[arg(long, value_name = "W", value_parser = SPEAKERS)]
    speaker: Option<String>,
    /// What touches this file: a path, or the end of one
    #[arg(long, value_name = "F")]
    file: Option<String>,
    /// What this slash command was about
    #[arg(long, value_name = "NAME")]
    command: Option<String>,
    /// Only what this host wrote
    #[arg(long, value_name = "H", conflicts_with = "all_hosts")]
    host: Option<String>,
    /// What any host wrote (the default as long as there is one)
    #[arg(long)]
    all_hosts: bool,
    /// Only documents of this status
    #[arg(long, value_name = "X", value_parser = ["current", "superseded", "conflicted"])]
    status: Option<String>,
    /// Not older: a date, a time, or an age such as 3d, 12h
    #[arg(long, value_name = "T")]
    since: Option<String>,
    /// One hit a record, or one a session as hooks hand them out
    #[arg(long, value_enum, default_value_t = Unit::Record)]
    by: Unit,
    /// At most so many hits
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Say how each score came about
    #[arg(long)]
    explain: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const KINDS: [&str; 9] = [
    "observation",
    "outcome",
    "checkpoint",
    "session-summary",
    "session",
    "claim",
    "note",
    "work",
    "failure",
];
const SPEAKERS: [&str; 6] = ["user", "assistant", "tool", "web", "agent", "host"];

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Unit {
    Record,
    Session,
}

#[derive(Serialize)]
struct Found<'a> {
    query: &'a str,
    took_ms: f64,
    hits: &'a [Hit],
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let watch = Stopwatch::start();
    let text = args.query.join(" ");
    // A session that is named is looked into wherever it ran.
    let everywhere = args.all || (args.session.is_some() && args.project.is_none());
    let project = if everywhere { None } else { Some(scope::project(home, args.project.as_deref())?) };
    let session = match &args.session {
        Some(wanted) => {
            let known = Reader::open(home).ok().and_then(|store| store.session_id(wanted).ok().flatten());
            Some(known.unwrap_or_else(|| wanted.clone()))
        }
        None => None,
    };
    let since_ms = match &args.since {
        Some(since) => Some(parse_since(since)?),
        None => None,
    };
    let ask = Ask {
        text: text.clone(),
        project: project.clone(),
        session,
        kind: args.kind.clone(),
        speaker: args.speaker.clone(),
        file: args.file.clone(),
        command: args.command.as_ref().map(|c| c.trim_start_matches('/').to_owned()),
        host: if args.all_hosts { None } else { args.host.clone() },
        status: args.status.clone(),
        since_ms,
        limit: args.limit.clamp(1, 1000),
        by: if args.by == Unit::Session { By::Session } else { By::Record },
        sessions: args.limit.clamp(1, 1000),
        explain: args.explain,
        parts: Parts::without(&Settings::read(std::env::current_dir().ok().as_deref()).recall_without()),
        ..Ask::default()
    };
    let Some(reader) = index::Reader::open(home)? else {
        if args.json {
            output::json(&Found { query: &text, took_ms: watch.ms(), hits: &[] });
            return Ok(Exit::Nothing);
        }
        return Err(Failure::new("nothing is remembered yet")
            .hint("`sinker import` takes in what Claude Code has kept so far")
            .exit(Exit::Nothing));
    };
    let answer = recall::search(&reader, &ask, &Deadline::never())?;
    let exit = if answer.hits.is_empty() { Exit::Nothing } else { Exit::Done };
    if args.json {
        output::json(&Found {
            query: &text,
            took_ms: (watch.ms() * 1000.0).round() / 1000.0,
            hits: &answer.hits,
        });
        return Ok(exit);
    }
    for hit in &answer.hits {
        print(hit, args.all);
    }
    let place = project.map_or("all projects".to_owned(), |p| format!("project {p}"));
    if answer.hits.is_empty() {
        output::complain(&format!("nothing found in {place}"));
        let wider = if args.all { "" } else { "`--all` looks in all projects; " };
        output::complain(&format!("hint: {wider}`sinker status` shows whether everything is stored"));
    } else {
        let paint = Paint::new();
        let full = answer.hits.len() == ask.limit;
        let more = if full { ", perhaps more (`--limit`)" } else { "" };
        output::say(&paint.dim(&format!(
            "{} in {place}{more}, {:.1} ms; `sinker show ID` shows one whole",
            output::count(answer.hits.len() as u64, "hits"),
            watch.ms()
        )));
    }
    Ok(exit)
}

fn print(hit: &Hit, with_project: bool) {
    let paint = Paint::new();
    let id = hit.id.get(..12).unwrap_or(&hit.id);
    let mut head = format!("{}  {}", paint.accent(id), paint.bold(&hit.kind));
    if !hit.speaker.is_empty() {
        head.push_str(&format!(" by {}", hit.speaker));
    }
    head.push_str(&format!("  {}", paint.dim(&output::when(Some(&hit.time)))));
    if with_project {
        head.push_str(&format!("  {}", hit.project));
    }
    if let Some(status) = &hit.status {
        head.push_str(&format!("  [{status}]"));
    }
    output::say(&head);
    for line in &hit.excerpt {
        output::say(&format!("    {}", output::headline(&line.text, output::width().saturating_sub(5))));
    }
    if !hit.files.is_empty() {
        let files = hit.files.iter().take(4).map(|f| output::plain(f)).collect::<Vec<_>>().join(", ");
        output::say(&format!("    {}", paint.dim(&format!("files: {files}"))));
    }
    if let Some(explain) = &hit.explain {
        output::say(&format!("    {}", paint.dim(&explain.to_string())));
    }
    output::say("");
}

/// Units of the result: milliseconds.
fn parse_since(text: &str) -> Result<i64, Failure> {
    let at = clock::since(text).ok_or_else(|| {
        Failure::new(format!("--since {text} is neither a time nor an age"))
            .hint("--since 2026-11-30, --since 2026-11-30T12:00:00Z, --since 3d, --since 12h")
            .exit(Exit::Usage)
    })?;
    Ok(at.0)
}
