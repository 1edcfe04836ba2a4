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

/// F10: a fork copied a revision that is current no longer, at a place of its own: it links the document in every order, and raises the place
/// of that revision, not of another.
#[test]
fn f10_a_fork_that_holds_an_older_revision_gives_the_same_rows_in_any_order() {
    let sandbox = Sandbox::new();
    let file = |session: &str, pad: usize, name: &str, text: &str| {
        let mut transcript = Transcript::new(&sandbox, 28);
        transcript.path = transcript.path.with_file_name(name);
        let filler = "x".repeat(pad);
        transcript.raw(&format!(r#"{{"type":"mode","x":"{filler}"}}"#));
        transcript.raw(&format!(
            r#"{{"type":"user","uuid":"5e551111-0000-4000-8000-00000000000a","timestamp":"2026-11-30T10:00:00.000Z","sessionId":"{session}","message":{{"role":"user","content":"{text}"}},"cwd":"/srv/app"}}"#
        ));
        transcript.flush();
        transcript.path.clone()
    };
    let files = [
        file("5e55a000-0000-4000-8000-000000000001", 10, "one.jsonl", "anchor in the bay"),
        file("5e55a000-0000-4000-8000-000000000001", 900, "two.jsonl", "anchor at the pier"),
        file("5e55b000-0000-4000-8000-000000000002", 400, "fork.jsonl", "anchor in the bay"),
    ];
    // The fork comes after what it copied: before it, its words would be a document of their own.
    let dumps: Vec<String> = [[0, 1, 2], [0, 2, 1], [1, 0, 2]]
        .iter()
        .map(|order| {
            let world = sandbox.sibling();
            order.iter().for_each(|n| drop(world.import(&[&files[*n]])));
            let profiles = world.lines(&["inspect", "--view", "segments"]);
            format!("{}\n{profiles:?}", world.dump())
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

/// A result that the host moved to a file: its text is found, whether the file is there at the first reading, at a later one, or no more.
#[test]
fn a_result_in_a_file_of_its_own_is_whole_once_the_file_was_there() {
    let sandbox = Sandbox::new();
    let moved = |to: &str| {
        format!(
            "<persisted-output>\nOutput too large (47.4KB). Full output saved to: {to}\n\nPreview (first 2KB):\nbeginning"
        )
    };
    let mut transcript = Transcript::new(&sandbox, 30);
    transcript
        .prompt("Print the log.")
        .calls("toolu_1", "Bash", json!({"command": "cat log"}))
        .returns("toolu_1", &moved("/home/dev/.claude/projects/-a/s/tool-results/b1.txt"))
        .returns("toolu_2", &moved("C:\\Users\\dev\\s\\tool-results\\b2.txt"))
        .returns("toolu_3", &moved("/home/dev/s/tool-results/../../outside.txt"))
        .returns("toolu_4", &moved("/home/dev/s/tool-results/link.txt"))
        .flush();
    let folder = transcript.path.with_extension("").join("tool-results");
    std::fs::create_dir_all(&folder).unwrap();
    let fill = || {
        std::fs::write(folder.join("b1.txt"), format!("{}the winch is stuck", "line\n".repeat(20_000)))
            .unwrap();
        std::fs::write(folder.join("b2.txt"), "the crane is free").unwrap();
    };
    let outside = transcript.path.with_file_name("outside.txt");
    std::fs::write(&outside, "not to be read").unwrap();
    std::os::unix::fs::symlink(&outside, folder.join("link.txt")).unwrap();
    let (early, late) = (sandbox.sibling(), sandbox.sibling());
    late.import(&[&transcript.path]);
    let without = late.dump();
    assert!(!without.contains("winch") && without.contains("was not there to be read"), "{without}");
    fill();
    let account = early.import(&[&transcript.path]);
    assert_eq!(account["observations"], 6, "{account}");
    let again = |home: &Sandbox| {
        // Read again from the start, as after any change of the file's first line.
        let text = std::fs::read_to_string(&transcript.path).unwrap();
        std::fs::write(&transcript.path, format!("\n{text}")).unwrap();
        home.import(&[&transcript.path]);
        std::fs::write(&transcript.path, text).unwrap();
        home.import(&[&transcript.path]);
    };
    again(&late);
    std::fs::remove_dir_all(&folder).unwrap();
    let with = early.dump();
    again(&early);
    assert_eq!(early.dump(), with, "what was read once is not taken back");
    assert_eq!(late.dump(), with);
    assert!(with.contains("winch is stuck") && with.contains("crane is free"), "{with}");
    assert!(!with.contains("not to be read"), "{with}");
    let hits = early.json(&["search", "winch stuck", "--all"]);
    assert_eq!(hits["hits"][0]["speaker"], "tool", "{hits}");
    early.verify();
    late.verify();
    let lines = early.lines(&["inspect", "--view", "lines"]);
    assert_eq!(lines[0]["beside"]["output"], json!({"missing": 4}), "the last reading: {lines:?}");
}

/// A prompt that was queued is said once: as an attachment, or as the record that it became, never as the note of the queue.
#[test]
fn a_queued_prompt_is_one_observation_of_the_user() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 31);
    let queue = |operation: &str, content: &str| {
        json!({"type": "queue-operation", "operation": operation, "content": content, "sessionId": "x", "timestamp": "2026-11-20T01:00:00.000Z"}).to_string()
    };
    transcript
        .prompt("Start.")
        .raw(&queue("enqueue", "and grease the winch"))
        .raw(&queue("remove", ""))
        .queued("and grease the winch")
        .raw(&queue("enqueue", "then lock up"))
        .raw(&queue("dequeue", ""))
        .prompt("then lock up")
        .flush();
    for _ in 0..2 {
        sandbox.import(&[&transcript.path]);
        let rows = sandbox.lines(&["inspect", "--view", "records"]);
        let said = |text: &str| {
            rows.iter()
                .filter(|r| r["kind"] == "observation" && r["text"] == text && r["speaker"] == "user")
                .count()
        };
        assert_eq!((said("and grease the winch"), said("then lock up")), (1, 1), "{rows:?}");
        assert_eq!(sandbox.json(&["status"])["store"]["observations"], 3);
    }
}

/// D4, D5: failures, their fixes and counts, lists of things to do and private turns, over sessions and a fork, in every other order, and all at once.
#[test]
fn failures_and_lists_do_not_depend_on_what_was_read_first() {
    let sandbox = Sandbox::new();
    let bash = |command: &str| json!({"command": command});
    let todos = |items: &[(&str, &str)]| {
        let one = |(content, status): &(&str, &str)| json!({"content": content, "status": status, "activeForm": "x"});
        json!({"todos": items.iter().map(one).collect::<Vec<_>>()})
    };
    let mut one = Transcript::new(&sandbox, 1);
    one.prompt("Build the hull.")
        .calls("t1", "Bash", bash("make hull"))
        .fails("t1", "Exit code 2\nerror: no oak at line 7")
        .calls("t2", "TodoWrite", todos(&[("Buy oak", "pending"), ("Build the hull", "in_progress")]))
        .returns("t2", "ok")
        .says("There is no oak.");
    let mut fork = Transcript::new(&sandbox, 2);
    let copied = String::from_utf8(one.bytes().to_vec()).unwrap().replace(&one.session, &fork.session);
    fork.raw_bytes(copied.as_bytes())
        .calls("t3", "Bash", bash("make hull 2>&1 | tail -2"))
        .fails("t3", "Exit code 2\nerror: no oak at line 9")
        .says("Still none.");
    one.prompt("<private>What does oak cost?</private>")
        .calls("t4", "Bash", bash("make hull"))
        .returns("t4", "built, but nobody is to know")
        .prompt("Once more.")
        .calls("t5", "TodoWrite", todos(&[("Buy oak", "completed")]))
        .returns("t5", "ok")
        .says("Bought.");
    let mut three = Transcript::new(&sandbox, 3);
    three
        .prompt("Build the hull now.")
        .calls("t1", "Bash", bash("make hull"))
        .returns("t1", "built")
        .says("Built.");
    let mut four = Transcript::new(&sandbox, 4);
    four.prompt("And again.")
        .calls("t1", "Bash", bash("make hull"))
        .fails("t1", "Exit code 2\nerror: no pitch")
        .says("No pitch.");
    let files: Vec<_> = [&mut one, &mut fork, &mut three, &mut four].map(|t| t.flush().path.clone()).into();
    let shown = |world: &Sandbox| {
        let failures = world.lines(&["inspect", "--view", "failures"]);
        format!("{}\n{failures:#?}", world.dump())
    };
    let mut dumps = Vec::new();
    for order in (0..24_usize).step_by(2) {
        let (mut left, mut rest) = (files.clone(), order);
        let world = sandbox.sibling();
        for n in (1..=4).rev() {
            world.import(&[&left.remove(rest % n)]);
            rest /= n;
        }
        dumps.push(shown(&world));
    }
    assert!(
        dumps.iter().all(|dump| *dump == dumps[0]),
        "{}\n{}",
        dumps[0],
        dumps.iter().find(|d| **d != dumps[0]).unwrap()
    );
    assert!(dumps[0].contains("no pitch") && !dumps[0].contains("nobody is to know"), "{}", dumps[0]);
    let world = sandbox.sibling();
    // The third run is the fork's own: a turn that two sessions hold is one.
    let all: Vec<Value> = {
        world.import(&files.iter().map(|path| path.as_path()).collect::<Vec<_>>());
        world.lines(&["inspect", "--view", "failures"])
    };
    assert_eq!(shown(&world), dumps[0], "all at once");
    let oak = all.iter().find(|f| f["error"].as_str().unwrap().contains("no oak")).unwrap();
    assert_eq!((&oak["count"], &oak["status"]), (&json!(2), &json!("superseded")), "{oak}");
    assert_eq!(oak["fixed"]["session"], three.session.as_str(), "{oak}");
}
