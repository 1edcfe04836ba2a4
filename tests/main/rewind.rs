//! What a person took back with `/rewind` is kept, marked, and ranked down.

use crate::support::{Sandbox, Transcript};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Three turns; the second one is taken back, and another comes in its place.
fn rewound(sandbox: &Sandbox, seed: u64) -> Transcript {
    let mut session = Transcript::new(sandbox, seed);
    session.prompt("Where does the pilot boat lie?").says("At the north pier.");
    let mark = session.mark();
    session.prompt("Paint the pilot boat green.").says("Done: the pilot boat is green.");
    session.back_to(mark).prompt("Paint the pilot boat white.").says("Done: the pilot boat is white.");
    session
}

fn records(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.lines(&["inspect", "--view", "records"])
}

/// `status` of the documents whose text holds `words`, by kind.
fn status(sandbox: &Sandbox, kind: &str, words: &str) -> Vec<Option<String>> {
    let all = records(sandbox);
    let of = all.iter().filter(|r| r["kind"] == kind && r["text"].as_str().unwrap().contains(words));
    of.map(|r| r["status"].as_str().map(str::to_owned)).collect()
}

#[test]
fn what_was_taken_back_is_superseded_and_the_summary_does_not_know_it() {
    let sandbox = Sandbox::new();
    let mut session = rewound(&sandbox, 3);
    session.flush();
    sandbox.import(&[&session.path]);
    let gone = Some("superseded".to_owned());
    assert_eq!(status(&sandbox, "observation", "green"), [gone.clone(), gone.clone()]);
    assert_eq!(status(&sandbox, "observation", "white"), [None, None]);
    assert_eq!(status(&sandbox, "outcome", "green"), [gone]);
    assert_eq!(status(&sandbox, "outcome", "white"), [None]);
    assert_eq!(status(&sandbox, "session-summary", "white"), [None]);
    assert!(status(&sandbox, "session-summary", "green").is_empty());
    sandbox.verify();
    // Found, but behind what took its place, though both hold the same words of the question.
    let hits =
        sandbox.json(&["search", "pilot boat done", "--speaker", "assistant", "--kind", "observation"]);
    let texts: Vec<&str> =
        hits["hits"].as_array().unwrap().iter().map(|h| h["excerpt"][0]["text"].as_str().unwrap()).collect();
    let place = |words: &str| texts.iter().position(|t| t.contains(words)).unwrap();
    assert!(place("white") < place("green"), "{texts:?}");
    let only = sandbox.json(&["search", "pilot boat", "--status", "superseded", "--kind", "observation"]);
    assert_eq!(only["hits"].as_array().unwrap().len(), 2, "{only}");
}

#[test]
fn line_by_line_and_whole_give_the_same_rows() {
    let sandbox = Sandbox::new();
    let mut session = rewound(&sandbox, 4);
    for end in session.line_ends() {
        session.flush_to(end);
        sandbox.import(&[&session.path]);
    }
    sandbox.verify();
    let other = sandbox.sibling();
    other.import(&[&session.path]);
    assert_eq!(other.dump(), sandbox.dump());
}

/// A session that took a turn back, and a fork made before, which goes on with that turn.
fn forked(sandbox: &Sandbox, seeds: [u64; 2]) -> (Transcript, Transcript) {
    let mut session = Transcript::new(sandbox, seeds[0]);
    session.prompt("Where does the pilot boat lie?").says("At the north pier.");
    let mark = session.mark();
    session.prompt("Paint the pilot boat green.").says("Done: the pilot boat is green.");
    let mut fork = Transcript::new(sandbox, seeds[1]);
    let copied =
        String::from_utf8(session.bytes().to_vec()).unwrap().replace(&session.session, &fork.session);
    fork.raw_bytes(copied.as_bytes()).prompt("And a stripe.").says("Done: a stripe.");
    session.back_to(mark).prompt("Paint the pilot boat white.").says("Done: the pilot boat is white.");
    (session, fork)
}

#[test]
fn a_fork_made_before_keeps_its_branch_whatever_is_read_first() {
    let sandbox = Sandbox::new();
    let (mut session, mut fork) = forked(&sandbox, [5, 6]);
    session.flush();
    fork.flush();
    let dumps = [[&session.path, &fork.path], [&fork.path, &session.path]].map(|order| {
        let world = sandbox.sibling();
        for path in order {
            world.import(&[path]);
        }
        world.verify();
        assert_eq!(status(&world, "observation", "green"), [None, None], "the fork goes on with it");
        world.dump()
    });
    assert_eq!(dumps[0], dumps[1]);
}

/// A store as the first format held it: with nothing noted of which record a prompt follows, every derived document as if nothing had been taken back.
fn of_the_first_format(sandbox: &Sandbox, paths: &[&Path]) {
    let open = || rusqlite::Connection::open(sandbox.at("store.db")).unwrap();
    sandbox.drain_once();
    // Today's code never comes to see what it did not have then.
    let blind = "CREATE TRIGGER blind AFTER INSERT ON follows BEGIN DELETE FROM follows; END;";
    open().execute_batch(blind).unwrap();
    sandbox.import(paths);
    open()
        .execute_batch("DROP TRIGGER blind; DROP TABLE follows; DROP TABLE rewound; DROP TABLE pinned; DROP TABLE claims; DROP TABLE claim_terms; DROP TABLE claim_relations; DROP TABLE runs; DROP TABLE keyed; DROP TABLE private; ALTER TABLE files DROP COLUMN private; DROP TABLE aliases; ALTER TABLE sessions DROP COLUMN own_project; ALTER TABLE directories DROP COLUMN mark; DELETE FROM dirty; DROP INDEX documents_notes; DELETE FROM meta WHERE key IN ('ledger', 'rules', 'retained'); PRAGMA user_version = 1;")
        .unwrap();
    let marked = "SELECT count(*) FROM documents WHERE status IS NOT NULL";
    assert_eq!(open().query_row(marked, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

/// F44: what an older store holds is marked like what is imported afresh, forks and all.
#[test]
fn f44_an_older_store_learns_what_was_taken_back() {
    let sandbox = Sandbox::new();
    let (paths, fresh) = sessions(&sandbox);
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let old = sandbox.sibling();
    of_the_first_format(&old, &paths);
    assert_ne!(old.dump(), fresh, "else there is nothing to bring about");
    for path in &paths {
        std::fs::remove_file(path).unwrap();
    }
    old.drain_once();
    assert_eq!(old.dump(), fresh);
    let mut outcomes = status(&old, "outcome", "green");
    outcomes.sort();
    assert_eq!(outcomes, [None, Some("superseded".to_owned())], "the fork goes on with its own");
    old.verify();
}

/// F44: and a kill at any step of that costs nothing.
#[cfg(feature = "failpoints")]
#[test]
fn f44_an_older_store_that_is_killed_on_the_way_is_brought_up_all_the_same() {
    use crate::crash::{Fault, at_every_step};
    let sandbox = Sandbox::new();
    let (paths, fresh) = sessions(&sandbox);
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let old = sandbox.sibling();
    of_the_first_format(&old, &paths);
    at_every_step(&old, Fault::Kill, &["drain", "--once"], "", |home, _| {
        home.drain_once();
        assert_eq!(home.dump(), fresh);
        home.verify();
    });
}

/// Sessions that took a turn back, with a fork and without; what a fresh import makes of them.
fn sessions(sandbox: &Sandbox) -> (Vec<PathBuf>, String) {
    // Not below the folders that a drain looks through: an older store has only its own rows to learn from.
    let folder = sandbox.root().join("kept");
    std::fs::create_dir_all(&folder).unwrap();
    let (session, fork) = forked(sandbox, [8, 9]);
    let keep = |t: Transcript| {
        let path = folder.join(t.path.file_name().unwrap());
        std::fs::write(&path, t.bytes()).unwrap();
        path
    };
    let paths = [rewound(sandbox, 7), session, fork].map(keep).to_vec();
    let world = sandbox.sibling();
    world.import(&[&folder]);
    world.verify();
    (paths, world.dump())
}

#[test]
fn a_copy_that_follows_other_records_takes_nothing_back_in_the_original() {
    let sandbox = Sandbox::new();
    let mut session = Transcript::new(&sandbox, 7);
    session.prompt("Where does the pilot boat lie?").says("At the north pier.");
    let mark = session.mark().unwrap();
    session.prompt("Paint the pilot boat green.").says("Done: the pilot boat is green.").flush();
    let mut fork = Transcript::new(&sandbox, 8);
    let copied =
        String::from_utf8(session.bytes().to_vec()).unwrap().replace(&session.session, &fork.session);
    // The copy's first prompt follows the record that the second one follows.
    let (null, other) = ("\"parentUuid\":null".to_owned(), format!("\"parentUuid\":\"{mark}\""));
    assert_eq!(copied.matches(&null).count(), 1, "{copied}");
    fork.raw_bytes(copied.replace(&null, &other).as_bytes()).flush();
    let dumps = [[&session.path, &fork.path], [&fork.path, &session.path]].map(|order| {
        let world = sandbox.sibling();
        for path in order {
            world.import(&[path]);
        }
        world.verify();
        assert_eq!(status(&world, "observation", "pier"), [None], "the original took nothing back");
        world.dump()
    });
    assert_eq!(dumps[0], dumps[1]);
}

#[test]
fn an_inline_subagent_that_two_sessions_took_back_is_told_so_in_both() {
    let sandbox = Sandbox::new();
    let mut session = Transcript::new(&sandbox, 11);
    session.prompt("Where does the pilot boat lie?").says("At the north pier.");
    let mark = session.mark();
    session.prompt("Paint the pilot boat green.");
    // As old clients wrote it: in the file of its session.
    let record = serde_json::json!({
        "type": "assistant", "uuid": "5dec4a10-0000-4000-8000-000000000001", "parentUuid": null, "isSidechain": true, "agentId": "painter",
        "sessionId": session.session, "timestamp": "2026-11-20T11:00:02.500Z", "version": "1.0.0",
        "message": {"id": "msg_side", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "The keel is green."}]},
    });
    session.raw(&record.to_string()).says("Done: the pilot boat is green.");
    let mut fork = Transcript::new(&sandbox, 12);
    let copied =
        String::from_utf8(session.bytes().to_vec()).unwrap().replace(&session.session, &fork.session);
    fork.raw_bytes(copied.as_bytes()).back_to(mark.clone()).prompt("Paint it red.").says("It is red.");
    session.back_to(mark).prompt("Paint it white.").says("It is white.").flush();
    sandbox.import(&[&session.path]);
    for end in fork.line_ends() {
        fork.flush_to(end);
        sandbox.import(&[&fork.path]);
    }
    assert_eq!(status(&sandbox, "observation", "keel"), [Some("superseded".to_owned())]);
    let whole = sandbox.sibling();
    whole.import(&[&session.path, &fork.path]);
    assert_eq!(whole.dump(), sandbox.dump());
}
