//! What is kept for how long, and what is redacted anew.

use crate::support::{Sandbox, Transcript, places_of};
use serde_json::{Value, json};

fn said(home: &Sandbox, speaker: &str) -> u64 {
    let rows = home.lines(&["inspect", "--view", "records"]);
    rows.iter().filter(|row| row["speaker"] == speaker && row["kind"] == "observation").count() as u64
}

/// Three sessions of 2026-11-20, at one, at eight in the evening and at four in the afternoon, each with prose and a tool's output.
fn world() -> (Sandbox, Vec<Transcript>) {
    let home = Sandbox::new();
    let mut all = Vec::new();
    for seed in [1, 20, 40] {
        let mut one = Transcript::new(&home, seed);
        one.prompt(&format!("Why does crane {seed} stand still?"))
            .calls("toolu_1", "Bash", json!({"command": "crane status"}))
            .returns("toolu_1", &format!("crane {seed}: {}", "a long output of a tool. ".repeat(2_000)))
            .says(&format!("Decision: crane {seed} gets a new relay."))
            .flush();
        all.push(one);
    }
    home.import(&all.iter().map(|one| one.path.as_path()).collect::<Vec<_>>());
    (home, all)
}

fn retain(home: &Sandbox, rules: &str, args: &[&str]) -> Value {
    home.configure(&format!("[retain]\nrules = [{rules}]\n"));
    let now = [("SINKER_NOW", "2026-11-22T18:00:00Z")];
    let out = home.sinker_with(&[&["retain", "--json"], args].concat(), b"", &now);
    assert_eq!(out.code, Some(0), "{out}");
    serde_json::from_str(&out.stdout).unwrap()
}

#[test]
fn retention_takes_by_age_and_size_leaves_what_is_pinned_and_counts() {
    let (start, transcripts) = world();
    let off = start.sinker(&["retain"]);
    assert_eq!((off.code, said(&start, "tool")), (Some(3), 3), "off by default: {off}");

    let home = start.copy();
    let dry = retain(&home, r#"{ speaker = "tool", max_age_days = 2 }"#, &["--dry-run"]);
    assert_eq!((&dry["removed"], said(&home, "tool")), (&json!(2), 3), "{dry}");
    let done = retain(&home, r#"{ speaker = "tool", max_age_days = 2 }"#, &[]);
    assert_eq!((&done["removed"], &done["bytes"]), (&json!(2), &dry["bytes"]));
    assert_eq!((said(&home, "tool"), said(&home, "user"), said(&home, "assistant")), (1, 3, 6));
    home.verify();
    home.drain_once();
    assert_eq!(home.json(&["status"])["retained"], 2);
    // No forgetting: without the rule it can be had again.
    home.configure("");
    let store = rusqlite::Connection::open(home.at("store.db")).unwrap();
    store.execute("UPDATE files SET offset = 0, settled = 0, head_len = 0, tail_len = 0", []).unwrap();
    drop(store);
    home.import(&[&transcripts[0].path, &transcripts[2].path]);
    assert_eq!(home.dump(), start.dump());

    // By size the oldest go first, and a pinned one stays.
    let home = start.copy();
    let found =
        home.json(&["search", "crane 1 relay", "--all", "--kind", "observation", "--speaker", "assistant"]);
    let oldest = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .find(|hit| hit["excerpt"].to_string().contains("crane 1"))
        .unwrap();
    let id = oldest["id"].as_str().unwrap();
    assert_eq!(home.json(&["retain", "--pin", id])["changed"], 1);
    assert_eq!(home.lines(&["retain", "--pins"])[0]["id"], id);
    retain(&home, r#"{ project = "harbor-api", max_mb = 0 }"#, &[]);
    let left = home.lines(&["inspect", "--view", "records"]);
    let left: Vec<&Value> = left.iter().filter(|row| row["kind"] == "observation").collect();
    assert_eq!((left.len(), &left[0]["id"]), (1, &json!(id)), "{left:?}");
    let sessions = home.lines(&["sessions", "--all"]);
    assert_eq!(sessions.len(), 1, "a session that holds nothing is gone: {sessions:?}");
    home.verify();
    assert_eq!(home.json(&["retain", "--unpin", id])["changed"], 1);
    retain(&home, r#"{ max_mb = 0 }"#, &[]);
    assert_eq!(home.json(&["status"])["store"]["documents"], 0);
    home.verify();
}

/// One wrong rule puts all out of force, since none may take more than was meant; whoever looks is told.
#[test]
fn a_wrong_rule_of_retention_stops_all_and_is_told() {
    let (home, _) = world();
    let rules = r#"{ speaker = "tool", max_age_days = 2 }, { speaker = "toll", max_mb = 1 }"#;
    home.configure(&format!("[retain]\nrules = [{rules}]\n"));
    let says = |text: &str| text.contains("rule 2") && text.contains("speaker");
    let out = home.sinker(&["retain"]);
    assert!(out.code == Some(2) && says(&out.stderr), "{out}");
    assert!(says(&home.json(&["status"])["last_error"].to_string()));
    let doctor = home.sinker(&["doctor", "redaction"]);
    assert!(doctor.code == Some(1) && says(&doctor.stdout), "{doctor}");
    home.drain_once();
    assert!(says(&home.log()), "{}", home.log());
    assert_eq!(said(&home, "tool"), 3);
}

/// A world with what an older table let through, and the rules in force.
#[cfg(feature = "failpoints")]
fn leaking() -> (Sandbox, String) {
    let home = Sandbox::new();
    let secret = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let placeholder = "crane-relay-placeholder-of-forty-letters";
    let mut old = Transcript::new(&home, 60);
    old.prompt(&format!("use {placeholder}"))
        .calls("toolu_1", "Read", json!({"file_path": format!("/srv/{placeholder}/x.md")}))
        .returns("toolu_1", &format!("{placeholder} {}", "more words ".repeat(20)))
        .says("Done.")
        .flush();
    home.import(&[&old.path]);
    smuggle(&home, placeholder, &secret);
    home.sinker(&["index", "rebuild"]);
    (home, secret)
}

/// A re-scan that dies goes on with the next drainer, by itself. Retention and notes are whole or not there.
#[cfg(feature = "failpoints")]
#[test]
fn f67_a_rescan_a_retention_and_a_note_that_are_killed_are_whole_after_the_next_drain() {
    use crate::crash::{Fault, at_every_step};
    let (start, secret) = leaking();
    let undisturbed = start.copy();
    undisturbed.json(&["redact", "--rescan"]);
    let (before, expected) = (start.dump(), undisturbed.dump());
    at_every_step(&start, Fault::Kill, &["redact", "--rescan", "--json"], "", |home, _| {
        let begun = home.at("state/rescan").exists();
        home.drain_once();
        let dump = home.dump();
        if begun || dump != before {
            assert_eq!(dump, expected);
            assert_eq!(places_of(home, &secret), Vec::<String>::new());
        }
        assert!(!home.at("state/rescan").exists());
        home.verify();
    });
    let home = start.copy();
    std::fs::write(home.at("state/rescan"), b"").unwrap();
    assert_eq!(home.json(&["status"])["rescan_begun"], true);
    home.drain_once();
    let status = home.json(&["status"]);
    assert_eq!((&status["rescan_begun"], &status["rescan_due"]), (&json!(false), &json!(false)));
    start.configure("[retain]\nrules = [{ speaker = \"tool\", max_mb = 0 }]\n");
    let undisturbed = start.copy();
    undisturbed.json(&["retain"]);
    let taken = undisturbed.dump();
    assert_ne!(taken, before);
    at_every_step(&start, Fault::Kill, &["retain", "--json"], "", |home, _| {
        home.drain_once();
        let dump = home.dump();
        assert!(dump == before || dump == taken, "{dump}");
    });
    at_every_step(&start, Fault::Kill, &["note", "The pier is closed", "--json"], "", |home, _| {
        home.drain_once();
        home.json(&["note", "The pier is closed"]);
        let again = home.lines(&["inspect", "--view", "records"]);
        assert_eq!(
            again.iter().filter(|row| row["kind"] == "note").count(),
            1,
            "the same words are the same note"
        );
    });
}

/// F67: what an older table let through leaves rows, revisions, titles, paths and the index with a rescan; a second one changes nothing.
#[test]
fn f67_a_rescan_takes_out_what_older_rules_let_through() {
    let (home, _) = world();
    let secret = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    // What a version without the rule would have stored.
    let placeholder = "crane-relay-placeholder-of-forty-letters";
    let mut old = Transcript::new(&home, 60);
    let title = json!({"type": "custom-title", "sessionId": old.session, "customTitle": format!("about {placeholder}")});
    old.prompt(&format!("use {placeholder}"))
        .calls("toolu_1", "Read", json!({"file_path": format!("/srv/{placeholder}/x.md")}))
        .returns("toolu_1", &format!("{placeholder} {}", "more words ".repeat(20)))
        .command("deploy", placeholder)
        .raw(&title.to_string())
        .flush();
    home.import(&[&old.path]);
    smuggle(&home, placeholder, &secret);
    home.sinker(&["index", "rebuild"]);
    assert!(!places_of(&home, &secret).is_empty());
    let done = home.json(&["redact", "--rescan"]);
    assert!(done["redacted"].as_u64().unwrap() >= 6, "{done}");
    assert_eq!(places_of(&home, &secret), Vec::<String>::new());
    home.verify();
    let after = home.dump();
    assert!(after.contains("[redacted:github-token:"));
    assert_eq!(home.json(&["redact", "--rescan"])["redacted"], 0);
    assert_eq!(home.dump(), after);
    assert_eq!(home.json(&["status"])["rescan_due"], false);
    // Other rules are in force from now on, whether or not a drainer has run since.
    home.configure(
        "[redact]\nrules = [{ name = \"pier\", pattern = \"pier-[0-9]{9}\", keywords = [\"pier-\"] }]\n",
    );
    assert_eq!(home.json(&["status"])["rescan_due"], true);
    let doctor = home.sinker(&["doctor", "--json"]).stdout;
    assert!(doctor.contains("redact --rescan"), "{doctor}");
}

/// Puts a text of the same length in the place of another, in every row: what a table without the rule would have let through.
fn smuggle(home: &Sandbox, placeholder: &str, secret: &str) {
    assert_eq!(placeholder.len(), secret.len());
    let store = rusqlite::Connection::open(home.at("store.db")).unwrap();
    let mut query = store.prepare("SELECT n, body FROM packs").unwrap();
    let packs: Vec<(i64, Vec<u8>)> =
        query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    for (n, packed) in packs {
        let body = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
        let body = zstd::bulk::compress(body.replace(placeholder, secret).as_bytes(), 3).unwrap();
        store.execute("UPDATE packs SET body = ?2 WHERE n = ?1", rusqlite::params![n, body]).unwrap();
    }
    for (table, column) in [("paths", "path"), ("sessions", "title")] {
        let sql = format!("UPDATE {table} SET {column} = replace({column}, ?1, ?2)");
        store.execute(&sql, [placeholder, secret]).unwrap();
    }
    store.execute("UPDATE meta SET value = 0 WHERE key = 'rules'", []).unwrap();
    store.execute("DELETE FROM profiles", []).unwrap();
}
