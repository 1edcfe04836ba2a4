use super::*;
use crate::config::Tools;
use crate::install::entries::wanted;
use serde_json::json;

const OWN: &str = "/home/dev/bin/sinker";

fn entries() -> Vec<Entry> {
    wanted(Tools::Quiet)
}

/// Before → after → after again → uninstalled. Returns what an install made of it.
fn check(before: &str) -> String {
    let document = Document::parse(before.as_bytes()).unwrap();
    let first = document.with(&entries(), OWN).unwrap();
    let after = Document::parse(&first.bytes).expect(before);
    let found = after.find(&entries(), OWN);
    assert!(ours::missing(&found, &entries()).is_empty(), "{before}");
    assert!(found.iter().all(|f| matches!(f.form, Form::Current(_) | Form::ByHand)), "{before}: {found:?}");
    let second = after.with(&entries(), OWN).unwrap();
    assert!(!second.is_change() && second.bytes == first.bytes && second.kept == entries().len(), "{before}");
    // What is not ours is what it was, whatever it was.
    let gone = after.without(Some(&document)).unwrap();
    let value: Value = serde_json::from_slice(&gone.bytes[if document.bom { 3 } else { 0 }..]).unwrap();
    assert_eq!(strip(&value), strip(document.value()), "{before}");
    assert!(gone.removed == entries().len(), "{before}");
    String::from_utf8(first.bytes).unwrap()
}

/// The settings without hooks of ours and without lists and groups that are empty, made another way: no tree, no text.
fn strip(settings: &Value) -> Value {
    let mut settings = settings.clone();
    let Some(fields) = settings.as_object_mut() else { return settings };
    let Some(Value::Object(mut events)) = fields.remove("hooks") else { return settings };
    let ours = |hook: &Value| hook.to_string().contains("sinker") && !hook.to_string().contains("&&");
    let full = |list: &Value| list.as_array().is_some_and(|l| !l.is_empty());
    for (_, groups) in events.iter_mut() {
        let groups = groups.as_array_mut().unwrap();
        groups.iter_mut().for_each(|g| g["hooks"].as_array_mut().unwrap().retain(|h| !ours(h)));
        groups.retain(|group| full(&group["hooks"]));
    }
    events.retain(|_, groups| full(groups));
    if !events.is_empty() {
        fields.insert("hooks".to_owned(), events.into());
    }
    settings
}

#[test]
fn lists_that_were_empty_before_us_stay() {
    let before = "{\n  \"hooks\": {\n    \"Stop\": [],\n    \"Other\": [{\"hooks\": []}]\n  }\n}\n";
    let document = Document::parse(before.as_bytes()).unwrap();
    let after = Document::parse(&document.with(&entries(), OWN).unwrap().bytes).unwrap();
    let gone = after.without(Some(&document)).unwrap();
    let gone: Value = serde_json::from_slice(&gone.bytes).unwrap();
    assert_eq!(gone, *document.value());
}

#[test]
fn f81_any_settings_of_the_hosts_shape_keep_everything_that_is_not_ours() {
    let foreign =
        r#"{"matcher": "Bash", "hooks": [{"type": "command", "command": "/x/other", "args": ["a"]}]}"#;
    let mut every = String::from("{\n  \"hooks\": {\n");
    for (n, event) in ["Stop", "SessionStart", "PreToolUse", "Notification"].iter().enumerate() {
        every.push_str(&format!("{}    \"{event}\": [{foreign}]", if n > 0 { ",\n" } else { "" }));
    }
    every.push_str("\n  }\n}\n");
    let cases = [
        "{}".to_owned(),
        "{}\n".to_owned(),
        String::new(),
        " \n".to_owned(),
        "\u{feff}{\n  \"a\": 1\n}\n".to_owned(),
        "{\"a\":1,\"b\":[1,2,{\"c\":null}]}".to_owned(),
        "{\r\n\t\"model\": \"opus\",\r\n\t\"env\": {\"A\": \"\\u00e9\\/\"}\r\n}\r\n".to_owned(),
        "{\n  \"hooks\": {}\n}\n".to_owned(),
        "{\n  \"hooks\": {\n    \"Stop\": []\n  },\n  \"z\": 1.50e+2\n}".to_owned(),
        every,
        r#"{"hooks": {"Stop": [{"hooks": []}], "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "prompt", "prompt": "x"}], "x": 1}]}}"#.to_owned(),
    ];
    for before in cases {
        let document = Document::parse(before.as_bytes()).unwrap();
        let after = check(&before);
        assert_eq!(after.starts_with('\u{feff}'), document.bom, "{before}");
        assert_eq!(after.contains("\r\n"), before.contains("\r\n"), "{before}");
        if before.contains("\r\n") {
            assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after}");
            assert!(after.contains("\r\n\t\t\"Stop\""), "the file's own indentation: {after}");
        }
        if !before.trim().is_empty() {
            assert_eq!(after.ends_with('\n'), before.ends_with('\n'), "{before}");
        }
    }
}

#[test]
fn an_install_changes_no_line_that_was_there_but_for_a_comma() {
    let before = "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [\n            {\n                \"hooks\": [{\"type\":\"command\", \"command\":\"say\"}]\n            }\n        ]\n    },\n    \"z\":   [1,2]\n}";
    let after = check(before);
    let mut left = after.lines();
    for line in before.lines() {
        let plain = |l: &str| l.trim_end_matches(',') == line.trim_end_matches(',');
        assert!(left.any(plain), "{line:?} is gone from\n{after}");
    }
}

#[test]
fn f81_older_forms_are_replaced_in_place_and_doubled_ones_go() {
    let shell = |event: &str| json!({ "type": "command", "command": format!("/old/sinker hook claude {event}"), "timeout": 60 });
    let other = json!({ "type": "command", "command": "/x/other" });
    let by_hand = json!({ "type": "command", "command": "cd /x && sinker hook claude stop" });
    let own = entries().iter().find(|e| e.event == "stop").unwrap().hook(OWN);
    let before = json!({ "hooks": {
        // The form of the README before there was an install.
        "SessionStart": [{ "matcher": "startup|clear|compact", "hooks": [shell("session-start")] }],
        // In one group with another's.
        "PreToolUse": [{ "matcher": "Bash", "hooks": [other, shell("pre-tool-use"), other] }],
        "Stop": [{ "hooks": [other, shell("stop --only capture"), by_hand] }, { "hooks": [own, own] }],
        // Under an event of another name, and one that no version wants.
        "Notification": [{ "hooks": [shell("stop")] }, { "hooks": [other] }],
        "PreModelSwitch": [{ "hooks": [shell("gone-event")] }],
    } });
    let before = serde_json::to_string_pretty(&before).unwrap();
    let edited = Document::parse(before.as_bytes()).unwrap().with(&entries(), OWN).unwrap();
    assert_eq!((edited.replaced, edited.kept), (1, 1), "{edited:?}");
    assert_eq!(edited.by_hand, ["cd /x && sinker hook claude stop"]);
    let after: Value = serde_json::from_slice(&edited.bytes).unwrap();
    assert_eq!(after["hooks"]["PreToolUse"][0], json!({ "matcher": "Bash", "hooks": [other, other] }));
    assert_eq!(after["hooks"]["Stop"], json!([{ "hooks": [other, by_hand] }, { "hooks": [own] }]));
    assert_eq!(after["hooks"]["Notification"], json!([{ "hooks": [other] }]));
    assert_eq!(after["hooks"].get("PreModelSwitch"), None);
    let start = after["hooks"]["SessionStart"].as_array().unwrap();
    assert_eq!(start.len(), 2, "both halves: {start:?}");
    check(&before);
}

#[test]
fn entries_of_other_settings_are_brought_to_these() {
    let all = Document::absent().with(&wanted(Tools::All), OWN).unwrap();
    let quiet = Document::parse(&all.bytes).unwrap().with(&entries(), OWN).unwrap();
    let names = |bytes: &[u8]| Document::parse(bytes).unwrap().find(&entries(), OWN).len();
    assert_eq!(names(&quiet.bytes), entries().len());
    assert_eq!((quiet.replaced, quiet.removed, quiet.added), (1, 1, 0));
    let moved = Document::parse(&quiet.bytes).unwrap().with(&entries(), "/new/sinker").unwrap();
    assert_eq!((moved.replaced, moved.removed, moved.added), (entries().len(), 0, 0));
    let text = String::from_utf8(moved.bytes).unwrap();
    assert_eq!(text, String::from_utf8(quiet.bytes).unwrap().replace(OWN, "/new/sinker"), "in their places");
}

#[test]
fn f81_what_is_in_doubt_is_refused_with_its_reason() {
    let cases: [(&[u8], &str); 14] = [
        (b"{", "not JSON"),
        (b"\xff\xfe{}", "not JSON"),
        (b"{\"a\": 01}", "not JSON"),
        (b"// why\n{}", "comments"),
        (b"{\"a\": 1 /* x */}", "comments"),
        (b"{\"a\": 1,}", "trailing commas"),
        (b"{\"a\": [1,], // x\n}", "comments and trailing commas"),
        (b"{\"a\": 1, \"\\u0061\": 2}", "the key a"),
        (b"{\"hooks\": {\"Stop\": [], \"Stop\": []}}", "the key Stop"),
        (b"[]", "not an object"),
        (b"null", "not an object"),
        (b"{\"hooks\": null}", "`hooks` is not an object"),
        (b"{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop` is not a list"),
        (b"{\"hooks\": {\"Stop\": [{\"hooks\": [\"x\"]}]}}", "not a group of hooks"),
    ];
    for (bytes, reason) in cases {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let doubt = Document::parse(bytes).expect_err(&text).to_string();
        assert!(doubt.contains(reason), "{text}: {doubt}");
    }
    let deep = "[".repeat(100_000);
    assert!(matches!(Document::parse(deep.as_bytes()), Err(Doubt::Invalid(_))));
}

#[test]
fn a_path_may_hold_anything_that_json_can_write() {
    for own in [
        "/a b/sinker",
        "/q\"uote'\\/sinker",
        "/$HOME/`x`/sinker",
        "/é/日本/\u{1f3a3}/sinker",
        "/tab\tnl\n/sinker",
    ] {
        let edited = Document::absent().with(&entries(), own).unwrap();
        let value: Value = serde_json::from_slice(&edited.bytes).unwrap();
        assert_eq!(value["hooks"]["Stop"][0]["hooks"][0]["command"], own);
    }
}

#[test]
fn f81_a_huge_file_is_edited_in_reasonable_time() {
    let list: Vec<String> = (0..60_000).map(|n| format!("    \"Bash(command {n}:*)\"")).collect();
    let before = format!("{{\n  \"permissions\": {{\"allow\": [\n{}\n  ]}}\n}}\n", list.join(",\n"));
    let edited = Document::parse(before.as_bytes()).unwrap().with(&entries(), OWN).unwrap();
    assert!(String::from_utf8(edited.bytes).unwrap().contains("Bash(command 59999:*)"));
}

proptest::proptest! {
    /// Settings of any shape that the host takes, laid out in any of three ways.
    #[test]
    fn whatever_the_settings_hold_an_install_and_an_uninstall_leave_the_rest(
        keys in proptest::collection::btree_map("[a-z]{1,6}", proptest::bool::ANY, 0..4),
        events in proptest::collection::btree_map(
            proptest::sample::select(vec!["Stop", "SessionStart", "PreToolUse", "Other"]),
            proptest::collection::vec(proptest::collection::vec(0_u8..4, 1..4), 0..3), 0..4),
        layout in 0_u8..3,
    ) {
        let hook = |kind: &u8| match kind {
            0 => json!({ "type": "command", "command": "/old/sinker hook claude stop" }),
            1 => json!({ "type": "command", "command": OWN, "args": ["hook", "claude", "session-start", "--only", "recall"], "timeout": 3 }),
            _ => json!({ "type": "command", "command": format!("/x/other {kind}") }),
        };
        let events: serde_json::Map<String, Value> = events.iter().map(|(event, groups)| {
            let groups: Vec<Value> = groups.iter().map(|g| json!({ "hooks": g.iter().map(hook).collect::<Vec<_>>() })).collect();
            ((*event).to_owned(), groups.into())
        }).collect();
        let mut settings: serde_json::Map<String, Value> = keys.iter().map(|(k, v)| (k.clone(), (*v).into())).collect();
        settings.insert("hooks".to_owned(), events.into());
        let text = match layout {
            0 => serde_json::to_string(&settings).unwrap(),
            1 => serde_json::to_string_pretty(&settings).unwrap(),
            _ => serde_json::to_string_pretty(&settings).unwrap().replace('\n', "\r\n").replace("  ", "\t"),
        };
        check(&text);
    }
}
