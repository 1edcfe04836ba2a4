//! Every type of record and every layout of files that a client ever wrote, F38.

use super::transcript::{account, in_both_orders, observations, said, write};
use crate::support::Sandbox;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// One record of each type that any client wrote: none is unknown, and the account adds up. Names that nobody has heard of are told.
#[test]
fn f38_every_known_type_has_its_place_and_a_new_one_is_told() {
    let sandbox = Sandbox::new();
    let kinds: Value =
        serde_json::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/spool-fixtures/kinds.json")))
            .unwrap();
    let mut lines = Vec::new();
    let mut n = 0;
    let mut add = |place: &str, kind: &str| {
        n += 1;
        let mut record = json!({"uuid": format!("u-{n}"), "timestamp": "2026-11-20T01:00:00.000Z", "sessionId": "5e55", "cwd": "/c", "message": {"content": "x"}});
        record["type"] = json!(if matches!(place, "record" | "block") { kind } else { place });
        match place {
            "system" => record["subtype"] = json!(kind),
            "attachment" => record["attachment"] = json!({"type": kind, "prompt": "and that"}),
            "progress" => record["data"] = json!({"type": kind}),
            "block" => {
                record["type"] = json!("assistant");
                record["message"]["content"] = json!([{"type": kind, "text": "x"}]);
            }
            _ => match kind {
                "system" => record["subtype"] = json!("informational"),
                "attachment" => record["attachment"] = json!({"type": "date"}),
                "progress" => record["data"] = json!({"type": "bash_progress"}),
                _ => {}
            },
        }
        lines.push(record.to_string());
    };
    for (place, names) in kinds.as_object().unwrap() {
        names.as_array().unwrap().iter().for_each(|kind| add(place, kind.as_str().unwrap()));
    }
    let path = write(&sandbox, "all.jsonl", &lines);
    let answer = sandbox.import(&[&path]);
    let blocks = kinds["block"].as_array().unwrap().len();
    assert_eq!(answer["observations"], json!(blocks + 3), "user, assistant, a queued prompt: {answer}");
    assert_eq!(sandbox.json(&["status"])["unknown_types"], json!({}));
    let account = account(&sandbox, &path);
    assert_eq!(account["lines"], json!(lines.len()), "{account}");
    assert!(account["by"].get("odd").is_none() && account["by"].get("unknown").is_none(), "{account}");
    let new = [
        r#"{"type":"tide-table","sessionId":"5e55"}"#,
        r#"{"type":"system","subtype":"tide"}"#,
        r#"{"type":"attachment","attachment":{"type":"tide"}}"#,
        r#"{"type":"progress","data":{"type":"tide"}}"#,
        r#"{"type":"assistant","uuid":"n-1","sessionId":"5e55","message":{"content":[{"type":"tide","level":3}]},"novel":{"field":1}}"#,
    ];
    let path = write(&sandbox, "new.jsonl", &new.map(str::to_owned));
    sandbox.import(&[&path]);
    let expected =
        json!({"tide-table": 1, "system/tide": 1, "attachment/tide": 1, "progress/tide": 1, "block/tide": 1});
    assert_eq!(sandbox.json(&["status"])["unknown_types"], expected);
    let shown = sandbox.json(&["show", "n-1"]);
    assert!(
        shown["text"].as_str().unwrap().contains("\"level\":3"),
        "an unknown block is kept whole: {shown}"
    );
}

/// A subagent of every layout the host ever had, each with an outcome of its own; a compaction's agent is stored and not scored.
#[test]
fn f38_subagents_of_every_layout_are_told_apart() {
    let sandbox = Sandbox::new();
    let session = "5e550000-0000-4000-8000-000000000001";
    let agent = |n: u64, parent: Option<u64>, text: &str| {
        let mut record: Value =
            serde_json::from_str(&said(session, n, &format!("2026-11-20T01:00:{n:02}.000Z"), "/c", text))
                .unwrap();
        record["isSidechain"] = json!(true);
        record["parentUuid"] =
            parent.map_or(Value::Null, |p| json!(format!("aaaaaaaa-0000-4000-8000-{p:012x}")));
        record
    };
    let named = |mut record: Value, id: &str| {
        record["agentId"] = json!(id);
        record.to_string()
    };
    // Inline, two runs at once, their records mixed; the second goes on after the first was drained.
    let main = [
        said(session, 1, "2026-11-20T01:00:01.000Z", "/c", "Look at both cranes."),
        agent(2, None, "inspect the north crane").to_string(),
        agent(3, None, "inspect the south crane").to_string(),
        agent(4, Some(2), "more of the north crane").to_string(),
        agent(5, Some(3), "more of the south crane").to_string(),
    ];
    let path = write(&sandbox, &format!("{session}.jsonl"), &main);
    write(&sandbox, "agent-0f1a7000.jsonl", &[agent(11, None, "inspect the flat layout").to_string()]);
    let folder = format!("{session}/subagents");
    write(
        &sandbox,
        &format!("{folder}/agent-a0e57ed00.jsonl"),
        &[named(agent(12, None, "inspect the nested layout"), "a0e57ed00")],
    );
    write(
        &sandbox,
        &format!("{folder}/agent-acompact-946d2b.jsonl"),
        &[named(agent(13, None, "condense the zeppelin session"), "acompact-946d2b")],
    );
    write(
        &sandbox,
        &format!("{folder}/workflows/wf_1/journal.jsonl"),
        &[
            r#"{"type":"started","key":"k","agentId":"a1"}"#.to_owned(),
            r#"{"type":"result","key":"k","agentId":"a1","result":{"summary":"x"}}"#.to_owned(),
        ],
    );
    write(
        &sandbox,
        &format!("{folder}/workflows/wf_1/agent-a1.jsonl"),
        &[named(agent(14, None, "inspect the workflow layout"), "a1")],
    );
    let root = sandbox.claude().join("projects");
    sandbox.import(&[&root]);
    assert_eq!(observations(&sandbox), 9);
    assert_eq!(sandbox.json(&["status"])["unknown_types"], json!({}));
    assert!(sandbox.spool("odd").is_empty());
    let outcomes = |home: &Sandbox| {
        let rows = home.lines(&["inspect", "--view", "records"]);
        let mut texts: Vec<String> = rows
            .iter()
            .filter(|r| r["kind"] == "outcome")
            .map(|r| r["text"].as_str().unwrap().to_owned())
            .collect();
        texts.sort();
        texts
    };
    let texts = outcomes(&sandbox);
    for run in ["north crane", "south crane", "flat layout", "nested layout", "workflow layout"] {
        let holding = texts.iter().filter(|t| t.contains(&format!("request: inspect the {run}"))).count();
        assert_eq!(holding, 1, "{run}: {texts:?}");
    }
    assert_eq!(texts.len(), 6, "the turn and five runs: {texts:?}");
    let zeppelin = sandbox.sinker(&["search", "zeppelin", "--all", "--json"]);
    assert_eq!(zeppelin.code, Some(3), "it is not scored: {zeppelin}");
    // The same in any split: a name is drawn from the file as far as it was read.
    let split = sandbox.sibling();
    let whole = std::fs::read(&path).unwrap();
    let ends: Vec<usize> =
        whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(n, _)| n + 1).collect();
    for end in ends {
        std::fs::write(&path, &whole[..end]).unwrap();
        split.import(&[&path]);
    }
    split.import(&[&root]);
    assert_eq!(split.dump(), sandbox.dump());
    split.verify();
}

/// A summary names a record of another file, read before, after or never; a better title stays.
#[test]
fn f38_a_summary_names_the_session_that_holds_its_record_in_any_order() {
    let sandbox = Sandbox::new();
    let summary = |n: u64, text: &str| {
        json!({"type": "summary", "summary": text, "leafUuid": format!("aaaaaaaa-0000-4000-8000-{n:012x}")})
            .to_string()
    };
    let at = |n: u64| format!("2026-11-20T01:00:{n:02}.000Z");
    let old = [said("5e51", 1, &at(1), "/c", "one"), said("5e51", 2, &at(2), "/c", "two")];
    let titled = [
        said("5e52", 3, &at(3), "/c", "three"),
        json!({"type": "ai-title", "sessionId": "5e52", "aiTitle": "A model's title"}).to_string(),
    ];
    let given = [
        json!({"type": "custom-title", "sessionId": "5e53", "customTitle": "A person's title"}).to_string(),
        said("5e53", 4, &at(4), "/c", "four"),
        json!({"type": "ai-title", "sessionId": "5e53", "aiTitle": "A later model's title"}).to_string(),
    ];
    let later = [
        summary(1, "The earlier summary"),
        summary(2, "The summary of the newest record"),
        summary(3, "Worse than a model's"),
        summary(4, "Worse than a person's"),
        summary(99, "Of a session that is gone"),
        said("5e54", 5, &at(5), "/c", "five"),
    ];
    let files = [
        write(&sandbox, "c.jsonl", &old),
        write(&sandbox, "b.jsonl", &titled),
        write(&sandbox, "d.jsonl", &given),
        write(&sandbox, "a.jsonl", &later),
    ];
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let home = in_both_orders(&sandbox, &files);
    let sessions = home.lines(&["sessions", "--all"]);
    let title = |id: &str| sessions.iter().find(|s| s["id"] == json!(id)).unwrap()["title"].clone();
    let titles = ["5e51", "5e52", "5e53", "5e54"].map(title);
    let expected = [
        json!("The summary of the newest record"),
        json!("A model's title"),
        json!("A person's title"),
        Value::Null,
    ];
    assert_eq!(titles, expected);
    assert_eq!(sessions.len(), 4, "a summary makes no session: {sessions:?}");
    assert_eq!(account(&home, files[3])["by"]["title"], json!({"summary": 5}));
    let found = home.json(&["search", "summary of the newest record", "--all", "--kind", "session-summary"]);
    assert!(!found["hits"].as_array().unwrap().is_empty(), "the title is indexed: {found}");
}
