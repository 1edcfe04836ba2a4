//! Open work: written down, taken from the host's lists and from next steps, closed, and told at the start of a session.

use crate::brief::start;
use crate::support::{McpClient, Sandbox, Transcript};
use serde_json::{Value, json};

fn list(sandbox: &Sandbox, more: &[&str]) -> Vec<Value> {
    let out = sandbox.sinker(&[&["work", "list", "--json"], more].concat());
    assert_eq!(out.stderr, "", "{out}");
    out.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Text, state and source of each item.
fn told(items: &[Value]) -> Vec<[String; 3]> {
    let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
    items.iter().map(|item| ["text", "state", "source"].map(|name| text(item, name))).collect()
}

fn todos(items: &[(&str, &str)]) -> Value {
    let one = |(content, status): &(&str, &str)| json!({"content": content, "status": status, "activeForm": content});
    json!({"todos": items.iter().map(one).collect::<Vec<_>>()})
}

fn counts_match(sandbox: &Sandbox) {
    sandbox.verify();
    let status = sandbox.json(&["status"]);
    assert_eq!(status["store"]["documents"], status["index"]["documents"], "{status}");
}

#[test]
fn an_item_is_written_down_once_found_done_dropped_told_and_forgotten() {
    let sandbox = Sandbox::unhurried("");
    let added = sandbox.json(&["work", "add", "Write the page about limits"]);
    let id = added["id"].as_str().unwrap();
    assert!(id.starts_with("w-") && id.len() == 34, "{added}");
    assert_eq!(sandbox.json(&["work", "add", "write the page  about *limits*"])["id"], id);
    sandbox.json(&["work", "add", "Paint the shed <private>for Ida</private>"]);
    let items = list(&sandbox, &[]);
    assert_eq!(items.len(), 2, "{items:?}");
    assert!(items.iter().all(|item| item["state"] == "open" && item["source"] == "user"), "{items:?}");
    assert!(
        items
            .iter()
            .any(|item| item["text"].as_str().unwrap().starts_with("Paint the shed [redacted:private:"))
    );

    assert_eq!(sandbox.json(&["work", "doing", &id[..10]])["state"], "doing");
    let items = list(&sandbox, &[]);
    assert_eq!(
        (&items[0]["state"], &items[0]["id"]),
        (&json!("doing"), &json!(id)),
        "first what is being done"
    );
    let now = Transcript::new(&sandbox, 9);
    let brief = start(&sandbox, &now, "startup", "");
    assert!(brief.contains("(user) being done: write the page about *limits*"), "{brief}");

    sandbox.json(&["work", "done", id]);
    assert_eq!(list(&sandbox, &[]).len(), 1);
    assert_eq!(list(&sandbox, &["--all"]).len(), 2);
    assert!(!start(&sandbox, &Transcript::new(&sandbox, 10), "startup", "").contains("limits"));
    counts_match(&sandbox);

    // Found and shown like any document; kept over an export; forgotten for good.
    let hit = &sandbox.json(&["search", "page limits", "--kind", "work"])["hits"][0];
    assert_eq!((&hit["id"], &hit["header"]["state"]), (&json!(id), &json!("done")), "{hit}");
    let shown = sandbox.json(&["show", id]);
    assert_eq!((&shown["kind"], &shown["item"]["state"]), (&json!("work"), &json!("done")), "{shown}");
    let file = sandbox.root().join("out.jsonl");
    sandbox.sinker(&["export", file.to_str().unwrap()]);
    let other = Sandbox::unhurried("");
    other.json(&["import", file.to_str().unwrap()]);
    assert_eq!(other.json(&["show", id])["item"]["state"], "done");
    sandbox.json(&["forget", id, "--yes"]);
    assert_eq!(list(&sandbox, &["--all"]).len(), 1);
    let again = sandbox.sinker(&["work", "add", "Write the page about limits"]);
    assert!(again.code == Some(1) && again.stderr.contains("forgotten"), "{again}");
    counts_match(&sandbox);

    for (args, code) in [
        (vec!["work", "done", "w-ffff"], 3),
        (vec!["work", "add", "  "], 2),
        (vec!["work", "add", "<private>x</private>"], 2),
    ] {
        let out = sandbox.sinker(&args);
        assert!(out.code == Some(code) && out.stderr.contains("hint:"), "{args:?}: {out}");
    }
}

#[test]
fn what_is_open_is_not_taken_away_because_it_is_old() {
    let sandbox = Sandbox::unhurried("");
    sandbox.configure("[retain]\nrules = [{ max_age_days = 1 }, { kind = \"note\", max_age_days = 1 }]\n");
    sandbox.json(&["work", "add", "Write the page about limits"]);
    sandbox.json(&["note", "The page about limits is long"]);
    let later = [("SINKER_NOW", "2031-01-01T00:00:00Z")];
    let out = sandbox.sinker_with(&["retain", "--json"], b"", &later);
    assert_eq!(out.code, Some(0), "{out}");
    assert_eq!(list(&sandbox, &[]).len(), 1);
    let notes = sandbox.sinker(&["search", "limits", "--kind", "note", "--json"]).stdout;
    assert!(!notes.contains("is long"), "{notes}");
}

#[test]
fn the_hosts_lists_and_steps_are_open_until_they_are_done_or_a_later_turn_was_about_them() {
    let sandbox = Sandbox::unhurried("");
    let mut first = Transcript::new(&sandbox, 1);
    first
        .prompt("Move the gateway.")
        .calls("t1", "TodoWrite", todos(&[("Move the gateway", "in_progress"), ("Warn the harbor team", "pending"), ("Sell the old gateway", "pending")]))
        .returns("t1", "Todos have been modified successfully")
        .calls("t2", "TaskCreate", json!({"subject": "Measure the latency of the gateway", "description": "x"}))
        .returns("t2", "Task #1 created successfully: Measure the latency of the gateway")
        .calls("t3", "TodoWrite", todos(&[("Move the gateway", "completed"), ("Warn the harbor team", "pending")]))
        .returns("t3", "Todos have been modified successfully")
        .says("The gateway is moved.\n\n## Next steps\n- Run the load test against staging\n- Order new cables for the mast")
        .flush();
    sandbox.drain_once();
    let open = |text: &str, source: &str| [text.to_owned(), "open".to_owned(), source.to_owned()];
    let mut items = told(&list(&sandbox, &[]));
    items.sort();
    let mut expected = [
        open("Measure the latency of the gateway", "task"),
        open("Order new cables for the mast", "next-step"),
        open("Run the load test against staging", "next-step"),
        open("Warn the harbor team", "todo"),
    ];
    expected.sort();
    assert_eq!(items, expected);
    let all = told(&list(&sandbox, &["--all"]));
    assert!(all.iter().any(|item| item[0] == "Sell the old gateway" && item[1] == "dropped"), "{all:?}");
    assert!(all.iter().any(|item| item[0] == "Move the gateway" && item[1] == "done"), "{all:?}");

    // A person closes a step; a later turn does what a list and another step asked for; a task is done by its number.
    // The same step, whether its session is the last one or not.
    let ids = || list(&sandbox, &[]).iter().map(|item| item["id"].clone()).collect::<Vec<_>>();
    let before = ids();
    let mut later = Transcript::new(&sandbox, 5);
    later.prompt("Name the lighthouse keeper.").says("Her name is Ida.").flush();
    sandbox.drain_once();
    assert_eq!(ids(), before);
    let cables = list(&sandbox, &[])
        .iter()
        .find(|item| item["text"].as_str().unwrap().contains("cables"))
        .unwrap()["id"]
        .clone();
    sandbox.json(&["work", "drop", cables.as_str().unwrap()]);
    first
        .prompt("Go on with the task.")
        .calls("t4", "TaskUpdate", json!({"taskId": "1", "status": "completed"}))
        .returns("t4", "Updated task #1 status")
        .says("It is 3 ms.")
        .flush();
    let mut second = Transcript::new(&sandbox, 2);
    second
        .prompt("Warn the harbor team, please.")
        .says("I ran the load test against staging, and the harbor team is warned.")
        .flush();
    sandbox.drain_once();
    assert_eq!(told(&list(&sandbox, &[])), Vec::<[String; 3]>::new());
    let brief = start(&sandbox, &Transcript::new(&sandbox, 9), "startup", "");
    assert!(!brief.contains("open 20"), "{brief}");
    counts_match(&sandbox);

    // What rests on a session goes with it.
    sandbox.json(&["forget", "--session", &first.session, "--yes"]);
    assert_eq!(
        told(&list(&sandbox, &["--all"])),
        [["Order new cables for the mast", "dropped", "user"].map(str::to_owned)]
    );
    counts_match(&sandbox);
}

#[test]
fn the_assistant_lists_work_and_says_what_is_done() {
    let sandbox = Sandbox::unhurried("");
    let mut t = Transcript::new(&sandbox, 1);
    t.prompt("Look at the mast.")
        .says("It stands.\n\n## Next steps\n- Order new cables for the mast")
        .flush();
    sandbox.drain_once();
    let client = McpClient::start(&sandbox);
    let listed = client.ask("work_list", json!({}));
    assert!(listed.contains("next-step - (assistant) Order new cables for the mast"), "{listed}");
    let id =
        listed.lines().find(|line| line.contains("cables")).unwrap().split(' ').next().unwrap().to_owned();
    let told = client.ask("work_update", json!({"id": id, "state": "done"}));
    assert!(told.contains("done Order new cables"), "{told}");
    assert!(client.ask("work_list", json!({})).contains("Nothing is open here."));
    let added = client.ask("work_update", json!({"text": "Grease the winch"}));
    assert!(added.contains("open Grease the winch"), "{added}");
    assert!(client.ask("work_list", json!({"all": true})).contains("2 items."));
    for wrong in [
        json!({}),
        json!({"id": "w-9", "state": "done"}),
        json!({"text": "x", "id": "w-1"}),
        json!({"text": "x", "state": "soon"}),
    ] {
        let (text, failed) = client.call("work_update", wrong.clone());
        assert!(failed, "{wrong}: {text}");
    }
}
