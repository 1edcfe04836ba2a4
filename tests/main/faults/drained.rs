//! What the rows about store and index begin with: a drained home, ways to damage it, and what must be true of it.

use crate::support::{Out, Sandbox, Transcript, payload};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Two drained sessions with a bit of everything, and the rows they give.
pub fn drained() -> (Sandbox, Vec<Transcript>, String) {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript
        .prompt("Why does the buoy drift?")
        .calls("toolu_1", "Bash", json!({"command": "grep -r drift"}))
        .returns("toolu_1", &"anchor.rs: drift = chain - depth; ".repeat(400))
        .says("Root cause: the chain is measured in feet. Decision: we use metres.")
        .compacts("The buoy drifted.")
        .prompt("And the other buoys?")
        .says("They hold.")
        .flush();
    let mut other = Transcript::new(&sandbox, 2);
    other.prompt("Rename the buoy service to buoyage.").says("Done. Grüße.").flush();
    sandbox.hook("session-end", &payload("SessionEnd.other", &sandbox, &transcript)).assert_silent("end");
    sandbox.drain_once();
    let expected = sandbox.dump();
    assert!(expected.contains("Root cause"), "{expected}");
    (sandbox, vec![transcript, other], expected)
}

pub fn change(path: &Path, how: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).unwrap();
    how(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

/// Turns a page into noise; pages count from 1.
pub fn noise(store: &Path, page: usize) {
    change(store, |bytes| bytes.iter_mut().skip((page - 1) * 4096).take(4096).for_each(|b| *b = !*b ^ 0x2b));
}

pub fn pages(sandbox: &Sandbox) -> usize {
    usize::try_from(sandbox.at("store.db").metadata().unwrap().len()).unwrap() / 4096
}

pub fn aside(sandbox: &Sandbox) -> Vec<PathBuf> {
    let names = std::fs::read_dir(sandbox.home()).unwrap().map(|e| e.unwrap().path());
    let is_aside = |p: &PathBuf| {
        let name = p.file_name().unwrap().to_string_lossy();
        name.starts_with("store.db.damaged-") && !name.ends_with("-wal") && !name.ends_with("-shm")
    };
    names.filter(is_aside).collect()
}

pub fn report(sandbox: &Sandbox) -> String {
    let name = sandbox.spool("odd").into_iter().find(|n| n.starts_with("store.damaged-")).expect("a report");
    let why: Value =
        serde_json::from_slice(&std::fs::read(sandbox.at("spool/odd").join(name)).unwrap()).unwrap();
    why["reason"].as_str().unwrap().to_owned()
}

pub fn integrity(sandbox: &Sandbox) {
    let store = Connection::open(sandbox.at("store.db")).unwrap();
    let word: String = store.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(word, "ok");
}

/// A command that reads met damage: exit 1, what to do, and no panic.
pub fn assert_told(out: &Out) {
    assert_eq!(out.code, Some(1), "{out}");
    assert!(out.stderr.contains("hint: `sinker drain --once`"), "{out}");
    assert!(!out.stderr.contains("panicked"), "{out}");
}
