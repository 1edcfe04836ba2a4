//! Asking a running drainer to do something, through the spool, and waiting for its answer under `state/replies`.

use super::{DrainError, Lock, asks, lock};
use crate::clock;
use crate::config::Home;
use crate::fs::{self, Sync};
use crate::spool;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
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

/// Publishes a command and waits. `Ok(None)`: the drainer left before it took the command, which is then taken back.
///
/// Errors: the spool cannot be written.
pub fn ask(
    home: &Home,
    verb: &str,
    paths: Vec<PathBuf>,
    project: Option<String>,
) -> Result<Option<Reply>, DrainError> {
    if let Some(path) = paths.iter().find(|path| path.to_str().is_none()) {
        let what = format!("{} is not UTF-8; it can be imported when no drainer runs", path.display());
        return Err(DrainError::Start(what));
    }
    Ok(wait(home, publish(home, verb, paths, project, serde_json::Value::Null)?, None)?.answer())
}

/// Does to the store what a verb asks for: here, when no drainer runs, else by the drainer that holds the lock.
///
/// `what` is the content of the command: text in it is redacted already. Errors: [`DrainError`]; what the store refused is in the reply.
pub fn order(home: &Home, verb: &str, what: &serde_json::Value) -> Result<Reply, DrainError> {
    loop {
        match asks::here(home, verb, what) {
            Err(DrainError::Locked(_)) => {}
            done => return done,
        }
        if let Some(reply) = ask_for(home, verb, what, None)?.answer() {
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

/// Publishes what the store is asked for, and waits for the answer, at most so long.
pub(super) fn ask_for(
    home: &Home,
    verb: &str,
    what: &serde_json::Value,
    patience: Option<Duration>,
) -> Result<Waited, DrainError> {
    wait(home, publish(home, verb, Vec::new(), None, what.clone())?, patience)
}

/// Waits for the answer to a command.
fn wait(
    home: &Home,
    (id, published): (String, PathBuf),
    patience: Option<Duration>,
) -> Result<Waited, DrainError> {
    let watch = clock::Stopwatch::start();
    let answer = reply_path(home, &id);
    let mut alone = 0;
    let (_keep, never) = crossbeam_channel::bounded::<()>(1);
    loop {
        if let Ok(Some(bytes)) = fs::read_small(&answer, 64 * 1024) {
            fs::remove(&answer)?;
            return Ok(Waited::Answered(serde_json::from_slice(&bytes).unwrap_or_default()));
        }
        alone = if lock::is_held(home) { 0 } else { alone + 1 };
        if alone > 10 {
            let claimed = home.spool_cur().join(published.file_name().unwrap_or_default());
            fs::remove(&published)?;
            fs::remove(&claimed)?;
            return Ok(Waited::TakenBack);
        }
        if patience.is_some_and(|limit| watch.left(limit).is_zero()) {
            return Ok(Waited::Waits);
        }
        never.recv_timeout(Duration::from_millis(50)).ok();
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
