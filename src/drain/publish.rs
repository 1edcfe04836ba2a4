//! The publisher stage: what the store has gained goes into the index, is committed with the store's sequence, and answers from then on.

use super::DrainError;
use super::progress::Progress;
use crate::config::Home;
use crate::index::{self, IndexError};
use crate::store::{Block, Document, Reader, StoreError};
use crate::{clock, log};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::time::Duration;

/// What the stage is asked for.
pub(super) enum Order {
    /// Publish all that is committed, then answer.
    Flush(Sender<Result<(), String>>),
    /// Begin a new index beside the published one, then answer.
    Rebuild(Sender<Result<(), String>>),
}

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
    progress: Arc<Progress>,
}

/// Why a publisher fails; the index is derived, so the answer is to begin again.
#[derive(Debug, thiserror::Error)]
pub(super) enum PublishError {
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Publisher {
    /// Opens store and index and closes the gap between them (D6).
    pub(super) fn open(home: &Home, pace: Pace, progress: Arc<Progress>) -> Result<Self, PublishError> {
        let store = Reader::open(home)?;
        let mut publisher =
            Self { home: home.clone(), pace, store, writer: None, written: 0, shown: 0, progress };
        publisher.reopen()?;
        Ok(publisher)
    }

    fn reopen(&mut self) -> Result<(), PublishError> {
        // Two writers of one index cannot be: the old one goes first.
        self.writer = None;
        let opened = index::Writer::open(&self.home)?;
        let seq = self.store.seq()?;
        let mut writer = opened.writer;
        let mut from = opened.seq;
        let mut fresh = opened.fresh;
        if from > seq {
            log::warn(
                "index",
                &[("index", &from), ("store", &seq)],
                "The index is ahead of the store; it is rebuilt.",
            );
            writer = writer.discard(&self.home)?;
            (from, fresh) = (0, true);
        }
        self.writer = Some(writer);
        (self.written, self.shown) = (from, from);
        if fresh || from < seq {
            self.publish(fresh)?;
        }
        self.show();
        Ok(())
    }

    /// Begins a new index beside the published one, and puts it in its place when it is whole.
    pub(super) fn rebuild(&mut self) -> Result<(), PublishError> {
        let Some(writer) = self.writer.take() else { return self.reopen() };
        self.writer = Some(writer.discard(&self.home)?);
        (self.written, self.shown) = (0, 0);
        self.publish(true)?;
        self.show();
        Ok(())
    }

    /// Works until the channel of commits is closed.
    pub(super) fn run(mut self, committed: Receiver<u64>, orders: Receiver<Order>) {
        loop {
            crossbeam_channel::select! {
                recv(committed) -> seq => {
                    if seq.is_ok() {
                        self.gather(&committed);
                    }
                    // A failure is logged and told by `status`; the next commit tries again.
                    drop(self.attempt());
                    if seq.is_err() {
                        return self.close();
                    }
                }
                recv(orders) -> order => match order {
                    Ok(Order::Flush(answer)) => {
                        let done = self.attempt();
                        drop(answer.send(done));
                    }
                    Ok(Order::Rebuild(answer)) => {
                        let done = self.rebuild().map_err(|e| e.to_string());
                        drop(answer.send(done));
                    }
                    // The drainer ends: what is committed meanwhile is still published, by the other arm.
                    Err(_) => {
                        for _ in committed.iter() {}
                        drop(self.attempt());
                        return self.close();
                    }
                },
                default(Duration::from_secs(5)) => self.settle(),
            }
        }
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

    /// Publishes; on a failure the index is opened anew, and on a second one it waits for the next commit of the store.
    fn attempt(&mut self) -> Result<(), String> {
        // Without a writer the last try to open one failed: nothing can be published before that works.
        let first = if self.writer.is_some() { self.publish(false) } else { self.reopen() };
        let done = match first {
            Ok(()) => Ok(()),
            Err(error) => {
                log::warn("index", &[("error", &error)], "Publishing failed; the index is opened anew.");
                self.reopen()
            }
        };
        self.show();
        if let Err(error) = &done {
            log::error(
                "index",
                &[("error", error)],
                "The index cannot be published; recall answers from the old one.",
            );
            self.progress.failed("index", error.to_string());
        }
        if done.is_ok() {
            self.progress.recovered("index");
        }
        done.map_err(|e| e.to_string())
    }

    fn publish(&mut self, fresh: bool) -> Result<(), PublishError> {
        let done = self.read_in().and_then(|()| self.commit(fresh));
        if done.is_err() {
            // 1. A commit fails: the documents that the writer held are gone with its threads. 2. The next commit of the same writer
            // goes well, without them, and says a sequence that includes them. 3. They are missing from then on, and no start finds
            // a gap. So a writer that has failed is not used again: a new one begins where the last good commit ended.
            self.writer = None;
        }
        done
    }

    fn commit(&mut self, fresh: bool) -> Result<(), PublishError> {
        if fresh || self.written > self.shown {
            let Some(writer) = &mut self.writer else { return Ok(()) };
            writer.commit(self.written)?;
            self.shown = self.written;
        }
        Ok(())
    }

    /// Brings everything up to the store's sequence into the writer.
    fn read_in(&mut self) -> Result<(), PublishError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        // The sequence is read before the documents: all of them up to it are then seen.
        let seq = self.store.seq()?;
        if seq <= self.written {
            return Ok(());
        }
        for id in self.store.removed(self.written, seq)? {
            writer.remove(&id)?;
        }
        loop {
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
        Ok(())
    }

    fn settle(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = writer.settle() {
            log::warn("index", &[("error", &error)], "Merging failed; it is tried again later.");
        }
    }

    /// Waits for a merge that runs: cut off, its work would be an orphan.
    fn close(mut self) {
        let Some(writer) = self.writer.take() else { return };
        if let Err(error) = writer.close() {
            log::warn("index", &[("error", &error)], "A merge did not end well; it is done again later.");
        }
    }

    fn show(&self) {
        let documents = self.writer.as_ref().map_or(0, index::Writer::documents);
        self.progress.published(self.shown, documents);
    }
}

/// The row as the index holds it: prose and tool text apart, thinking and unscored text left out.
fn indexed(document: Document) -> index::Document {
    let mut prose = String::new();
    let mut tool = String::new();
    let add = |to: &mut String, text: &str| {
        if !to.is_empty() {
            to.push('\n');
        }
        to.push_str(text);
    };
    if document.scored {
        for block in &document.blocks {
            match block {
                Block::Text { t } if document.row.speaker == "tool" => add(&mut tool, t),
                Block::Text { t } => add(&mut prose, t),
                Block::Use { .. } | Block::Result { .. } | Block::Other { .. } => {
                    add(&mut tool, &block.text())
                }
                Block::Think { .. } | Block::Media { .. } => {}
            }
        }
    }
    let (mut request, mut header) = (String::new(), String::new());
    if let Some(fields) = &document.fields {
        prose = fields.text();
        request.clone_from(&fields.request);
        header = serde_json::to_string(fields).unwrap_or_default();
    }
    let title = match document.row.kind.as_str() {
        "session" | "session-summary" => document.title.unwrap_or_default(),
        _ => String::new(),
    };
    index::Document {
        id: document.row.id,
        kind: document.row.kind,
        sessions: document.sessions,
        project: document.row.project,
        host: document.host,
        speaker: document.row.speaker,
        time_ms: document.time_ms.unwrap_or(0),
        record: document.row.record.unwrap_or_default(),
        agent: document.agent,
        prose,
        tool,
        title,
        request,
        command: document.command.unwrap_or_default(),
        files: document.files,
        status: document.row.status.unwrap_or_default(),
        header,
        profile: document.profile,
        seq: document.row.seq,
    }
}
