//! Faults of the drainer's life, F58 to F63: wedged, replaced, signalled, in a wrong time. The storm and the plain signals are in `drain.rs`.

use super::drained::drained;
use crate::support::{Running, Sandbox, Transcript, eventually, payload, within};
use rustix::process::Signal;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn beat_age(sandbox: &Sandbox) -> Option<Duration> {
    let beat = sandbox.at("state/heartbeat").metadata().ok()?.modified().unwrap();
    SystemTime::now().duration_since(beat).ok()
}

fn running(sandbox: &Sandbox) -> bool {
    sandbox.at("state/heartbeat").exists() && sandbox.json(&["status"])["drainer"]["running"] == true
}

/// A stage that hangs stops the heartbeat though the process lives; hooks go on, and the end of the process frees everything.
#[cfg(feature = "failpoints")]
#[test]
fn f59_a_wedged_drainer_stops_beating_and_its_end_frees_the_lock() {
    let (home, mut transcripts, _) = drained();
    for step in ["store::commit", "index::commit"] {
        transcripts[0].prompt(&format!("Who hangs at {step}?")).says("The disk.").flush();
        let mut command = home.command(&["drain"]);
        command.env("STEP_STALL", step);
        let mut drainer = Running::start(command);
        eventually("it beats", || home.at("state/heartbeat").exists());
        // A beat comes every two seconds as long as something moves.
        assert!(
            within(Duration::from_secs(20), || beat_age(&home)
                .is_some_and(|age| age > Duration::from_secs(5))),
            "{step}"
        );
        assert!(!drainer.ended(), "{step}");
        home.hook("stop", &payload("Stop", &home, &transcripts[0])).assert_silent(step);
        assert_eq!(home.sinker(&["search", "buoy", "--json"]).code, Some(0), "{step}");
        drainer.signal(Signal::KILL);
        assert!(drainer.ends_within(Duration::from_secs(10)));
        home.drain_once();
        assert!(home.dump().contains(step));
        home.verify();
    }
}

/// The note in the lock file is for people: whoever it names, the lock decides.
#[test]
fn f60_a_pid_in_the_lock_file_means_nothing() {
    let (home, _, expected) = drained();
    for note in [
        "pid 1, since 2020-01-01T00:00:00.000Z\n",
        &format!("pid {}, since now\n", std::process::id()),
        "",
        "\u{0}\u{ff}",
    ] {
        std::fs::write(home.at("drain.lock"), note).unwrap();
        assert_eq!(home.json(&["status"])["drainer"]["running"], false, "{note}");
        home.drain_once();
    }
    assert_eq!(home.dump(), expected);
    let drainer = home.start(&["drain"]);
    eventually("it runs", || running(&home));
    std::fs::write(home.at("drain.lock"), "pid 999999999, since never\n").unwrap();
    let second = home.sinker(&["drain", "--once"]);
    assert_eq!(second.code, Some(4), "{second}");
    drop(drainer);
}

/// Enough to keep a drainer busy for much longer than it may take to stop.
fn much(sandbox: &Sandbox) -> Vec<Transcript> {
    let text = "The harbour office asks which berth is free, and the crane waits for the answer. ".repeat(12);
    (0..10)
        .map(|n| {
            let mut transcript = Transcript::new(sandbox, 100 + n);
            for turn in 0..60 {
                transcript
                    .prompt(&format!("Ship {n}, question {turn}: {text}"))
                    .says(&format!("Answer {turn}. {text}"));
            }
            transcript.flush();
            transcript
        })
        .collect()
}

/// Signals end a drainer in order while it works; what was in work is done again, and once.
#[test]
fn f61_a_signal_in_the_middle_of_much_work_ends_it_soon() {
    let world = Sandbox::new();
    let transcripts = much(&world);
    let total: usize = transcripts.iter().map(|t| t.observations).sum();
    let whole = world.sibling();
    whole.drain_once();
    let expected = whole.dump();
    let folder = world.claude().join("projects");
    let ways: [(&[&str], &[Signal]); 4] = [
        (&["drain"], &[Signal::TERM]),
        (&["drain"], &[Signal::HUP]),
        (&["drain"], &[Signal::INT, Signal::INT]),
        (&["import", folder.to_str().unwrap()], &[Signal::INT]),
    ];
    for (args, signals) in ways {
        let home = world.sibling();
        let mut process = home.start(args);
        eventually("it is at work", || {
            home.at("store.db").exists()
                && home.json(&["status"])["drainer"]["running"] == true
                && home.at("state/heartbeat").exists()
        });
        for signal in signals {
            process.signal(*signal);
        }
        // Two seconds are the promise; the machine that runs this may be busy with other things.
        assert!(process.ends_within(Duration::from_secs(15)), "{args:?} {signals:?}");
        assert!(home.json(&["status"])["drainer"]["running"] == false);
        home.drain_once();
        assert_eq!(home.json(&["status"])["store"]["observations"], json!(total), "{args:?} {signals:?}");
        home.verify();
        assert_eq!(home.dump(), expected, "{args:?} {signals:?}");
    }
}

/// A rebuild runs beside the loop: it beats and listens meanwhile, and who asked is answered.
#[test]
fn f61_a_rebuild_in_a_running_drainer_is_answered_and_can_be_interrupted() {
    let world = Sandbox::new();
    much(&world);
    world.drain_once();
    let drainer = world.start(&["drain"]);
    eventually("it runs", || running(&world));
    let answer = world.json(&["index", "rebuild"]);
    assert_eq!(answer["documents"], world.json(&["status"])["store"]["documents"], "{answer}");
    let asking = world.start(&["index", "rebuild", "--json"]);
    eventually("it is asked", || !world.spool("cur").is_empty() || !world.spool("new").is_empty());
    drainer.signal(Signal::TERM);
    assert_eq!(drainer.finish(Duration::from_secs(20)).code, Some(0));
    // Left alone, the one who asked does it.
    let out = asking.finish(Duration::from_secs(60));
    assert_eq!(out.code, Some(0), "{out}");
    world.verify();
    assert!(world.spool("cur").is_empty() && world.spool("new").is_empty());
}

fn install(at: &Path) {
    // Beside it first: a running binary cannot be written over, and an upgrade does not try.
    let beside = at.with_extension("new");
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_sinker"), &beside).unwrap();
    std::fs::rename(&beside, at).unwrap();
}

/// F62: the old one leaves in order and leaves no heartbeat, so the next hook starts the new one.
#[test]
fn f62_a_drainer_whose_binary_was_replaced_leaves_in_order() {
    let (home, mut transcripts, _) = drained();
    let binary = home.root().join("bin/sinker");
    install(&binary);
    let start = || {
        let plain = home.command(&["drain"]);
        let mut command = std::process::Command::new(&binary);
        command.arg("drain").env_clear().current_dir(home.project());
        command.envs(plain.get_envs().filter_map(|(k, v)| Some((k, v?))));
        Running::start(command)
    };
    let mut old = start();
    eventually("it runs", || running(&home));
    transcripts[0].prompt("Is there a new version?").says("Yes.").flush();
    home.hook("stop", &payload("Stop", &home, &transcripts[0])).assert_silent("stop");
    install(&binary);
    assert!(old.ends_within(Duration::from_secs(30)));
    let out = old.finish(Duration::from_secs(5));
    assert_eq!(out.code, Some(0), "{out}");
    assert!(!home.at("state/heartbeat").exists(), "nobody beats");
    assert!(home.log().contains("Another version was installed"), "{}", home.log());
    let mut new = start();
    eventually("the new one works", || home.dump().contains("Is there a new version?"));
    // One that is gone may be about to come back: no reason to leave.
    std::fs::remove_file(&binary).unwrap();
    assert!(!new.ends_within(Duration::from_secs(5)));
    drop(new);
    home.drain_once();
    home.verify();
}

/// F62: the new version lies elsewhere, and a hook of it finds the old drainer at work: that one leaves, whichever was installed last.
#[cfg(feature = "failpoints")]
#[test]
fn f62_a_hook_of_a_newer_version_has_the_older_drainer_leave() {
    let (home, mut transcripts, _) = drained();
    let begin = |version: &str| {
        let mut command = home.command(&["drain"]);
        command.env("STEP_VERSION", version);
        let drainer = Running::start(command);
        eventually("its figures are there", || {
            home.json(&["status"])["drainer"]["running"] == true && running(&home)
        });
        eventually("its version is there", || {
            std::fs::read_to_string(home.at("state/status"))
                .is_ok_and(|s| s.contains(&format!("\"{version}\"")))
        });
        drainer
    };
    let event = payload("SessionStart.resume", &home, &transcripts[0]);
    let start = |version: &str| {
        let args = ["hook", "claude", "session-start", "--only", "recall"];
        let out = home.sinker_with(&args, format!("{event}\n").as_bytes(), &[("STEP_VERSION", version)]);
        out.assert_silent("session-start");
    };
    let mut old = begin("0.9.0");
    start("0.9.0");
    assert!(!home.at("state/successor").exists(), "its own version asks for nothing");
    transcripts[0].prompt("Who comes after you?").says("The next one.").flush();
    home.hook("stop", &payload("Stop", &home, &transcripts[0])).assert_silent("stop");
    start("0.10.0");
    assert!(old.ends_within(Duration::from_secs(30)));
    let out = old.finish(Duration::from_secs(5));
    assert_eq!(out.code, Some(0), "{out}");
    assert!(!home.at("state/heartbeat").exists(), "nobody beats: the next hook starts the new one");
    // What was asked of one drainer is not asked of the next: an older version must be able to come back.
    std::fs::write(home.at("state/successor"), "0.10.0").unwrap();
    let mut new = begin("0.9.0");
    assert!(!home.at("state/successor").exists());
    assert!(!new.ends_within(Duration::from_secs(5)));
    drop(new);
    home.drain_once();
    assert!(home.dump().contains("Who comes after you?"));
    home.verify();
}

/// Clocks that jump between runs: nothing is swept that is young, nothing is stored twice, and the order of rows is that of their files.
#[test]
fn f63_a_clock_that_jumps_costs_nothing() {
    let world = Sandbox::new();
    let right = world.sibling();
    let mut transcript = Transcript::new(&world, 5);
    for home in [&right, &world] {
        for (n, shift) in ["", "-3600", "+315360000", "", "1970-01-01T00:00:00Z"].iter().enumerate() {
            let shift = if std::ptr::eq(home, &right) { "" } else { shift };
            if std::ptr::eq(home, &right) {
                transcript.prompt(&format!("What is the time, {n}?")).says(&format!("It is {n}.")).flush();
            }
            let young = home.at("spool/tmp/young");
            if home.at("spool/tmp").exists() {
                std::fs::write(&young, b"half").unwrap();
            }
            let env: Vec<(&str, &str)> =
                if shift.is_empty() { Vec::new() } else { vec![("SINKER_NOW", shift)] };
            let line = format!("{}\n", payload("Stop", home, &transcript));
            home.sinker_with(&["hook", "claude", "stop"], line.as_bytes(), &env).assert_silent(shift);
            let out = home.sinker_with(&["drain", "--once"], b"", &env);
            assert_eq!(out.code, Some(0), "{shift}: {out}");
            assert!(n == 0 || young.exists(), "{shift}");
            assert!(
                home.spool("odd").is_empty() && home.spool("cur").is_empty() && home.spool("new").is_empty()
            );
        }
    }
    assert_eq!(world.dump(), right.dump());
    world.verify();
}

/// F63: a drainer in any year sleeps when there is nothing to do.
#[test]
fn f63_an_idle_drainer_in_a_wrong_year_sleeps() {
    let (home, _, _) = drained();
    for shift in ["-3600", "+315360000"] {
        let mut command = home.command(&["drain"]);
        command.env("SINKER_NOW", shift);
        let drainer = Running::start(command);
        eventually("it beats", || home.at("state/heartbeat").exists());
        let switches = || {
            let tasks = std::fs::read_dir(format!("/proc/{}/task", drainer.pid())).unwrap();
            let count = |task: std::fs::DirEntry| {
                let text = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
                let lines = text.lines().filter(|l| l.starts_with("voluntary_ctxt"));
                lines.filter_map(|l| l.split_whitespace().last()?.parse::<u64>().ok()).sum::<u64>()
            };
            tasks.map(|t| count(t.unwrap())).sum::<u64>()
        };
        let before = switches();
        within(Duration::from_secs(2), || false);
        let woken = switches() - before;
        assert!(woken < 400, "{shift}: woken {woken} times in two seconds");
        drop(drainer);
    }
}
