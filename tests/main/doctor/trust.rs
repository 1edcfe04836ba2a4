//! What doctor starts and what it does not: a project's files are somebody else's words.

use super::*;

/// A program named `sinker` that the project brings along, and the mark that it leaves when it is started.
fn planted(patient: &Patient) -> (PathBuf, PathBuf) {
    let mark = patient.sandbox.root().join("was-started");
    let fake = patient.sandbox.project().join("tools/sinker");
    script(&fake, &format!("#!/bin/sh\n: > '{}'\n", mark.display()));
    (fake, mark)
}

fn hook(command: &str, args: Option<&[&str]>) -> Value {
    let mut hook = json!({"type": "command", "command": command});
    args.inspect(|args| hook["args"] = json!(args));
    json!({"hooks": {"Stop": [{"hooks": [hook]}]}})
}

#[test]
fn a_program_that_a_project_names_is_not_started() {
    let patient = Patient::healthy();
    let (fake, mark) = planted(&patient);
    let name = fake.to_str().unwrap();
    let args = ["hook", "claude", "stop", "--only", "capture"];
    let line = format!("{name} hook claude stop --only capture");
    for file in ["settings.json", "settings.local.json"] {
        let path = patient.sandbox.project().join(".claude").join(file);
        for settings in [
            hook(name, Some(&args)),
            hook(&line, None),
            hook("./tools/sinker hook claude stop --only capture", None),
            hook("\"$CLAUDE_PROJECT_DIR\"/tools/sinker hook claude stop", None),
        ] {
            patient.write(&path, &settings);
            let (found, _) = patient.check(&["hooks-work"], &[]);
            assert!(
                found[0]["detail"].as_str().unwrap().contains("not tried: another program ("),
                "{found:#?}"
            );
            assert!(!mark.exists(), "{file}: {settings}");
        }
        // A link that leads to this binary is this binary.
        let link = patient.sandbox.root().join("linked/sinker");
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::fs::remove_file(&link).ok();
        std::os::unix::fs::symlink(&patient.program, &link).unwrap();
        patient.write(&path, &hook(link.to_str().unwrap(), Some(&args)));
        let (found, _) = patient.check(&["hooks-work"], &[]);
        assert!(!found[0]["detail"].as_str().unwrap().contains("not tried"), "{found:#?}");
        std::fs::remove_file(&path).unwrap();
    }
    // A plugin that the project switches on is the project's.
    let folder = patient.sandbox.project().join("plugin");
    patient.write(&folder.join("hooks/hooks.json"), &hook(name, Some(&args)));
    let server = json!({"command": name, "args": ["mcp"]});
    patient.write(&folder.join(".mcp.json"), &json!({"mcpServers": {"sinker": server}}));
    let on = json!({
        "enabledPlugins": {"sinker@x": true},
        "extraKnownMarketplaces": {"x": {"source": {"source": "directory", "path": folder}}},
    });
    patient.write(&patient.sandbox.project().join(".claude/settings.json"), &on);
    patient.write(&patient.sandbox.claude().join(".claude.json"), &json!({}));
    let (found, _) = patient.check(&["hooks-work", "mcp"], &[]);
    assert!(found.iter().all(|f| f["detail"].as_str().unwrap().contains("not tried")), "{found:#?}");
    assert!(!mark.exists());
    // What stands in the user's own settings is started, whatever it is.
    patient.write(&patient.settings_path(), &hook(name, Some(&args)));
    patient.check(&["hooks-work"], &[]);
    assert!(mark.exists());
}

#[test]
fn a_server_that_a_project_names_is_not_started() {
    let patient = Patient::healthy();
    let (fake, mark) = planted(&patient);
    patient.write(&patient.sandbox.claude().join(".claude.json"), &json!({}));
    let register = patient.sandbox.project().join(".mcp.json");
    let server = |command: &Path, args: &[&str]| {
        patient.write(&register, &json!({"mcpServers": {"sinker": {"command": command, "args": args}}}));
    };
    let untried = || {
        let wrong = patient.finds(&["mcp"]);
        assert!(wrong[0]["detail"].as_str().unwrap().contains("not tried: another program ("), "{wrong:#?}");
    };
    patient.change(|s| s["enabledMcpjsonServers"] = json!(["sinker"]));
    server(&fake, &["mcp"]);
    untried();
    assert!(!mark.exists());
    // This very program can do more than answer.
    let before = patient.tree(&patient.sandbox.user());
    server(&patient.program, &["uninstall", "--purge", "--yes"]);
    untried();
    assert_eq!(patient.tree(&patient.sandbox.user()), before);
    server(&patient.program, &["mcp"]);
    patient.finds(&[]);
    // A project may not approve what it brings along.
    patient.change(|s| drop(s.as_object_mut().unwrap().remove("enabledMcpjsonServers")));
    let shared = patient.sandbox.project().join(".claude/settings.json");
    patient.write(&shared, &json!({"enableAllProjectMcpServers": true, "enabledMcpjsonServers": ["sinker"]}));
    assert!(patient.finds(&["mcp"])[0]["detail"].as_str().unwrap().contains("waits for an approval"));
}

#[test]
fn each_file_is_measured_by_the_config_that_an_install_of_its_scope_reads() {
    let patient = Patient::healthy();
    // The project's config is not heard by an install for the user.
    let config = patient.sandbox.project().join(".sinker/settings.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(&config, "[recall]\ntools = \"all\"\n").unwrap();
    patient.finds(&[]);
    assert!(patient.run(&["install", "--scope", "local", "--json"]).status.success());
    patient.finds(&[]);
    // The user's is, once it was installed again.
    std::fs::write(patient.sandbox.user().join("sinker-config.toml"), "[recall]\ntools = \"all\"\n").unwrap();
    std::fs::remove_file(&config).unwrap();
    patient.finds(&["hooks"]);
    assert!(patient.run(&["install", "--json"]).status.success());
    patient.finds(&[]);
}

#[test]
fn a_line_with_the_home_variable_names_the_program_in_it() {
    let patient = Patient::healthy();
    let link = patient.sandbox.user().join("own bin/sinker");
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&patient.program, &link).unwrap();
    for line in [
        "\"$HOME/own bin\"/sinker hook claude stop --only capture",
        "\"${HOME}/own bin/sinker\" hook claude stop",
    ] {
        patient.change(|s| s["hooks"]["Stop"] = json!([{"hooks": [{"type": "command", "command": line}]}]));
        patient.finds(&["hooks"]);
    }
    patient.change(|s| {
        s["hooks"]["Stop"] = hook("$HOME/gone/sinker hook claude stop", None)["hooks"]["Stop"].clone()
    });
    let wrong = patient.finds(&["hooks", "hook-programs"]);
    assert!(wrong[1]["detail"].as_str().unwrap().contains("user/gone/sinker"), "{wrong:#?}");
}
