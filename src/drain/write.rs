//! The writer stage: parcels into transactions. An entry is unlinked when what it stands for is committed; the index follows from the store.

mod between;
mod project;

use super::asks::{Ask, Done};
use super::machine::Event;
use super::progress::Progress;
use super::read::{Batch, End, Parcel, Task, What};
use super::repair::Repair;
use super::unwritten;
use crate::config::{self, Home, Secret};
use crate::redact::{Redactor, Report};
use crate::spool::{self, Entry, Odd};
use crate::store::{Change, Claimant, Dated, SessionFacts, Store, StoreError, Write};
use crate::{clock, fs, id, index, log, step};
use crossbeam_channel::{Receiver, Sender, TryRecvError};
pub(super) use project::publish_projects;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// The writer with what it needs.
pub(super) struct Writer {
    pub home: Home,
    pub secret: Secret,
    pub redactor: Redactor,
    pub parcels: Receiver<Parcel>,
    /// What persons ask of the store, by the command's id, and the answers.
    pub asks: Receiver<(String, Ask)>,
    pub told: Sender<(String, Result<Done, String>)>,
    pub finished: Sender<Event>,
    pub committed: Sender<u64>,
    pub progress: Arc<Progress>,
    /// How long a transaction may stay open when more is coming: zero while sessions wait for their words, longer on import.
    pub hold: Duration,
    /// Tasks that the reader was given and whose end has not come here: more is coming only as long as there are any.
    pub in_hand: Arc<AtomicUsize>,
    /// Directories whose project was looked up.
    pub projects: BTreeMap<PathBuf, config::Project>,
    /// Panics in a row, by file.
    pub panics: BTreeMap<PathBuf, u32>,
    /// A damaged store that is still to be read out.
    pub repair: Option<Repair>,
    /// The process is to end.
    pub halt: Arc<AtomicBool>,
}

/// After so many panics a file is set aside: the cause is in it, and its neighbours share its transactions.
const MAX_PANICS: u32 = 3;
/// A word about the directory of a session, not yet redacted.
struct Said<'a> {
    by: Claimant,
    ms: i64,
    directory: &'a Path,
}

/// With nothing in hand a transaction stays open this long: tasks are given one by one, and the reader may be quicker.
const BETWEEN_TASKS: Duration = Duration::from_millis(10);

/// A transaction is committed at this many rows, whatever comes.
const TRANSACTION_ROWS: usize = 8_000;

/// What a transaction did, told when it holds.
#[derive(Default)]
struct Pending {
    rows: usize,
    ended: Vec<(Task, End)>,
    odd: Vec<(String, Odd)>,
    observations: u64,
    new_project: bool,
    /// Rows were taken away that nobody was to see.
    erased: bool,
}

impl Writer {
    /// Works until the channel of parcels is closed.
    pub(super) fn run(mut self, mut store: Store) {
        // Tasks whose rows were lost with a transaction: what still comes of them is passed over.
        let mut lost: BTreeSet<PathBuf> = BTreeSet::new();
        let mut behind = true;
        // What a drainer that died left to do is tried again, less and less often: meanwhile others may have the store.
        let (mut tries, mut tried) = (0_u32, clock::Stopwatch::start());
        loop {
            let patience = Duration::from_secs(if tries == 0 { 0 } else { 1 << tries.min(9) });
            if behind && tried.left(patience).is_zero() {
                behind = !self.catch_up(&mut store);
                tries = if behind { tries + 1 } else { 0 };
                tried = clock::Stopwatch::start();
            }
            let wait = Duration::from_secs(if behind { 1 } else { 60 });
            let first = crossbeam_channel::select! {
                recv(self.parcels) -> first => match first {
                    Ok(first) => first,
                    Err(_) => {
                        while let Ok((id, ask)) = self.asks.try_recv() {
                            self.perform(&mut store, id, &ask);
                        }
                        return store.settle();
                    }
                },
                recv(self.asks) -> asked => {
                    match asked {
                        Ok((id, ask)) => behind |= !self.perform(&mut store, id, &ask),
                        // The drainer ends; parcels say when.
                        Err(_) => self.asks = crossbeam_channel::never(),
                    }
                    continue;
                }
                default(wait) => continue,
            };
            let mut pending = Pending::default();
            let mut names = BTreeSet::new();
            let done = self.transaction(&mut store, first, &mut pending, &mut names, &mut lost);
            match done {
                Ok(seq) => {
                    if pending.erased {
                        self.scrub(&mut store);
                    }
                    self.settle(seq, pending);
                }
                Err(error) => self.lose(&error, pending, names, &mut lost),
            }
        }
    }

    fn transaction(
        &mut self,
        store: &mut Store,
        first: Parcel,
        pending: &mut Pending,
        names: &mut BTreeSet<PathBuf>,
        lost: &mut BTreeSet<PathBuf>,
    ) -> Result<u64, StoreError> {
        let watch = clock::Stopwatch::start();
        let mut write = store.begin();
        let mut fault = None;
        let mut next = Some(first);
        while let Some(parcel) = next.take() {
            match (&mut write, parcel) {
                (Ok(_), Parcel::Batch(batch)) if self.is_fatal(&batch.name) => {}
                (Ok(write), Parcel::Batch(batch)) if !lost.contains(&batch.name) => {
                    let name = batch.name.clone();
                    names.insert(name.clone());
                    if fault.is_none() {
                        fault = self.guarded(&name, |own| own.apply(write, *batch, pending)).err();
                    }
                }
                (Err(_), Parcel::Batch(batch)) => {
                    names.insert(batch.name);
                }
                (_, Parcel::Batch(_)) => {}
                (write, Parcel::End(task, end)) => {
                    self.in_hand.fetch_sub(1, Ordering::Relaxed);
                    let name = task.job.path.clone();
                    let was_lost = lost.remove(&name);
                    let end = match end {
                        End::Read if self.is_fatal(&name) => {
                            End::Odd("storing it ended in a panic again and again".to_owned())
                        }
                        _ if was_lost => End::Failed("its rows were lost with their transaction".to_owned()),
                        end => end,
                    };
                    if let (Ok(write), None, false) = (write, &fault, self.is_fatal(&name)) {
                        fault = self.guarded(&name, |own| own.end(write, &task, &end, pending)).err();
                    }
                    pending.ended.push((*task, end));
                }
            }
            if pending.rows >= TRANSACTION_ROWS || fault.is_some() {
                break;
            }
            next = match self.parcels.try_recv() {
                Ok(parcel) => Some(parcel),
                Err(TryRecvError::Disconnected) => None,
                Err(TryRecvError::Empty) => {
                    let idle = self.in_hand.load(Ordering::Relaxed) == 0;
                    let left = watch.left(self.hold);
                    self.parcels.recv_timeout(if idle { left.min(BETWEEN_TASKS) } else { left }).ok()
                }
            };
        }
        let mut write = write?;
        if let Some(fault) = fault {
            return Err(fault);
        }
        if !pending.ended.is_empty() && write.is_behind()? {
            write.derive(&mut |text, take| index::tokens::terms(text).for_each(take))?;
        }
        // 1. A range of a transcript is lost, which the transaction counts. 2. It is committed. 3. The process dies before the reason
        // lies in `odd/`, and the next one finds nothing left to tell. So the reasons come first; a transaction that fails is done
        // again, and gives the same names.
        for (name, odd) in &pending.odd {
            spool::write_report(&self.home, name, odd)?;
        }
        write.commit().map(|seq| u64::try_from(seq).unwrap_or(0))
    }

    fn is_fatal(&self, name: &Path) -> bool {
        self.panics.get(name).is_some_and(|times| *times >= MAX_PANICS)
    }

    /// Does a part of a transaction. A panic in it is a fault of that transaction, which is rolled back, and counted against the file.
    fn guarded(
        &mut self,
        name: &Path,
        work: impl FnOnce(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let done = catch_unwind(AssertUnwindSafe(|| {
            step::poison("write::apply", name.as_os_str().as_encoded_bytes());
            work(self)
        }));
        done.unwrap_or_else(|_| {
            *self.panics.entry(name.to_path_buf()).or_default() += 1;
            Err(StoreError::Io(std::io::Error::other("a panic while a transcript was stored")))
        })
    }

    fn apply(
        &mut self,
        write: &mut Write<'_>,
        batch: Batch,
        pending: &mut Pending,
    ) -> Result<(), StoreError> {
        let file = write.file(&batch.path)?;
        if batch.restart {
            write.restart_file(file)?;
        }
        unwritten::forget(write, file)?;
        write.pass_no_more(file)?;
        let sessions = batch.sessions.store(write)?;
        let refused = batch.sessions.directories().any(|(id, _)| !sessions.contains_key(id));
        for (id, directory) in batch.sessions.directories() {
            let Some(session) = sessions.get(id) else { continue };
            write.file_holds(file, *session)?;
            if let Some(Dated { ms, text }) = directory {
                let said = Said { by: Claimant::Record, ms: *ms, directory: Path::new(text) };
                self.assign(write, *session, said, batch.given.as_ref(), pending)?;
            }
        }
        // A session that says nowhere where it ran belongs to the folder that keeps its transcript.
        let kept_in = batch.path.parent().unwrap_or(Path::new("/"));
        let spoken: BTreeSet<i64> = batch
            .rows
            .iter()
            .filter(|row| matches!(row.what, What::Said(_)))
            .filter_map(|row| sessions.get(&row.session).copied())
            .collect();
        for session in spoken {
            let said = Said { by: Claimant::Folder, ms: 0, directory: kept_in };
            self.assign(write, session, said, batch.given.as_ref(), pending)?;
        }
        let mut private: BTreeMap<&str, u64> = BTreeMap::new();
        for row in batch.rows {
            let Some(session) = sessions.get(&row.session) else { continue };
            match row.what {
                What::Private { prompt } => pending.erased |= write.private_prompt(*session, &prompt)?,
                What::Said(mut observation) => {
                    observation.session = *session;
                    if write.is_private(&observation)? {
                        *private.entry(observation.speaker).or_default() += 1;
                        continue;
                    }
                    pending.rows += 1;
                    pending.observations += u64::from(write.observe(&observation)? == Change::New);
                }
                What::Output(output) => write.output(*session, &output)?,
                What::Boundary { id, at_ms, at, time } => {
                    write.boundary(*session, &id, at_ms, at, time.as_deref())?;
                }
                What::Title { title, by_person, place } => write.title(*session, &title, by_person, place)?,
            }
        }
        for (leaf, title) in &batch.summaries {
            write.summary(leaf, title)?;
        }
        for (class, kind, lines) in batch.lines.iter() {
            let left_out = if class == "said" { private.get(kind).copied().unwrap_or(0) } else { 0 };
            write.count_lines(file, class, kind, lines.saturating_sub(left_out))?;
        }
        for (speaker, lines) in private {
            write.count_lines(file, "private", speaker, lines)?;
        }
        for (at, kind, bytes, sha256) in &batch.silent {
            write.silent(file, *at, kind, *bytes, sha256)?;
        }
        write.set_file_state(file, &batch.state)?;
        write.name_file(file, &batch.path, refused)?;
        pending.odd.extend(batch.odd);
        for (rule, times) in batch.report.counts() {
            write.count_lines(file, "redacted", rule, *times)?;
        }
        Ok(())
    }

    /// What the entries of a task say, and what is left to do when its file is gone.
    fn end(
        &mut self,
        write: &mut Write<'_>,
        task: &Task,
        end: &End,
        pending: &mut Pending,
    ) -> Result<(), StoreError> {
        if matches!(end, End::Failed(_) | End::Halted) {
            return Ok(());
        }
        if let End::Passed(why, size) = end {
            return write.pass_over(&task.path, why.name(), *size);
        }
        let mut entries: Vec<&Entry> = task.entries.iter().map(|(_, entry)| entry).collect();
        entries.sort_by(|a, b| a.time.cmp(&b.time));
        let mut told = Vec::new();
        for entry in &entries {
            let id = self.redactor.clean(&entry.session, &mut Report::default()).into_owned();
            let facts = SessionFacts { id, host: entry.host.clone(), ..SessionFacts::default() };
            let Some(session) = write.session(&facts)? else { continue };
            told.push((*entry, session));
            if let Some(directory) = entry.project_dir.as_ref().or(entry.cwd.as_ref()) {
                let ms = clock::parse(&entry.time).map_or(i64::MAX, |time| time.0);
                let said = Said { by: Claimant::Event, ms, directory };
                self.assign(write, session, said, None, pending)?;
            }
            let say = |text: &str| self.redactor.clean(text, &mut Report::default()).into_owned();
            match (entry.event.as_str(), &entry.reason) {
                ("session-end", reason) => {
                    let reason = say(reason.as_deref().unwrap_or("other"));
                    write.session_ended(session, Some((&say(&entry.time), &reason)))?;
                }
                ("session-start", _) => write.session_ended(session, None)?,
                ("pre-compact", Some(trigger)) => write.session_trigger(session, &say(trigger))?,
                _ => {}
            }
        }
        if let End::Absent = end {
            let wanted = entries.iter().filter(|e| e.transcript == task.job.path).map(|e| e.cursor).max();
            match wanted.unwrap_or(0).max(task.state.size) {
                0 => unwritten::note(write, &task.job.path, &told)?,
                end => self.gone(write, task, end, &told, pending)?,
            }
        }
        if told.is_empty()
            && !entries.is_empty()
            && let Some(file) = write.known_file(&task.path)?
        {
            write.name_file(file, &task.path, true)?;
        }
        Ok(())
    }

    /// A file that was there and is gone: what was not stored of it is lost, and that is said.
    fn gone(
        &self,
        write: &mut Write<'_>,
        task: &Task,
        end: u64,
        told: &[(&Entry, i64)],
        pending: &mut Pending,
    ) -> Result<(), StoreError> {
        let file = write.file(&task.path)?;
        let state = write.file_gone(file)?;
        if end <= state.settled {
            return Ok(());
        }
        // Nobody has read whose words these were: only the events say it.
        for (_, session) in told {
            write.file_holds(file, *session)?;
        }
        let path = self.redactor.clean(&task.path.to_string_lossy(), &mut Report::default()).into_owned();
        let mut odd = Odd::new("a transcript was gone before it was stored to its end");
        odd.path = Some(path);
        (odd.from, odd.to) = (Some(state.settled), Some(end));
        let name = id::short(&id::sha256(task.path.to_string_lossy().as_bytes()), 16).to_owned();
        // An entry that is done again tells the same.
        if write.lost(file, state.settled, end)? {
            pending.odd.push((format!("lost.{name}.{:016x}", state.settled), odd));
        }
        Ok(())
    }

    /// The transaction holds: entries go, the index is told, the machine hears of it.
    fn settle(&mut self, seq: u64, pending: Pending) {
        pending.odd.iter().for_each(|_| self.progress.odd(1));
        if pending.new_project {
            publish_projects(&self.home);
        }
        self.progress.recovered("store");
        self.progress.stored(pending.observations);
        // The store is the truth, and it is committed: the channel only wakes the index.
        self.committed.try_send(seq).ok();
        for (task, end) in pending.ended {
            let stored = !matches!(end, End::Failed(_));
            if matches!(end, End::Passed(..)) {
                self.progress.passed();
            }
            match &end {
                End::Failed(why) => {
                    log::warn("drain", &[("why", why)], "A transcript could not be read; it is tried again.")
                }
                End::Odd(why) => self.set_aside(&task, why),
                End::Read | End::Passed(..) | End::Absent => {
                    self.panics.remove(&task.job.path);
                    self.unlink(&task);
                }
                // Its entries stay in `cur/`: the next drainer goes on with them.
                End::Halted => {}
            }
            self.finished(task, stored);
        }
    }

    fn unlink(&self, task: &Task) {
        for (path, _) in &task.entries {
            if let Err(error) = fs::remove(path) {
                log::warn(
                    "drain",
                    &[("error", &error)],
                    "A finished entry could not be removed; it will be done again.",
                );
            }
        }
        self.progress.entries(task.entries.len() as u64);
    }

    fn set_aside(&self, task: &Task, why: &str) {
        let mut odd = Odd::new(format!("its transcript cannot be used: {why}"));
        odd.path =
            Some(self.redactor.clean(&task.path.to_string_lossy(), &mut Report::default()).into_owned());
        if task.entries.is_empty() {
            // Nobody announced it (a person named it, or a sweep found it): the reason is kept all the same.
            let name = id::short(&id::sha256(task.path.to_string_lossy().as_bytes()), 16).to_owned();
            if let Err(error) = spool::write_report(&self.home, &format!("file.{name}"), &odd) {
                log::warn("drain", &[("error", &error)], "A report of something odd could not be written.");
            }
            self.progress.odd(1);
        }
        for (path, _) in &task.entries {
            if let Err(error) = spool::quarantine(&self.home, path, &odd) {
                log::warn("drain", &[("error", &error)], "An entry could not be set aside.");
            }
            self.progress.odd(1);
        }
    }

    /// Nothing of the transaction happened: every task in it is to be done again.
    fn lose(
        &self,
        error: &StoreError,
        pending: Pending,
        names: BTreeSet<PathBuf>,
        lost: &mut BTreeSet<PathBuf>,
    ) {
        self.failed(error);
        let ended: BTreeSet<PathBuf> = pending.ended.iter().map(|(task, _)| task.job.path.clone()).collect();
        // Of these more parcels will come; their end is then a failure.
        lost.extend(names.into_iter().filter(|name| !ended.contains(name)));
        for (task, _) in pending.ended {
            self.finished(task, false);
        }
    }

    fn finished(&self, task: Task, stored: bool) {
        self.progress.file();
        let now_ms = self.progress.now_ms();
        let event = Event::Finished { now_ms, path: task.job.path, stored };
        // Closed: the process ends.
        drop(self.finished.send(event));
    }
}
