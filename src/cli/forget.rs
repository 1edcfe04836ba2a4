//! `sinker forget`.

use super::exit::Failure;
use super::output::{self, Paint};
use super::{Exit, consent, scope};
use crate::config::Home;
use crate::store::{Criteria, Doomed, Reader, Selection};
use crate::{clock, drain};
use std::io::{IsTerminal, Read};

/// Forget for good. It does not come back by reading the transcripts again, by a rebuild or from a backup. Options together mean what all
/// of them hold for. The host's own transcripts are not changed; they are named.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true)
    .args(["ids", "session", "project", "before", "matching", "speaker"])))]
pub(super) struct Args {
    /// Documents: ids, beginnings of ids, or the host's record ids; a turn or a summary stands for what it rests on
    #[arg(value_name = "ID", conflicts_with_all = ["session", "project", "before", "matching", "speaker"])]
    ids: Vec<String>,
    /// A session, also what is still to come of it; what a fork shares stays with the fork
    #[arg(long, value_name = "S")]
    session: Vec<String>,
    /// All sessions of a project so far: an id, a name or a path
    #[arg(long, value_name = "P")]
    project: Option<String>,
    /// What is older: a time or an age (2026-11-30, 90d)
    #[arg(long, value_name = "T")]
    before: Option<String>,
    /// What holds this text, whatever the case; `-` reads it from stdin, where no shell keeps it
    #[arg(long = "match", value_name = "TEXT")]
    matching: Option<String>,
    /// What this one said: user, assistant, tool, web, agent or host
    #[arg(long, value_name = "W", value_parser = ["user", "assistant", "tool", "web", "agent", "host"])]
    speaker: Option<String>,
    /// Show what would go, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask; needed where there is no terminal to ask on
    #[arg(long, short)]
    yes: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A command may have 16 MB; an id takes about forty bytes.
const IDS_AT_ONCE: usize = 200_000;

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let store = Reader::open_to_show(home)?;
    let found = select(home, &store, args)?;
    if found.is_empty() {
        return Err(Failure::new("nothing stored fits")
            .hint("`sinker search WORDS --all` and `sinker sessions --all` show ids")
            .exit(Exit::Nothing));
    }
    if args.dry_run {
        tell(args, &found, "would forget", found.forgotten, found.shared);
        return Ok(Exit::Done);
    }
    if !args.yes && !args.json && std::io::stdin().is_terminal() {
        tell(args, &found, "this would forget", found.forgotten, found.shared);
    }
    if !consent::given(args.yes, "forget it for good?")? {
        output::complain("nothing was forgotten");
        return Ok(Exit::Done);
    }
    // The running drainer writes the store anew: nobody may hold an old state of it open.
    drop(store);
    let (mut forgotten, mut shared) = (0, 0);
    for part in parts(&found.doomed) {
        let what = serde_json::to_value(&part).unwrap_or_default();
        let reply = drain::order(home, "forget", &what, &mut output::complain)?;
        if let Some(error) = reply.error {
            return Err(Failure::new(error).hint(
                "what was named is hidden already where the ledger could be written; run it again, or let `sinker drain --once` finish it",
            ));
        }
        forgotten += reply.forgotten;
        shared += reply.shared;
    }
    tell(args, &found, "forgot", forgotten, shared);
    Ok(Exit::Done)
}

fn select(home: &Home, store: &Reader, args: &Args) -> Result<Selection, Failure> {
    if !args.ids.is_empty() {
        let (found, unknown) = store.select_ids(&args.ids)?;
        if let Some(id) = unknown.first() {
            let is_session = store.session_id(id)?.is_some();
            let hint = if is_session {
                format!("that is a session: `sinker forget --session {id}`")
            } else {
                "`sinker search WORDS --all` and `sinker timeline` print ids".to_owned()
            };
            return Err(Failure::new(format!("there is no document {id}; nothing was forgotten"))
                .hint(hint)
                .exit(Exit::Nothing));
        }
        return Ok(found);
    }
    let mut criteria = Criteria { speaker: args.speaker.clone(), ..Criteria::default() };
    for wanted in &args.session {
        criteria.sessions.push(session(store, wanted)?);
    }
    if let Some(wanted) = &args.project {
        criteria.projects.push(scope::project(home, Some(wanted))?);
    }
    if let Some(before) = &args.before {
        let at = clock::since(before).ok_or_else(|| {
            Failure::new(format!("--before {before} is neither a time nor an age"))
                .hint("--before 2026-11-30, --before 90d")
                .exit(Exit::Usage)
        })?;
        criteria.before_ms = Some(at.0);
    }
    if let Some(text) = &args.matching {
        criteria.text = Some(needle(text)?);
    }
    Ok(store.select(&criteria)?)
}

/// The order in parts that a command of the spool can hold.
fn parts(doomed: &Doomed) -> Vec<Doomed> {
    let mut parts: Vec<Doomed> = doomed
        .documents
        .chunks(IDS_AT_ONCE)
        .map(|ids| Doomed { documents: ids.to_vec(), ..Doomed::default() })
        .collect();
    if parts.is_empty() {
        parts.push(Doomed::default());
    }
    if let Some(first) = parts.first_mut() {
        first.sessions.clone_from(&doomed.sessions);
        first.titles.clone_from(&doomed.titles);
    }
    parts
}

/// A session by its id or a beginning of it. One that is not known yet is taken by its whole id: its events may lie in the spool.
fn session(store: &Reader, wanted: &str) -> Result<String, Failure> {
    if let Some(id) = store.session_id(wanted)? {
        return Ok(id);
    }
    let whole = wanted.len() == 36 && wanted.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    if whole {
        return Ok(wanted.to_owned());
    }
    Err(Failure::new(format!("no session, or more than one, is named {wanted}; nothing was forgotten"))
        .hint("`sinker sessions --all` shows whole ids; the notes of a project go by their ids or with `--project`")
        .exit(Exit::Nothing))
}

fn needle(given: &str) -> Result<String, Failure> {
    let mut text = given.to_owned();
    if given == "-" {
        text.clear();
        let read = std::io::stdin().lock().take(1024 * 1024).read_to_string(&mut text);
        read.map_err(|error| Failure::new(format!("stdin cannot be read: {error}")))?;
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
    }
    if text.trim().is_empty() {
        let failure = Failure::new("an empty text is in everything; nothing was forgotten");
        return Err(failure.hint("`sinker forget --project P` forgets a whole project").exit(Exit::Usage));
    }
    Ok(text)
}

fn tell(args: &Args, found: &Selection, verb: &str, forgotten: u64, shared: u64) {
    if args.json {
        let transcripts: Vec<String> =
            found.transcripts.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let sessions = found.doomed.sessions.len();
        return output::json(&serde_json::json!({
            "forgotten": forgotten, "shared": shared, "transcript": transcripts,
            "sessions": sessions, "titles": found.doomed.titles.len(), "dry_run": args.dry_run,
        }));
    }
    let paint = Paint::new();
    output::say(&format!(
        "{} {} and {}",
        paint.good(verb),
        output::count(forgotten, "records"),
        output::count(found.doomed.sessions.len() as u64, "whole sessions")
    ));
    if !found.doomed.titles.is_empty() {
        output::say(&format!(
            "{} of sessions with them",
            output::count(found.doomed.titles.len() as u64, "titles")
        ));
    }
    if shared > 0 {
        output::say(&format!(
            "{} stay with other sessions that hold them, too (a fork copies its past); forget those sessions, or the records by id",
            output::count(shared, "records")
        ));
    }
    if args.dry_run {
        for [id, time, speaker, line] in &found.examples {
            output::say(&paint.dim(&output::plain(&format!("  {id} {time} {speaker}: {line}"))));
        }
        let more = forgotten.saturating_sub(found.examples.len() as u64);
        if more > 0 && !found.examples.is_empty() {
            output::say(
                &paint.dim(&format!("  and {more} more; `sinker search` and `sinker timeline` show them")),
            );
        }
    }
    if !found.transcripts.is_empty() {
        output::say("the host's own transcripts still hold it; Sinker does not read it from them again:");
        for path in &found.transcripts {
            output::say(&output::plain(&format!("  {}", path.display())));
        }
    }
}
