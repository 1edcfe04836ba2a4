//! `sinker install` and `sinker uninstall`: what they change, what they refuse, and that nothing of ours runs afterwards.

use crate::faults::install::{entries, moved};
use crate::support::{Sandbox, eventually, run_to_end};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn the_server_is_registered_once_replaced_when_older_and_taken_out_again() {
    let sandbox = Sandbox::new().with_host();
    let own = env!("CARGO_BIN_EXE_sinker");
    let own = Path::new(own).canonicalize().unwrap().to_str().unwrap().to_owned();
    let add = format!("mcp add --scope user sinker -- {own} mcp");
    let done = sandbox.hosted_json(0, &["install"]);
    assert_eq!(done["server"]["state"], "added", "{done}");
    assert_eq!(sandbox.host_calls(), [add.as_str()]);
    let done = sandbox.hosted_json(0, &["install"]);
    assert_eq!(done["server"]["state"], "current", "{done}");
    assert_eq!(sandbox.host_calls().len(), 1);
    let register = sandbox.claude().join(".claude.json");
    std::fs::write(&register, r#"{"mcpServers":{"sinker":{"command":"/old/sinker","args":["mcp"]}}}"#)
        .unwrap();
    sandbox.hosted_json(0, &["install"]);
    assert_eq!(sandbox.host_calls()[1..], ["mcp remove --scope user sinker".to_owned(), add]);
    sandbox.hosted_json(0, &["uninstall"]);
    assert_eq!(sandbox.host_calls().last().unwrap(), "mcp remove --scope user sinker");
    assert_eq!(read(&register)["mcpServers"], json!({}));
    // Somebody else's server of that name is not ours to touch.
    std::fs::write(&register, r#"{"mcpServers":{"sinker":{"command":"/x/fishing","args":[]}}}"#).unwrap();
    let done = sandbox.hosted_json(0, &["install"]);
    assert_eq!(done["server"]["state"], "foreign", "{done}");
    assert!(done["warnings"].to_string().contains("another program"), "{done}");
    sandbox.hosted_json(0, &["uninstall"]);
    assert_eq!(sandbox.host_calls().len(), 4);
}

#[test]
fn without_the_hosts_command_the_line_to_type_is_printed_and_a_failure_is_one() {
    let sandbox = Sandbox::new().with_host();
    let mut command = sandbox.beside_host(&["install"]);
    command.env("CLAUDE_FAILS", "1");
    let out = run_to_end(command, b"");
    assert!(out.code == Some(1) && out.stderr.contains("cannot do that"), "{out}");
    assert!(
        !entries(&std::fs::read(sandbox.settings()).unwrap()).is_empty(),
        "the hooks are in all the same"
    );
    std::fs::remove_file(sandbox.root().join("bin/claude")).unwrap();
    let out = sandbox.hosted(&["install"]);
    assert!(out.code == Some(0) && out.stderr.contains("claude mcp add --scope user sinker -- /"), "{out}");
}

#[test]
fn a_dry_run_says_all_and_changes_nothing() {
    let sandbox = Sandbox::new().with_host();
    std::fs::write(sandbox.settings(), "{}").unwrap();
    let home = sandbox.root().join("never");
    let run = |args: &[&str]| {
        let mut command = sandbox.beside_host(args);
        command.env("SINKER_HOME", &home);
        run_to_end(command, b"")
    };
    let out = run(&["install", "--dry-run"]);
    assert_eq!(out.code, Some(0), "{out}");
    let path = sandbox.settings();
    for word in [path.to_str().unwrap(), "session-end --only capture", "claude mcp add", "18 added"] {
        assert!(out.stdout.contains(word), "{word}: {out}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}");
    assert!(!home.exists() && sandbox.host_calls().is_empty());
    sandbox.hosted_json(0, &["install"]);
    let installed = std::fs::read(&path).unwrap();
    let out = sandbox.hosted(&["uninstall", "--purge", "--dry-run"]);
    let state = sandbox.at("install");
    for word in [path.to_str().unwrap(), "byte for byte", "claude mcp remove", state.to_str().unwrap()] {
        assert!(out.stdout.contains(word), "{word}: {out}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), installed);
    assert!(state.exists());
    assert_eq!(sandbox.host_calls().len(), 1);
}

#[test]
fn it_is_refused_beside_the_plugin_and_says_when_hooks_are_off() {
    let sandbox = Sandbox::new().with_host();
    for (value, code) in [(json!(true), 4), (json!(["1.0"]), 4), (json!(false), 0)] {
        let before = json!({ "enabledPlugins": { "sinker@sinker": value, "other@x": true } }).to_string();
        std::fs::write(sandbox.settings(), &before).unwrap();
        let out = sandbox.hosted(&["install"]);
        assert_eq!(out.code, Some(code), "{before}: {out}");
        if code == 4 {
            assert!(out.stderr.contains("hint: `claude plugin uninstall sinker@sinker`"), "{out}");
            assert_eq!(std::fs::read_to_string(sandbox.settings()).unwrap(), before);
            assert_eq!(sandbox.hosted(&["uninstall"]).code, Some(1), "the plugin would still run");
        }
    }
    std::fs::create_dir(sandbox.project().join(".claude")).unwrap();
    std::fs::write(sandbox.project().join(".claude/settings.json"), "{\"disableAllHooks\": true}").unwrap();
    let out = sandbox.hosted(&["install"]);
    assert!(out.code == Some(0) && out.stderr.contains("disableAllHooks"), "{out}");
}

#[test]
fn project_and_local_settings_are_found_again_from_anywhere() {
    let sandbox = Sandbox::new().with_host();
    for scope in ["project", "local"] {
        let mut command = sandbox.beside_host(&["install", "--scope", scope]);
        command.current_dir(sandbox.project().join("src"));
        let out = run_to_end(command, b"");
        assert!(out.code == Some(0) && out.stderr.contains("sessions that are started in"), "{out}");
    }
    let folder = sandbox.project().join(".claude");
    assert!(folder.join("settings.json").exists() && folder.join("settings.local.json").exists());
    assert!(!sandbox.settings().exists());
    let mut command = sandbox.beside_host(&["uninstall"]);
    command.current_dir(sandbox.root());
    let out = run_to_end(command, b"");
    assert_eq!(out.code, Some(0), "{out}");
    assert!(!folder.exists() && !sandbox.project().join(".mcp.json").exists(), "{out}");
}

#[test]
fn only_the_named_scope_is_taken_out() {
    let sandbox = Sandbox::new().with_host();
    sandbox.hosted_json(0, &["install"]);
    sandbox.hosted_json(0, &["install", "--scope", "local"]);
    sandbox.hosted_json(0, &["uninstall", "--scope", "local"]);
    assert!(!sandbox.project().join(".claude").exists() && sandbox.settings().exists());
}

#[test]
fn the_config_decides_which_tool_events_recall() {
    let sandbox = Sandbox::new().with_host();
    sandbox.hosted_json(0, &["install"]);
    let quiet = entries(&std::fs::read(sandbox.settings()).unwrap());
    std::fs::write(sandbox.user().join("sinker-config.toml"), "[recall]\ntools = \"all\"\n").unwrap();
    sandbox.hosted_json(0, &["install"]);
    let all = entries(&std::fs::read(sandbox.settings()).unwrap());
    assert_eq!(all.len(), quiet.len() + 1);
    let recalls = |entries: &[(String, Vec<String>)]| {
        entries.iter().any(|(event, words)| event == "PostToolUse" && words.last().unwrap() == "recall")
    };
    assert!(recalls(&all) && !recalls(&quiet));
    assert_eq!(read(&sandbox.settings())["hooks"]["PreToolUse"][0].get("matcher"), None);
    std::fs::write(sandbox.user().join("sinker-config.toml"), "[recall]\ntools = \"off\"\n").unwrap();
    sandbox.hosted_json(0, &["install"]);
    let off = entries(&std::fs::read(sandbox.settings()).unwrap());
    assert!(off.len() < quiet.len() && !off.iter().any(|(event, _)| event == "PreToolUse"));
    sandbox.hosted_json(0, &["uninstall"]);
    assert!(!sandbox.settings().exists(), "three installs, one backup");
}

#[test]
fn a_purge_ends_the_drainer_and_removes_the_data_but_nothing_of_others() {
    let sandbox = Sandbox::new().with_host();
    sandbox.hosted_json(0, &["install"]);
    let mut drainer = sandbox.start(&["drain"]);
    eventually("a heartbeat", || sandbox.at("state/heartbeat").exists());
    std::fs::write(sandbox.at("mine.txt"), "x").unwrap();
    let out = sandbox.hosted(&["uninstall", "--purge", "--yes"]);
    assert!(out.code == Some(4) && out.stderr.contains("mine.txt"), "{out}");
    assert!(sandbox.settings().exists() && sandbox.at("secret").exists(), "nothing was done");
    std::fs::remove_file(sandbox.at("mine.txt")).unwrap();
    let out = sandbox.hosted(&["uninstall", "--purge"]);
    assert!(out.code == Some(2) && out.stderr.contains("--yes"), "nobody can be asked: {out}");
    assert!(sandbox.settings().exists() && sandbox.at("secret").exists(), "nothing was done");
    let out = sandbox.hosted(&["uninstall", "--purge", "--yes"]);
    assert_eq!(out.code, Some(0), "{out}");
    assert!(!sandbox.home().exists() && !sandbox.settings().exists());
    eventually("the drainer's end", || drainer.ended());
    assert_eq!(drainer.finish(std::time::Duration::from_secs(10)).code, Some(0));
    let out = sandbox.hosted(&["uninstall", "--purge", "--yes"]);
    assert!(out.code == Some(0) && !sandbox.home().exists(), "{out}");
}

#[test]
fn an_uninstall_removes_the_service_too_but_not_with_one_scope_alone() {
    let sandbox = Sandbox::new().with_host();
    let unit = sandbox.hosted_json(0, &["service", "install"])["unit"].as_str().unwrap().to_owned();
    sandbox.hosted_json(0, &["uninstall", "--scope", "user"]);
    assert!(Path::new(&unit).exists());
    let out = sandbox.hosted(&["uninstall", "--dry-run"]);
    assert!(out.code == Some(0) && out.stdout.contains(&unit) && Path::new(&unit).exists(), "{out}");
    let done = sandbox.hosted_json(0, &["uninstall"]);
    assert_eq!(done["service"], unit.as_str(), "{done}");
    assert!(!Path::new(&unit).exists());
    assert_eq!(sandbox.hosted(&["uninstall", "--dry-run"]).code, Some(3));
}

#[test]
fn a_directory_that_is_none_of_ours_is_not_purged() {
    let sandbox = Sandbox::new().with_host();
    let home = sandbox.root().join("elsewhere");
    std::fs::create_dir_all(home.join("log")).unwrap();
    std::fs::write(home.join("log/theirs"), "x").unwrap();
    let mut command = sandbox.beside_host(&["uninstall", "--purge", "--yes"]);
    command.env("SINKER_HOME", &home);
    let out = run_to_end(command, b"");
    assert!(out.code == Some(4) && home.join("log/theirs").exists() && !home.join("state").exists(), "{out}");
}

#[cfg(feature = "failpoints")]
#[test]
fn a_purge_killed_at_any_step_is_completed_by_the_next() {
    for n in 1..200 {
        let sandbox = Sandbox::new().with_host();
        sandbox.hosted_json(0, &["install"]);
        sandbox.drain_once();
        std::fs::write(sandbox.at("forgotten"), "{\"v\":1}\n").unwrap();
        let mut command = sandbox.beside_host(&["uninstall", "--purge", "--yes"]);
        command.env("STEP_KILL", n.to_string());
        let out = run_to_end(command, b"");
        // What is left of the data has its ledger, and the ledger its secret, until nothing else is there.
        let left: Vec<_> = std::fs::read_dir(sandbox.home()).into_iter().flatten().collect();
        let names: Vec<_> = left.iter().map(|e| e.as_ref().unwrap().file_name()).collect();
        let has = |name: &str| names.iter().any(|n| n == name);
        let data = names.iter().any(|n| n != "forgotten" && n != "secret" && n != "drain.lock");
        assert!(!data || has("forgotten"), "step {n}: {names:?}");
        assert!(!has("forgotten") || has("secret"), "step {n}: {names:?}");
        let again = sandbox.hosted(&["uninstall", "--purge", "--yes"]);
        assert_eq!(again.code, Some(0), "step {n}: {again}");
        assert!(!sandbox.home().exists() && !sandbox.settings().exists(), "step {n}: {again}");
        if !out.killed() {
            assert!(n > 10, "{n} steps: {out}");
            return;
        }
    }
    panic!("no end");
}

#[test]
fn an_uninstall_ends_the_drainer_and_keeps_what_was_remembered() {
    let sandbox = Sandbox::new().with_host();
    sandbox.hosted_json(0, &["install"]);
    let mut drainer = sandbox.start(&["drain"]);
    eventually("a heartbeat", || sandbox.at("state/heartbeat").exists());
    sandbox.hosted_json(0, &["uninstall"]);
    eventually("the drainer's end", || drainer.ended());
    assert!(
        sandbox.at("store.db").exists() && sandbox.spool("new").is_empty() && sandbox.spool("cur").is_empty()
    );
}

#[test]
fn the_plugin_folder_holds_the_same_entries_and_is_kept_right() {
    let sandbox = Sandbox::new().with_host();
    let dir = sandbox.root().join("my plugin");
    let text = dir.to_str().unwrap();
    let out = sandbox.hosted(&["install", "--plugin", text, "--dry-run"]);
    assert!(out.code == Some(0) && !dir.exists(), "{out}");
    let done = sandbox.hosted_json(0, &["install", "--plugin", text]);
    assert_eq!(done["written"].as_array().unwrap().len(), 8, "{done}");
    assert!(!sandbox.settings().exists() && sandbox.host_calls().is_empty());
    let manifest = read(&dir.join(".claude-plugin/plugin.json"));
    assert_eq!(
        (&manifest["name"], &manifest["version"]),
        (&json!("sinker"), &json!(env!("CARGO_PKG_VERSION")))
    );
    assert_eq!(read(&dir.join(".claude-plugin/marketplace.json"))["plugins"][0]["source"], "./");
    let own = done["command"].as_str().unwrap();
    assert_eq!(
        read(&dir.join(".mcp.json"))["mcpServers"]["sinker"],
        json!({ "command": own, "args": ["mcp"] })
    );
    for page in ["skills/memory/SKILL.md", "commands/recall.md", "commands/forget.md", "README.md"] {
        let page = std::fs::read_to_string(dir.join(page)).unwrap();
        assert!(!page.contains("{{"), "{page}");
    }
    let done = sandbox.hosted_json(0, &["install", "--plugin", text]);
    assert_eq!(done["changed"], false, "{done}");
    std::fs::remove_file(dir.join("README.md")).unwrap();
    std::fs::write(dir.join("commands/recall.md"), "old").unwrap();
    std::fs::write(dir.join("mine.txt"), "mine").unwrap();
    let done = sandbox.hosted_json(0, &["install", "--plugin", text]);
    assert_eq!(done["written"].as_array().unwrap().len(), 2, "{done}");
    assert_eq!(std::fs::read_to_string(dir.join("mine.txt")).unwrap(), "mine");

    sandbox.hosted_json(0, &["install"]);
    let hooks = std::fs::read(dir.join("hooks/hooks.json")).unwrap();
    assert_eq!(entries(&hooks), entries(&std::fs::read(sandbox.settings()).unwrap()));
    let out = sandbox.hosted(&["install", "--plugin", text]);
    assert!(out.code == Some(0) && out.stderr.contains("answered twice"), "{out}");

    let foreign = sandbox.root().join("foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("a"), "b").unwrap();
    let out = sandbox.hosted(&["install", "--plugin", foreign.to_str().unwrap()]);
    assert!(out.code == Some(4) && std::fs::read_dir(&foreign).unwrap().count() == 1, "{out}");
}

#[cfg(feature = "failpoints")]
#[test]
fn a_plugin_folder_killed_at_any_step_is_completed_by_the_next_run() {
    for n in 1..200 {
        let sandbox = Sandbox::new().with_host();
        let dir = sandbox.root().join("plugin");
        let mut command = sandbox.beside_host(&["install", "--plugin", dir.to_str().unwrap()]);
        command.env("STEP_KILL", n.to_string());
        let out = run_to_end(command, b"");
        let again = sandbox.hosted(&["install", "--plugin", dir.to_str().unwrap()]);
        assert_eq!(again.code, Some(0), "step {n}: {again}");
        let files =
            walkdir::WalkDir::new(&dir).into_iter().filter(|e| e.as_ref().unwrap().file_type().is_file());
        assert_eq!(files.count(), 8, "step {n}: nothing of a temporary name is left");
        if !out.killed() {
            assert!(n > 20, "{n} steps: {out}");
            return;
        }
    }
    panic!("no end");
}

#[test]
fn past_sessions_are_offered_until_they_are_stored() {
    let sandbox = Sandbox::new().with_host();
    let folder = sandbox.claude().join("projects/-x");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.jsonl"), "{\"type\":\"mode\"}\n").unwrap();
    let out = sandbox.hosted(&["install"]);
    assert!(out.stdout.contains("1 transcript of") && out.stdout.contains("`sinker import`"), "{out}");
    sandbox.drain_once();
    let out = sandbox.hosted(&["install"]);
    assert!(!out.stdout.contains("`sinker import`"), "{out}");
}

#[test]
fn a_new_file_of_the_project_is_no_wider_than_the_umask_and_nobody_else_writes_it() {
    let cases = [("022", 0o644, 0o600, 0o755), ("077", 0o600, 0o600, 0o700), ("000", 0o644, 0o600, 0o755)];
    for (mask, shared, own, folder) in cases {
        let sandbox = Sandbox::new().with_host();
        let run = |args: &[&str]| {
            let mut command = sandbox.beside_host(&[]);
            command = moved(&command, Path::new("/bin/sh"));
            command.args(["-c", "umask $0; exec \"$@\"", mask, env!("CARGO_BIN_EXE_sinker")]).args(args);
            let out = run_to_end(command, b"");
            assert_eq!(out.code, Some(0), "{mask}: {out}");
        };
        let plugin = sandbox.root().join("plugin");
        run(&["install", "--plugin", plugin.to_str().unwrap()]);
        run(&["install", "--scope", "project"]);
        run(&["install", "--scope", "local"]);
        run(&["install"]);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let claude = sandbox.project().join(".claude");
        assert_eq!(mode(&claude), folder, "{mask}");
        assert_eq!(mode(&claude.join("settings.json")), shared, "{mask}");
        assert_eq!(mode(&claude.join("settings.local.json")), own, "{mask}");
        assert_eq!(mode(&sandbox.settings()), own, "{mask}");
        assert_eq!(mode(&plugin.join("hooks")), folder, "{mask}");
        assert_eq!(mode(&plugin.join("hooks/hooks.json")), shared, "{mask}");
        // A mode that is there is kept.
        std::fs::set_permissions(claude.join("settings.json"), std::fs::Permissions::from_mode(0o664))
            .unwrap();
        std::fs::write(sandbox.user().join("sinker-config.toml"), "[recall]\ntools = \"all\"\n").unwrap();
        run(&["install", "--scope", "project"]);
        assert_eq!(mode(&claude.join("settings.json")), 0o664, "{mask}");
    }
}

#[test]
fn f81_a_backup_that_was_damaged_is_not_given_back() {
    for damage in ["", "{}", "{\"model\": \"other\"}", "{\"mod"] {
        let sandbox = Sandbox::new().with_host();
        std::fs::create_dir_all(sandbox.claude()).unwrap();
        std::fs::write(sandbox.settings(), "{\"model\": \"opus\"}").unwrap();
        let done = sandbox.hosted_json(0, &["install"]);
        std::fs::write(done["backup"].as_str().unwrap(), damage).unwrap();
        sandbox.hosted_json(0, &["uninstall"]);
        let left: Value = serde_json::from_slice(&std::fs::read(sandbox.settings()).unwrap()).unwrap();
        assert_eq!(left, json!({ "model": "opus" }), "{damage:?}");
    }
}

#[test]
fn without_the_hosts_command_a_purge_removes_the_data_and_says_what_is_left_to_type() {
    for scope in ["user", "local"] {
        let sandbox = Sandbox::new().with_host();
        sandbox.hosted_json(0, &["install"]);
        sandbox.drain_once();
        let entry = json!({"mcpServers": {"sinker": {"command": "/x/sinker", "args": ["mcp"]}}});
        let root = sandbox.project().canonicalize().unwrap().to_str().unwrap().to_owned();
        let register = if scope == "user" { entry } else { json!({ "projects": { root.as_str(): entry } }) };
        std::fs::write(sandbox.claude().join(".claude.json"), register.to_string()).unwrap();
        std::fs::remove_file(sandbox.root().join("bin/claude")).unwrap();
        let out = sandbox.hosted(&["uninstall", "--purge", "--yes"]);
        assert!(!sandbox.home().exists() && !sandbox.settings().exists(), "{out}");
        let words = format!("claude mcp remove --scope {scope} sinker");
        let words = if scope == "user" { words } else { format!("cd {root} && {words}") };
        assert!(out.code == Some(1) && out.stderr.contains(&format!("yourself: {words}")), "{out}");
    }
    // What still starts Sinker keeps the data.
    let sandbox = Sandbox::new().with_host();
    sandbox.drain_once();
    std::fs::write(sandbox.settings(), "{ // mine\n \"hooks\": \"sinker\" }").unwrap();
    let out = sandbox.hosted(&["uninstall", "--purge", "--yes"]);
    assert!(out.code == Some(1) && sandbox.at("store.db").exists(), "{out}");
}

#[test]
fn where_the_new_server_is_refused_the_older_one_is_put_back() {
    let register = r#"{"mcpServers":{"sinker":{"command":"/old/sinker","args":["mcp"]}}}"#;
    for (refused, back) in [("sinker -- /old/sinker mcp", false), ("no such words", true)] {
        let sandbox = Sandbox::new().with_host();
        std::fs::write(sandbox.claude().join(".claude.json"), register).unwrap();
        let own = Path::new(env!("CARGO_BIN_EXE_sinker")).canonicalize().unwrap();
        let script = sandbox.root().join("bin/claude");
        let text = std::fs::read_to_string(&script).unwrap();
        let refuse = format!("case \"$*\" in *'{}'*) echo full >&2; exit 1 ;; esac\n", own.display());
        std::fs::write(&script, text.replacen("\n", &format!("\n{refuse}"), 1)).unwrap();
        let mut command = sandbox.beside_host(&["install"]);
        command.env("CLAUDE_REFUSES", refused);
        let out = run_to_end(command, b"");
        let word = if back { "was put back" } else { "is gone; try it yourself: claude mcp add" };
        assert!(out.code == Some(1) && out.stderr.contains("full") && out.stderr.contains(word), "{out}");
        let kept = read(&sandbox.claude().join(".claude.json"));
        let kept = kept.pointer("/mcpServers/sinker/command").and_then(Value::as_str);
        assert_eq!(kept, back.then_some("/old/sinker"), "{out}");
    }
}

#[test]
fn an_older_matcher_is_replaced() {
    let sandbox = Sandbox::new().with_host();
    sandbox.hosted_json(0, &["install"]);
    let now = std::fs::read_to_string(sandbox.settings()).unwrap();
    let matcher = read(&sandbox.settings())["hooks"]["PreToolUse"][0]["matcher"].as_str().unwrap().to_owned();
    let older = now.replace(&matcher, "Read|Edit|MultiEdit|Write|Bash|Grep|Glob|Agent|memory");
    assert_ne!(older, now);
    std::fs::write(sandbox.settings(), older).unwrap();
    let done = sandbox.hosted_json(0, &["install"]);
    assert_eq!((&done["replaced"], &done["added"]), (&json!(1), &json!(0)), "{done}");
    assert_eq!(std::fs::read_to_string(sandbox.settings()).unwrap(), now);
}

#[test]
fn a_damaged_record_is_left_with_its_backup_and_nothing_is_changed() {
    let sandbox = Sandbox::new().with_host();
    let before = "{\n  \"env\": { \"TOKEN\": \"x\" }\n}\n";
    std::fs::write(sandbox.settings(), before).unwrap();
    let backup = sandbox.hosted_json(0, &["install"])["backup"].as_str().unwrap().to_owned();
    // The user's tokens are in it: not in the folder of ids and numbers, and for nobody else.
    assert_eq!(Path::new(&backup).parent().unwrap(), sandbox.at("install"));
    assert_eq!(std::fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(sandbox.at("install")).unwrap().permissions().mode() & 0o777, 0o700);
    let after = std::fs::read(sandbox.settings()).unwrap();
    std::fs::write(Path::new(&backup).with_extension("json"), "{\"v\":1,\"sco").unwrap();
    std::fs::write(sandbox.user().join("sinker-config.toml"), "[recall]\ntools = \"all\"\n").unwrap();
    for args in [
        &["install"][..],
        &["uninstall"],
        &["uninstall", "--purge", "--yes"],
        &["uninstall", "--scope", "user"],
    ] {
        let out = sandbox.hosted(args);
        assert!(out.code == Some(4) && out.stderr.contains(&backup), "{args:?}: {out}");
        assert_eq!(std::fs::read(sandbox.settings()).unwrap(), after, "{args:?}");
        assert_eq!(std::fs::read_to_string(&backup).unwrap(), before, "{args:?}");
    }
}

#[test]
fn what_the_first_install_made_goes_also_when_the_settings_were_changed_before_the_second() {
    let sandbox = Sandbox::new().with_host();
    let settings = sandbox.project().join(".claude/settings.json");
    sandbox.hosted_json(0, &["install", "--scope", "project"]);
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text.replacen('{', "{\n  \"a\": 1,", 1)).unwrap();
    std::fs::write(sandbox.user().join("sinker-config.toml"), "[recall]\ntools = \"all\"\n").unwrap();
    let done = sandbox.hosted_json(0, &["install", "--scope", "project"]);
    assert_eq!(done["changed"], true, "{done}");
    sandbox.hosted_json(0, &["uninstall"]);
    let left: Value = serde_json::from_slice(&std::fs::read(&settings).unwrap()).unwrap();
    assert_eq!(left, json!({ "a": 1 }));
    assert!(!sandbox.project().join(".mcp.json").exists());
}
