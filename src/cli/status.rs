//! `sinker status`.

use super::Exit;
use super::exit::Failure;
use super::output::{self, Paint};
use crate::clock;
use crate::config::{Home, Secret};
use crate::drain::{self, StatusFile};
use crate::fs;
use crate::recall;
use crate::redact::{Redactor, Report};
use crate::spool;
use crate::store::{self, Look, LostRange, Reader, SessionRow, Standing, StoreError, Wait};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// Show whether everything is stored and searchable.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Of one session: exit code 3 as long as it is not stored to its end and searchable; 1 when a part of it was gone before it was stored; 0, too, when there is no transcript of it
    #[arg(long, value_name = "S")]
    session: Option<String>,
    /// Wait up to this long for it
    #[arg(long, value_name = "SECS", requires = "session")]
    wait: Option<u32>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    match &args.session {
        Some(session) => one_session(home, session, args),
        None => overview(home, args.json),
    }
}

fn overview(home: &Home, as_json: bool) -> Result<Exit, Failure> {
    let file = StatusFile::read(home).unwrap_or_default();
    let spool = spool::counts(home);
    let running = drain::is_held(home);
    // The settings may have changed since the drainer last looked.
    let rescan_due = drain::rescan_due(home);
    let age_s = heartbeat_age_s(home);
    let error = damage(home, &file)
        .or(file.last_error.clone())
        .or_else(|| place(home))
        .or_else(drain::rules_in_doubt)
        .or_else(drain::retention_in_doubt);
    let gate = recall::gated(home);
    if as_json {
        output::json(&json!({
            "spool": { "new": spool.new, "cur": spool.cur, "odd": spool.odd, "oldest_age_s": spool.oldest_age_s },
            "store": { "documents": file.documents, "observations": file.observations, "turns": file.turns,
                       "sessions": file.sessions, "seq": file.seq },
            "index": { "seq": file.index_seq, "documents": file.index_documents },
            "drainer": { "running": running, "heartbeat_age_s": age_s, "drained_1h": file.drained_1h },
            "behind": file.behind,
            "lost_ranges": file.lost_ranges,
            "unwritten_sessions": file.unwritten_sessions,
            "passed_files": file.passed_files,
            "passed_records": file.passed_records,
            "withheld": file.withheld,
            "unknown_types": file.unknown_types,
            "retained": file.retained,
            "rescan_due": rescan_due,
            "rescan_begun": home.rescan().exists(),
            "redacted": file.redacted,
            "gate": { "denied": gate.denied, "saved_bytes": gate.saved_bytes },
            "last_error": error,
            "warning": warning(home),
            "home": home.root().to_string_lossy(),
        }));
        return Ok(Exit::Done);
    }
    let paint = Paint::new();
    let line =
        |name: &str, text: String| output::say(&format!("{}  {text}", paint.bold(&format!("{name:>9}"))));
    line("data", home.root().display().to_string());
    line(
        "store",
        format!(
            "{} ({}, {}) of {}",
            output::count(file.documents, "documents"),
            output::count(file.observations, "observations"),
            output::count(file.turns, "outcomes"),
            output::count(file.sessions, "sessions")
        ),
    );
    let whole = home.index().join("current").is_file() || file.documents == 0;
    let fresh = whole && file.index_documents == file.documents && file.index_seq == file.seq;
    let state = if fresh { paint.good("up to date") } else { paint.bad("behind the store") };
    line("index", format!("{}, {state}", output::count(file.index_documents, "documents")));
    let waiting = spool.new + spool.cur;
    let wait = match waiting {
        0 => paint.good("empty"),
        n => format!("{n} entries wait, the oldest for {} s", spool.oldest_age_s),
    };
    line("spool", wait);
    if spool.odd > 0 {
        line("odd", format!("{} set aside; reasons are in {}", spool.odd, home.spool_odd().display()));
    }
    let drainer = match (running, age_s) {
        (true, Some(age)) if age <= 10 => paint.good("at work"),
        (true, Some(age)) => paint.bad(&format!("silent for {age} s")),
        (true, None) => "starting".to_owned(),
        (false, _) => "not running; the next session's hooks start one".to_owned(),
    };
    line("drainer", format!("{drainer}, {} entries in the last hour", file.drained_1h));
    for behind in file.behind.iter().take(5) {
        line(
            "behind",
            format!(
                "{} of {} stored: {}",
                output::size(behind.cursor),
                output::size(behind.size),
                output::plain(&behind.path)
            ),
        );
    }
    if gate.denied > 0 {
        let saved = output::size(gate.saved_bytes);
        line(
            "gate",
            format!("{} of whole files denied, {saved} not read", output::count(gate.denied, "reads")),
        );
    }
    if file.lost_ranges > 0 {
        line(
            "lost",
            paint.bad(&format!(
                "{} ranges of transcripts were gone before they were stored",
                file.lost_ranges
            )),
        );
    }
    if file.unwritten_sessions > 0 {
        let what = format!(
            "the host wrote no transcript of {} sessions: nothing of them is kept",
            file.unwritten_sessions
        );
        line("unwritten", what);
    }
    if file.retained > 0 {
        line("retention", format!("{} records were taken away", file.retained));
    }
    if home.rescan().exists() {
        let what = "what is stored is being redacted anew; cut short, a drainer goes on with it by itself";
        line("rules", what.to_owned());
    } else if rescan_due {
        let what = "what is stored was redacted by other rules: `sinker redact --rescan` redacts it anew";
        line("rules", what.to_owned());
    }
    let passed =
        [passed_by(&file.passed_files, "transcripts"), passed_by(&file.passed_records, "records of others")];
    let withheld = passed_by(&file.withheld, "inputs and results of tools");
    let passed: Vec<String> = passed.into_iter().chain([withheld]).flatten().collect();
    if !passed.is_empty() {
        line("passed", format!("over, by the settings: {}", passed.join(", ")));
    }
    if !file.unknown_types.is_empty() {
        let names: Vec<String> =
            file.unknown_types.iter().map(|(name, n)| format!("{} {n}", output::plain(name))).collect();
        line("unknown", format!("record types passed over: {}", names.join(", ")));
    }
    let redacted: u64 = file.redacted.values().sum();
    if redacted > 0 {
        let rules: Vec<String> = file.redacted.iter().map(|(rule, n)| format!("{rule} {n}")).collect();
        line("redacted", format!("{redacted}: {}", rules.join(", ")));
    }
    if let Some(warning) = warning(home) {
        line("warning", paint.bad(&output::plain(&warning)));
    }
    if let Some(error) = &error {
        line("error", paint.bad(&output::plain(error)));
        output::say("hint: `sinker drain --once` tries again; log/drain.log in the data directory has more");
    }
    Ok(Exit::Done)
}

fn passed_by(kinds: &BTreeMap<String, u64>, what: &str) -> Option<String> {
    let parts: Vec<String> = kinds.iter().map(|(why, n)| format!("{n} {what} ({why})")).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What a look at the first bytes tells: the figures are the drainer's, and it may not have run since the damage was done.
fn damage(home: &Home, file: &StatusFile) -> Option<String> {
    let store = home.store();
    let why = match store::look(home) {
        Ok(Look::Plausible { .. }) => None,
        Ok(Look::Absent | Look::Empty) if file.documents == 0 => return None,
        Ok(Look::Absent) => Some("it is gone".to_owned()),
        Ok(Look::Empty) => Some("it is empty".to_owned()),
        Ok(Look::Damaged(why)) => Some(why),
        Err(error) => Some(error.to_string()),
    };
    if let Some(why) = why {
        let what = format!("the store {} is damaged: {why}", store.display());
        return Some(format!("{what}; `sinker drain --once` moves it aside and rebuilds it"));
    }
    let published = home.index().join("current").is_file() || file.documents == 0;
    (!published).then(|| "the index is gone; `sinker index rebuild` makes it anew".to_owned())
}

/// What is wrong with the place where the data lies.
fn place(home: &Home) -> Option<String> {
    let root = home.root().display();
    if fs::is_full(home.root()) {
        return Some(format!(
            "the disk of {root} is full; what was said waits in the transcripts until there is room"
        ));
    }
    None
}

/// What works as long as it works.
fn warning(home: &Home) -> Option<String> {
    let (root, kind) = (home.root(), fs::network(home.root())?);
    let root = root.display();
    Some(format!("{root} lies on a network file system ({kind}); SINKER_HOME on a local disk is safe"))
}

fn heartbeat_age_s(home: &Home) -> Option<u64> {
    let time = home.heartbeat().symlink_metadata().and_then(|m| m.modified()).ok()?;
    let ms = clock::wall().0.saturating_sub(clock::from_system(time).0);
    Some(u64::try_from(ms / 1000).unwrap_or(0))
}

fn one_session(home: &Home, session: &str, args: &Args) -> Result<Exit, Failure> {
    let watch = clock::Stopwatch::start();
    let limit = Duration::from_secs(u64::from(args.wait.unwrap_or(0)));
    let (_keep, never) = crossbeam_channel::bounded::<()>(1);
    loop {
        let (row, standing) = look(home, session)?;
        if !matches!(standing, Standing::Behind(_)) || watch.left(limit).is_zero() {
            return tell(home, session, row, standing, args.json);
        }
        never.recv_timeout(Duration::from_millis(50)).ok();
    }
}

fn look(home: &Home, session: &str) -> Result<(Option<SessionRow>, Standing), Failure> {
    let store = match Reader::open(home) {
        Ok(store) => store,
        Err(StoreError::Absent(_)) => return Ok((None, Standing::Behind(Wait::Unknown))),
        Err(error) => return Err(error.into()),
    };
    let id = store.session_id(session)?.unwrap_or_else(|| session.to_owned());
    let waits = spool::waits(home, &id) || spool::waits(home, session);
    let published = crate::index::Reader::open(home).ok().flatten().map_or(0, |index| index.seq());
    let standing = store.standing(&id, waits, published)?;
    Ok((store.session(&id)?, standing))
}

fn tell(
    home: &Home,
    session: &str,
    row: Option<SessionRow>,
    standing: Standing,
    as_json: bool,
) -> Result<Exit, Failure> {
    let unwritten = standing == Standing::Unwritten;
    let stored = unwritten || standing == Standing::Stored;
    let exit = match &standing {
        Standing::Stored | Standing::Unwritten => Exit::Done,
        Standing::Behind(_) => Exit::Nothing,
        Standing::Lost(_) => Exit::Failed,
    };
    let lost = match &standing {
        Standing::Lost(ranges) => shown(home, ranges)?,
        _ => Vec::new(),
    };
    if as_json {
        output::json(&json!({
            "session": session, "stored": stored, "unwritten": unwritten, "lost": lost, "row": row,
        }));
        return Ok(exit);
    }
    let Some(row) = row else {
        output::say(&format!("session {session} is not known yet"));
        return Ok(exit);
    };
    let paint = Paint::new();
    let state = match standing {
        Standing::Stored => paint.good("stored and searchable"),
        Standing::Unwritten => "there is no transcript of it, so nothing to store".to_owned(),
        Standing::Behind(_) => paint.bad("not stored to its end yet"),
        Standing::Lost(_) => paint.bad("the rest was gone before it was stored"),
    };
    output::say(&format!("session {session}: {} observations, {state}", row.observations));
    for LostRange { path, from, to } in &lost {
        let to = to.map_or("its end".to_owned(), |to| to.to_string());
        output::say(&format!("  lost: bytes {from} to {to} of {}", output::plain(path)));
    }
    Ok(exit)
}

/// Lost ranges as they may be shown: a path is the host's text, too (D8).
fn shown(home: &Home, ranges: &[LostRange]) -> Result<Vec<LostRange>, Failure> {
    let redactor = Redactor::new(&Secret::open(home).map_err(|error| Failure::new(error.to_string()))?);
    let clean = |path: &str| redactor.clean(path, &mut Report::default()).into_owned();
    Ok(ranges.iter().map(|range| LostRange { path: clean(&range.path), ..range.clone() }).collect())
}
