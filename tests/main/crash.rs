//! The process is ended, or refused the disk, at each of its durable steps in turn (faults, C1); afterwards a clean run gives
//! the undisturbed result. Needs the feature `failpoints`: without it there are no steps to stop at.
#![cfg(feature = "failpoints")]

use crate::support::{Out, Sandbox, Transcript, payload};
use serde_json::json;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// More steps than any of these small runs has.
const TOO_MANY: usize = 1500;

/// What is done at step n.
#[derive(Clone, Copy)]
enum Fault {
    Kill,
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
fn at_every_step(
    start: &Sandbox,
    fault: Fault,
    args: &[&str],
    stdin: &str,
    after: impl Fn(usize, &Sandbox, &Out) + Sync,
) -> usize {
    let next = AtomicUsize::new(1);
    let done = AtomicBool::new(false);
    let steps = AtomicUsize::new(0);
    let failed: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let one = || {
        while !done.load(Ordering::SeqCst) {
            let n = next.fetch_add(1, Ordering::SeqCst);
            assert!(n < TOO_MANY, "the run never ends untouched");
            let home = start.copy();
            let log = home.root().join(format!("steps-{:?}-{n}", std::thread::current().id()));
            let (name, value) = match fault {
                Fault::Kill => ("STEP_KILL", n.to_string()),
                Fault::NoSpace => ("STEP_FAIL", format!("{n}:ENOSPC")),
            };
            let env = [(name, value.as_str()), ("STEP_LOG", log.to_str().unwrap())];
            let out = home.sinker_with(args, stdin.as_bytes(), &env);
            let passed = std::fs::read_to_string(&log).unwrap_or_default();
            let at = passed.lines().nth(n - 1).unwrap_or("(none)").to_owned();
            if passed.lines().count() < n {
                assert_eq!(out.code, Some(0), "an untouched run failed: {out}");
                steps.fetch_max(n - 1, Ordering::SeqCst);
                done.store(true, Ordering::SeqCst);
            } else if matches!(fault, Fault::Kill) {
                assert!(out.killed(), "step {at}: {out}");
            } else {
                assert!(
                    matches!(out.code, Some(0 | 1)) && !out.stderr.contains("panicked"),
                    "step {at}: {out}"
                );
            }
            let check = std::panic::AssertUnwindSafe(|| after(n, &home, &out));
            if let Err(why) = std::panic::catch_unwind(check) {
                let why = why.downcast_ref::<String>().cloned().unwrap_or_else(|| "panic".to_owned());
                failed.lock().unwrap().push(format!("after step {at}: {why}"));
                done.store(true, Ordering::SeqCst);
            }
            std::fs::remove_dir_all(home.home()).ok();
            std::fs::remove_file(&log).ok();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(one);
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    let steps = steps.into_inner();
    assert!(steps > 0, "no step was passed");
    steps
}

/// A clean drain, then: the rows of an undisturbed run, and an index that agrees.
fn recovers(home: &Sandbox, expected: &str) {
    home.drain_once();
    assert_eq!(home.dump(), expected);
    home.verify();
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
fn a_hook_killed_at_any_step_leaves_a_whole_pointer_or_none() {
    let (sandbox, transcript) = world();
    let undisturbed = sandbox.sibling();
    undisturbed.drain_once();
    let expected = undisturbed.dump();
    for (event, name) in [("stop", "Stop"), ("post-tool-use", "PostToolUse.Bash")] {
        let stdin = format!("{}\n", payload(name, &sandbox, &transcript));
        for fault in [Fault::Kill, Fault::NoSpace] {
            let args = ["hook", "claude", event];
            at_every_step(&sandbox, fault, &args, &stdin, |_, home, out| {
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
fn a_drain_killed_at_any_step_ends_in_the_undisturbed_result() {
    let (start, expected) = spooled();
    let steps =
        at_every_step(&start, Fault::Kill, &["drain", "--once"], "", |_, home, _| recovers(home, &expected));
    eprintln!("{steps} steps");
}

#[test]
fn a_drain_without_space_at_any_step_ends_in_the_undisturbed_result() {
    let (start, expected) = spooled();
    at_every_step(&start, Fault::NoSpace, &["drain", "--once"], "", |_, home, _| recovers(home, &expected));
}

/// The second drain finds a store, an index and a cursor: other steps than the first.
#[test]
fn a_later_drain_killed_at_any_step_ends_in_the_undisturbed_result() {
    let (sandbox, mut transcript) = world();
    sandbox.drain_once();
    transcript.prompt("And the other gauge?").says("It was right.").flush();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    let undisturbed = sandbox.copy();
    undisturbed.drain_once();
    let expected = undisturbed.dump();
    at_every_step(&sandbox, Fault::Kill, &["drain", "--once"], "", |_, home, _| recovers(home, &expected));
}

#[test]
fn an_import_killed_at_any_step_ends_in_the_undisturbed_result() {
    let (sandbox, transcript) = world();
    let folder = transcript.path.parent().unwrap().to_path_buf();
    let undisturbed = sandbox.sibling();
    undisturbed.import(&[&folder]);
    let expected = undisturbed.dump();
    let args = ["import", folder.to_str().unwrap(), "--json"];
    at_every_step(&sandbox, Fault::Kill, &args, "", |_, home, _| {
        home.import(&[Path::new(&folder)]);
        recovers(home, &expected);
    });
}

#[test]
fn a_rebuild_killed_at_any_step_leaves_an_index_that_agrees() {
    let (start, expected) = spooled();
    start.drain_once();
    at_every_step(&start, Fault::Kill, &["index", "rebuild"], "", |_, home, _| recovers(home, &expected));
}

/// F41 as a model: the disk is full from step n on, in hook and drainer, and then there is space again.
#[test]
fn a_disk_that_stays_full_loses_nothing() {
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
