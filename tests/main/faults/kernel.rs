//! Faults that only a kernel can make, in hook and drainer: a disk that does not sync, one that is full (faults, C2).

use crate::support::{
    Mount, Out, Sandbox, Transcript, eventually, hits, inject, payload, run_to_end, within,
};
use serde_json::{Value, json};
use std::time::Duration;

/// More syncs than any of these small runs makes.
const TOO_MANY: usize = 200;

/// A session with what makes rows of every kind, and the rows that an undisturbed drain makes of it.
fn world() -> (Sandbox, Transcript, String) {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript
        .prompt("Why does the lock gate close at high water?")
        .calls("toolu_1", "Bash", json!({"command": "cat gate.toml"}))
        .returns("toolu_1", "close_at = 4.2")
        .says("Decision: the gate closes at 4.2 m.")
        .flush();
    let undisturbed = sandbox.sibling();
    undisturbed.drain_once();
    let rows = undisturbed.dump();
    assert!(rows.contains("4.2 m"), "{rows}");
    (sandbox, transcript, rows)
}

fn waiting(home: &Sandbox) -> usize {
    home.spool("new").len() + home.spool("cur").len()
}

/// A clean drain gives the rows of an undisturbed one, and nothing is left to do.
fn recovers(home: &Sandbox, rows: &str) {
    home.drain_once();
    assert_eq!(home.dump(), rows);
    home.verify();
    assert_eq!((waiting(home), home.spool("odd")), (0, Vec::new()));
}

/// What a drain owes when a disk fails under it: an end in order; the truth about what it did; the pointer kept for what it did not do.
fn failed_honestly(home: &Sandbox, out: &Out, rows: &str) {
    assert!(matches!(out.code, Some(0 | 1)) && !out.stderr.contains("panicked"), "{out}");
    let stored =
        home.at("store.db").exists().then(|| home.sinker(&["inspect", "--view", "records", "--json"]));
    let said = rows.lines().filter(|r| r.contains("\"kind\":\"observation\"")).count();
    let held =
        stored.map_or(0, |o| o.stdout.lines().filter(|r| r.contains("\"kind\":\"observation\"")).count());
    assert!(held == 0 || held == said, "half of a transaction: {held} of {said}");
    if held == 0 {
        assert_eq!(waiting(home), 1, "the pointer is gone before its rows are stored: {out}");
        let status = home.sinker(&["status", "--json"]);
        let told: Value = serde_json::from_str(&status.stdout).unwrap_or_default();
        assert!(out.code == Some(1) || told["last_error"].is_string(), "nobody is told: {out}\n{status}");
    }
}

/// Every sync of a drain fails in turn, then all from the n-th on: of the store's log, of the index's files, of the directories.
#[test]
fn f41_a_disk_that_fails_to_sync_loses_no_row_and_is_told() {
    let (sandbox, transcript, rows) = world();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    // strace counts for each thread and each call apart: one run may meet several.
    for (call, on) in [("fsync", ""), ("fdatasync", ""), ("fdatasync", "+")] {
        for n in 1.. {
            let home = sandbox.copy();
            let log = home.root().join("strace.log");
            let command = home.command(&["drain", "--once"]);
            let what = format!("{call}:error=EIO:when={n}{on}");
            let Some(command) = inject(&command, &what, &log) else { return };
            let out = run_to_end(command, b"");
            let untouched = hits(&log) == 0;
            if untouched {
                assert_eq!(out.code, Some(0), "{what}: an untouched run failed: {out}");
                assert!((2..TOO_MANY).contains(&n), "{n} of {call}: there must be some, and an end");
            } else {
                failed_honestly(&home, &out, &rows);
            }
            recovers(&home, &rows);
            std::fs::remove_dir_all(home.home()).unwrap();
            // From n on is a disk that is broken for good: one early and one late n tell as much as all.
            if untouched || (on == "+" && n > 1) {
                break;
            }
        }
    }
}

/// A synced hook whose file or directory cannot be synced goes on: the host never waits for our disk, and the sweep finds the session.
#[test]
fn f06_a_hook_that_cannot_sync_ends_well_and_loses_nothing() {
    let (sandbox, transcript, rows) = world();
    let stdin = format!("{}\n", payload("Stop", &sandbox, &transcript));
    for call in ["fsync", "fdatasync"] {
        let home = sandbox.sibling();
        let log = home.root().join("strace.log");
        let mut command = home.command(&["hook", "claude", "stop"]);
        command.env("CLAUDE_PROJECT_DIR", home.project());
        let Some(command) = inject(&command, &format!("{call}:error=EIO:when=1"), &log) else { return };
        let out = run_to_end(command, stdin.as_bytes());
        out.assert_silent(call);
        assert_eq!(hits(&log), 1, "a stop syncs its file and its directory");
        for name in home.spool("new") {
            let bytes = std::fs::read(home.at("spool/new").join(name)).unwrap();
            serde_json::from_slice::<Value>(&bytes).expect("a torn pointer");
        }
        assert_eq!(home.spool("tmp"), Vec::<String>::new(), "a half file is left");
        assert!(home.log().contains("sync"), "the log says nothing: {:?}", home.log());
        recovers(&home, &rows);
    }
}

/// The file system is really full, under a live drainer; once there is room all is stored, with nobody's help.
#[test]
fn f41_a_full_file_system_keeps_the_pointer_until_there_is_room() {
    let (sandbox, mut transcript, _) = world();
    let home = sandbox.sibling();
    let Some(mount) = Mount::tmpfs(home.home(), "8m") else { return };
    let mut drainer = home.start(&["drain"]);
    eventually("the drainer has begun", || {
        home.at("store.db").exists() && home.json(&["status"])["store"]["observations"] == 4
    });
    std::fs::write(home.at("ballast"), vec![0; 16 << 20]).unwrap_err();
    // Words that no compression makes small, and room for a pointer only.
    let mut state = 7_u64;
    for _ in 0..300 {
        transcript.prompt(&(0..600).map(|_| word(&mut state)).collect::<Vec<_>>().join(" "));
    }
    transcript.says("It opens at low water.").flush();
    home.hook("stop", &payload("Stop", &home, &transcript)).assert_silent("a full disk");
    assert_eq!(waiting(&home), 0, "there was no room for a pointer");
    std::fs::File::options().write(true).open(home.at("ballast")).unwrap().set_len(7 << 20).unwrap();
    home.hook("stop", &payload("Stop", &home, &transcript)).assert_silent("room for a pointer");
    eventually("the drainer has tried", || home.spool("cur").len() == 1);
    assert!(
        !within(Duration::from_secs(2), || waiting(&home) == 0),
        "the pointer is gone, its rows are not stored"
    );
    assert!(!drainer.ended(), "a full disk ends no drainer");
    assert_eq!(home.json(&["status"])["store"]["observations"], 4, "half of a transaction");
    assert!(mount.remount("size=64m"));
    let said = transcript.observations;
    eventually("all is stored and published, and nothing waits", || {
        let status = home.json(&["status"]);
        status["store"]["observations"] == said
            && status["store"]["documents"] == status["index"]["documents"]
            && waiting(&home) == 0
    });
    home.verify();
}

/// Eight letters of a generator: no word of a language, and no secret either.
fn word(state: &mut u64) -> String {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (0..8).map(|i| char::from(b'a' + ((*state >> (16 + i * 5)) & 15) as u8)).collect()
}
