//! Faults of the store that a repair mends: F43.

use super::drained::{aside, assert_told, change, drained, integrity, noise, pages, report};
use crate::support::{Sandbox, Transcript, eventually, payload};
use rusqlite::Connection;
use rustix::process::Signal;
use std::os::unix::fs::FileExt as _;

/// What the header and the length tell is met by every command, and mended by the next drainer.
#[test]
fn f43_a_store_that_is_none_is_moved_aside_and_rebuilt() {
    let (start, _, expected) = drained();
    let damages: [(&str, fn(&mut Vec<u8>)); 4] = [
        ("not a database", |bytes| bytes.iter_mut().take(100).for_each(|b| *b = b'x')),
        ("cut in half", |bytes| bytes.truncate(bytes.len() / 2)),
        ("cut inside the header", |bytes| bytes.truncate(50)),
        ("a page size of nothing", |bytes| bytes[16..18].fill(0)),
    ];
    for (case, damage) in damages {
        let home = start.copy();
        change(&home.at("store.db"), damage);
        let bytes = std::fs::read(home.at("store.db")).unwrap();
        for args in [vec!["sessions", "--all"], vec!["show", "o-1234567"], vec!["inspect"], vec!["timeline"]]
        {
            assert_told(&home.sinker(&args));
        }
        let status = home.json(&["status"]);
        assert!(status["last_error"].as_str().is_some_and(|e| e.contains("damaged")), "{case}: {status}");
        assert_eq!(std::fs::read(home.at("store.db")).unwrap(), bytes, "{case}: readers change nothing");
        home.drain_once();
        assert_eq!(home.dump(), expected, "{case}");
        home.verify();
        integrity(&home);
        let kept = aside(&home);
        assert_eq!(kept.len(), 1, "{case}");
        assert_eq!(std::fs::read(&kept[0]).unwrap(), bytes, "{case}: the old one is kept as it was");
        assert!(report(&home).contains("0 of 2 transcripts are gone"), "{case}: {}", report(&home));
        assert!(!home.at("state/repair").exists() && !home.at("state/suspect-store").exists());
        home.drain_once();
        assert_eq!((home.dump(), aside(&home).len()), (expected.clone(), 1), "{case}: once");
    }
}

/// Nothing is there to be moved, but something was.
#[test]
fn f43_a_store_that_is_gone_or_empty_is_rebuilt_and_said_so() {
    let (start, _, expected) = drained();
    for case in ["gone", "empty"] {
        let home = start.copy();
        std::fs::remove_file(home.at("store.db")).unwrap();
        if case == "empty" {
            std::fs::write(home.at("store.db"), b"").unwrap();
        }
        let status = home.json(&["status"]);
        assert!(status["last_error"].as_str().is_some_and(|e| e.contains(case)), "{case}: {status}");
        home.drain_once();
        assert_eq!(home.dump(), expected, "{case}");
        home.verify();
        assert!(report(&home).contains(case), "{}", report(&home));
    }
}

/// A flipped page shows when somebody reads it: that one is told, and the next drainer repairs. What is read again gives the same rows.
#[test]
fn f43_a_page_of_noise_is_found_by_whoever_reads_it_and_mended() {
    let (start, _, expected) = drained();
    let mut met = 0;
    for page in 1..=pages(&start) {
        let home = start.copy();
        noise(&home.at("store.db"), page);
        let read = home.sinker(&["inspect", "--view", "records", "--json"]);
        if read.code != Some(0) {
            assert_told(&read);
            met += 1;
        }
        home.drain_once();
        assert_eq!(home.dump(), expected, "page {page}");
        home.verify();
        if read.code != Some(0) {
            integrity(&home);
            assert_eq!(aside(&home).len(), 1, "page {page}");
        }
    }
    assert!(met > 3, "{met} of {} pages met", pages(&start));
}

/// The host removes transcripts after some weeks: what the damaged store still tells is all that is left of them.
#[test]
fn f43_what_can_be_read_of_a_damaged_store_outlives_its_transcripts() {
    let (home, transcripts, _) = drained();
    // What no transcript holds: a note with its past, what is pinned, and what retention has counted.
    let note = home.json(&["note", "Lanterns burn kerosene", "--file", "src/lantern.rs"]);
    let note = note["id"].as_str().unwrap();
    home.json(&["note", "Lanterns burn paraffin", "--edit", note]);
    let pinned = home.lines(&["inspect", "--view", "records"]);
    let pinned = pinned.iter().find(|row| row["kind"] == "observation").unwrap()["id"].clone();
    assert_eq!(home.json(&["retain", "--pin", pinned.as_str().unwrap(), note])["changed"], 2);
    let expected = home.dump();
    let shown = |home: &Sandbox| {
        let mut shown = home.json(&["show", note]);
        shown.as_object_mut().unwrap().remove("seq");
        shown
    };
    let (told, pins) = (shown(&home), home.lines(&["retain", "--pins"]));
    let store = Connection::open(home.at("store.db")).unwrap();
    store.execute("UPDATE meta SET value = 7 WHERE key = 'retained'", []).unwrap();
    let root = |name: &str| {
        let sql = "SELECT rootpage FROM sqlite_master WHERE name = ?1";
        usize::try_from(store.query_row(sql, [name], |row| row.get::<_, i64>(0)).unwrap()).unwrap()
    };
    let (index, touches) = (root("documents_seq"), root("touches_path"));
    drop(store);
    noise(&home.at("store.db"), index);
    noise(&home.at("store.db"), touches);
    for transcript in &transcripts {
        std::fs::remove_file(&transcript.path).unwrap();
    }
    std::fs::write(home.at("state/suspect-store"), b"").unwrap();
    home.drain_once();
    assert_eq!(home.dump(), expected);
    home.verify();
    assert_eq!((shown(&home), home.lines(&["retain", "--pins"])), (told, pins));
    assert_eq!(home.json(&["status"])["retained"], 7);
    let text = report(&home);
    assert!(text.contains("0 rows of the old one could not be read, 2 of 2 transcripts are gone"), "{text}");
    let status = home.json(&["status"]);
    assert!(status["last_error"].as_str().is_some_and(|e| e.contains("was rebuilt")), "{status}");
}

/// A loss is stated in numbers.
#[test]
fn f43_what_is_lost_is_counted() {
    let (home, transcripts, _) = drained();
    let before = home.json(&["status"])["store"]["observations"].as_u64().unwrap();
    // Where the words lie.
    let store = Connection::open(home.at("store.db")).unwrap();
    let root: i64 = store
        .query_row("SELECT rootpage FROM sqlite_master WHERE name = 'packs'", [], |row| row.get(0))
        .unwrap();
    drop(store);
    noise(&home.at("store.db"), usize::try_from(root).unwrap());
    std::fs::remove_file(&transcripts[0].path).unwrap();
    std::fs::write(home.at("state/suspect-store"), b"").unwrap();
    home.drain_once();
    let after = home.json(&["status"])["store"]["observations"].as_u64().unwrap();
    assert!(after < before, "{after} of {before}");
    let text = report(&home);
    assert!(text.contains(&format!("{after} observations of {before}")), "{text}");
    assert!(text.contains("1 of 2 transcripts are gone"), "{text}");
    assert!(home.dump().contains("Grüße"), "the session whose transcript is there is whole");
    assert!(home.log().contains("Repaired"), "{}", home.log());
    home.verify();
}

/// A transcript that was imported from anywhere is read again from there.
#[test]
fn f43_a_file_outside_of_all_roots_is_read_again() {
    let (home, _, _) = drained();
    let mut elsewhere = Transcript::new(&home, 7);
    elsewhere.path = home.root().join("backup/old.jsonl");
    elsewhere.prompt("Where is the spare anchor?").says("In the shed.").flush();
    home.import(&[&elsewhere.path]);
    let expected = home.dump();
    noise(&home.at("store.db"), 4);
    std::fs::write(home.at("state/suspect-store"), b"").unwrap();
    home.drain_once();
    assert_eq!(home.dump(), expected);
    home.verify();
}

/// A drainer that runs finds out as well: by its own work, or by the note of a reader.
#[test]
fn f43_a_running_drainer_repairs_what_a_reader_met() {
    let (home, _, expected) = drained();
    let drainer = home.start(&["drain"]);
    eventually("it runs", || home.at("state/heartbeat").exists());
    let file = std::fs::OpenOptions::new().write(true).open(home.at("store.db")).unwrap();
    for page in 2..pages(&home) {
        file.write_all_at(&[0xa5; 4096], u64::try_from(page * 4096).unwrap()).unwrap();
    }
    eventually("somebody meets it and it is repaired", || {
        home.sinker(&["inspect", "--view", "records", "--json"]);
        !aside(&home).is_empty() && !home.at("state/repair").exists() && !home.spool("odd").is_empty()
    });
    eventually("all is there again", || {
        home.sinker(&["inspect", "--json"]).code == Some(0) && home.dump() == expected
    });
    eventually("and searchable", || home.sinker(&["index", "verify", "--json"]).code == Some(0));
    drop(drainer);
}

/// Killed with its log, then without it: whatever state that leaves, the end is the same.
#[test]
fn f43_a_missing_log_loses_nothing_that_a_transcript_still_has() {
    let (home, mut transcripts, _) = drained();
    let drainer = home.start(&["drain"]);
    eventually("it runs", || home.at("state/heartbeat").exists());
    transcripts[1].prompt("Is buoyage done?").says("Yes.").flush();
    home.hook("stop", &payload("Stop", &home, &transcripts[1])).assert_silent("stop");
    eventually("it is stored", || {
        home.json(&["status"])["store"]["documents"] == home.json(&["status"])["index"]["documents"]
            && home.dump().contains("Is buoyage done?")
    });
    drainer.signal(Signal::KILL);
    drop(drainer);
    let expected = home.dump();
    assert!(home.at("store.db-wal").exists());
    std::fs::remove_file(home.at("store.db-wal")).unwrap();
    std::fs::remove_file(home.at("store.db-shm")).ok();
    home.drain_once();
    assert_eq!(home.dump(), expected);
    home.verify();
    integrity(&home);
}

/// After an end out of order the store is read through beside the work.
#[test]
fn f43_an_unclean_end_has_every_page_looked_at() {
    let (home, mut transcripts, _) = drained();
    let drainer = home.start(&["drain"]);
    eventually("it runs", || home.at("state/heartbeat").exists());
    transcripts[1].prompt("Is buoyage done?").says("Yes.").flush();
    home.hook("stop", &payload("Stop", &home, &transcripts[1])).assert_silent("stop");
    eventually("it is stored", || home.dump().contains("Is buoyage done?"));
    drainer.signal(Signal::KILL);
    drop(drainer);
    let expected = home.dump();
    // An index that nothing at start looks into.
    let store = Connection::open(home.at("store.db")).unwrap();
    let root: i64 = store
        .query_row("SELECT rootpage FROM sqlite_master WHERE name = 'touches_path'", [], |row| row.get(0))
        .unwrap();
    // Dropped, the last connection would write the log back and remove it.
    let wal = std::fs::read(home.at("store.db-wal")).unwrap();
    drop(store);
    noise(&home.at("store.db"), usize::try_from(root).unwrap());
    if !home.at("store.db-wal").exists() {
        std::fs::write(home.at("store.db-wal"), wal).unwrap();
    }
    let drainer = home.start(&["drain"]);
    eventually("it is found and repaired", || {
        !aside(&home).is_empty() && !home.at("state/repair").exists() && !home.spool("odd").is_empty()
    });
    eventually("all is there", || home.sinker(&["inspect"]).code == Some(0) && home.dump() == expected);
    drop(drainer);
}
