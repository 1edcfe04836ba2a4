//! The decisions of the drainer: `step(state, event) → (state, effects)`, pure, so that every order of events can be listed in a test.
//!
//! | state | event | becomes | effects |
//! |---|---|---|---|
//! | Running | woken, scan due | Running | scan the spool |
//! | Running | requests | Running | read as many files as may be in work |
//! | Running | finished | Running | read the next; once all is done in `Once` and `Import`: finish |
//! | Running | first signal, nothing came for `idle_exit` | Finishing | halt the reader |
//! | Finishing | nothing in work | Stopped | publish, exit |
//! | Finishing | second signal | Stopped | exit at once |
//!
//! A file is in work once at a time; a request for it meanwhile makes it be read again afterwards.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;

/// Why the drainer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Until a signal, or until nothing came for this long (milliseconds).
    Serve {
        /// Leave after this long without work; never when `None`.
        idle_exit_ms: Option<i64>,
    },
    /// Until spool and transcripts are drained.
    Once,
    /// Until the given files are stored; the spool is left alone.
    Import,
}

/// A wish that a file be read to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The transcript.
    pub path: PathBuf,
    /// The spool entry that asks, by its name in `cur/`.
    pub entry: Option<String>,
    /// The command that asks, by its id.
    pub command: Option<String>,
    /// Take a last line without a newline: the file is imported, or its session has ended.
    pub last_line: bool,
    /// Look at the file again a little later: the host writes late.
    pub look_again: bool,
}

/// A file to read, with everything that asked for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Job {
    /// The transcript.
    pub path: PathBuf,
    /// Names in `cur/` that are done with it.
    pub entries: Vec<String>,
    /// Take a last line without a newline.
    pub last_line: bool,
    commands: Vec<String>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Time passed. Milliseconds of a clock that does not jump.
    Tick(i64),
    /// Something happened in the spool, or may have.
    Woken,
    /// A look at spool, folder or roots gave these requests.
    Requests {
        /// The clock.
        now_ms: i64,
        /// What is to be read.
        list: Vec<Request>,
        /// The spool may hold more than was taken.
        more: bool,
    },
    /// A command asks for files: `Requests` with its id follow at once. Zero files are answered at once.
    Command {
        /// Its id.
        id: String,
        /// How many requests carry its id.
        files: usize,
    },
    /// A file is stored to its end, or failed.
    Finished {
        /// The clock.
        now_ms: i64,
        /// The transcript.
        path: PathBuf,
        /// `false`: it must be tried again, a little later.
        stored: bool,
    },
    /// SIGINT, SIGTERM, SIGHUP.
    Signal,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Claim entries from the spool; names that are in work are left.
    Scan,
    /// Look through all transcript roots, and sweep `tmp/`.
    Sweep,
    /// Look whether a file has grown.
    Look(PathBuf),
    /// Read a file.
    Read(Job),
    /// Say that we live.
    Beat,
    /// Answer a command: all it asked for is stored.
    Answer(String),
    /// Let the reader stop at the next batch.
    Halt,
    /// Publish what is stored, and end.
    Finish,
    /// End at once.
    Exit,
}

/// Where the drainer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// At work, or waiting for it.
    Running(Desk),
    /// Ending: what is in work is brought to a batch's end.
    Finishing(Desk),
    /// Done.
    Stopped,
}

/// What lies on the drainer's desk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Desk {
    mode: Mode,
    queue: VecDeque<Job>,
    active: BTreeMap<PathBuf, Job>,
    /// Asked for while in work.
    again: BTreeMap<PathBuf, Job>,
    looks: BTreeSet<(i64, PathBuf)>,
    commands: BTreeMap<String, usize>,
    scan_at: i64,
    sweep_at: i64,
    resume_at: i64,
    failures: u32,
    quiet_since: i64,
    now: i64,
    more: bool,
    /// Looks at spool, roots and files that have not answered yet.
    awaited: u32,
    /// The first look was taken.
    begun: bool,
}

/// Files in work at once. The reader takes one after another; the others are read and wait for their transaction, or wait to be read.
/// So many that a transaction of small files is not cut short for want of them.
pub(super) const MAX_ACTIVE: usize = 128;
/// `Once` and `Import` give a file up after this many failures in a row.
const MAX_TRIES: u32 = 3;
const SCAN_EVERY_MS: i64 = 2_000;
const SWEEP_EVERY_MS: i64 = 600_000;
/// After an event the host may write for a while: looks at these times (host facts, section 4.1: up to 1.3 s after a stop). The last
/// one finds a line that was never finished.
const LOOKS_MS: [i64; 7] = [250, 600, 1_000, 1_600, 2_500, 5_000, 61_000];

impl State {
    /// The beginning; the clock stands at `now_ms`.
    pub fn begin(mode: Mode, now_ms: i64) -> Self {
        State::Running(Desk {
            mode,
            queue: VecDeque::new(),
            active: BTreeMap::new(),
            again: BTreeMap::new(),
            looks: BTreeSet::new(),
            commands: BTreeMap::new(),
            scan_at: now_ms,
            sweep_at: now_ms,
            resume_at: now_ms,
            failures: 0,
            quiet_since: now_ms,
            now: now_ms,
            more: false,
            // Import begins with the list of its files, which the caller brings.
            awaited: u32::from(mode == Mode::Import),
            begun: mode == Mode::Import,
        })
    }

    /// Names of entries that are being worked on.
    pub fn busy(&self) -> impl Iterator<Item = &String> {
        let desk = match self {
            State::Running(desk) | State::Finishing(desk) => Some(desk),
            State::Stopped => None,
        };
        let jobs =
            desk.into_iter().flat_map(|d| d.queue.iter().chain(d.active.values()).chain(d.again.values()));
        jobs.flat_map(|job| job.entries.iter())
    }
}

/// Decides. Total: every event is legal in every state.
pub fn step(state: State, event: Event) -> (State, Vec<Effect>) {
    match (state, event) {
        (State::Running(desk), Event::Signal) => finish(desk, vec![Effect::Halt]),
        (State::Running(desk), event) => running(desk, event),
        (State::Finishing(_), Event::Signal) => (State::Stopped, vec![Effect::Exit]),
        (State::Finishing(mut desk), Event::Finished { path, .. }) => {
            desk.active.remove(&path);
            finish(desk, Vec::new())
        }
        (State::Finishing(desk), Event::Tick(_)) => (State::Finishing(desk), vec![Effect::Beat]),
        (state, _) => (state, Vec::new()),
    }
}

/// Ends when nothing is in work. What waits in the queue stays in `cur/` and is taken up by the next drainer.
fn finish(desk: Desk, mut effects: Vec<Effect>) -> (State, Vec<Effect>) {
    if desk.active.is_empty() {
        effects.push(Effect::Finish);
        return (State::Stopped, effects);
    }
    (State::Finishing(desk), effects)
}

fn running(mut desk: Desk, event: Event) -> (State, Vec<Effect>) {
    let mut effects = Vec::new();
    match event {
        Event::Tick(now_ms) => {
            desk.now = now_ms;
            effects.push(Effect::Beat);
        }
        Event::Woken => desk.scan_at = desk.now,
        Event::Requests { now_ms, list, more } => {
            desk.now = now_ms;
            desk.more |= more;
            desk.awaited = desk.awaited.saturating_sub(1);
            if !list.is_empty() {
                desk.quiet_since = now_ms;
            }
            for request in list {
                desk.ask(request);
            }
        }
        Event::Command { id, files: 0 } => effects.push(Effect::Answer(id)),
        Event::Command { id, files } => {
            desk.commands.insert(id, files);
        }
        Event::Finished { now_ms, path, stored } => {
            desk.now = now_ms;
            desk.quiet_since = now_ms;
            effects.extend(desk.finished(&path, stored));
        }
        Event::Signal => {}
    }
    desk.due(&mut effects);
    if desk.is_done() {
        return finish(desk, effects);
    }
    (State::Running(desk), effects)
}

impl Desk {
    /// Puts a request to the job of its file, wherever that is; else makes one.
    fn ask(&mut self, request: Request) {
        if request.look_again && matches!(self.mode, Mode::Serve { .. }) {
            let times = LOOKS_MS.iter().map(|wait| (self.now + wait, request.path.clone()));
            // Looks of the event before are overtaken.
            self.looks.retain(|(_, path)| *path != request.path);
            self.looks.extend(times);
        }
        let job = if self.active.contains_key(&request.path) {
            self.again
                .entry(request.path.clone())
                .or_insert_with(|| Job { path: request.path, ..Job::default() })
        } else {
            match self.queue.iter().position(|job| job.path == request.path) {
                Some(at) => {
                    // The position was found the line before.
                    let Some(job) = self.queue.get_mut(at) else { return };
                    job
                }
                None => {
                    self.queue.push_back(Job { path: request.path, ..Job::default() });
                    let Some(job) = self.queue.back_mut() else { return };
                    job
                }
            }
        };
        job.last_line |= request.last_line;
        job.entries.extend(request.entry);
        job.commands.extend(request.command);
    }

    fn finished(&mut self, path: &PathBuf, stored: bool) -> Vec<Effect> {
        let Some(job) = self.active.remove(path) else { return Vec::new() };
        let again = self.again.remove(path);
        if !stored {
            // A full disk does not get emptier by trying: 0.5 s, 1 s, 2 s … 30 s.
            self.failures = (self.failures + 1).min(7);
            self.resume_at = self.now + (250_i64 << self.failures).min(30_000);
            if self.failures > MAX_TRIES && !matches!(self.mode, Mode::Serve { .. }) {
                // Somebody waits for the end. Its entries stay in `cur/`, its cursor where it was.
                return Vec::new();
            }
            let mut job = job;
            if let Some(again) = again {
                job.entries.extend(again.entries);
                job.commands.extend(again.commands);
                job.last_line |= again.last_line;
            }
            self.queue.push_front(job);
            return Vec::new();
        }
        self.failures = 0;
        if let Some(again) = again {
            self.queue.push_back(again);
        }
        let mut effects = Vec::new();
        for id in job.commands {
            let Some(left) = self.commands.get_mut(&id) else { continue };
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.commands.remove(&id);
                effects.push(Effect::Answer(id));
            }
        }
        effects
    }

    /// What the clock says is due.
    fn due(&mut self, effects: &mut Vec<Effect>) {
        let spool = self.mode != Mode::Import;
        let room = self.queue.len() + self.active.len() < 256;
        let spent = self.more && self.queue.is_empty() && self.active.is_empty();
        if spool && room && (self.now >= self.scan_at || spent) {
            self.scan_at = self.now + SCAN_EVERY_MS;
            self.more = false;
            self.begun = true;
            self.awaited += 1;
            effects.push(Effect::Scan);
        }
        if spool && self.now >= self.sweep_at {
            self.sweep_at = self.now + SWEEP_EVERY_MS;
            self.awaited += 1;
            effects.push(Effect::Sweep);
        }
        while let Some((at, _)) = self.looks.first()
            && *at <= self.now
        {
            effects.extend(self.looks.pop_first().map(|(_, path)| Effect::Look(path)));
            self.awaited += 1;
        }
        while self.active.len() < MAX_ACTIVE
            && self.now >= self.resume_at
            && let Some(job) = self.queue.pop_front()
        {
            self.active.insert(job.path.clone(), job.clone());
            effects.push(Effect::Read(job));
        }
    }

    fn is_done(&self) -> bool {
        let idle = self.queue.is_empty() && self.active.is_empty() && !self.more;
        match self.mode {
            Mode::Serve { idle_exit_ms: Some(limit) } => {
                idle && self.looks.is_empty() && self.now - self.quiet_since >= limit
            }
            Mode::Serve { idle_exit_ms: None } => false,
            Mode::Once | Mode::Import => idle && self.begun && self.awaited == 0,
        }
    }
}

#[cfg(test)]
mod tests;
