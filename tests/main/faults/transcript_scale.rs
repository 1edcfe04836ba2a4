//! Transcripts that are gone, huge, or many (faults F33, F35, D13). Sizes that take minutes are tried with `SCALE=full`.

use crate::support::{Sandbox, Transcript, anon_mib, bytes_read, eventually, payload};
use serde_json::{Value, json};
use std::io::{BufWriter, Write as _};
use std::time::{Duration, Instant};

/// The drainer's budget, at rest and under load (D13). Units: MiB.
const MEMORY_MIB: u64 = 200;

fn full() -> bool {
    std::env::var("SCALE").is_ok_and(|scale| scale == "full")
}

/// Runs a command to its end. Returns the most memory it was seen with, and what it printed.
fn watched(sandbox: &Sandbox, args: &[&str]) -> (u64, Value) {
    let mut running = sandbox.start(args);
    let began = Instant::now();
    let mut most = 0;
    while !running.ended() {
        most = most.max(anon_mib(running.pid()).unwrap_or(0));
        assert!(began.elapsed() < Duration::from_secs(3600), "{args:?} does not end");
        std::thread::park_timeout(Duration::from_millis(5));
    }
    let out = running.finish(Duration::from_secs(10));
    assert_eq!(out.code, Some(0), "{args:?}: {out}");
    eprintln!("{args:?}: {} ms, at most {most} MiB", began.elapsed().as_millis());
    (most, serde_json::from_str(&out.stdout).unwrap_or_default())
}

/// F33, D10.
#[test]
fn f33_a_transcript_deleted_before_it_was_read_is_a_lost_range() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 10);
    transcript.prompt("Will this be read?").flush();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    let absent = Transcript::new(&sandbox, 11);
    sandbox.hook("session-start", &payload("SessionStart.startup", &sandbox, &absent)).assert_silent("start");
    std::fs::remove_file(&transcript.path).unwrap();
    sandbox.drain_once();
    let status = sandbox.json(&["status"]);
    assert_eq!(status["lost_ranges"], 1, "a session that never wrote a file lost nothing: {status}");
    assert!(sandbox.spool("new").is_empty() && sandbox.spool("cur").is_empty());
    let why = lost(&sandbox);
    assert!(why["path"].as_str().is_some_and(|p| p.ends_with(".jsonl")), "{why}");
    assert_eq!((&why["from"], &why["to"]), (&json!(0), &json!(transcript.bytes().len())), "{why}");
    let said = sandbox.sinker(&["status"]).stdout;
    assert!(said.contains("lost"), "a person is told: {said}");
    sandbox.drain_once();
    assert_eq!(sandbox.json(&["status"])["lost_ranges"], 1, "counted once");
}

fn lost(sandbox: &Sandbox) -> Value {
    let reports: Vec<String> = sandbox.spool("odd").into_iter().filter(|n| n.starts_with("lost.")).collect();
    assert_eq!(reports.len(), 1, "{reports:?}");
    serde_json::from_slice(&std::fs::read(sandbox.at("spool/odd").join(&reports[0])).unwrap()).unwrap()
}

/// F33: what was stored of it stays, and only the rest is lost; told once, whatever step the drainer dies at.
#[cfg(feature = "failpoints")]
#[test]
fn f33_a_lost_range_is_told_once_whenever_the_drainer_is_killed() {
    use crate::crash::{Fault, at_every_step};
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 12);
    transcript.prompt("Which buoy?").says("The red one.").flush();
    let stored = transcript.bytes().len();
    sandbox.drain_once();
    let rows = sandbox.dump();
    transcript.prompt("And the green one?").flush();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    std::fs::remove_file(&transcript.path).unwrap();
    at_every_step(&sandbox, Fault::Kill, &["drain", "--once"], "", |home, _| {
        home.drain_once();
        let why = lost(home);
        assert_eq!((&why["from"], &why["to"]), (&json!(stored), &json!(transcript.bytes().len())), "{why}");
        assert_eq!(home.json(&["status"])["lost_ranges"], 1);
        assert_eq!(home.dump(), rows);
        home.verify();
    });
}

/// F35: of a file of more than two gigabytes only what lies behind the cursor is read. The file is a hole with a session around it, and the
/// cursor is put behind the hole by hand, since reading it would take the minute that this is about.
#[test]
fn f35_of_a_huge_transcript_only_the_tail_is_read() {
    const HUGE: i64 = 2_300_000_000;
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 13);
    transcript.prompt("How long is a long voyage?").flush();
    sandbox.drain_once();
    let head = transcript.size();
    let file = std::fs::OpenOptions::new().write(true).open(&transcript.path).unwrap();
    file.set_len(HUGE as u64).unwrap();
    let store = rusqlite::Connection::open(sandbox.at("store.db")).unwrap();
    let changed = store
        .execute(
            "UPDATE files SET offset = ?1, settled = ?1, size = ?1, tail_len = 0, tail_hash = ''",
            [HUGE],
        )
        .unwrap();
    drop(store);
    assert_eq!((changed, head > 0), (1, true));
    transcript.says("Two gigabytes, this one.").flush();
    assert!(transcript.size() > HUGE as u64);
    let began = Instant::now();
    let drainer = sandbox.start(&["drain"]);
    eventually("the tail is stored", || sandbox.json(&["status"])["store"]["observations"] == 2);
    eprintln!("first row {} ms after the start of a drainer", began.elapsed().as_millis());
    // The live path, too: one more record, behind a cursor that is far out.
    transcript.says("And it goes on.").flush();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    eventually("what is added is stored", || sandbox.json(&["status"])["store"]["observations"] == 3);
    if let (Some(read), Some(memory)) = (bytes_read(drainer.pid()), anon_mib(drainer.pid())) {
        eprintln!("{read} bytes read, {memory} MiB");
        assert!(read < 64 << 20, "{read} bytes read for two records");
        assert!(memory < MEMORY_MIB, "{memory} MiB");
    } else {
        eprintln!("skipped: needs /proc");
    }
    drop(drainer);
    sandbox.verify();
}

/// D13: one line of any length costs no memory of its size. The line is an image that a tool returned.
#[test]
fn f34_a_line_of_any_length_takes_bounded_memory() {
    let megabytes = if full() { 300 } else { 48 };
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 14);
    transcript.prompt("Show me the chart.").flush();
    let mut file = BufWriter::new(std::fs::OpenOptions::new().append(true).open(&transcript.path).unwrap());
    let (before, after) = (
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":""#,
        format!(
            r#""}}}}]}}]}},"uuid":"00000000-0000-4000-8000-0000000000aa","timestamp":"2026-11-20T14:30:00.000Z","sessionId":"{}"}}"#,
            transcript.session
        ),
    );
    file.write_all(before.as_bytes()).unwrap();
    let block = "iVBORw0KGgoAAAANSUhEUgAAAAEA".repeat((1 << 20) / 28);
    for _ in 0..megabytes {
        file.write_all(block.as_bytes()).unwrap();
    }
    file.write_all(after.as_bytes()).unwrap();
    file.write_all(b"\n").unwrap();
    drop(file);
    transcript.says("There is the rock.").flush();
    let (memory, _) = watched(&sandbox, &["import", transcript.path.to_str().unwrap(), "--json"]);
    assert!(memory < MEMORY_MIB, "{memory} MiB for a line of {megabytes} MB");
    assert!(sandbox.dump().contains("There is the rock."), "the line's neighbour is lost");
    sandbox.verify();
}

/// D13: what a long session costs does not grow with its length.
#[test]
fn f35_a_transcript_of_gigabytes_is_imported_in_bounded_memory() {
    let megabytes = if full() { 2_100 } else { 8 };
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 15);
    transcript.prompt("Print the log of the voyage.").flush();
    let path = transcript.path.clone();
    let mut file = BufWriter::new(std::fs::OpenOptions::new().append(true).open(&path).unwrap());
    let (mut written, mut n, mut state) = (0_u64, 0_u64, 1_u64);
    while written < megabytes << 20 {
        n += 1;
        let text: String = (0..40)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                format!(
                    "{} {} nautical miles made good. ",
                    WORDS[(state >> 33) as usize % WORDS.len()],
                    state >> 50
                )
            })
            .collect();
        let line = json!({
            "type": "assistant", "uuid": format!("00000000-0000-4000-8000-{n:012x}"), "sessionId": transcript.session,
            "timestamp": format!("2026-11-{:02}T{:02}:{:02}:{:02}.000Z", 1 + n / 86_400 % 28, n / 3600 % 24, n / 60 % 60, n % 60),
            "message": {"id": format!("m{n}"), "role": "assistant", "content": [{"type": "text", "text": text}]},
        }).to_string();
        written += line.len() as u64 + 1;
        writeln!(file, "{line}").unwrap();
    }
    file.flush().unwrap();
    let began = Instant::now();
    let (memory, account) = watched(&sandbox, &["import", path.to_str().unwrap(), "--json"]);
    eprintln!("{:.1} MB/s of transcript", written as f64 / 1e6 / began.elapsed().as_secs_f64());
    assert_eq!(account["observations"], n + 1, "{account}");
    assert!(memory < MEMORY_MIB, "{memory} MiB for {megabytes} MB");
    sandbox.verify();
}

const WORDS: [&str; 8] = ["anchor", "bilge", "cutter", "davit", "ensign", "fathom", "galley", "halyard"];

/// Many sessions: a sweep over all of them, and one that finds nothing new.
#[test]
fn f35_many_transcripts_are_swept_in_bounded_memory() {
    let files: u64 = if full() { 30_000 } else { 600 };
    let sandbox = Sandbox::new();
    for n in 0..files {
        let mut transcript = Transcript::new(&sandbox, 100 + n);
        transcript.prompt(&format!("What is at mark {n}?")).flush();
    }
    let (memory, account) = watched(&sandbox, &["drain", "--once", "--json"]);
    assert_eq!((&account["files"], &account["observations"]), (&json!(files), &json!(files)), "{account}");
    assert!(memory < MEMORY_MIB, "{memory} MiB for {files} files");
    let (memory, account) = watched(&sandbox, &["drain", "--once", "--json"]);
    assert_eq!(
        (&account["files"], &account["observations"]),
        (&json!(0), &json!(0)),
        "nothing is new: {account}"
    );
    assert!(memory < MEMORY_MIB, "{memory} MiB for {files} files that are known");
    sandbox.verify();
}
