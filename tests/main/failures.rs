//! What failed, what became of it, and what a turn says of what it ran.

use crate::support::{Sandbox, Transcript, payload};
use serde_json::{Value, json};

fn bash(command: &str) -> Value {
    json!({"command": command, "description": "x"})
}

fn failures(sandbox: &Sandbox) -> Vec<Value> {
    let out = sandbox.sinker(&["inspect", "--view", "failures", "--json"]);
    out.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn failure<'a>(all: &'a [Value], command: &str, error: &str) -> &'a Value {
    let is_it = |f: &&Value| f["command"] == command && f["error"].as_str().unwrap().contains(error);
    all.iter().find(is_it).unwrap_or_else(|| panic!("{command}, {error}: {all:?}"))
}

/// Two sessions: a command fails three times and works in the end, another fails for good, calls are denied, unknown and cut off.
fn sessions(sandbox: &Sandbox) -> [Transcript; 2] {
    let mut first = Transcript::new(sandbox, 1);
    first
        .prompt("Make the parser build.")
        .calls("t1", "Bash", bash("cd src && make parser 2>&1 | tail -5"))
        .fails("t1", "Exit code 2\ngcc -c p.c\np.c:12: error: expected ';' before 'x'")
        .calls("t2", "Bash", bash("make parser"))
        .fails("t2", "Exit code 2\np.c:19: error: expected ';' before 'x'")
        .calls("t3", "Bash", bash("make lexer"))
        .fails("t3", "Exit code 1\nmake: *** No rule to make target 'lexer'")
        .calls("t4", "Bash", bash("git push"))
        .fails("t4", "The user doesn't want to proceed with this tool use. The tool use was rejected.")
        .calls("t5", "Teleport", json!({"to": "x"}))
        .fails("t5", "<tool_use_error>Error: No such tool available: Teleport</tool_use_error>")
        .says("It does not build yet.")
        .flush();
    let mut second = Transcript::new(sandbox, 2);
    second
        .prompt("Go on with the parser.")
        .calls("t1", "Bash", bash("make parser"))
        .fails("t1", "Exit code 2\nld: cannot find -lfl")
        .calls("t2", "Edit", json!({"file_path": "/p/Makefile", "old_string": "a", "new_string": "b"}))
        .returns("t2", "done")
        .calls("t3", "Bash", bash("make parser"))
        .returns("t3", "built")
        .calls("t4", "Bash", bash("cargo test"))
        .returns("t4", "test result: ok. 4 passed; 0 failed; 0 ignored")
        .says("It builds.")
        .flush();
    [first, second]
}

#[test]
fn the_same_failure_is_one_with_a_count_and_knows_the_run_that_worked_afterwards() {
    let sandbox = Sandbox::new();
    let [_, second] = sessions(&sandbox);
    sandbox.drain_once();
    let all = failures(&sandbox);
    assert_eq!(all.len(), 5, "{all:?}");

    let twice = failure(&all, "make parser", "expected ';'");
    assert_eq!(
        (&twice["count"], &twice["exit"], &twice["status"]),
        (&json!(2), &json!(2), &json!("superseded"))
    );
    assert_eq!(twice["error"], "p.c:19: error: expected ';' before 'x'", "the last one");
    assert_eq!(twice["records"].as_array().unwrap().len(), 2);
    let fix = &twice["fixed"];
    assert_eq!(
        (fix["session"].as_str().unwrap(), &fix["files"]),
        (second.session.as_str(), &json!(["/p/Makefile"]))
    );
    let linked = failure(&all, "make parser", "cannot find -lfl");
    assert_eq!((&linked["count"], &linked["fixed"]["time"]), (&json!(1), &fix["time"]));

    let open = failure(&all, "make lexer", "No rule");
    assert_eq!(
        (&open["status"], &open["fixed"], &open["end"]),
        (&json!("current"), &Value::Null, &json!("failed"))
    );
    assert_eq!(failure(&all, "git push", "")["end"], "denied");
    assert_eq!(failure(&all, "Teleport to: x", "")["end"], "unknown");

    // Each is a document like any other.
    let id = open["id"].as_str().unwrap();
    let shown = sandbox.json(&["show", id]);
    assert_eq!((&shown["kind"], &shown["failure"]["command"]), (&json!("failure"), &json!("make lexer")));
    let found = sandbox.json(&["search", "lexer", "--all", "--kind", "failure", "--status", "current"]);
    assert_eq!(found["hits"][0]["id"], id, "{found}");
    sandbox.verify();

    // Imported, drained in two steps or again: the same rows.
    let before = sandbox.dump();
    sandbox.drain_once();
    assert_eq!(sandbox.dump(), before);
    let late = Sandbox::new();
    let [first, _] = sessions(&late);
    let whole = std::fs::read(&first.path).unwrap();
    std::fs::remove_file(&first.path).unwrap();
    late.drain_once();
    assert_eq!(failures(&late).len(), 1);
    std::fs::write(&first.path, &whole).unwrap();
    late.drain_once();
    let plain = |all: Vec<Value>| {
        all.iter()
            .map(|f| json!([f["command"], f["count"], f["status"], f["fixed"]["time"]]))
            .collect::<Vec<_>>()
    };
    assert_eq!(plain(failures(&late)), plain(failures(&sandbox)));
}

#[test]
fn a_failure_goes_with_the_session_that_is_forgotten_and_is_open_again_without_its_fix() {
    let sandbox = Sandbox::new();
    let [first, second] = sessions(&sandbox);
    sandbox.drain_once();
    sandbox.json(&["forget", "--session", second.session.as_str(), "--yes"]);
    let all = failures(&sandbox);
    assert_eq!(all.len(), 4, "{all:?}");
    let twice = failure(&all, "make parser", "expected ';'");
    assert_eq!((&twice["status"], &twice["fixed"]), (&json!("current"), &Value::Null));
    sandbox.verify();
    sandbox.json(&["forget", "--session", first.session.as_str(), "--yes"]);
    assert_eq!(failures(&sandbox), Vec::<Value>::new());
    sandbox.verify();
}

#[test]
fn a_command_that_failed_before_is_told_when_it_is_about_to_run_again_until_it_worked() {
    let sandbox = Sandbox::new();
    sessions(&sandbox);
    sandbox.drain_once();
    let now = Transcript::new(&sandbox, 9);
    let before = |command: &str| {
        let mut event = payload("PreToolUse.Bash", &sandbox, &now);
        event["tool_input"] = json!({"command": command});
        event["tool_use_id"] = json!(format!("toolu_{command}"));
        sandbox.hook("pre-tool-use", &event).stdout
    };
    let said = before("cd src; make lexer 2>&1 | head -3");
    assert!(said.contains("failed: make lexer: make: *** No rule to make target 'lexer'"), "{said}");
    assert_eq!(before("make parser"), "", "it worked since");
    assert_eq!(before("git push"), "", "a person did not want it then");
}

#[test]
fn a_turn_tells_what_it_ran_how_it_ended_and_where_each_field_is_from() {
    let sandbox = Sandbox::new();
    let [_, second] = sessions(&sandbox);
    sandbox.drain_once();
    let found = sandbox.json(&[
        "search",
        "parser",
        "--all",
        "--kind",
        "outcome",
        "--session",
        second.session.as_str(),
    ]);
    let shown = sandbox.json(&["show", found["hits"][0]["id"].as_str().unwrap()]);
    let fields = &shown["fields"];
    assert_eq!(shown["turn"], 1);
    assert_eq!(fields["type"], "change");
    let ran: Vec<Value> = fields["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| json!([c["command"], c["exit"], c["end"]]))
        .collect();
    assert_eq!(
        ran,
        [
            json!(["make parser", 2, "failed"]),
            json!(["make parser", 0, "well"]),
            json!(["cargo test", 0, "well"])
        ]
    );
    let test = &fields["tests"][0];
    assert_eq!(
        (&test["result"], &test["summary"]),
        (&json!("passed"), &json!("test result: ok. 4 passed; 0 failed; 0 ignored"))
    );
    // Every field that says something names records, and each of them is there and says it.
    for (field, says) in [("request", "Go on with the parser."), ("completed", "It builds.")] {
        let record = fields["sources"][field][0].as_str().unwrap();
        assert!(sandbox.json(&["show", record])["text"].as_str().unwrap().contains(says), "{field}");
    }
    let result = sandbox.json(&["show", test["record"].as_str().unwrap()]);
    assert!(result["text"].as_str().unwrap().contains("4 passed"), "{result}");
}
