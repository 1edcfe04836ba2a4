//! The publisher stage: what the store has gained goes into the index, is committed with the store's sequence, and answers from then on.

use super::DrainError;
use super::indexed::indexed;
use super::progress::Progress;
use crate::config::Home;
use crate::index::{self, IndexError};
use crate::store::{Reader, StoreError};
use crate::{clock, fs, log};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What the stage is asked for. The id comes back with the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Order {
    /// Publish all that is committed, then answer.
    Flush(String),
    /// Publish, and bring the bytes of what was taken out off the disk, then answer.
    Scrub(String),
    /// Begin a new index beside the published one, then answer.
    Rebuild(String),
    /// Somebody met damage: look, and rebuild when it is there. Nobody waits for an answer.
    Check,
}

/// The answer to an order: its id, and what went wrong.
pub(super) type Answer = (String, Result<(), String>);

/// When the index is published: after so long without a commit of the store, and under load this often. Fewer publications make
/// fewer, larger segments, and fewer merges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// The store has gained nothing for this long.
    pub quiet: Duration,
    /// It gains all the time.
    pub load: Duration,
}

impl Pace {
    /// Sessions wait for their words.
    pub(super) const LIVE: Self = Self { quiet: Duration::from_millis(120), load: Duration::from_secs(4) };
    /// A person waits for the end, which publishes at once.
    pub(super) const BULK: Self = Self { quiet: Duration::from_secs(3), load: Duration::from_secs(30) };
}

/// Documents read from the store at once, and the size of their texts that ends it. Units: bytes.
const CHUNK: (usize, u64) = (256, 4 * 1024 * 1024);

impl From<PublishError> for DrainError {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Index(error) => error.into(),
            PublishError::Store(error) => error.into(),
            PublishError::Panic => DrainError::Start(error.to_string()),
        }
    }
}

/// The publisher.
pub(super) struct Publisher {
    home: Home,
    pace: Pace,
    store: Reader,
    writer: Option<index::Writer>,
    /// The store sequence that the index will show once it is committed, and the one it shows.
    written: u64,
    shown: u64,
    /// How much of the forget ledger each of them obeys, bytes.
    ledger: (u64, u64),
    /// The writer's generation is new and answers from its first commit on, which must hold everything.
    fresh: bool,
    /// The process is to end: what is not indexed yet is left to the next one.
    halt: Arc<AtomicBool>,
    progress: Arc<Progress>,
}

/// Why a publisher fails; the index is derived, so the answer is to begin again.
#[derive(Debug, thiserror::Error)]
pub(super) enum PublishError {
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Tantivy met something it holds impossible.
    #[error("indexing ended in a panic; the log has more")]
    Panic,
}

impl PublishError {
    fn is_damage(&self) -> bool {
        match self {
            PublishError::Index(error) => error.is_damage(),
            PublishError::Panic => true,
            PublishError::Store(_) => false,
        }
    }
}

/// Leaves a note for the drainer: somebody met damage here. Without it the damage is met again.
pub(super) fn suspect(note: &Path) {
    if let Err(error) = fs::replace(note, b"", fs::Sync::No) {
        log::warn("drain", &[("error", &error)], "Damage could not be noted.");
    }
}

impl Publisher {
    /// Opens store and index. The gap between them (D6) is closed by [`Publisher::run`], since that can take minutes.
    pub(super) fn open(
        home: &Home,
        pace: Pace,
        halt: Arc<AtomicBool>,
        progress: Arc<Progress>,
    ) -> Result<Self, PublishError> {
        let (home, store) = (home.clone(), Reader::open(home)?);
        let (written, shown, fresh) = (0, 0, false);
        let mut publisher =
            Self { home, pace, store, writer: None, written, shown, ledger: (0, 0), fresh, halt, progress };
        publisher.open_writer()?;
        publisher.show();
        Ok(publisher)
    }

    fn open_writer(&mut self) -> Result<(), PublishError> {
        // Two writers of one index cannot be: the old one goes first.
        self.writer = None;
        let opened = index::Writer::open(&self.home)?;
        let seq = self.store.seq()?;
        let mut writer = opened.writer;
        (self.written, self.fresh) = (opened.seq, opened.fresh);
        self.ledger = (opened.ledger, opened.ledger);
        if opened.seq > seq {
            log::warn(
                "index",
                &[("index", &opened.seq), ("store", &seq)],
                "The index is ahead of the store; it is rebuilt.",
            );
            writer = writer.discard(&self.home)?;
            (self.written, self.fresh, self.ledger) = (0, true, (0, 0));
        }
        self.shown = self.written;
        self.writer = Some(writer);
        Ok(())
    }

    fn reopen(&mut self) -> Result<(), PublishError> {
        self.open_writer()?;
        self.publish(true)?;
        self.show();
        Ok(())
    }

    /// Begins a new index beside the published one, and puts it in its place when it is whole.
    pub(super) fn rebuild(&mut self) -> Result<(), PublishError> {
        let writer = match self.writer.take() {
            Some(writer) => writer.discard(&self.home)?,
            None => index::Writer::anew(&self.home)?,
        };
        self.writer = Some(writer);
        (self.written, self.shown, self.fresh, self.ledger) = (0, 0, true, (0, 0));
        self.publish(true)?;
        self.show();
        Ok(())
    }

    /// Closes the gap, then works until the channel of commits is closed.
    pub(super) fn run(mut self, committed: Receiver<u64>, orders: Receiver<Order>, answers: Sender<Answer>) {
        // A failure is logged and told by `status`; the next commit tries again.
        drop(self.attempt(false));
        loop {
            crossbeam_channel::select! {
                recv(committed) -> seq => {
                    if seq.is_ok() {
                        self.gather(&committed);
                    }
                    drop(self.attempt(seq.is_err()));
                    if seq.is_err() {
                        self.last_orders(&orders, &answers);
                        return self.close();
                    }
                }
                recv(orders) -> order => match order {
                    Ok(order) => self.obey(order, &answers),
                    // The drainer ends: what is committed meanwhile is still published, by the other arm.
                    Err(_) => {
                        for _ in committed.iter() {}
                        drop(self.attempt(true));
                        return self.close();
                    }
                },
                default(Duration::from_secs(5)) => self.settle(),
            }
        }
    }

    /// Orders that come while the drainer is ending; it says when there are no more.
    fn last_orders(&mut self, orders: &Receiver<Order>, answers: &Sender<Answer>) {
        for order in orders {
            if !self.is_halted() {
                self.obey(order, answers);
            }
        }
    }

    fn obey(&mut self, order: Order, answers: &Sender<Answer>) {
        let (id, done) = match order {
            Order::Flush(id) => (id, self.attempt(true)),
            Order::Scrub(id) => (id, self.scrub()),
            Order::Rebuild(id) => (id, self.guarded(|p| p.rebuild()).map_err(|e| e.to_string())),
            Order::Check => return self.check(),
        };
        // Halted, it is not done: who asked finds nobody at work, and does it.
        if !self.is_halted() {
            answers.send((id, done)).ok();
        }
    }

    /// Publishes all that is committed; with `scrub` the bytes of what was taken out leave the disk as well. For who works without a drainer.
    pub(super) fn bring_up(&mut self, scrub: bool) -> Result<(), DrainError> {
        let done = if scrub { self.scrub() } else { self.attempt(true) };
        done.map_err(DrainError::Start)
    }

    fn scrub(&mut self) -> Result<(), String> {
        let note = |home: &Home| fs::read_small(&home.residue(), 64).ok().flatten();
        let (before, wanted) = (note(&self.home), self.store.seq().map_err(|error| error.to_string())?);
        self.attempt(true)?;
        if self.is_halted() || self.shown < wanted || self.writer.is_none() {
            return Err("the index is not whole yet; the next drainer goes on".to_owned());
        }
        let done = self.guarded(|publisher| match &mut publisher.writer {
            Some(writer) => Ok(writer.scrub()?),
            None => Ok(()),
        });
        done.inspect_err(|error| self.failed(error)).map_err(|error| error.to_string())?;
        // What was forgotten meanwhile comes with an order of its own, and with a note of its own.
        if self.writer.is_some() && note(&self.home) == before {
            fs::remove(&self.home.residue()).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn is_halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }

    /// Does a piece of work. A damaged segment can make Tantivy panic: that is an error like any other, and the writer is gone.
    fn guarded(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), PublishError>,
    ) -> Result<(), PublishError> {
        self.progress.publishing(true);
        let done = catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(|_| {
            self.writer = None;
            Err(PublishError::Panic)
        });
        self.progress.publishing(false);
        done
    }

    /// Reads every file of the index; damaged, it is rebuilt beside the one that answers as far as it can.
    fn check(&mut self) {
        let done = self.guarded(|publisher| {
            if publisher.is_damaged()? {
                publisher.rebuild()?;
            }
            Ok(())
        });
        match done {
            Ok(()) if self.is_halted() => {}
            Ok(()) => {
                if let Err(error) = fs::remove(&self.home.suspect_index()) {
                    log::warn("index", &[("error", &error)], "The index will be checked again.");
                }
                self.progress.recovered("index");
            }
            Err(error) => self.failed(&error),
        }
    }

    fn is_damaged(&self) -> Result<bool, PublishError> {
        let found = index::damaged_files(&self.home)?;
        if found.is_empty() {
            return Ok(false);
        }
        // A merge may have ended meanwhile, and its sources gone.
        let found = index::damaged_files(&self.home)?;
        if !found.is_empty() {
            let files = found.join(", ");
            log::error("index", &[("files", &files)], "The index is damaged; it is rebuilt from the store.");
        }
        Ok(!found.is_empty())
    }

    fn failed(&self, error: &PublishError) {
        log::error(
            "index",
            &[("error", error)],
            "The index cannot be published; recall answers from the old one.",
        );
        if let PublishError::Store(error) = error
            && error.is_damage()
        {
            suspect(&self.home.suspect_store());
        }
        self.progress.failed("index", error.to_string());
    }

    /// Waits until the store is quiet, or for as long as may be under load.
    fn gather(&mut self, committed: &Receiver<u64>) {
        let watch = clock::Stopwatch::start();
        loop {
            let left = watch.left(self.pace.load);
            match committed.recv_timeout(self.pace.quiet.min(left)) {
                Ok(_) if !left.is_zero() => {
                    // Reading now spreads the work; only the commit waits.
                    if let Err(error) = self.read_in() {
                        log::warn(
                            "index",
                            &[("error", &error)],
                            "Indexing stopped; it is tried again with the next commit.",
                        );
                        // See `publish`: what it holds is not sure any more.
                        self.writer = None;
                        return;
                    }
                }
                Ok(_) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Publishes; on a failure the index is opened anew, or rebuilt where it is damaged; on a second one it waits for the next commit of
    /// the store. `force`: also a new index while the store is still being repaired.
    fn attempt(&mut self, force: bool) -> Result<(), String> {
        // Without a writer the last try to open one failed: nothing can be published before that works.
        let first = self.guarded(|p| if p.writer.is_some() { p.publish(force) } else { p.reopen() });
        let done = match first {
            Ok(()) => Ok(()),
            Err(PublishError::Store(error)) if error.is_damage() => Err(PublishError::Store(error)),
            Err(error) => {
                log::warn("index", &[("error", &error)], "Publishing failed; the index is opened anew.");
                self.guarded(|p| if error.is_damage() && p.is_damaged()? { p.rebuild() } else { p.reopen() })
            }
        };
        self.show();
        match &done {
            Ok(()) => self.progress.recovered("index"),
            Err(error) => self.failed(error),
        }
        done.map_err(|e| e.to_string())
    }

    fn publish(&mut self, force: bool) -> Result<(), PublishError> {
        let done = self.read_in().and_then(|whole| self.commit(whole, force));
        if done.is_err() {
            // 1. A commit fails: the documents that the writer held are gone with its threads. 2. The next commit of the same writer
            // goes well, without them, and says a sequence that includes them. 3. They are missing from then on, and no start finds
            // a gap. So a writer that has failed is not used again: a new one begins where the last good commit ended.
            self.writer = None;
        }
        done
    }

    fn commit(&mut self, whole: bool, force: bool) -> Result<(), PublishError> {
        // A new index is published whole or not at all, and not while the store itself is not whole.
        if self.fresh && (!whole || (self.progress.is_repairing() && !force)) {
            return Ok(());
        }
        if self.fresh || self.written > self.shown || self.ledger.0 != self.ledger.1 {
            let Some(writer) = &mut self.writer else { return Ok(()) };
            writer.obeys(self.ledger.0);
            writer.commit(self.written)?;
            (self.shown, self.ledger.1) = (self.written, self.ledger.0);
            self.fresh = false;
        }
        Ok(())
    }

    /// Brings everything up to the store's sequence into the writer. Returns false when it was halted before the end.
    fn read_in(&mut self) -> Result<bool, PublishError> {
        let Some(writer) = &mut self.writer else { return Ok(false) };
        // The sequence is read before the documents: all of them up to it are then seen. What the ledger says is read before the
        // sequence: its removals lie before it.
        let ledger = self.store.ledger()?;
        let seq = self.store.seq()?;
        if seq <= self.written {
            self.ledger.0 = ledger;
            return Ok(true);
        }
        for id in self.store.removed(self.written, seq)? {
            writer.remove(&id)?;
        }
        loop {
            if self.halt.load(Ordering::Relaxed) {
                return Ok(false);
            }
            self.progress.moved();
            let chunk = self.store.changes(self.written, seq, CHUNK)?;
            if chunk.is_empty() {
                break;
            }
            for document in chunk {
                let seq = document.row.seq;
                writer.upsert(&indexed(document))?;
                self.written = self.written.max(seq);
            }
        }
        self.written = self.written.max(seq);
        self.ledger.0 = ledger;
        Ok(true)
    }

    fn settle(&mut self) {
        if self.fresh {
            return;
        }
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = writer.settle() {
            log::warn("index", &[("error", &error)], "Merging failed; it is tried again later.");
        }
    }

    /// Waits for a merge that runs: cut off, its work would be an orphan. Halted, nobody has time for it.
    fn close(mut self) {
        let Some(writer) = self.writer.take() else { return };
        if self.is_halted() {
            return;
        }
        if let Err(error) = writer.close() {
            log::warn("index", &[("error", &error)], "A merge did not end well; it is done again later.");
        }
    }

    fn show(&self) {
        let documents = self.writer.as_ref().map_or(0, index::Writer::documents);
        self.progress.published(self.shown, documents);
    }
}
