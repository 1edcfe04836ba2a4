//! Faults of the capture hook, F01 to F16, and of its stdout, F57. More of them, by the same numbers, are in `hook.rs`, `spool.rs`,
//! `order.rs` and `crash.rs` beside this folder.

use crate::support::{Fixture, Sandbox, Transcript, aim, fifo, fixtures, is_root, payload, shell, to_end};
use serde_json::{Value, json};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn world() -> (Sandbox, Transcript) {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript.prompt("Who keeps the lock gate?").says("The lock keeper, from six to ten.").flush();
    (sandbox, transcript)
}

/// A home that holds the shipped sessions, so that recall has something to say.
fn remembering() -> (Sandbox, Value) {
    let sandbox = Sandbox::new();
    let demo = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("spool-fixtures/demo");
    sandbox.import(&[&demo.join("projects")]);
    let prompts = std::fs::read_to_string(demo.join("prompts.json")).unwrap();
    let folder = sandbox.claude().join("projects");
    (sandbox, serde_json::from_str(&prompts.replace("{{transcripts}}", folder.to_str().unwrap())).unwrap())
}

/// The hook in the project of the shipped sessions.
fn hook_in_demo(sandbox: &Sandbox, prompts: &Value, event: &str) -> Command {
    let mut command = sandbox.command(&["hook", "claude", event]);
    command.env("CLAUDE_PROJECT_DIR", prompts["project_dir"].as_str().unwrap());
    command
}

/// Whole pointers in `new/`, nothing half written anywhere.
fn no_torn_pointer(sandbox: &Sandbox, case: &str) {
    for name in sandbox.spool("new") {
        let bytes = std::fs::read(sandbox.at("spool/new").join(&name)).unwrap();
        serde_json::from_slice::<Value>(&bytes).unwrap_or_else(|e| panic!("{case}: {name} is torn: {e}"));
    }
}

/// F04: every payload of the host, with all that is not needed missing, of a wrong type, or new.
#[test]
fn f04_every_payload_without_its_optional_fields_still_leaves_its_pointer() {
    let (first, transcript) = world();
    for Fixture { name, event, mut payload } in fixtures() {
        if !crate::hook::CAPTURING.contains(&event.as_str()) {
            continue;
        }
        aim(&mut payload, &first, &transcript);
        let needed = ["session_id", "transcript_path"];
        let keys: Vec<String> = payload.as_object().unwrap().keys().cloned().collect();
        let optional: Vec<&String> = keys.iter().filter(|k| !needed.contains(&k.as_str())).collect();
        let change = |with: &dyn Fn(&Value) -> Option<Value>| {
            let mut changed = payload.clone();
            for key in &optional {
                match with(&payload[key.as_str()]) {
                    Some(value) => changed[key.as_str()] = value,
                    None => drop(changed.as_object_mut().unwrap().remove(key.as_str())),
                }
            }
            changed["tide"] = json!({"table": [1, {"a": "\"}"}]});
            changed
        };
        let wrong = |value: &Value| Some(if value.is_string() { json!([{"a": 1}]) } else { json!("x\\\"}") });
        let cases = [
            ("missing", change(&|_| None)),
            ("wrong", change(&wrong)),
            ("null", change(&|_| Some(Value::Null))),
        ];
        for (case, changed) in cases {
            let sandbox = first.sibling();
            sandbox.hook(&event, &changed).assert_silent(&name);
            assert_eq!(sandbox.spool("new").len(), 1, "{name}, {case}: {}", sandbox.log());
            assert_eq!(sandbox.entry()["cursor"], transcript.size(), "{name}, {case}");
        }
    }
}

#[test]
fn f04_an_unknown_event_is_logged_and_leaves_nothing() {
    let (sandbox, transcript) = world();
    sandbox.hook("low-tide", &payload("Stop", &sandbox, &transcript)).assert_silent("low-tide");
    assert!(sandbox.spool("new").is_empty());
    assert!(sandbox.log().contains("low-tide"), "{}", sandbox.log());
}

/// F06, F08: each durable step of the hook in turn is refused by the system.
#[cfg(feature = "failpoints")]
#[test]
fn f06_f08_a_refused_step_costs_the_pointer_and_one_line_of_the_log() {
    let (first, transcript) = world();
    for (event, sample) in [("stop", "Stop"), ("post-tool-use", "PostToolUse.Bash")] {
        let stdin = format!("{}\n", payload(sample, &first, &transcript));
        for error in ["ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "EIO", "EROFS"] {
            for (n, more) in (1..10).flat_map(|n| [(n, ""), (n, "+")]) {
                let sandbox = first.sibling();
                sandbox.hook(event, &payload(sample, &sandbox, &transcript)).assert_silent("the folders");
                std::fs::remove_dir_all(sandbox.at("spool/new")).unwrap();
                std::fs::create_dir(sandbox.at("spool/new")).unwrap();
                let case = format!("{event} {error} at {n}{more}");
                let fail = format!("{n}{more}:{error}");
                let args = ["hook", "claude", event];
                let out = sandbox.sinker_with(&args, stdin.as_bytes(), &[("STEP_FAIL", &fail)]);
                out.assert_silent(&case);
                assert_eq!(out.stderr, "", "{case}: the log can be written");
                assert!(sandbox.spool("tmp").is_empty(), "{case}: {:?}", sandbox.spool("tmp"));
                no_torn_pointer(&sandbox, &case);
                let log = sandbox.log();
                if log.is_empty() {
                    // Fewer steps than n: nothing was refused.
                    assert_eq!(sandbox.spool("new").len(), 1, "{case}");
                    assert!(n > 2, "{case}: the hook has steps");
                    continue;
                }
                assert_eq!(log.lines().count(), 1, "{case}: {log}");
                assert!(log.contains("spool/") && log.contains("check"), "{case}: path and remedy: {log}");
            }
            let sandbox = first.sibling();
            let args = ["hook", "claude", event];
            sandbox.sinker_with(&args, stdin.as_bytes(), &[("STEP_FAIL", &format!("1+:{error}"))]);
            sandbox.drain_once();
            assert_eq!(sandbox.json(&["status"])["store"]["observations"], 2, "{error}: the sweep finds it");
        }
    }
}

/// F06: a disk that is really full.
#[test]
fn f06_a_full_disk_leaves_nothing_half_and_the_sweep_recovers() {
    let (sandbox, transcript) = world();
    let stdin = sandbox.root().join("stop.json");
    std::fs::write(&stdin, format!("{}\n", payload("Stop", &sandbox, &transcript))).unwrap();
    let script = r#"
        secret=$(cat "$SINKER_HOME/secret")
        mount -t tmpfs -o size=256k,mode=700 tmpfs "$SINKER_HOME"
        (umask 077; echo "$secret" > "$SINKER_HOME/secret")
        "$SINKER" hook claude stop < "$STDIN"
        rm -rf "$SINKER_HOME"/spool/new/* "$SINKER_HOME/log"
        dd if=/dev/zero of="$SINKER_HOME/filler" bs=4096 2>/dev/null || true
        code=0; said=$("$SINKER" hook claude stop < "$STDIN" 2> "$SAID") || code=$?
        echo "code $code, said '$said', left $(ls -A "$SINKER_HOME/spool/new" "$SINKER_HOME/spool/tmp" | grep -c json)" || true
        rm "$SINKER_HOME/filler"
        mount -o remount,size=64m "$SINKER_HOME"
        "$SINKER" drain --once --json
    "#;
    if !is_root() {
        return;
    }
    let Some(mut command) = shell(&sandbox, &["unshare", "-m"], script) else { return };
    let said = sandbox.root().join("said");
    command.env("STDIN", &stdin).env("SAID", &said);
    let out = to_end(command, b"");
    let lines: Vec<&str> = out.stdout.lines().collect();
    assert_eq!(lines[0], "code 0, said '', left 0", "{out}");
    let said = std::fs::read_to_string(said).unwrap();
    assert_eq!(said.lines().count(), 1, "the log is full, too: {said}");
    assert!(said.contains("spool/tmp") && said.contains("No space left") && said.contains("check"), "{said}");
    let account: Value = serde_json::from_str(lines[1]).unwrap();
    assert_eq!((&account["observations"], &account["odd"]), (&json!(2), &json!(0)), "{out}");
}

/// F07: one line that names the path and the remedy, and no second one about the drainer that cannot be started either.
#[test]
fn f07_a_read_only_home_is_told_in_one_line() {
    let (sandbox, transcript) = world();
    let stop = format!("{}\n", payload("Stop", &sandbox, &transcript));
    let script = r#"
        mount --bind "$SINKER_HOME" "$SINKER_HOME"
        mount -o remount,ro,bind "$SINKER_HOME"
        unset SINKER_AUTOSTART
        exec "$SINKER" hook claude stop
    "#;
    if !is_root() {
        return;
    }
    let Some(command) = shell(&sandbox, &["unshare", "-m"], script) else { return };
    let out = to_end(command, stop.as_bytes());
    out.assert_silent("read-only");
    assert_eq!(out.stderr.lines().count(), 1, "{out}");
    assert!(
        out.stderr.contains("spool") && out.stderr.contains("Read-only") && out.stderr.contains("check"),
        "{out}"
    );
}

/// F07: a folder that may not be written. Root may always: then another user is asked to try.
#[test]
fn f07_a_spool_without_permission_is_logged_with_its_path() {
    let (sandbox, transcript) = world();
    let stop = format!("{}\n", payload("Stop", &sandbox, &transcript));
    sandbox.hook_raw("stop", stop.as_bytes()).assert_silent("the folders");
    std::fs::remove_dir_all(sandbox.at("spool/new")).unwrap();
    std::fs::create_dir(sandbox.at("spool/new")).unwrap();
    for folder in ["spool/new", "spool/tmp"] {
        std::fs::set_permissions(sandbox.at(folder), PermissionsExt::from_mode(0o500)).unwrap();
    }
    let mut command = sandbox.command(&["hook", "claude", "stop"]);
    if rustix::process::geteuid().is_root() {
        std::fs::set_permissions(sandbox.root(), PermissionsExt::from_mode(0o755)).unwrap();
        for file in walkdir::WalkDir::new(sandbox.home()) {
            std::os::unix::fs::lchown(file.unwrap().path(), Some(65_534), Some(65_534)).unwrap();
        }
        let nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
        let script = r#""$SINKER" --version > /dev/null || exit 77; exec "$SINKER" hook claude stop"#;
        let Some(other) = shell(&sandbox, &nobody, script) else { return };
        command = other;
    }
    let out = to_end(command, stop.as_bytes());
    if out.code == Some(77) {
        eprintln!("skipped: another user may not run the binary where it lies");
        return;
    }
    out.assert_silent("0500");
    let log = sandbox.log();
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(log.contains("spool/tmp") && log.contains("Permission denied") && log.contains("check"), "{log}");
    for folder in ["spool/new", "spool/tmp"] {
        std::fs::set_permissions(sandbox.at(folder), PermissionsExt::from_mode(0o700)).unwrap();
    }
}

/// F07. Linux only: elsewhere file names are always text.
#[cfg(target_os = "linux")]
#[test]
fn f07_a_home_that_is_no_text_is_a_home() {
    use std::os::unix::ffi::OsStrExt as _;
    let (sandbox, transcript) = world();
    let home = sandbox.root().join(std::ffi::OsStr::from_bytes(b"h\xf6me"));
    std::fs::create_dir(&home).unwrap();
    let stop = format!("{}\n", payload("Stop", &sandbox, &transcript));
    let run = |args: &[&str], stdin: &str| {
        let mut command = sandbox.command(args);
        command.env("HOME", &home).env_remove("SINKER_HOME");
        to_end(command, stdin.as_bytes())
    };
    run(&["hook", "claude", "stop"], &stop).assert_silent("stop");
    let new = home.join(".local/share/sinker/spool/new");
    assert_eq!(std::fs::read_dir(&new).unwrap().count(), 1);
    let out = run(&["drain", "--once", "--json"], "");
    let account: Value = serde_json::from_str(out.stdout.trim()).unwrap_or_else(|e| panic!("{e}: {out}"));
    assert_eq!((&account["entries"], &account["observations"]), (&json!(1), &json!(2)), "{out}");
}

/// F08: not one more file may be opened. The limit is set when the hook is up: the loader of the program needs files, too.
#[cfg(target_os = "linux")]
#[test]
fn f08_a_hook_that_may_open_no_file_says_one_line_and_succeeds() {
    use crate::support::{Running, within};
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    use std::time::Duration;
    let (sandbox, transcript) = world();
    let stop = payload("Stop", &sandbox, &transcript);
    sandbox.hook("stop", &stop).assert_silent("the folders");
    std::fs::remove_dir_all(sandbox.at("spool/new")).unwrap();
    std::fs::create_dir(sandbox.at("spool/new")).unwrap();
    let mut hook = Running::start(sandbox.command(&["hook", "claude", "stop"]));
    let mut stdin = hook.stdin.take().unwrap();
    // Enough to know the event, so that nothing hangs on how fast the rest comes.
    let head =
        json!({"session_id": stop["session_id"], "transcript_path": stop["transcript_path"]}).to_string();
    stdin.write_all(head.strip_suffix('}').unwrap().as_bytes()).unwrap();
    let read = within(Duration::from_secs(10), || rustix::io::ioctl_fionread(&stdin).unwrap() == 0);
    assert!(read, "the hook reads");
    let pid = Pid::from_raw(i32::try_from(hook.pid()).unwrap());
    let none = Rlimit { current: Some(3), maximum: Some(3) };
    prlimit(pid, Resource::Nofile, none).unwrap();
    stdin.write_all(b"}\n").ok();
    drop(stdin);
    let out = hook.finish(Duration::from_secs(20));
    out.assert_silent("no files");
    assert!(sandbox.spool("new").is_empty() && sandbox.spool("tmp").is_empty());
    assert_eq!(out.stderr.lines().count(), 1, "{out}");
    assert!(out.stderr.contains("Too many open files"), "{out}");
    sandbox.drain_once();
    assert_eq!(sandbox.json(&["status"])["store"]["observations"], 2);
}

/// F10: one tool use announced twice, with another result the second time.
#[test]
fn f10_two_results_of_one_tool_use_are_versions_in_the_order_of_the_file() {
    let (sandbox, mut transcript) = world();
    transcript
        .calls("toolu_9", "Bash", json!({"command": "cat gauge"}))
        .returns("toolu_9", "Gauge says 3 m.")
        .flush();
    let mut event = payload("PostToolUse.Bash", &sandbox, &transcript);
    event["tool_use_id"] = "toolu_9".into();
    sandbox.hook("post-tool-use", &event).assert_silent("first");
    let text = String::from_utf8(transcript.bytes().to_vec()).unwrap();
    let last = text.lines().last().unwrap().replace("Gauge says 3 m.", "Gauge says 4 m.");
    transcript.raw(&last).flush();
    event["tool_response"] = json!({"stdout": "Gauge says 4 m."});
    sandbox.hook("post-tool-use", &event).assert_silent("second");
    assert_eq!(sandbox.spool("new").len(), 2, "two sizes, two pointers");
    sandbox.drain_once();
    sandbox.verify();
    let hits = sandbox.json(&["search", "gauge says", "--all", "--speaker", "tool"]);
    assert_eq!(hits["hits"].as_array().map(Vec::len), Some(1), "one identity: {hits}");
    let shown = sandbox.json(&["show", hits["hits"][0]["id"].as_str().unwrap()]);
    assert_eq!(shown["revision"], 2, "{shown}");
    assert!(shown["text"].as_str().unwrap().contains("4 m."), "the later one holds: {shown}");
    assert!(shown["revisions"].to_string().contains("3 m."), "the earlier one is kept: {shown}");
}

/// F12: the other path of a payload.
#[test]
fn f12_an_agents_path_that_cannot_be_a_transcript_is_refused_without_being_opened() {
    let (first, transcript) = world();
    let pipe = first.root().join("fifo.jsonl");
    fifo(&pipe);
    let folder = first.root().to_str().unwrap().to_owned();
    for path in ["agent.jsonl", "/tmp/../etc/agent.jsonl", "/dev/zero", pipe.to_str().unwrap(), &folder] {
        let sandbox = first.sibling();
        let mut stop = payload("SubagentStop", &sandbox, &transcript);
        stop["agent_transcript_path"] = path.into();
        sandbox.hook("subagent-stop", &stop).assert_silent(path);
        assert!(sandbox.spool("new").is_empty(), "{path}");
        assert_eq!(sandbox.log().lines().count(), 1, "{path}: {}", sandbox.log());
    }
}

/// F13: bytes that are no text.
#[test]
fn f13_a_session_id_that_is_no_text_names_no_path_and_drains() {
    let (sandbox, transcript) = world();
    let path = Value::from(transcript.path.to_str().unwrap()).to_string();
    let mut stdin = b"{\"session_id\":\"a\xff\xfe/../b\",\"transcript_path\":".to_vec();
    stdin.extend(path.bytes());
    stdin.extend(b"}\n");
    sandbox.hook_raw("stop", &stdin).assert_silent("bytes");
    let names = sandbox.spool("new");
    assert!(names.len() == 1 && names[0].starts_with('_'), "{names:?}");
    let account = sandbox.drain_once();
    assert_eq!((&account["entries"], &account["odd"]), (&json!(1), &json!(0)), "{account}");
}

/// F14: the host's signal comes while the hook is inside each of its steps.
#[cfg(all(feature = "failpoints", target_os = "linux"))]
#[test]
fn f14_a_hook_ended_inside_any_step_leaves_a_whole_pointer_or_none() {
    use crate::support::Running;
    use rustix::process::Signal;
    let (first, transcript) = world();
    let stop = format!("{}\n", payload("Stop", &first, &transcript));
    for signal in [Signal::TERM, Signal::KILL] {
        let mut stopped = 0;
        for n in 1..20 {
            let sandbox = first.sibling();
            sandbox.hook_raw("stop", b"{}").assert_silent("a log");
            let mut command = sandbox.command(&["hook", "claude", "stop"]);
            command.env("STEP_STOP", n.to_string());
            let mut hook = Running::start(command);
            hook.stdin.take().unwrap().write_all(stop.as_bytes()).unwrap();
            if !hook.stops() {
                break;
            }
            stopped = n;
            hook.signal(signal);
            hook.signal(Signal::CONT);
            let out = hook.finish(std::time::Duration::from_secs(20));
            assert_eq!((out.stdout.as_str(), out.signal), ("", Some(signal.as_raw())), "{n}: {out}");
            no_torn_pointer(&sandbox, &n.to_string());
            sandbox.drain_once();
            assert_eq!(sandbox.json(&["status"])["store"]["observations"], 2, "step {n}");
            assert!(sandbox.spool("odd").is_empty());
        }
        assert!(stopped >= 4, "create, write, sync, rename: {stopped}");
    }
}

/// F15: what the host tells of our own tools, of subagents and of a stop that a hook brought about.
#[test]
fn f15_our_own_tools_and_repeated_stops_make_no_loop() {
    let (sandbox, prompts) = remembering();
    let transcript = Transcript::new(&sandbox, 2);
    let before = sandbox.json(&["status"])["store"]["observations"].clone();
    let quiet = [
        ("post-tool-use", "PostToolUse.mcp-plugin"),
        ("post-tool-use-failure", "PostToolUseFailure.Bash"),
        ("pre-tool-use", "PreToolUse.Bash"),
        ("post-tool-use", "PostToolUse.in-subagent"),
        ("stop", "Stop.stop_hook_active"),
        ("subagent-stop", "SubagentStop"),
    ];
    for (event, sample) in quiet {
        let mut payload = payload(sample, &sandbox, &transcript);
        payload["stop_hook_active"] = true.into();
        if payload.get("tool_name").is_some() {
            payload["tool_name"] = "mcp__sinker__search".into();
            payload["tool_input"] = json!({"query": prompts["recalls"]["payload"]["prompt"]});
        }
        let text = format!("{payload}\n");
        to_end(hook_in_demo(&sandbox, &prompts, event), text.as_bytes()).assert_silent(sample);
    }
    sandbox.drain_once();
    let status = sandbox.json(&["status"]);
    assert_eq!(status["store"]["observations"], before, "an event is no work: {status}");
    assert_eq!(status["spool"]["odd"], 0, "{status}");
}

/// F16: what each event may print (the host's rules): nothing, or one object of exactly this shape.
#[test]
fn f16_each_event_prints_what_the_host_accepts_for_it() {
    let (sandbox, prompts) = remembering();
    let may_speak = [
        "SessionStart",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "SubagentStart",
    ];
    let question = &prompts["recalls"]["payload"];
    let mut spoke = std::collections::BTreeSet::new();
    for Fixture { name, event, mut payload } in fixtures() {
        for field in ["session_id", "transcript_path", "cwd"] {
            payload[field] = question[field].clone();
        }
        if payload.get("prompt").is_some() && !name.contains("task-notification") {
            payload["prompt"] = question["prompt"].clone();
        }
        let home = sandbox.copy();
        let out = to_end(hook_in_demo(&home, &prompts, &event), format!("{payload}\n").as_bytes());
        assert_eq!((out.code, out.stderr.as_str()), (Some(0), ""), "{name}: {out}");
        let host_event = payload["hook_event_name"].as_str().unwrap();
        if out.stdout.is_empty() {
            continue;
        }
        assert!(may_speak.contains(&host_event), "{name} must print nothing: {out}");
        let reply: Value = serde_json::from_str(&out.stdout).unwrap_or_else(|e| panic!("{name}: {e}: {out}"));
        let text = reply["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
        assert!(!text.is_empty() && text.encode_utf16().count() <= 10_000, "{name}");
        let shape = json!({"hookSpecificOutput": {"hookEventName": host_event, "additionalContext": text}});
        assert_eq!(reply, shape, "{name}");
        spoke.insert(host_event.to_owned());
    }
    assert!(
        spoke.contains("SessionStart") && spoke.contains("UserPromptSubmit"),
        "nothing to say: {spoke:?}"
    );
}

/// Runs a command whose stdout is a pipe that nobody reads any more.
fn with_closed_stdout(mut command: Command, stdin: &str) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdin(Stdio::piped()).stdout(writer).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).ok();
    let out = child.wait_with_output().unwrap();
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// F57.
#[test]
fn f57_a_host_that_closed_stdout_gets_a_quiet_end() {
    let (sandbox, prompts) = remembering();
    for what in ["recalls", "start"] {
        let event = prompts[what]["event"].as_str().unwrap();
        let stdin = format!("{}\n", prompts[what]["payload"]);
        let talks = to_end(hook_in_demo(&sandbox.copy(), &prompts, event), stdin.as_bytes());
        assert!(!talks.stdout.is_empty(), "{what}: there must be something to say: {talks}");
        let ended = with_closed_stdout(hook_in_demo(&sandbox.copy(), &prompts, event), &stdin);
        assert_eq!(ended, (Some(0), String::new()), "{what}");
        let script = format!(r#"exec "$SINKER" hook claude {event} >&-"#);
        let mut none = shell(&sandbox, &["env"], &script).unwrap();
        none.env("CLAUDE_PROJECT_DIR", prompts["project_dir"].as_str().unwrap());
        let out = to_end(none, stdin.as_bytes());
        assert_eq!((out.code, out.stderr.as_str()), (Some(0), ""), "{what}, no stdout at all");
    }
    // The same for what a person pipes into something that ends early.
    for args in [
        &["search", "token", "--all"][..],
        &["status"],
        &["inspect", "--view", "records"],
        &["--help"],
        &["hook", "--help"],
    ] {
        let (code, said) = with_closed_stdout(sandbox.command(args), "");
        assert_eq!((code, said.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn a_person_is_given_help_and_the_host_never_is() {
    let sandbox = Sandbox::new();
    for args in [&["hook", "--help"][..], &["hook", "-h"], &["hook", "claude", "--help"]] {
        let out = sandbox.sinker(args);
        assert_eq!(out.code, Some(0), "{out}");
        for word in ["Usage: sinker hook claude <EVENT>", "--only", "--strict"] {
            assert!(out.stdout.contains(word), "{word}: {out}");
        }
    }
    assert!(!Path::new(&sandbox.at("log")).exists(), "help is no event");
    sandbox.sinker(&["hook"]).assert_silent("no event");
}
