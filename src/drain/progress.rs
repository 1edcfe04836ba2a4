//! What the stages have done so far: shared counters, read by whoever shows or writes figures.

use crate::clock::Stopwatch;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counters of one run. Units: bytes of transcripts, whole files, rows.
#[derive(Debug)]
pub struct Progress {
    watch: Stopwatch,
    bytes: AtomicU64,
    bytes_total: AtomicU64,
    files: AtomicU64,
    files_total: AtomicU64,
    observations: AtomicU64,
    entries: AtomicU64,
    odd: AtomicU64,
    passed: AtomicU64,
    index_seq: AtomicU64,
    index_documents: AtomicU64,
    moved_ms: AtomicI64,
    /// When the reader began with the piece it has in hand; negative while it has none.
    reads_ms: AtomicI64,
    errors: Mutex<BTreeMap<&'static str, String>>,
    notice: Mutex<Option<String>>,
    /// The writer still reads out a damaged store; the index waits for what comes of it.
    mending: AtomicBool,
    repairing: AtomicBool,
    /// The publisher is at work.
    publishing: AtomicBool,
    asked: AtomicBool,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            watch: Stopwatch::start(),
            bytes: AtomicU64::new(0),
            bytes_total: AtomicU64::new(0),
            files: AtomicU64::new(0),
            files_total: AtomicU64::new(0),
            observations: AtomicU64::new(0),
            entries: AtomicU64::new(0),
            odd: AtomicU64::new(0),
            passed: AtomicU64::new(0),
            index_seq: AtomicU64::new(0),
            index_documents: AtomicU64::new(0),
            moved_ms: AtomicI64::new(0),
            reads_ms: AtomicI64::new(-1),
            errors: Mutex::new(BTreeMap::new()),
            notice: Mutex::new(None),
            mending: AtomicBool::new(false),
            repairing: AtomicBool::new(false),
            publishing: AtomicBool::new(false),
            asked: AtomicBool::new(false),
        }
    }
}

impl Progress {
    /// Milliseconds since the start, of a clock that does not jump.
    pub fn now_ms(&self) -> i64 {
        i64::try_from(self.watch.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    /// A stage did something.
    pub(super) fn moved(&self) {
        self.moved_ms.store(self.now_ms(), Ordering::Relaxed);
    }

    /// When a stage last did something, on the clock of [`Progress::now_ms`].
    pub(super) fn moved_ms(&self) -> i64 {
        self.moved_ms.load(Ordering::Relaxed)
    }

    pub(super) fn expect(&self, files: u64, bytes: u64) {
        self.files_total.fetch_add(files, Ordering::Relaxed);
        self.bytes_total.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn read(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.moved();
    }

    /// The reader begins with a piece of a file, or has ended with it.
    pub(super) fn reads(&self, begins: bool) {
        let since = if begins { self.now_ms() } else { -1 };
        self.reads_ms.store(since, Ordering::Relaxed);
    }

    /// When the reader began with the piece it has in hand. Units: milliseconds of [`Progress::now_ms`].
    pub(super) fn reads_since_ms(&self) -> Option<i64> {
        Some(self.reads_ms.load(Ordering::Relaxed)).filter(|since| *since >= 0)
    }

    pub(super) fn file(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
        self.moved();
    }

    pub(super) fn stored(&self, observations: u64) {
        self.observations.fetch_add(observations, Ordering::Relaxed);
        self.moved();
    }

    pub(super) fn entries(&self, entries: u64) {
        self.entries.fetch_add(entries, Ordering::Relaxed);
    }

    pub(super) fn odd(&self, odd: u64) {
        self.odd.fetch_add(odd, Ordering::Relaxed);
    }

    /// A file was passed over: the settings say that nothing of it is to be stored.
    pub(super) fn passed(&self) {
        self.passed.fetch_add(1, Ordering::Relaxed);
    }

    /// Files passed over.
    pub fn passed_files(&self) -> u64 {
        self.passed.load(Ordering::Relaxed)
    }

    pub(super) fn published(&self, seq: u64, documents: u64) {
        self.index_seq.store(seq, Ordering::Relaxed);
        self.index_documents.store(documents, Ordering::Relaxed);
        self.moved();
    }

    /// A part of the work (`store`, `index`, `spool`, `read`, `stage`) fails.
    pub(super) fn failed(&self, part: &'static str, error: String) {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).insert(part, error);
    }

    /// It works again.
    pub(super) fn recovered(&self, part: &'static str) {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).remove(part);
    }

    /// Something that a person should know though nothing fails; `None` takes it back.
    pub(super) fn notice(&self, text: Option<String>) {
        *self.notice.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// The store is being rebuilt; `mending`: the old one is still being read out.
    pub(super) fn repair(&self, repairing: bool, mending: bool) {
        self.repairing.store(repairing, Ordering::Relaxed);
        self.mending.store(mending, Ordering::Relaxed);
    }

    pub(super) fn is_repairing(&self) -> bool {
        self.repairing.load(Ordering::Relaxed)
    }

    pub(super) fn is_mending(&self) -> bool {
        self.mending.load(Ordering::Relaxed)
    }

    /// The writer does, or does no more, what a person asked or what was left: one long step.
    pub(super) fn asked(&self, at_work: bool) {
        self.asked.store(at_work, Ordering::Relaxed);
    }

    /// Is it at that?
    pub(super) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The publisher begins or ends a piece of work; both are a movement.
    pub(super) fn publishing(&self, at_work: bool) {
        self.publishing.store(at_work, Ordering::Relaxed);
        self.moved();
    }

    pub(super) fn is_publishing(&self) -> bool {
        self.publishing.load(Ordering::Relaxed)
    }

    /// Read, of how much is known to be read: bytes.
    pub fn bytes(&self) -> (u64, u64) {
        (self.bytes.load(Ordering::Relaxed), self.bytes_total.load(Ordering::Relaxed))
    }

    /// Done, of how many: files.
    pub fn files(&self) -> (u64, u64) {
        (self.files.load(Ordering::Relaxed), self.files_total.load(Ordering::Relaxed))
    }

    /// New observations stored.
    pub fn observations(&self) -> u64 {
        self.observations.load(Ordering::Relaxed)
    }

    /// Entries of the spool that are done.
    pub fn entries_done(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Things set aside.
    pub fn odd_found(&self) -> u64 {
        self.odd.load(Ordering::Relaxed)
    }

    /// The published sequence, and the documents in the index.
    pub fn index(&self) -> (u64, u64) {
        (self.index_seq.load(Ordering::Relaxed), self.index_documents.load(Ordering::Relaxed))
    }

    /// What fails now.
    pub fn last_error(&self) -> Option<String> {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let all: Vec<&str> = errors.values().map(String::as_str).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// What fails now, else what a person should know: for `status`.
    pub(super) fn last_word(&self) -> Option<String> {
        self.last_error().or_else(|| self.notice.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}
