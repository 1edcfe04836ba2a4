//! Texts too long to be held: their two ends, their size and their hash, in one string.
//!
//! Whoever redacts must see more than is kept, or half of a secret stands at the cut. So each end comes with a margin, and [`pieces`] says
//! where the cuts are: redact a piece, then drop its margins.

use sha2::{Digest, Sha256};

/// What is kept of each end. Units: bytes.
const END_BYTES: usize = 64 * 1024;
/// What is to be dropped of a piece beside a cut, once it is redacted: twice what any rule looks at. Units: bytes.
pub const MARGIN_BYTES: usize = 32 * 1024;
const WINDOW: usize = END_BYTES + MARGIN_BYTES;

/// Stands at both sides of a note: a code point that no text means anything by.
const SIGN: char = '\u{f5170}';

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text, and whether a cut is before and behind it.
    Text(&'a str, bool, bool),
    /// What was left out here: bytes and sha256 of the whole text.
    Cut(u64, &'a str),
}

/// Takes a text apart at its cuts; most have none.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut behind = false;
    while let Some((before, (tail, bytes, sha256), after)) = next_note(rest) {
        found.push(Piece::Text(before, behind, true));
        found.push(Piece::Cut(bytes, sha256));
        (rest, behind) = (after, tail);
    }
    found.push(Piece::Text(rest, behind, false));
    found
}

fn next_note(text: &str) -> Option<(&str, (bool, u64, &str), &str)> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find(SIGN)?;
        let behind = text.get(at + SIGN.len_utf8()..)?;
        if let Some((note, after)) = behind.split_once(SIGN)
            && let Some(note) = read_note(note)
        {
            return Some((text.get(..at)?, note, after));
        }
        from = at + SIGN.len_utf8();
    }
}

fn read_note(note: &str) -> Option<(bool, u64, &str)> {
    let mut words = note.split(' ');
    let tail = match words.next()? {
        "cut" => true,
        "end" => false,
        _ => return None,
    };
    let bytes = words.next()?.parse().ok()?;
    let sha256 = words.next().filter(|sha| sha.len() == 64 && sha.bytes().all(|b| b.is_ascii_hexdigit()))?;
    words.next().is_none().then_some((tail, bytes, sha256))
}

/// Takes a text in portions and keeps of it what was asked for.
pub(super) struct Kept {
    want: Want,
    head: Vec<u8>,
    tail: Vec<u8>,
    len: u64,
    /// Of a text beyond the limit.
    sha: Option<Sha256>,
    /// It holds a tag whose span may reach over the cut: then its end is not kept.
    spans: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    Nothing,
    Hash,
    /// All of it up to this many bytes; of a longer one the ends, size and hash.
    Text(usize),
}

/// Tags of spans that are taken out whole; one may begin in what is left out.
const TAGS: [&[u8]; 2] = [b"<private", b"<sinker-memory-"];
const LONGEST_TAG: usize = 15;

impl Kept {
    fn wanting(want: Want) -> Self {
        let sha = (want == Want::Hash).then(Sha256::new);
        Self { want, head: Vec::new(), tail: Vec::new(), len: 0, sha, spans: false }
    }

    /// Keeps all of a text up to a limit; of a longer one the ends, size and hash. Units: bytes.
    pub(super) fn text(limit: usize) -> Self {
        Self::wanting(Want::Text(limit))
    }

    /// Keeps size and hash.
    pub(super) fn hash() -> Self {
        Self::wanting(Want::Hash)
    }

    /// Keeps the size.
    pub(super) fn nothing() -> Self {
        Self::wanting(Want::Nothing)
    }

    /// Bytes seen so far.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Bytes held.
    pub(super) fn held(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        match (self.want, &mut self.sha) {
            (Want::Nothing, _) | (Want::Hash, None) => {}
            (Want::Hash, Some(sha)) => sha.update(bytes),
            (Want::Text(limit), None) if self.head.len() + bytes.len() <= limit => {
                self.head.extend_from_slice(bytes);
            }
            (Want::Text(_), None) => {
                let before = std::mem::take(&mut self.head);
                self.sha = Some(Sha256::new());
                self.beyond(&before);
                self.beyond(bytes);
            }
            (Want::Text(_), Some(_)) => self.beyond(bytes),
        }
    }

    fn beyond(&mut self, bytes: &[u8]) {
        if let Some(sha) = &mut self.sha {
            sha.update(bytes);
        }
        let room = WINDOW.saturating_sub(self.head.len());
        self.head.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
        // A tag may lie across two portions: the end of the last one is looked at again.
        let seam = self.tail.len().saturating_sub(LONGEST_TAG);
        let mut joined = self.tail.get(seam..).unwrap_or_default().to_vec();
        joined.extend_from_slice(bytes.get(..LONGEST_TAG.min(bytes.len())).unwrap_or_default());
        self.spans = self.spans || has_tag(&joined) || has_tag(bytes);
        if bytes.len() >= WINDOW {
            self.tail.clear();
        }
        self.tail.extend_from_slice(bytes.get(bytes.len().saturating_sub(WINDOW)..).unwrap_or_default());
        if self.tail.len() > 2 * WINDOW {
            self.tail.drain(..self.tail.len() - WINDOW);
        }
    }

    /// The text, with a note where something is left out.
    pub(super) fn finish(self) -> String {
        let Some(sha) = self.sha else { return into_text(self.head) };
        let sha256 = crate::id::hex(&sha.finalize());
        let from = self.tail.len().saturating_sub(WINDOW);
        let tail = if self.spans { &[] } else { self.tail.get(from..).unwrap_or_default() };
        let word = if tail.is_empty() { "end" } else { "cut" };
        let (head, tail) = (into_text(self.head), String::from_utf8_lossy(tail));
        format!("{head}{SIGN}{word} {} {sha256}{SIGN}{tail}", self.len)
    }

    /// Size and hash of what was kept by [`Kept::hash`].
    pub(super) fn finish_hash(self) -> (u64, String) {
        (self.len, crate::id::hex(&self.sha.unwrap_or_default().finalize()))
    }
}

fn has_tag(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'<', bytes).any(|at| {
        let is = |tag: &&[u8]| bytes.get(at..at + tag.len()).is_some_and(|b| b.eq_ignore_ascii_case(tag));
        TAGS.iter().any(is)
    })
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(text: &str, limit: usize, step: usize) -> String {
        let mut kept = Kept::text(limit);
        text.as_bytes().chunks(step).for_each(|part| kept.push(part));
        assert_eq!(kept.len(), text.len() as u64);
        kept.finish()
    }

    #[test]
    fn of_a_long_text_both_ends_size_and_hash_are_kept_in_any_portions() {
        let text = format!("head {} tail", "word ".repeat(200_000));
        let sha256 = crate::id::sha256(text.as_bytes());
        for step in [1_000, 100_003, 2_000_000] {
            let kept = keep(&text, 300_000, step);
            let [Piece::Text(head, false, true), Piece::Cut(bytes, sha), Piece::Text(tail, true, false)] =
                pieces(&kept)[..]
            else {
                panic!("step {step}");
            };
            assert_eq!((bytes, sha), (text.len() as u64, sha256.as_str()));
            assert_eq!((head.len(), tail.len()), (WINDOW, WINDOW));
            assert!(text.starts_with(head) && text.ends_with(tail), "step {step}");
        }
        assert_eq!(keep(&text, text.len(), 70_001), text);
    }

    #[test]
    fn the_end_is_left_out_where_a_span_may_reach_into_it() {
        for tag in ["<PRIVATE>", "<sinker-memory-0123abcd00000000>"] {
            let text = format!("{}{tag}{}", "a ".repeat(300_000), "b ".repeat(300_000));
            for step in [999, 600_004, 2_000_000] {
                let kept = keep(&text, 300_000, step);
                let pieces = pieces(&kept);
                assert_eq!(pieces.last(), Some(&Piece::Text("", false, false)), "{tag} {step}");
            }
        }
    }

    #[test]
    fn a_text_without_cuts_is_one_piece_whatever_it_holds() {
        for text in ["", "plain", "\u{f5170}", "\u{f5170}cut 1 ab\u{f5170}", "\u{f5170}\u{f5170}x"] {
            assert_eq!(pieces(text), [Piece::Text(text, false, false)]);
        }
    }
}
