//! Claims: drawn from what user and assistant said, compared over the sessions of a project.

use crate::brief::start;
use crate::support::{Sandbox, Transcript};
use proptest::prelude::*;
use serde_json::Value;

fn claims(sandbox: &Sandbox) -> Vec<Value> {
    let out = sandbox.sinker(&["inspect", "--view", "claims", "--json"]);
    out.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// (status, type, value) of the claim whose sentence begins so.
fn of(sandbox: &Sandbox, sentence: &str) -> (String, String, Value) {
    let all = claims(sandbox);
    let claim = all.iter().find(|c| c["text"].as_str().unwrap().starts_with(sentence));
    let claim = claim.unwrap_or_else(|| panic!("no claim {sentence}: {all:#?}"));
    let text = |name: &str| claim[name].as_str().unwrap_or_default().to_owned();
    (text("status"), text("type"), claim["value"].clone())
}

fn status(sandbox: &Sandbox, sentence: &str) -> String {
    of(sandbox, sentence).0
}

fn session(sandbox: &Sandbox, seed: u64, user: &str, assistant: &str) -> Transcript {
    let mut session = Transcript::new(sandbox, seed);
    session.prompt(user).says(assistant).flush();
    session
}

const OLD: &str = "The admin API listens on 8443.";
const NEW: &str = "Forget 8443, we moved the admin API to 9443 last week because of the sidecar.";

#[test]
fn a_correction_supersedes_what_was_said_before_and_forgetting_it_brings_that_back() {
    let sandbox = Sandbox::new();
    let old = session(&sandbox, 3, "Where is the admin API?", OLD);
    sandbox.import(&[&old.path]);
    assert_eq!(of(&sandbox, OLD), ("current".into(), "value".into(), "8443".into()));
    let new = session(&sandbox, 9, NEW, "Noted.");
    sandbox.import(&[&new.path]);
    sandbox.verify();
    assert_eq!(status(&sandbox, OLD), "superseded");
    assert_eq!(status(&sandbox, NEW), "current");
    // Both sides name each other, with the record.
    let all = claims(&sandbox);
    let find = |text: &str| all.iter().find(|c| c["text"] == text).unwrap();
    let (first, second) = (find(OLD), find(NEW));
    assert_eq!(first["related"][0]["relation"], "superseded_by");
    assert_eq!(first["related"][0]["record"], second["evidence"][0]);
    assert_eq!(second["related"][0]["relation"], "supersedes");
    // Search says so, show says so, and the record in force comes first.
    let hits = sandbox.json(&["search", "admin API", "--kind", "claim", "--status", "superseded"]);
    assert_eq!(hits["hits"].as_array().unwrap().len(), 1, "{hits}");
    assert_eq!(hits["hits"][0]["header"]["related"][0]["id"], second["id"]);
    assert_eq!(sandbox.json(&["show", first["id"].as_str().unwrap()])["header"]["subject"], first["subject"]);
    let hits = sandbox.json(&["search", "admin API listens on 8443", "--kind", "observation"]);
    assert!(!hits["hits"].as_array().unwrap().is_empty());
    let hits = sandbox.json(&["search", "which port admin API listens 8443"]);
    let records: Vec<&Value> = hits["hits"].as_array().unwrap().iter().map(|h| &h["record"]).collect();
    let place = |record: &Value| records.iter().position(|r| *r == record).unwrap();
    assert!(place(&second["evidence"][0]) < place(&first["evidence"][0]), "{hits:#}");
    let told = sandbox.json(&["search", "admin API listens", "--by", "session"]);
    let told: Vec<String> =
        told["hits"].as_array().unwrap().iter().map(|h| h["excerpt"].to_string()).collect();
    assert!(told.iter().all(|t| !t.contains("listens on 8443") && t.contains("9443")), "{told:?}");
    // A session that starts is told what is in force.
    let brief = start(&sandbox, &Transcript::new(&sandbox, 20), "startup", "");
    assert!(brief.contains("decision 2026") && brief.contains("9443 last week"), "{brief}");
    assert!(!brief.contains(&format!("(assistant) {OLD}")), "{brief}");
    assert_eq!(sandbox.sinker(&["forget", "--yes", "--session", &new.session]).code, Some(0));
    assert_eq!(status(&sandbox, OLD), "current");
    assert!(!claims(&sandbox).iter().any(|c| c.to_string().contains("9443")));
    sandbox.verify();
}

#[test]
fn two_that_disagree_are_conflicted_until_a_person_says_which_holds() {
    let sandbox = Sandbox::new();
    let one = "Audit logs are kept for 90 days.";
    let other = "The retention of audit logs is 180 days; I have that from the compliance page.";
    let (a, b) = (session(&sandbox, 3, "go on", one), session(&sandbox, 9, "go on", other));
    sandbox.import(&[&a.path, &b.path]);
    assert_eq!([status(&sandbox, one), status(&sandbox, other)], ["conflicted", "conflicted"]);
    let hits = sandbox.json(&["search", "audit logs", "--kind", "claim", "--status", "conflicted"]);
    assert_eq!(hits["hits"].as_array().unwrap().len(), 2);
    assert_eq!(hits["hits"][0]["header"]["related"][0]["relation"], "conflicts_with");
    let c = session(&sandbox, 12, "Audit logs are kept for 180 days now, that is what counts.", "ok");
    sandbox.import(&[&c.path]);
    assert_eq!(status(&sandbox, one), "superseded");
    sandbox.verify();
}

#[test]
fn what_tools_print_and_what_was_taken_back_states_nothing() {
    let sandbox = Sandbox::new();
    let mut session = Transcript::new(&sandbox, 3);
    session.prompt("Look at the gateway.").calls("c1", "Bash", serde_json::json!({"command": "cat a"}));
    session.returns("c1", "The gateway listens on 8080.").thinks("The proxy listens on 8081.");
    let mark = session.mark();
    session.prompt("Paint it.").says("The pilot service listens on 7070.");
    session.back_to(mark).prompt("Do not paint it.").says("The harbor service listens on 6060.").flush();
    sandbox.import(&[&session.path]);
    let texts: Vec<Value> = claims(&sandbox).iter().map(|c| c["text"].clone()).collect();
    assert_eq!(texts, ["The harbor service listens on 6060."]);
    sandbox.verify();
}

#[test]
fn what_is_refuted_in_its_session_is_not_current() {
    let sandbox = Sandbox::new();
    let cause = "The stale prices are caused by the edge cache.";
    let mut session = Transcript::new(&sandbox, 3);
    session.prompt("Why are prices stale?").says(cause).prompt("Purged it, still stale.");
    session.says("So it wasn't the edge cache after all.").flush();
    sandbox.import(&[&session.path]);
    assert_eq!(status(&sandbox, cause), "superseded");
    assert_eq!(claims(&sandbox).len(), 1, "a refutation is no claim");
    sandbox.verify();
}

#[test]
fn a_fork_shares_the_claims_of_the_turns_that_it_copied() {
    let sandbox = Sandbox::new();
    let old = session(&sandbox, 18, "Where is it?", OLD);
    let mut fork = Transcript::new(&sandbox, 19);
    let copied = String::from_utf8(old.bytes().to_vec()).unwrap().replace(&old.session, &fork.session);
    fork.raw_bytes(copied.as_bytes()).prompt(NEW).says("Noted.").flush();
    let dumps = [[&old.path, &fork.path], [&fork.path, &old.path]].map(|order| {
        let world = sandbox.sibling();
        order.iter().for_each(|path| drop(world.import(&[path])));
        world.verify();
        assert_eq!(claims(&world).len(), 2);
        assert_eq!(status(&world, OLD), "superseded");
        (world.dump(), claims(&world))
    });
    assert_eq!(dumps[0], dumps[1]);
}

/// D5: the claims are a function of what is stored: any order of sessions and any split gives the same rows.
#[test]
fn claims_do_not_depend_on_what_was_read_first() {
    let said = [
        ("user", "staging db is on 5433"),
        ("assistant", "The shader cache holds 256 entries, as the constant in `cache.cpp` says."),
        ("assistant", "`engine.ini` gives the shader cache a size of 512 entries."),
        ("user", "The shader cache holds 1024 entries now, forget the other numbers."),
        ("assistant", "The production database is reached on 6432, as `values-prod.yaml` says."),
        ("user", "let's use Sidekiq for the background jobs"),
        ("user", "I changed my mind about background jobs: Solid Queue, so that we can throw out redis"),
        ("assistant", "I renamed `fetchUserData` to `loadProfile` across the app."),
    ];
    let sandbox = Sandbox::new();
    let all: Vec<Transcript> = (3..)
        .zip(said)
        .map(|(seed, (who, text))| match who {
            "user" => session(&sandbox, seed, text, "ok"),
            _ => session(&sandbox, seed, "go on", text),
        })
        .collect();
    let world = sandbox.sibling();
    world.import(&all.iter().map(|t| t.path.as_path()).collect::<Vec<_>>());
    let expected = claims(&world);
    assert!(expected.iter().any(|c| c["status"] == "superseded"), "{expected:#?}");
    let config = ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(order in Just((0..all.len()).collect::<Vec<_>>()).prop_shuffle(), at in 1..7_usize)| {
        let world = sandbox.sibling();
        for part in [&order[..at], &order[at..]] {
            world.import(&part.iter().map(|n| all[*n].path.as_path()).collect::<Vec<_>>());
        }
        prop_assert_eq!(&claims(&world), &expected);
    });
}

/// D5: import and live capture give the same claims; a turn that grows replaces them.
#[test]
fn line_by_line_and_whole_give_the_same_claims() {
    let sandbox = Sandbox::new();
    let mut session = Transcript::new(&sandbox, 4);
    session.prompt("Where is the admin API?").says(OLD).says("Sessions expire after 14 days of inactivity.");
    session.prompt(NEW).says("I removed `moment` from the bundle; nothing imports it any longer.");
    for end in session.line_ends() {
        session.flush_to(end);
        sandbox.import(&[&session.path]);
    }
    let other = sandbox.sibling();
    other.import(&[&session.path]);
    assert_eq!(claims(&other), claims(&sandbox));
    assert_eq!(status(&other, OLD), "superseded");
    sandbox.verify();
}
