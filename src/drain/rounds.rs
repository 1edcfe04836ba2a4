//! From the lock to its release: a run in rounds, since a store that turns out damaged is repaired by starting anew.

use super::figures::{self, Board};
use super::progress::Progress;
use super::publish::{Pace, Publisher, suspect};
use super::run::{Drainer, Exit, Options, Outcome, signals, start};
use super::{DrainError, Lock, prepare};
use crate::config::{Home, Secret};
use crate::redact::Redactor;
use crate::store::{Figures, Reader, Store};
use crate::{fs, index, log, store};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A store that is damaged again after so many repairs lies on a broken disk.
const MAX_REPAIRS: u32 = 2;

/// Takes the lock and works until the machine says stop. `observe` is called a few times a second, for a progress bar.
///
/// Errors: [`DrainError`]. What was committed before an error holds.
pub fn run(options: &Options, observe: &mut dyn FnMut(&Progress)) -> Result<Outcome, DrainError> {
    // Before anything can be half done: a signal that comes first would end the process where it stands.
    signals()?;
    refuse_newer(&options.home)?;
    let lock = Lock::take(&options.home)?;
    if let Some(kind) = fs::network(options.home.root()) {
        log::warn(
            "drain",
            &[("kind", &kind)],
            "The data directory lies on a network file system; a local disk is safe.",
        );
    }
    let mut before = None;
    for round in 0.. {
        match one_round(options, &mut before, observe) {
            // The store turned out to be damaged: the next start looks closely, and repairs it.
            Err(error) if error.is_store_damage() && round < MAX_REPAIRS => {
                log::error(
                    "drain",
                    &[("error", &error)],
                    "The store is damaged; the drainer starts anew to repair it.",
                );
                suspect(&options.home.suspect_store());
            }
            Err(error @ (DrainError::Stopped | DrainError::Stuck)) => {
                // The threads end with the process; what they had in hand was not committed.
                std::mem::forget(lock);
                return Err(error);
            }
            done => {
                drop(lock);
                return done;
            }
        }
    }
    Err(DrainError::Stopped)
}

/// From a start to its end. `before`: what the store held when the first one began.
fn one_round(
    options: &Options,
    before: &mut Option<Figures>,
    observe: &mut dyn FnMut(&Progress),
) -> Result<Outcome, DrainError> {
    let mut drainer = Drainer::start(options)?;
    let now = drainer.figures()?;
    let before = before.get_or_insert(now);
    match drainer.work(observe) {
        Ok(Exit::InOrder) => {}
        Ok(Exit::AtOnce) => return Err(DrainError::Stopped),
        Ok(Exit::Stuck) => return Err(DrainError::Stuck),
        Err(error) => {
            drainer.abandon();
            return Err(error);
        }
    }
    let outcome = drainer.finish(before)?;
    observe(&Progress::default());
    Ok(outcome)
}

/// Refuses what a newer version wrote, before a single byte is changed (D11).
pub(super) fn refuse_newer(home: &Home) -> Result<(), DrainError> {
    store::refuse_newer(home)?;
    index::refuse_newer(home)?;
    for file in [home.status(), home.repair()] {
        figures::refuse_newer(&file)?;
    }
    Ok(())
}

/// Rebuilds the index from the store, beside the one that answers. Returns the number of documents. Errors: [`DrainError`].
pub fn rebuild(home: &Home) -> Result<u64, DrainError> {
    refuse_newer(home)?;
    let _lock = Lock::take(home)?;
    prepare(home)?;
    drop(Store::open(home)?);
    let progress = Arc::new(Progress::default());
    let never = Arc::new(AtomicBool::new(false));
    let mut publisher = Publisher::open(home, Pace::BULK, never, Arc::clone(&progress))?;
    publisher.rebuild()?;
    fs::remove(&home.suspect_index())?;
    let store = Reader::open(home)?;
    let redactor = Redactor::new(&Secret::open(home).map_err(start)?);
    Board::new().write(home, &store, &progress, &redactor, true);
    Ok(progress.index().1)
}
