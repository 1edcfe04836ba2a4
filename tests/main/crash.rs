//! The process is ended, or refused the disk, at each of its durable steps in turn (faults, C1); afterwards a clean run gives
//! the undisturbed result. Needs the feature `failpoints`: without it there are no steps to stop at.
#![cfg(feature = "failpoints")]

use crate::support::{Out, Sandbox, Transcript, payload};
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// More steps than any of these small runs has.
const TOO_MANY: usize = 1500;

/// What is done at step n.
#[derive(Clone, Copy)]
pub enum Fault {
    /// `SIGKILL`.
    Kill,
    /// The step fails with `ENOSPC`.
    NoSpace,
}

/// Two sessions, one of them with a tool call and a compaction; small, because it is drained hundreds of times.
fn world() -> (Sandbox, Transcript) {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript
        .prompt("Why is the tide gauge off by an hour?")
        .calls("toolu_1", "Bash", json!({"command": "date -u"}))
        .returns("toolu_1", "Mon Nov 30 10:00:00 UTC")
        .says("Root cause: the gauge reports local time. Decision: we convert to UTC on arrival.")
        .compacts("The gauge was an hour off.")
        .flush();
    let mut other = Transcript::new(&sandbox, 2);
    other.prompt("Rename the gauge service to tide-gauge.").says("Done.").flush();
    (sandbox, transcript)
}

/// Runs `args` with a fault at n = 1, 2, 3 … in a fresh copy of `start` each, until a run passes fewer than n steps; after each, `after`.
pub fn at_every_step(
    start: &Sandbox,
    fault: Fault,
    args: &[&str],
    stdin: &str,
    after: impl Fn(&Sandbox, &Out) + Sync,
) {
    let next = AtomicUsize::new(1);
    let done = AtomicBool::new(false);
    let failed: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let one = |n: usize, home: &Sandbox, log: &Path| {
        let (name, value) = match fault {
            Fault::Kill => ("STEP_KILL", n.to_string()),
            Fault::NoSpace => ("STEP_FAIL", format!("{n}:ENOSPC")),
        };
        let env = [(name, value.as_str()), ("STEP_LOG", log.to_str().unwrap())];
        let out = home.sinker_with(args, stdin.as_bytes(), &env);
        // A killed run may have passed a step in another thread that did not get to log it.
        let untouched = match fault {
            Fault::Kill => !out.killed(),
            Fault::NoSpace => passed(log).len() < n,
        };
        if untouched {
            assert_eq!(out.code, Some(0), "an untouched run failed: {out}");
            done.store(true, Ordering::SeqCst);
        } else if matches!(fault, Fault::NoSpace) {
            assert!(matches!(out.code, Some(0 | 1)) && !out.stderr.contains("panicked"), "{out}");
        }
        after(home, &out);
    };
    let work = || {
        while !done.load(Ordering::SeqCst) {
            let n = next.fetch_add(1, Ordering::SeqCst);
            let home = start.copy();
            let log = home.at("steps.log");
            let tried = catch_unwind(AssertUnwindSafe(|| one(n, &home, &log)));
            if let Err(why) = tried {
                let why = why.downcast_ref::<String>().cloned().unwrap_or_else(|| "panic".to_owned());
                let steps = passed(&log);
                let step = steps.get(n - 1).or(steps.last()).cloned().unwrap_or_default();
                failed.lock().unwrap().push(format!("step {n} ({step}): {why}"));
            }
            let hopeless = failed.lock().unwrap().len() >= 3 || n > TOO_MANY;
            if hopeless {
                done.store(true, Ordering::SeqCst);
            }
            std::fs::remove_dir_all(home.home()).ok();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let tried = next.into_inner();
    assert!((3..TOO_MANY).contains(&tried), "{tried} steps: there must be some, and an end");
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// The steps a run passed, by name.
fn passed(log: &Path) -> Vec<String> {
    std::fs::read_to_string(log).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// A clean drain, then: the rows of an undisturbed run, and an index that agrees.
fn recovers(home: &Sandbox, expected: &str) {
    home.drain_once();
    assert_eq!(home.dump(), expected);
    home.verify();
    let store = rusqlite::Connection::open(home.at("store.db")).unwrap();
    let word: String = store.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(word, "ok");
    drop(store);
    for folder in ["new", "cur", "odd"] {
        assert!(home.spool(folder).is_empty(), "{folder}: {:?}", home.spool(folder));
    }
}

/// A home with two pointers in its spool, and what an undisturbed drain makes of it.
fn spooled() -> (Sandbox, String) {
    let (sandbox, transcript) = world();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    sandbox.hook("session-end", &payload("SessionEnd.other", &sandbox, &transcript)).assert_silent("end");
    let undisturbed = sandbox.copy();
    undisturbed.drain_once();
    let expected = undisturbed.dump();
    assert!(expected.contains("Root cause"), "{expected}");
    (sandbox, expected)
}

#[test]
fn f01_a_hook_killed_at_any_step_leaves_a_whole_pointer_or_none() {
    let (sandbox, transcript) = world();
    let undisturbed = sandbox.sibling();
    undisturbed.drain_once();
    let expected = undisturbed.dump();
    for (event, name) in [("stop", "Stop"), ("post-tool-use", "PostToolUse.Bash")] {
        let stdin = format!("{}\n", payload(name, &sandbox, &transcript));
        for fault in [Fault::Kill, Fault::NoSpace] {
            let args = ["hook", "claude", event];
            at_every_step(&sandbox, fault, &args, &stdin, |home, out| {
                assert_eq!(out.stdout, "");
                for entry in home.spool("new") {
                    let bytes = std::fs::read(home.at("spool/new").join(&entry)).unwrap();
                    serde_json::from_slice::<serde_json::Value>(&bytes).expect("a torn pointer");
                }
                if matches!(fault, Fault::NoSpace) {
                    assert_eq!(out.code, Some(0), "{out}");
                }
                recovers(home, &expected);
            });
        }
    }
}

#[test]
fn f17_f39_a_drain_killed_at_any_step_ends_in_the_undisturbed_result() {
    let (start, expected) = spooled();
    at_every_step(&start, Fault::Kill, &["drain", "--once"], "", |home, _| recovers(home, &expected));
}

#[test]
fn f41_a_drain_without_space_at_any_step_ends_in_the_undisturbed_result() {
    let (start, expected) = spooled();
    at_every_step(&start, Fault::NoSpace, &["drain", "--once"], "", |home, _| recovers(home, &expected));
}

/// The second drain finds a store, an index and a cursor: other steps than the first.
#[test]
fn f17_f39_a_later_drain_killed_at_any_step_ends_in_the_undisturbed_result() {
    let (sandbox, mut transcript) = world();
    sandbox.drain_once();
    transcript.prompt("And the other gauge?").says("It was right.").flush();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    let undisturbed = sandbox.copy();
    undisturbed.drain_once();
    let expected = undisturbed.dump();
    at_every_step(&sandbox, Fault::Kill, &["drain", "--once"], "", |home, _| recovers(home, &expected));
}

#[test]
fn an_import_killed_at_any_step_ends_in_the_undisturbed_result() {
    let (sandbox, transcript) = world();
    let folder = transcript.path.parent().unwrap().to_path_buf();
    let undisturbed = sandbox.sibling();
    undisturbed.import(&[&folder]);
    let expected = undisturbed.dump();
    let args = ["import", folder.to_str().unwrap(), "--json"];
    at_every_step(&sandbox, Fault::Kill, &args, "", |home, _| {
        home.import(&[Path::new(&folder)]);
        recovers(home, &expected);
    });
}

#[test]
fn f47_a_rebuild_killed_at_any_step_leaves_an_index_that_agrees() {
    let (start, expected) = spooled();
    start.drain_once();
    at_every_step(&start, Fault::Kill, &["index", "rebuild"], "", |home, _| recovers(home, &expected));
}

/// A repair that dies half way is taken up by the next drainer, however often.
#[test]
fn f43_a_repair_killed_at_any_step_ends_in_the_undisturbed_result() {
    let (start, expected) = spooled();
    start.drain_once();
    let store = start.at("store.db");
    let bytes = std::fs::read(&store).unwrap();
    std::fs::write(&store, &bytes[..bytes.len() / 2]).unwrap();
    at_every_step(&start, Fault::Kill, &["drain", "--once"], "", |home, _| {
        home.drain_once();
        assert_eq!(home.dump(), expected);
        home.verify();
        let reports = home.spool("odd").iter().filter(|n| n.starts_with("store.damaged")).count();
        assert_eq!(reports, 1, "the loss is stated, once: {:?}", home.spool("odd"));
        assert!(!home.at("state/repair").exists());
    });
}

/// F41 as a model: the disk is full from step n on, in hook and drainer, and then there is space again.
#[test]
fn f41_a_disk_that_stays_full_loses_nothing() {
    let (sandbox, transcript) = world();
    let undisturbed = sandbox.sibling();
    undisturbed.drain_once();
    let expected = undisturbed.dump();
    for n in [1, 2, 5, 9, 14, 20] {
        let home = sandbox.sibling();
        let fail = format!("{n}+:ENOSPC");
        let env = [("STEP_FAIL", fail.as_str())];
        let stdin = format!("{}\n", payload("Stop", &home, &transcript));
        home.sinker_with(&["hook", "claude", "stop"], stdin.as_bytes(), &env).assert_silent(&fail);
        let out = home.sinker_with(&["drain", "--once"], b"", &env);
        assert!(matches!(out.code, Some(0 | 1)) && !out.stderr.contains("panicked"), "{fail}: {out}");
        recovers(&home, &expected);
    }
}
