//! `sinker export` and the import of what it wrote: the same ids, once, and nothing that a rule finds.

use crate::support::{Sandbox, Transcript, shell, to_end};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The shipped sessions, a rewound one, a fork's worth of notes.
fn world() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut t = Transcript::new(&sandbox, 3);
    let mark = t.mark();
    t.prompt("Please plan the breakwater lamp.").says("Planned: two lamps.");
    t.calls("toolu_1", "Edit", json!({"file_path": "src/pier.rs", "old_string": "a", "new_string": "b"}));
    t.returns("toolu_1", "The file has been updated.");
    t.back_to(mark).prompt("Please plan one breakwater lamp.").says("Planned: one lamp.");
    t.compacts("A lamp was planned.").prompt("Go on.").says("Done.").flush();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("spool-fixtures/demo/projects");
    sandbox.import(&[&demo, &sandbox.claude().join("projects")]);
    let note = sandbox.json(&["note", "Lanterns burn kerosene", "--file", "src/lantern.rs"]);
    sandbox.json(&["note", "Lanterns burn paraffin", "--edit", note["id"].as_str().unwrap()]);
    sandbox
}

/// The records, without what counts the changes of one store.
fn records(sandbox: &Sandbox) -> Vec<Value> {
    let mut all = sandbox.lines(&["inspect", "--view", "records"]);
    for record in &mut all {
        record.as_object_mut().unwrap().remove("seq");
    }
    all.sort_by_key(|record| record["id"].as_str().unwrap().to_owned());
    all
}

/// The sessions, without how far their transcripts were read.
fn sessions(sandbox: &Sandbox) -> Vec<Value> {
    let mut all = sandbox.lines(&["sessions", "--all"]);
    for session in &mut all {
        let session = session.as_object_mut().unwrap();
        session.remove("cursor");
        session.remove("size");
    }
    all.sort_by_key(|session| session["id"].as_str().unwrap().to_owned());
    all
}

fn same(one: &[Value], other: &[Value]) {
    assert_eq!(one.len(), other.len());
    for (a, b) in one.iter().zip(other) {
        assert_eq!(a, b);
    }
}

#[test]
fn an_export_comes_back_to_the_same_ids_once() {
    let original = world();
    let file = original.root().join("memory.jsonl");
    let name = file.to_str().unwrap();
    let out = original.sinker(&["export", name]);
    assert_eq!(out.code, Some(0), "{out}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // Never over a file that is there, and the same bytes on stdout but for the time in the head.
    assert_eq!(original.sinker(&["export", name]).code, Some(2));
    assert_eq!(original.sinker(&["export", name, "--force"]).code, Some(0));
    let text = std::fs::read_to_string(&file).unwrap();
    let printed = original.sinker(&["export"]).stdout;
    assert!(printed.lines().skip(1).eq(text.lines().skip(1)));
    let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(head["sinker_export"], json!(1));
    let copy = original.sibling();
    let done = copy.import(&[&file]);
    assert_eq!((&done["files"], &done["odd"]), (&json!(1), &json!(0)), "{done}");
    same(&records(&original), &records(&copy));
    same(&sessions(&original), &sessions(&copy));
    copy.verify();
    for id in records(&original).iter().map(|record| record["id"].as_str().unwrap().to_owned()).step_by(7) {
        let shown = |sandbox: &Sandbox| {
            let mut shown = sandbox.json(&["show", &id]);
            shown.as_object_mut().unwrap().remove("seq");
            shown
        };
        assert_eq!(shown(&original), shown(&copy));
    }
    let found = copy.json(&["search", "paraffin", "--kind", "note"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
    // Again, and from the transcripts: nothing new. A drainer that runs does it as well.
    let again = copy.import(&[&file]);
    assert_eq!(
        (&again["observations"], &again["documents"], &again["odd"]),
        (&json!(0), &json!(0), &json!(0))
    );
    let read = copy.import(&[&copy.claude().join("projects")]);
    assert_eq!((&read["observations"], &read["documents"]), (&json!(0), &json!(0)), "{read}");
    let other = original.sibling();
    other.drain_once();
    let _drainer = other.start(&["drain"]);
    crate::support::eventually("the drainer runs", || {
        other.json(&["status"])["drainer"]["running"] == json!(true)
    });
    other.import(&[&file]);
    same(&records(&original), &records(&other));
    // What is excluded here is passed over, as a transcript of it is.
    let careful = original.sibling();
    careful.configure("[capture]\nexclude = [\"harbor-*\"]\n");
    let passed = careful.import(&[&file]);
    assert!(passed["passed"].as_u64().unwrap() > 0, "{passed}");
    assert!(!careful.dump().contains("harbor-api"), "{}", careful.dump());
    careful.configure("");
    // What was forgotten stays so; junk is counted; a newer export is refused.
    let gone = found["hits"][0]["id"].as_str().unwrap();
    copy.json(&["forget", gone, "--yes"]);
    let before = records(&copy).len();
    std::fs::write(&file, format!("{text}no json\n{{\"t\":\"observation\",\"id\":\"x\"}}\n")).unwrap();
    assert_eq!(copy.import(&[&file])["odd"], json!(2));
    assert_eq!(records(&copy).len(), before);
    std::fs::write(&file, "{\"sinker_export\":2}\n").unwrap();
    assert_eq!(copy.sinker(&["import", name]).code, Some(4));
}

/// What a rule finds on the way in is taken out; what it finds on the way out stops the export, and is not told.
#[test]
fn no_secret_comes_in_and_none_goes_out() {
    const TOKEN: &str = "ghp_016C8f3Zk9QwLrT5vXy2Bn7Mh4Jd6Ps1Ea3G";
    let sandbox = world();
    let project = sandbox.project();
    let out = sandbox.sinker(&["export", "--project", project.to_str().unwrap(), "--since", "2000-01-01"]);
    assert!(out.stdout.contains("paraffin"), "{out}");
    let text = out.stdout;
    let file = sandbox.root().join("planted.jsonl");
    std::fs::write(&file, text.replace("paraffin", TOKEN)).unwrap();
    let copy = sandbox.sibling();
    copy.import(&[&file]);
    let dump = copy.dump();
    assert!(!dump.contains(TOKEN) && dump.contains("Lanterns burn [redacted:"), "{dump}");
    // Markers are no secrets.
    assert_eq!(copy.sinker(&["export"]).code, Some(0));
    // A row of an older version, which knew no such rule: made here by writing the bytes into the spool, as a note that is redacted already.
    let what = json!({"id": "n-00112233445566778899aabbccddeeff", "text": format!("key {TOKEN}"), "speaker": "user",
        "time_ms": 1_700_000_000_000_i64, "at_ms": 1_700_000_000_000_i64,
        "project": {"id": "harbor-api-0123456789", "name": "harbor-api", "remote": null, "root": "/x"}});
    let command = json!({"v": 1, "verb": "note", "id": "00000000000000aa", "what": what});
    let name = "_cmd.0000000000000001.00000000000000aa.note.json";
    std::fs::write(copy.at("spool/new").join(name), command.to_string()).unwrap();
    copy.drain_once();
    let out = copy.sinker(&["export", copy.root().join("x.jsonl").to_str().unwrap()]);
    assert!(out.code == Some(1) && out.stderr.contains("github") && out.stderr.contains("n-0011"), "{out}");
    assert!(!format!("{out}").contains(TOKEN) && !copy.root().join("x.jsonl").exists(), "{out}");
    assert!(out.stderr.contains("redact --rescan"), "{out}");
}

/// A rule as broad as a person likes looks at what was said, not at the words of the format: what it finds can be taken out, and then all of
/// it goes out and comes in.
#[test]
fn a_broad_rule_of_a_persons_own_stops_no_export() {
    let broad = r#"
[redact]
rules = [{ name = "broad", pattern = "(?i)result|text|user|assistant|session|observation|claude|use|note|true|[0-9]{4}-|toolu", keywords = ["result", "text", "user", "assistant", "session", "observation", "claude", "use", "note", "true", "20", "toolu"] }]
"#;
    let original = world();
    original.configure(broad);
    let refused = original.sinker(&["export"]);
    assert!(refused.code == Some(1) && refused.stderr.contains("broad"), "{refused}");
    original.json(&["redact", "--rescan"]);
    let file = original.root().join("memory.jsonl");
    let out = original.sinker(&["export", file.to_str().unwrap()]);
    assert_eq!(out.code, Some(0), "{out}");
    let copy = original.sibling();
    copy.configure(broad);
    let done = copy.import(&[&file]);
    assert_eq!(
        (&done["odd"], &done["observations"]),
        (&json!(0), &original.json(&["status"])["store"]["observations"])
    );
    same(&records(&original), &records(&copy));
    same(&sessions(&original), &sessions(&copy));
}

/// What replaces a file is written beside it: cut short, the old one is whole, and no half of a new one stays.
#[test]
fn an_export_that_cannot_be_finished_leaves_the_old_file() {
    let sandbox = world();
    let folder = sandbox.root().join("out");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("memory.jsonl");
    std::fs::write(&file, "precious").unwrap();
    let limited = |blocks: &str| {
        let script =
            format!("ulimit -f {blocks}; trap '' XFSZ; exec \"$SINKER\" export {} --force", file.display());
        to_end(shell(&sandbox, &[], &script).unwrap(), b"")
    };
    let out = limited("1");
    assert_eq!(out.code, Some(1), "{out}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
    assert_eq!(limited("unlimited").code, Some(0));
    assert!(std::fs::read_to_string(&file).unwrap().contains("paraffin"));
    assert_eq!(
        sandbox.sinker(&["export", folder.to_str().unwrap(), "--force"]).code,
        Some(2),
        "a folder is no file"
    );
}

/// A file from somebody else: times that none can follow, places beyond any file, ids of no host. Nothing of it becomes the newest for ever.
#[test]
fn a_hostile_export_is_counted_and_changes_nothing_it_should_not() {
    let original = world();
    let text = original.sinker(&["export"]).stdout;
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| lines.iter().find(|line| line["t"] == kind).unwrap().clone();
    let (note, said, session) = (of("note"), of("observation"), of("session"));
    let boundary = of("boundary");
    let with = |record: &Value, pointer: &str, value: Value| {
        let mut record = record.clone();
        *record.pointer_mut(pointer).unwrap() = value;
        record
    };
    let most = json!(i64::MAX);
    let hostile = [
        with(&with(&note, "/note/at_ms", most.clone()), "/note/text", json!("planted words")),
        with(&note, "/older/0/0", most.clone()),
        with(&note, "/note/time_ms", most.clone()),
        with(&said, "/at", most.clone()),
        with(&said, "/time_ms", most.clone()),
        with(&said, "/links/0/at_ms", most.clone()),
        with(&said, "/links/0/at", json!(u64::MAX)),
        with(&said, "/links/0/session", json!("")),
        with(&said, "/speaker", json!("root")),
        with(&boundary, "/at_ms", most.clone()),
        with(&session, "/facts/last", json!({"ms": i64::MAX, "text": "always"})),
        with(&session, "/facts/id", json!("")),
        with(&session, "/facts/id", json!("x".repeat(5_000))),
        with(&session, "/project/id", json!("../../x")),
    ];
    let mut file: Vec<String> = vec![lines[0].to_string()];
    file.extend(hostile.iter().map(Value::to_string));
    file.push(json!({"t": "end", "records": hostile.len()}).to_string());
    let path = original.root().join("hostile.jsonl");
    std::fs::write(&path, file.join("\n") + "\n").unwrap();
    let before = (records(&original), sessions(&original));
    let done = original.import(&[&path]);
    assert_eq!(done["odd"], json!(hostile.len()), "{done}");
    assert_eq!(before, (records(&original), sessions(&original)));
    // An older revision keeps what was beside its own words.
    let copy = original.sibling();
    let mut revised = said.clone();
    revised["revisions"] = json!([{"at": 0, "blocks": [{"k": "text", "t": "older words"}], "parent": "p-old", "message": "m-old"}]);
    let file = [
        &lines[0],
        &session,
        &with(&revised, "/links/0/session", session["facts"]["id"].clone()),
        &json!({"t": "end"}),
    ];
    std::fs::write(&path, file.map(|line| format!("{line}\n")).concat()).unwrap();
    assert_eq!(copy.import(&[&path])["odd"], 0);
    let again = copy.sinker(&["export"]).stdout;
    let again = again
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|line| line["id"] == said["id"]);
    assert_eq!(again.unwrap()["revisions"], revised["revisions"]);
    // Ids that a host may have given, however odd: kept as they are, shown harmlessly, forgotten by name.
    let odd = ["../../etc/passwd", "\u{1b}[2J\u{202e}x", "a b'; DROP TABLE sessions;--", "sinker:other:1"];
    for id in odd {
        let copy = original.sibling();
        let mut moved: Vec<Value> = vec![lines[0].clone(), with(&session, "/facts/id", json!(id))];
        moved.extend(
            lines
                .iter()
                .filter(|line| line["links"][0]["session"] == session["facts"]["id"])
                .map(|line| with(line, "/links/0/session", json!(id))),
        );
        moved.push(json!({"t": "end", "records": 0}));
        let file = copy.root().join("odd.jsonl");
        std::fs::write(&file, moved.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        let done = copy.import(&[&file]);
        assert!(done["odd"] == 0 && done["observations"].as_u64().unwrap() > 0, "{id:?}: {done}");
        copy.verify();
        assert_eq!(copy.lines(&["sessions", "--all"])[0]["id"], id);
        let out = copy.sinker(&["sessions", "--all"]);
        assert!(!out.stdout.contains('\u{1b}') && !out.stdout.contains('\u{202e}'), "{out}");
        copy.json(&["forget", "--session", id, "--yes"]);
        assert_eq!(copy.json(&["status"])["store"]["sessions"], 0);
    }
}

/// Killed anywhere on the way, an import goes on when it is run again.
#[cfg(feature = "failpoints")]
#[test]
fn an_import_of_an_export_that_is_killed_goes_on() {
    let original = world();
    let file = original.root().join("memory.jsonl");
    assert_eq!(original.sinker(&["export", file.to_str().unwrap()]).code, Some(0));
    let whole = records(&original);
    let mut killed = 0;
    for n in (1..).step_by(29) {
        let copy = original.sibling();
        let args = ["import", file.to_str().unwrap()];
        let out = copy.sinker_with(&args, b"", &[("STEP_KILL", &n.to_string())]);
        if !out.killed() {
            assert_eq!(out.code, Some(0), "{out}");
            break;
        }
        killed += 1;
        copy.import(&[&file]);
        same(&whole, &records(&copy));
    }
    assert!(killed > 1, "no step of the import was met");
}
