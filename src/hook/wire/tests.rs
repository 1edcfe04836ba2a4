use super::*;

struct Bytes {
    data: Vec<u8>,
    at: usize,
    step: usize,
}

impl Source for Bytes {
    fn read(&mut self, block: &mut Vec<u8>) -> Result<(), WireError> {
        let n = self.step.min(block.capacity()).min(self.data.len() - self.at);
        block.clear();
        block.extend_from_slice(&self.data[self.at..self.at + n]);
        self.at += n;
        Ok(())
    }
}

fn scan(data: &[u8], step: usize) -> Result<Payload, WireError> {
    read(Bytes { data: data.to_vec(), at: 0, step }, true)
}

#[test]
fn wanted_fields_are_kept_and_the_rest_is_skipped_at_any_block_size() {
    let text = br#" {"session_id":"s\u00e9\n","x":{"a":["}\"",{}],"session_id":"no"},"n":-1.5e3,
        "transcript_path":"/t.jsonl","stop_hook_active": true ,"prompt":"say \"hi\" \\","cwd":7,"tool_name":null} trailing"#;
    for step in [1, 2, 3, 7, 4096] {
        let payload = scan(text, step).unwrap();
        assert_eq!(payload.session_id.as_deref(), Some("s\u{e9}\n"));
        assert_eq!(payload.transcript_path.as_deref(), Some("/t.jsonl"));
        assert_eq!(payload.prompt.as_deref(), Some("say \"hi\" \\"));
        assert_eq!((payload.cwd, payload.tool_name), (None, None));
        assert!(payload.stop_hook_active && payload.whole);
    }
}

#[test]
fn f03_what_is_not_an_object_is_refused() {
    let cases: [(&[u8], &str); 9] = [
        (b"", "stdin is empty"),
        (b"  \n", "stdin is empty"),
        (b"[1]", "it is not a JSON object (at byte 1)"),
        (b"\xef\xbb\xbf{}", "it is not a JSON object (at byte 1)"),
        (b"\0\0", "it is not a JSON object (at byte 1)"),
        (b"{\"a\":1", "it ends in the middle"),
        (b"{\"a\":\"x", "it ends in the middle"),
        (b"{\"a\" 1}", "it is not a JSON object (at byte 6)"),
        (b"{\"a\":nonsense}", "it is not a JSON object (at byte 13)"),
    ];
    for (data, expected) in cases {
        assert_eq!(scan(data, 5).unwrap_err().to_string(), expected);
    }
}

#[test]
fn f03_a_number_of_any_length_is_passed_over() {
    // The host never sends one, and a parser takes it; the payload around it counts.
    let number = "6".repeat(90);
    for value in [number.clone(), format!("-{number}.5e+{}", "0".repeat(70))] {
        let text =
            format!("{{\"session_id\":\"s\",\"transcript_path\":{value},\"stop_hook_active\":{value}}}");
        for step in [1, 7, 4096] {
            let payload = scan(text.as_bytes(), step).unwrap();
            assert_eq!(
                (payload.session_id.as_deref(), payload.transcript_path, payload.stop_hook_active),
                (Some("s"), None, false)
            );
        }
    }
    for word in ["true".repeat(30), format!("{number}x"), "truefalse".into()] {
        let text = format!("{{\"stop_hook_active\":{word}}}");
        assert!(scan(text.as_bytes(), 7).is_err(), "{word}");
    }
}

#[test]
fn f03_a_million_brackets_cost_no_stack() {
    let mut data = b"{\"a\":".to_vec();
    data.extend(std::iter::repeat_n(b'[', 1_000_000));
    data.extend(std::iter::repeat_n(b']', 1_000_000));
    data.extend(b",\"session_id\":\"s\"}");
    assert_eq!(scan(&data, 4096).unwrap().session_id.as_deref(), Some("s"));
}

#[test]
fn a_long_prompt_is_cut_on_a_character() {
    let text = format!("{{\"prompt\":\"{}\"}}", "\\ud83d\\ude00".repeat(40_000));
    let prompt = scan(text.as_bytes(), 4096).unwrap().prompt.unwrap();
    assert!(prompt.chars().all(|c| c == '\u{1f600}') && prompt.len() > 80_000, "{}", prompt.len());
}

/// F03: every shipped payload, cut anywhere before its closing brace, or begun behind a byte order mark or a NUL.
#[test]
fn f03_a_payload_that_is_cut_or_begins_wrong_gives_nothing() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("spool-fixtures/payloads");
    let mut tried = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let whole = bytes.trim_ascii_end();
        assert!(scan(whole, 4096).unwrap().whole);
        for end in (0..whole.len()).step_by(whole.len() / 60 + 1).chain([whole.len() - 1]) {
            let error = scan(&whole[..end], 512).unwrap_err();
            assert!(matches!(error, WireError::Cut | WireError::Empty), "{end}: {error}");
            tried += 1;
        }
        for head in [&b"\xef\xbb\xbf"[..], b"\0", b"}", b"x"] {
            let error = scan(&[head, whole].concat(), 512).unwrap_err();
            assert!(matches!(error, WireError::NotJson(_)), "{error}");
        }
    }
    assert!(tried > 1_000, "{tried}");
}

proptest::proptest! {
    #[test]
    fn any_string_comes_through_as_serde_reads_it(id in ".*", other in ".*") {
        let text = serde_json::json!({ "x": [other], "session_id": id }).to_string();
        proptest::prop_assert_eq!(scan(text.as_bytes(), 13).unwrap().session_id.unwrap(), id);
    }
}

#[test]
fn of_a_tool_call_the_fields_that_name_things_are_kept_and_a_bounded_gist_of_the_rest() {
    let long = "x".repeat(5_000);
    let text = serde_json::json!({
        "tool_input": {"content": long, "file_path": "/a \u{e9}.rs", "edits": [{"old": "one", "n": 1}, ["two"]], "replace_all": false},
        "tool_response": {"stdout": "out \"put\"", "more": [{"name": "three"}]},
        "error": "Exit code 1\nboom", "command_name": "review", "session_id": "s",
    })
    .to_string();
    for step in [1, 3, 4096] {
        let payload = scan(text.as_bytes(), step).unwrap();
        assert_eq!(payload.tool_input.file_path.as_deref(), Some("/a \u{e9}.rs"));
        let gist = payload.tool_input.gist.text();
        assert!(gist.len() <= input::GIST_BYTES && gist.starts_with('x'), "{gist}");
        assert_eq!(payload.tool_response.text(), "three out \"put\"");
        assert_eq!(payload.error.as_deref(), Some("Exit code 1\nboom"));
        assert_eq!(payload.command_name.as_deref(), Some("review"));
    }
    let text =
        r#"{"tool_input":{"edits":[{"old":"one","n":1},["two"]],"query":"q\u0041"},"tool_response":"whole"}"#;
    let payload = scan(text.as_bytes(), 2).unwrap();
    assert_eq!(payload.tool_input.gist.text(), "one two qA");
    assert_eq!(payload.tool_input.query.as_deref(), Some("qA"));
    assert_eq!(payload.tool_response.text(), "whole");
    // Capture keeps none of it.
    let bare = read(Bytes { data: text.as_bytes().to_vec(), at: 0, step: 4096 }, false).unwrap();
    assert_eq!((bare.tool_input, bare.tool_response), (Input::default(), Gist::default()));
}

#[test]
fn f03_a_tool_input_that_is_no_object_is_passed_over() {
    for input in ["7", "null", "\"text\"", "[{\"file_path\":\"/a\"}]", "{}"] {
        let text = format!("{{\"tool_input\":{input},\"session_id\":\"s\"}}");
        let payload = scan(text.as_bytes(), 3).unwrap();
        assert_eq!(
            (payload.tool_input.file_path, payload.session_id.as_deref()),
            (None, Some("s")),
            "{input}"
        );
    }
    let cut = scan(b"{\"tool_input\":{\"file_path\":\"/a\",", 3).unwrap_err();
    assert!(matches!(cut, WireError::Cut), "{cut}");
}

/// A payload made of JSON, for the tests of what acts on it.
pub(in crate::hook) fn payload(json: &serde_json::Value) -> Payload {
    scan(json.to_string().as_bytes(), 4096).unwrap()
}
