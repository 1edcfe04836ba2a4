//! F65 to F69 through the binary: every rule's secret in every carrier, and nowhere afterwards.

#[path = "../../../src/redact/samples.rs"]
mod samples;

use crate::support::{Sandbox, Transcript};
use samples::{SAMPLES, base64};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// So many secrets are planted, each drawn anew.
const PLANTED: usize = 5000;
/// Records of one transcript.
const A_FILE: usize = 250;

/// A secret with what of it must be found nowhere.
struct Canary {
    /// The longest run of its letters and digits.
    run: String,
    rule: &'static str,
    carrier: &'static str,
}

fn percent(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

/// Plants one secret in a record of the shape that carries it. Returns the carrier's name.
fn plant(transcript: &mut Transcript, n: usize, whole: &str) -> &'static str {
    let id = format!("toolu_{n:024}");
    let prompt = format!("step {n} of the harbour, please");
    transcript.prompt(&prompt);
    match n % 13 {
        0 => {
            transcript.says(&format!("We set it to {whole} and then went on to the quay."));
            "prose"
        }
        1 => {
            let inner = json!({"name": "harbor", "settings": whole, "port": 8080}).to_string();
            transcript.says(&format!("The answer was {inner} as it should be."));
            "json"
        }
        2 => {
            transcript.says(&format!("@@ -1,2 +1,2 @@\n-old line\n+{whole}\n context"));
            "diff"
        }
        3 => {
            transcript.calls(&id, "Bash", json!({"command": "cat .env"}));
            transcript.returns(&id, &format!("PORT=8080\n{whole}\nNAME=harbor\n"));
            "env"
        }
        4 => {
            transcript
                .says(&format!("GET https://harbor.example/login?q={}&next=1 gave 200", percent(whole)));
            "url"
        }
        5 => {
            transcript
                .says(&format!("data: {}", base64(format!("# settings\n{whole}\nPORT=1\n").as_bytes())));
            "base64"
        }
        6 => {
            transcript.calls(&id, "Read", json!({"file_path": format!("/srv/{whole}/notes.md")}));
            "file name"
        }
        7 => {
            transcript.raw(&json!({"type": "ai-title", "aiTitle": format!("About {whole} today"), "sessionId": transcript.session.clone()}).to_string());
            transcript.raw(&json!({"type": "custom-title", "customTitle": format!("{whole}"), "sessionId": transcript.session.clone()}).to_string());
            "title"
        }
        8 => {
            transcript.calls(&id, "Bash", json!({"command": format!("deploy --quiet; {whole} ; true")}));
            "tool input"
        }
        9 => {
            transcript.calls(
                &id,
                "Write",
                json!({"file_path": "/srv/app/conf", "content": format!("a\n{whole}\nb\n")}),
            );
            "tool input, a file"
        }
        10 => {
            transcript.calls(&id, "Bash", json!({"command": "make deploy"}));
            transcript.returns(&id, &format!("   12\u{2192}{whole}\n   13\u{2192}next\n"));
            "tool output"
        }
        11 => {
            transcript.calls(&id, "Bash", json!({"command": "make check"}));
            transcript.fails(&id, &format!("Exit code 1\nerror: refused: {whole}\n  at main"));
            "error text"
        }
        _ => {
            transcript.prompt(&format!("please use {whole} for it"));
            "prompt"
        }
    }
}

/// Every text that somebody could read, decoded: what commands say, what lies on disk, and strings of JSON without their escapes.
fn everything(sandbox: &Sandbox) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut dump = String::new();
    for line in sandbox.lines(&["inspect", "--view", "records"]) {
        strings(&line, &mut dump);
        dump.push_str(&line.to_string());
        dump.push('\n');
    }
    all.push(("inspect".to_owned(), dump));
    for args in [
        &["status", "--json"][..],
        &["inspect", "--view", "lines"],
        &["inspect", "--view", "segments"],
        &["sessions", "--json"],
        &["export"],
        &["project", "list", "--json"],
        &["doctor", "sqlite", "index", "transcripts", "redaction", "--json"],
        &["search", "--all", "--limit", "100", "--json", "settings harbour quay refused login"],
        &["timeline", "--json"],
    ] {
        let out = sandbox.sinker(args);
        assert!(args != ["export"] || out.code == Some(0), "a rule finds what was kept: {}", out.stderr);
        all.push((args.join(" "), format!("{}{}", out.stdout, out.stderr)));
    }
    for entry in walkdir::WalkDir::new(sandbox.home()) {
        let entry = entry.unwrap();
        all.push(("the name of a file".to_owned(), entry.path().display().to_string()));
        if entry.file_type().is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            all.push((entry.path().display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    all
}

fn strings(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
            // JSON inside of JSON: an input of a tool is kept as one.
            if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(text) {
                strings(&inner, out);
            }
        }
        Value::Array(all) => all.iter().for_each(|v| strings(v, out)),
        Value::Object(all) => all.iter().for_each(|(key, v)| {
            out.push_str(key);
            out.push('\n');
            strings(v, out);
        }),
        _ => {}
    }
}

/// Texts that base64 in a text decodes to, from each of its four beginnings.
fn decoded(text: &str) -> String {
    let value = |b: u8| match b {
        b'A'..=b'Z' => Some(u32::from(b - b'A')),
        b'a'..=b'z' => Some(u32::from(b - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(b - b'0') + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let mut out = Vec::new();
    for run in text.as_bytes().split(|b| value(*b).is_none()).filter(|run| run.len() >= 20) {
        for from in 0..4 {
            for quartet in run[from..].chunks_exact(4) {
                let bits = quartet.iter().fold(0, |bits, b| bits << 6 | value(*b).unwrap());
                out.extend(&bits.to_be_bytes()[1..]);
            }
            out.push(b'\n');
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[test]
fn f65_no_secret_of_five_thousand_is_found_anywhere() {
    let sandbox = Sandbox::unhurried("");
    let mut canaries: Vec<Canary> = Vec::new();
    let mut transcripts: Vec<Transcript> = Vec::new();
    for n in 0..PLANTED {
        if n % A_FILE == 0 {
            transcripts.push(Transcript::new(&sandbox, 1 + (n / A_FILE) as u64));
        }
        // Each rule meets each carrier: the two counts have no common divisor for long.
        let sample = &SAMPLES[(n / 13 + n) % SAMPLES.len()];
        let (whole, secret) = sample.draw(n as u64 * 2 + 1);
        let runs = secret.split(|c: char| !c.is_ascii_alphanumeric());
        let run = runs.max_by_key(|run| run.len()).unwrap().to_owned();
        let carrier = plant(transcripts.last_mut().unwrap(), n, &whole);
        canaries.push(Canary { run, rule: sample.rule, carrier });
    }
    for transcript in &mut transcripts {
        transcript.flush();
    }
    let account = sandbox.import(&[&sandbox.claude().join("projects")]);
    assert!(account["observations"].as_u64().unwrap() as usize > PLANTED, "{account}");

    let mut texts = everything(&sandbox);
    let session = &transcripts[0].session;
    let payload = json!({
        "session_id": session, "transcript_path": transcripts[0].path, "cwd": sandbox.project(),
        "hook_event_name": "UserPromptSubmit", "prompt": "what of the settings of the harbour was refused at login?",
    });
    let out = sandbox.hook("user-prompt-submit", &payload);
    texts.push(("the hook's reply".to_owned(), out.stdout));
    let hits = sandbox.json(&["search", "--all", "--limit", "3", "harbour"]);
    for id in hits["hits"].as_array().into_iter().flatten().filter_map(|h| h["id"].as_str()) {
        texts.push((format!("show {id}"), sandbox.sinker(&["show", id]).stdout));
    }

    // A canary is looked up by its first letters: five thousand times all texts would take minutes.
    const HEAD: usize = 6;
    let mut by_head: std::collections::HashMap<&[u8], Vec<&Canary>> = std::collections::HashMap::new();
    let known = |run: &str| {
        run.len() < HEAD || ["YWxhZGRpbjpv", "ZGVwbG95Omg3", "AAAAAA"].iter().any(|k| run.starts_with(k))
    };
    for canary in canaries.iter().filter(|c| !known(&c.run)) {
        by_head.entry(&canary.run.as_bytes()[..HEAD]).or_default().push(canary);
    }
    let looked_for: usize = by_head.values().map(Vec::len).sum();
    assert!(looked_for * 100 >= PLANTED * 95, "{looked_for} of {PLANTED} can be looked for");
    let mut leaks: BTreeSet<String> = BTreeSet::new();
    for (place, text) in &texts {
        for text in [text.as_str(), &decoded(text)] {
            let bytes = text.as_bytes();
            for at in 0..bytes.len().saturating_sub(HEAD - 1) {
                for canary in by_head.get(&bytes[at..at + HEAD]).into_iter().flatten() {
                    if bytes[at..].starts_with(canary.run.as_bytes()) {
                        let near = String::from_utf8_lossy(
                            &bytes[at.saturating_sub(60)..(at + 80).min(bytes.len())],
                        );
                        leaks.insert(format!("{} in {}: {near:?} ({place})", canary.rule, canary.carrier));
                    }
                }
            }
        }
    }
    // Of each rule in each carrier one is enough to see why.
    let mut by_kind: BTreeMap<&str, &str> = BTreeMap::new();
    for leak in &leaks {
        let (kind, near) = leak.split_once(": ").unwrap();
        by_kind.insert(kind, near);
    }
    assert!(leaks.is_empty(), "{} leaks, {} kinds:\n{by_kind:#?}", leaks.len(), by_kind.len());
    // What was found is told by number only, and about as much as was planted.
    let redacted = sandbox.json(&["status"])["redacted"].clone();
    let total: u64 = redacted.as_object().into_iter().flatten().filter_map(|(_, n)| n.as_u64()).sum();
    assert!(total as usize >= PLANTED, "{redacted}");
}

#[test]
fn f66_look_alikes_are_stored_as_they_are() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 1);
    let alike: Vec<String> = SAMPLES.iter().flat_map(|s| s.alike).map(|pieces| pieces.concat()).collect();
    for text in &alike {
        transcript.prompt("next, please").says(&format!("see {text} there"));
    }
    transcript.flush();
    sandbox.import(&[&transcript.path]);
    assert_eq!(sandbox.json(&["status"])["redacted"], json!({}));
    let dump = sandbox.dump();
    let gone = alike
        .iter()
        .filter(|text| !dump.contains(&json!(text).to_string()[1..][..json!(text).to_string().len() - 2]));
    assert_eq!(gone.collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn f65_a_scan_tells_which_secrets_lie_where_and_prints_none() {
    let sandbox = Sandbox::new();
    let folder = sandbox.root().join("host");
    std::fs::create_dir(&folder).unwrap();
    let (key, _) = SAMPLES.iter().find(|s| s.rule == "github-token").unwrap().draw(7);
    let (block, _) = SAMPLES.iter().find(|s| s.rule == "private-key").unwrap().draw(0);
    let line = json!({"type": "user", "message": {"content": format!("use {key}")}});
    let text = format!("{{}}\n{line}\n{}{}\n", "{\"x\":1}\n".repeat(60_000), block.replace("\\n", "\n"));
    std::fs::write(folder.join("a.jsonl"), &text).unwrap();
    std::fs::write(folder.join(format!("{key}.txt")), "nothing\n").unwrap();
    std::fs::write(folder.join(format!("b-{key}.txt")), format!("{key}\n{key}\n")).unwrap();
    let out = sandbox.sinker(&["redact", "--scan", folder.to_str().unwrap(), "--json"]);
    assert_eq!(out.code, Some(0), "{out}");
    let found: Vec<Value> = out.stdout.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(found.len(), 3, "{out}");
    assert_eq!(found[0]["rules"]["github-token"], json!({"count": 1, "lines": [2]}), "{out}");
    assert_eq!(found[0]["rules"]["private-key"], json!({"count": 1, "lines": [60_003]}), "{out}");
    assert_eq!(found[1]["rules"]["github-token"]["lines"], json!([1, 2]), "{out}");
    assert_eq!(found[2]["total"]["secrets"], 4, "{out}");
    let people = sandbox.sinker(&["redact", "--scan", folder.to_str().unwrap()]);
    for out in [&out, &people] {
        assert!(!out.stdout.contains(&key) && !out.stderr.contains(&key), "{out}");
    }
    assert_eq!(std::fs::read_to_string(folder.join("a.jsonl")).unwrap(), text);
    std::fs::remove_file(folder.join("a.jsonl")).unwrap();
    std::fs::remove_file(folder.join(format!("b-{key}.txt"))).unwrap();
    let out = sandbox.sinker(&["redact", "--scan", folder.to_str().unwrap()]);
    assert_eq!(out.code, Some(3), "{out}");
    assert_eq!(sandbox.sinker(&["redact", "--scan", "nowhere"]).code, Some(1));
}

#[test]
fn f69_a_wrong_rule_is_told_everywhere_and_the_others_are_in_force() {
    let sandbox = Sandbox::new();
    sandbox.configure(
        "[redact]\nrules = [{ name = \"acme-token\", pattern = \"acme_[a-z0-9]{8}\", keywords = [\"acme_\"] },\n\
         { name = \"broken\", pattern = \"(\", keywords = [\"xx\"] }]\n",
    );
    let (key, secret) = SAMPLES.iter().find(|s| s.rule == "github-token").unwrap().draw(7);
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript.prompt(&format!("use {key} and acme_a1b2c3d4 here")).flush();
    let says = |text: &str| text.contains("redact.rules[1]");
    for args in [&["import", transcript.path.to_str().unwrap()][..], &["note", "the crane is loud"]] {
        let out = sandbox.sinker(args);
        assert!(out.code == Some(0) && says(&out.stderr), "{args:?}: {out}");
    }
    let dump = sandbox.dump();
    assert!(!dump.contains(&secret) && !dump.contains("acme_a1b2c3d4"), "{dump}");
    assert!(dump.contains("[redacted:acme-token:") && dump.contains("[redacted:github-token:"), "{dump}");
    assert!(says(&sandbox.json(&["status"])["last_error"].to_string()));
    assert!(says(&sandbox.log()), "{}", sandbox.log());
    let check = sandbox.sinker(&["config", "check"]);
    assert!(check.code == Some(1) && says(&check.stdout), "{check}");
    let doctor = sandbox.sinker(&["doctor", "redaction"]);
    assert!(doctor.code == Some(1) && says(&doctor.stdout), "{doctor}");
    let scan = sandbox.sinker(&["redact", "--scan", transcript.path.to_str().unwrap()]);
    assert!(scan.code == Some(0) && says(&scan.stderr), "{scan}");
    // A project's file may not touch it.
    std::fs::create_dir(sandbox.project().join(".sinker")).unwrap();
    std::fs::write(sandbox.project().join(".sinker/settings.toml"), "[redact]\nallow = [\".+\"]\n").unwrap();
    assert!(sandbox.sinker(&["config", "check"]).stdout.contains("redact.allow"));
    assert_eq!(sandbox.sinker(&["redact", "--scan", transcript.path.to_str().unwrap()]).code, Some(0));
}
