//! What a person asks of the store, in words of the spool: one ask, one transaction or several, done by whoever holds the lock.
//!
//! Each can be done again from its beginning: a drainer that dies leaves the command in `cur/`, and the next one takes it up.

use super::progress::Progress;
use super::publish::{Pace, Publisher};
use super::rounds::refuse_newer;
use super::run::start;
use super::{DrainError, Lock, Reply, figures, prepare};
use crate::config::{Home, Project, RetainRule, Secret};
use crate::redact::{Redactor, Report};
use crate::store::{Linked, Noted, Reader, Store, StoreError};
use crate::{clock, fs, id, index, store};
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What is asked.
#[derive(Debug, Clone)]
pub(super) enum Ask {
    /// Forget documents and sessions for good.
    Forget(store::Doomed),
    /// Redact anew what is stored.
    Rescan,
    /// Take away what is too old or too much.
    Retain(Limits),
    /// Keep documents from that, or let them go again.
    Pin(Pins),
    /// Keep a note, or another revision of one.
    Note(store::Note),
    /// Take an export in.
    Load(Load),
    /// Make a project an alias of another, or take that back.
    Link(Link),
}

/// The rules in force when it was asked.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Limits {
    rules: Vec<RetainRule>,
}

/// Documents by our ids.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Pins {
    ids: Vec<String>,
    pinned: bool,
}

/// A project, and the one that it is; none: that is taken back.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Link {
    old: Project,
    new: Option<Project>,
}

/// An export that is to be taken in.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Load {
    /// The file.
    pub path: std::path::PathBuf,
}

/// What an ask did, and what has to follow.
pub(super) struct Done {
    pub reply: Reply,
    /// Old bytes must leave the index as well, not only stop answering.
    pub scrub: bool,
}

impl Ask {
    /// Reads a command's content. `None`: the verb is none of the store's.
    pub(super) fn parse(verb: &str, what: &serde_json::Value) -> Option<Result<Self, String>> {
        fn read<'a, T: Deserialize<'a>>(what: &'a serde_json::Value) -> Result<T, String> {
            T::deserialize(what).map_err(|error| format!("the command cannot be read: {error}"))
        }
        Some(match verb {
            "forget" => read(what).map(Ask::Forget),
            "rescan" => Ok(Ask::Rescan),
            "retain" => read(what).map(Ask::Retain),
            "pin" => read(what).map(Ask::Pin),
            "load" => read(what).map(Ask::Load),
            "link" => read(what).map(Ask::Link),
            "note" => read(what).and_then(sound).map(Ask::Note),
            _ => return None,
        })
    }

    /// Does it. Errors: [`StoreError`]; it can be tried again.
    pub(super) fn perform(
        &self,
        home: &Home,
        store: &mut Store,
        redactor: &Redactor,
    ) -> Result<Done, StoreError> {
        if home.repair().exists() && !matches!(self, Ask::Note(_)) {
            let why =
                "a damaged store is still being read out; try again when `sinker status` says it is done";
            return Err(StoreError::Io(std::io::Error::other(why)));
        }
        match self {
            Ask::Forget(doomed) => {
                // Before the ledger is written, too: a process that dies behind it leaves nothing of this to be found.
                for session in &doomed.sessions {
                    forget_files(home, session)?;
                }
                let gone = store.forget(home, doomed, &mut terms)?;
                for session in &doomed.sessions {
                    forget_files(home, session)?;
                }
                let reply = Reply { forgotten: gone.forgotten, shared: gone.shared, ..Reply::default() };
                Ok(Done { reply, scrub: true })
            }
            Ask::Retain(Limits { rules }) => {
                let forgotten = store.retain(home, rules, clock::now().0, &mut terms)?;
                Ok(Done { reply: Reply { forgotten, ..Reply::default() }, scrub: false })
            }
            Ask::Pin(Pins { ids, pinned }) => {
                let forgotten = store.pin(ids, *pinned)?;
                Ok(Done { reply: Reply { forgotten, ..Reply::default() }, scrub: false })
            }
            Ask::Rescan => {
                // 1. A part of it is done. 2. The process dies, and whoever asked with it. 3. The rest would wait for a person to ask
                // again. So what was begun is noted first, and the next drainer goes on.
                fs::replace(&home.rescan(), b"", fs::Sync::Yes)?;
                // The rules may have changed since this process began; it leaves afterwards, so that the next one goes on with these.
                let redactor = Redactor::new(&Secret::open(home).map_err(std::io::Error::other)?);
                let redact = |text: &str| match redactor.clean(text, &mut Report::default()) {
                    Cow::Borrowed(_) => None,
                    Cow::Owned(new) => Some(new),
                };
                let redacted = store.rescan(home, i64::from(redactor.version()), &redact, &mut terms)?;
                store.scrub(home)?;
                fs::remove(&home.rescan())?;
                Ok(Done { reply: Reply { redacted, ..Reply::default() }, scrub: true })
            }
            Ask::Load(load) => {
                let reply = super::load::load(home, store, redactor, &load.path, &mut terms)?;
                Ok(Done { reply, scrub: false })
            }
            Ask::Link(Link { old, new }) => {
                let mut write = store.begin()?;
                let done = match new {
                    Some(new) => write.link_project(&old.id, new)?,
                    None => write.unlink_project(old)?,
                };
                write.derive(&mut terms)?;
                write.commit()?;
                super::write::publish_projects(home);
                let reply = match done {
                    Linked::Moved(sessions) => Reply { files: sessions, ..Reply::default() },
                    Linked::Nothing => {
                        Reply { error: Some("there is nothing to be changed".to_owned()), ..Reply::default() }
                    }
                };
                Ok(Done { reply, scrub: false })
            }
            Ask::Note(note) => {
                let mut write = store.begin()?;
                let noted = write.note(note)?;
                write.commit()?;
                let mut reply = Reply::default();
                match noted {
                    Noted::Kept(id) => reply.id = Some(id),
                    Noted::Absent => reply.error = Some(format!("there is no note {}", note.id)),
                    Noted::Forgotten => reply.error = Some("this note was forgotten".to_owned()),
                }
                Ok(Done { reply, scrub: false })
            }
        }
    }
}

/// A note that a row of ours can hold.
fn sound(note: store::Note) -> Result<store::Note, String> {
    if note.is_sound() { Ok(note) } else { Err("the command is no note".to_owned()) }
}

/// The terms of the index, as the store's profiles hold them.
fn terms(text: &str, take: &mut dyn FnMut(String)) {
    index::tokens::terms(text).for_each(take);
}

/// What lies of a session outside the store: its events in the spool, and what it was shown.
fn forget_files(home: &Home, session: &str) -> Result<(), StoreError> {
    let name = id::safe_name(session);
    fs::remove(&home.shown().join(name.as_ref()))?;
    let beginning = format!("{name}.");
    for dir in [home.spool_new(), home.spool_cur(), home.spool_odd(), home.launches()] {
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries.filter_map(Result::ok) {
            if entry.file_name().to_string_lossy().starts_with(&beginning) {
                fs::remove(&entry.path())?;
            }
        }
    }
    forget_reports(home, session)
}

/// A shorter id may stand in any text.
const TELLING_ID: usize = 16;

/// Why something of a session's transcripts could not be used: that names the file, and with it the session.
fn forget_reports(home: &Home, session: &str) -> Result<(), StoreError> {
    let Ok(entries) = std::fs::read_dir(home.spool_odd()) else { return Ok(()) };
    let reports = entries.filter_map(Result::ok).map(|entry| entry.path());
    for report in
        reports.filter(|path| session.len() >= TELLING_ID && path.extension().is_some_and(|e| e == "why"))
    {
        let bytes = fs::read_small(&report, 64 * 1024).ok().flatten().unwrap_or_default();
        if memchr::memmem::find(&bytes, session.as_bytes()).is_some() {
            fs::remove(&report.with_extension(""))?;
            fs::remove(&report)?;
        }
    }
    Ok(())
}

/// Takes the lock, does what is asked, and publishes it. Errors: [`DrainError::Locked`] when a drainer runs, which is to be asked then.
pub(super) fn here(home: &Home, verb: &str, what: &serde_json::Value) -> Result<Reply, DrainError> {
    let ask = Ask::parse(verb, what).unwrap_or_else(|| Err(format!("no command {verb}")));
    let ask = ask.map_err(DrainError::Start)?;
    refuse_newer(home)?;
    let _lock = Lock::take(home)?;
    prepare(home)?;
    let redactor = Redactor::new(&Secret::open(home).map_err(start)?);
    let mut store = Store::open(home)?;
    store.begin_with_rules(i64::from(redactor.version()))?;
    let behind = store.obey(home, &mut terms)?;
    let done = ask.perform(home, &mut store, &redactor)?;
    drop(store);
    super::write::publish_projects(home);
    let progress = Arc::new(Progress::default());
    let mut publisher =
        Publisher::open(home, Pace::BULK, Arc::new(AtomicBool::new(false)), Arc::clone(&progress))?;
    publisher.bring_up(done.scrub || behind)?;
    figures::Board::new().write(home, &Reader::open(home)?, &progress, &redactor, true);
    Ok(done.reply)
}
