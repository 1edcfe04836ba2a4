//! Capture: one complete pointer file an event, nothing on stdout, whatever comes in on stdin (D1, D2, D9).

use crate::support::{Fixture, Out, Running, Sandbox, Transcript, aim, eventually, fifo, fixtures, payload};
use serde_json::{Value, json};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

/// The capturing events of the design, section 7.
pub const CAPTURING: [&str; 11] = [
    "session-start",
    "user-prompt-submit",
    "post-tool-use",
    "post-tool-use-failure",
    "post-tool-batch",
    "subagent-stop",
    "pre-compact",
    "post-compact",
    "stop",
    "stop-failure",
    "session-end",
];

/// Events that recall or check, but leave no pointer.
const SPOOLING_NOTHING: [&str; 4] = ["user-prompt-expansion", "pre-tool-use", "subagent-start", "setup"];

fn world() -> (Sandbox, Transcript) {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript.prompt("Where is the berth list paged?").says("In harbor/berths.py.").flush();
    (sandbox, transcript)
}

/// The name that D2 gives an event.
fn expected_name(transcript: &Transcript, event: &str, payload: &Value) -> String {
    let tail = payload["tool_use_id"].as_str().or(payload["agent_id"].as_str());
    let tail = tail.map(|t| format!(".{t}")).unwrap_or_default();
    format!("{}.{:016x}.{event}{tail}.json", transcript.session, transcript.size())
}

/// Every text of a payload that is content: what was asked, called, answered or said.
fn contents(payload: &Value) -> Vec<String> {
    fn walk(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::String(text) if text.len() > 8 => into.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|v| walk(v, into)),
            Value::Object(map) => map.values().for_each(|v| walk(v, into)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    let fields = [
        "prompt",
        "tool_input",
        "tool_response",
        "tool_calls",
        "last_assistant_message",
        "compact_summary",
        "custom_instructions",
    ];
    for field in fields {
        walk(&payload[field], &mut found);
    }
    if payload["hook_event_name"] == "PostToolUseFailure" {
        walk(&payload["error"], &mut found);
    }
    found
}

#[test]
fn every_capturing_event_leaves_one_complete_pointer_and_says_nothing() {
    let (first, transcript) = world();
    let mut seen = std::collections::BTreeSet::new();
    for Fixture { name, event, mut payload } in fixtures() {
        if !CAPTURING.contains(&event.as_str()) {
            continue;
        }
        seen.insert(event.clone());
        let sandbox = first.sibling();
        aim(&mut payload, &sandbox, &transcript);
        sandbox.hook(&event, &payload).assert_silent(&name);
        assert_eq!(sandbox.spool("new"), [expected_name(&transcript, &event, &payload)], "{name}");
        assert!(sandbox.spool("tmp").is_empty() && sandbox.spool("odd").is_empty(), "{name}");
        let entry = sandbox.entry();
        for (field, expected) in [
            ("v", json!(1)),
            ("host", json!("claude")),
            ("event", json!(event)),
            ("session", payload["session_id"].clone()),
            ("transcript", payload["transcript_path"].clone()),
            ("cursor", json!(transcript.size())),
            ("cwd", payload["cwd"].clone()),
            ("project_dir", json!(sandbox.project())),
        ] {
            assert_eq!(entry[field], expected, "{name}: {field}: {entry}");
        }
        let text = entry.to_string();
        for content in contents(&payload) {
            let quoted = Value::String(content).to_string();
            assert!(!text.contains(quoted.trim_matches('"')), "{name}: content in the pointer: {entry}");
        }
        let path = sandbox.at("spool/new").join(&sandbox.spool("new")[0]);
        let mode = |p| std::fs::metadata(p).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(path), 0o600, "{name}");
        assert_eq!(mode(sandbox.at("spool/new")), 0o700, "{name}");
        assert!(!sandbox.at("store.db").exists() && !sandbox.at("index").exists(), "{name}: a database");
    }
    assert_eq!(seen.len(), CAPTURING.len(), "an event without a sample: {seen:?}");
}

#[test]
fn the_pointer_holds_what_tells_events_apart() {
    let (first, transcript) = world();
    let cases = [
        ("PostToolUse.in-subagent", "agent", json!({"id": "a3b9c2d1e0f48576", "kind": "Explore"})),
        ("PostToolUse.Edit", "tool", json!("Edit")),
        ("PostToolUse.Edit", "tool_use", json!("toolu_h03")),
        ("Stop", "prompt", json!("8a51c7e4-20d3-4b6f-a1c9-5d7e9f0b2002")),
        ("Stop.stop_hook_active", "stop_hook_active", json!(true)),
        ("SessionEnd.clear", "reason", json!("clear")),
        ("PreCompact.auto", "reason", json!("auto")),
        ("SessionStart.compact", "reason", json!("compact")),
        ("StopFailure.rate_limit", "reason", json!("rate_limit")),
    ];
    for (name, field, expected) in cases {
        let sandbox = first.sibling();
        let payload = payload(name, &sandbox, &transcript);
        let sample = fixtures().into_iter().find(|f| f.name == name).unwrap();
        sandbox.hook(&sample.event, &payload).assert_silent(name);
        assert_eq!(sandbox.entry()[field], expected, "{name}: {field}");
    }
    let sandbox = first.sibling();
    let stop = payload("SubagentStop", &sandbox, &transcript);
    sandbox.hook("subagent-stop", &stop).assert_silent("SubagentStop");
    assert_eq!(sandbox.entry()["agent"]["transcript"], stop["agent_transcript_path"]);
}

#[test]
fn events_that_only_recall_and_events_unknown_leave_no_pointer() {
    let (sandbox, transcript) = world();
    for Fixture { name, event, mut payload } in fixtures() {
        if CAPTURING.contains(&event.as_str()) {
            continue;
        }
        let known = SPOOLING_NOTHING.contains(&event.as_str());
        aim(&mut payload, &sandbox, &transcript);
        let out = sandbox.hook(&event, &payload);
        assert_eq!(out.code, Some(0), "{name}: {out}");
        assert!(known || out.stdout.is_empty(), "{name}: {out}");
        assert!(sandbox.spool("new").is_empty(), "{name}: {:?}", sandbox.spool("new"));
    }
}

#[test]
fn a_redelivery_is_the_same_file_and_one_at_another_size_is_another() {
    let (sandbox, mut transcript) = world();
    let stop = payload("Stop", &sandbox, &transcript);
    for _ in 0..3 {
        sandbox.hook("stop", &stop).assert_silent("stop");
    }
    assert_eq!(sandbox.spool("new").len(), 1);
    transcript.says("One more thing.").flush();
    sandbox.hook("stop", &stop).assert_silent("stop");
    assert_eq!(sandbox.spool("new").len(), 2);
}

#[test]
fn a_transcript_that_does_not_exist_yet_has_cursor_zero() {
    let sandbox = Sandbox::new();
    let transcript = Transcript::new(&sandbox, 2);
    let start = payload("SessionStart.startup", &sandbox, &transcript);
    sandbox.hook("session-start", &start).assert_silent("session-start");
    assert_eq!(sandbox.spool("new"), [format!("{}.0000000000000000.session-start.json", transcript.session)]);
    assert_eq!(sandbox.entry()["cursor"], 0);
}

/// F02, F03.
#[test]
fn f03_input_that_is_no_payload_is_silent_logged_and_leaves_nothing() {
    let (first, transcript) = world();
    let good = payload("Stop", &first, &transcript).to_string();
    let nested = vec![b'['; 1_000_000];
    let cases: [(&str, &[u8]); 11] = [
        ("empty", b""),
        ("blank", b" \n\n"),
        ("prose", b"hello\n"),
        ("array", b"[]"),
        ("string", b"\"x\""),
        ("null", b"null"),
        ("cut", &good.as_bytes()[..good.len() / 2]),
        ("NUL", b"\0\0\0\0"),
        ("byte order mark alone", b"\xef\xbb\xbf"),
        ("bytes", b"\xff\xfe\x00{\"a\":1}"),
        ("a million arrays", &nested),
    ];
    for (case, stdin) in cases {
        let sandbox = first.sibling();
        sandbox.hook_raw("stop", stdin).assert_silent(case);
        assert!(sandbox.spool("new").is_empty() && sandbox.spool("tmp").is_empty(), "{case}");
        assert_eq!(sandbox.log().lines().count(), 1, "{case}: {}", sandbox.log());
    }
}

/// F04.
#[test]
fn f04_missing_and_wrong_fields_cost_only_themselves() {
    let (first, transcript) = world();
    let good = payload("PostToolUse.Bash", &first, &transcript);
    let set = |field: &str, value: Value| {
        let mut payload = good.clone();
        payload[field] = value;
        payload
    };
    let without = |field: &str| {
        let mut payload = good.clone();
        payload.as_object_mut().unwrap().remove(field);
        payload
    };
    let cases = [
        ("unknown field", set("tide", json!({"height": [1, 2, {"a": null}]})), true),
        ("no cwd", without("cwd"), true),
        ("cwd of a wrong type", set("cwd", json!(7)), true),
        ("no prompt id", without("prompt_id"), true),
        ("no tool name", without("tool_name"), true),
        ("tool input of a wrong type", set("tool_input", json!("ls")), true),
        ("agent id of a wrong type", set("agent_id", json!([])), true),
        ("no session", without("session_id"), false),
        ("session of a wrong type", set("session_id", json!(5)), false),
        ("no transcript", without("transcript_path"), false),
        ("transcript of a wrong type", set("transcript_path", json!({})), false),
        ("empty object", json!({}), false),
    ];
    for (case, payload, spooled) in cases {
        let sandbox = first.sibling();
        sandbox.hook("post-tool-use", &payload).assert_silent(case);
        assert_eq!(sandbox.spool("new").len(), usize::from(spooled), "{case}: {}", sandbox.log());
        assert_eq!(sandbox.log().is_empty(), spooled, "{case}: {}", sandbox.log());
    }
}

/// F12.
#[test]
fn f12_paths_that_cannot_be_a_transcript_are_refused_without_being_opened() {
    let (first, transcript) = world();
    let place = |name: &str| first.root().join(name).to_str().unwrap().to_owned();
    fifo(std::path::Path::new(&place("fifo.jsonl")));
    std::fs::create_dir(place("folder.jsonl")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", place("link.jsonl")).unwrap();
    let up = format!("{}/../{}.jsonl", transcript.path.parent().unwrap().display(), transcript.session);
    let cases = [
        ("relative", "projects/a.jsonl".to_owned()),
        ("dots", up),
        ("fifo", place("fifo.jsonl")),
        ("device", "/dev/zero".to_owned()),
        ("folder", place("folder.jsonl")),
        ("link", place("link.jsonl")),
        ("empty", String::new()),
        ("NUL", "/tmp/a\0b.jsonl".to_owned()),
    ];
    for (case, path) in cases {
        let sandbox = first.sibling();
        let mut stop = payload("Stop", &sandbox, &transcript);
        stop["transcript_path"] = path.into();
        let begun = Instant::now();
        sandbox.hook("stop", &stop).assert_silent(case);
        assert!(begun.elapsed() < Duration::from_secs(10), "{case}: it hung");
        assert!(sandbox.spool("new").is_empty(), "{case}");
        assert_eq!(sandbox.log().lines().count(), 1, "{case}: {}", sandbox.log());
    }
}

/// F13.
#[test]
fn f13_no_session_id_can_name_a_path_and_each_still_drains() {
    let long = "s".repeat(4096);
    let ids = ["../../../etc/passwd", "a/b", "a\nb", "a.b", ".", "..", "_cmd", "日本", "a b", &long];
    for id in ids {
        let (sandbox, transcript) = world();
        let mut stop = payload("Stop", &sandbox, &transcript);
        stop["session_id"] = id.into();
        sandbox.hook("stop", &stop).assert_silent(id);
        let name = sandbox.spool("new").pop().unwrap_or_else(|| panic!("{id:?} left no pointer"));
        let hash = sha256_hex(id.as_bytes());
        let expected = format!("_{}.{:016x}.stop.json", &hash[..40], transcript.size());
        assert_eq!(name, expected, "{id:?}");
        assert_eq!(sandbox.entry()["session"], id, "the host's id is kept as it is");
        sandbox.drain_once();
        assert_eq!((sandbox.spool("new").len(), sandbox.spool("odd").len()), (0, 0), "{id:?}");
        assert_eq!(sandbox.json(&["status"])["store"]["observations"], 2, "{id:?}");
    }
}

fn sha256_hex(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

fn start_hook(sandbox: &Sandbox, event: &str) -> Running {
    let mut command = sandbox.command(&["hook", "claude", event]);
    command.env("CLAUDE_PROJECT_DIR", sandbox.project());
    Running::start(command)
}

/// F02.
#[test]
fn f02_a_stdin_that_never_closes_does_not_hold_the_hook() {
    let (sandbox, transcript) = world();
    let mut silent = start_hook(&sandbox, "stop");
    let mut half = start_hook(&sandbox, "stop");
    half.stdin.as_mut().unwrap().write_all(b"{\"session_id\":\"abc\",\"transcript").unwrap();
    for (case, hook) in [("nothing", &mut silent), ("half", &mut half)] {
        // The hook's own deadline is half a second; the rest is for a busy machine.
        assert!(hook.ends_within(Duration::from_secs(8)), "{case}: still running");
    }
    for (case, hook) in [("nothing", silent), ("half", half)] {
        hook.finish(Duration::from_secs(5)).assert_silent(case);
    }
    assert!(sandbox.spool("new").is_empty());

    // A whole payload on an open pipe is enough.
    let mut open = start_hook(&sandbox, "stop");
    let text = format!("{}\n", payload("Stop", &sandbox, &transcript));
    open.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(open.ends_within(Duration::from_secs(8)), "a whole payload: still running");
    open.finish(Duration::from_secs(5)).assert_silent("a whole payload");
    assert_eq!(sandbox.spool("new").len(), 1);
}

/// F05. Linux only: the peak of memory is read from /proc.
#[cfg(target_os = "linux")]
#[test]
fn f05_a_payload_of_200_mb_costs_little_memory() {
    let (sandbox, transcript) = world();
    let mut event = payload("PostToolUse.Read", &sandbox, &transcript);
    event.as_object_mut().unwrap().remove("tool_response");
    let text = event.to_string();
    let head = format!("{},\"tool_response\":{{\"content\":\"", text.strip_suffix('}').unwrap());
    let mut hook = start_hook(&sandbox, "post-tool-use");
    let status = format!("/proc/{}/status", hook.pid());
    let mut stdin = hook.stdin.take().unwrap();
    stdin.write_all(head.as_bytes()).unwrap();
    let block = vec![b'x'; 1 << 20];
    let mut peak_kb = 0;
    for _ in 0..200 {
        // A hook that has seen enough, or whose time is up, closes the pipe: that is its right.
        if stdin.write_all(&block).is_err() {
            break;
        }
        let now = std::fs::read_to_string(&status).unwrap_or_default();
        let line = now.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or_default().to_owned();
        let kb: u64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
        peak_kb = peak_kb.max(kb);
    }
    stdin.write_all(b"\"}}\n").ok();
    drop(stdin);
    hook.finish(Duration::from_secs(20)).assert_silent("200 MB");
    assert!(peak_kb > 0 && peak_kb < 64 * 1024, "peak {peak_kb} KiB");
    // It knew who it was before the big field came.
    assert_eq!(sandbox.spool("new"), [expected_name(&transcript, "post-tool-use", &event)]);
}

/// F06, F07, in a way that holds for root, too: the folder is a file.
#[test]
fn f06_a_spool_that_cannot_be_written_is_logged_and_fails_only_under_strict() {
    let (sandbox, transcript) = world();
    std::fs::write(sandbox.at("spool"), "in the way").unwrap();
    let stop = payload("Stop", &sandbox, &transcript);
    sandbox.hook("stop", &stop).assert_silent("spool is a file");
    let log = sandbox.log();
    assert!(log.contains("spool"), "the log names the path: {log}");
    let text = format!("{stop}\n");
    let strict =
        |stdin: &str| sandbox.sinker_with(&["hook", "claude", "stop", "--strict"], stdin.as_bytes(), &[]);
    let out = strict(&text);
    assert_eq!((out.code, out.stdout.as_str()), (Some(1), ""), "{out}");
    // What was not understood is no failure of ours.
    strict("not json").assert_silent("strict, not json");
}

#[test]
fn f07_a_hook_without_any_home_says_one_line_and_succeeds() {
    let (sandbox, transcript) = world();
    let mut command = sandbox.command(&["hook", "claude", "stop"]);
    command.env_remove("HOME").env_remove("SINKER_HOME");
    let mut hook = Running::start(command);
    let text = format!("{}\n", payload("Stop", &sandbox, &transcript));
    hook.stdin.take().unwrap().write_all(text.as_bytes()).ok();
    let out = hook.finish(Duration::from_secs(20));
    out.assert_silent("no home");
    assert!(out.stderr.lines().count() <= 1, "{out}");
}

/// F14, F01: whatever moment the host ends the hook at, `new/` holds a whole pointer or none.
#[test]
fn f14_a_hook_ended_by_the_host_leaves_a_whole_pointer_or_none() {
    let (sandbox, transcript) = world();
    let text = format!("{}\n", payload("Stop", &sandbox, &transcript));
    for n in 0..20_u64 {
        let mut hook = start_hook(&sandbox, "stop");
        hook.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
        std::thread::park_timeout(Duration::from_micros(n * 200));
        let signal = if n % 2 == 0 { rustix::process::Signal::KILL } else { rustix::process::Signal::TERM };
        hook.signal(signal);
        let out: Out = hook.finish(Duration::from_secs(20));
        assert_eq!(out.stdout, "");
        for name in sandbox.spool("new") {
            let bytes = std::fs::read(sandbox.at("spool/new").join(&name)).unwrap();
            serde_json::from_slice::<Value>(&bytes).unwrap_or_else(|e| panic!("{name} is torn: {e}"));
        }
    }
}

/// Design, section 6: the first hook starts a drainer, the lock decides who stays. Linux only: processes are found in /proc.
#[cfg(target_os = "linux")]
#[test]
fn hooks_that_find_no_drainer_start_one_in_a_storm() {
    struct Cleanup<'a>(&'a Sandbox);
    impl Drop for Cleanup<'_> {
        fn drop(&mut self) {
            for pid in drainers(self.0) {
                let pid = rustix::process::Pid::from_raw(pid).unwrap();
                rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
            }
        }
    }
    let (sandbox, transcript) = world();
    let cleanup = Cleanup(&sandbox);
    let stop = format!("{}\n", payload("Stop", &sandbox, &transcript));
    let mut hooks: Vec<Running> = (0..8)
        .map(|_| {
            let mut command = sandbox.command(&["hook", "claude", "stop"]);
            command.env_remove("SINKER_AUTOSTART").env("CLAUDE_CODE_SECRET_TOKEN", "must-not-be-inherited");
            Running::start(command)
        })
        .collect();
    for hook in &mut hooks {
        hook.stdin.take().unwrap().write_all(stop.as_bytes()).unwrap();
    }
    for hook in hooks {
        hook.finish(Duration::from_secs(20)).assert_silent("stop");
    }
    eventually("the drainer stores the session", || {
        let out = sandbox.sinker(&["status", "--json"]);
        serde_json::from_str::<Value>(&out.stdout).is_ok_and(|s| s["store"]["observations"] == 2)
    });
    eventually("one drainer stays", || drainers(&sandbox).len() == 1);
    let pid = drainers(&sandbox)[0];
    let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let environ = String::from_utf8_lossy(&environ);
    assert!(!environ.contains("must-not-be-inherited"), "the host's environment reached the drainer");
    assert_eq!(std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap().to_str(), Some("/"));
    drop(cleanup);
}

/// The processes whose `SINKER_HOME` is this sandbox's and that were started as a drainer.
#[cfg(target_os = "linux")]
fn drainers(sandbox: &Sandbox) -> Vec<i32> {
    let home = format!("SINKER_HOME={}\0", sandbox.home().display());
    let processes =
        std::fs::read_dir("/proc").unwrap().filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok());
    processes
        .filter(|pid: &i32| {
            let read = |what: &str| std::fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
            let args = read("cmdline");
            String::from_utf8_lossy(&read("environ")).contains(&home)
                && args.split(|b| *b == 0).nth(1) == Some(b"drain")
        })
        .collect()
}

#[test]
fn f14_a_disk_that_does_not_answer_does_not_hold_the_hook() {
    let (sandbox, transcript) = world();
    let payload = payload("Stop", &sandbox, &transcript).to_string();
    sandbox.hook_raw("stop", payload.as_bytes());
    // Each durable step of the hook in turn takes ten seconds.
    for step in 1..=4 {
        let mut command = sandbox.command(&["hook", "claude", "stop"]);
        command.env("STEP_STALL", step.to_string());
        let mut running = Running::start(command);
        running.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
        assert!(running.ends_within(Duration::from_secs(6)), "stuck at step {step}");
        running.finish(Duration::from_secs(6)).assert_silent("stalled");
    }
}
