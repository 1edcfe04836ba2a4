//! `memory_status`: can what was said lately be found yet?

use super::Memory;
use super::arguments::{Scope, Status};
use super::page::cut;
use super::search::{project, store};
use super::tools::{self, Trouble};
use crate::recall::{self, Ask, Deadline};
use crate::store::{LostRange, Standing, StoreError, Wait};
use crate::{clock, spool};
use serde_json::{Map, Value};

/// Units: characters of an answer.
pub(super) const BOUND: usize = 2_000;
/// Said of the session that nobody named: the environment of this process is as old as the process.
const OWN: &str = "This is the session in which this server was started; after /clear or a resume the conversation has another id. Pass \
session (its id, or a beginning of it) to ask of another.";
/// A drainer writes its heartbeat more often than this. Units: seconds.
const FRESH_S: i64 = 10;

pub(super) fn answer(memory: &Memory, given: &Map<String, Value>) -> Result<String, Trouble> {
    let args: Status = tools::read(given)?;
    let secret = tools::secret(memory)?;
    let project = project(memory, &Scope { project: args.project, all: false }, &secret)?.unwrap_or_default();
    let mut lines = Vec::new();
    let (mut behind, mut lost) = (false, false);
    let waiting = spool::counts(&memory.home);
    let store = match store(memory) {
        Ok(store) => Some(store),
        Err(Trouble::Store(StoreError::Absent(_))) if waiting.new + waiting.cur > 0 => None,
        Err(Trouble::Store(StoreError::Absent(_))) => return Err(Trouble::Nothing),
        Err(error) => return Err(error),
    };
    let index = recall::published(&memory.home)?;
    let (indexed, index_seq) = index.as_ref().map_or((0, 0), |index| (index.documents(), index.seq()));
    let figures = match &store {
        Some(store) => store.figures()?,
        None => Default::default(),
    };
    lines.push(format!(
        "store: {} documents ({} observations, {} outcomes) of {} sessions",
        figures.documents, figures.observations, figures.turns, figures.sessions
    ));
    lines.push(if index.is_none() {
        behind = true;
        "index: none yet; it is being built".to_owned()
    } else if index_seq >= figures.seq {
        format!("index: {indexed} documents, up to date")
    } else {
        behind = true;
        format!("index: {indexed} documents, behind the store by {} changes", figures.seq - index_seq)
    });
    if waiting.new + waiting.cur > 0 {
        behind = true;
        lines.push(format!(
            "spool: {} events wait, the oldest for {} s",
            waiting.new + waiting.cur,
            waiting.oldest_age_s
        ));
    }
    if waiting.odd > 0 {
        lines.push(format!("odd: {} set aside; the user can see why with `sinker status`", waiting.odd));
    }
    lines.push(format!("drainer: {}", drainer(memory)));
    if let Some(store) = &store {
        let (files, bytes) = store.behind_in(&project)?;
        let ask = Ask { project: Some(project.clone()), limit: 1, ..Ask::default() };
        let newest = match &index {
            Some(index) => recall::search(index, &ask, &Deadline::after(tools::OWN_LIMIT))?.hits,
            None => Vec::new(),
        };
        let newest =
            newest.first().map_or("nothing stored yet".to_owned(), |hit| format!("newest {}", hit.time));
        lines.push(match files {
            0 => format!("this project ({}): {newest}", recall::clean(&project)),
            n => {
                behind = true;
                format!(
                    "this project ({}): {newest}; {n} transcripts are not read to their end, {bytes} bytes",
                    recall::clean(&project)
                )
            }
        });
        let own = args.session.is_none();
        if let Some(wanted) = args.session.or_else(|| memory.session.clone()) {
            let id = store.session_id(&wanted)?.unwrap_or(wanted);
            let standing = store.standing(&id, spool::waits(&memory.home, &id), index_seq)?;
            behind |= matches!(standing, Standing::Behind(_));
            lost = matches!(standing, Standing::Lost(_));
            lines.push(format!("session {}: {}", cut(&recall::clean(&id), 64), told(&standing)));
            if own {
                lines.push(OWN.to_owned());
            }
        }
    }
    let verdict = match (behind, lost) {
        (true, _) => "BEHIND: the newest work may not be found yet.",
        (false, true) => "INCOMPLETE: a part of this session is lost; everything else is stored.",
        (false, false) => "Up to date.",
    };
    lines.insert(0, verdict.to_owned());
    let room = BOUND - recall::FENCE_CHARS - 1;
    Ok(recall::enclose(&format!("{}\n", cut(&lines.join("\n"), room)), &secret))
}

/// How much of a session can be found, in words.
fn told(standing: &Standing) -> String {
    match standing {
        Standing::Stored => "stored to its end".to_owned(),
        Standing::Unwritten => {
            "the host has written no transcript of it, so nothing of it is kept".to_owned()
        }
        Standing::Behind(wait) => match wait {
            Wait::Unknown => "nothing of it is stored yet".to_owned(),
            Wait::Words => "it has begun; its words are still to come".to_owned(),
            Wait::Spool => "its newest events are not read yet".to_owned(),
            Wait::Bytes(bytes) => format!("{bytes} bytes of it are not stored yet"),
            Wait::Index => "stored to its end, but its newest part cannot be found yet".to_owned(),
        },
        // The user sees the files with `sinker status --session`.
        Standing::Lost(ranges) => {
            let bytes = |range: &LostRange| match range.to {
                Some(to) => format!("{} to {to}", range.from),
                None => format!("from {} on", range.from),
            };
            let shown: Vec<String> = ranges.iter().take(5).map(bytes).collect();
            format!("LOST, gone before it was stored: bytes {} of its transcript", shown.join(", "))
        }
    }
}

/// Says what the heartbeat tells; no lock is touched.
fn drainer(memory: &Memory) -> String {
    let beat = memory.home.heartbeat().symlink_metadata().and_then(|m| m.modified());
    match beat.map(|time| (clock::wall().0 - clock::from_system(time).0) / 1000) {
        Ok(age) if age <= FRESH_S => "at work".to_owned(),
        Ok(age) => format!("not at work since {age} s; the next event of a session starts it"),
        Err(_) => "never ran; the next event of a session starts it".to_owned(),
    }
}
