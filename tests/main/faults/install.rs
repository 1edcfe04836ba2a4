//! F81, F82: settings of every kind, and a binary under any path. Each is tried before → installed → installed again → uninstalled.

use crate::support::{Mount, Sandbox};
#[cfg(feature = "failpoints")]
use crate::support::{Running, run_to_end};
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

/// Every entry of ours in settings: the event, and the words of its command.
pub fn entries(settings: &[u8]) -> Vec<(String, Vec<String>)> {
    let text = settings.strip_prefix("\u{feff}".as_bytes()).unwrap_or(settings);
    let value: Value = serde_json::from_slice(text).unwrap();
    let mut found = Vec::new();
    for (event, groups) in value["hooks"].as_object().unwrap() {
        for hook in groups.as_array().unwrap().iter().flat_map(|g| g["hooks"].as_array().unwrap()) {
            let Some(args) = hook.get("args").and_then(Value::as_array) else { continue };
            let words = std::iter::once(&hook["command"]).chain(args).map(|w| w.as_str().unwrap().to_owned());
            let words: Vec<String> = words.collect();
            if words.get(1).is_some_and(|w| w == "hook") {
                found.push((event.clone(), words));
            }
        }
    }
    found
}

/// A hook of somebody else's in every event that we listen to, and in one that we do not.
fn foreign() -> Vec<u8> {
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Stop",
        "StopFailure",
        "SessionEnd",
        "Setup",
        "Notification",
    ];
    let hooks: Vec<String> = events
        .iter()
        .map(|e| format!("    \"{e}\" : [ {{\"matcher\":\"*\",\"hooks\":[{{\"type\":\"command\",\"command\":\"notify {e}\"}}]}} ]"))
        .collect();
    format!(
        "{{\n  \"model\": \"opus\",\n  \"hooks\": {{\n{}\n  }},\n  \"env\": {{}}\n}}\n",
        hooks.join(",\n")
    )
    .into_bytes()
}

#[test]
fn f81_settings_of_every_kind_come_back_byte_for_byte() {
    let cases: Vec<(&str, Option<Vec<u8>>)> = vec![
        ("missing", None),
        ("empty", Some(Vec::new())),
        ("an empty object", Some(b"{}".to_vec())),
        ("one line", Some(b"{\"model\":\"opus\",\"permissions\":{\"allow\":[\"Bash(ls:*)\"]}}".to_vec())),
        ("CRLF and tabs", Some(b"{\r\n\t\"model\": \"opus\",\r\n\t\"hooks\": {\r\n\t}\r\n}\r\n".to_vec())),
        ("a byte order mark", Some("\u{feff}{\n    \"z\": 1,\n    \"a\": 2\n}".as_bytes().to_vec())),
        ("foreign hooks in every event", Some(foreign())),
        ("huge", Some(format!("{{\n  \"env\": {{\"A\": \"{}\"}}\n}}\n", "é".repeat(2_000_000)).into_bytes())),
    ];
    for (name, before) in cases {
        let sandbox = Sandbox::new().with_host();
        let path = sandbox.settings();
        if let Some(bytes) = &before {
            std::fs::write(&path, bytes).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        }
        let first = sandbox.hosted_json(0, &["install"]);
        assert_eq!(
            (&first["changed"], &first["proof"]["ok"]),
            (&json!(true), &json!(true)),
            "{name}: {first}"
        );
        let after = std::fs::read(&path).unwrap();
        let found = entries(&after);
        assert_eq!(found.len() as u64, first["added"].as_u64().unwrap(), "{name}");
        assert!(found.iter().any(|(event, _)| event == "SessionEnd"), "{name}: {found:?}");
        let meta = path.metadata().unwrap();
        assert_eq!(meta.mode() & 0o777, if before.is_some() { 0o640 } else { 0o600 }, "{name}");

        let second = sandbox.hosted_json(0, &["install"]);
        assert_eq!(second["changed"], false, "{name}: {second}");
        assert_eq!(path.metadata().unwrap().ino(), meta.ino(), "{name}: not even written");
        assert_eq!(std::fs::read(&path).unwrap(), after, "{name}");

        let gone = sandbox.hosted_json(0, &["uninstall"]);
        assert_eq!(gone["files"][0]["restored"], true, "{name}: {gone}");
        assert_eq!(std::fs::read(&path).ok(), before, "{name}");
        assert_eq!(sandbox.hosted(&["uninstall", "--dry-run"]).code, Some(3), "{name}: nothing is left");
    }
}

#[test]
fn f81_settings_in_doubt_are_left_and_the_snippet_is_printed() {
    let empty = Sandbox::new().with_host();
    assert_eq!(empty.hosted(&["install"]).code, Some(0));
    let wanted = entries(&std::fs::read(empty.settings()).unwrap());
    let cases: [&[u8]; 8] = [
        b"{",
        b"{\n  // mine\n  \"a\": 1\n}\n",
        b"{\"a\": 1,}",
        b"{\"hooks\": {}, \"hooks\": {}}",
        b"[1]",
        b"{\"hooks\": []}",
        b"{\"hooks\": {\"Stop\": [{\"matcher\": 7, \"hooks\": []}]}}",
        b"\xff{}",
    ];
    for bytes in cases {
        let case = String::from_utf8_lossy(bytes).into_owned();
        let sandbox = Sandbox::new().with_host();
        std::fs::write(sandbox.settings(), bytes).unwrap();
        let out = sandbox.hosted(&["install"]);
        assert_eq!(out.code, Some(1), "{case}: {out}");
        assert!(out.stderr.contains("was left as it is") && out.stderr.contains("hint: "), "{case}: {out}");
        assert_eq!(std::fs::read(sandbox.settings()).unwrap(), bytes, "{case}");
        let snippet = &out.stdout[out.stdout.find('{').unwrap()..];
        assert_eq!(entries(snippet.as_bytes()), wanted, "{case}: the snippet is what an install writes");
        assert!(sandbox.host_calls().is_empty(), "{case}: {:?}", sandbox.host_calls());
        assert_eq!(sandbox.hosted(&["uninstall"]).code, Some(0), "{case}");
        assert_eq!(std::fs::read(sandbox.settings()).unwrap(), bytes, "{case}");
    }
}

#[test]
fn f81_entries_in_older_forms_and_doubled_ones_become_one_each() {
    let sandbox = Sandbox::new().with_host();
    let old =
        |event: &str| json!({ "type": "command", "command": format!("/old/sinker hook claude {event}") });
    let other = json!({ "type": "command", "command": "notify" });
    let before = json!({ "hooks": {
        "Stop": [{ "hooks": [other, old("stop"), old("stop --only capture")] }],
        "SessionStart": [{ "matcher": "startup|clear|compact", "hooks": [old("session-start")] }],
    } });
    std::fs::write(sandbox.settings(), serde_json::to_vec_pretty(&before).unwrap()).unwrap();
    let done = sandbox.hosted_json(0, &["install"]);
    assert_eq!((done["replaced"].as_u64(), done["removed"].as_u64()), (Some(2), Some(1)), "{done}");
    let after = std::fs::read(sandbox.settings()).unwrap();
    assert!(!String::from_utf8_lossy(&after).contains("/old/"));
    let mut found = entries(&after);
    let all = found.len();
    found.sort();
    found.dedup();
    assert_eq!(found.len(), all, "each once");
    // What was kept holds entries of ours: an uninstall takes them out and does not give them back.
    let gone = sandbox.hosted_json(0, &["uninstall"]);
    assert_eq!(gone["files"][0]["restored"], false, "{gone}");
    let left: Value = serde_json::from_slice(&std::fs::read(sandbox.settings()).unwrap()).unwrap();
    assert_eq!(left["hooks"]["Stop"], json!([{ "hooks": [other] }]), "{left}");
    assert!(!left.to_string().contains("sinker"), "{left}");
}

#[test]
fn f81_a_link_stays_a_link_and_what_it_points_at_is_written() {
    for exists in [true, false] {
        let sandbox = Sandbox::new().with_host();
        std::fs::create_dir(sandbox.user().join("dotfiles")).unwrap();
        let target = sandbox.user().join("dotfiles/claude.json");
        if exists {
            std::fs::write(&target, "{\n  \"a\": 1\n}\n").unwrap();
        }
        symlink("../dotfiles/claude.json", sandbox.settings()).unwrap();
        assert_eq!(sandbox.hosted(&["install"]).code, Some(0));
        let is_link = || sandbox.settings().symlink_metadata().unwrap().is_symlink();
        assert!(is_link() && entries(&std::fs::read(&target).unwrap()).len() > 10);
        assert_eq!(sandbox.hosted(&["uninstall"]).code, Some(0));
        assert!(is_link(), "the user's own");
        let left = std::fs::read_to_string(&target).ok();
        assert_eq!(left.as_deref(), exists.then_some("{\n  \"a\": 1\n}\n"));
    }
}

#[test]
fn f81_a_read_only_file_or_folder_is_told_and_left() {
    let sandbox = Sandbox::new().with_host();
    std::fs::write(sandbox.settings(), "{}\n").unwrap();
    let mode =
        |mode| std::fs::set_permissions(sandbox.settings(), std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o444);
    let out = sandbox.hosted(&["install"]);
    assert!(
        out.code == Some(1) && out.stderr.contains("read-only") && out.stderr.contains("chmod u+w"),
        "{out}"
    );
    assert_eq!(std::fs::read_to_string(sandbox.settings()).unwrap(), "{}\n");
    assert!(sandbox.host_calls().is_empty());
    mode(0o644);
    let Some(mount) = Mount::tmpfs(&sandbox.claude(), "1m") else { return };
    std::fs::write(sandbox.settings(), "{}\n").unwrap();
    if mount.remount("ro") {
        let out = sandbox.hosted(&["install"]);
        assert!(out.code == Some(1) && out.stderr.contains("hint: "), "{out}");
        assert_eq!(std::fs::read_to_string(sandbox.settings()).unwrap(), "{}\n");
    }
}

/// Stopped between reading and renaming, while another program writes: its words stay, and ours come beside them.
#[cfg(all(feature = "failpoints", target_os = "linux"))]
#[test]
fn f81_settings_that_another_program_writes_meanwhile_lose_nothing() {
    let sandbox = Sandbox::new().with_host();
    std::fs::write(sandbox.settings(), "{\n  \"a\": 1\n}\n").unwrap();
    let mut command = sandbox.beside_host(&["install"]);
    command.env("STEP_STOP", "fs::mode");
    let mut running = Running::start(command);
    assert!(running.stops());
    let theirs = "{\n  \"a\": 2,\n  \"theirs\": true\n}\n";
    std::fs::write(sandbox.settings(), theirs).unwrap();
    running.signal(rustix::process::Signal::CONT);
    let out = running.finish(std::time::Duration::from_secs(60));
    assert_eq!(out.code, Some(0), "{out}");
    let after = std::fs::read(sandbox.settings()).unwrap();
    assert!(String::from_utf8_lossy(&after).contains("\"theirs\": true") && entries(&after).len() > 10);
    assert_eq!(sandbox.hosted(&["uninstall"]).code, Some(0));
    assert_eq!(std::fs::read_to_string(sandbox.settings()).unwrap(), theirs);
}

#[test]
fn f81_what_was_changed_after_the_install_stays() {
    let sandbox = Sandbox::new().with_host();
    std::fs::write(sandbox.settings(), "{\n  \"a\": 1\n}\n").unwrap();
    sandbox.hosted_json(0, &["install"]);
    let text = std::fs::read_to_string(sandbox.settings()).unwrap();
    std::fs::write(sandbox.settings(), text.replace("\"a\": 1", "\"a\": 1,\n  \"b\": [1, 2]")).unwrap();
    let gone = sandbox.hosted_json(0, &["uninstall"]);
    assert_eq!(gone["files"][0]["restored"], false, "{gone}");
    assert_eq!(std::fs::read_to_string(sandbox.settings()).unwrap(), "{\n  \"a\": 1,\n  \"b\": [1, 2]\n}\n");
}

/// Ended at each durable step of an install, then of an uninstall, of settings that are there and of a folder that is not.
#[cfg(feature = "failpoints")]
#[test]
fn f81_killed_at_any_step_the_file_is_the_old_or_the_new_one_and_a_second_run_completes() {
    for (scope, before) in [("user", Some("{\n  \"a\": 1\n}\n")), ("local", None)] {
        let world = || {
            let sandbox = Sandbox::new().with_host();
            let path = match scope {
                "user" => sandbox.settings(),
                _ => sandbox.project().join(".claude/settings.local.json"),
            };
            before.inspect(|text| std::fs::write(&path, text).unwrap());
            (sandbox, path)
        };
        let (plain, path) = world();
        let install = ["install", "--scope", scope];
        assert_eq!(plain.hosted(&install).code, Some(0));
        let after = std::fs::read_to_string(&path).unwrap();
        for uninstall in [false, true] {
            let args: &[&str] = if uninstall { &["uninstall"] } else { &install };
            let mut killed = 0;
            for n in 1..400 {
                let (sandbox, path) = world();
                if uninstall {
                    assert_eq!(sandbox.hosted(&install).code, Some(0));
                }
                let mut command = sandbox.beside_host(args);
                command.env("STEP_KILL", n.to_string());
                let out = run_to_end(command, b"");
                let text = std::fs::read_to_string(&path).ok();
                let (old, new) = (text.as_deref() == before, text.as_deref() == Some(after.as_str()));
                assert!(old || new, "{scope} {args:?} step {n}: {text:?}");
                assert_eq!(sandbox.hosted(args).code, Some(0), "{scope} {args:?} step {n}");
                if !uninstall {
                    assert_eq!(std::fs::read_to_string(&path).unwrap(), after, "{scope} step {n}");
                    assert_eq!(sandbox.hosted(&["uninstall"]).code, Some(0), "{scope} step {n}");
                }
                assert_eq!(
                    std::fs::read_to_string(&path).ok().as_deref(),
                    before,
                    "{scope} {args:?} step {n}"
                );
                let folder = path.parent().unwrap();
                let left: Vec<_> =
                    std::fs::read_dir(folder).into_iter().flatten().map(|e| e.unwrap().file_name()).collect();
                let tidy = if scope == "local" {
                    !folder.exists()
                } else {
                    left.iter().all(|n| !n.to_string_lossy().contains(".tmp"))
                };
                assert!(tidy, "{scope} {args:?} step {n}: {left:?}");
                let records: Vec<_> = std::fs::read_dir(sandbox.at("install"))
                    .unwrap()
                    .map(|e| e.unwrap().file_name())
                    .collect();
                assert_eq!(records, ["lock"], "{scope} {args:?} step {n}");
                if !out.killed() {
                    break;
                }
                killed = n;
            }
            assert!((3..399).contains(&killed), "{scope} {args:?}: {killed} steps");
        }
    }
}

/// No space at any step of an install, once: old or new and whole, told, and a second run completes.
#[cfg(feature = "failpoints")]
#[test]
fn f81_without_space_at_any_step_the_settings_are_whole() {
    let before = "{\n  \"a\": 1\n}\n";
    let plain = Sandbox::new().with_host();
    std::fs::write(plain.settings(), before).unwrap();
    assert_eq!(plain.hosted(&["install"]).code, Some(0));
    let after = std::fs::read_to_string(plain.settings()).unwrap();
    let mut failed = 0;
    for n in 1..60 {
        let sandbox = Sandbox::new().with_host();
        std::fs::write(sandbox.settings(), before).unwrap();
        let mut command = sandbox.beside_host(&["install"]);
        command.env("STEP_FAIL", format!("{n}:ENOSPC"));
        let out = run_to_end(command, b"");
        let text = std::fs::read_to_string(sandbox.settings()).unwrap();
        assert!(text == before || text == after, "step {n}: {text}");
        assert!(matches!(out.code, Some(0 | 1)) && !out.stderr.contains("panicked"), "step {n}: {out}");
        if out.code == Some(1) {
            assert!(out.stderr.contains("hint: ") || out.stderr.contains("warning: "), "step {n}: {out}");
            failed += 1;
        }
        assert_eq!(sandbox.hosted(&["install"]).code, Some(0), "step {n}");
        assert_eq!(sandbox.hosted(&["uninstall"]).code, Some(0), "step {n}");
        assert_eq!(std::fs::read_to_string(sandbox.settings()).unwrap(), before, "step {n}");
    }
    assert!(failed > 10, "{failed}");
}

#[test]
fn f81_a_second_install_at_the_same_time_is_turned_away() {
    let sandbox = Sandbox::new().with_host();
    std::fs::create_dir_all(sandbox.at("install")).unwrap();
    let lock = std::fs::File::create(sandbox.at("install/lock")).unwrap();
    lock.lock().unwrap();
    for command in ["install", "uninstall"] {
        let out = sandbox.hosted(&[command]);
        assert!(out.code == Some(4) && out.stderr.contains("hint: "), "{out}");
    }
    assert!(!sandbox.settings().exists());
    drop(lock);
    assert_eq!(sandbox.hosted(&["install"]).code, Some(0));
}

#[test]
fn f82_a_project_whose_path_is_no_text_is_given_back_too() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = Sandbox::new().with_host();
    let project = sandbox.root().join(std::ffi::OsStr::from_bytes(b"code-\xff"));
    if std::fs::create_dir(&project).is_err() {
        eprintln!("skipped: needs a file system that takes any name");
        return;
    }
    std::fs::create_dir(project.join(".git")).unwrap();
    let run = |args: &[&str]| {
        let mut command = sandbox.beside_host(args);
        command.current_dir(&project);
        crate::support::run_to_end(command, b"")
    };
    let out = run(&["install", "--scope", "project", "--json"]);
    assert_eq!(out.code, Some(0), "{out}");
    assert!(project.join(".claude/settings.json").exists());
    assert_eq!(run(&["install", "--scope", "project"]).code, Some(0));
    let out = run(&["uninstall", "--json"]);
    assert_eq!(out.code, Some(0), "{out}");
    assert!(!project.join(".claude").exists());
}

#[test]
fn f82_a_binary_under_any_path_runs_as_installed_and_as_printed() {
    let sandbox = Sandbox::new().with_host();
    let folder = |name: &str| sandbox.root().join(name);
    let names = ["plain", "with space", "quo'te\"s", "$HOME`x`;&|", "é日本🎣", "-dash\\back\ttab"];
    std::fs::create_dir(folder(names[0])).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_sinker"), folder(names[0]).join("sinker")).unwrap();
    let mut last = names[0];
    for name in names {
        if name != last {
            std::fs::rename(folder(last), folder(name)).unwrap();
            last = name;
        }
        let own = folder(name).canonicalize().unwrap().join("sinker");
        let mut command = sandbox.beside_host(&[]);
        command = moved(&command, &own);
        command.arg("install").arg("--json");
        let out = crate::support::run_to_end(command, b"");
        let done: Value =
            serde_json::from_str(out.stdout.trim()).unwrap_or_else(|e| panic!("{name}: {e}: {out}"));
        assert_eq!(out.code, Some(0), "{name}: {out}");
        assert_eq!(done["proof"]["ok"], true, "{name}: {done}");
        assert_eq!(done["command"], own.to_str().unwrap(), "{name}");
        let found = entries(&std::fs::read(sandbox.settings()).unwrap());
        assert!(
            found.iter().all(|(_, words)| words[0] == own.to_str().unwrap()),
            "{name}: the older path is gone"
        );
        // What is printed for a person goes through a shell.
        let mut command = moved(&sandbox.beside_host(&[]), &own);
        command.args(["install", "--dry-run"]);
        std::fs::remove_file(sandbox.settings()).unwrap();
        let out = crate::support::run_to_end(command, b"");
        let line =
            out.stdout.lines().find(|l| l.contains("session-end")).unwrap_or_else(|| panic!("{name}: {out}"));
        let line = line.trim_start().strip_prefix("SessionEnd").unwrap().trim_start();
        for shell in ["/bin/sh", "/bin/bash"] {
            if !Path::new(shell).exists() {
                eprintln!("skipped: needs {shell}");
                continue;
            }
            let mut command = moved(&sandbox.beside_host(&[]), Path::new(shell));
            command.args(["-c", line]);
            let session = format!("{}-{}", shell.rsplit('/').next().unwrap(), sandbox.spool("new").len());
            let payload = json!({ "session_id": session, "transcript_path": "/nowhere/x.jsonl" });
            let out = crate::support::run_to_end(command, format!("{payload}\n").as_bytes());
            assert_eq!(out.code, Some(0), "{name}: {out}");
            assert!(sandbox.spool("new").iter().any(|n| n.starts_with(&session)), "{name}, {shell}: {line}");
        }
    }
}

#[test]
fn f82_a_binary_of_another_name_is_known_when_it_goes() {
    let sandbox = Sandbox::new().with_host();
    let named = sandbox.root().canonicalize().unwrap().join("sinker-0.1.0-x86_64");
    std::fs::copy(env!("CARGO_BIN_EXE_sinker"), &named).unwrap();
    let run = |args: &[&str]| {
        let mut command = moved(&sandbox.beside_host(&[]), &named);
        command.args(args);
        let out = crate::support::run_to_end(command, b"");
        assert_eq!(out.code, Some(0), "{args:?}: {out}");
    };
    // Taken out by itself.
    run(&["install"]);
    run(&["uninstall"]);
    assert!(!sandbox.settings().exists());
    // Replaced by another one, and taken out by that.
    run(&["install"]);
    sandbox.hosted_json(0, &["install"]);
    let found = entries(&std::fs::read(sandbox.settings()).unwrap());
    assert!(found.iter().all(|(_, words)| words[0] != named.to_str().unwrap()), "{found:?}");
    sandbox.hosted_json(0, &["uninstall"]);
    assert!(!sandbox.settings().exists());
    // Taken out by another one, its server as well.
    run(&["install"]);
    let done = sandbox.hosted_json(0, &["uninstall"]);
    assert_eq!(done["servers"].as_array().unwrap().len(), 1, "{done}");
    assert!(!sandbox.settings().exists());
}

/// The same command with another program.
pub fn moved(command: &Command, program: &Path) -> Command {
    let mut other = Command::new(program);
    other.env_clear().envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
    other.current_dir(command.get_current_dir().unwrap());
    other
}

#[test]
fn f82_another_folder_of_the_hosts_is_heard() {
    let sandbox = Sandbox::new().with_host();
    let other = sandbox.user().join("other");
    let run = |args: &[&str]| {
        let mut command = sandbox.beside_host(args);
        command.env("CLAUDE_CONFIG_DIR", &other);
        crate::support::run_to_end(command, b"")
    };
    assert_eq!(run(&["install"]).code, Some(0));
    assert!(other.join("settings.json").exists() && other.join(".claude.json").exists());
    assert!(!sandbox.settings().exists());
    assert_eq!(run(&["uninstall"]).code, Some(0));
    assert!(!other.join("settings.json").exists());
}

#[test]
fn f81_a_record_of_a_newer_version_is_left_and_nothing_is_changed() {
    let sandbox = Sandbox::new().with_host();
    std::fs::write(sandbox.settings(), "{}").unwrap();
    sandbox.hosted_json(0, &["install"]);
    let after = std::fs::read(sandbox.settings()).unwrap();
    let folder = std::fs::read_dir(sandbox.at("install")).unwrap().map(|e| e.unwrap().path());
    let record = folder.into_iter().find(|p| p.extension().is_some_and(|e| e == "json")).unwrap();
    std::fs::write(&record, "{\"v\":99,\"everything\":\"is new\"}").unwrap();
    assert_eq!(sandbox.hosted(&["uninstall"]).code, Some(4));
    assert_eq!(std::fs::read(sandbox.settings()).unwrap(), after);
    std::fs::write(sandbox.settings(), "{}").unwrap();
    assert_eq!(sandbox.hosted(&["install"]).code, Some(4));
    assert_eq!(std::fs::read_to_string(sandbox.settings()).unwrap(), "{}");
    assert_eq!(std::fs::read_to_string(&record).unwrap(), "{\"v\":99,\"everything\":\"is new\"}");
}
