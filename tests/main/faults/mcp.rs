//! F75: what a client may send to `sinker mcp`, and what may happen beside it.

use crate::support::{Running, Sandbox, Transcript, eventually};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// No line of an answer takes longer.
const LIMIT: Duration = Duration::from_secs(30);

/// A server whose stdin takes any bytes, and whose stdout must be one JSON object a line.
struct Raw {
    child: Child,
    lines: mpsc::Receiver<String>,
    next: u64,
}

impl Raw {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines, next: 100 }
    }

    fn of(sandbox: &Sandbox) -> Self {
        let mut raw = Self::start(sandbox.command(&["mcp"]));
        raw.introduce();
        raw
    }

    fn send(&mut self, bytes: &[u8]) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    fn receive(&self) -> Value {
        let line = self.lines.recv_timeout(LIMIT).expect("no answer");
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert_eq!(answer["jsonrpc"], "2.0", "{line}");
        answer
    }

    /// Asks, and returns the answer to just this.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string().as_bytes(),
        );
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn introduce(&mut self) {
        let answer = self.ask("initialize", hello());
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        self.send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_owned(), answer["result"]["isError"] == true)
    }

    /// It still answers.
    fn lives(&mut self) {
        assert_eq!(self.ask("tools/list", json!({}))["result"]["tools"].as_array().unwrap().len(), 7);
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn hello() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "host", "version": "2"}})
}

fn error(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("not an error: {answer}"))
}

/// A session about a lantern, stored and searchable.
fn lit(sandbox: &Sandbox) {
    let mut t = Transcript::new(sandbox, 1);
    t.prompt("Which lantern?").says("The green lantern is at the harbour mouth.").flush();
    sandbox.drain_once();
}

#[test]
fn f75_the_hosts_probe_is_answered_before_it_introduces_itself() {
    let sandbox = Sandbox::new();
    let mut raw = Raw::start(sandbox.command(&["mcp"]));
    // As the host sends it, with and without what a later protocol adds.
    for params in [json!({}), json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})] {
        raw.send(json!({"jsonrpc": "2.0", "id": "server-discover-probe-1", "method": "server/discover", "params": params}).to_string().as_bytes());
        let answer = raw.receive();
        assert_eq!(
            (answer["id"].as_str(), error(&answer)),
            (Some("server-discover-probe-1"), -32601),
            "{answer}"
        );
    }
    // Whatever else comes first does not end the talk.
    raw.send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    raw.send(br#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    assert_eq!(error(&raw.ask("tools/list", json!({}))), -32600);
    assert_eq!(error(&raw.ask("initialize", json!({"protocolVersion": 7}))), -32602);
    assert!(raw.ask("ping", json!({}))["result"].is_object());
    raw.introduce();
    raw.lives();
}

#[test]
fn f75_other_protocol_versions_are_brought_to_one_that_we_have() {
    let sandbox = Sandbox::new();
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2026-07-28", "2025-11-25"),
        ("x", "2025-11-25"),
    ] {
        let mut raw = Raw::start(sandbox.command(&["mcp"]));
        let mut params = hello();
        params["protocolVersion"] = json!(asked);
        let answer = raw.ask("initialize", params);
        assert_eq!(answer["result"]["protocolVersion"], given, "{answer}");
        raw.lives();
    }
}

#[test]
fn f75_malformed_lines_and_batches_are_errors_and_cost_nothing_else() {
    let sandbox = Sandbox::new();
    let mut raw = Raw::of(&sandbox);
    let deep = "[".repeat(200_000);
    let cases: &[(&[u8], i64)] = &[
        (b"{", -32700),
        (b"not json", -32700),
        (b"\xff\xfe\x00", -32700),
        (deep.as_bytes(), -32700),
        (b"[]", -32600),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#, -32600),
        (br#""text""#, -32600),
        (br#"{"id":1,"method":"tools/list"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}"#, -32602),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}"#, -32602),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_search","arguments":"x"}}"#, -32602),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}"#, -32602),
    ];
    for (line, code) in cases {
        raw.send(line);
        let answer = raw.receive();
        assert_eq!(error(&answer), *code, "{answer}");
        raw.lives();
    }
    // A line in pieces, carriage returns and empty lines are no mistake.
    let stdin = raw.child.stdin.as_mut().unwrap();
    for piece in ["\r\n\n", r#"{"jsonrpc":"2.0","#, r#""id":9,"method":"ping"}"#, "\r\n"] {
        stdin.write_all(piece.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }
    assert_eq!(raw.receive()["id"], 9);
}

#[test]
fn f75_an_unknown_method_is_answered_with_its_id() {
    let sandbox = Sandbox::new();
    let mut raw = Raw::of(&sandbox);
    for method in [
        "resources/list",
        "prompts/list",
        "completion/complete",
        "logging/setLevel",
        "tasks/get",
        "",
        "no/such",
    ] {
        assert_eq!(error(&raw.ask(method, json!({}))), -32601, "{method}");
    }
    raw.send(br#"{"jsonrpc":"2.0","method":"notifications/nobody_knows","params":{}}"#);
    raw.send(
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4711,"reason":"x"}}"#,
    );
    raw.lives();
}

#[cfg(target_os = "linux")]
#[test]
fn f75_a_line_of_a_hundred_megabytes_takes_no_memory() {
    let sandbox = Sandbox::new();
    let mut raw = Raw::of(&sandbox);
    let anon_kib = |pid: u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = text.lines().find(|l| l.starts_with("RssAnon:")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let pid = raw.child.id();
    let part = vec![b'x'; 1024 * 1024];
    let mut most = 0;
    for _ in 0..100 {
        raw.child.stdin.as_mut().unwrap().write_all(&part).unwrap();
        most = std::cmp::max(most, anon_kib(pid));
    }
    raw.send(b"");
    assert_eq!(error(&raw.receive()), -32600);
    assert!(most < 16 * 1024, "{most} KiB");
    raw.lives();
}

#[test]
fn f75_huge_and_negative_numbers_are_bounded_or_refused() {
    let sandbox = Sandbox::new();
    lit(&sandbox);
    let mut raw = Raw::of(&sandbox);
    for limit in [json!(50), json!(1_000_000_000_000_u64), json!(u64::MAX), json!(1e308)] {
        let (text, failed) = raw.call("memory_search", json!({"query": "lantern", "limit": limit}));
        assert!(!failed && text.contains("green lantern"), "{limit}: {text}");
    }
    for limit in [json!(-1), json!(i64::MIN), json!(0), json!(0.5), json!("9"), json!({})] {
        let (text, failed) = raw.call("memory_search", json!({"query": "lantern", "limit": limit}));
        assert!(failed && text.contains("arguments"), "{limit}: {text}");
        assert!(raw.call("memory_timeline", json!({"limit": limit})).1);
    }
    assert!(raw.call("memory_get", json!({"ids": ["x"], "offset": -1})).1);
    let (text, failed) = raw.call("memory_search", json!({"query": "lantern ".repeat(100_000)}));
    assert!(!failed && text.contains("green lantern"), "{text}");
    raw.lives();
}

#[test]
fn f75_the_server_ends_with_its_client() {
    let sandbox = Sandbox::new();
    lit(&sandbox);
    // Input that ends: at once, before and after the introduction, and with a question still open, which is answered.
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()});
    let question = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "memory_search", "arguments": {"query": "lantern"}}});
    for (input, answers) in [
        (String::new(), 0),
        ("{".to_owned(), 1),
        (format!("{hello}\n"), 1),
        (format!("{hello}\n{question}\n"), 2),
        (format!("{hello}\n{question}"), 2),
    ] {
        let out = sandbox.sinker_with(&["mcp"], input.as_bytes(), &[]);
        assert_eq!(out.code, Some(0), "{input}: {out}");
        assert_eq!(out.stdout.lines().count(), answers, "{input}: {out}");
        assert_eq!(out.stderr, "", "{out}");
    }
    // Nobody reads the answers any more.
    let mut raw = Raw::of(&sandbox);
    raw.child.kill().unwrap();
    let mut command = sandbox.command(&["mcp"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{hello}").unwrap();
    eventually("it ends though stdin is open", || child.try_wait().unwrap().is_some());
    drop(stdin);
}

#[test]
fn f75_before_there_is_an_index_the_answer_says_so() {
    let sandbox = Sandbox::new();
    let mut raw = Raw::of(&sandbox);
    for tool in ["memory_search", "memory_timeline", "memory_get", "memory_status"] {
        let (text, failed) = raw.call(tool, json!({"query": "x", "ids": ["o-1"]}));
        assert!(failed && text.contains("nothing is remembered"), "{tool}: {text}");
    }
    // The index is gone, the store is not: what does not need it goes on.
    lit(&sandbox);
    let found = sandbox.json(&["search", "lantern"]);
    std::fs::remove_dir_all(sandbox.at("index")).unwrap();
    let (text, failed) = raw.call("memory_search", json!({"query": "lantern"}));
    assert!(failed && text.contains("being built"), "{text}");
    let (text, failed) = raw.call("memory_status", json!({}));
    assert!(!failed && text.contains("BEHIND") && text.contains("none yet"), "{text}");
    let (text, failed) = raw.call("memory_get", json!({"ids": [found["hits"][0]["id"]]}));
    assert!(!failed && text.contains("lantern"), "{text}");
}

#[test]
fn f75_damage_is_told_and_noted_for_the_drainer() {
    let sandbox = Sandbox::new();
    lit(&sandbox);
    let mut raw = Raw::of(&sandbox);
    assert!(!raw.call("memory_search", json!({"query": "lantern"})).1);
    for entry in walkdir::WalkDir::new(sandbox.at("index")) {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy();
        if entry.file_type().is_file() && name != "current" && name != "meta.json" {
            std::fs::write(entry.path(), b"").unwrap();
        }
    }
    let (text, failed) = raw.call("memory_search", json!({"query": "lantern"}));
    assert!(failed && text.contains("damaged"), "{text}");
    assert!(sandbox.at("state/suspect-index").exists());
    std::fs::write(sandbox.at("store.db"), vec![7_u8; 65_536]).unwrap();
    let (text, failed) = raw.call("memory_get", json!({"ids": ["o-123456"]}));
    assert!(failed && text.contains("store is damaged"), "{text}");
    assert!(sandbox.at("state/suspect-store").exists());
    raw.lives();
}

#[cfg(feature = "failpoints")]
#[test]
fn f75_a_tool_that_panics_or_hangs_costs_its_own_answer_only() {
    let sandbox = Sandbox::new();
    lit(&sandbox);
    for (how, word) in [("panic", "internal error"), ("spin", "no answer within")] {
        let mut command = sandbox.command(&["mcp"]);
        command.env("STEP_POISON", format!("mcp::call={how}=venom"));
        let mut raw = Raw::start(command);
        raw.introduce();
        let (text, failed) = raw.call("memory_search", json!({"query": "venom"}));
        assert!(failed && text.contains(word), "{how}: {text}");
        assert!(text.starts_with("<sinker-memory-"), "it is known when it comes back: {text}");
        assert!(raw.call("memory_search", json!({"query": "lantern"})).0.contains("green lantern"));
        raw.lives();
        // What hangs does not hold the process.
        drop(raw.child.stdin.take());
        eventually("it ends", || raw.child.try_wait().unwrap().is_some());
    }
    // The words of a panic, which may quote what was asked, are not in the log.
    assert!(sandbox.log().contains("A tool panicked") && !sandbox.log().contains("venom"));
}

#[test]
fn f75_a_store_that_is_locked_for_good_holds_up_no_answer() {
    let sandbox = Sandbox::new();
    lit(&sandbox);
    let found = sandbox.json(&["search", "lantern"]);
    let id = found["hits"][0]["id"].clone();
    let lock = rusqlite::Connection::open(sandbox.at("store.db")).unwrap();
    lock.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE held (a);").unwrap();
    let mut raw = Raw::of(&sandbox);
    // Search does not look into the store at all.
    assert!(raw.call("memory_search", json!({"query": "lantern"})).0.contains("green lantern"));
    let (text, _) = raw.call("memory_get", json!({"ids": [id]}));
    assert!(text.contains("lantern") || text.contains("ask again"), "{text}");
    drop(lock);
    assert!(raw.call("memory_get", json!({"ids": [id]})).0.contains("lantern"));
}

#[test]
fn f75_many_questions_at_once_are_all_answered() {
    let sandbox = Sandbox::new();
    lit(&sandbox);
    let mut raw = Raw::of(&sandbox);
    for id in 0..200 {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "memory_search", "arguments": {"query": "lantern"}}});
        raw.send(call.to_string().as_bytes());
    }
    let mut ids: Vec<u64> = (0..200).map(|_| raw.receive()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..200).collect::<Vec<_>>());
    drop(Running::start(sandbox.command(&["mcp"])));
}
