//! `status --session`: whether everything up to a session's last event is searchable; and sessions whose host writes no transcript.

use crate::support::{Running, Sandbox, Transcript, eventually, payload, within};
use rustix::process::Signal;
use serde_json::json;
use std::time::Duration;

fn code(home: &Sandbox, session: &str) -> Option<i32> {
    home.sinker(&["status", "--session", session]).code
}

#[test]
fn a_session_is_searchable_when_its_spool_is_empty_and_every_file_is_stored() {
    let home = Sandbox::new();
    let mut transcript = Transcript::new(&home, 1);
    assert_eq!(code(&home, &transcript.session), Some(3), "unknown, and no store");
    transcript.prompt("Where is the pier?").says("In the north.").flush();
    home.hook("stop", &payload("Stop", &home, &transcript)).assert_silent("stop");
    assert_eq!(code(&home, &transcript.session), Some(3), "it waits in the spool");
    home.drain_once();
    assert_eq!(code(&home, &transcript.session), Some(0));
    // Its newest event is in work: what it tells is not in the store yet.
    transcript.prompt("And the crane?").says("Beside it.").flush();
    home.hook("stop", &payload("Stop", &home, &transcript)).assert_silent("stop");
    let name = home.spool("new").pop().unwrap();
    std::fs::rename(home.at("spool/new").join(&name), home.at("spool/cur").join(&name)).unwrap();
    assert_eq!(code(&home, &transcript.session), Some(3), "in work");
    home.drain_once();
    assert_eq!(code(&home, &transcript.session), Some(0));
    // The file has grown beyond what any event told.
    transcript.prompt("And the buoy?").flush();
    assert_eq!(code(&home, &transcript.session), Some(3), "grown");
    home.drain_once();
    assert_eq!(code(&home, &transcript.session), Some(0));
    // A subagent's file that nobody has looked into.
    let mut agent = transcript.subagent("a3b9c2d1e0f48576");
    agent.prompt("Look for the crane.").says("Found.").flush();
    assert_eq!(code(&home, &transcript.session), Some(3), "a subagent's file");
    home.drain_once();
    assert_eq!(code(&home, &transcript.session), Some(0));
    let seen = home.json(&["status", "--session", &transcript.session]);
    assert_eq!((&seen["stored"], &seen["unwritten"]), (&json!(true), &json!(false)));
    // What the host has cleaned up since was stored before.
    std::fs::remove_file(&transcript.path).unwrap();
    home.drain_once();
    assert_eq!(code(&home, &transcript.session), Some(0), "gone, but stored");
}

#[test]
fn waiting_ends_when_it_is_searchable_or_the_time_is_over() {
    let home = Sandbox::new();
    let mut transcript = Transcript::new(&home, 1);
    transcript.prompt("Where is the pier?").says("In the north.").flush();
    home.hook("stop", &payload("Stop", &home, &transcript)).assert_silent("stop");
    assert_eq!(home.sinker(&["status", "--session", &transcript.session, "--wait", "1"]).code, Some(3));
    assert_eq!(home.sinker(&["status", "--session", "no-such-session", "--wait", "0"]).code, Some(3));
    let drainer: Running = home.start(&["drain"]);
    let out = home.sinker(&["status", "--session", &transcript.session, "--wait", "40"]);
    assert_eq!(out.code, Some(0), "{out}");
    let found = home.sinker(&["search", "pier", "--session", &transcript.session]);
    assert_eq!(found.code, Some(0), "it said searchable: {found}");
    drop(drainer);
}

/// A drainer that is stopped: whoever waits for it is told, may leave, and knows what becomes of what was asked.
#[test]
fn whoever_waits_for_a_stopped_drainer_is_told_and_may_leave() {
    let home = Sandbox::new();
    let mut transcript = Transcript::new(&home, 1);
    transcript.prompt("Where is the pier?").says("In the north.").flush();
    home.import(&[&transcript.path]);
    let drainer = home.start(&["drain"]);
    eventually("it runs", || home.json(&["status"])["drainer"]["running"] == json!(true));
    drainer.signal(Signal::STOP);
    let orders = |verb: &str| {
        let names = home.spool("new").into_iter();
        names.filter(|name| name.ends_with(&format!(".{verb}.json"))).collect::<Vec<_>>()
    };
    let note = home.start(&["note", "The pier is closed"]);
    let forget = home.start(&["forget", "--match", "In the north", "--yes"]);
    eventually("both have asked", || orders("note").len() + orders("forget").len() == 2);
    // The drainer has taken up one of the two before it was stopped.
    let taken = orders("forget").pop().unwrap();
    std::fs::rename(home.at("spool/new").join(&taken), home.at("spool/cur").join(&taken)).unwrap();
    assert!(!within(Duration::from_millis(2_800), || false));
    note.signal(Signal::INT);
    forget.signal(Signal::TERM);
    let (note, forget) = (note.finish(Duration::from_secs(20)), forget.finish(Duration::from_secs(20)));
    for out in [&note, &forget] {
        assert_eq!(out.code, Some(1), "{out}");
        assert!(out.stderr.contains("waiting for the drainer (pid "), "{out}");
    }
    assert!(note.stderr.contains("was taken back") && orders("note").is_empty(), "{note}");
    assert!(
        forget.stderr.contains("has taken it up") && home.at("spool/cur").join(&taken).exists(),
        "{forget}"
    );
    // It is killed; what it had taken up is done by the next one, and nothing else.
    drop(drainer);
    home.drain_once();
    let left = home.dump();
    assert!(!left.contains("In the north") && !left.contains("closed") && left.contains("pier"), "{left}");
}

/// The events of a headless run whose transcript is never written.
fn unwritten(home: &Sandbox, transcript: &Transcript, events: &[&str]) {
    turn(home, transcript, "first", events);
}

fn turn(home: &Sandbox, transcript: &Transcript, prompt: &str, events: &[&str]) {
    for name in events {
        let sample = match *name {
            "session-start" => "SessionStart.startup",
            "user-prompt-submit" => "UserPromptSubmit",
            "post-tool-use" => "PostToolUse.Bash",
            "stop" => "Stop",
            _ => "SessionEnd.other",
        };
        let mut event = payload(sample, home, transcript);
        if event.get("prompt_id").is_some() {
            event["prompt_id"] = prompt.into();
        }
        home.hook(name, &event).assert_silent(name);
        home.drain_once();
        assert!(home.spool("new").is_empty() && home.spool("cur").is_empty(), "{name}: the entry is done");
    }
}

const RUN: [&str; 5] = ["session-start", "user-prompt-submit", "post-tool-use", "stop", "session-end"];

/// F33 is about files that were there; one that never is costs an entry each nothing, and the session is counted once.
#[test]
fn f33_a_transcript_that_is_never_written_is_counted_once_and_nothing_is_lost() {
    let home = Sandbox::new();
    let unwritten_count = || home.json(&["status"])["unwritten_sessions"].clone();
    let transcript = Transcript::new(&home, 1);
    unwritten(&home, &transcript, &RUN[..4]);
    assert_eq!(unwritten_count(), 0, "the host may still write it");
    assert_eq!(code(&home, &transcript.session), Some(3));
    unwritten(&home, &transcript, &RUN[4..]);
    assert_eq!(unwritten_count(), 1);
    let seen = home.json(&["status", "--session", &transcript.session]);
    assert_eq!((&seen["stored"], &seen["unwritten"]), (&json!(true), &json!(true)), "{seen}");
    unwritten(&home, &transcript, &RUN);
    assert_eq!(unwritten_count(), 1, "once a session");
    // Another one goes on to its next prompt.
    let second = Transcript::new(&home, 2);
    unwritten(&home, &second, &["session-start", "user-prompt-submit", "user-prompt-submit"]);
    assert_eq!(unwritten_count(), 1, "delivered again");
    turn(&home, &second, "second", &["user-prompt-submit"]);
    assert_eq!(unwritten_count(), 2);
    turn(&home, &second, "third", &["user-prompt-submit", "stop", "session-end"]);
    assert_eq!(unwritten_count(), 2);
    // The client ended the hook of its last reply when it left.
    unwritten(&home, &Transcript::new(&home, 3), &["session-start", "user-prompt-submit", "session-end"]);
    assert_eq!(unwritten_count(), 3);
    assert_eq!(code(&home, &second.session), Some(0));
    let status = home.json(&["status"]);
    assert_eq!((&status["lost_ranges"], &status["spool"]["odd"]), (&json!(0), &json!(0)), "{status}");
    assert_eq!(status["last_error"], json!(null), "{status}");
    for level in [" warn ", " error "] {
        assert!(!home.log().contains(level), "{}", home.log());
    }
    home.verify();
}

/// A session in which nothing was said has nothing to store, and is no session without a transcript.
#[test]
fn a_session_that_ended_before_a_word_was_said_is_done() {
    let home = Sandbox::new();
    let transcript = Transcript::new(&home, 1);
    unwritten(&home, &transcript, &["session-start"]);
    assert_eq!(code(&home, &transcript.session), Some(3), "its words are still to come");
    unwritten(&home, &transcript, &["session-end"]);
    assert_eq!(code(&home, &transcript.session), Some(0));
    assert_eq!(home.json(&["status"])["unwritten_sessions"], 0);
}

/// The host writes late, or the same session is resumed with a transcript: then it is a session like any other.
#[test]
fn f33_a_transcript_that_comes_after_all_takes_the_count_back() {
    let home = Sandbox::new();
    let mut transcript = Transcript::new(&home, 1);
    unwritten(&home, &transcript, &RUN);
    assert_eq!(home.json(&["status"])["unwritten_sessions"], 1);
    transcript.prompt("Where is the pier?").says("In the north.").flush();
    assert_eq!(code(&home, &transcript.session), Some(3));
    home.drain_once();
    let status = home.json(&["status"]);
    assert_eq!((&status["unwritten_sessions"], &status["store"]["observations"]), (&json!(0), &json!(2)));
    assert_eq!(code(&home, &transcript.session), Some(0));
    // Deleted before its end was read: that is a loss, and told as one.
    transcript.prompt("And the crane?").flush();
    home.hook("stop", &payload("Stop", &home, &transcript)).assert_silent("stop");
    std::fs::remove_file(&transcript.path).unwrap();
    home.drain_once();
    let status = home.json(&["status"]);
    assert_eq!((&status["unwritten_sessions"], &status["lost_ranges"]), (&json!(0), &json!(1)), "{status}");
    assert_eq!(code(&home, &transcript.session), Some(1), "its first turn is stored, its second is not");
    home.verify();
}

/// F33: a range that is lost is no session without a transcript, and never said to be stored.
#[test]
fn f33_a_session_that_lost_its_transcript_is_told_as_lost() {
    let home = Sandbox::new();
    let mut transcript = Transcript::new(&home, 1);
    transcript.prompt("Where is the pier?").says("In the north.").flush();
    let first = transcript.bytes().len();
    // Events of two lengths: in whatever order they are drained, the longer one counts, once.
    let ask = || {
        let out = home.sinker(&["status", "--session", &transcript.session, "--json", "--wait", "5"]);
        (out.code, serde_json::from_str::<serde_json::Value>(&out.stdout).unwrap())
    };
    std::fs::remove_file(&transcript.path).unwrap();
    let event = |size: usize, name: &str, sample: &str| {
        std::fs::write(&transcript.path, &transcript.bytes()[..size]).unwrap();
        home.hook(name, &payload(sample, &home, &transcript)).assert_silent(name);
        std::fs::remove_file(&transcript.path).unwrap();
        home.drain_once();
    };
    for (size, end) in [(first / 2, first / 2), (first, first), (first / 2, first)] {
        event(size, "session-end", "SessionEnd.other");
        let (code, seen) = ask();
        assert_eq!(code, Some(1), "{seen}");
        assert_eq!((&seen["stored"], &seen["unwritten"]), (&json!(false), &json!(false)), "{seen}");
        assert_eq!(
            seen["lost"],
            json!([{ "path": transcript.path, "from": 0, "to": end }]),
            "the range is named"
        );
        assert_eq!(home.json(&["status"])["lost_ranges"], 1);
    }
    let said = home.sinker(&["status", "--session", &transcript.session]);
    assert!(said.code == Some(1) && said.stdout.contains(&format!("bytes 0 to {first} of ")), "{said}");
    // It comes back (a disk that was not mounted) and is read after all.
    std::fs::write(&transcript.path, transcript.bytes()).unwrap();
    home.import(&[&transcript.path]);
    assert_eq!((ask().0, ask().1["lost"].clone()), (Some(0), json!([])));
    home.verify();
}

/// A drainer that stays takes such entries at once, too.
#[test]
fn a_running_drainer_is_done_with_entries_of_files_that_never_come() {
    let home = Sandbox::new();
    let drainer = home.start(&["drain"]);
    let transcript = Transcript::new(&home, 1);
    for name in RUN {
        let sample = match name {
            "session-start" => "SessionStart.startup",
            "user-prompt-submit" => "UserPromptSubmit",
            "post-tool-use" => "PostToolUse.Bash",
            "stop" => "Stop",
            _ => "SessionEnd.other",
        };
        home.hook(name, &payload(sample, &home, &transcript)).assert_silent(name);
    }
    eventually("it is counted", || {
        let out = home.sinker(&["status", "--json"]);
        serde_json::from_str::<serde_json::Value>(&out.stdout).is_ok_and(|s| s["unwritten_sessions"] == 1)
    });
    assert!(home.spool("new").is_empty());
    drainer.signal(rustix::process::Signal::TERM);
    assert_eq!(drainer.finish(Duration::from_secs(30)).code, Some(0));
    assert!(!home.log().contains(" warn ") && !home.log().contains(" error "), "{}", home.log());
}
