//! Private key blocks: `-----BEGIN … PRIVATE KEY-----` to its end, however the lines between are dressed.
//!
//! Between begin and end anything may stand (line numbers, indents, diff signs, `\n` escapes, quotes), as long as there is key material. A block that
//! was cut loses its end or its begin: then the lines beside the one that is left go while they look like key material.

use std::ops::Range;

/// A block is at most this long, in bytes; a key of 8192 bits with line numbers is half of it.
pub(super) const LONGEST: usize = 16 * 1024;
/// A run of this many base64 characters is key material. Short enough for the last but one line, too long for a word.
const MATERIAL: usize = 32;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";

/// Does a private key's begin or end stand at `at`, and not that of a certificate?
pub(super) fn is_header(bytes: &[u8], at: usize) -> bool {
    header(bytes, at, BEGIN).or_else(|| header(bytes, at, END)).is_some()
}

/// Finds the block whose begin (or, where that is missing, whose end) stands at `at`; never looks beyond `window`.
pub(super) fn block(bytes: &[u8], at: usize, window: Range<usize>) -> Option<Range<usize>> {
    let seen = bytes.get(..window.end)?;
    if let Some(head) = header(seen, at, BEGIN) {
        let next = memchr::memmem::find(seen.get(head..)?, DASHES).map(|n| head + n);
        if let Some(next) = next
            && let Some(tail) = header(seen, next, END)
        {
            return has_material(seen.get(head..next)?).then_some(at..tail);
        }
        let end = forward(seen, head, next.unwrap_or(seen.len()));
        return has_material(seen.get(head..end)?).then_some(at..end);
    }
    let tail = header(seen, at, END)?;
    let from = window.start.max(at.saturating_sub(LONGEST));
    // A begin in front would have taken this end with it, so lines are all there can be.
    let start = backward(seen, from, at);
    has_material(seen.get(start..at)?).then_some(start..tail)
}

/// Where the header line at `at` ends: `-----BEGIN RSA PRIVATE KEY-----`.
fn header(bytes: &[u8], at: usize, opening: &[u8]) -> Option<usize> {
    let rest = bytes.get(at..)?.strip_prefix(opening)?;
    let label = rest.iter().take(64).take_while(|b| matches!(b, b'A'..=b'Z' | b'0'..=b'9' | b' ')).count();
    let (name, rest) = rest.split_at_checked(label)?;
    let private = name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK");
    (private && rest.starts_with(DASHES)).then_some(at + opening.len() + label + DASHES.len())
}

fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn has_material(bytes: &[u8]) -> bool {
    bytes.split(|&b| !base64(b)).any(|run| run.len() >= MATERIAL)
}

/// The end of the lines after a begin that are key material; `limit` is where the search must stop.
fn forward(bytes: &[u8], from: usize, limit: usize) -> usize {
    let mut end = from;
    let mut at = from;
    while let Some(rest) = bytes.get(at..limit)
        && !rest.is_empty()
    {
        let dress = rest.iter().take(40).take_while(|&&b| dressing(b)).count();
        let run = rest.iter().skip(dress).take_while(|&&b| base64(b)).count();
        // Behind full lines comes a shorter last one; a short first one is prose, and one behind a quote the next name in some JSON.
        let quote = rest.iter().take(dress).any(|b| matches!(b, b'"' | b'\'' | b','));
        let full = run >= MATERIAL || (end > from && run >= 4 && !quote);
        if !full {
            break;
        }
        at += dress + run;
        end = at;
        if run < MATERIAL {
            break;
        }
    }
    end
}

/// The start of the lines before an end that are key material.
fn backward(bytes: &[u8], from: usize, at: usize) -> usize {
    let mut start = at;
    let mut first = true;
    while let Some(rest) = bytes.get(from..start)
        && !rest.is_empty()
    {
        let dress = rest.iter().rev().take(40).take_while(|&&b| dressing(b)).count();
        let run = rest.iter().rev().skip(dress).take_while(|&&b| base64(b)).count();
        // The last line of a key is shorter than the others.
        if run < MATERIAL && !(first && run >= 1) {
            break;
        }
        first = false;
        start -= dress + run;
    }
    start
}

/// What may stand between two lines of a key: line ends, plain or escaped, indents, diff and quote signs, line numbers' separators.
/// Digits are base64 themselves: a line number reads as a short run, which `forward` would stop at, so separators and digits go together.
fn dressing(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_digit()
        || matches!(
            byte,
            b'\\' | b'n' | b'r' | b'"' | b'\'' | b',' | b'+' | b'-' | b'>' | b'|' | b':' | b'#' | b'*'
        )
        || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seed: usize) -> String {
        (0..64)
            .map(|i| {
                char::from(
                    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
                        [(seed * 31 + i * 7) % 64],
                )
            })
            .collect()
    }

    fn check(text: &str, expected: Option<&str>) {
        let at = text.find("-----BEGIN").or_else(|| text.find("-----END")).unwrap();
        let found = block(text.as_bytes(), at, 0..text.len()).map(|s| text.get(s).unwrap());
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_block_is_found_in_every_dress() {
        let (a, b) = (line(1), line(2));
        let begin = ["-----BEGIN RSA PRIV", "ATE KEY-----"].concat();
        let end = ["-----END RSA PRIV", "ATE KEY-----"].concat();
        for (between, tail) in [
            ("\n", "\n"),
            ("\\n", "\\n"),
            ("\\\\n", "\\\\n"),
            ("\n+", "\n+"),
            (" ", " "),
            ("\n    12\u{2192}", "\n    13\u{2192}"),
        ] {
            let whole = format!("{begin}{between}{a}{between}{b}{between}c3RlcA=={tail}{end}");
            check(&format!("x {whole} y"), Some(&whole));
            // Cut at its end.
            let cut = format!("{begin}{between}{a}{between}{b}");
            check(&format!("x {cut}\n\n* so it goes"), Some(&cut));
            check(&format!("x {cut}\",\"stderr\":\"\"}}"), Some(&cut));
        }
        // Cut at its begin.
        let text = format!("see:\n\n{a}\n{b}\nc3RlcA==\n{end} y");
        let at = text.find("-----END").unwrap();
        let found = block(text.as_bytes(), at, 0..text.len()).unwrap();
        assert!(found.start <= text.find(&a).unwrap() && found.end == text.find(" y").unwrap());
    }

    #[test]
    fn words_about_keys_are_left() {
        let begin = ["-----BEGIN PRIV", "ATE KEY-----"].concat();
        let end = ["-----END PRIV", "ATE KEY-----"].concat();
        check(&format!("{begin}\n...\n{end}"), None);
        check(&format!("a line {begin} begins it"), None);
        check(&format!("a line {end} ends it"), None);
        check(&format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----", line(3)), None);
    }
}
