//! F74: what memory said comes back in a transcript.

use super::hostile::context;
use crate::support::{McpClient, Sandbox, Transcript, payload};
use serde_json::{Value, json};

/// Twenty turns in which everything that memory says comes back: as context, as an answer of our tools, whole and in pieces inside other output, and in
/// the assistant's own words, which are its own.
#[test]
fn f74_what_memory_said_comes_back_for_twenty_turns_and_adds_no_row_of_its_own() {
    const FACT: &str = "The lock gate of the east basin opens at a level of 7443 mm.";
    const QUESTION: &str = "at which level does the lock gate of the east basin open";
    let sandbox = Sandbox::unhurried("");
    let mut past = Transcript::new(&sandbox, 1);
    past.prompt("Find out how the basin works.").says(FACT).prompt("Thanks.").says("Gladly.").flush();
    sandbox.drain_once();
    let client = McpClient::start(&sandbox);
    let mut told = std::collections::BTreeSet::new();
    let drainer = sandbox.start(&["drain"]);
    let mut made = past.observations;
    for turn in 0..20 {
        let mut t = Transcript::new(&sandbox, 100 + turn);
        let mut typed = payload("UserPromptSubmit", &sandbox, &t);
        typed["prompt"] = QUESTION.into();
        let args = ["hook", "claude", "user-prompt-submit", "--only", "recall"];
        let project = sandbox.project();
        let env = [("CLAUDE_PROJECT_DIR", project.to_str().unwrap())];
        let out = sandbox.sinker_with(&args, format!("{typed}\n").as_bytes(), &env);
        let said = context(&out.stdout).unwrap_or_else(|| panic!("turn {turn}: {out}"));
        assert!(said.contains("7443"), "turn {turn}: {said}");
        let answer = client.ask("memory_search", json!({"query": QUESTION}));
        let open = said.lines().next().unwrap();
        t.prompt("Go on, please.")
            .injected(&said)
            .calls("toolu_1", "mcp__sinker__memory_search", json!({"query": QUESTION}))
            .raw_result("toolu_1", &json!([{"type": "text", "text": answer}]))
            // A transcript that is read, a log that holds a fence, one that was cut before its end.
            .calls("toolu_2", "Bash", json!({"command": "cat session.jsonl"}))
            .returns("toolu_2", &format!("first line\n{said}\nlast line"))
            .calls("toolu_3", "Bash", json!({"command": "head -c 300 session.jsonl"}))
            .returns("toolu_3", &format!("first line\n{open}\n- (assistant) {FACT}"))
            .says("Gladly done.")
            .flush();
        sandbox.hook("stop", &payload("Stop", &sandbox, &t)).assert_silent("stop");
        sandbox.json(&["status", "--session", &t.session, "--wait", "30"]);
        made += t.observations;
        told.insert(said);
    }
    drop(drainer);
    sandbox.drain_once();
    assert_eq!(told.len(), 1, "the same bytes each time: {told:?}");
    let status = sandbox.json(&["status"]);
    assert_eq!(status["store"]["observations"], made, "as many rows as the turns have records: {status}");
    assert_eq!(made, past.observations + 20 * 8);
    let records = sandbox.lines(&["inspect", "--view", "records"]);
    let holds = |r: &&Value| r["kind"] == "observation" && r["text"].as_str().unwrap().contains("7443");
    assert_eq!(records.iter().filter(holds).count(), 1, "nobody but the assistant, once, said it");
    assert!(records.iter().all(|r| !r["text"].as_str().unwrap().contains("sinker-memory-")));
    assert!(status["redacted"]["own-context"].as_u64().unwrap() >= 60, "{status}");

    // Said in the assistant's own words it is the assistant's, and one row.
    let mut quotes = Transcript::new(&sandbox, 200);
    quotes.prompt("And?").says(&format!("- (assistant) {FACT} So I noted.")).flush();
    sandbox.drain_once();
    let records = sandbox.lines(&["inspect", "--view", "records"]);
    let own: Vec<&Value> = records.iter().filter(holds).collect();
    assert_eq!(own.len(), 2);
    assert!(own.iter().all(|r| r["speaker"] == "assistant"), "{own:?}");
}
