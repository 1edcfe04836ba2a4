//! What a person took back with `/rewind` is kept, marked, and ranked down.

use crate::support::{Sandbox, Transcript};
use serde_json::Value;

/// Three turns; the second one is taken back, and another comes in its place.
fn rewound(sandbox: &Sandbox, seed: u64) -> Transcript {
    let mut session = Transcript::new(sandbox, seed);
    session.prompt("Where does the pilot boat lie?").says("At the north pier.");
    let mark = session.mark();
    session.prompt("Paint the pilot boat green.").says("Done: the pilot boat is green.");
    session.back_to(mark).prompt("Paint the pilot boat white.").says("Done: the pilot boat is white.");
    session
}

fn records(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.lines(&["inspect", "--view", "records"])
}

/// `status` of the documents whose text holds `words`, by kind.
fn status(sandbox: &Sandbox, kind: &str, words: &str) -> Vec<Option<String>> {
    let all = records(sandbox);
    let of = all.iter().filter(|r| r["kind"] == kind && r["text"].as_str().unwrap().contains(words));
    of.map(|r| r["status"].as_str().map(str::to_owned)).collect()
}

#[test]
fn what_was_taken_back_is_superseded_and_the_summary_does_not_know_it() {
    let sandbox = Sandbox::new();
    let mut session = rewound(&sandbox, 3);
    session.flush();
    sandbox.import(&[&session.path]);
    let gone = Some("superseded".to_owned());
    assert_eq!(status(&sandbox, "observation", "green"), [gone.clone(), gone.clone()]);
    assert_eq!(status(&sandbox, "observation", "white"), [None, None]);
    assert_eq!(status(&sandbox, "outcome", "green"), [gone]);
    assert_eq!(status(&sandbox, "outcome", "white"), [None]);
    assert_eq!(status(&sandbox, "session-summary", "white"), [None]);
    assert!(status(&sandbox, "session-summary", "green").is_empty());
    sandbox.verify();
    // Found, but behind what took its place, though both hold the same words of the question.
    let hits =
        sandbox.json(&["search", "pilot boat done", "--speaker", "assistant", "--kind", "observation"]);
    let texts: Vec<&str> =
        hits["hits"].as_array().unwrap().iter().map(|h| h["excerpt"][0]["text"].as_str().unwrap()).collect();
    let place = |words: &str| texts.iter().position(|t| t.contains(words)).unwrap();
    assert!(place("white") < place("green"), "{texts:?}");
    let only = sandbox.json(&["search", "pilot boat", "--status", "superseded", "--kind", "observation"]);
    assert_eq!(only["hits"].as_array().unwrap().len(), 2, "{only}");
}

#[test]
fn line_by_line_and_whole_give_the_same_rows() {
    let sandbox = Sandbox::new();
    let mut session = rewound(&sandbox, 4);
    for end in session.line_ends() {
        session.flush_to(end);
        sandbox.import(&[&session.path]);
    }
    sandbox.verify();
    let other = sandbox.sibling();
    other.import(&[&session.path]);
    assert_eq!(other.dump(), sandbox.dump());
}

#[test]
fn a_fork_made_before_keeps_its_branch_whatever_is_read_first() {
    let sandbox = Sandbox::new();
    let mut session = Transcript::new(&sandbox, 5);
    session.prompt("Where does the pilot boat lie?").says("At the north pier.");
    let mark = session.mark();
    session.prompt("Paint the pilot boat green.").says("Done: the pilot boat is green.");
    let mut fork = Transcript::new(&sandbox, 6);
    let copied =
        String::from_utf8(session.bytes().to_vec()).unwrap().replace(&session.session, &fork.session);
    fork.raw_bytes(copied.as_bytes()).prompt("And a stripe.").says("Done: a stripe.").flush();
    session
        .back_to(mark)
        .prompt("Paint the pilot boat white.")
        .says("Done: the pilot boat is white.")
        .flush();
    let dumps = [[&session.path, &fork.path], [&fork.path, &session.path]].map(|order| {
        let world = sandbox.sibling();
        for path in order {
            world.import(&[path]);
        }
        world.verify();
        assert_eq!(status(&world, "observation", "green"), [None, None], "the fork goes on with it");
        world.dump()
    });
    assert_eq!(dumps[0], dumps[1]);
}
