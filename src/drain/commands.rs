//! Asking a running drainer to do something, through the spool, and waiting for its answer under `state/replies`.

use super::{DrainError, Lock, asks, lock};
use crate::clock;
use crate::config::Home;
use crate::fs::{self, Sync};
use crate::spool;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The answer to a command: numbers and ids only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reply {
    /// Files read.
    pub files: u64,
    /// New observations.
    pub observations: u64,
    /// New documents, derived ones included.
    pub documents: u64,
    /// Things set aside.
    pub odd: u64,
    /// Observations and notes forgotten.
    pub forgotten: u64,
    /// Documents that stay, because another session holds them, too.
    pub shared: u64,
    /// Texts that were redacted anew.
    pub redacted: u64,
    /// The id of what was written.
    pub id: Option<String>,
    /// Files passed over by the settings.
    pub passed: u64,
    /// What went wrong.
    pub error: Option<String>,
}

fn reply_path(home: &Home, id: &str) -> PathBuf {
    home.replies().join(format!("{id}.json"))
}

/// How long the answer of a running drainer is waited for.
pub enum Patience<'a> {
    /// So long; then the command stands.
    AtMost(Duration),
    /// Until it comes, or somebody sends a signal. After a while a person is told what is waited for.
    Person(&'a mut dyn FnMut(&str)),
}

/// Publishes a command and waits; `tell` as in [`Patience::Person`]. `Ok(None)`: the drainer left before it took the command, which is then taken back.
///
/// Errors: the spool cannot be written.
pub fn ask(
    home: &Home,
    verb: &str,
    paths: Vec<PathBuf>,
    project: Option<String>,
    tell: &mut dyn FnMut(&str),
) -> Result<Option<Reply>, DrainError> {
    if let Some(path) = paths.iter().find(|path| path.to_str().is_none()) {
        let what = format!("{} is not UTF-8; it can be imported when no drainer runs", path.display());
        return Err(DrainError::Start(what));
    }
    let published = publish(home, verb, paths, project, serde_json::Value::Null)?;
    Ok(wait(home, published, &mut Patience::Person(tell))?.answer())
}

/// Does to the store what a verb asks for: here, when no drainer runs, else by the drainer that holds the lock.
///
/// `what` is the content of the command: text in it is redacted already; `tell` as in [`Patience::Person`]. Errors: [`DrainError`]; what the store refused is in the reply.
pub fn order(
    home: &Home,
    verb: &str,
    what: &serde_json::Value,
    tell: &mut dyn FnMut(&str),
) -> Result<Reply, DrainError> {
    loop {
        match asks::here(home, verb, what) {
            Err(DrainError::Locked(_)) => {}
            done => return done,
        }
        if let Some(reply) = ask_for(home, verb, what, &mut Patience::Person(tell))?.answer() {
            return Ok(reply);
        }
    }
}

/// What waiting for an answer came to.
pub(super) enum Waited {
    /// It was done.
    Answered(Box<Reply>),
    /// The drainer left before it took the command, which was taken back.
    TakenBack,
    /// The command stands; nobody has patience for the answer.
    Waits,
}

impl Waited {
    fn answer(self) -> Option<Reply> {
        match self {
            Self::Answered(reply) => Some(*reply),
            Self::TakenBack | Self::Waits => None,
        }
    }
}

/// Publishes what the store is asked for, and waits for the answer.
pub(super) fn ask_for(
    home: &Home,
    verb: &str,
    what: &serde_json::Value,
    patience: &mut Patience<'_>,
) -> Result<Waited, DrainError> {
    wait(home, publish(home, verb, Vec::new(), None, what.clone())?, patience)
}

/// Waits for the answer to a command. Errors: [`DrainError::Interrupted`] besides those of `fs`.
fn wait(
    home: &Home,
    (id, published): (String, PathBuf),
    patience: &mut Patience<'_>,
) -> Result<Waited, DrainError> {
    let watch = clock::Stopwatch::start();
    let claimed = home.spool_cur().join(published.file_name().unwrap_or_default());
    let mut alone = 0;
    let mut told = Told::Nothing;
    let (_keep, never) = crossbeam_channel::bounded::<()>(1);
    // Whoever waits without an end must be able to leave, and to know what becomes of the command.
    let signals = match patience {
        Patience::Person(_) => super::run::signals()?,
        Patience::AtMost(_) => never,
    };
    loop {
        if let Some(reply) = answered(home, &id)? {
            return Ok(Waited::Answered(Box::new(reply)));
        }
        alone = if lock::is_held(home) { 0 } else { alone + 1 };
        if alone > 10 {
            fs::remove(&published)?;
            fs::remove(&claimed)?;
            return Ok(Waited::TakenBack);
        }
        match patience {
            Patience::AtMost(limit) if watch.left(*limit).is_zero() => return Ok(Waited::Waits),
            Patience::AtMost(_) => {}
            Patience::Person(tell) => {
                let silent_s = fs::age_ms(&home.heartbeat()).map_or(0, |ms| ms / 1000);
                let now = match (watch.left(TELL_AFTER).is_zero(), silent_s >= SILENT_S) {
                    (false, _) => Told::Nothing,
                    (true, false) => Told::Waits,
                    (true, true) => Told::Silent,
                };
                if now > told {
                    told = now;
                    tell(&said(home, claimed.exists(), (now == Told::Silent).then_some(silent_s)));
                }
            }
        }
        if signals.recv_timeout(Duration::from_millis(50)).is_ok() {
            return leave(home, &id, &published);
        }
    }
}

/// So long nobody is told that there is something to wait for.
const TELL_AFTER: Duration = Duration::from_secs(2);
/// A drainer that works beats more often. Units: seconds.
const SILENT_S: i64 = 10;

/// What the person who waits has been told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    Nothing,
    Waits,
    Silent,
}

/// What a command waits for, in a sentence.
fn said(home: &Home, claimed: bool, silent_s: Option<i64>) -> String {
    let who = lock::holder(home).map(|who| format!(" ({who})")).unwrap_or_default();
    let taken = if claimed { "has taken this up" } else { "has not taken this up yet" };
    let state = match silent_s {
        Some(seconds) => format!(", and gave no sign of life for {seconds} s: it is stopped, or stuck"),
        None => String::new(),
    };
    let left = if claimed { "it will be done all the same" } else { "it is taken back" };
    format!("waiting for the drainer{who}, which {taken}{state}; on Ctrl-C {left}")
}

/// The answer, once it is there; it is read once.
fn answered(home: &Home, id: &str) -> Result<Option<Reply>, DrainError> {
    let path = reply_path(home, id);
    let Ok(Some(bytes)) = fs::read_small(&path, 64 * 1024) else { return Ok(None) };
    fs::remove(&path)?;
    Ok(Some(serde_json::from_slice(&bytes).unwrap_or_default()))
}

/// Leaves off waiting: takes the command back where nobody has taken it up.
fn leave(home: &Home, id: &str, published: &Path) -> Result<Waited, DrainError> {
    let aside = home.spool_tmp().join(published.file_name().unwrap_or_default());
    // A drainer takes a command up by a rename as well: one of the two comes first.
    if fs::rename(published, &aside).is_ok() {
        fs::remove(&aside)?;
        return Err(DrainError::Interrupted { withdrawn: true });
    }
    match answered(home, id)? {
        Some(reply) => Ok(Waited::Answered(Box::new(reply))),
        None => Err(DrainError::Interrupted { withdrawn: false }),
    }
}

/// Publishes a command. Returns its id and the file.
fn publish(
    home: &Home,
    verb: &str,
    paths: Vec<PathBuf>,
    project: Option<String>,
    what: serde_json::Value,
) -> Result<(String, PathBuf), DrainError> {
    let mut random = [0; 8];
    getrandom::fill(&mut random)
        .map_err(|_| DrainError::Start("no random bytes from the system".to_owned()))?;
    let id = crate::id::hex(&random);
    let command =
        spool::Command { v: spool::FORMAT, verb: verb.to_owned(), id: id.clone(), paths, project, what };
    let time_ms = u64::try_from(clock::now().0).unwrap_or(0);
    let published = spool::command(home, time_ms, &command)?;
    Ok((id, published))
}

/// Asks the drainer that runs to end, waits, and takes its lock, so that no other begins as long as it is held.
///
/// Errors: [`DrainError::Locked`] when it has not ended within `limit`; the request is then taken back.
pub fn end(home: &Home, limit: Duration) -> Result<Lock, DrainError> {
    match Lock::take(home) {
        Err(DrainError::Locked(_)) => {}
        taken => return taken,
    }
    let (id, published) = publish(home, "stop", Vec::new(), None, serde_json::Value::Null)?;
    let watch = clock::Stopwatch::start();
    let (_keep, never) = crossbeam_channel::bounded::<()>(1);
    let taken = loop {
        match Lock::take(home) {
            Err(DrainError::Locked(_)) if !watch.left(limit).is_zero() => {
                never.recv_timeout(Duration::from_millis(50)).ok();
            }
            taken => break taken,
        }
    };
    let claimed = home.spool_cur().join(published.file_name().unwrap_or_default());
    for left in [published, claimed, reply_path(home, &id)] {
        fs::remove(&left)?;
    }
    taken
}

/// Writes the answer to a command. Errors: those of `fs`.
pub(super) fn answer(home: &Home, id: &str, reply: &Reply) -> Result<(), fs::FsError> {
    fs::make_private_dir(&home.replies())?;
    fs::replace(&reply_path(home, id), &serde_json::to_vec(reply).unwrap_or_default(), Sync::No)
}
