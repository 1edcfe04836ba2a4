//! Lines of a transcript that nobody can hold, F34.

use super::transcript::{account, observations, said, write};
use crate::support::{Running, Sandbox, Transcript};
use serde_json::json;
use std::path::Path;

/// Imports a file and watches the process: the most anonymous memory it ever held, in KiB.
fn import_watched(sandbox: &Sandbox, path: &Path) -> u64 {
    let mut importer = Running::start(sandbox.command(&["import", path.to_str().unwrap(), "--json"]));
    let mut peak = 0;
    while !importer.ended() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", importer.pid())).unwrap_or_default();
        let anonymous = status.lines().find_map(|l| l.strip_prefix("RssAnon:"));
        let kib = anonymous.and_then(|l| l.split_whitespace().next()?.parse().ok());
        peak = peak.max(kib.unwrap_or(0));
        std::thread::yield_now();
    }
    peak
}

/// D13, section 3: text over 1 MiB is kept as head, tail, size and hash.
#[test]
fn f34_a_huge_text_is_kept_in_part_and_its_neighbours_whole() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 12);
    let huge = format!("HEADMARK {} TAILMARK", "the quick brown fox jumps. ".repeat(160_000));
    transcript.prompt("Print the log.").calls("toolu_1", "Bash", json!({"command": "cat log"}));
    transcript.returns("toolu_1", &huge).says("That was long.").flush();
    let account = sandbox.import(&[&transcript.path]);
    assert_eq!(account["observations"], 4, "{account}");
    let dump = sandbox.dump();
    assert!(dump.len() < 3 << 20, "{} bytes", dump.len());
    for mark in ["HEADMARK", "TAILMARK", "That was long."] {
        assert!(dump.contains(mark), "{mark}");
    }
}

/// An image of 64 MiB, twice in its line, takes no memory; the record has its own id and is stored once.
#[test]
fn f34_a_line_with_a_huge_image_is_recorded_by_size_and_hash() {
    let sandbox = Sandbox::new();
    let data = "QUJD".repeat(16 << 20);
    let line = said("5e55", 2, "2026-11-20T01:00:02.000Z", "/c", "IMAGE");
    let blocks = r#"[{"type":"text","text":"What is wrong with this crane?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"DATA"}}]"#;
    let long = line.replace("\"IMAGE\"", blocks).replace("DATA", &data);
    let long = format!("{},\"toolUseResult\":{{\"file\":\"{data}\"}}}}", long.strip_suffix('}').unwrap());
    let before = said("5e55", 1, "2026-11-20T01:00:01.000Z", "/c", "before");
    let after = said("5e55", 3, "2026-11-20T01:00:03.000Z", "/c", "after");
    let path = write(&sandbox, "long.jsonl", &[before, long, after]);
    let peak = import_watched(&sandbox, &path);
    assert!(peak > 0 && peak < 100 << 10, "{peak} KiB");
    assert_eq!(observations(&sandbox), 3);
    let shown = sandbox.json(&["show", "aaaaaaaa-0000-4000-8000-000000000002"]);
    let sha = &sha256(data.as_bytes())[..16];
    assert_eq!(
        shown["text"],
        json!(format!("What is wrong with this crane?\n[image/png, {} bytes, sha256 {sha}]", data.len()))
    );
    let before = sandbox.dump();
    sandbox.import(&[&path]);
    assert_eq!(sandbox.dump(), before);
    assert_eq!(account(&sandbox, &path)["by"], json!({"said": {"user": 3}}));
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Millions of tiny values in one line: a parser that builds them all takes a hundred times the line.
#[test]
fn f34_a_line_of_millions_of_values_takes_no_memory_either() {
    let sandbox = Sandbox::new();
    let many = "{\"a\":1},".repeat(1_500_000);
    let call = format!(
        r#"{{"type":"assistant","uuid":"u-1","timestamp":"2026-11-20T01:00:01.000Z","sessionId":"5e55","message":{{"content":[{{"type":"tool_use","input":{{"command":"ls","list":[{many}0]}},"id":"t1","name":"Bash"}}]}}}}"#
    );
    let after = said("5e55", 3, "2026-11-20T01:00:03.000Z", "/c", "after");
    let path = write(&sandbox, "many.jsonl", &[call, after]);
    let peak = import_watched(&sandbox, &path);
    assert!(peak < 200 << 10, "{peak} KiB");
    assert_eq!(observations(&sandbox), 2);
    let text = sandbox.json(&["show", "u-1"])["text"].clone();
    assert!(text.as_str().is_some_and(|t| t.starts_with("Bash\ncommand: ls") && t.contains("left-out")));
}

/// Half of a secret at a cut is a secret still.
#[test]
fn f34_a_secret_at_the_cut_of_a_huge_text_is_not_kept() {
    let sandbox = Sandbox::new();
    // Put together here: it must not stand in a file.
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let filled: String = (0..120_000).map(|n| format!("{n:06} token={secret} \n")).collect();
    assert!(filled.len() > 4 << 20);
    let private = format!(
        "{} <private>my pin is 4711 {} </private> end",
        "word ".repeat(300_000),
        "pin 4711 ".repeat(400_000)
    );
    let line = |n, text: &str| said("5e55", n, "2026-11-20T01:00:02.000Z", "/c", text);
    let path = write(&sandbox, "secret.jsonl", &[line(1, &filled), line(2, &private)]);
    let answer = sandbox.import(&[&path]);
    assert_eq!(answer["observations"], 2);
    let dump = sandbox.dump();
    assert!(dump.contains("000001 token=") && dump.contains("119999 token=") && dump.contains("left out"));
    assert!(!dump.contains("a1B2c3D4e5F6") && !dump.contains("4711"), "a secret came through");
}
