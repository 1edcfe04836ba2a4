//! Lines that a strict parser refuses: bad characters, and what a torn write left before, behind and inside them.

use std::ops::Range;

/// Makes bytes readable that a strict parser refuses: what is not UTF-8, and halves of surrogate pairs, become U+FFFD.
pub(super) fn mend(line: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(line);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find("\\") {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let unit = |s: &str| {
            s.strip_prefix("\\u").and_then(|h| h.get(..4)).and_then(|h| u16::from_str_radix(h, 16).ok())
        };
        let (take, good) = match unit(escape) {
            Some(0xd800..=0xdbff) => match escape.get(6..).and_then(unit) {
                Some(0xdc00..=0xdfff) => (12, true),
                _ => (6, false),
            },
            Some(0xdc00..=0xdfff) => (6, false),
            // An escaped backslash must not be taken for the start of the next escape.
            _ => (2, true),
        };
        let taken = escape.get(..take).unwrap_or(escape);
        out.push_str(if good { taken } else { "\\ufffd" });
        rest = escape.get(taken.len()..).unwrap_or_default();
    }
    out.push_str(rest);
    out.into_bytes()
}

/// How every record of a conversation begins.
const HEAD: &[u8] = b"{\"parentUuid\":";

/// A line without the zeros and blanks around it: they are what a torn write leaves, and no part of a record. `None` when nothing else is
/// there.
pub(super) fn bare(line: &[u8]) -> Option<Range<usize>> {
    let filler = |b: &u8| *b == 0 || b.is_ascii_whitespace();
    let from = line.iter().position(|b| !filler(b))?;
    let to = line.iter().rposition(|b| !filler(b))? + 1;
    Some(from..to)
}

/// Where a whole record may begin behind a torn one: behind zeros, or where a client wrote on without a newline.
pub(super) fn second_beginnings(line: &[u8]) -> impl Iterator<Item = usize> {
    let behind_zeros = memchr::memrchr(0, line).map(|at| at + 1);
    let head = memchr::memmem::rfind(line, HEAD).filter(|at| *at > 0);
    behind_zeros.into_iter().chain(head)
}
