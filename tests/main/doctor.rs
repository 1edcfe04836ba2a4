//! `sinker doctor`: each check has a case that it finds and a world in which it finds nothing.

mod trust;

use crate::support::{Out, Sandbox, Transcript};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

const CHECKS: [&str; 21] = [
    "binary",
    "hooks",
    "hooks-enabled",
    "hook-programs",
    "hooks-work",
    "rivals",
    "mcp",
    "folders",
    "modes",
    "network",
    "space",
    "redaction",
    "sqlite",
    "transcripts",
    "unwritten",
    "capture",
    "drainer",
    "lag",
    "index",
    "service",
    "whole-way",
];

/// A home in which everything is in order.
struct Patient {
    sandbox: Sandbox,
    program: PathBuf,
    env: Vec<(String, String)>,
}

impl Patient {
    fn healthy() -> Self {
        Self::with(PathBuf::from(env!("CARGO_BIN_EXE_sinker")))
    }

    /// The same with the binary at some path.
    fn with(program: PathBuf) -> Self {
        // A machine may have a `claude` of its own: none but the script is found.
        let sandbox = Sandbox::new().with_host();
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let env = vec![
            ("PATH".to_owned(), text(sandbox.root().join("bin"))),
            ("TMPDIR".to_owned(), text(sandbox.root().join("tmp"))),
            ("XDG_RUNTIME_DIR".to_owned(), String::new()),
        ];
        let patient = Self { sandbox, program, env };
        let mut t = Transcript::new(&patient.sandbox, 1);
        t.prompt("Is all well?").says("All is well.").flush();
        patient.sandbox.drain_once();
        let out = patient.run(&["install", "--json"]);
        assert!(patient.settings_path().exists(), "{}", String::from_utf8_lossy(&out.stderr));
        let server = json!({"command": patient.program, "args": ["mcp"]});
        patient.write(
            &patient.sandbox.claude().join(".claude.json"),
            &json!({"mcpServers": {"sinker": server}}),
        );
        patient
    }

    fn run(&self, args: &[&str]) -> std::process::Output {
        let template = self.sandbox.command(args);
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.sandbox.project()).env_clear();
        for (name, value) in template.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        command.envs(self.env.iter().cloned());
        command.output().unwrap()
    }

    /// The findings by name, and the exit code.
    fn examine(&self, args: &[&str]) -> (Vec<Value>, Option<i32>) {
        self.check(&CHECKS, args)
    }

    fn check(&self, checks: &[&str], args: &[&str]) -> (Vec<Value>, Option<i32>) {
        let out = self.run(&[&["doctor", "--json"], checks, args].concat());
        let text = String::from_utf8(out.stdout).unwrap();
        let found: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let names: Vec<&str> = found.iter().map(|f| f["check"].as_str().unwrap()).collect();
        assert_eq!(names, checks, "{text} {}", String::from_utf8_lossy(&out.stderr));
        (found, out.status.code())
    }

    /// Exactly these checks find something, and each says what to do. The two that start many processes are made only where they should
    /// find something, and in the test of a home in order.
    fn finds(&self, expected: &[&str]) -> Vec<Value> {
        let slow = |name: &&str| matches!(*name, "hooks-work" | "whole-way");
        let quick =
            CHECKS.into_iter().filter(|name| expected.contains(name) || !slow(name)).collect::<Vec<_>>();
        self.finds_of(&quick, expected)
    }

    fn finds_of(&self, checks: &[&str], expected: &[&str]) -> Vec<Value> {
        let (found, code) = self.check(checks, &[]);
        let wrong: Vec<Value> = found.iter().filter(|f| f["ok"] == false).cloned().collect();
        let names: BTreeSet<&str> = wrong.iter().map(|f| f["check"].as_str().unwrap()).collect();
        assert_eq!(names, expected.iter().copied().collect(), "{wrong:#?}");
        assert_eq!(code, Some(i32::from(!expected.is_empty())));
        for finding in &found {
            assert_eq!(finding["hint"] == "", finding["ok"] == true, "{finding}");
            assert_ne!(finding["detail"], "", "{finding}");
        }
        wrong
    }

    fn settings_path(&self) -> PathBuf {
        self.sandbox.claude().join("settings.json")
    }

    fn settings(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.settings_path()).unwrap()).unwrap()
    }

    fn write(&self, path: &Path, value: &Value) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, value.to_string()).unwrap();
    }

    fn change(&self, change: impl FnOnce(&mut Value)) {
        let mut settings = self.settings();
        change(&mut settings);
        self.write(&self.settings_path(), &settings);
    }

    /// Everything below a folder, with sizes and times.
    fn tree(&self, folder: &Path) -> Vec<String> {
        let line = |e: walkdir::DirEntry| {
            let meta = e.metadata().unwrap();
            format!("{} {} {:?}", e.path().display(), meta.len(), meta.modified().unwrap())
        };
        let mut all: Vec<String> =
            walkdir::WalkDir::new(folder).into_iter().map(|e| line(e.unwrap())).collect();
        all.sort();
        all
    }
}

fn age(path: &Path, age: Duration) {
    std::fs::File::open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
}

fn script(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn in_a_home_in_order_every_check_passes_and_nothing_is_changed() {
    let patient = Patient::healthy();
    let user = patient.tree(&patient.sandbox.user());
    let project = patient.tree(&patient.sandbox.project());
    patient.finds_of(&CHECKS, &[]);
    let (found, code) = patient.examine(&["--fix"]);
    assert!(code == Some(0) && found.iter().all(|f| f["fixed"].is_null()), "{found:#?}");
    assert_eq!(patient.tree(&patient.sandbox.user()), user);
    assert_eq!(patient.tree(&patient.sandbox.project()), project);
    // What was tried is gone.
    assert_eq!(std::fs::read_dir(patient.sandbox.root().join("tmp")).unwrap().count(), 0);
    // For a person: a line a check.
    let text = String::from_utf8(patient.run(&["doctor"]).stdout).unwrap();
    assert!(text.lines().count() == CHECKS.len() && text.lines().all(|l| l.starts_with("ok ")), "{text}");
}

#[test]
fn a_binary_at_any_path_works_as_the_host_starts_it() {
    let place = tempfile::tempdir().unwrap();
    for name in ["two words $HOME für 漢字", "quo\"te's; \\& more"] {
        let folder = place.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let program = folder.join("sinker");
        if std::fs::hard_link(env!("CARGO_BIN_EXE_sinker"), &program).is_err() {
            std::fs::copy(env!("CARGO_BIN_EXE_sinker"), &program).unwrap();
        }
        let patient = Patient::with(program.clone());
        patient.finds_of(&CHECKS, &[]);
        // By a shell, as older entries were written: out of date, but they work.
        let quoted = program.to_str().unwrap().replace('\'', "'\\''");
        let line = format!("'{quoted}' hook claude stop --only capture");
        patient.change(|s| s["hooks"]["Stop"] = json!([{"hooks": [{"type": "command", "command": line}]}]));
        patient.finds_of(&["hooks", "hook-programs", "hooks-work"], &["hooks"]);
    }
}

#[test]
fn entries_that_are_missing_old_or_doubled_are_told() {
    let patient = Patient::healthy();
    let whole = patient.settings();
    patient.change(|s| drop(s["hooks"].as_object_mut().unwrap().remove("Stop")));
    assert!(patient.finds(&["hooks"])[0]["detail"].as_str().unwrap().contains("(Stop)"));
    patient.write(&patient.settings_path(), &whole);
    patient.change(|s| {
        let groups = s["hooks"]["Stop"].as_array_mut().unwrap();
        let again = groups[0].clone();
        groups.push(again);
    });
    assert!(patient.finds(&["hooks"])[0]["detail"].as_str().unwrap().contains("twice"));
    patient.write(&patient.settings_path(), &whole);
    patient.change(|s| s["hooks"]["Stop"][0]["hooks"][0]["timeout"] = json!(600));
    assert!(patient.finds(&["hooks"])[0]["detail"].as_str().unwrap().contains("another form"));
    std::fs::remove_file(patient.settings_path()).unwrap();
    assert!(patient.finds(&["hooks"])[0]["hint"].as_str().unwrap().contains("sinker install"));
    std::fs::write(patient.settings_path(), "{ // a comment\n}").unwrap();
    assert!(patient.finds(&["hooks"])[0]["detail"].as_str().unwrap().contains("cannot be read"));
    // The same entries of a project count as well, once.
    patient.write(&patient.settings_path(), &json!({}));
    patient.write(&patient.sandbox.project().join(".claude/settings.json"), &whole);
    patient.finds(&[]);
    patient.write(&patient.settings_path(), &whole);
    patient.finds(&[]);
}

#[test]
fn a_plugin_counts_and_settings_beside_it_double_it() {
    let patient = Patient::healthy();
    let whole = patient.settings();
    std::fs::remove_file(patient.settings_path()).unwrap();
    std::fs::remove_file(patient.sandbox.claude().join(".claude.json")).unwrap();
    let folder = patient.sandbox.root().join("plugin");
    let out = patient.run(&["install", "--plugin", folder.to_str().unwrap(), "--json"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let on = json!({
        "enabledPlugins": {"sinker@sinker": true},
        "extraKnownMarketplaces": {"sinker": {"source": {"source": "directory", "path": folder}}},
    });
    patient.write(&patient.settings_path(), &on);
    patient.finds(&[]);
    patient.change(|s| s["hooks"] = whole["hooks"].clone());
    assert!(patient.finds(&["hooks"])[0]["hint"].as_str().unwrap().contains("plugin"));
}

#[test]
fn hooks_that_are_switched_off_gone_or_do_nothing_are_told() {
    let patient = Patient::healthy();
    let local = patient.sandbox.project().join(".claude/settings.local.json");
    patient.write(&local, &json!({"disableAllHooks": true}));
    assert!(patient.finds(&["hooks-enabled"])[0]["detail"].as_str().unwrap().contains("settings.local.json"));
    patient.write(&local, &json!({"disableAllHooks": false}));
    patient.finds(&[]);
    let rename = |to: &Path| {
        let text = std::fs::read_to_string(patient.settings_path()).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let old = value["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
        std::fs::write(patient.settings_path(), text.replace(&old, to.to_str().unwrap())).unwrap();
    };
    let other = patient.sandbox.root().join("other/sinker");
    rename(&other);
    patient.finds(&["hooks", "hook-programs", "hooks-work"]);
    // It is there and may be run, and does nothing.
    script(&other, "#!/bin/sh\nexit 0\n");
    let wrong = patient.finds(&["hooks", "hook-programs", "hooks-work"]);
    assert!(wrong[2]["detail"].as_str().unwrap().contains("no pointer came to the spool"), "{wrong:#?}");
    // It prints what the host would take for text, or fails.
    script(&other, "#!/bin/sh\necho hello\n");
    patient.finds(&["hooks", "hook-programs", "hooks-work"]);
    script(&other, "#!/bin/sh\necho no >&2; exit 2\n");
    let wrong = patient.finds(&["hooks", "hook-programs", "hooks-work"]);
    assert!(wrong[2]["detail"].as_str().unwrap().contains("ended with"), "{wrong:#?}");
}

#[test]
fn another_binary_and_another_memory_are_told() {
    let patient = Patient::healthy();
    let other = patient.sandbox.root().join("bin/sinker");
    script(&other, "#!/bin/sh\n");
    assert!(patient.finds(&["binary"])[0]["detail"].as_str().unwrap().contains("bin/sinker"));
    // A link to this one is this one.
    std::fs::remove_file(&other).unwrap();
    std::os::unix::fs::symlink(&patient.program, &other).unwrap();
    patient.run(&["install", "--json"]);
    patient.finds(&[]);
    patient.change(|s| {
        let other = json!({"hooks": [{"type": "command", "command": "npx -y claude-mem hook context"}]});
        s["hooks"]["SessionStart"].as_array_mut().unwrap().push(other);
    });
    assert!(patient.finds(&["rivals"])[0]["detail"].as_str().unwrap().starts_with("claude-mem in "));
    patient.change(|s| drop(s["hooks"]["SessionStart"].as_array_mut().unwrap().pop()));
    patient.change(|s| s["enabledPlugins"] = json!({"episodic-memory@somewhere": true}));
    patient.finds(&["rivals"]);
    patient.change(|s| s["enabledPlugins"] = json!({"episodic-memory@somewhere": false}));
    patient.finds(&[]);
}

#[test]
fn a_server_that_is_unknown_refused_or_broken_is_told() {
    let patient = Patient::healthy();
    let state = patient.sandbox.claude().join(".claude.json");
    let server = json!({"command": patient.program, "args": ["mcp"]});
    let says = |word: &str| {
        let wrong = patient.finds(&["mcp"]);
        assert!(wrong[0]["detail"].as_str().unwrap().contains(word), "{wrong:#?}");
    };
    patient.write(&state, &json!({}));
    says("does not know");
    patient
        .write(&state, &json!({"mcpServers": {"sinker": {"command": "/nowhere/sinker", "args": ["mcp"]}}}));
    says("cannot be started");
    patient.write(&state, &json!({"mcpServers": {"sinker": {"command": "/bin/cat", "args": []}}}));
    says("did not introduce itself");
    // Of this user in this project.
    let root = patient.sandbox.project().canonicalize().unwrap();
    let root = root.to_str().unwrap();
    patient.write(&state, &json!({"projects": {root: {"mcpServers": {"sinker": server}}}}));
    patient.finds(&[]);
    // Of the project: a person has a word in it.
    patient.write(&state, &json!({}));
    patient.write(&patient.sandbox.project().join(".mcp.json"), &json!({"mcpServers": {"sinker": server}}));
    says("waits for an approval");
    let local = patient.sandbox.project().join(".claude/settings.local.json");
    for good in [json!({"enabledMcpjsonServers": ["sinker"]}), json!({"enableAllProjectMcpServers": true})] {
        patient.write(&local, &good);
        patient.finds(&[]);
    }
    patient.write(&local, &json!({"enableAllProjectMcpServers": true, "disabledMcpjsonServers": ["sinker"]}));
    says("refused");
}

#[test]
fn folders_modes_and_stale_marks_are_told_and_mended() {
    let patient = Patient::healthy();
    let sandbox = &patient.sandbox;
    std::fs::remove_dir_all(sandbox.at("spool/odd")).unwrap();
    std::fs::write(sandbox.at("state/starting"), "").unwrap();
    std::fs::set_permissions(sandbox.at("state/starting"), std::fs::Permissions::from_mode(0o600)).unwrap();
    age(&sandbox.at("state/starting"), Duration::from_secs(3600));
    for (path, mode) in [("secret", 0o644), ("spool/new", 0o755), ("", 0o711)] {
        std::fs::set_permissions(sandbox.at(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let wrong = patient.finds(&["folders", "modes"]);
    assert!(wrong[1]["detail"].as_str().unwrap().starts_with("3 files"), "{wrong:#?}");
    let (found, code) = patient.examine(&["--fix"]);
    assert_eq!(code, Some(0), "{found:#?}");
    let fixed: Vec<&Value> = found.iter().filter(|f| f["fixed"] == true).map(|f| &f["check"]).collect();
    assert_eq!(fixed, ["folders", "modes"]);
    patient.finds(&[]);
    let mode = |path: &str| std::fs::metadata(sandbox.at(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode("secret"), mode("spool/new"), mode("")], [0o600, 0o700, 0o700]);
    assert!(!sandbox.at("state/starting").exists());
    std::fs::write(sandbox.at("secret"), "no hex\n").unwrap();
    let (found, code) = patient.examine(&["--fix"]);
    let folders = found.iter().find(|f| f["check"] == "folders").unwrap();
    assert!(code == Some(1) && folders["detail"].as_str().unwrap().contains("damaged"), "{folders}");
    assert_eq!(std::fs::read_to_string(sandbox.at("secret")).unwrap(), "no hex\n");
}

#[cfg(all(feature = "failpoints", target_os = "linux"))]
#[test]
fn f46_doctor_warns_of_a_network_file_system() {
    let mut patient = Patient::healthy();
    patient.env.push(("STEP_STATFS".to_owned(), 0x6969.to_string()));
    let wrong = patient.finds(&["network"]);
    assert!(wrong[0]["detail"].as_str().unwrap().contains("NFS"), "{wrong:#?}");
}

#[test]
fn transcripts_that_cannot_be_read_or_never_come_are_told() {
    let patient = Patient::healthy();
    let sandbox = &patient.sandbox;
    let session = "5e551000-0000-4000-8000-00000000dead";
    let path = sandbox.claude().join("projects").join(format!("{session}.jsonl"));
    for (event, name) in [("stop", "Stop"), ("session-end", "SessionEnd")] {
        let payload = json!({"session_id": session, "transcript_path": path, "cwd": sandbox.project(), "hook_event_name": name, "reason": "other"});
        sandbox.hook(event, &payload);
        sandbox.drain_once();
    }
    assert!(patient.finds(&["unwritten"])[0]["hint"].as_str().unwrap().contains("--no-session-persistence"));
    std::fs::rename(sandbox.claude().join("projects"), sandbox.claude().join("elsewhere")).unwrap();
    patient.finds(&["transcripts", "unwritten"]);
}

#[test]
fn a_machine_that_has_just_been_set_up_is_well() {
    let sandbox = Sandbox::new().with_host();
    std::fs::remove_dir_all(sandbox.claude().join("projects")).unwrap();
    sandbox.hosted_json(0, &["install"]);
    let out = sandbox.hosted(&[
        "doctor",
        "folders",
        "transcripts",
        "hooks",
        "hooks-work",
        "modes",
        "drainer",
        "lag",
        "index",
        "whole-way",
    ]);
    assert_eq!(out.code, Some(0), "{out}");
}

#[test]
fn a_wedged_drainer_is_told() {
    let patient = Patient::healthy();
    let lock =
        std::fs::OpenOptions::new().append(true).create(true).open(patient.sandbox.at("drain.lock")).unwrap();
    lock.lock().unwrap();
    std::fs::set_permissions(patient.sandbox.at("drain.lock"), std::fs::Permissions::from_mode(0o600))
        .unwrap();
    let beat = patient.sandbox.at("state/heartbeat");
    std::fs::write(&beat, "").unwrap();
    std::fs::set_permissions(&beat, std::fs::Permissions::from_mode(0o600)).unwrap();
    patient.finds(&[]);
    age(&beat, Duration::from_secs(600));
    assert!(patient.finds(&["drainer"])[0]["detail"].as_str().unwrap().contains("silent for"));
    drop(lock);
    patient.finds(&[]);
}

#[test]
fn f33_a_lag_is_told_and_one_that_nears_the_clean_up_more_so() {
    let patient = Patient::healthy();
    let mut t = Transcript::new(&patient.sandbox, 7);
    t.prompt("Nobody has read this.").flush();
    // Said just now: it is not late.
    patient.finds(&[]);
    age(&t.path, Duration::from_secs(3 * 3600));
    let wrong = patient.finds(&["lag"]);
    assert!(wrong[0]["detail"].as_str().unwrap().contains("oldest for 3 hours"), "{wrong:#?}");
    age(&t.path, Duration::from_secs(25 * 86_400));
    let wrong = patient.finds(&["lag"]);
    assert!(wrong[0]["detail"].as_str().unwrap().contains("after 30 days"), "{wrong:#?}");
    patient.change(|s| s["cleanupPeriodDays"] = json!(365));
    assert!(!patient.finds(&["lag"])[0]["detail"].as_str().unwrap().contains("deletes"));
    patient.sandbox.import(&[]);
    patient.finds(&[]);
}

#[test]
fn an_index_that_is_gone_or_behind_is_told_and_the_drainer_asked_to_look() {
    let patient = Patient::healthy();
    std::fs::remove_dir_all(patient.sandbox.at("index")).unwrap();
    patient.finds(&["index"]);
    assert!(!patient.sandbox.at("state/suspect-index").exists());
    let (_, code) = patient.examine(&["--fix"]);
    assert_eq!(code, Some(1));
    assert!(patient.sandbox.at("state/suspect-index").exists());
    patient.sandbox.drain_once();
    patient.finds(&[]);
    let old = patient.sandbox.root().join("old-index");
    assert!(
        Command::new("cp").arg("-r").arg(patient.sandbox.at("index")).arg(&old).status().unwrap().success()
    );
    let mut t = Transcript::new(&patient.sandbox, 2);
    t.prompt("One more.").flush();
    patient.sandbox.import(&[]);
    std::fs::remove_dir_all(patient.sandbox.at("index")).unwrap();
    std::fs::rename(old, patient.sandbox.at("index")).unwrap();
    assert!(patient.finds(&["index"])[0]["detail"].as_str().unwrap().contains("as of change"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_service_for_another_binary_or_of_somebody_else_is_told() {
    let patient = Patient::healthy();
    let unit = patient.sandbox.user().join(".config/systemd/user/sinker.service");
    assert!(patient.run(&["service", "install"]).status.success());
    patient.finds(&[]);
    let text = std::fs::read_to_string(&unit).unwrap();
    std::fs::write(&unit, text.replace("ExecStart=\"", "ExecStart=\"/elsewhere")).unwrap();
    assert!(patient.finds(&["service"])[0]["hint"].as_str().unwrap().contains("service install"));
    std::fs::write(&unit, "[Service]\nExecStart=/bin/true\n").unwrap();
    assert!(patient.finds(&["service"])[0]["detail"].as_str().unwrap().contains("not written by Sinker"));
}

#[test]
fn where_nothing_can_be_tried_that_is_told() {
    let mut patient = Patient::healthy();
    let file = patient.sandbox.root().join("no-folder");
    std::fs::write(&file, "").unwrap();
    patient.env.push(("TMPDIR".to_owned(), file.to_str().unwrap().to_owned()));
    patient.finds(&["hooks-work", "mcp", "whole-way"]);
}

#[test]
fn before_anything_is_set_up_doctor_says_what_to_do_first() {
    let sandbox = Sandbox::new();
    let out: Out = sandbox.sinker(&["doctor"]);
    assert_eq!(out.code, Some(1), "{out}");
    for word in ["sinker install", "claude mcp add", "whole-way"] {
        assert!(out.stdout.contains(word), "no {word} in {out}");
    }
}
