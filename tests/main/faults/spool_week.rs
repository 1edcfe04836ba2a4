//! F24: entries of a week in which no drainer ran. Linux only: memory is read from /proc.
#![cfg(target_os = "linux")]

use crate::support::{Running, Sandbox, Transcript, long, payload};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::time::{Duration, SystemTime};

/// Writes `count` entries as hooks would have, the oldest first, spread over `sessions`; the order of names is another one.
fn week(sandbox: &Sandbox, count: usize, sessions: usize) -> Vec<String> {
    let transcripts: Vec<Transcript> = (0..sessions)
        .map(|n| {
            let mut transcript = Transcript::new(sandbox, 100 + n as u64);
            transcript.prompt(&format!("What is in container {n}?")).says("Coffee.").flush();
            transcript
        })
        .collect();
    // The folders, made as they are in life.
    sandbox.hook("stop", &payload("Stop", sandbox, &transcripts[0])).assert_silent("stop");
    let new = sandbox.at("spool/new");
    std::fs::remove_file(new.join(&sandbox.spool("new")[0])).unwrap();
    let begun = SystemTime::now() - Duration::from_secs(7 * 24 * 3600);
    (0..count)
        .map(|n| {
            let transcript = &transcripts[n % sessions];
            let tool = format!("toolu_{:06}", count - n);
            let name = format!("{}.{:016x}.post-tool-use.{tool}.json", transcript.session, transcript.size());
            let entry = json!({
                "v": 1, "host": "claude", "event": "post-tool-use", "session": transcript.session,
                "transcript": transcript.path, "cursor": transcript.size(), "cwd": sandbox.project(),
                "project_dir": sandbox.project(), "tool": "Bash", "tool_use": tool, "time": "2026-11-23T10:00:00.000Z",
            });
            let mut file = std::fs::File::create(new.join(&name)).unwrap();
            file.write_all(entry.to_string().as_bytes()).unwrap();
            file.set_modified(begun + Duration::from_millis(n as u64)).unwrap();
            name
        })
        .collect()
}

/// F24, D13: bounded memory, the oldest first, progress that can be seen, and an end.
fn drains_a_week(count: usize, sessions: usize) {
    use rustix::process::Signal;
    let sandbox = Sandbox::new();
    let names = week(&sandbox, count, sessions);
    let mut drainer = Running::start(sandbox.command(&["drain", "--idle-exit", "1"]));
    let watch = std::time::Instant::now();
    let mut seen = BTreeSet::new();
    let mut last = watch;
    let peak_kib = drainer.peak_kib(Duration::from_secs(280), |drainer| {
        if last.elapsed() < Duration::from_millis(100) {
            return;
        }
        last = std::time::Instant::now();
        let Ok(out) = serde_json::from_str::<Value>(&sandbox.sinker(&["status", "--json"]).stdout) else {
            return;
        };
        seen.insert(out["spool"]["new"].as_u64().unwrap());
        // Stopped, so that the folder holds still.
        drainer.signal(Signal::STOP);
        let waiting: BTreeSet<String> = sandbox.spool("new").into_iter().collect();
        drainer.signal(Signal::CONT);
        let first = names.iter().position(|name| waiting.contains(name)).unwrap_or(names.len());
        assert_eq!(names.len() - first, waiting.len(), "a younger entry was taken before an older one");
    });
    let took = watch.elapsed();
    let out = drainer.finish(Duration::from_secs(20));
    assert_eq!(out.code, Some(0), "{out}");
    let status = sandbox.json(&["status"]);
    assert_eq!(status["spool"], json!({"new": 0, "cur": 0, "odd": 0, "oldest_age_s": 0}), "{status}");
    assert_eq!(status["drainer"]["drained_1h"], count, "{status}");
    assert_eq!(status["store"]["observations"], 2 * sessions, "{status}");
    let between = seen.iter().filter(|n| (1..count as u64).contains(n)).count();
    eprintln!(
        "{count} entries of {sessions} sessions: {took:?}, at most {peak_kib} KiB, progress seen {between} times"
    );
    assert!(between > 0, "no progress was to be seen: {seen:?}");
    assert!(peak_kib > 0 && peak_kib < 200 * 1024, "{peak_kib} KiB of anonymous memory");
}

#[test]
fn f24_a_week_of_entries_is_drained_oldest_first_in_little_memory() {
    drains_a_week(long(20_000, 200_000), 50);
}

#[test]
fn f24_a_week_of_entries_of_one_session_is_drained_in_little_memory() {
    drains_a_week(long(10_000, 100_000), 1);
}
