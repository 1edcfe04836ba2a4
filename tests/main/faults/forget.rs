//! Forgetting: F77, and what F45 says of it.

use crate::support::{Sandbox, Transcript, payload, places_of};
use serde_json::{Value, json};
use std::path::Path;

/// Words that stand nowhere but in what is to be forgotten.
const CANARY: &str = "zanzibarquokka";

/// A session with the canary in every carrier, a fork of it, and one that has nothing to do with it; drained and published.
struct World {
    home: Sandbox,
    told: Transcript,
    fork: Transcript,
    other: Transcript,
}

fn world() -> World {
    let home = Sandbox::new();
    let mut told = Transcript::new(&home, 1);
    let mut fork = Transcript::new(&home, 5);
    let title =
        json!({"type": "custom-title", "sessionId": told.session, "customTitle": format!("on {CANARY}")});
    told.prompt(&format!("The vault of {CANARY} stands in the harbor."))
        .calls("toolu_1", "Bash", json!({"command": format!("cat /srv/{CANARY}.txt")}))
        .returns("toolu_1", &format!("{CANARY} is a beast"))
        .calls("toolu_2", "Read", json!({"file_path": format!("/srv/{CANARY}/plan.md")}))
        .fails("toolu_2", &format!("{CANARY} not found"))
        .says(&format!("Decision: we call the vault {CANARY}."))
        .prompt("Which port shall the crane use?")
        .says("Decision: the crane listens on port 7443.")
        .raw(&title.to_string())
        .flush();
    let copied = String::from_utf8(told.bytes().to_vec()).unwrap().replace(&told.session, &fork.session);
    fork.raw_bytes(copied.as_bytes()).prompt("And the gate of the fork?").says("It stays shut.").flush();
    let mut other = Transcript::new(&home, 9);
    other.prompt("Why is the tide gauge off by an hour?").says("The gauge reports local time.").flush();
    for transcript in [&told, &fork, &other] {
        home.hook("stop", &stop(&home, transcript));
    }
    home.drain_once();
    assert!(!places_of(&home, CANARY).is_empty());
    World { home, told, fork, other }
}

fn stop(home: &Sandbox, transcript: &Transcript) -> Value {
    payload("Stop", home, transcript)
}

fn forget(home: &Sandbox, args: &[&str]) -> Value {
    home.json(&[&["forget", "--yes"], args].concat())
}

/// What can bring it back: the transcripts from their beginning, a new index, the spool, another import.
fn tempt(world: &World, home: &Sandbox) {
    for transcript in [&world.told, &world.fork, &world.other] {
        home.hook("stop", &stop(home, transcript));
    }
    home.drain_once();
    home.sinker(&["index", "rebuild"]);
    let store = rusqlite::Connection::open(home.at("store.db")).unwrap();
    store
        .execute("UPDATE files SET offset = 0, settled = 0, head_len = 0, tail_len = 0, size = 0", [])
        .unwrap();
    drop(store);
    home.import(&[&world.told.path, &world.fork.path, &world.other.path]);
    home.drain_once();
    home.verify();
}

/// Where a data directory still tells of a session; the log tells what was done, by id.
fn traces(home: &Sandbox, text: &str) -> Vec<String> {
    places_of(home, text).into_iter().filter(|place| !place.starts_with("file log/")).collect()
}

fn assert_gone(home: &Sandbox, case: &str) {
    assert_eq!(places_of(home, CANARY), Vec::<String>::new(), "{case}");
    for args in [
        vec!["search", CANARY, "--all", "--json"],
        vec!["timeline", "--json"],
        vec!["sessions", "--all", "--json"],
    ] {
        let out = home.sinker(&args);
        let answer = out.stdout.replace(&format!("\"query\":\"{CANARY}\""), "");
        assert!(!answer.contains(CANARY), "{case}: {args:?} {out}");
    }
}

#[test]
fn f77_what_is_forgotten_stays_forgotten_in_every_form() {
    let start = world();
    let session = start.told.session.clone();
    let fork = start.fork.session.clone();
    // The fork holds a copy of all of it: with one of the two, only that one's own goes.
    let cases: [(&str, Vec<&str>, bool); 6] = [
        ("a text", vec!["--match", "ZanzibarQuokka"], true),
        ("both sessions", vec!["--session", &session, "--session", &fork], true),
        ("one of the two", vec!["--session", &session], false),
        ("the project", vec!["--project", "harbor-api"], true),
        ("all that is old", vec!["--before", "2026-11-29"], true),
        ("a text of one project", vec!["--project", "harbor-api", "--match", CANARY], true),
    ];
    for (case, args, whole) in cases {
        let home = start.home.copy();
        let before = home.dump();
        let dry = forget(&home, &[&args[..], &["--dry-run"]].concat());
        assert_eq!(home.dump(), before, "{case}: a dry run changes nothing");
        let done = forget(&home, &args);
        for field in ["forgotten", "shared", "sessions"] {
            assert_eq!(dry[field], done[field], "{case}: {field}");
        }
        let named: Vec<&str> =
            done["transcript"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(named.contains(&start.told.path.to_str().unwrap()), "{case}: {done}");
        if whole {
            assert_gone(&home, case);
        } else {
            assert!(done["shared"].as_u64().unwrap() >= 8, "{case}: {done}");
            assert!(!home.sinker(&["sessions", "--all", "--json"]).stdout.contains(&session), "{case}");
            assert!(home.sinker(&["search", CANARY, "--all", "--json"]).stdout.contains(&fork), "{case}");
        }
        home.verify();
        let after = home.dump();
        let sessions: &[&str] = match case {
            "both sessions" | "the project" => &[&session, &fork],
            "one of the two" => &[&session],
            _ => &[],
        };
        for id in sessions {
            assert_eq!(traces(&home, id), Vec::<String>::new(), "{case}");
        }
        if case == "the project" {
            assert_eq!(traces(&home, "harbor-api"), Vec::<String>::new(), "{case}");
        }
        tempt(&start, &home);
        assert_eq!(home.dump(), after, "{case}: nothing comes back, nothing else goes");
        for id in sessions {
            assert_eq!(traces(&home, id), Vec::<String>::new(), "{case}: tempted");
        }
        if whole {
            assert_gone(&home, case);
        }
    }
}

#[test]
fn f77_what_is_left_is_what_would_be_there_without_it() {
    let start = world();
    // Only the other session was ever there.
    let without = start.home.sibling();
    without.import(&[&start.other.path]);
    let home = start.home.copy();
    forget(&home, &["--session", &start.told.session, "--session", &start.fork.session]);
    assert_eq!(home.dump(), without.dump());
    // A session that nobody has drained yet is refused as a whole, and its events leave the spool.
    let mut late = Transcript::new(&start.home, 12);
    late.prompt(&format!("{CANARY} again")).says("Yes.").flush();
    home.hook("stop", &stop(&home, &late));
    forget(&home, &["--session", &late.session]);
    assert!(home.spool("new").is_empty(), "{:?}", home.spool("new"));
    home.import(&[&late.path]);
    assert_gone(&home, "a session that was not known");
}

#[test]
fn f77_single_records_go_by_any_of_their_ids_and_turns_stand_for_their_records() {
    let start = world();
    let hit = |home: &Sandbox, kind: &str| {
        let found = home.json(&["search", CANARY, "--all", "--kind", kind]);
        found["hits"][0].clone()
    };
    let observation = hit(&start.home, "observation");
    let outcome = hit(&start.home, "outcome");
    for id in [&observation["id"], &observation["record"]] {
        let home = start.home.copy();
        let done = forget(&home, &[id.as_str().unwrap()]);
        assert_eq!(done["forgotten"], 1, "{done}");
        assert_eq!(home.sinker(&["show", observation["id"].as_str().unwrap()]).code, Some(3));
        let after = home.dump();
        tempt(&start, &home);
        assert_eq!(home.dump(), after);
    }
    let home = start.home.copy();
    let done = forget(&home, &[outcome["id"].as_str().unwrap()]);
    assert!(done["forgotten"].as_u64().unwrap() >= 5, "{done}");
    let left = home.sinker(&["search", "crane port", "--all", "--json"]);
    assert!(left.stdout.contains("7443"), "the other turn stays: {left}");
    // A summary rests on turns: it stands for all that was said in the session, and for nothing of another one.
    let home = start.home.copy();
    let summary = home.json(&["search", "tide gauge", "--all", "--kind", "session-summary"]);
    let id = summary["hits"][0]["id"].as_str().unwrap();
    assert_eq!(forget(&home, &[id])["forgotten"], 2);
    assert_eq!(
        home.sinker(&["search", "tide gauge", "--all", "--kind", "observation", "--json"]).code,
        Some(3)
    );
    let left = home.sinker(&["search", "crane port", "--all", "--json"]);
    assert!(left.stdout.contains("7443"), "the other session stays: {left}");
    let mistakes: [(&[&str], i32); 7] = [
        (&["forget"], 2),
        // Nobody can be asked through a pipe, and nothing goes unasked.
        (&["forget", "--speaker", "user"], 2),
        (&["forget", "--speaker", "user", "--json"], 2),
        (&["forget", "o-00000000000000000000000000000000"], 3),
        (&["forget", "--match", " "], 2),
        (&["forget", "--match", "nowhere to be found"], 3),
        (&["forget", "--before", "yesterday-ish"], 2),
    ];
    let before = home.dump();
    for (args, code) in mistakes {
        let out = home.sinker(args);
        assert_eq!(out.code, Some(code), "{args:?}: {out}");
    }
    assert_eq!(home.dump(), before);
}

/// F45, F77: a store and an index from before the forget are put back; the ledger is newer than both.
#[test]
fn f77_a_restored_store_or_index_is_brought_in_line_and_silent_until_then() {
    let start = world();
    for parts in [&["store.db", "index"][..], &["store.db"], &["index"]] {
        let home = start.home.copy();
        forget(&home, &["--match", CANARY]);
        for part in parts {
            put_back(&start.home.at(part), &home.at(part));
        }
        for args in [vec!["search", CANARY, "--all"], vec!["timeline"], vec!["sessions", "--all"]] {
            let out = home.sinker(&args);
            assert!(!out.stdout.contains(CANARY), "{parts:?} {args:?}: {out}");
        }
        home.hook("user-prompt-submit", &json!({
            "session_id": "11111111-1111-4111-8111-111111111111", "cwd": home.project(), "prompt": format!("what of the {CANARY} vault?"),
            "transcript_path": home.claude().join("projects/none.jsonl"), "hook_event_name": "UserPromptSubmit",
        })).assert_silent(&format!("{parts:?}"));
        home.drain_once();
        assert_gone(&home, &format!("{parts:?}"));
        home.verify();
    }
}

fn put_back(from: &Path, to: &Path) {
    if from.is_dir() {
        std::fs::remove_dir_all(to).unwrap();
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap().flatten() {
            put_back_new(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        put_back_new(from, to);
    }
}

fn put_back_new(from: &Path, to: &Path) {
    if from.is_dir() {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap().flatten() {
            put_back_new(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        std::fs::copy(from, to).unwrap();
    }
}

#[cfg(feature = "failpoints")]
#[test]
fn f77_a_forget_that_is_killed_or_finds_no_room_is_finished_by_the_next_drain() {
    use crate::crash::{Fault, at_every_step};
    let start = world();
    let undisturbed = start.home.copy();
    let args = ["forget", "--match", CANARY, "--json", "--yes"];
    let done = undisturbed.sinker(&args);
    assert_eq!(done.code, Some(0), "{done}");
    let expected = undisturbed.dump();
    for fault in [Fault::Kill, Fault::NoSpace] {
        at_every_step(&start.home, fault, &args, "", |home, _| {
            let named = home.at("forgotten").metadata().is_ok_and(|meta| meta.len() > 20);
            home.drain_once();
            if named {
                assert_gone(home, "after the next drain");
                assert_eq!(home.dump(), expected);
            } else {
                // Nothing was promised yet, and nothing may be half done.
                assert_eq!(home.dump(), start.home.dump());
            }
            home.verify();
        });
    }
}
