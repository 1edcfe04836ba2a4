//! `<private>…</private>`: what a person asked not to be remembered.
//!
//! The tags are read without regard to case, spans nest, and one that is not closed reaches to the end of the text: a
//! forgotten end must not publish what was meant to stay private.

use std::ops::Range;

const OPEN: &[u8] = b"<private";
const CLOSE: &[u8] = b"</private";

/// Finds the outermost spans, tags included, in order.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut depth = 0u64;
    let mut start = 0;
    let mut after = 0;
    for at in memchr::memchr_iter(b'<', bytes) {
        if at < after {
            continue;
        }
        if let Some(end) = tag(bytes, at, OPEN) {
            if depth == 0 {
                start = at;
            }
            depth += 1;
            after = end;
        } else if depth > 0
            && let Some(end) = tag(bytes, at, CLOSE)
        {
            depth -= 1;
            after = end;
            if depth == 0 {
                found.push(start..end);
            }
        }
    }
    if depth > 0 {
        found.push(start..bytes.len());
    }
    found
}

/// Where the tag that begins at `at` ends, when it is `name`; blanks may stand before its `>`, attributes may not.
fn tag(bytes: &[u8], at: usize, name: &[u8]) -> Option<usize> {
    let end = at + name.len();
    if !bytes.get(at..end)?.eq_ignore_ascii_case(name) {
        return None;
    }
    let blanks = bytes.get(end..)?.iter().take(8).take_while(|b| b.is_ascii_whitespace()).count();
    (bytes.get(end + blanks) == Some(&b'>')).then_some(end + blanks + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_nest_and_an_open_one_reaches_the_end() {
        let cases: &[(&str, &[&str])] = &[
            ("a <private>x</private> b", &["<private>x</private>"]),
            ("a <PRIVATE >x</Private\n> b", &["<PRIVATE >x</Private\n>"]),
            ("<private>a<private>b</private>c</private>d", &["<private>a<private>b</private>c</private>"]),
            ("<private>a</private>b<private>c</private>", &["<private>a</private>", "<private>c</private>"]),
            ("a <private>b <private>c</private> d", &["<private>b <private>c</private> d"]),
            ("a </private> b", &[]),
            ("<privates>x</privates> <private", &[]),
            ("private: a field", &[]),
        ];
        for (text, expected) in cases {
            let found: Vec<_> = spans(text).into_iter().map(|s| text.get(s).unwrap()).collect();
            assert_eq!(&found, expected, "{text}");
        }
    }
}
