//! Faults of retrieval, F53 to F56: no index, any text as a query, no room, no time.

use super::drained::drained;
use crate::support::{Sandbox, Transcript, payload, within};
use proptest::prelude::*;
use serde_json::Value;
use sinker::config::Home;
use sinker::recall::{Ask, By, Deadline, search};
use std::sync::LazyLock;
use std::time::Duration;

fn prompt(sandbox: &Sandbox, transcript: &Transcript, text: &str, env: &[(&str, &str)]) -> String {
    let mut asked = payload("UserPromptSubmit", sandbox, transcript);
    asked["prompt"] = text.into();
    let project = sandbox.project();
    let env = [&[("CLAUDE_PROJECT_DIR", project.to_str().unwrap())], env].concat();
    let args = ["hook", "claude", "user-prompt-submit", "--only", "recall"];
    let out = sandbox.sinker_with(&args, format!("{asked}\n").as_bytes(), &env);
    assert_eq!(out.code, Some(0), "{out}");
    assert_eq!(out.stderr, "", "{out}");
    out.stdout
}

const QUESTION: &str = "Why does the buoy drift, what was the root cause?";

/// Whatever is not there yet, or not any more: no context, no error to the host, and `status` says how things stand.
#[test]
fn f53_without_an_index_there_is_no_context_and_status_says_why() {
    let (start, transcripts, _) = drained();
    let week = std::time::SystemTime::now() - Duration::from_secs(7 * 86_400);
    let states: [(&str, &dyn Fn(&Sandbox)); 6] = [
        ("no home at all", &|home| std::fs::remove_dir_all(home.home()).unwrap()),
        ("a secret and nothing else", &|home| {
            for name in ["store.db", "state/status", "index/current"] {
                std::fs::remove_file(home.at(name)).unwrap();
            }
        }),
        ("no index", &|home| std::fs::remove_dir_all(home.at("index")).unwrap()),
        ("an index without a name", &|home| std::fs::remove_file(home.at("index/current")).unwrap()),
        ("an index that is being built beside none", &|home| {
            std::fs::remove_file(home.at("index/current")).unwrap();
            std::fs::create_dir(home.at("index/g000077")).unwrap();
        }),
        ("a drainer dead for a week", &|home| {
            std::fs::write(home.at("state/heartbeat"), b"").unwrap();
            let beat = std::fs::OpenOptions::new().write(true).open(home.at("state/heartbeat")).unwrap();
            beat.set_modified(week).unwrap();
        }),
    ];
    for (case, make) in states {
        let home = start.copy();
        make(&home);
        let said = prompt(&home, &transcripts[1], QUESTION, &[]);
        let status = home.json(&["status"]);
        if case.starts_with("a drainer dead") {
            assert!(said.contains("feet"), "{case}: what is published answers");
            assert!(status["drainer"]["heartbeat_age_s"].as_u64() > Some(600_000), "{case}: {status}");
            assert_eq!(status["drainer"]["running"], false, "{case}");
            continue;
        }
        assert_eq!(said, "", "{case}");
        let search = home.sinker(&["search", "buoy", "--json"]);
        assert_eq!(search.code, Some(3), "{case}: {search}");
        if home.at("store.db").exists() {
            assert!(status["last_error"].as_str().is_some_and(|e| e.contains("index")), "{case}: {status}");
        }
    }
}

/// Every one of these is text to be found, never a language to be parsed.
#[test]
fn f54_any_text_is_a_query() {
    let (home, transcripts, _) = drained();
    let long = "the buoy drifts because the chain is short, see https://example.org/a?b=c#d \u{1f6a2} "
        .repeat(12_000);
    let letters = "x".repeat(1_000_000);
    let cases = [
        "",
        " ",
        "\n\t\r",
        "the and of to",
        "\"",
        "\"buoy",
        "buoy\"",
        "(buoy",
        "buoy)",
        "((((",
        "buoy AND",
        "OR",
        "NOT buoy",
        "-buoy",
        "+buoy",
        "id:o-1",
        "prose:buoy",
        "files:/a/b",
        "project:*",
        "*",
        "buoy*",
        "[a TO b]",
        "{a TO b}",
        "buoy~2",
        "buoy^9",
        "/(buoy|drift)+/",
        "^.*$",
        "\\",
        "\\u0000",
        "\u{0}",
        "a\u{0}b",
        "%",
        "'; DROP TABLE documents; --",
        "\u{1f6a2}",
        "\u{1f6a2}\u{1f6a2} buoy",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        "浮标漂移",
        "ブイが流される",
        "부표가 표류한다",
        "المرساة تنجرف",
        "\u{202e}youb\u{202c}",
        "Grüße aus dem Hafen",
        "e\u{301}\u{301}\u{301}",
        "\u{fe0f}",
        "\u{e0041}\u{e0042}",
        "::",
        "a::b::c",
        "--flag",
        "src/lib.rs:12:5",
        "C:\\harbour\\buoy.rs",
        "0",
        "1e309",
        "-1",
        &long,
        &letters,
    ];
    assert!(within(Duration::from_secs(120), || {
        for case in cases {
            let shown: String = case.chars().take(40).collect();
            let said = prompt(&home, &transcripts[1], case, &[]);
            if !said.is_empty() {
                serde_json::from_str::<Value>(&said).unwrap_or_else(|e| panic!("{shown}: {e}"));
            }
            // A command line holds neither a NUL nor a megabyte.
            if case.len() < 100_000 && !case.contains('\u{0}') {
                let out = home.sinker(&["search", "--json", "--explain", "--", case]);
                assert!(matches!(out.code, Some(0 | 3)), "{shown}: {out}");
                let file = format!("--file={case}");
                let by = home.sinker(&["search", "--json", "--by", "session", &file, "--", case]);
                assert!(matches!(by.code, Some(0 | 3)), "{shown}: {by}");
            }
        }
        true
    }));
    assert_eq!(home.log().matches(" error ").count(), 0, "{}", home.log());
}

/// One home for all cases of the property.
static WORLD: LazyLock<Sandbox> = LazyLock::new(|| drained().0);

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn f54_no_text_fails_and_every_filter_may_be_anything(
        text in prop_oneof![
            "\\PC{0,200}",
            "(buoy|drift|\"|\\(|\\)|:|\\*|-|/|~|\\^| |feet|AND|\u{1f6a2}){0,40}",
            proptest::collection::vec(any::<char>(), 0..100).prop_map(|chars| chars.into_iter().collect()),
        ],
        file in proptest::option::of("\\PC{0,30}"),
        by_session in any::<bool>(),
    ) {
        let reader = sinker::index::Reader::open(&Home::at(WORLD.home())).unwrap().unwrap();
        let by = if by_session { By::Session } else { By::Record };
        let ask = Ask { text, file, by, limit: 10, sessions: 3, explain: true, ..Ask::default() };
        let answer = search(&reader, &ask, &Deadline::never());
        prop_assert!(answer.is_ok(), "{:?}", answer.err());
        prop_assert!(answer.unwrap().hits.len() <= 10);
    }
}

/// Budgets of nothing, of a little and of more than the host takes; the property beside `recall::render` cuts at any character.
#[test]
fn f55_what_does_not_fit_is_not_said_in_half() {
    let (home, transcripts, _) = drained();
    let whole = prompt(&home.copy(), &transcripts[1], QUESTION, &[]);
    assert!(whole.contains("feet"));
    for cap in [0, 1, 100, 250, 400, 600, 9000] {
        let home = home.copy();
        let config = home.root().join(format!("cap-{cap}.toml"));
        std::fs::write(&config, format!("[recall]\nevent_chars = {cap}\n")).unwrap();
        let said = prompt(&home, &transcripts[1], QUESTION, &[("SINKER_CONFIG", config.to_str().unwrap())]);
        if said.is_empty() {
            assert!(cap < 9000);
            continue;
        }
        let reply: Value = serde_json::from_str(&said).unwrap();
        let text = reply["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(text.chars().count() <= cap, "{cap}: {}", text.chars().count());
        let fence = text.lines().next().unwrap();
        assert!(text.ends_with(&fence.replace('<', "</")), "{cap}: {text}");
    }
}

#[test]
fn f56_without_time_there_is_no_context_and_a_wrong_clock_changes_nothing() {
    let (home, transcripts, _) = drained();
    let config = home.root().join("no-time.toml");
    std::fs::write(&config, "[recall]\ndeadline_ms = 0\n").unwrap();
    let said =
        prompt(&home.copy(), &transcripts[1], QUESTION, &[("SINKER_CONFIG", config.to_str().unwrap())]);
    assert_eq!(said, "");
    let expected = prompt(&home.copy(), &transcripts[1], QUESTION, &[]);
    assert!(expected.contains("feet"));
    for shift in ["-3600", "+315360000", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "nonsense"] {
        let said = prompt(&home.copy(), &transcripts[1], QUESTION, &[("SINKER_NOW", shift)]);
        assert_eq!(said, expected, "{shift}");
    }
}
