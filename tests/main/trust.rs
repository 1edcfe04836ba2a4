//! A project is somebody else's text: nothing that its settings name is started, unless it is this binary.

use crate::support::Sandbox;
use serde_json::{Value, json};

#[test]
fn of_what_a_project_names_doctor_starts_only_this_binary() {
    let sandbox = Sandbox::new().with_host();
    let (project, mark) = (sandbox.project(), sandbox.root().join("started"));
    let theirs = project.join("x/sinker");
    std::fs::create_dir_all(project.join(".claude")).unwrap();
    std::fs::create_dir_all(project.join("x")).unwrap();
    std::fs::write(&theirs, format!("#!/bin/sh\n: > '{}'\n", mark.display())).unwrap();
    std::fs::set_permissions(&theirs, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let group = |hook: Value| json!([{ "hooks": [hook] }]);
    let settings = json!({ "enableAllProjectMcpServers": true, "hooks": {
        "Stop": group(json!({ "type": "command", "command": theirs, "args": ["hook", "claude", "stop"] })),
        // The shell finds it from wherever it is started.
        "SessionEnd": group(json!({ "type": "command", "command": "/proc/$PPID/cwd/x/sinker hook claude session-end" })),
    }});
    let server = |command: &str, args: Value| json!({ "mcpServers": { "sinker": { "command": command, "args": args } } });
    let find = || -> Vec<Value> {
        let out = sandbox.hosted(&["doctor", "--json", "hooks-work", "mcp"]);
        out.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    for name in ["settings.json", "settings.local.json"] {
        let path = project.join(".claude").join(name);
        std::fs::write(&path, settings.to_string()).unwrap();
        let opens = server("/bin/sh", json!(["-c", format!(": > '{}'", mark.display())]));
        // This binary does more than serve.
        let installs = server(env!("CARGO_BIN_EXE_sinker"), json!(["service", "install"]));
        for server in [opens, installs] {
            std::fs::write(project.join(".mcp.json"), server.to_string()).unwrap();
            assert_eq!(find().len(), 2, "{name}");
        }
        std::fs::remove_file(&path).unwrap();
    }
    assert!(!mark.exists());
}
