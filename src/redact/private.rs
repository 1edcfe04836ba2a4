//! `<private>…</private>`: what a person asked not to be remembered.
//!
//! The tags are read without regard to case, spans nest, and one that is not closed reaches to the end of the text: a
//! forgotten end must not publish what was meant to stay private.

use std::borrow::Cow;
use std::ops::Range;

const NAME: &[u8] = b"private";

/// Escapes of escapes: more backslashes than this before a tag are not looked through.
const MAX_ESCAPES: usize = 15;

/// Finds the outermost spans, tags included, in order.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
    let (mut found, open) = scan(text);
    found.extend(open.map(|start| start..text.len()));
    found
}

/// A text without its private spans; what is left of them is a blank.
pub fn without_private(text: &str) -> Cow<'_, str> {
    let spans = spans(text);
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans {
        out.push_str(text.get(at..span.start).unwrap_or_default());
        out.push(' ');
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(out)
}

/// The text ends within a span: what follows it elsewhere, cut off or in another block, is private until an end comes.
pub fn ends_private(text: &str) -> bool {
    scan(text).1.is_some()
}

/// The text may begin within a span: an end comes before a beginning.
pub fn may_begin_private(text: &str) -> bool {
    let bytes = text.as_bytes();
    let first = memchr::memchr2_iter(b'<', b'\\', bytes).find_map(|at| tag(bytes, at));
    first.is_some_and(|(_, closes)| closes)
}

/// The spans that have an end, and where one without begins.
fn scan(text: &str) -> (Vec<Range<usize>>, Option<usize>) {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut depth = 0u64;
    let mut start = 0;
    let mut after = 0;
    for at in memchr::memchr2_iter(b'<', b'\\', bytes) {
        if at < after {
            continue;
        }
        match tag(bytes, at) {
            Some((end, false)) => {
                if depth == 0 {
                    start = at;
                }
                depth += 1;
                after = end;
            }
            Some((end, true)) if depth > 0 => {
                depth -= 1;
                after = end;
                if depth == 0 {
                    found.push(start..end);
                }
            }
            _ => {}
        }
    }
    (found, (depth > 0).then_some(start))
}

/// Where the tag that begins at `at` ends, and whether it is an end; blanks may stand before its `>`, attributes may not. It may be written
/// as JSON escapes it: `\u003cprivate\u003e`, `<\/private>`.
fn tag(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let mut end = angle(bytes, at, b'<')?;
    let slash = end + escapes(bytes, end);
    let closes = bytes.get(slash) == Some(&b'/');
    if closes {
        end = slash + 1;
    }
    if !bytes.get(end..end + NAME.len())?.eq_ignore_ascii_case(NAME) {
        return None;
    }
    end += NAME.len();
    for _ in 0..8 {
        let blank = escapes(bytes, end);
        match bytes.get(end) {
            Some(byte) if byte.is_ascii_whitespace() => end += 1,
            Some(b'\\') if matches!(bytes.get(end + blank), Some(b'n' | b'r' | b't')) => end += blank + 1,
            _ => break,
        }
    }
    angle(bytes, end, b'>').map(|end| (end, closes))
}

/// Where an angle bracket ends, plain or escaped.
fn angle(bytes: &[u8], at: usize, which: u8) -> Option<usize> {
    let code: &[u8] = if which == b'<' { b"u003c" } else { b"u003e" };
    let is = |from: usize, word: &[u8]| {
        bytes.get(from..from + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
    };
    let from = at + escapes(bytes, at);
    match bytes.get(at)? {
        byte if *byte == which => Some(at + 1),
        b'\\' if is(from, code) => Some(from + code.len()),
        _ => None,
    }
}

/// How many backslashes stand here.
fn escapes(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).unwrap_or_default().iter().take(MAX_ESCAPES).take_while(|b| **b == b'\\').count()
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
            (r"a \u003cprivate\u003ex\u003c/private\u003e b", &[r"\u003cprivate\u003ex\u003c/private\u003e"]),
            (
                r"a \\u003CPRIVATE\\u003ex\\u003c\\/private\\u003E b",
                &[r"\\u003CPRIVATE\\u003ex\\u003c\\/private\\u003E"],
            ),
            (r"a <private>x<\/private\n> b", &[r"<private>x<\/private\n>"]),
            (r"a \u003cprivate\u003ex", &[r"\u003cprivate\u003ex"]),
            (r"C:\private\ & <b> \private>", &[]),
        ];
        for (text, expected) in cases {
            let found: Vec<_> = spans(text).into_iter().map(|s| text.get(s).unwrap()).collect();
            assert_eq!(&found, expected, "{text}");
        }
    }

    #[test]
    fn what_is_cut_in_two_stays_private_on_both_sides() {
        let cases = [
            ("a <private>b", true, false),
            ("a <private>b</private>", false, false),
            ("b</private> c", false, true),
            ("b</private> <private> c", true, true),
            ("plain", false, false),
        ];
        for (text, ends, begins) in cases {
            assert_eq!((ends_private(text), may_begin_private(text)), (ends, begins), "{text}");
        }
        assert_eq!(without_private("a <private>b</private> c"), "a   c");
        assert_eq!(without_private("a <private>b"), "a  ");
    }
}
