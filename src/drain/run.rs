//! Performs what the machine decides: claims, reads, sweeps, beats, answers; and holds the stages together.

use super::asks::{Ask, Done};
use super::commands::Reply;
use super::figures::Board;
use super::machine::{self, Effect, Event, Job, Mode, Request, State};
use super::progress::Progress;
use super::publish::{Answer, Order, Pace, Publisher};
use super::read::{self, Task};
use super::repair::{self, Repair};
use super::stand::Stand;
use super::suspects::{Caution, Suspects};
use super::sweep;
use super::watch::Watch;
use super::write::Writer;
use super::{DrainError, apart, prepare};
use crate::config::{Home, Project, Secret};
use crate::redact::{Redactor, Report};
use crate::spool::{Backlog, Entry};
use crate::store::{Figures, Reader};
use crate::{clock, fs, log, store};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What a run is to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// The data directory.
    pub home: Home,
    /// Why it runs.
    pub mode: Mode,
    /// Folders swept for transcripts; in [`Mode::Import`], the files and folders to import.
    pub roots: Vec<PathBuf>,
    /// Gives every session without a project this one.
    pub project: Option<Project>,
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Outcome {
    /// Spool entries done.
    pub entries: u64,
    /// Files read.
    pub files: u64,
    /// New observations.
    pub observations: u64,
    /// New documents, derived ones included.
    pub documents: u64,
    /// Things set aside.
    pub odd: u64,
    /// Files passed over: the settings say that nothing of them is to be stored.
    pub passed: u64,
    /// What went wrong last, if anything did.
    #[serde(skip)]
    pub error: Option<String>,
}

pub(super) fn start(error: impl std::fmt::Display) -> DrainError {
    DrainError::Start(error.to_string())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    InOrder,
    AtOnce,
    Stuck,
}

const TICK: Duration = Duration::from_millis(200);

pub(super) struct Drainer {
    pub(super) options: Options,
    pub(super) store: Reader,
    pub(super) state: State,
    pub(super) tasks: Option<Sender<Task>>,
    /// See the writer.
    in_hand: Arc<AtomicUsize>,
    pub(super) orders: Option<Sender<Order>>,
    pub(super) answers: Receiver<Answer>,
    pub(super) asks: Sender<(String, Ask)>,
    pub(super) told: Receiver<(String, Result<Done, String>)>,
    pub(super) done: Receiver<Event>,
    pub(super) wake: Receiver<()>,
    pub(super) watch: Watch,
    pub(super) halt: Arc<AtomicBool>,
    pub(super) progress: Arc<Progress>,
    pub(super) threads: Vec<JoinHandle<()>>,
    pub(super) claims: BTreeMap<String, (PathBuf, Entry)>,
    pub(super) newer: HashSet<String>,
    pub(super) backlog: Backlog,
    suspects: Arc<Mutex<Suspects>>,
    /// The piece that the reader has in hand: since when, and the processor time used until then.
    piece: (i64, Duration),
    pub(super) commands: BTreeMap<String, (PathBuf, Asked)>,
    /// Files whose project a person named in a command.
    pub(super) given: BTreeMap<PathBuf, Project>,
    pub(super) board: Board,
    pub(super) redactor: Redactor,
    pub(super) beat_ms: i64,
    pub(super) stand: Stand,
    /// The stamp of the user's settings when their rules were read.
    pub(super) settings: Option<(std::time::SystemTime, u64)>,
}

/// What a command found when it came, to tell what it did.
#[derive(Default)]
pub(super) struct Asked {
    /// The index is to be rebuilt, and nothing is read.
    pub(super) rebuild: bool,
    /// What the store did, which is answered once that is published.
    pub(super) reply: Option<Reply>,
    pub(super) files: u64,
    pub(super) observations: u64,
    pub(super) documents: u64,
    pub(super) odd: u64,
    pub(super) passed: u64,
}

impl Drainer {
    pub(super) fn start(options: &Options) -> Result<Self, DrainError> {
        let home = &options.home;
        prepare(home)?;
        fs::remove(&home.starting())?;
        // It was asked of the one before: of two versions in turn, each must be able to work.
        fs::remove(&home.successor())?;
        let secret = Secret::open(home).map_err(start)?;
        let settings = super::pulse::stamp();
        let redactor = Redactor::new(&secret);
        super::rules::log_unusable(redactor.problems());
        let unclean = store::is_unclean(home);
        let (store, repair) = repair::open(home)?;
        // A repaired store is filled with what older rules let through.
        if repair.is_none() {
            store.begin_with_rules(i64::from(redactor.version()))?;
        }
        let stand = Stand::take(home, unclean && repair.is_none());
        let progress = Arc::new(Progress::default());
        if let Some(repair) = &repair {
            progress.repair(true, true);
            progress.notice(Some(repair.notice(home)));
        }
        let live = matches!(options.mode, Mode::Serve { .. });
        let pace = if live { Pace::LIVE } else { Pace::BULK };
        let halt = Arc::new(AtomicBool::new(false));
        let publisher = Publisher::open(home, pace, Arc::clone(&halt), Arc::clone(&progress))?;
        let (tasks, task_queue) = bounded(machine::MAX_ACTIVE);
        // Batches hold megabytes: two wait at most.
        let (parcels, parcel_queue) = bounded(2);
        let (committed, commits) = bounded(64);
        let (orders, order_queue) = unbounded();
        let (answer, answers) = unbounded();
        let (finished, done) = unbounded();
        let (asks, asked) = unbounded();
        let (tell, told) = unbounded();
        let (waker, wake) = bounded(1);
        let hold = if live { Duration::ZERO } else { Duration::from_millis(800) };
        let in_hand = Arc::new(AtomicUsize::new(0));
        let writer = Writer {
            home: home.clone(),
            secret: secret.clone(),
            redactor: redactor.clone(),
            parcels: parcel_queue,
            asks: asked,
            told: tell,
            finished,
            committed,
            progress: Arc::clone(&progress),
            hold,
            in_hand: Arc::clone(&in_hand),
            projects: BTreeMap::new(),
            panics: BTreeMap::new(),
            repair,
            halt: Arc::clone(&halt),
        };
        let own_redactor = redactor.clone();
        let suspects = Arc::new(Mutex::new(Suspects::open(home)));
        let (halted, read_progress) = (Arc::clone(&halt), Arc::clone(&progress));
        let (read_home, suspected) = (home.clone(), Arc::clone(&suspects));
        let threads = vec![
            spawn("read", move || {
                read::run(task_queue, parcels, redactor, halted, read_progress, read_home, suspected)
            })?,
            spawn("write", move || writer.run(store))?,
            spawn("publish", move || publisher.run(commits, order_queue, answer))?,
        ];
        let mut board = Board::new();
        let reader = Reader::open(home)?;
        board.write(home, &reader, &progress, &own_redactor, true);
        Ok(Self {
            options: options.clone(),
            store: reader,
            state: State::begin(options.mode, progress.now_ms()),
            tasks: Some(tasks),
            in_hand,
            orders: Some(orders),
            answers,
            asks,
            told,
            done,
            watch: Watch::start(home, waker),
            wake,
            halt,
            progress,
            threads,
            claims: BTreeMap::new(),
            newer: HashSet::new(),
            backlog: Backlog::default(),
            suspects,
            piece: (-1, Duration::ZERO),
            commands: BTreeMap::new(),
            given: BTreeMap::new(),
            board,
            redactor: own_redactor,
            beat_ms: -super::pulse::BEAT_MS,
            stand,
            settings,
        })
    }

    pub(super) fn figures(&self) -> Result<Figures, DrainError> {
        Ok(self.store.figures()?)
    }

    pub(super) fn work(&mut self, observe: &mut dyn FnMut(&Progress)) -> Result<Exit, DrainError> {
        let signals = signals()?;
        let mut events = VecDeque::new();
        if self.options.mode == Mode::Import {
            events.push_back(self.import()?);
        }
        events.push_back(Event::Tick(self.progress.now_ms()));
        loop {
            while let Some(event) = events.pop_front() {
                let state = std::mem::replace(&mut self.state, State::Stopped);
                let (state, effects) = machine::step(state, event);
                self.state = state;
                for effect in effects {
                    match effect {
                        Effect::Finish => return Ok(Exit::InOrder),
                        Effect::Exit => return Ok(Exit::AtOnce),
                        effect => events.extend(self.perform(effect)?),
                    }
                }
            }
            if self.is_stuck() {
                log::error(
                    "drain",
                    &[],
                    "The reader does not come back from a piece of a transcript; this drainer ends.",
                );
                return Ok(Exit::Stuck);
            }
            observe(&self.progress);
            events.extend(self.look_around()?);
            self.board.write(&self.options.home, &self.store, &self.progress, &self.redactor, false);
            let event = crossbeam_channel::select! {
                recv(self.done) -> event => match event {
                    Ok(event) => event,
                    Err(_) => return Err(DrainError::Start("the writer has ended; see log/drain.log".to_owned())),
                },
                recv(self.wake) -> _ => Event::Woken,
                recv(signals) -> _ => Event::Signal,
                recv(self.told) -> told => {
                    if let Ok((id, done)) = told {
                        self.told(id, done)?;
                    }
                    Event::Tick(self.progress.now_ms())
                }
                recv(self.answers) -> answer => {
                    if let Ok((id, done)) = answer {
                        self.answered(&id, done);
                    }
                    Event::Tick(self.progress.now_ms())
                }
                default(TICK) => Event::Tick(self.progress.now_ms()),
            };
            // The clock goes on under load, too.
            if !matches!(event, Event::Tick(_)) {
                events.push_back(Event::Tick(self.progress.now_ms()));
            }
            events.push_back(event);
        }
    }

    fn perform(&mut self, effect: Effect) -> Result<Vec<Event>, DrainError> {
        Ok(match effect {
            Effect::Scan => self.scan()?,
            Effect::Sweep => vec![self.sweep()?],
            Effect::Look(path) => vec![self.look(&path)?],
            Effect::Read(job) => self.read(job)?,
            Effect::Beat => {
                self.beat();
                Vec::new()
            }
            Effect::Answer(id) => {
                self.answer(&id)?;
                Vec::new()
            }
            Effect::GiveUp(path) => {
                let place = self.redactor.clean(&path.to_string_lossy(), &mut Report::default()).into_owned();
                self.progress
                    .failed("read", format!("{place} could not be read or stored; log/drain.log says why"));
                Vec::new()
            }
            Effect::Halt => {
                self.halt.store(true, Ordering::Relaxed);
                Vec::new()
            }
            Effect::Finish | Effect::Exit => Vec::new(),
        })
    }

    /// The reader has had one piece in hand for longer than any takes, and it is not the disk it waits for. A thread cannot be ended,
    /// a process can.
    fn is_stuck(&mut self) -> bool {
        let Some(since) = self.progress.reads_since_ms() else { return false };
        let limit = apart::patience_ms();
        if since != self.piece.0 {
            self.piece = (since, clock::processor());
        }
        let used = clock::processor().saturating_sub(self.piece.1).as_millis();
        self.progress.now_ms() - since > limit && i64::try_from(used).unwrap_or(i64::MAX) > limit / 2
    }

    fn suspects(&self) -> MutexGuard<'_, Suspects> {
        self.suspects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known against a file; somebody asked for it by name.
    pub(super) fn caution(&self, path: &Path, named: bool) -> Caution {
        self.suspects().caution(path, named || self.options.mode == Mode::Import)
    }

    pub(super) fn expect(&self, files: &[PathBuf]) {
        let bytes = files.iter().filter_map(|path| path.symlink_metadata().ok()).map(|m| m.len()).sum();
        self.progress.expect(files.len() as u64, bytes);
    }

    fn import(&self) -> Result<Event, DrainError> {
        for root in &self.options.roots {
            if root.symlink_metadata().is_err() {
                return Err(DrainError::NoSuchPath(root.clone()));
            }
        }
        let files = sweep::named(&self.options.roots);
        self.expect(&files);
        let list =
            files.into_iter().map(|path| Request { path, last_line: true, ..Request::default() }).collect();
        Ok(self.requests(list, false))
    }

    fn read(&mut self, job: Job) -> Result<Vec<Event>, DrainError> {
        let mut path = job.path.clone();
        if path.symlink_metadata().is_err()
            && let Some(moved) = sweep::moved(&path, &self.options.roots)
        {
            path = moved;
        }
        let state = self.store.file(&path)?.unwrap_or_default();
        let entries = job.entries.iter().filter_map(|name| self.claims.remove(name).map(|c| (name, c)));
        let mut taken = Vec::new();
        let mut kept = Vec::new();
        for (name, (path, entry)) in entries {
            kept.push((name.clone(), (path.clone(), entry.clone())));
            taken.push((path, entry));
        }
        // Kept until the file is stored: a failed one is read again with the same entries.
        self.claims.extend(kept);
        let given = self.given.get(&job.path).cloned().or_else(|| self.options.project.clone());
        let caution = self.caution(&path, job.is_named());
        let task = Task { job, path, state, entries: taken, given, caution };
        self.in_hand.fetch_add(1, Ordering::Relaxed);
        let sent = self.tasks.as_ref().is_some_and(|tasks| tasks.send(task).is_ok());
        if sent {
            Ok(Vec::new())
        } else {
            Err(DrainError::Start("the reader has ended; see log/drain.log".to_owned()))
        }
    }

    /// Ends the stages without hope for what they have in hand.
    pub(super) fn abandon(mut self) {
        self.halt.store(true, Ordering::Relaxed);
        (self.tasks, self.orders) = (None, None);
        for thread in std::mem::take(&mut self.threads) {
            drop(thread.join());
        }
    }

    /// Closes the stages one after another, so that each finishes what it has. Errors: a second signal came meanwhile.
    fn close(&mut self) -> Result<(), DrainError> {
        let signals = signals()?;
        self.tasks = None;
        let threads = std::mem::take(&mut self.threads);
        let last = threads.len().saturating_sub(1);
        for (n, thread) in threads.into_iter().enumerate() {
            if n == last {
                // The writer has ended: what it did at the end is published with all the rest, and so is the publisher told to end.
                while let Ok((id, done)) = self.told.try_recv() {
                    self.told(id, done)?;
                }
                self.orders = None;
            }
            let mut wait = Duration::from_millis(1);
            while !thread.is_finished() {
                self.beat();
                if signals.recv_timeout(wait).is_ok() && self.halt.swap(true, Ordering::Relaxed) {
                    return Err(DrainError::Stopped);
                }
                // Most have nothing left to do.
                wait = (wait * 2).min(Duration::from_millis(20));
            }
            if thread.join().is_err() {
                self.progress.failed("stage", "a stage ended in a panic; see log/drain.log".to_owned());
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self, before: &Figures) -> Result<Outcome, DrainError> {
        self.close()?;
        // Met so late that nobody looked any more. After a signal the next drainer looks.
        let met = self.options.home.suspect_store().exists();
        if met && !self.halt.load(Ordering::Relaxed) {
            let (path, why) = (self.options.home.store(), "damage was met".to_owned());
            return Err(DrainError::Store(store::StoreError::Damaged { path, why }));
        }
        while let Ok((id, done)) = self.answers.try_recv() {
            self.answered(&id, done);
        }

        let whole = self.options.mode != Mode::Import && !self.halt.load(Ordering::Relaxed);
        if whole && self.progress.is_repairing() && !self.progress.is_mending() {
            Repair::finish(&self.options.home, &self.progress)?;
        }
        self.board.write(&self.options.home, &self.store, &self.progress, &self.redactor, true);
        let now = self.figures()?;
        let (files, _) = self.progress.files();
        // Nobody is at work any more: the next hook need not wait until the last beat is old.
        fs::remove(&self.options.home.heartbeat())?;
        Ok(Outcome {
            entries: self.progress.entries_done(),
            files,
            observations: now.observations.saturating_sub(before.observations),
            documents: now.documents.saturating_sub(before.documents),
            odd: self.progress.odd_found(),
            passed: self.progress.passed_files(),
            error: self.progress.last_error().or_else(|| {
                // Somebody waits for an import: half of one is no success.
                let cut = self.options.mode == Mode::Import && self.halt.load(Ordering::Relaxed);
                cut.then(|| "the import was interrupted; what was stored holds".to_owned())
            }),
        })
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, DrainError> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map_err(start)
}

/// The channel of signals: one handler a process, whatever it runs.
pub(super) fn signals() -> Result<Receiver<()>, DrainError> {
    static SIGNALS: OnceLock<Result<Receiver<()>, String>> = OnceLock::new();
    let made = SIGNALS.get_or_init(|| {
        let (signal, signals) = unbounded();
        ctrlc::set_handler(move || {
            // The receiver lives as long as the process.
            signal.send(()).ok();
        })
        .map_err(|e| e.to_string())?;
        Ok(signals)
    });
    made.clone().map_err(DrainError::Start)
}
