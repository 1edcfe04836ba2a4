//! One line, one message: bounded reading, and what becomes of a line before anything else sees it.
//!
//! | line | answer |
//! |---|---|
//! | longer than [`MAX_BYTES`] | invalid request; its rest is passed over without being kept |
//! | no JSON, or not UTF-8 | parse error |
//! | a batch, no object, no `"jsonrpc": "2.0"`, an id that is no string or integer | invalid request |
//! | a method that this server does not have, also before `initialize` | method not found |
//! | a request before `initialize`, other than `ping` | invalid request |
//! | a notification that we do not know, or before `initialize`; an answer to nothing | none |
//!
//! The host's first message is `server/discover`, before `initialize`: it must be told at once that there is no such method, and an
//! SDK that holds to the order of messages may hang up instead.

use serde_json::{Value, json};
use std::io::{self, BufRead};

/// A longer line is nothing that a host asks of us. Units: bytes.
pub(super) const MAX_BYTES: usize = 1024 * 1024;

/// Codes of JSON-RPC.
const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its end.
    Whole(Vec<u8>),
    /// More than [`MAX_BYTES`]; it was passed over.
    TooLong,
}

/// Reads one line; `None` at the end of the input. A last line without an end counts: it parses or it does not.
pub(super) fn read(from: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut too_long = false;
    let mut any = false;
    loop {
        let bytes = match from.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if bytes.is_empty() {
            break;
        }
        any = true;
        let end = memchr::memchr(b'\n', bytes);
        let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
        too_long |= line.len() + part.len() > MAX_BYTES;
        if too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        from.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(match (any, too_long) {
        (false, _) => None,
        (true, true) => Some(Line::TooLong),
        (true, false) => Some(Line::Whole(line)),
    })
}

/// What becomes of a line.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// A message for the SDK.
    Pass(Value),
    /// Answered here.
    Answer(Value),
    /// Nothing to say.
    Drop,
}

/// Judges lines; knows whether the client has introduced itself.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// Set once an `initialize` request was taken.
    pub open: bool,
}

impl Gate {
    /// Judges one line.
    pub(super) fn judge(&self, line: &Line) -> Verdict {
        let Line::Whole(line) = line else {
            let what = format!("a message is at most {MAX_BYTES} bytes long");
            return error(&Value::Null, INVALID_REQUEST, &what);
        };
        let line = line.trim_ascii();
        if line.is_empty() {
            return Verdict::Drop;
        }
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return error(&Value::Null, PARSE_ERROR, "this line is not JSON");
        };
        let Some(object) = message.as_object() else {
            return error(&Value::Null, INVALID_REQUEST, "a message is one object; there are no batches");
        };
        let id = object.get("id");
        let known_id = id.filter(|id| id.is_string() || id.as_i64().is_some()).unwrap_or(&Value::Null);
        if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return error(known_id, INVALID_REQUEST, "jsonrpc must be \"2.0\"");
        }
        let Some(method) = object.get("method") else {
            // An answer: we ask nothing, so it answers nothing.
            let answers = object.contains_key("result") || object.contains_key("error");
            return if answers {
                Verdict::Drop
            } else {
                error(known_id, INVALID_REQUEST, "there is no method")
            };
        };
        let Some(method) = method.as_str() else {
            return error(known_id, INVALID_REQUEST, "method must be a string");
        };
        if id.is_none() {
            let known = matches!(method, "notifications/initialized" | "notifications/cancelled");
            return if self.open && known { Verdict::Pass(message) } else { Verdict::Drop };
        }
        if known_id.is_null() {
            return error(&Value::Null, INVALID_REQUEST, "id must be a string or an integer");
        }
        match method {
            "initialize" | "ping" => Verdict::Pass(message),
            "tools/list" | "tools/call" if self.open => Verdict::Pass(message),
            "tools/list" | "tools/call" => error(known_id, INVALID_REQUEST, "initialize comes first"),
            _ => error(known_id, METHOD_NOT_FOUND, "there is no such method"),
        }
    }
}

/// The answer to a request whose parameters are of other types than its method takes.
pub(super) fn wrong_params(request: &Value) -> Verdict {
    match request.get("id") {
        Some(id) => error(id, INVALID_PARAMS, "the parameters do not have the types that this method takes"),
        None => Verdict::Drop,
    }
}

fn error(id: &Value, code: i64, message: &str) -> Verdict {
    Verdict::Answer(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(mut bytes: &[u8]) -> Vec<Line> {
        let mut all = Vec::new();
        // A small buffer: a line comes in many pieces.
        let mut from = io::BufReader::with_capacity(7, &mut bytes);
        while let Some(line) = read(&mut from).unwrap() {
            all.push(line);
        }
        all
    }

    #[test]
    fn lines_are_read_whole_and_what_is_too_long_is_not_kept() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(lines(b""), []);
        assert_eq!(
            lines(b"a\n\nbcdefghij\nlast"),
            [whole("a"), whole(""), whole("bcdefghij"), whole("last")]
        );
        let fits = "x".repeat(MAX_BYTES);
        assert_eq!(lines(format!("{fits}\ny").as_bytes()), [whole(&fits), whole("y")]);
        assert_eq!(lines(format!("{fits}x\ny").as_bytes()), [Line::TooLong, whole("y")]);
    }

    #[test]
    fn each_line_gets_what_the_table_says() {
        const DROP: i64 = 0;
        const PASS: i64 = 1;
        let table: &[(&str, i64, i64)] = &[
            // line, before initialize, after it: an error's code, or what else becomes of it
            ("", DROP, DROP),
            ("  \r", DROP, DROP),
            ("{", PARSE_ERROR, PARSE_ERROR),
            ("\u{feff}{}", PARSE_ERROR, PARSE_ERROR),
            ("[]", INVALID_REQUEST, INVALID_REQUEST),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, INVALID_REQUEST, INVALID_REQUEST),
            ("7", INVALID_REQUEST, INVALID_REQUEST),
            ("{}", INVALID_REQUEST, INVALID_REQUEST),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, INVALID_REQUEST, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, INVALID_REQUEST, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, INVALID_REQUEST, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, INVALID_REQUEST, INVALID_REQUEST),
            (
                r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#,
                INVALID_REQUEST,
                INVALID_REQUEST,
            ),
            (r#"{"jsonrpc":"2.0","id":"p","method":"server/discover"}"#, METHOD_NOT_FOUND, METHOD_NOT_FOUND),
            (r#"{"jsonrpc":"2.0","id":1,"method":""}"#, METHOD_NOT_FOUND, METHOD_NOT_FOUND),
            (r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#, METHOD_NOT_FOUND, METHOD_NOT_FOUND),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, PASS, PASS),
            (r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#, PASS, PASS),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, INVALID_REQUEST, PASS),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, DROP, PASS),
            (r#"{"jsonrpc":"2.0","method":"notifications/other"}"#, DROP, DROP),
            (r#"{"jsonrpc":"2.0","id":4,"result":{}}"#, DROP, DROP),
            (r#"{"jsonrpc":"2.0","id":4,"error":{}}"#, DROP, DROP),
        ];
        for (line, before, after) in table {
            for (open, expected) in [(false, *before), (true, *after)] {
                let found = match (Gate { open }).judge(&Line::Whole(line.as_bytes().to_vec())) {
                    Verdict::Drop => DROP,
                    Verdict::Pass(_) => PASS,
                    Verdict::Answer(answer) => answer["error"]["code"].as_i64().unwrap(),
                };
                assert_eq!(found, expected, "{line} open: {open}");
            }
        }
        let deep = Line::Whole("[".repeat(100_000).into_bytes());
        assert!(matches!(Gate::default().judge(&deep), Verdict::Answer(_)));
    }

    #[test]
    fn an_answer_carries_the_id_it_was_asked_with() {
        let gate = Gate::default();
        for (id, expected) in [("\"a\"", json!("a")), ("-3", json!(-3)), ("{}", Value::Null)] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"none"}}"#);
            let Verdict::Answer(answer) = gate.judge(&Line::Whole(line.into_bytes())) else { panic!("{id}") };
            assert_eq!(answer["id"], expected);
        }
    }
}
