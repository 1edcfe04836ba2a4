use super::*;
use crate::config::Home;
use crate::index::{Document, Writer, tokens};
use crate::recall::Hit;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Session, project, and what was said: speaker and text; tool text where the speaker is tool.
pub(crate) type Said = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Indexes sessions as the drainer would.
pub(crate) fn build(home: &Home, sessions: &[Said]) {
    let mut writer = Writer::open(home).unwrap().writer;
    for document in documents(sessions) {
        writer.upsert(&document).unwrap();
    }
    writer.commit(1).unwrap();
}

fn documents(sessions: &[Said]) -> Vec<Document> {
    let mut all = Vec::new();
    for (s, (session, project, said)) in sessions.iter().enumerate() {
        let base = Document {
            sessions: vec![(*session).into()],
            project: (*project).into(),
            host: "claude".into(),
            ..Document::default()
        };
        let mut profile = BTreeSet::new();
        for (n, (speaker, text)) in said.iter().enumerate() {
            let (prose, tool) = if *speaker == "tool" { ("", *text) } else { (*text, "") };
            profile.extend(tokens::terms(text));
            let document = Document {
                id: format!("o-{s}-{n}"),
                kind: "observation".into(),
                speaker: (*speaker).into(),
                record: format!("uuid-{s}-{n}"),
                time_ms: 1_750_000_000_000 + 1000 * i64::try_from(100 * s + n).unwrap(),
                prose: prose.into(),
                tool: tool.into(),
                ..base.clone()
            };
            all.push(document);
        }
        let first = said.first().map_or("", |(_, text)| text);
        let summary = Document {
            id: format!("y-{s}"),
            kind: "session-summary".into(),
            time_ms: 1_750_000_000_000 + 1000 * i64::try_from(100 * s + 99).unwrap(),
            prose: first.into(),
            request: first.into(),
            header: serde_json::json!({"request": first, "next_steps": ["write the docs"], "learned": "the file matters"}).to_string(),
            files: vec![format!("/srv/app/src/file{s}.rs")],
            ..base.clone()
        };
        all.push(summary);
        let profile = profile.into_iter().collect::<Vec<_>>().join(" ");
        let session = Document { id: format!("s-{s}"), kind: "session".into(), profile, ..base };
        all.push(session);
    }
    all
}

pub(crate) const SESSIONS: &[Said] = &[
    (
        "sess-a",
        "app-0000000001",
        &[
            ("user", "Please make the staging proxy listen on another port."),
            (
                "assistant",
                "The staging proxy used port 8080, which collides.\nI moved the staging proxy to port 8443.",
            ),
            ("tool", "curl: (7) Failed to connect to localhost port 8080"),
        ],
    ),
    (
        "sess-b",
        "app-0000000001",
        &[
            ("user", "Why does parseRetryAfter panic on an empty header?"),
            ("assistant", "parseRetryAfter unwraps the header value; I made it return None instead."),
        ],
    ),
    (
        "sess-c",
        "other-000000002",
        &[("user", "Write a poem about the sea and the port of Hamburg."), ("assistant", "The sea is grey.")],
    ),
    (
        "sess-d",
        "app-0000000001",
        &[("user", "Rename the crate to sinker."), ("assistant", "Renamed the crate.")],
    ),
];

fn with(check: impl FnOnce(&Reader)) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    build(&home, SESSIONS);
    check(&Reader::open(&home).unwrap().unwrap());
}

fn find(reader: &Reader, ask: Ask) -> Vec<Hit> {
    let ask = Ask { limit: 10, sessions: 3, ..ask };
    search(reader, &ask, &Deadline::never()).unwrap().hits
}

fn ids(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|h| h.id.as_str()).collect()
}

#[test]
fn by_record_finds_the_record_and_quotes_its_line() {
    with(|reader| {
        let hits = find(reader, Ask { text: "staging proxy port".into(), ..Ask::default() });
        let hit = hits.iter().find(|h| h.id == "o-0-1").unwrap();
        let lines: Vec<_> = hit.excerpt.iter().map(|l| (l.text.as_str(), l.record.as_deref())).collect();
        assert!(lines.contains(&("I moved the staging proxy to port 8443.", Some("uuid-0-1"))), "{lines:?}");
        assert_eq!(
            (hit.time.as_str(), hit.record.as_deref()),
            ("2025-06-15T15:06:41.000Z", Some("uuid-0-1"))
        );
    });
}

#[test]
fn filters_narrow_and_an_empty_question_lists_the_newest() {
    with(|reader| {
        let some = |x: &str| Some(x.to_owned());
        let port = |ask: Ask| find(reader, Ask { text: "port".into(), kind: some("observation"), ..ask });
        assert_eq!(port(Ask::default()).len(), 4);
        assert_eq!(ids(&port(Ask { project: some("other-000000002"), ..Ask::default() })), ["o-2-0"]);
        assert_eq!(ids(&port(Ask { speaker: some("tool"), ..Ask::default() })), ["o-0-2"]);
        assert_eq!(ids(&port(Ask { exclude_session: some("sess-a"), ..Ask::default() })), ["o-2-0"]);
        assert!(port(Ask { status: some("current"), ..Ask::default() }).is_empty());
        let since = Some(1_750_000_000_000 + 200_000);
        assert_eq!(ids(&port(Ask { since_ms: since, ..Ask::default() })), ["o-2-0"]);
        let file = Ask { file: some("src/file1.rs"), ..Ask::default() };
        assert_eq!(ids(&find(reader, file)), ["y-1"]);
        let newest = Ask { kind: some("session-summary"), ..Ask::default() };
        assert_eq!(ids(&find(reader, newest)), ["y-3", "y-2", "y-1", "y-0"]);
    });
}

#[test]
fn by_session_gives_one_entry_with_header_and_lines() {
    with(|reader| {
        let text = "which port does the staging proxy listen on".to_owned();
        let ask = Ask { text, by: By::Session, explain: true, ..Ask::default() };
        let hits = find(reader, ask);
        assert_eq!((hits[0].session.as_str(), hits[0].kind.as_str()), ("sess-a", "session-summary"));
        assert!(hits[0].excerpt.iter().any(|l| l.text.contains("8443")), "{:?}", hits[0].excerpt);
        assert!(hits[0].explain.is_some() && hits[0].header.is_some());
        let identifier = Ask { text: "parseRetryAfter".into(), by: By::Session, ..Ask::default() };
        assert_eq!(find(reader, identifier)[0].session, "sess-b");
    });
}

#[test]
fn json_has_the_names_of_the_contract() {
    with(|reader| {
        let hits =
            find(reader, Ask { text: "Hamburg".into(), kind: Some("observation".into()), ..Ask::default() });
        let json = serde_json::to_value(&hits[0]).unwrap();
        let names: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
        let expected = [
            "excerpt", "files", "id", "kind", "project", "record", "score", "session", "speaker", "status",
            "time",
        ];
        assert_eq!(names, expected);
        assert!(json["status"].is_null());
    });
}

#[test]
fn a_passed_deadline_is_an_error_not_a_late_answer() {
    with(|reader| {
        let late = Deadline::after(std::time::Duration::ZERO);
        let ask = Ask { text: "port".into(), limit: 1, ..Ask::default() };
        assert!(matches!(search(reader, &ask, &late), Err(RecallError::Late)));
    });
}

#[test]
fn a_pasted_megabyte_is_a_question_like_any_other() {
    with(|reader| {
        let text = "parseRetryAfter fails: panicked at src/main.rs:42 \"x\" (y) ".repeat(20_000);
        let hits = find(reader, Ask { text, by: By::Session, ..Ask::default() });
        assert_eq!(hits[0].session, "sess-b");
    });
}

#[test]
fn the_same_question_gets_the_same_answer_however_the_index_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let (one, many) = (Home::at(dir.path().join("1")), Home::at(dir.path().join("2")));
    build(&one, SESSIONS);
    let mut writer = Writer::open(&many).unwrap().writer;
    writer.commit(1).unwrap();
    drop(writer);
    let reader = Reader::open(&one).unwrap().unwrap();
    // The same documents, one commit each, in another order.
    let all = documents(SESSIONS);
    let mut writer = Writer::open(&many).unwrap().writer;
    for document in all.iter().rev().chain(&all) {
        writer.upsert(document).unwrap();
        writer.commit(2).unwrap();
    }
    writer.close().unwrap();
    let other = Reader::open(&many).unwrap().unwrap();
    for text in ["port", "staging proxy port", "which port did the poem use"] {
        for by in [By::Record, By::Session] {
            let ask = Ask { text: text.into(), by, limit: 100, sessions: 10, ..Ask::default() };
            let order = |r| ids(&search(r, &ask, &Deadline::never()).unwrap().hits).join(" ");
            assert_eq!(order(&reader), order(&other), "{text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn no_text_is_an_error(texts in proptest::collection::vec("(\\PC|[\"()*:+~^/\\\\-]|port|AND|OR|NOT){0,40}", 8)) {
        with(|reader| {
            for text in texts {
                for by in [By::Record, By::Session] {
                    let ask = Ask { text: text.clone(), by, limit: 3, sessions: 3, ..Ask::default() };
                    search(reader, &ask, &Deadline::never()).unwrap();
                }
            }
        });
    }
}
