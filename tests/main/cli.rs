//! The commands: JSON fields and exit codes are a contract (design, section 7).

use crate::support::{Sandbox, Transcript, eventually};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The shipped sessions, imported.
fn world() -> Sandbox {
    let sandbox = Sandbox::new();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("spool-fixtures/demo/projects");
    sandbox.import(&[&demo]);
    sandbox
}

fn has(value: &Value, fields: &[&str]) {
    for field in fields {
        let found = field.split('.').try_fold(value, |v, key| v.get(key));
        assert!(found.is_some(), "no field {field}: {value}");
    }
}

fn is_ours(id: &Value) {
    let id = id.as_str().unwrap();
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    assert!((1..=64).contains(&id.len()) && id.bytes().all(good), "not an id of ours: {id}");
}

fn is_time(time: &Value) {
    let text = time.as_str().unwrap_or_else(|| panic!("not a time: {time}"));
    assert!(
        text.len() == 24 && text.ends_with('Z') && &text[19..20] == ".",
        "not RFC 3339 UTC with milliseconds: {text}"
    );
    text.parse::<jiff::Timestamp>().unwrap();
}

const KINDS: [&str; 8] =
    ["observation", "outcome", "checkpoint", "session-summary", "session", "claim", "note", "work"];
const SPEAKERS: [&str; 6] = ["user", "assistant", "tool", "web", "agent", "host"];

fn is_hit(hit: &Value) {
    has(
        hit,
        &[
            "id", "session", "project", "kind", "speaker", "time", "score", "status", "files", "excerpt",
            "record",
        ],
    );
    is_ours(&hit["id"]);
    is_time(&hit["time"]);
    assert!(KINDS.contains(&hit["kind"].as_str().unwrap()), "{hit}");
    // What was derived from several records has no one speaker.
    assert!(hit["speaker"] == "" || SPEAKERS.contains(&hit["speaker"].as_str().unwrap()), "{hit}");
    assert!(hit["files"].is_array() && hit["score"].is_number(), "{hit}");
    for line in hit["excerpt"].as_array().unwrap() {
        has(line, &["text", "record", "speaker"]);
    }
}

#[test]
fn status_has_its_fields_before_anything_was_captured_and_after() {
    let sandbox = Sandbox::new();
    for sandbox in [sandbox, world()] {
        let status = sandbox.json(&["status"]);
        has(
            &status,
            &[
                "spool.new",
                "spool.cur",
                "spool.odd",
                "spool.oldest_age_s",
                "store.documents",
                "store.observations",
                "store.turns",
                "store.sessions",
                "store.seq",
                "index.seq",
                "index.documents",
                "drainer.running",
                "drainer.heartbeat_age_s",
                "drainer.drained_1h",
                "behind",
                "lost_ranges",
                "unknown_types",
                "last_error",
            ],
        );
        assert_eq!(status["store"]["documents"], status["index"]["documents"], "{status}");
        assert_eq!(status["store"]["seq"], status["index"]["seq"], "{status}");
        assert_eq!(status["drainer"]["running"], false, "{status}");
    }
}

#[test]
fn status_says_what_is_behind_and_which_types_it_does_not_know() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript
        .prompt("Anything new?")
        .raw("{\"type\":\"tide-table\"}")
        .raw("{\"type\":\"tide-table\"}")
        .flush();
    sandbox.drain_once();
    let status = sandbox.json(&["status"]);
    assert_eq!(status["unknown_types"]["tide-table"], 2, "{status}");
    assert_eq!(status["behind"], json!([]), "{status}");
}

#[test]
fn import_and_drain_give_their_account() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript.prompt("Hello?").flush();
    let fields = ["entries", "files", "observations", "documents", "odd"];
    let account = sandbox.import(&[&transcript.path]);
    has(&account, &fields);
    assert_eq!(
        (account["files"].clone(), account["observations"].clone()),
        (json!(1), json!(1)),
        "{account}"
    );
    has(&sandbox.drain_once(), &fields);
    // Again: nothing new, and the sequence stays.
    let before = sandbox.json(&["status"])["store"].clone();
    sandbox.import(&[&transcript.path]);
    assert_eq!(sandbox.json(&["status"])["store"], before);
}

#[test]
fn import_without_a_path_takes_the_hosts_own_transcripts() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript.prompt("Hello?").says("Hello.").flush();
    let account = sandbox.import(&[]);
    assert_eq!(account["observations"], 2, "{account}");
}

#[test]
fn search_answers_with_one_object_and_its_hits() {
    let sandbox = world();
    let answer = sandbox.json(&["search", "token expiry leeway", "--all"]);
    has(&answer, &["query", "took_ms", "hits"]);
    assert_eq!(answer["query"], "token expiry leeway");
    let hits = answer["hits"].as_array().unwrap();
    assert!((1..=10).contains(&hits.len()), "{answer}");
    hits.iter().for_each(is_hit);
    let scores: Vec<f64> = hits.iter().map(|h| h["score"].as_f64().unwrap()).collect();
    assert!(scores.windows(2).all(|w| w[0] >= w[1]), "not the best first: {scores:?}");
    let few = sandbox.json(&["search", "token expiry leeway", "--all", "--limit", "2"]);
    assert_eq!(few["hits"].as_array().unwrap().len(), 2);
    let sessions = sandbox.json(&["search", "token expiry leeway", "--all", "--by", "session"]);
    let routed: Vec<&Value> = sessions["hits"].as_array().unwrap().iter().map(|h| &h["session"]).collect();
    assert!(!routed.is_empty() && routed.len() <= 3, "{sessions}");
}

#[test]
fn search_is_bound_by_its_filters() {
    let sandbox = world();
    let hits = |args: &[&str]| {
        let answer = sandbox.sinker(&[&["search"], args, &["--json"]].concat());
        assert!(matches!(answer.code, Some(0 | 3)), "{args:?}: {answer}");
        let answer: Value = serde_json::from_str(answer.stdout.trim()).unwrap();
        answer["hits"].as_array().unwrap().clone()
    };
    assert!(!hits(&["rounding", "--project", "tide-clock"]).is_empty());
    assert!(hits(&["rounding", "--project", "harbor-api"]).is_empty());
    let users = hits(&["leeway", "--all", "--speaker", "user"]);
    assert!(users.iter().all(|h| h["speaker"] == "user"), "{users:?}");
    let outcomes = hits(&["leeway", "--all", "--kind", "outcome"]);
    assert!(!outcomes.is_empty() && outcomes.iter().all(|h| h["kind"] == "outcome"), "{outcomes:?}");
    let session = "cedbfb2c-e31f-472d-a989-cc52bc703236";
    let one = hits(&["port 6380", "--all", "--session", session]);
    assert!(!one.is_empty() && one.iter().all(|h| h["session"] == session), "{one:?}");
    assert!(hits(&["leeway", "--all", "--since", "2026-11-26"]).is_empty());
}

/// F54.
#[test]
fn no_query_is_an_error() {
    let sandbox = world();
    let long = "harbour ".repeat(12_000);
    for query in
        ["\"", "(", "a AND OR", "text:", "[a TO", "*", "日本", "🦀", "the of and", "a\nb", "--", &long]
    {
        let out = sandbox.sinker(&["search", "--all", "--json", "--", query]);
        assert!(matches!(out.code, Some(0 | 3)), "{query:.20}: {out}");
    }
}

#[test]
fn show_gives_a_hit_with_its_text_links_and_revisions() {
    let sandbox = world();
    let hit = sandbox.json(&["search", "queue port 6380", "--all"])["hits"][0].clone();
    let shown = sandbox.json(&["show", hit["id"].as_str().unwrap()]);
    has(
        &shown,
        &[
            "id",
            "session",
            "project",
            "kind",
            "speaker",
            "time",
            "status",
            "files",
            "text",
            "links",
            "revisions",
        ],
    );
    assert_eq!(shown["id"], hit["id"]);
    let text = shown["text"].as_str().unwrap();
    assert!(text.contains("6380") || text.contains("port"), "hit and text are of one row: {shown}");
}

#[test]
fn sessions_and_timeline_list_what_happened() {
    let sandbox = world();
    let sessions = sandbox.lines(&["sessions", "--all"]);
    assert_eq!(sessions.len(), 4, "{sessions:?}");
    for session in &sessions {
        has(
            session,
            &["id", "project", "title", "started", "ended", "reason", "observations", "cursor", "size"],
        );
        is_time(&session["started"]);
        assert!(session["ended"].is_null() || session["ended"].is_string(), "{session}");
    }
    let first = sessions.iter().find(|s| s["id"] == "ed9d3fdc-1850-4f14-abb7-94f735598f53").unwrap();
    assert_eq!(first["observations"], 37, "the subagent's are its parent's: {first}");
    assert_eq!(first["started"], "2026-11-23T09:12:13.650Z", "{first}");
    let file = ["timeline", "--file", "harbor/settings.py"];
    let of = |more: &[&str]| sandbox.sinker(&[&file, more].concat());
    assert!(of(&["--all"]).stdout.contains("cedbfb2c") || !of(&["--all", "--json"]).stdout.is_empty());
    assert!(!of(&["--project", "harbor-api", "--json"]).stdout.is_empty());
    let here = of(&[]);
    assert!(here.code == Some(3) && here.stderr.contains("--all"), "another project's file: {here}");
}

#[test]
fn inspect_shows_every_view() {
    let sandbox = world();
    let documents = sandbox.lines(&["inspect", "--view", "source-documents"]);
    let status = sandbox.json(&["status"]);
    assert_eq!(json!(documents.len()), status["store"]["documents"], "{status}");
    for document in &documents {
        has(document, &["id", "kind", "session", "project", "time", "revision", "bytes"]);
        is_ours(&document["id"]);
    }
    let records = sandbox.lines(&["inspect", "--view", "records"]);
    assert_eq!(records.len(), documents.len());
    records.iter().for_each(|r| has(r, &["id", "text"]));
    let segments = sandbox.lines(&["inspect", "--view", "segments"]);
    assert!(!segments.is_empty());
    for segment in &segments {
        has(segment, &["id", "sessions", "documents", "terms"]);
        let id = segment["id"].as_str().unwrap();
        assert!(id.starts_with("claude-session:") && id.split(':').count() == 3, "{id}");
    }
    sandbox.lines(&["inspect", "--view", "claims"]).iter().for_each(|c| {
        has(c, &["id", "subject", "value", "status", "evidence", "related"]);
    });
    let kinds: std::collections::BTreeSet<&str> =
        records.iter().map(|r| r["kind"].as_str().unwrap()).collect();
    for kind in ["observation", "outcome", "checkpoint", "session-summary"] {
        assert!(kinds.contains(kind), "no {kind}: {kinds:?}");
    }
}

#[test]
fn index_verify_and_rebuild_agree_with_the_store() {
    let sandbox = world();
    let answer = sandbox.json(&["index", "verify"]);
    has(&answer, &["ok", "missing", "extra", "bad_files"]);
    assert_eq!(answer["ok"], true, "{answer}");
    let found = |s: &Sandbox| s.json(&["search", "semicolon delimiter", "--all"])["hits"].clone();
    let before = found(&sandbox);
    assert_eq!(sandbox.sinker(&["index", "rebuild"]).code, Some(0));
    sandbox.verify();
    assert_eq!(found(&sandbox), before);
}

/// A flipped byte in a segment is found, and a rebuild cures it (F49).
#[test]
fn index_verify_finds_a_damaged_file() {
    let sandbox = world();
    let segment: PathBuf = walkdir::WalkDir::new(sandbox.at("index"))
        .into_iter()
        .map(|e| e.unwrap().into_path())
        .find(|p| p.extension().is_some_and(|e| e == "store" || e == "idx"))
        .expect("a segment file");
    let mut bytes = std::fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&segment, bytes).unwrap();
    let out = sandbox.sinker(&["index", "verify", "--json"]);
    assert_eq!(out.code, Some(1), "{out}");
    let answer: Value = serde_json::from_str(out.stdout.trim()).unwrap();
    assert_eq!(answer["ok"], false, "{answer}");
    assert_eq!(sandbox.sinker(&["index", "rebuild"]).code, Some(0));
    sandbox.verify();
}

#[test]
fn config_and_projects_are_shown() {
    let sandbox = world();
    assert_eq!(sandbox.sinker(&["config", "check"]).code, Some(0));
    let out = sandbox.sinker(&["config", "show"]);
    assert!(
        out.code == Some(0)
            && out.stdout.contains("recall.enabled")
            && out.stdout.contains("sinker-config.toml (not there: defaults hold)"),
        "{out}"
    );
    std::fs::write(sandbox.user().join("sinker-config.toml"), "[recall]\nenabled = \"maybe\"\n").unwrap();
    let out = sandbox.sinker(&["config", "check"]);
    assert!(out.code == Some(1) && format!("{out}").contains("recall.enabled"), "{out}");
    std::fs::remove_file(sandbox.user().join("sinker-config.toml")).unwrap();
    let projects = sandbox.lines(&["project", "list"]);
    let ids: Vec<&str> = projects.iter().map(|p| p["id"].as_str().unwrap()).collect();
    assert!(
        ids.iter().any(|i| i.starts_with("harbor-api-")) && ids.iter().any(|i| i.starts_with("tide-clock-")),
        "{ids:?}"
    );
}

#[test]
fn exit_codes_tell_what_happened() {
    let sandbox = world();
    let code = |args: &[&str]| sandbox.sinker(args).code;
    assert_eq!(code(&["--version"]), Some(0));
    assert_eq!(code(&["--help"]), Some(0));
    assert_eq!(code(&["status"]), Some(0));
    for usage in [&["dance"][..], &["search", "x", "--limit", "many"], &["show"], &["status", "--loud"], &[]]
    {
        assert_eq!(code(usage), Some(2), "{usage:?}");
    }
    for nothing in [
        &["search", "zzyzx qwfpgj", "--all"][..],
        &["show", "no-such-id"],
        &["status", "--session", "no-such-session"],
    ] {
        assert_eq!(code(nothing), Some(3), "{nothing:?}");
    }
    let gone = sandbox.root().join("gone");
    let out = sandbox.sinker(&["import", gone.to_str().unwrap()]);
    assert!(matches!(out.code, Some(1 | 3)) && out.stderr.contains("hint:"), "{out}");
    let drainer = sandbox.start(&["drain"]);
    eventually("it runs", || sandbox.json(&["status"])["drainer"]["running"] == true);
    let out = sandbox.sinker(&["drain", "--once"]);
    assert!(out.code == Some(4) && out.stderr.contains("hint:"), "{out}");
    drop(drainer);
}

#[test]
fn human_output_has_no_colour_and_no_control_characters_in_a_pipe() {
    let sandbox = world();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript.prompt("escape \u{1b}[31m artist \u{202e} here").flush();
    sandbox.import(&[&transcript.path]);
    for args in [
        &["status"][..],
        &["sessions", "--all"],
        &["search", "escape artist", "--all"],
        &["timeline", "--all"],
        &["project", "list"],
    ] {
        let out = sandbox.sinker(args);
        assert_eq!(out.code, Some(0), "{args:?}: {out}");
        let bad = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!out.stdout.contains(bad), "{args:?}: {:?}", out.stdout);
        assert!(!out.stdout.is_empty(), "{args:?}");
    }
}
