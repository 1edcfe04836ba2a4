//! Host, hooks, drainers, readers and a killer, in any order (faults, C6): one scheduler with a seed. What must be stored is known from
//! what the host wrote, not from anything that Sinker says.

use crate::support::{Running, Sandbox, eventually, run_to_end, within};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Seeds that are always tried, beside a fresh one. `ACTOR_SEEDS=n` tries n, `ACTOR_SEED=n` that one alone, `ACTOR_STEPS=n` so many steps.
const SEEDS: u64 = 8;
const STEPS: u64 = 60;

const EVENTS: [&str; 6] =
    ["stop", "post-tool-use", "user-prompt-submit", "session-end", "pre-compact", "session-start"];

/// Values of `SINKER_NOW`: right, an hour back, ten years on, stuck.
const CLOCKS: [Option<&str>; 4] = [None, Some("-3600"), Some("+315360000"), Some("2026-11-30T12:00:00Z")];

fn knob(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn actors_in_any_order_lose_nothing_double_nothing_and_mix_nothing() {
    let fresh =
        (u64::from(std::process::id()) << 16) ^ std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    let mut seeds: Vec<u64> = (1..=knob("ACTOR_SEEDS").unwrap_or(SEEDS)).collect();
    seeds.push(fresh);
    if let Some(one) = knob("ACTOR_SEED") {
        seeds = vec![one];
    }
    eprintln!("the fresh seed is {fresh}");
    let next = AtomicU64::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::SeqCst) as usize) {
                    let mut world = World::new(*seed);
                    let tried = catch_unwind(AssertUnwindSafe(|| world.run()));
                    if let Err(why) = tried {
                        let why = why.downcast_ref::<String>().cloned().unwrap_or_default();
                        let steps = world.steps.join("\n  ");
                        failed.lock().unwrap().push(format!("ACTOR_SEED={seed}\n  {steps}\n{why}"));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// A record as the host wrote it.
#[derive(Clone)]
struct Record {
    uuid: String,
    line: String,
}

/// A session's file as it is on disk, and what the host has half written of its next line.
struct Session {
    id: String,
    project: &'static str,
    path: PathBuf,
    lines: Vec<Record>,
    half: Option<(Record, usize)>,
}

/// Whose a record is: the sessions that hold it, and their project.
#[derive(Default, Clone)]
struct Owner {
    sessions: BTreeSet<String>,
    project: &'static str,
}

struct World {
    home: Sandbox,
    seed: u64,
    random: u64,
    made: u64,
    sessions: Vec<Session>,
    /// Every record that ever was in a file: nothing else may be stored.
    written: BTreeMap<String, Owner>,
    /// Those that were in a file when a drain ended well: they must be stored, whatever becomes of the file.
    drained: BTreeSet<String>,
    live: Option<Running>,
    clock: Option<&'static str>,
    steps: Vec<String>,
}

impl World {
    fn new(seed: u64) -> Self {
        let home = Sandbox::new();
        std::fs::create_dir_all(home.root().join("code/tide-clock")).unwrap();
        let mut world = Self {
            home,
            seed,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            made: 0,
            sessions: Vec::new(),
            written: BTreeMap::new(),
            drained: BTreeSet::new(),
            live: None,
            clock: None,
            steps: Vec::new(),
        };
        for project in ["harbor-api", "harbor-api", "tide-clock"] {
            world.session(project);
        }
        world
    }

    fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as usize % end.max(1)
    }

    fn run(&mut self) {
        for _ in 0..knob("ACTOR_STEPS").unwrap_or(STEPS) {
            self.step();
        }
        self.settle();
        self.judge();
        self.fresh_event_passes();
    }

    fn step(&mut self) {
        let s = self.below(self.sessions.len());
        match self.below(20) {
            0..=4 => self.appends(s),
            5 => self.appends_half(s),
            6 => self.truncates(s),
            7 => self.rewrites(s),
            8 if self.sessions.len() < 6 => self.forks(s),
            8..=11 => self.hook(s, false),
            12 => self.hook(s, true),
            13 | 14 => self.drains(false),
            15 => self.drains(true),
            16 => self.starts_or_kills(),
            17 | 18 => self.searches(s),
            _ => {
                let n = self.below(CLOCKS.len());
                self.clock = CLOCKS[n];
                self.say(format!("clock {:?}", self.clock));
            }
        }
    }

    fn say(&mut self, step: String) {
        self.steps.push(step);
    }

    // --- the host ---

    fn session(&mut self, project: &'static str) -> usize {
        let n = self.sessions.len();
        let id = format!("5e5510{n:02}-0000-4000-8000-{:012x}", self.seed & 0xffff_ffff_ffff);
        let path =
            self.home.claude().join("projects").join(format!("-code-{project}")).join(format!("{id}.jsonl"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        self.sessions.push(Session { id, project, path, lines: Vec::new(), half: None });
        n
    }

    fn directory(&self, project: &str) -> PathBuf {
        self.home.root().join("code").join(project)
    }

    fn record(&mut self, s: usize) -> Record {
        self.made += 1;
        let n = self.made;
        let (id, project) = (self.sessions[s].id.clone(), self.sessions[s].project);
        let uuid = format!("{:08x}-0000-4000-8000-{n:012x}", self.seed & 0xffff_ffff);
        let text = format!("About buoy{n}q{}: the depth at mark {n} is {} m.", self.seed % 1000, n * 7);
        let mut record = if n.is_multiple_of(2) {
            json!({"type": "user", "message": {"role": "user", "content": text},
                   "origin": {"kind": "human"}, "promptSource": "typed"})
        } else {
            json!({"type": "assistant", "message": {"id": format!("m{n}"), "role": "assistant", "content": [{"type": "text", "text": text}]}})
        };
        let time = format!("2026-11-20T{:02}:{:02}:{:02}.000Z", n / 3600 % 24, n / 60 % 60, n % 60);
        let more = json!({"uuid": uuid, "timestamp": time, "sessionId": id, "version": "2.1.332",
                          "cwd": self.directory(project), "isSidechain": false});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Record { uuid, line: record.to_string() }
    }

    fn write(&self, s: usize, bytes: &[u8]) {
        let path = &self.sessions[s].path;
        std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(bytes).unwrap();
    }

    /// The record's bytes are all in the file, with or without the newline.
    fn is_written(&mut self, s: usize, uuid: &str) {
        let (id, project) = (self.sessions[s].id.clone(), self.sessions[s].project);
        let owner = self.written.entry(uuid.to_owned()).or_default();
        owner.sessions.insert(id);
        owner.project = project;
    }

    fn ends_half(&mut self, s: usize) {
        if let Some((record, at)) = self.sessions[s].half.take() {
            self.write(s, format!("{}\n", &record.line[at..]).as_bytes());
            self.is_written(s, &record.uuid);
            self.sessions[s].lines.push(record);
        }
    }

    fn appends(&mut self, s: usize) {
        self.ends_half(s);
        let count = 1 + self.below(3);
        for _ in 0..count {
            let record = self.record(s);
            self.write(s, format!("{}\n", record.line).as_bytes());
            self.is_written(s, &record.uuid);
            self.sessions[s].lines.push(record);
        }
        self.say(format!("{s} appends {count}"));
    }

    fn appends_half(&mut self, s: usize) {
        self.ends_half(s);
        let record = self.record(s);
        let at = 1 + self.below(record.line.len());
        self.write(s, &record.line.as_bytes()[..at]);
        if at == record.line.len() {
            self.is_written(s, &record.uuid);
        }
        self.say(format!("{s} appends {at} bytes of {}", record.line.len()));
        self.sessions[s].half = Some((record, at));
    }

    fn truncates(&mut self, s: usize) {
        let keep = self.below(self.sessions[s].lines.len() + 1);
        let session = &mut self.sessions[s];
        session.lines.truncate(keep);
        session.half = None;
        let length = session.lines.iter().map(|r| r.line.len() as u64 + 1).sum();
        if let Ok(file) = std::fs::OpenOptions::new().write(true).open(&session.path) {
            file.set_len(length).unwrap();
        }
        self.say(format!("{s} is cut to {keep} lines"));
    }

    /// A shorter file in the place of the old one, as after a compaction; the newest lines stay.
    fn rewrites(&mut self, s: usize) {
        let from = self.below(self.sessions[s].lines.len() + 1);
        let session = &mut self.sessions[s];
        session.lines.drain(..from);
        session.half = None;
        let text: String = session.lines.iter().map(|r| format!("{}\n", r.line)).collect();
        let fresh = session.path.with_extension("new");
        std::fs::write(&fresh, text).unwrap();
        std::fs::rename(&fresh, &session.path).unwrap();
        self.say(format!("{s} is another file without its first {from} lines"));
    }

    fn forks(&mut self, s: usize) {
        let keep = self.below(self.sessions[s].lines.len() + 1);
        let fork = self.session(self.sessions[s].project);
        let (old, new) = (self.sessions[s].id.clone(), self.sessions[fork].id.clone());
        let shared = self.sessions[s].lines[..keep].to_vec();
        for record in shared {
            let copied = Record { line: record.line.replace(&old, &new), uuid: record.uuid };
            self.write(fork, format!("{}\n", copied.line).as_bytes());
            self.is_written(fork, &copied.uuid);
            self.sessions[fork].lines.push(copied);
        }
        self.say(format!("{fork} is a fork of {s} with {keep} lines"));
        self.appends(fork);
    }

    // --- hooks, drainers, readers, the killer ---

    fn command(&self, args: &[&str], project: &str) -> std::process::Command {
        let mut command = self.home.command(args);
        let directory = self.directory(project);
        command.current_dir(&directory).env("CLAUDE_PROJECT_DIR", directory);
        if let Some(now) = self.clock {
            command.env("SINKER_NOW", now);
        }
        command
    }

    fn hook(&mut self, s: usize, killed: bool) {
        let event = EVENTS[self.below(EVENTS.len())];
        let at = 1 + self.below(8);
        let session = &self.sessions[s];
        let payload = json!({
            "session_id": session.id, "transcript_path": session.path, "cwd": self.directory(session.project),
            "prompt": "What is the depth at the mark?", "tool_use_id": format!("toolu_{at}"), "trigger": "manual", "reason": "other",
            "source": "startup",
        });
        let mut command = self.command(&["hook", "claude", event], session.project);
        if killed {
            command.env("STEP_KILL", at.to_string());
        }
        let out = run_to_end(command, format!("{payload}\n").as_bytes());
        assert!(out.code == Some(0) || killed && out.killed(), "{event}: {out}");
        let silent = out.stdout.is_empty();
        assert!(silent || serde_json::from_str::<Value>(&out.stdout).is_ok(), "{event}: {out}");
        self.say(format!(
            "hook {event} of {s}{}",
            if killed { format!(", killed at step {at}") } else { String::new() }
        ));
    }

    fn drains(&mut self, killed: bool) {
        let at = 1 + self.below(150);
        let mut command = self.command(&["drain", "--once", "--json"], "harbor-api");
        if killed {
            command.env("STEP_KILL", at.to_string());
        }
        let out = run_to_end(command, b"");
        self.say(format!(
            "drain{}: {:?}",
            if killed { format!(", killed at step {at}") } else { String::new() },
            out.code
        ));
        match out.code {
            Some(0) => {
                let now = self.sessions.iter().flat_map(|s| &s.lines).map(|r| r.uuid.clone());
                self.drained.extend(now);
            }
            // The live drainer has the lock.
            Some(4) => assert!(self.live.is_some(), "{out}"),
            _ => assert!(killed && out.killed(), "{out}"),
        }
    }

    fn starts_or_kills(&mut self) {
        match self.live.take() {
            Some(drainer) => {
                drainer.signal(rustix::process::Signal::KILL);
                self.say("the drainer is killed".to_owned());
            }
            None => {
                self.live = Some(Running::start(self.command(&["drain"], "harbor-api")));
                // It may get the time to begin, or none.
                let began = self.below(2) == 0;
                if began {
                    within(Duration::from_millis(300), || false);
                }
                self.say("a drainer starts".to_owned());
            }
        }
    }

    fn searches(&mut self, s: usize) {
        let project = self.sessions[s].project;
        let known: Vec<String> = self.sessions[s].lines.iter().map(|r| r.line.clone()).collect();
        let picked = known.get(self.below(known.len()));
        let word =
            picked.and_then(|line| line.split("About ").nth(1)?.split(':').next()).unwrap_or("depth mark");
        let out = run_to_end(self.command(&["search", word, "--json"], project), b"");
        assert!(matches!(out.code, Some(0 | 3)), "{out}");
        let answer: Value = serde_json::from_str(&out.stdout).unwrap_or_default();
        for hit in answer["hits"].as_array().into_iter().flatten() {
            if let Some(uuid) = hit["record"].as_str() {
                self.is_own(uuid, hit);
            }
            assert!(hit["project"].as_str().unwrap().starts_with(project), "of another project: {hit}");
        }
        self.say(format!("search {word} in {project}"));
    }

    // --- the oracle ---

    /// Stored or found: it was written, by this session, in this project.
    fn is_own(&self, uuid: &str, row: &Value) {
        let owner = self.written.get(uuid).unwrap_or_else(|| panic!("nobody wrote this: {row}"));
        assert!(owner.sessions.contains(row["session"].as_str().unwrap()), "of another session: {row}");
        assert!(row["project"].as_str().unwrap().starts_with(owner.project), "of another project: {row}");
    }

    fn settle(&mut self) {
        self.clock = None;
        self.live = None;
        for s in 0..self.sessions.len() {
            self.ends_half(s);
        }
        self.drains(false);
    }

    fn judge(&self) {
        let mut stored: BTreeMap<String, usize> = BTreeMap::new();
        for row in self.home.lines(&["inspect", "--view", "records"]) {
            if row["kind"] == "observation" {
                let uuid = row["record"].as_str().unwrap();
                self.is_own(uuid, &row);
                *stored.entry(uuid.to_owned()).or_default() += 1;
            }
        }
        let lost: Vec<&String> = self.drained.iter().filter(|uuid| !stored.contains_key(*uuid)).collect();
        assert!(lost.is_empty(), "lost: {lost:?}");
        let twice: Vec<_> = stored.iter().filter(|(_, n)| **n > 1).collect();
        assert!(twice.is_empty(), "twice: {twice:?}");
        self.home.verify();
        let status = self.home.json(&["status"]);
        assert_eq!(status["store"]["observations"].as_u64(), Some(stored.len() as u64), "{status}");
        for folder in ["new", "cur", "odd"] {
            assert_eq!(self.home.spool(folder), Vec::<String>::new(), "spool/{folder}");
        }
    }

    /// After all that, an event is captured, drained and found by a drainer that runs.
    fn fresh_event_passes(&mut self) {
        let drainer = Running::start(self.command(&["drain"], "harbor-api"));
        let record = self.record(0);
        let word = record.line.split("About ").nth(1).unwrap().split(':').next().unwrap().to_owned();
        self.write(0, format!("{}\n", record.line).as_bytes());
        self.is_written(0, &record.uuid);
        self.hook(0, false);
        eventually("the fresh event is found", || {
            let out = run_to_end(self.command(&["search", &word, "--json"], "harbor-api"), b"");
            let answer: Value = serde_json::from_str(&out.stdout).unwrap_or_default();
            answer["hits"]
                .as_array()
                .is_some_and(|hits| hits.iter().any(|hit| hit["record"] == record.uuid.as_str()))
        });
        drop(drainer);
    }
}
