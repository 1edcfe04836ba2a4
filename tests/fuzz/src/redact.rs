//! Redaction of any text: once is enough; a secret put into it is gone; a marker that is in it stays as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinker::config::Secret;
use sinker::redact::{Redactor, Report};
use std::sync::OnceLock;

fuzz_target!(|bytes: &[u8]| {
    static REDACTOR: OnceLock<Redactor> = OnceLock::new();
    let redactor = REDACTOR.get_or_init(|| Redactor::built_in(&Secret::from_bytes([7; 32])));
    let clean = |text: &str| redactor.clean(text, &mut Report::default()).into_owned();
    let text = String::from_utf8_lossy(bytes);
    let once = clean(&text);
    assert_eq!(clean(&once), once, "twice is not once");
    // A marker adds a few bytes for each secret, and a secret is longer than a few bytes.
    assert!(once.len() <= text.len() * 8 + 64, "it grows: {} to {}", text.len(), once.len());

    // A key on a line of its own, wherever it stands.
    let key = concat!("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a");
    let lines: Vec<&str> = text.split('\n').collect();
    let at = bytes.len() % (lines.len() + 1);
    let mut planted: Vec<&str> = lines[..at].to_vec();
    planted.push(key);
    planted.extend(&lines[at..]);
    let kept = clean(&planted.join("\n"));
    assert!(!kept.contains(key), "a key is kept");
});
