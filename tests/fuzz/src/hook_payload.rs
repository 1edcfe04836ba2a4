//! What a hook reads of stdin: the same whatever the pieces it comes in; and of a JSON object, what a JSON parser reads.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use sinker::hook::fuzz::payload;

fuzz_target!(|bytes: &[u8]| {
    let piece = bytes.len() % 13 + 1;
    let whole = payload(bytes, bytes.len().max(1));
    let pieces = payload(bytes, piece);
    assert_eq!(whole.is_some(), pieces.is_some(), "usable only in one piece, or only in many");
    let (Some(whole), Some(pieces)) = (whole, pieces) else {
        // Refused: then it is no object at all for a parser either.
        assert!(!matches!(serde_json::from_slice(bytes), Ok(Value::Object(_))), "a JSON object is refused");
        return;
    };
    assert_eq!(whole, pieces, "the pieces it comes in make a difference");
    let Ok(Value::Object(parsed)) = serde_json::from_slice::<Value>(bytes) else { return };
    for (name, read) in whole {
        // A name given twice, or written with escapes, is nothing that the host does.
        let quoted = format!("\"{name}\"");
        let once = String::from_utf8_lossy(bytes).matches(&quoted).count() == 1;
        let escaped = bytes.contains(&b'\\');
        match (parsed.get(name), read) {
            (Some(Value::Bool(on)), read) if once => {
                assert_eq!(read.is_some(), *on && name == "stop_hook_active", "{name}")
            }
            (Some(Value::String(text)), Some(read)) if once && text.len() < 40 => {
                assert_eq!(&read, text, "{name}")
            }
            (Some(Value::String(_)), None) if name != "stop_hook_active" => {
                assert!(escaped, "{name} is passed over")
            }
            (None, Some(_)) => panic!("{name} is not in the object"),
            _ => {}
        }
    }
});
