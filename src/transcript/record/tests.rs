use super::*;

fn parse(line: &[u8]) -> Parsed {
    look(line).parsed
}

fn observe(line: &str) -> Observation {
    match parse(line.as_bytes()) {
        Parsed::Said(_, observation) => *observation,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_line_falls_into_its_case() {
    let cases: [(&str, fn(&Parsed) -> bool); 21] = [
        (r#"{"type":"user","message":{"content":"hi"}}"#, |p| matches!(p, Parsed::Said(..))),
        (r#"{"type":"user","isMeta":true,"message":{"content":"x"}}"#, |p| {
            matches!(p, Parsed::Silent(_, "meta"))
        }),
        (r#"{"type":"user","message":{"content":"<local-command-caveat>x"}}"#, |p| {
            matches!(p, Parsed::Silent(_, "caveat"))
        }),
        (
            r#"{"type":"system","subtype":"compact_boundary","uuid":"u"}"#,
            |p| matches!(p, Parsed::Boundary(_, Some(u)) if u == "u"),
        ),
        (
            r#"{"type":"system","subtype":"turn_duration"}"#,
            |p| matches!(p, Parsed::Noise(n) if n == "system/turn_duration"),
        ),
        (
            r#"{"type":"attachment","attachment":{"type":"hook_success"}}"#,
            |p| matches!(p, Parsed::Noise(n) if n == "attachment/hook_success"),
        ),
        (
            r#"{"type":"ai-title","aiTitle":"T"}"#,
            |p| matches!(p, Parsed::Title(_, t, Namer::Model) if t == "T"),
        ),
        (r#"{"type":"api-request-blob","message":{}}"#, |p| matches!(p, Parsed::Noise(..))),
        (
            r#"{"type":"summary","summary":"s","leafUuid":"l"}"#,
            |p| matches!(p, Parsed::Summary(l, t) if l == "l" && t == "s"),
        ),
        (r#"{"type":"summary","summary":"s"}"#, |p| matches!(p, Parsed::Noise(n) if n == "summary")),
        (
            r#"{"data":{"x":[1],"type":"bash_progress"},"type":"progress"}"#,
            |p| matches!(p, Parsed::Noise(n) if n == "progress/bash_progress"),
        ),
        (
            r#"{"data":{"type":"tide"},"type":"progress"}"#,
            |p| matches!(p, Parsed::Unknown(n) if n == "progress/tide"),
        ),
        (r#"{"type":"system","subtype":"tide"}"#, |p| matches!(p, Parsed::Unknown(n) if n == "system/tide")),
        (
            r#"{"type":"attachment","attachment":{"type":"tide"}}"#,
            |p| matches!(p, Parsed::Unknown(n) if n == "attachment/tide"),
        ),
        (r#"{"type":"tide-table"}"#, |p| matches!(p, Parsed::Unknown(n) if n == "tide-table")),
        (r#"{"uuid":"u"}"#, |p| *p == Parsed::Odd("no type")),
        (r#"{"type":7}"#, |p| *p == Parsed::Odd("no type")),
        ("[1]", |p| *p == Parsed::Odd("not an object")),
        ("// Source: gist", |p| *p == Parsed::Odd("not JSON")),
        ("\0\0", |p| *p == Parsed::Odd("zero bytes")),
        ("  ", |p| *p == Parsed::Blank),
    ];
    for (line, expected) in cases {
        assert!(expected(&parse(line.as_bytes())), "{line}: {:?}", parse(line.as_bytes()));
    }
}

#[test]
fn the_user_is_only_who_typed() {
    let cases = [
        (r#""type":"user","message":{"content":"fix it"}"#, Speaker::User, true),
        (r#""type":"user","isSidechain":true,"message":{"content":"look there"}"#, Speaker::Agent, false),
        (
            r#""type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}"#,
            Speaker::Tool,
            false,
        ),
        (
            r#""type":"user","isCompactSummary":true,"message":{"content":"This session"}"#,
            Speaker::Host,
            false,
        ),
        (r#""type":"user","message":{"content":"<task-notification>x"}"#, Speaker::Host, false),
        (
            r#""type":"user","rowSource":"harness","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}"#,
            Speaker::Host,
            false,
        ),
        (
            r#""type":"user","message":{"content":"<command-name>/compact</command-name>"}"#,
            Speaker::User,
            false,
        ),
        (
            r#""type":"user","message":{"content":"<command-name>/review</command-name>"}"#,
            Speaker::User,
            true,
        ),
        (r#""type":"user","message":{"content":"<bash-input>ls</bash-input>"}"#, Speaker::User, false),
        (r#""type":"user","message":{"content":"<bash-stdout>a</bash-stdout>"}"#, Speaker::Tool, false),
        (
            r#""type":"attachment","attachment":{"type":"queued_command","prompt":"also that","commandMode":"prompt"}"#,
            Speaker::User,
            true,
        ),
        (r#""type":"assistant","message":{"content":[]}"#, Speaker::Assistant, false),
        (r#""type":"assistant","isApiErrorMessage":true,"message":{"content":"low"}"#, Speaker::Host, false),
    ];
    for (fields, speaker, is_prompt) in cases {
        let got = observe(&format!("{{{fields}}}"));
        assert_eq!((got.speaker, got.is_prompt), (speaker, is_prompt), "{fields}");
    }
}

#[test]
fn blocks_keep_what_was_said_and_identify_the_rest() {
    let got = observe(
        r#"{"type":"assistant","uuid":"u","timestamp":"t","sessionId":"s","message":{"id":"m","content":[
        {"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"a"},
        {"type":"tool_use","id":"t1","name":"Bash","input":{"description":"d","command":"ls"}},
        {"type":"tool_use","id":"t2","name":"Edit","input":{"file_path":"/a.rs","replace_all":false}},
        {"type":"image","source":{"media_type":"image/png","data":"QUJD"}},{"type":"fallback","x":1}]}}"#
            .replace('\n', "")
            .as_str(),
    );
    assert_eq!(got.blocks.len(), 6);
    assert!(
        matches!(&got.blocks[2], Block::ToolUse { command: Some(c), input, .. } if c == "ls" && input == "command: ls\ndescription: d")
    );
    assert!(
        matches!(&got.blocks[3], Block::ToolUse { file: Some(f), input, .. } if f == "/a.rs" && input == "file_path: /a.rs\nreplace_all: false")
    );
    assert!(matches!(&got.blocks[4], Block::Media { bytes: 4, .. }));
    assert!(matches!(&got.blocks[5], Block::Other { kind, .. } if kind == "fallback"));
}

#[test]
fn exit_status_and_interruption_come_from_where_they_are() {
    let result = |line: &str| match observe(line).blocks.remove(0) {
        Block::ToolResult { failed, exit, interrupted, .. } => (failed, exit, interrupted),
        other => panic!("{other:?}"),
    };
    let failed = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"Exit code 2\nno"}]},"toolUseResult":"Error: Exit code 2\nno"}"#;
    assert_eq!(result(failed), (true, Some(2), false));
    let cut = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]},"toolUseResult":{"stdout":"x","interrupted":true}}"#;
    assert_eq!(result(cut), (false, None, true));
}

#[test]
fn bytes_a_strict_parser_refuses_are_mended() {
    let broken =
        b"{\"type\":\"user\",\"message\":{\"content\":\"a \\ud800 b \\\\ud800 \\ud83d\\ude00 \xff\"}}";
    let Parsed::Said(_, got) = parse(broken) else { panic!() };
    assert_eq!(got.blocks, [Block::Text("a \u{fffd} b \\ud800 \u{1f600} \u{fffd}".to_owned())]);
}

proptest::proptest! {
    #[test]
    fn no_line_panics(line in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        parse(&line);
    }

    #[test]
    fn no_well_formed_record_of_wrong_types_panics(kind in "user|assistant|attachment|system|ai-title|x", key in "message|uuid|attachment|isMeta|toolUseResult|timestamp", value in "null|1|\"s\"|\\[\\]|\\{\\}|\\[\\{\"type\":\"tool_use\",\"input\":3\\}\\]") {
        parse(format!("{{\"type\":\"{kind}\",\"{key}\":{value}}}").as_bytes());
    }
}

#[test]
fn what_stands_in_the_place_of_a_hash_is_not_kept() {
    let image = |data: &str| {
        let line = format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"image","source":{{"data":{data}}}}}]}}}}"#
        );
        match observe(&line).blocks.first() {
            Some(Block::Media { sha256, .. }) => sha256.clone(),
            other => panic!("{other:?}"),
        }
    };
    for data in [r#"{"bytes":1,"sha256":"swordfish-swordfish"}"#, r#""aGFyYm91cg==""#, "null", "[1]"] {
        let sha256 = image(data);
        assert!(sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit()), "{data}: {sha256}");
    }
    let hash = crate::id::sha256(b"x");
    assert_eq!(image(&format!(r#"{{"bytes":1,"sha256":"{hash}"}}"#)), hash);
}
