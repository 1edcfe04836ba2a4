//! What past sessions know of a file before it is touched: the timeline, the read gate, and the host's own memory.

use crate::support::{Sandbox, Transcript, payload};
use serde_json::{Value, json};
use std::path::PathBuf;

fn file(sandbox: &Sandbox, name: &str, bytes: usize) -> PathBuf {
    sandbox.project_file(name, bytes).into()
}

fn text(path: &std::path::Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// A session that edited a file and says how it ended.
fn edited(sandbox: &Sandbox, seed: u64, path: &std::path::Path, asked: &str, end: &str) -> Transcript {
    let mut t = Transcript::new(sandbox, seed);
    t.prompt(asked)
        .calls("t1", "Edit", json!({"file_path": text(path), "old_string": "a", "new_string": "b"}))
        .returns("t1", "done")
        .says(end)
        .flush();
    t
}

struct Session<'a> {
    sandbox: &'a Sandbox,
    now: Transcript,
    calls: usize,
}

impl<'a> Session<'a> {
    fn new(sandbox: &'a Sandbox, seed: u64) -> Self {
        Self { sandbox, now: Transcript::new(sandbox, seed), calls: 0 }
    }

    /// What the hook prints before a call, as JSON; null for nothing. `more` goes over the payload.
    fn before(&mut self, tool: &str, input: Value, more: Value) -> Value {
        self.calls += 1;
        let mut event = payload("PreToolUse.Read", self.sandbox, &self.now);
        event["tool_name"] = json!(tool);
        event["tool_input"] = input;
        event["tool_use_id"] = json!(format!("toolu_{}", self.calls));
        for (key, value) in more.as_object().unwrap() {
            event[key] = value.clone();
        }
        let out = self.sandbox.hook("pre-tool-use", &event);
        assert_eq!(out.code, Some(0), "{out}");
        if out.stdout.is_empty() { Value::Null } else { serde_json::from_str(&out.stdout).unwrap() }
    }

    fn read(&mut self, path: &std::path::Path) -> Value {
        self.before("Read", json!({"file_path": text(path)}), json!({}))
    }
}

fn context(reply: &Value) -> &str {
    reply["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}

fn denied(reply: &Value) -> Option<&str> {
    let own = &reply["hookSpecificOutput"];
    assert_ne!(own["permissionDecision"], "allow");
    (own["permissionDecision"] == "deny").then(|| own["permissionDecisionReason"].as_str().unwrap())
}

#[test]
fn a_file_is_told_as_a_short_timeline_once_until_something_new_comes() {
    let sandbox = Sandbox::unhurried("");
    let ports = file(&sandbox, "src/ports.rs", 5_000);
    edited(&sandbox, 1, &ports, "Move the gateway.", "The gateway listens on port 7443 now.");
    edited(&sandbox, 2, &ports, "Split the table.", "Split the table of ports by environment.");
    sandbox.drain_once();
    let mut session = Session::new(&sandbox, 9);
    let first = session.read(&ports);
    let told = context(&first);
    assert!(told.contains("completed: Split the table of ports by environment."), "{told}");
    assert!(told.contains("earlier, 2026-11-20: The gateway listens on port 7443 now."), "{told}");
    assert!(told.chars().count() <= 400, "{told}");
    assert_eq!(denied(&first), None);
    // Once: by any tool.
    assert_eq!(
        session.before(
            "Edit",
            json!({"file_path": text(&ports), "old_string": "a", "new_string": "b"}),
            json!({})
        ),
        Value::Null
    );
    assert_eq!(session.before("Bash", json!({"command": "wc -l src/ports.rs"}), json!({})), Value::Null);
    // Another session changes it meanwhile.
    edited(&sandbox, 3, &ports, "Add staging.", "Staging has its own ports in the table now.");
    sandbox.drain_once();
    let again = session.read(&ports);
    assert!(context(&again).contains("Staging has its own ports"), "{again}");
    assert_eq!(session.read(&ports), Value::Null);
    // In a subagent nothing: its parent was told, and has to tell it.
    let mut other = Session::new(&sandbox, 10);
    let within = json!({"agent_id": "a0000000000000001", "agent_type": "Explore"});
    assert_eq!(other.before("Read", json!({"file_path": text(&ports)}), within), Value::Null);
    assert_ne!(other.read(&ports), Value::Null);
}

#[test]
fn tiny_files_trivial_looks_and_words_that_are_no_files_are_passed_over() {
    let sandbox = Sandbox::unhurried("");
    let tiny = file(&sandbox, "src/tiny.rs", 50);
    let looked = file(&sandbox, "src/looked.rs", 5_000);
    file(&sandbox, "src/named.rs", 5_000);
    edited(&sandbox, 1, &tiny, "Shorten it.", "It is as short as it can be now, and documented.");
    let mut t = Transcript::new(&sandbox, 2);
    t.prompt("Look into it.")
        .calls("t1", "Read", json!({"file_path": text(&looked)}))
        .returns("t1", "x")
        .says("Looked at it.")
        .flush();
    let mut t = Transcript::new(&sandbox, 3);
    t.prompt("Count the lines of the module.")
        .calls(
            "t1",
            "Bash",
            json!({"command": "wc -l src/named.rs src/gone.rs && sed -i s/a/b/ src/named.rs"}),
        )
        .returns("t1", "12")
        .says("The module of names has twelve lines, and every a in it is a b now.")
        .flush();
    sandbox.drain_once();
    let mut session = Session::new(&sandbox, 9);
    assert_eq!(session.read(&tiny), Value::Null, "shorter than what would be said");
    assert_eq!(session.read(&looked), Value::Null, "nothing came of the look");
    assert_eq!(
        session.before("Bash", json!({"command": "cat src/gone.rs"}), json!({})),
        Value::Null,
        "no file"
    );
    assert_eq!(
        session.before(
            "Grep",
            json!({"pattern": "x", "path": text(&sandbox.project().join("src"))}),
            json!({})
        ),
        Value::Null,
        "a folder"
    );
    let told = session.before("Bash", json!({"command": "grep -c x src/named.rs"}), json!({}));
    assert!(context(&told).contains("twelve lines"), "a command named it: {told}");
    let out = sandbox.sinker(&["timeline", "--file", "src/named.rs", "--json"]);
    assert!(out.stdout.contains("twelve lines"), "{out}");
}

#[test]
fn the_read_gate_denies_a_large_known_file_once_and_never_again() {
    let sandbox = Sandbox::unhurried("read_gate = true\nread_gate_bytes = 4000\n");
    let big = file(&sandbox, "src/big.rs", 9_000);
    let small = file(&sandbox, "src/small.rs", 3_000);
    let unknown = file(&sandbox, "src/unknown.rs", 9_000);
    for path in [&big, &small] {
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
        edited(
            &sandbox,
            if *path == big { 1 } else { 2 },
            path,
            "Change it.",
            "The parser keeps its tables in this file now.",
        );
    }
    sandbox.drain_once();
    let mut session = Session::new(&sandbox, 9);
    // What does not meet every condition passes.
    assert_eq!(denied(&session.read(&small)), None);
    assert_eq!(denied(&session.read(&unknown)), None);
    assert_eq!(
        denied(&session.before(
            "Read",
            json!({"file_path": text(&big), "offset": 1, "limit": 50}),
            json!({})
        )),
        None
    );
    let mut session = Session::new(&sandbox, 10);
    let first = session.read(&big);
    let reason = denied(&first).unwrap_or_else(|| panic!("{first}"));
    assert!(
        reason.contains("keeps its tables in this file") && reason.contains("offset and limit"),
        "{reason}"
    );
    assert!(reason.starts_with("<sinker-memory-"), "known when it comes back: {reason}");
    // Delivered again: the same. Tried again: it passes, also from a prompt later, and the saving is gone.
    session.calls = 0;
    assert_eq!(session.read(&big), first);
    let status = |sandbox: &Sandbox| sandbox.json(&["status"])["gate"].clone();
    assert_eq!(status(&sandbox), json!({"denied": 1, "saved_bytes": 9_000}));
    assert_eq!(denied(&session.read(&big)), None);
    assert_eq!(denied(&session.read(&big)), None);
    assert_eq!(status(&sandbox), json!({"denied": 1, "saved_bytes": 0}));
    // An edit that was tried in this turn needs the file read.
    let mut session = Session::new(&sandbox, 11);
    session.before("Edit", json!({"file_path": text(&big), "old_string": "a", "new_string": "b"}), json!({}));
    assert_eq!(denied(&session.read(&big)), None);
    // In a subagent, and where the file changed since, it passes.
    let mut session = Session::new(&sandbox, 12);
    let within = json!({"agent_id": "a0000000000000001", "agent_type": "Explore"});
    assert_eq!(denied(&session.before("Read", json!({"file_path": text(&big)}), within)), None);
    std::fs::write(&big, "y".repeat(9_000)).unwrap();
    assert_eq!(denied(&session.read(&big)), None);
    // Off by default.
    let plain = Sandbox::unhurried("");
    let big = file(&plain, "src/big.rs", 900_000);
    edited(&plain, 1, &big, "Change it.", "The parser keeps its tables in this file now.");
    plain.drain_once();
    assert_eq!(denied(&Session::new(&plain, 9).read(&big)), None);
}

#[test]
fn where_the_denial_cannot_be_remembered_nothing_is_denied() {
    let sandbox = Sandbox::unhurried("read_gate = true\nread_gate_bytes = 4000\n");
    let big = file(&sandbox, "src/big.rs", 9_000);
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    std::fs::File::options().write(true).open(&big).unwrap().set_modified(old).unwrap();
    edited(&sandbox, 1, &big, "Change it.", "The parser keeps its tables in this file now.");
    sandbox.drain_once();
    std::fs::write(sandbox.at("state/gate"), "gate 2\nof a newer version\n").unwrap();
    assert_eq!(denied(&Session::new(&sandbox, 9).read(&big)), None);
    assert_eq!(std::fs::read_to_string(sandbox.at("state/gate")).unwrap(), "gate 2\nof a newer version\n");
}

#[test]
fn a_look_into_the_hosts_own_memory_is_answered_here_too() {
    let sandbox = Sandbox::unhurried("");
    let mut t = Transcript::new(&sandbox, 1);
    t.prompt("Where is the deploy key of the lighthouse?")
        .says("The deploy key of the lighthouse is in the vault, under beacons.")
        .flush();
    sandbox.drain_once();
    let slug = sandbox.claude().join("projects/-x/memory");
    let asks = [
        ("Read", json!({"file_path": text(&slug.join("lighthouse-deploy-key.md"))})),
        ("Grep", json!({"pattern": "deploy key.*lighthouse", "path": text(&slug)})),
        ("Bash", json!({"command": format!("grep -ri 'lighthouse deploy key' {}/", text(&slug))})),
        ("memory_search", json!({"query": "lighthouse deploy key"})),
    ];
    for (n, (tool, input)) in asks.into_iter().enumerate() {
        let reply = Session::new(&sandbox, 20 + n as u64).before(tool, input, json!({}));
        assert!(context(&reply).contains("in the vault, under beacons"), "{tool}: {reply}");
        assert_eq!(denied(&reply), None);
    }
    for (tool, input) in [
        ("Read", json!({"file_path": text(&slug.join("MEMORY.md"))})),
        ("Read", json!({"file_path": text(&slug.join("sailing-recipes.md"))})),
        ("Bash", json!({"command": format!("ls {}", text(&slug))})),
    ] {
        assert_eq!(Session::new(&sandbox, 30).before(tool, input, json!({})), Value::Null, "{tool}");
    }
}
