//! The rows do not depend on what was read first (D4, D5).

use crate::support::{Sandbox, Transcript};
use serde_json::{Value, json};

/// D4, D5: a fork inside a turn changes an outcome that both sessions hold, and with it what rests on it in both.
#[test]
fn a_fork_inside_a_turn_gives_the_same_rows_in_any_order() {
    let sandbox = Sandbox::new();
    let mut old = Transcript::new(&sandbox, 18);
    old.prompt("Draw the mooring plan.").says("Here is a first draft.").flush();
    let mut fork = Transcript::new(&sandbox, 19);
    let copied = String::from_utf8(old.bytes().to_vec()).unwrap().replace(&old.session, &fork.session);
    fork.raw_bytes(copied.as_bytes())
        .says("The root cause was the tide table.")
        .compacts("So far: a draft.")
        .flush();
    old.says("Done: the plan is drawn.").prompt("Thanks. What is next?").says("Next steps: depths.").flush();
    sandbox.import(&[&old.path]);
    sandbox.import(&[&fork.path]);
    sandbox.verify();
    let other = sandbox.sibling();
    other.import(&[&fork.path]);
    other.import(&[&old.path]);
    assert_eq!(other.dump(), sandbox.dump());
    assert_eq!(
        other.json(&["status"])["store"]["documents"],
        sandbox.json(&["status"])["store"]["documents"]
    );
}

/// F10, D4: other content under a known id is a revision; which one is current does not depend on what was read first.
#[test]
fn f10_two_contents_of_one_record_are_revisions_whatever_was_read_first() {
    let sandbox = Sandbox::new();
    let mut first = Transcript::new(&sandbox, 21);
    first.prompt("Which buoy is it?").says("The red one.").says("It blinks twice.").flush();
    let text = String::from_utf8(first.bytes().to_vec()).unwrap();
    let mut second = Transcript::new(&sandbox, 21);
    second.path = first.path.with_file_name("copy.jsonl");
    second.raw_bytes(text.replace("The red one.", "The green one.").as_bytes()).flush();
    let orders = [[&first.path, &second.path], [&second.path, &first.path]];
    let dumps = orders.map(|order| {
        let world = sandbox.sibling();
        for path in order {
            world.import(&[path]);
        }
        world.verify();
        let hits = world.json(&["search", "buoy red green one", "--all"]);
        let id = hits["hits"].as_array().unwrap().iter().find(|h| h["speaker"] == "assistant").unwrap()["id"]
            .clone();
        let shown = world.json(&["show", id.as_str().unwrap()]);
        assert_eq!(shown["revision"], 2, "{shown}");
        let mut both = vec![shown["text"].clone(), shown["revisions"][0].clone()];
        both.sort_by_key(Value::to_string);
        assert_eq!(both, [json!("The green one."), json!("The red one.")]);
        world.dump()
    });
    assert_eq!(dumps[0], dumps[1]);
}

/// F10: three files of one session, two contents of one record: the one that lies farthest is current, and only its files are touched.
#[test]
fn f10_the_revision_that_lies_farthest_is_current_in_every_order() {
    let sandbox = Sandbox::new();
    let edit = |path: &str, pad: usize, name: &str| {
        let mut transcript = Transcript::new(&sandbox, 24);
        transcript.path = transcript.path.with_file_name(name);
        let filler = "x".repeat(pad);
        transcript.raw(&format!(r#"{{"type":"mode","x":"{filler}"}}"#));
        transcript.calls("t1", "Edit", json!({"file_path": path})).flush();
        transcript.path.clone()
    };
    let files = [
        edit("/a.rs", 10, "one.jsonl"),
        edit("/b.rs", 2_000, "two.jsonl"),
        edit("/a.rs", 5_000, "three.jsonl"),
    ];
    let dumps: Vec<String> = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
        .iter()
        .map(|order| {
            let world = sandbox.sibling();
            order.iter().for_each(|n| drop(world.import(&[&files[*n]])));
            let hit = world.json(&["search", "Edit", "--all", "--kind", "observation"])["hits"][0].clone();
            assert_eq!(hit["files"], json!(["/a.rs"]), "{order:?}: {hit}");
            world.dump()
        })
        .collect();
    assert!(dumps.windows(2).all(|pair| pair[0] == pair[1]), "{dumps:#?}");
}

/// A tool's result may lie in a file that is read before the one with its call.
#[test]
fn a_result_read_before_its_call_is_the_webs_all_the_same() {
    let sandbox = Sandbox::new();
    let mut call = Transcript::new(&sandbox, 25);
    call.prompt("Look it up.").calls("t1", "WebFetch", json!({"url": "http://tide.example"})).flush();
    let mut result = Transcript::new(&sandbox, 26);
    result.session = call.session.clone();
    result.returns("t1", "High water at noon.").flush();
    let dumps = [[&call.path, &result.path], [&result.path, &call.path]].map(|order| {
        let world = sandbox.sibling();
        order.iter().for_each(|path| drop(world.import(&[path])));
        let hits = world.json(&["search", "high water noon", "--all", "--speaker", "web"]);
        assert_eq!(hits["hits"].as_array().map(Vec::len), Some(1), "{hits}");
        world.dump()
    });
    assert_eq!(dumps[0], dumps[1]);
}

/// D4: two sessions that say different things under one id are two documents, the same two in any order.
#[test]
fn one_id_with_two_meanings_gives_two_documents_in_any_order() {
    let sandbox = Sandbox::new();
    let mut one = Transcript::new(&sandbox, 27);
    one.prompt("Which light?").says("The harbour light.").flush();
    let mut two = Transcript::new(&sandbox, 28);
    let text = String::from_utf8(one.bytes().to_vec()).unwrap().replace(&one.session, &two.session);
    two.raw_bytes(text.replace("The harbour light.", "The lighthouse on the mole.").as_bytes()).flush();
    let dumps = [[&one.path, &two.path], [&two.path, &one.path]].map(|order| {
        let world = sandbox.sibling();
        order.iter().for_each(|path| drop(world.import(&[path])));
        world.verify();
        assert_eq!(world.json(&["status"])["store"]["observations"], 3);
        world.dump()
    });
    assert_eq!(dumps[0], dumps[1]);
}

/// F36.
#[test]
fn a_fork_shares_its_prefix_and_adds_only_what_is_new() {
    let sandbox = Sandbox::new();
    let mut old = Transcript::new(&sandbox, 8);
    old.prompt("Draw the mooring plan.").says("Here it is.").flush();
    let mut fork = Transcript::new(&sandbox, 9);
    let copied = String::from_utf8(old.bytes().to_vec()).unwrap().replace(&old.session, &fork.session);
    fork.raw_bytes(copied.as_bytes()).prompt("Now with depths.").flush();
    let folder = old.path.parent().unwrap().to_path_buf();
    let account = sandbox.import(&[&folder]);
    assert_eq!(account["observations"], 3, "{account}");
    let sessions = sandbox.lines(&["sessions", "--all"]);
    let count = |id: &str| sessions.iter().find(|s| s["id"] == json!(id)).map(|s| s["observations"].clone());
    assert_eq!((count(&old.session), count(&fork.session)), (Some(json!(2)), Some(json!(3))), "{sessions:?}");
    // In the other order: the same rows.
    let other = sandbox.sibling();
    other.import(&[&fork.path]);
    other.import(&[&old.path]);
    assert_eq!(other.dump(), sandbox.dump());
}

/// An account of a file adds up, however often it is read.
#[test]
fn an_unfinished_last_line_is_counted_once() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 22);
    transcript.prompt("How high is the tide?").raw(r#"{"type":"tide-table","sessionId":"x"}"#).flush();
    let whole = std::fs::read(&transcript.path).unwrap();
    std::fs::write(&transcript.path, whole.trim_ascii_end()).unwrap();
    let known = || sandbox.json(&["status"])["unknown_types"]["tide-table"].clone();
    for _ in 0..3 {
        sandbox.import(&[&transcript.path]);
        assert_eq!(known(), 1);
    }
    std::fs::write(&transcript.path, &whole).unwrap();
    sandbox.import(&[&transcript.path]);
    assert_eq!(known(), 1);
}
