//! The decisions of the drainer: `step(state, event) → (state, effects)`, pure, so that every order of events can be listed in a test.
//!
//! | state | event | becomes | effects |
//! |---|---|---|---|
//! | Running | woken, scan due | Running | scan the spool |
//! | Running | requests | Running | read as many files as may be in work |
//! | Running | finished | Running | read the next; once all is done in `Once` and `Import`: finish |
//! | Running | first signal, our binary was replaced, asked to stop, nothing came for `idle_exit` | Finishing | halt the reader |
//! | Finishing | nothing in work | Stopped | publish, exit |
//! | Finishing | second signal | Stopped | exit at once |
//!
//! A file is in work once at a time; a request for it meanwhile makes it be read again afterwards.

mod job;

pub use job::Job;

use std::collections::{BTreeMap, BTreeSet};
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
    /// A drainer died over this file: it is read when nothing else waits.
    pub suspect: bool,
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
    /// Another binary stands in the place of ours: leave in order, once.
    Replaced,
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
    /// A file failed again and again: say so.
    GiveUp(PathBuf),
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
    waiting: BTreeMap<PathBuf, Waiting>,
    /// Of those waiting, the ones that may be read: what a session announced before what a sweep found, then as they came.
    order: BTreeSet<(Rank, u64, PathBuf)>,
    /// Of those waiting, the ones that failed, with the time of their next try.
    later: BTreeSet<(i64, PathBuf)>,
    active: BTreeMap<PathBuf, Waiting>,
    /// Asked for while in work.
    again: BTreeMap<PathBuf, Job>,
    looks: BTreeSet<(i64, PathBuf)>,
    /// The time of the newest event of a file: looks for an older one are overtaken.
    events: BTreeMap<PathBuf, i64>,
    commands: BTreeMap<String, usize>,
    /// Entries that jobs hold.
    claimed: usize,
    scan_at: i64,
    sweep_at: i64,
    quiet_since: i64,
    now: i64,
    count: u64,
    more: bool,
    /// Looks at spool, roots and files that have not answered yet.
    awaited: u32,
    /// The first look was taken.
    begun: bool,
}

/// A job that waits or is in work, with what was tried.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Waiting {
    job: Job,
    tries: u32,
    rank: (Rank, u64),
    due: Option<i64>,
}

/// Whose turn it is first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// A session, or a person.
    #[default]
    Announced,
    /// A sweep.
    Found,
    /// Nobody: it may end the drainer, and the others should be stored by then.
    Suspect,
}

/// Files in work at once. The reader takes one after another; the others are read and wait for their transaction, or wait to be read.
/// So many that a transaction of small files is not cut short for want of them.
pub(super) const MAX_ACTIVE: usize = 128;
/// After this many failures in a row a file is given up: for whoever waits, and until the next sweep.
const MAX_TRIES: u32 = 4;
/// No more entries are claimed than this: the rest waits in `new/`, where it takes no memory.
const MAX_CLAIMED: usize = 4_096;
/// No more looks than this are kept in mind.
const MAX_LOOKS: usize = 32_768;
const SCAN_EVERY_MS: i64 = 2_000;
const SWEEP_EVERY_MS: i64 = 600_000;
/// A drainer that may leave waits for looks that come within this.
const SOON_MS: i64 = 5_000;
/// After an event the host may write for a while: looks at these times (host facts, section 4.1: up to 1.3 s after a stop). The last
/// one finds a line that was never finished.
const LOOKS_MS: [i64; 7] = [250, 600, 1_000, 1_600, 2_500, 5_000, 61_000];

impl State {
    /// The beginning; the clock stands at `now_ms`.
    pub fn begin(mode: Mode, now_ms: i64) -> Self {
        State::Running(Desk {
            mode,
            waiting: BTreeMap::new(),
            order: BTreeSet::new(),
            later: BTreeSet::new(),
            active: BTreeMap::new(),
            again: BTreeMap::new(),
            looks: BTreeSet::new(),
            events: BTreeMap::new(),
            commands: BTreeMap::new(),
            claimed: 0,
            scan_at: now_ms,
            sweep_at: now_ms,
            quiet_since: now_ms,
            now: now_ms,
            count: 0,
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
        let jobs = desk.into_iter().flat_map(|d| {
            let held = d.waiting.values().chain(d.active.values());
            held.map(|w| &w.job).chain(d.again.values())
        });
        jobs.flat_map(|job| job.entries.iter())
    }

    /// Everything that is known to be there is stored: nothing is in work, waits, or is being looked for.
    pub fn is_idle(&self) -> bool {
        matches!(self, State::Running(desk) if desk.is_idle())
    }

    /// Files are being read or stored just now.
    pub fn is_working(&self) -> bool {
        matches!(self, State::Running(desk) | State::Finishing(desk) if !desk.active.is_empty())
    }
}

/// Decides. Total: every event is legal in every state.
pub fn step(state: State, event: Event) -> (State, Vec<Effect>) {
    match (state, event) {
        (State::Running(desk), Event::Signal | Event::Replaced) => finish(desk, vec![Effect::Halt]),
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
            if stored {
                desk.quiet_since = now_ms;
            }
            effects.extend(desk.finished(&path, stored));
        }
        Event::Signal | Event::Replaced => {}
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
        // A flood of events is not followed one by one: what the host writes late is then found by a sweep.
        let follows = matches!(self.mode, Mode::Serve { .. }) && self.looks.len() < MAX_LOOKS;
        if request.look_again && follows {
            self.looks.extend(LOOKS_MS.iter().map(|wait| (self.now + wait, request.path.clone())));
            self.events.insert(request.path.clone(), self.now);
        }
        let path = request.path.clone();
        let rank = match request {
            Request { suspect: true, .. } => Rank::Suspect,
            Request { entry: None, command: None, .. } => Rank::Found,
            _ => Rank::Announced,
        };
        self.claimed += usize::from(request.entry.is_some());
        let job = Job {
            path: request.path,
            entries: request.entry.into_iter().collect(),
            last_line: request.last_line,
            commands: request.command.into_iter().collect(),
        };
        if self.active.contains_key(&path) {
            match self.again.get_mut(&path) {
                Some(known) => known.merge(job),
                None => drop(self.again.insert(path, job)),
            }
        } else {
            self.wait(job, rank);
        }
    }

    fn wait(&mut self, job: Job, rank: Rank) {
        let path = job.path.clone();
        let count = self.count;
        self.count += 1;
        let new = !self.waiting.contains_key(&path);
        let waiting = self.waiting.entry(path.clone()).or_default();
        let before = waiting.rank;
        if new {
            waiting.job = job;
            waiting.rank = (rank, count);
        } else {
            waiting.job.merge(job);
            waiting.rank.0 = if rank == Rank::Suspect { rank } else { waiting.rank.0.min(rank) };
        }
        if waiting.due.is_none() {
            self.order.remove(&(before.0, before.1, path.clone()));
            self.order.insert((waiting.rank.0, waiting.rank.1, path));
        }
    }

    fn finished(&mut self, path: &PathBuf, stored: bool) -> Vec<Effect> {
        let Some(mut done) = self.active.remove(path) else { return Vec::new() };
        let again = self.again.remove(path);
        if stored {
            self.claimed = self.claimed.saturating_sub(done.job.entries.len());
            if let Some(again) = again {
                let nobody = again.entries.is_empty() && again.commands.is_empty();
                self.wait(again, if nobody { Rank::Found } else { Rank::Announced });
            }
            return self.release(done.job.commands);
        }
        if let Some(again) = again {
            done.job.merge(again);
        }
        done.tries += 1;
        let mut effects = Vec::new();
        if done.tries == MAX_TRIES {
            effects.push(Effect::GiveUp(path.clone()));
            // Who asked is told; the file itself is tried on.
            effects.extend(self.release(std::mem::take(&mut done.job.commands)));
        }
        let somebody_waits = !matches!(self.mode, Mode::Serve { .. });
        if done.tries >= MAX_TRIES && (somebody_waits || done.job.entries.is_empty()) {
            // Its entries stay in `cur/`, its cursor where it was: the next drainer, or the next sweep, tries again.
            self.claimed = self.claimed.saturating_sub(done.job.entries.len());
            return effects;
        }
        // A full disk does not get emptier by trying: 0.5 s, 1 s, 2 s … 30 s.
        let due = self.now + (250_i64 << done.tries.min(7)).min(30_000);
        done.due = Some(due);
        self.later.insert((due, path.clone()));
        self.waiting.insert(path.clone(), done);
        effects
    }

    /// One file of these commands is done with.
    fn release(&mut self, commands: Vec<String>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for id in commands {
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
        let room = self.claimed < MAX_CLAIMED;
        if spool && room && (self.now >= self.scan_at || self.more) {
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
        while let Some((at, path)) = self.looks.pop_first() {
            if at > self.now {
                self.looks.insert((at, path));
                break;
            }
            let since = self.events.get(&path).map(|event| at - event);
            if since == LOOKS_MS.last().copied() {
                self.events.remove(&path);
            }
            if since.is_some_and(|since| LOOKS_MS.contains(&since)) {
                self.awaited += 1;
                effects.push(Effect::Look(path));
            }
        }
        while let Some((due, path)) = self.later.pop_first() {
            if due > self.now {
                self.later.insert((due, path));
                break;
            }
            if let Some(waiting) = self.waiting.get_mut(&path) {
                waiting.due = None;
                self.order.insert((waiting.rank.0, waiting.rank.1, path));
            }
        }
        while self.active.len() < MAX_ACTIVE
            && let Some((rank, count, path)) = self.order.pop_first()
        {
            // With no room for more, what waits in the spool cannot come before it.
            let coming = self.more && self.claimed < MAX_CLAIMED;
            let others = !self.active.is_empty() || self.awaited > 0 || coming;
            if rank == Rank::Suspect && others {
                // What it may take with it is stored first.
                self.order.insert((rank, count, path));
                break;
            }
            let Some(waiting) = self.waiting.remove(&path) else { continue };
            let job = waiting.job.clone();
            self.active.insert(path, waiting);
            effects.push(Effect::Read(job));
        }
    }

    fn is_idle(&self) -> bool {
        let idle = self.order.is_empty() && self.active.is_empty() && !self.more;
        idle && self.waiting.is_empty() && self.begun && self.awaited == 0
    }

    fn is_done(&self) -> bool {
        let idle = self.order.is_empty() && self.active.is_empty() && !self.more;
        match self.mode {
            // What fails again and again does not keep a drainer for ever: its entries stay in `cur/`.
            Mode::Serve { idle_exit_ms: Some(limit) } => {
                let stuck = self.waiting.values().all(|w| w.tries >= MAX_TRIES);
                // The last look of all comes a minute later, and a sweep will do for it.
                let looking = self.looks.iter().any(|(at, _)| at - self.now <= SOON_MS);
                idle && stuck && !looking && self.now - self.quiet_since >= limit
            }
            Mode::Serve { idle_exit_ms: None } => false,
            Mode::Once | Mode::Import => self.is_idle(),
        }
    }
}

#[cfg(test)]
mod tests;
