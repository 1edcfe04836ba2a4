//! Texts inside a text: base64 of a text or of a key file, and what a URL escapes.
//!
//! A run of base64 is taken for a text when it decodes to UTF-8, or to UTF-16 of ASCII, without control characters; images, archives and hashes fail within a
//! byte or two, so the work is that of finding the runs. Its first letters may belong to something else (`\\n`, a path),
//! so each of the four places where its quartets may begin is tried, and again behind a sign.

use super::scan::{TooMuch, Work};
use std::ops::Range;

/// A shorter run holds no secret worth the look. Units: base64 digits.
const SHORTEST: usize = 24;
/// A line of a wrapped encoding is at least this long.
const LINE: usize = 56;

/// A run and what it decodes to.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) span: Range<usize>,
    pub(super) text: String,
    /// By byte of the text: where it began in the run; only of what is escaped.
    pub(super) offsets: Vec<usize>,
}

/// The value of a digit, plain or of the alphabet for URLs, by byte; 64 and above is none.
#[expect(clippy::indexing_slicing, reason = "in a constant: out of bounds does not compile")]
const DIGITS: [u8; 256] = {
    let mut table = [255u8; 256];
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut at = 0u8;
    while at < 64 {
        table[alphabet[at as usize] as usize] = at;
        at += 1;
    }
    table[b'-' as usize] = 62;
    table[b'_' as usize] = 63;
    table
};

fn digit(byte: u8) -> Option<u8> {
    DIGITS.get(usize::from(byte)).copied().filter(|value| *value < 64)
}

/// Finds the runs that decode to a text.
pub(super) fn base64(text: &str, work: &mut Work) -> Result<Vec<Run>, TooMuch> {
    let bytes = text.as_bytes();
    let mut runs = Vec::new();
    let mut at = 0;
    // From one possible run to the next: of any so many bytes in a row one is looked at until it is a digit.
    while let Some(probe) = bytes.get(at + SHORTEST - 1) {
        if digit(*probe).is_none() {
            at += SHORTEST;
            continue;
        }
        let before = bytes.get(at..at + SHORTEST - 1).unwrap_or_default();
        if let Some(last) = before.iter().rposition(|b| digit(*b).is_none()) {
            at += last + 1;
            continue;
        }
        let end = bytes.get(at..).unwrap_or_default().iter().position(|b| digit(*b).is_none());
        let end = end.map_or(bytes.len(), |n| at + n);
        at = run(bytes, at..end, &mut runs, work)?.max(end) + 1;
    }
    Ok(runs)
}

/// Looks for a text in one run. Returns where it ended, which is behind the run where lines of it follow.
fn run(bytes: &[u8], run: Range<usize>, runs: &mut Vec<Run>, work: &mut Work) -> Result<usize, TooMuch> {
    let mut start = run.start;
    let mut tries = 4;
    while start + SHORTEST <= run.end {
        if tries == 0 {
            let Some(sign) = bytes
                .get(start..run.end)
                .and_then(|rest| rest.iter().position(|b| matches!(b, b'/' | b'-' | b'_' | b'+')))
            else {
                break;
            };
            start += sign + 1;
            tries = 1;
            continue;
        }
        tries -= 1;
        let mut out = Vec::new();
        let width_of = Encoding::guess(bytes.get(start..start + 4).unwrap_or_default());
        let end = decode(bytes, start..run.end, &mut out, width_of);
        work.spend(out.len() + 4)?;
        if out.len() < SHORTEST / 4 * 3 - 3 || end < start + SHORTEST {
            start += 1;
            continue;
        }
        let mut last = end;
        // Lines that follow: a wrapped encoding.
        let mut width = if end == run.end { end - start } else { 0 };
        while width >= LINE && width % 4 == 0 {
            let rest = bytes.get(last..).unwrap_or_default();
            let gap = rest
                .iter()
                .take(24)
                .take_while(|b| b.is_ascii_whitespace() || matches!(b, b'+' | b'>'))
                .count();
            let escape = rest.iter().take(6).take_while(|b| **b == b'\\').count();
            let gap = match rest.get(escape) {
                Some(b'n' | b'r') if escape > 0 => escape + 1,
                _ => gap,
            };
            let from = last + gap;
            let line =
                bytes.get(from..).unwrap_or_default().iter().take_while(|b| digit(**b).is_some()).count();
            if gap == 0 || line < 4 {
                break;
            }
            let had = out.len();
            let end = decode(bytes, from..from + line, &mut out, width_of);
            work.spend(line)?;
            if end < from + line - line % 4 {
                out.truncate(had);
                break;
            }
            (last, width) = (from + line, line);
        }
        let padding =
            bytes.get(last..).unwrap_or_default().iter().take(2).take_while(|b| **b == b'=').count();
        last += padding;
        if width_of != Encoding::Utf8 {
            out.retain(|byte| byte.is_ascii() && *byte != 0);
        }
        let text = match String::from_utf8(out) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        runs.push(Run { span: start..last, text, offsets: Vec::new() });
        if end < run.end {
            // A byte that is no text ends a text, and another one may begin behind it.
            (start, tries) = (end.max(start + 1), 4);
            continue;
        }
        return Ok(last);
    }
    Ok(run.end)
}

/// How the bytes of a run spell a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    /// UTF-16, the low byte first: what Windows programs and PowerShell write.
    Little,
    /// UTF-16, the high byte first.
    Big,
}

impl Encoding {
    /// Tells by the first four digits: a mark of the order of bytes, or a letter beside a zero.
    fn guess(digits: &[u8]) -> Self {
        match decoded(digits) {
            [0xff, 0xfe, b] if is_text(b) => Self::Little,
            [0xfe, 0xff, 0] => Self::Big,
            [a, 0, b] if is_text(a) && is_text(b) => Self::Little,
            [0, a, 0] if is_text(a) => Self::Big,
            _ => Self::Utf8,
        }
    }
}

fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | 0x1b | 0x20..=0x7e)
}

fn decoded(quartet: &[u8]) -> [u8; 3] {
    let mut bits = 0u32;
    for byte in quartet {
        bits = bits << 6 | u32::from(digit(*byte).unwrap_or(0));
    }
    bits <<= 6 * (4 - quartet.len());
    let [_, a, b, c] = bits.to_be_bytes();
    [a, b, c]
}

/// Decodes while a text comes of it. Returns where it stopped.
fn decode(bytes: &[u8], span: Range<usize>, out: &mut Vec<u8>, encoding: Encoding) -> usize {
    let digits = bytes.get(span.clone()).unwrap_or_default();
    let mut at = span.start;
    let mut follow = 0u8;
    for quartet in digits.chunks(4) {
        for byte in decoded(quartet).into_iter().take(quartet.len() * 6 / 8) {
            let even = out.len().is_multiple_of(2);
            let mark = out.len() < 2 && byte >= 0xfe;
            let fits = match (encoding, byte) {
                (Encoding::Little, _) => mark || if even { is_text(byte) } else { byte == 0 },
                (Encoding::Big, _) => mark || if even { byte == 0 } else { is_text(byte) },
                (Encoding::Utf8, 0x80..=0xbf) => follow > 0,
                (Encoding::Utf8, 0xc2..=0xf4) => follow == 0,
                (Encoding::Utf8, _) => is_text(byte) && follow == 0,
            };
            if !fits {
                return at;
            }
            follow = match byte {
                0xc2..=0xdf => 1,
                0xe0..=0xef => 2,
                0xf0..=0xf4 => 3,
                _ => follow.saturating_sub(1),
            };
            out.push(byte);
        }
        at += quartet.len();
    }
    at
}

/// Finds the runs without a space that hold `%XX`, and takes the escapes out of them.
pub(super) fn percent(text: &str, work: &mut Work) -> Result<Vec<Run>, TooMuch> {
    let bytes = text.as_bytes();
    let mut runs = Vec::new();
    let mut from = 0;
    while let Some(sign) = memchr::memchr(b'%', bytes.get(from..).unwrap_or_default()).map(|n| from + n) {
        if escape(bytes, sign).is_none() {
            from = sign + 1;
            continue;
        }
        let inside = |b: &u8| {
            b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'[' | b']')
        };
        let start =
            sign - bytes.get(from..sign).unwrap_or_default().iter().rev().take_while(|b| inside(b)).count();
        let end = sign + bytes.get(sign..).unwrap_or_default().iter().take_while(|b| inside(b)).count();
        work.spend(end - start)?;
        let (mut out, mut offsets) = (Vec::new(), Vec::new());
        let mut at = start;
        while at < end {
            offsets.push(at);
            match escape(bytes, at) {
                Some(byte) => {
                    out.push(byte);
                    at += 3;
                }
                None => {
                    out.extend(bytes.get(at));
                    at += 1;
                }
            }
        }
        if let Ok(text) = String::from_utf8(out) {
            runs.push(Run { span: start..end, text, offsets });
        }
        from = end;
    }
    Ok(runs)
}

fn escape(bytes: &[u8], at: usize) -> Option<u8> {
    let [b'%', high, low] = bytes.get(at..at + 3)? else { return None };
    let hex = |b: u8| char::from(b).to_digit(16).and_then(|n| u8::try_from(n).ok());
    Some(hex(*high)? << 4 | hex(*low)?)
}
