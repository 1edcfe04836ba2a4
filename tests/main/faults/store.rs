//! Faults of the store, F39 to F46. F43 is in `repair.rs`; the loops that kill at every step are in `crash.rs`.

use super::drained::{change, drained, integrity};
use crate::support::{Running, Sandbox, Transcript, eventually, payload, within};
use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The machinery is tried in `store::migrate`; a store that a released version left is kept as a fixture from the second version on.
#[test]
fn f44_a_store_of_every_released_version_is_migrated() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("spool-fixtures/stores");
    let found: Vec<PathBuf> =
        std::fs::read_dir(fixtures).into_iter().flatten().map(|e| e.unwrap().path()).collect();
    if found.is_empty() {
        eprintln!("skipped: there is only one version yet");
    }
    for fixture in found {
        let sandbox = Sandbox::new();
        std::fs::copy(&fixture, sandbox.at("store.db")).unwrap();
        sandbox.drain_once();
        sandbox.verify();
        assert!(!sandbox.dump().is_empty(), "{}", fixture.display());
    }
}

/// Every file of a home but logs, with its bytes and time.
fn snapshot(home: &Path, with_sqlite: bool) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut all = Vec::new();
    for entry in walkdir::WalkDir::new(home).sort_by_file_name() {
        let entry = entry.unwrap();
        // What SQLite keeps beside a store that is open: of a newer store nobody opens it, and so it must not come to be.
        let name = entry.file_name().to_string_lossy();
        let beside = !with_sqlite && (name == "store.db-shm" || name == "store.db-wal");
        if entry.path().starts_with(home.join("log")) || entry.file_type().is_dir() || beside {
            continue;
        }
        let time = entry.metadata().unwrap().modified().unwrap();
        all.push((entry.path().to_path_buf(), std::fs::read(entry.path()).unwrap(), time));
    }
    all
}

/// D11: refused by every command that would have to read it, and not one byte of the home changes.
#[test]
fn f44_what_a_newer_version_wrote_is_refused_and_left_as_it_is() {
    let (start, transcripts, _) = drained();
    let generation = std::fs::read_to_string(start.at("index/current")).unwrap();
    let meta = format!("index/{}/meta.json", generation.trim());
    let newer: [(&str, &dyn Fn(&Sandbox)); 4] = [
        ("store", &|home| {
            let store = Connection::open(home.at("store.db")).unwrap();
            store.pragma_update(None, "user_version", 99).unwrap();
        }),
        ("index", &|home| {
            change(&home.at(&meta), |bytes| {
                let text = String::from_utf8(bytes.clone()).unwrap();
                assert!(text.contains(r#"\"format\":2"#), "{text}");
                *bytes = text.replace(r#"\"format\":2"#, r#"\"format\":99"#).into_bytes();
            });
        }),
        ("state/status", &|home| std::fs::write(home.at("state/status"), r#"{"v":99}"#).unwrap()),
        ("state/repair", &|home| std::fs::write(home.at("state/repair"), r#"{"v":99}"#).unwrap()),
    ];
    let path = transcripts[0].path.to_str().unwrap();
    for (case, make) in newer {
        let home = start.copy();
        make(&home);
        let before = snapshot(home.home(), case == "store");
        for args in [vec!["drain", "--once"], vec!["drain"], vec!["import", path], vec!["index", "rebuild"]] {
            let out = home.sinker(&args);
            assert_eq!(out.code, Some(4), "{case}: {args:?}: {out}");
            assert!(out.stderr.contains("hint: update Sinker"), "{case}: {args:?}: {out}");
        }
        for args in
            [vec!["status"], vec!["search", "buoy"], vec!["sessions", "--all"], vec!["index", "verify"]]
        {
            let out = home.sinker(&args);
            assert!(matches!(out.code, Some(0 | 4)), "{case}: {args:?}: {out}");
        }
        let prompt = payload("UserPromptSubmit", &home, &transcripts[1]);
        let args = ["hook", "claude", "user-prompt-submit", "--only", "recall"];
        let out = home.sinker_with(&args, format!("{prompt}\n").as_bytes(), &[]);
        assert_eq!(out.code, Some(0), "{case}: {out}");
        assert!(snapshot(home.home(), case == "store") == before, "{case}: something changed");
    }
}

#[test]
fn f45_an_old_store_under_a_newer_index_comes_to_the_same_end() {
    let (home, mut transcripts, _) = drained();
    let old = std::fs::read(home.at("store.db")).unwrap();
    transcripts[0].prompt("Which chain is on order?").says("The 40 metre one.").flush();
    home.drain_once();
    let expected = home.dump();
    for with_status in [true, false] {
        let home = home.copy();
        std::fs::write(home.at("store.db"), &old).unwrap();
        if !with_status {
            std::fs::remove_file(home.at("state/status")).unwrap();
        }
        home.drain_once();
        assert_eq!(home.dump(), expected);
        home.verify();
        assert!(home.log().contains("older than what was published"), "{}", home.log());
        let found = home.json(&["search", "40 metre chain"]);
        assert!(!found["hits"].as_array().unwrap().is_empty(), "{found}");
    }
}

#[test]
fn f45_an_old_index_under_a_newer_store_catches_up() {
    let (home, mut transcripts, _) = drained();
    let old = home.copy();
    transcripts[0].prompt("Which chain is on order?").says("The 40 metre one.").flush();
    home.drain_once();
    let expected = home.dump();
    std::fs::remove_dir_all(home.at("index")).unwrap();
    std::fs::rename(old.at("index"), home.at("index")).unwrap();
    home.drain_once();
    assert_eq!(home.dump(), expected);
    home.verify();
}

/// The log of a newer store beside an old one: SQLite would play it into pages it was not written for.
#[test]
fn f45_an_old_store_beside_the_log_of_a_newer_one_comes_to_the_same_end() {
    let (home, mut transcripts, _) = drained();
    let old = std::fs::read(home.at("store.db")).unwrap();
    for n in 0..5 {
        transcripts[0].prompt(&format!("Which chain is number {n}?")).says("The 40 metre one.").flush();
        home.drain_once();
    }
    let drainer = home.start(&["drain"]);
    eventually("it runs", || home.at("state/heartbeat").exists());
    transcripts[0].prompt("Which chain is the last?").says("The rusty one.").flush();
    home.hook("stop", &payload("Stop", &home, &transcripts[0])).assert_silent("stop");
    eventually("it is stored", || home.dump().contains("rusty"));
    drainer.signal(Signal::KILL);
    drop(drainer);
    let expected = home.dump();
    std::fs::write(home.at("store.db"), old).unwrap();
    std::fs::remove_file(home.at("store.db-shm")).ok();
    let drainer = home.start(&["drain"]);
    eventually("all is there", || {
        home.sinker(&["inspect"]).code == Some(0)
            && home.dump() == expected
            && home.sinker(&["index", "verify"]).code == Some(0)
    });
    drop(drainer);
}

/// F42: readers see the last state, hooks do not notice, the writer tries again and says so meanwhile.
#[test]
fn f42_a_store_locked_for_long_costs_only_time() {
    let (home, mut transcripts, _) = drained();
    let blocker = Connection::open(home.at("store.db")).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    transcripts[0].prompt("Who holds the lock?").says("The harbour master.").flush();
    // Also a start must not need the lock.
    let drainer = home.start(&["drain"]);
    eventually("it runs", || home.at("state/heartbeat").exists());
    home.hook("stop", &payload("Stop", &home, &transcripts[0])).assert_silent("stop");
    let mut asked = payload("UserPromptSubmit", &home, &transcripts[1]);
    asked["prompt"] = "Why does the buoy drift, what was the root cause?".into();
    let answer = home.hook("user-prompt-submit", &asked);
    assert!(answer.stdout.contains("feet"), "recall answers meanwhile: {answer}");
    assert_eq!(home.sinker(&["search", "buoy", "--json"]).code, Some(0));
    assert!(
        within(Duration::from_secs(60), || {
            home.json(&["status"])["last_error"].as_str().is_some_and(|e| e.contains("locked"))
        }),
        "status says why nothing is stored"
    );
    blocker.execute_batch("ROLLBACK").unwrap();
    eventually("it is stored", || home.dump().contains("harbour master"));
    eventually("and status is quiet again", || home.json(&["status"])["last_error"].is_null());
    drop(drainer);
    home.drain_once();
    home.verify();
}

/// Mounts a small file system over a directory; needs root. Unmounted when dropped.
struct Mount(PathBuf);

impl Mount {
    fn tmpfs(at: &Path, size: &str) -> Option<Self> {
        let size = format!("size={size},mode=0700");
        let done =
            std::process::Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(at).output();
        done.is_ok_and(|out| out.status.success()).then(|| Self(at.to_path_buf()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        std::process::Command::new("umount").arg("-l").arg(&self.0).output().ok();
    }
}

/// F41 with a disk that is really full.
#[test]
fn f41_a_full_disk_is_said_and_forgiven_when_there_is_room() {
    let sandbox = Sandbox::new();
    let secret = std::fs::read(sandbox.at("secret")).unwrap();
    let Some(_mount) = Mount::tmpfs(sandbox.home(), "6m") else {
        eprintln!("skipped: needs root");
        return;
    };
    std::fs::write(sandbox.at("secret"), secret).unwrap();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript.prompt("Is there room?").says("Plenty.").flush();
    let drainer: Running = sandbox.start(&["drain"]);
    eventually("the first words are searchable", || {
        sandbox.sinker(&["search", "plenty", "--json"]).code == Some(0)
    });
    // Words that do not compress, so many that they do not fit into what is left; a pointer does.
    let mut seed = 7_u64;
    for n in 0..60 {
        let mut text = format!("Container {n}:");
        for _ in 0..600 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let letter = |shift: u64| char::from(b'a' + u8::try_from((seed >> shift) % 26).unwrap());
            text.extend([' ', letter(20), letter(30), letter(40), letter(50)]);
        }
        transcript.prompt(&text).says("Noted.");
    }
    let filler = sandbox.at("filler");
    let fill = || {
        use std::io::Write as _;
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&filler).unwrap();
        for size in [1 << 16, 1 << 12, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
        file.set_len(file.metadata().unwrap().len().saturating_sub(48 * 1024)).unwrap();
    };
    fill();
    transcript.flush();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    eventually("status says so", || {
        let status = sandbox.json(&["status"]);
        status["last_error"].as_str().is_some_and(|e| e.contains("full"))
    });
    let searched = sandbox.sinker(&["search", "plenty", "--json"]);
    assert_eq!(searched.code, Some(0), "what was published still answers: {searched}");
    std::fs::remove_file(&filler).unwrap();
    // The pointer may not have found room either: the next event brings all.
    sandbox.hook("session-end", &payload("SessionEnd.other", &sandbox, &transcript)).assert_silent("end");
    // The next try comes within half a minute.
    let stored = within(Duration::from_secs(90), || {
        sandbox.json(&["status"])["store"]["observations"] == json!(transcript.observations)
    });
    assert!(stored, "{}\n{}", sandbox.json(&["status"]), sandbox.log());
    eventually("status is quiet again", || sandbox.json(&["status"])["last_error"].is_null());
    drainer.signal(Signal::TERM);
    let out = drainer.finish(Duration::from_secs(30));
    assert_eq!(out.code, Some(0), "{out}");
    sandbox.drain_once();
    sandbox.verify();
    integrity(&sandbox);
}

/// F40: the entry is the only pointer to what was said, so it outlives the commit.
#[cfg(feature = "failpoints")]
#[test]
fn f40_an_entry_is_removed_only_after_its_commit() {
    let (home, mut transcripts, _) = drained();
    transcripts[0].prompt("Is it safe?").says("Yes.").flush();
    home.hook("stop", &payload("Stop", &home, &transcripts[0])).assert_silent("stop");
    let log = home.root().join("steps.log");
    let mut names = Vec::new();
    for stop in ["", "store::commit", "store::committed"] {
        let home = home.copy();
        let at = names.iter().position(|name| name == stop).map_or(0, |n| n + 1).to_string();
        std::fs::remove_file(&log).ok();
        let env = [("STEP_KILL", at.as_str()), ("STEP_LOG", log.to_str().unwrap())];
        let out = home.sinker_with(&["drain", "--once"], b"", &env);
        if stop.is_empty() {
            let steps = std::fs::read_to_string(&log).unwrap();
            names = steps.lines().map(|l| l.split(' ').next_back().unwrap().to_owned()).collect();
            continue;
        }
        assert!(out.killed(), "{stop}: {out}");
        assert_eq!(home.spool("cur").len(), 1, "{stop}");
        assert_eq!(home.dump().contains("Is it safe?"), stop == "store::committed");
        home.drain_once();
        assert!(home.dump().contains("Is it safe?") && home.spool("cur").is_empty());
        home.verify();
    }
}

#[cfg(feature = "failpoints")]
#[test]
fn f46_a_network_file_system_is_warned_of_and_locks_that_do_not_hold_are_refused() {
    let (home, _, _) = drained();
    let network = [("STEP_STATFS", "26985")];
    let status = home.sinker_with(&["status", "--json"], b"", &network);
    let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    assert!(status["warning"].as_str().is_some_and(|w| w.contains("NFS")), "{status}");
    let out = home.sinker_with(&["drain", "--once"], b"", &network);
    assert_eq!(out.code, Some(0), "a warning stops nobody: {out}");
    assert!(home.log().contains("network file system"), "{}", home.log());
    let out = home.sinker_with(&["drain", "--once"], b"", &[("STEP_LOCKS", "granted")]);
    assert_eq!(out.code, Some(1), "{out}");
    assert!(out.stderr.contains("grants every lock") && out.stderr.contains("hint:"), "{out}");
    assert!(home.json(&["status"])["warning"].is_null());
}
