//! `sinker note` and `memory_save`: kept once, found, edited, forgotten.

use crate::support::{McpClient, Sandbox, Transcript};
use serde_json::{Value, json};

const TOKEN: &str = "ghp_016C8f3Zk9QwLrT5vXy2Bn7Mh4Jd6Ps1Ea3G";

fn note(sandbox: &Sandbox, args: &[&str]) -> Value {
    sandbox.json(&[&["note"], args].concat())
}

fn id(value: &Value) -> String {
    value["id"].as_str().unwrap().to_owned()
}

/// Ids of the notes that a search finds.
fn found(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let out = sandbox.sinker(&[&["search"], words, &["--kind", "note", "--json"]].concat());
    let hits: Value = serde_json::from_str(out.stdout.trim()).unwrap_or_default();
    hits["hits"].as_array().into_iter().flatten().map(id).collect()
}

fn counts_match(sandbox: &Sandbox) {
    sandbox.verify();
    let status = sandbox.json(&["status"]);
    assert_eq!(status["store"]["documents"], status["index"]["documents"], "{status}");
}

/// What is said in a project that is left out is not stored; what is noted there neither.
#[test]
fn a_project_that_is_left_out_keeps_no_note() {
    let sandbox = Sandbox::unhurried("");
    for settings in ["[capture]\nexclude = [\"**\"]\n", "[capture]\nenabled = false\n"] {
        sandbox.configure(settings);
        let out = sandbox.sinker(&["note", "Quarterdeck lanterns burn kerosene"]);
        assert!(out.code == Some(4) && out.stderr.contains("config show"), "{settings}: {out}");
        let server = McpClient::start(&sandbox);
        let told = server.call("memory_save", json!({"text": "Quarterdeck lanterns burn kerosene"})).0;
        assert!(told.contains("leave it out"), "{settings}: {told}");
    }
    sandbox.configure("[redact]\nrules = [{ name = \"broken\", pattern = \"(\" }]\n");
    let server = McpClient::start(&sandbox);
    let told = server.call("memory_save", json!({"text": "Quarterdeck lanterns burn kerosene"})).0;
    assert!(told.contains("not in force"), "a rule that did not look at it: {told}");
    assert_eq!(found(&sandbox, &["kerosene"]).len(), 1);
}

#[test]
fn a_note_is_kept_redacted_found_told_edited_and_forgotten() {
    let sandbox = Sandbox::unhurried("");
    let mut t = Transcript::new(&sandbox, 1);
    t.prompt("Please look at the berth planner.").says("It is fine.").flush();
    sandbox.drain_once();
    let before = sandbox.json(&["status"]);
    let text = format!("Quarterdeck lanterns burn kerosene <private>from Ida</private> token {TOKEN}");
    let kept = note(&sandbox, &[&text, "--file", "src/lantern.rs"]);
    assert_eq!(kept["redacted"], 2, "{kept}");
    let first = id(&kept);
    // The same words again are the same note.
    assert_eq!(id(&note(&sandbox, &[&text])), first);
    let shown = sandbox.json(&["show", &first]);
    let stored = shown["text"].as_str().unwrap();
    assert!(stored.contains("Quarterdeck") && !stored.contains("Ida") && !stored.contains(TOKEN), "{stored}");
    assert_eq!(
        (&shown["kind"], &shown["speaker"], &shown["session"]),
        (&json!("note"), &json!("user"), &json!(""))
    );
    assert_eq!(shown["files"], json!(["src/lantern.rs"]));
    assert_eq!(found(&sandbox, &["quarterdeck", "lanterns"]), std::slice::from_ref(&first));
    // It is no session and no observation.
    let after = sandbox.json(&["status"]);
    for (field, more) in [("documents", 1), ("observations", 0), ("sessions", 0)] {
        let count = |status: &Value| status["store"][field].as_i64().unwrap();
        assert_eq!(count(&after) - count(&before), more, "{field}");
    }
    assert_eq!(sandbox.lines(&["sessions"]).len(), 1);
    // A session of the project is told, with the origin.
    let payload = json!({"session_id": "5e55", "transcript_path": "/nowhere.jsonl", "cwd": sandbox.project(),
        "hook_event_name": "UserPromptSubmit", "prompt": "what do the quarterdeck lanterns burn?"});
    let told = sandbox.hook("user-prompt-submit", &payload).stdout;
    assert!(told.contains("note ") && told.contains("(user)") && told.contains("kerosene"), "{told}");
    // Edited: the old text stays as a revision, the id and the files too.
    assert_eq!(id(&note(&sandbox, &["Quarterdeck lanterns burn paraffin", "--edit", &first])), first);
    let shown = sandbox.json(&["show", &first]);
    assert_eq!(
        (&shown["text"], &shown["revision"]),
        (&json!("Quarterdeck lanterns burn paraffin"), &json!(2))
    );
    assert!(shown["revisions"][0].as_str().unwrap().contains("kerosene"), "{shown}");
    assert_eq!(shown["files"], json!(["src/lantern.rs"]));
    assert!(found(&sandbox, &["kerosene"]).is_empty());
    let second = id(&note(&sandbox, &["Mooring bollards are painted yellow"]));
    for args in
        [&["timeline"][..], &["timeline", "--around", &first], &["timeline", "--file", "src/lantern.rs"]]
    {
        assert!(sandbox.lines(args).iter().any(|line| line["id"] == json!(first)), "{args:?}");
    }
    sandbox.sinker(&["index", "rebuild"]);
    assert_eq!(found(&sandbox, &["paraffin"]), std::slice::from_ref(&first));
    counts_match(&sandbox);
    // Refused: nothing, too much, no such note.
    let long = "x".repeat(65 * 1024);
    for (args, stdin, code) in [
        (&["note", "  "][..], "", 2),
        (&["note", "\u{200b}\u{202e}\u{2060} \u{e0041}\u{2800}"], "", 2),
        (&["note", "-"], long.as_str(), 2),
        (&["note", "x", "--edit", "n-0000000000"], "", 3),
    ] {
        let out = sandbox.sinker_with(args, stdin.as_bytes(), &[]);
        assert!(out.code == Some(code) && out.stderr.contains("hint:"), "{args:?}: {out}");
    }
    // Forgotten: by text with its revisions, then the project with what is left; a new note is welcome.
    assert_eq!(sandbox.json(&["forget", "--match", "kerosene", "--yes"])["forgotten"], 1);
    assert_eq!(sandbox.sinker(&["show", &first]).code, Some(3));
    assert!(found(&sandbox, &["paraffin"]).is_empty() && found(&sandbox, &["bollards"]) == [second.clone()]);
    sandbox.json(&["forget", "--project", "harbor-api", "--yes"]);
    assert_eq!(sandbox.sinker(&["show", &second]).code, Some(3));
    let third = id(&note(&sandbox, &["Mooring bollards are painted red"]));
    sandbox.json(&["forget", &third, "--yes"]);
    id(&note(&sandbox, &["Mooring bollards are painted green"]));
    counts_match(&sandbox);
}

#[test]
fn the_assistant_saves_through_the_spool_as_itself() {
    let sandbox = Sandbox::new();
    sandbox.drain_once();
    let _drainer = sandbox.start(&["drain"]);
    crate::support::eventually("the drainer runs", || {
        sandbox.json(&["status"])["drainer"]["running"] == json!(true)
    });
    let client = McpClient::start(&sandbox);
    let said =
        client.ask("memory_save", json!({"text": format!("Tide tables come from Brest, key {TOKEN}")}));
    assert!(
        said.contains("Kept; it can be found") && said.contains("Brest") && !said.contains(TOKEN),
        "{said}"
    );
    let mut ids = Vec::new();
    crate::support::eventually("it is found", || {
        ids = found(&sandbox, &["tide", "tables"]);
        ids.len() == 1
    });
    let shown = sandbox.json(&["show", &ids[0]]);
    assert_eq!(shown["speaker"], json!("assistant"));
    // A note of the user's that the assistant edits is in the assistant's words from then on.
    let mine = id(&note(&sandbox, &["The harbour master is called Ann"]));
    client.ask(
        "memory_save",
        json!({"text": "The harbour master is called Bob", "id": mine, "files": ["a.md"]}),
    );
    crate::support::eventually("it is edited", || sandbox.json(&["show", &mine])["revision"] == json!(2));
    let shown = sandbox.json(&["show", &mine]);
    assert_eq!((&shown["speaker"], &shown["files"]), (&json!("assistant"), &json!(["a.md"])));
    for wrong in
        [json!({"text": " "}), json!({"text": "x", "id": "n-ffffffff"}), json!({"text": "x".repeat(70_000)})]
    {
        assert!(client.call("memory_save", wrong).1);
    }
}

/// A command that a drainer did, and died before it could say so, is done again and changes nothing.
#[test]
fn a_note_that_is_asked_for_twice_is_kept_once() {
    let sandbox = Sandbox::new();
    sandbox.drain_once();
    let what = |text: &str, at: i64, project: Value| {
        let id = "n-00112233445566778899aabbccddeeff";
        json!({"id": id, "text": text, "speaker": "user", "time_ms": 1_700_000_000_000_i64, "at_ms": at, "project": project})
    };
    let project = json!({"id": "harbor-api-0123456789", "name": "harbor-api", "remote": null, "root": "/x"});
    let (one, two) = (
        what("first words", 1_700_000_000_000, project),
        what("second words", 1_700_000_000_001, Value::Null),
    );
    for (n, what) in [&one, &two, &one, &two, &one].into_iter().enumerate() {
        let random = format!("{n:016x}");
        let command = json!({"v": 1, "verb": "note", "id": random, "what": what});
        let name = format!("_cmd.{:016x}.{random}.note.json", 1_700_000_000_000_u64);
        std::fs::write(sandbox.at("spool/new").join(name), command.to_string()).unwrap();
        sandbox.drain_once();
        assert!(sandbox.spool("new").is_empty() && sandbox.spool("cur").is_empty());
    }
    let notes: Vec<Value> = sandbox
        .lines(&["inspect", "--view", "records"])
        .into_iter()
        .filter(|d| d["kind"] == "note")
        .collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!((&notes[0]["text"], &notes[0]["revision"]), (&json!("second words"), &json!(2)));
    counts_match(&sandbox);
}
