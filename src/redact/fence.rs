//! Our own injected context, when a transcript brings it back (D14).
//!
//! A block is `<sinker-memory-PPPPPPPPSSSSSSSS>…</sinker-memory-PPPPPPPPSSSSSSSS>`: P is the prefix of this installation, S eight hex
//! digits of the content. A block with another prefix was not written by us and is ordinary text.

use memchr::memmem;
use std::ops::Range;

const OPEN: &str = "<sinker-memory-";
const PREFIX_LEN: usize = 8;
const SUFFIX_LEN: usize = 8;

/// Finds our blocks, in order and apart; one without an end reaches to the end of the text.
pub(super) fn spans(text: &str, prefix: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(rest) = text.get(from..)
        && let Some(at) = memmem::find(rest.as_bytes(), OPEN.as_bytes()).map(|at| from + at)
    {
        from = at + OPEN.len();
        let Some(name) = name_at(text, from, prefix) else { continue };
        let end = format!("</sinker-memory-{name}>");
        let body = from + name.len() + 1;
        let close = text.get(body..).and_then(|rest| memmem::find(rest.as_bytes(), end.as_bytes()));
        from = close.map_or(text.len(), |close| body + close + end.len());
        found.push(at..from);
    }
    found
}

/// The sixteen digits of a tag of ours that stand at `at`, with the `>` behind them.
fn name_at<'a>(text: &'a str, at: usize, prefix: &str) -> Option<&'a str> {
    let name = text.get(at..at + PREFIX_LEN + SUFFIX_LEN)?;
    let suffix = name.strip_prefix(prefix)?;
    let hex = suffix.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let closed = text.as_bytes().get(at + name.len()) == Some(&b'>');
    (hex && closed).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_blocks_are_found_whole_and_foreign_ones_not_at_all() {
        let cases: &[(&str, &[&str])] = &[
            (
                "a<sinker-memory-0123abcd00000000>x</sinker-memory-0123abcd00000000>b",
                &["<sinker-memory-0123abcd00000000>x</sinker-memory-0123abcd00000000>"],
            ),
            ("a<sinker-memory-0123abcd00000000>x b", &["<sinker-memory-0123abcd00000000>x b"]),
            (
                "<sinker-memory-0123abcd00000000>x</sinker-memory-0123abcd00000001>",
                &["<sinker-memory-0123abcd00000000>x</sinker-memory-0123abcd00000001>"],
            ),
            ("<sinker-memory-ffffffff00000000>x</sinker-memory-ffffffff00000000>", &[]),
            ("<sinker-memory-0123abcd0000000>x", &[]),
            ("<sinker-memory-0123abcd0000000g>x", &[]),
            ("<sinker-memory-0123abcd00000000 >x", &[]),
            ("<sinker-memory-0123abcdäöüß>x", &[]),
            ("</sinker-memory-0123abcd00000000>", &[]),
        ];
        for (text, expected) in cases {
            let found: Vec<_> = spans(text, "0123abcd").into_iter().map(|s| text.get(s).unwrap()).collect();
            assert_eq!(&found, expected, "{text}");
        }
    }
}
