//! Faults of transcripts, F27 to F32, F36 and F37.

use crate::support::{Sandbox, Transcript, payload};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(super) fn observations(sandbox: &Sandbox) -> Value {
    sandbox.json(&["status"])["store"]["observations"].clone()
}

/// Imports files in each of two orders into homes of their own, and asserts that the rows are the same. Returns the last home.
pub(super) fn in_both_orders(sandbox: &Sandbox, files: &[&Path]) -> Sandbox {
    let mut orders = [files.to_vec(), files.to_vec()];
    orders[1].reverse();
    let mut homes = orders.map(|order| {
        let home = sandbox.sibling();
        order.iter().for_each(|path| drop(home.import(&[path])));
        home.verify();
        home
    });
    assert_eq!(homes[0].dump(), homes[1].dump());
    let sessions = |home: &Sandbox| {
        let mut all: Vec<String> = home.lines(&["sessions", "--all"]).iter().map(Value::to_string).collect();
        all.sort();
        all
    };
    assert_eq!(sessions(&homes[0]), sessions(&homes[1]));
    std::mem::replace(&mut homes[1], sandbox.sibling())
}

/// The account of one file.
pub(super) fn account(sandbox: &Sandbox, path: &Path) -> Value {
    let all = sandbox.lines(&["inspect", "--view", "lines"]);
    let found = all.iter().find(|a| a["path"] == json!(path.to_str().unwrap()));
    found.unwrap_or_else(|| panic!("{}: {all:?}", path.display())).clone()
}

/// A user record of any session, time and directory.
pub(super) fn said(session: &str, n: u64, time: &str, cwd: &str, text: &str) -> String {
    let rest = json!({
        "isSidechain": false, "type": "user", "message": {"role": "user", "content": text},
        "uuid": format!("aaaaaaaa-0000-4000-8000-{n:012x}"), "timestamp": time, "cwd": cwd, "sessionId": session,
        "version": "2.1.332", "gitBranch": "main",
    })
    .to_string();
    // As the client writes it: this field first.
    format!("{{\"parentUuid\":null,{}", &rest[1..])
}

pub(super) fn write(sandbox: &Sandbox, name: &str, lines: &[String]) -> PathBuf {
    let path = sandbox.claude().join("projects/-made-up").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    path
}

#[test]
fn f27_a_half_written_last_line_waits_for_the_next_drain() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 4);
    transcript
        .prompt("Which tide table do we use?")
        .says("Grüße aus dem Hafen: the one of the hydrographic office.");
    let ends = transcript.line_ends();
    // In the middle of the two bytes of a `ü`.
    let umlaut = transcript.bytes().windows(2).position(|w| w == "ü".as_bytes()).unwrap();
    for cut in [ends[0] + 1, umlaut + 1, ends[1] - 1] {
        transcript.flush_to(cut.max(usize::try_from(transcript.size()).unwrap()));
        sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
        sandbox.drain_once();
        assert_eq!(observations(&sandbox), 1, "cut at {cut}");
        let session = &sandbox.lines(&["sessions", "--all"])[0];
        assert_eq!(session["cursor"], json!(ends[0]), "{session}");
        assert_eq!(session["size"], json!(transcript.size()), "{session}");
    }
    transcript.flush();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    sandbox.drain_once();
    assert_eq!(observations(&sandbox), 2);
    assert_eq!(sandbox.lines(&["sessions", "--all"])[0]["cursor"], json!(ends[1]));
}

/// D3: a whole last line that lacks only its newline is stored when the session has ended, and once.
#[test]
fn f27_a_whole_last_line_without_newline_is_stored_when_the_session_ends_and_only_once() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 5);
    transcript.prompt("Is the crane booked?").says("Until noon.");
    let ends = transcript.line_ends();
    transcript.flush_to(ends[1] - 1);
    sandbox.hook("session-end", &payload("SessionEnd.other", &sandbox, &transcript)).assert_silent("end");
    sandbox.drain_once();
    assert_eq!(observations(&sandbox), 2);
    assert_eq!(
        sandbox.lines(&["sessions", "--all"])[0]["cursor"],
        json!(ends[0]),
        "the cursor stays before it"
    );
    let before = sandbox.dump();
    transcript.flush();
    sandbox.hook("session-start", &payload("SessionStart.resume", &sandbox, &transcript));
    sandbox.drain_once();
    assert_eq!(sandbox.dump(), before);
    assert_eq!(sandbox.lines(&["sessions", "--all"])[0]["cursor"], json!(ends[1]));
}

/// An account of a file adds up, however often it is read.
#[test]
fn f27_an_unfinished_last_line_is_counted_once() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 22);
    transcript.prompt("How high is the tide?").raw(r#"{"type":"tide-table","sessionId":"x"}"#).flush();
    let whole = std::fs::read(&transcript.path).unwrap();
    std::fs::write(&transcript.path, whole.trim_ascii_end()).unwrap();
    let known = || sandbox.json(&["status"])["unknown_types"]["tide-table"].clone();
    for _ in 0..3 {
        sandbox.import(&[&transcript.path]);
        assert_eq!(known(), 1);
    }
    std::fs::write(&transcript.path, &whole).unwrap();
    sandbox.import(&[&transcript.path]);
    assert_eq!(known(), 1);
}

#[test]
fn f28_bad_bytes_cost_no_neighbour() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 6);
    transcript.prompt("First neighbour");
    let line = transcript.bytes().to_vec();
    let text = String::from_utf8(line.clone()).unwrap();
    let other = |n: u32| {
        text.replace("00000000001\",\"version", &format!("0000000a{n:03}\",\"version")).replace(
            "\"uuid\":\"00001006-0000-4000-8000-000000000001\"",
            &format!("\"uuid\":\"00001006-0000-4000-8000-00000000a{n:03}\""),
        )
    };
    // Invalid UTF-8 inside a string, and half of a surrogate pair: records all the same.
    let invalid = other(1).replace("First neighbour", "INVALID");
    let (head, tail) = invalid.split_once("INVALID").unwrap();
    transcript.raw_bytes(head.as_bytes()).raw_bytes(b"quay \xff\xfe wall").raw_bytes(tail.as_bytes());
    transcript.raw_bytes(other(2).replace("First neighbour", "lone \\ud800 surrogate").as_bytes());
    // No records: NULs of a torn tail, prose, a cut line, an array.
    transcript.raw_bytes(&[0; 200]).raw_bytes(b"\n");
    transcript.raw("// Source: somewhere").raw("{\"type\":\"user\",\"message\":").raw("[1,2]").raw("");
    // NULs straight before a good line.
    transcript.raw_bytes(&[0; 64]).raw_bytes(other(3).replace("First", "Third").as_bytes());
    transcript.says("Last neighbour").flush();
    let account = sandbox.import(&[&transcript.path]);
    assert_eq!(account["observations"], 5, "{account}");
    let dump = sandbox.dump();
    for expected in ["First neighbour", "quay", "surrogate", "Third neighbour", "Last neighbour"] {
        assert!(dump.contains(expected), "{expected} is missing:\n{dump}");
    }
    assert_eq!(sandbox.lines(&["sessions", "--all"])[0]["cursor"], json!(transcript.size()));
}

#[test]
fn f30_f32_a_shorter_or_repeated_file_is_read_again_and_nothing_is_stored_twice() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 7);
    transcript.prompt("Which pier is closed?").says("Pier two.").says("Until Friday.").flush();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    sandbox.drain_once();
    // Rewritten shorter: the middle is gone, a new line is there.
    let ends = transcript.line_ends();
    let first = transcript.bytes()[..ends[0]].to_vec();
    let all = transcript.bytes().to_vec();
    transcript.prompt("And pier three?");
    let fresh = transcript.bytes()[all.len()..].to_vec();
    std::fs::write(&transcript.path, [first, fresh.clone()].concat()).unwrap();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    sandbox.drain_once();
    assert_eq!(observations(&sandbox), 4, "what the file no longer holds stays as history");
    // The old lines once more, as compactions of some clients do.
    let again = [std::fs::read(&transcript.path).unwrap(), all].concat();
    std::fs::write(&transcript.path, again).unwrap();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    sandbox.drain_once();
    assert_eq!(observations(&sandbox), 4);
    assert_eq!(sandbox.lines(&["sessions", "--all"])[0]["cursor"], json!(transcript.size()));
    sandbox.verify();
}

#[test]
fn f36_a_fork_shares_its_prefix_and_adds_only_what_is_new() {
    let sandbox = Sandbox::new();
    let mut old = Transcript::new(&sandbox, 8);
    old.prompt("Draw the mooring plan.").says("Here it is.").flush();
    let mut fork = Transcript::new(&sandbox, 9);
    let copied = String::from_utf8(old.bytes().to_vec()).unwrap().replace(&old.session, &fork.session);
    fork.raw_bytes(copied.as_bytes()).prompt("Now with depths.").flush();
    let folder = old.path.parent().unwrap().to_path_buf();
    let account = sandbox.import(&[&folder]);
    assert_eq!(account["observations"], 3, "{account}");
    let sessions = sandbox.lines(&["sessions", "--all"]);
    let count = |id: &str| sessions.iter().find(|s| s["id"] == json!(id)).map(|s| s["observations"].clone());
    assert_eq!((count(&old.session), count(&fork.session)), (Some(json!(2)), Some(json!(3))), "{sessions:?}");
    // In the other order: the same rows.
    let other = sandbox.sibling();
    other.import(&[&fork.path]);
    other.import(&[&old.path]);
    assert_eq!(other.dump(), sandbox.dump());
}

/// A torn write: half a record, zeros, and the host goes on; in a line of its own, before a record, and behind one.
#[test]
fn f29_zeros_are_a_gap_with_its_place_and_the_lines_around_it_are_captured() {
    let sandbox = Sandbox::new();
    let zeros = |n: usize| "\0".repeat(n);
    let line = |n, text: &str| said("5e55", n, &format!("2026-11-20T01:00:{n:02}.000Z"), "/c", text);
    let torn = line(9, "never finished").split_at(60).0.to_owned();
    let lines = [
        line(1, "one"),
        format!("{torn}{}{}", zeros(300), line(2, "two")),
        format!("{torn}{}", line(3, "three")),
        zeros(100),
        format!("{}{}", zeros(40), line(4, "four")),
        format!("{}{}", line(5, "five"), zeros(7)),
        line(6, "six"),
    ];
    let path = write(&sandbox, "torn.jsonl", &lines);
    let answer = sandbox.import(&[&path]);
    assert_eq!(answer["observations"], 6, "{answer}");
    let start = |n: usize| lines[..n].iter().map(|l| l.len() + 1).sum::<usize>();
    let expected = [
        (start(1), torn.len() + 300),
        (start(2), torn.len()),
        (start(3), 100),
        (start(4), 40),
        (start(5) + lines[5].len() - 7, 7),
    ];
    let mut gaps: Vec<(usize, usize)> = sandbox
        .spool("odd")
        .iter()
        .map(|name| {
            let why: Value =
                serde_json::from_slice(&std::fs::read(sandbox.at("spool/odd").join(name)).unwrap()).unwrap();
            let at = |key: &str| usize::try_from(why[key].as_u64().unwrap()).unwrap();
            (at("from"), at("to") - at("from"))
        })
        .collect();
    gaps.sort_unstable();
    assert_eq!(gaps, expected);
    let account = account(&sandbox, &path);
    assert_eq!(account["lines"], 7, "{account}");
    assert_eq!(account["by"]["odd"], json!({"zero bytes": 1}), "{account}");
    assert_eq!(
        account["beside"]["gap"],
        json!({"zero bytes beside a record": 2, "half a record before a whole one": 2})
    );
}

/// A cursor knows its file by content: a path, an inode and a size that come again say nothing.
#[test]
fn f31_another_file_under_the_same_path_and_inode_is_read_from_its_start() {
    use std::os::unix::fs::MetadataExt as _;
    let sandbox = Sandbox::new();
    let at = |n: u64| format!("2026-11-20T01:{n:02}:00.000Z");
    let lines = |n: u64| {
        vec![
            said(&format!("5e55-{n:02}"), n, &at(n), "/c", "Who is on watch?"),
            said(&format!("5e55-{n:02}"), n + 50, &at(n + 1), "/c", "And tomorrow?"),
        ]
    };
    let path = write(&sandbox, "same.jsonl", &lines(0));
    sandbox.import(&[&path]);
    let first = std::fs::metadata(&path).unwrap();
    let mut again = false;
    for n in 1..=8 {
        std::fs::remove_file(&path).unwrap();
        write(&sandbox, "same.jsonl", &lines(n));
        let now = std::fs::metadata(&path).unwrap();
        assert_eq!(now.len(), first.len());
        again |= now.ino() == first.ino();
        sandbox.import(&[&path]);
    }
    // The same inode for certain: written over in place.
    std::fs::write(&path, lines(9).iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    sandbox.import(&[&path]);
    eprintln!("the file system gave the inode again: {again}");
    let sessions = sandbox.lines(&["sessions", "--all"]);
    assert_eq!(sessions.len(), 10, "{sessions:?}");
    assert!(sessions.iter().all(|s| s["observations"] == 2), "no row in another session: {sessions:?}");
}

/// Two files of one session begin in different directories: the project is that of its earliest record, whatever was read first.
#[test]
fn f36_a_session_in_two_files_has_the_project_of_its_earliest_record() {
    let sandbox = Sandbox::new();
    let early = [
        said("5e55", 1, "2026-11-20T01:00:00.000Z", "/made/up/crane", "first words"),
        said("5e55", 2, "2026-11-20T01:00:01.000Z", "/made/up/other", "then elsewhere"),
        // Another session, version and branch in the same file.
        said("5e56", 3, "2026-11-20T01:00:02.000Z", "/made/up/winch", "another session")
            .replace("\"main\"", "\"side\""),
    ];
    let late = [
        said("5e55", 4, "2026-11-20T02:00:00.000Z", "/made/up/winch", "second words"),
        said("5e56", 5, "2026-11-20T00:30:00.000Z", "/made/up/crane", "earlier words of the other"),
    ];
    let early = write(&sandbox, "b.jsonl", &early);
    let late = write(&sandbox, "a.jsonl", &late);
    let home = in_both_orders(&sandbox, &[&early, &late]);
    let sessions = home.lines(&["sessions", "--all"]);
    for session in &sessions {
        assert!(session["project"].as_str().unwrap().starts_with("crane-"), "{sessions:?}");
    }
    let projects = home.lines(&["project", "list"]);
    assert_eq!(projects.len(), 1, "the first guess leaves nothing behind: {projects:?}");
    // The index follows.
    let crane = sessions[0]["project"].as_str().unwrap();
    let hits = home.json(&["search", "second words", "--project", crane]);
    assert!(!hits["hits"].as_array().unwrap().is_empty(), "{hits}");
    let branch = |id: &str| sessions.iter().find(|s| s["id"] == json!(id)).unwrap()["branch"].clone();
    assert_eq!((branch("5e55"), branch("5e56")), (json!("main"), json!("side")), "{sessions:?}");
}

/// Two sessions that write one file at the same time, line by line.
#[test]
fn f36_two_sessions_in_one_file_keep_their_own_rows() {
    let sandbox = Sandbox::new();
    let lines: Vec<String> = (0..10)
        .map(|n| {
            said(
                &format!("5e5{}", n % 2),
                n,
                &format!("2026-11-20T01:00:{n:02}.000Z"),
                "/c",
                &format!("words {n}"),
            )
        })
        .collect();
    let path = write(&sandbox, "shared.jsonl", &lines);
    sandbox.import(&[&path]);
    let sessions = sandbox.lines(&["sessions", "--all"]);
    assert_eq!(sessions.len(), 2);
    assert!(sessions.iter().all(|s| s["observations"] == 5), "{sessions:?}");
    sandbox.verify();
}

/// The order of a session is that of its file; a time is kept as the host wrote it.
#[test]
fn f37_times_that_are_missing_backwards_or_from_elsewhere_do_not_disturb_the_order() {
    let sandbox = Sandbox::new();
    let answer = |n: u64, time: &str, text: &str| {
        said("5e55", n, time, "/c", "TEXT")
            .replace("\"user\"", "\"assistant\"")
            .replace("\"TEXT\"", &format!(r#"[{{"type":"text","text":"{text}"}}]"#))
    };
    let lines = [
        said("5e55", 1, "2026-11-20T10:00:00.000Z", "/c", "Why does the winch stick?"),
        answer(2, "2026-11-20T09:00:00.000Z", "Root cause: the drum is rusty."),
        answer(3, "yesterday", "I looked at the drum."),
        answer(4, "", "And at the rope.").replace("\"timestamp\":\"\",", ""),
        said("5e55", 5, "2026-11-20T11:30:00+02:00", "/c", "Grease it."),
        answer(6, "2999-01-01T00:00:00.000Z", "Root cause: no grease since spring."),
    ];
    let path = write(&sandbox, "times.jsonl", &lines);
    sandbox.import(&[&path]);
    assert_eq!(observations(&sandbox), 6);
    let rows = sandbox.lines(&["inspect", "--view", "records"]);
    let time = |n: u64| {
        let record = json!(format!("aaaaaaaa-0000-4000-8000-{n:012x}"));
        rows.iter().find(|r| r["record"] == record).unwrap_or_else(|| panic!("{n}: {rows:?}"))["time"].clone()
    };
    assert_eq!(time(3), json!("yesterday"));
    assert_eq!(time(4), Value::Null);
    assert_eq!(time(5), json!("2026-11-20T09:30:00.000Z"));
    let outcome = |request: &str| {
        let found =
            rows.iter().find(|r| r["kind"] == "outcome" && r["text"].as_str().unwrap().contains(request));
        found.unwrap()["text"].as_str().unwrap().to_owned()
    };
    let (first, second) = (outcome("Why does the winch stick?"), outcome("Grease it."));
    assert!(first.contains("rusty") && !first.contains("grease since"), "{first}");
    assert!(second.contains("no grease since") && !second.contains("rusty"), "{second}");
    let before = sandbox.dump();
    sandbox.import(&[&path]);
    assert_eq!(sandbox.dump(), before);
}
