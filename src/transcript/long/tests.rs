use super::*;
use crate::fs::{self, Sync};
use crate::transcript::{Block, Piece, look, pieces};

fn long(line: &[u8]) -> (Look, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    fs::replace(&path, &[b"before\n", line, b"\nafter\n"].concat(), Sync::No).unwrap();
    let file = File::open(&path).unwrap();
    look_long(&file, 7, 7 + line.len() as u64).unwrap()
}

#[test]
fn a_line_reads_the_same_whole_and_in_blocks() {
    let lines: &[&str] = &[
        r#"{"parentUuid":null,"message":{"role":"user","content":"a \"b\" \\ \u00fc \ud83d\ude00 \ud800x \/"},"type":"user","uuid":"u","timestamp":"2026-11-20T01:00:00.000Z","sessionId":"s","cwd":"/c","gitBranch":"main","version":"2"}"#,
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"thinking","thinking":"t"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls","n":[1,2.5e3,{"a":null}],"b":true}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},{"type":"fallback","x":{}}]},"uuid":"u"}"#,
        r#"{"type":"user","isSidechain":true,"uuid":"u","parentUuid":"p","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"Exit code 3"},{"type":"image","source":{"data":"QUJD"}}]}]},"toolUseResult":{"stdout":["x"],"interrupted":true,"exitCode":7}}"#,
        r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"and that"}],"commandMode":"prompt"},"uuid":"q"}"#,
        r#"{"type":"progress","data":{"message":{"type":"x"},"type":"bash_progress"}}"#,
        r#"{"type":"user","origin":{"kind":"task-notification"},"message":{"content":"x"}}"#,
        r#"{"type":"summary","summary":"s","leafUuid":"l"}"#,
        r#"{"type":"api-request-blob","message":{"content":[[[]]]}}"#,
        r#"{"type":"user","isMeta":true,"message":{"content":"x"},"uuid":7}"#,
        r#" {"uuid":"u"} "#,
        "[1, \"x\", {}]",
        "{\"type\":\"user\"",
        "{\"type\":\"user\",}",
        "{\"type\":\"user\"} x",
        "{\"type\":nil}",
        "\0\0",
        "\0\0{\"type\":\"mode\"}\0",
    ];
    for line in lines {
        let (read, sha256) = long(line.as_bytes());
        assert_eq!(read, look(line.as_bytes()), "{line}");
        assert_eq!(sha256, crate::id::sha256(line.as_bytes()));
    }
}

proptest::proptest! {
    #[test]
    fn any_text_comes_through_as_it_comes_in_a_short_line(text in ".*", key in "[a-z]{0,9}") {
        let line = serde_json::json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}, {"type": key, key: [text]}]}});
        let line = line.to_string();
        proptest::prop_assert_eq!(long(line.as_bytes()).0, look(line.as_bytes()));
    }

    #[test]
    fn no_bytes_panic(line in proptest::collection::vec(proptest::num::u8::ANY, 0..100), from in 0_usize..60) {
        let good = br#"{"type":"user","message":{"content":[{"type":"text","text":"a"}]}}"#;
        long(&line);
        long(&[good.get(..from).unwrap_or_default(), line.as_slice()].concat());
    }
}

#[test]
fn what_identifies_a_record_is_found_behind_an_image_of_any_size() {
    let data = "QUJD".repeat(2_000_000);
    let line = format!(
        r#"{{"message":{{"content":[{{"type":"text","text":"look"}},{{"type":"image","source":{{"media_type":"image/png","data":"{data}"}}}}]}},"toolUseResult":{{"file":"{data}"}},"type":"user","uuid":"u","timestamp":"t"}}"#
    );
    let (Look { parsed: Parsed::Said(context, said), .. }, _) = long(line.as_bytes()) else { panic!() };
    assert_eq!((said.uuid.as_deref(), context.timestamp.as_deref()), (Some("u"), Some("t")));
    let sha256 = crate::id::sha256(data.as_bytes());
    let media = Block::Media { media_type: "image/png".to_owned(), bytes: data.len() as u64, sha256 };
    assert_eq!(said.blocks, [Block::Text("look".to_owned()), media]);
}

#[test]
fn texts_and_values_beyond_the_bounds_are_cut_and_counted() {
    let text = "word ".repeat(1_000_000);
    let many = r#"{"type":"text","text":"a"},"#.repeat(200_000);
    let line = format!(
        r#"{{"type":"assistant","message":{{"content":[{{"text":"{text}","type":"text"}},{{"input":{{"a":"{text}","b":[{}1]}},"name":"Write","type":"tool_use"}},{many}0]}}}}"#,
        "[],".repeat(1_000_000)
    );
    let (Look { parsed: Parsed::Said(_, said), .. }, _) = long(line.as_bytes()) else { panic!() };
    let Block::Text(first) = &said.blocks[0] else { panic!() };
    assert!(matches!(
        pieces(first)[..],
        [Piece::Text(..), Piece::Cut(5_000_000, _), Piece::Text(_, true, false)]
    ));
    let Block::ToolUse { name, input, .. } = &said.blocks[1] else { panic!("{:?}", said.blocks[1]) };
    assert!(name == "Write" && input.contains(LEFT_OUT) && input.len() < 4_000_000, "{}", input.len());
    let Some(Block::Other { kind, json }) = said.blocks.last() else { panic!() };
    assert!(kind == LEFT_OUT && json.contains("20000"), "{json}");
}
