//! JSON read from a stretch of a file in blocks, so that a line of any length takes the memory of one block.

use super::super::cut::Kept;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const BLOCK_BYTES: u64 = 256 * 1024;
/// As deep as the parser of shorter lines goes.
pub(super) const MAX_DEPTH: u32 = 127;
/// No number anyone means is longer. Units: bytes.
const MAX_WORD: usize = 512;

/// Why reading ended.
#[derive(Debug)]
pub(super) enum Stop {
    /// The system's word, or the file became shorter.
    Io(io::Error),
    /// It is no JSON.
    Bad,
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Io(error)
    }
}

/// A stretch of a file, read once from its beginning to its end.
pub(super) struct Scan<'a> {
    file: &'a File,
    next: u64,
    end: u64,
    block: Vec<u8>,
    at: usize,
    sha: Sha256,
}

impl<'a> Scan<'a> {
    pub(super) fn new(file: &'a File, from: u64, to: u64) -> Self {
        Self { file, next: from, end: to, block: Vec::new(), at: 0, sha: Sha256::new() }
    }

    /// Position in the file of the next byte.
    pub(super) fn position(&self) -> u64 {
        self.next - (self.block.len() - self.at) as u64
    }

    /// What is left of the block, read anew when it is used up; empty at the end.
    fn rest(&mut self) -> Result<&[u8], Stop> {
        if self.at >= self.block.len() && self.next < self.end {
            let len = (self.end - self.next).min(BLOCK_BYTES);
            self.block.resize(usize::try_from(len).unwrap_or(0), 0);
            self.file.read_exact_at(&mut self.block, self.next)?;
            self.sha.update(&self.block);
            self.next += len;
            self.at = 0;
        }
        Ok(self.block.get(self.at..).unwrap_or_default())
    }

    /// The next byte, left where it is.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, Stop> {
        Ok(self.rest()?.first().copied())
    }

    fn next(&mut self) -> Result<u8, Stop> {
        let byte = self.peek()?.ok_or(Stop::Bad)?;
        self.at += 1;
        Ok(byte)
    }

    /// Passes over bytes of one of the kinds named. Returns how many.
    pub(super) fn pass(&mut self, kinds: &[u8]) -> Result<u64, Stop> {
        let mut passed = 0;
        while self.peek()?.is_some_and(|byte| kinds.contains(&byte)) {
            self.at += 1;
            passed += 1;
        }
        Ok(passed)
    }

    /// The next byte that is no white space.
    pub(super) fn token(&mut self) -> Result<u8, Stop> {
        self.pass(b" \t\r\n")?;
        self.next()
    }

    /// Reads to the end. Returns the hash of the whole stretch.
    pub(super) fn finish(mut self) -> Result<String, Stop> {
        self.at = self.block.len();
        while !self.rest()?.is_empty() {
            self.at = self.block.len();
        }
        Ok(crate::id::hex(&self.sha.finalize()))
    }

    /// Reads the members of an object whose brace was read: `member` is given each key and must read its value.
    pub(super) fn members(
        &mut self,
        member: &mut dyn FnMut(&mut Self, &str) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut first = true;
        loop {
            match self.token()? {
                b'}' if first => return Ok(()),
                b'"' => {}
                _ => return Err(Stop::Bad),
            }
            first = false;
            let mut key = Kept::text(MAX_KEY);
            self.string(&mut key)?;
            if self.token()? != b':' {
                return Err(Stop::Bad);
            }
            member(self, &key.finish())?;
            match self.token()? {
                b',' => {}
                b'}' => return Ok(()),
                _ => return Err(Stop::Bad),
            }
        }
    }

    /// Reads the elements of an array whose bracket was read: `element` is given the first byte of each and must read it.
    pub(super) fn elements(
        &mut self,
        element: &mut dyn FnMut(&mut Self, u8) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut token = self.token()?;
        if token == b']' {
            return Ok(());
        }
        loop {
            element(self, token)?;
            match self.token()? {
                b',' => token = self.token()?,
                b']' => return Ok(()),
                _ => return Err(Stop::Bad),
            }
        }
    }

    /// Reads a value that begins with `first`, and keeps nothing of it.
    pub(super) fn skip(&mut self, first: u8, depth: u32) -> Result<(), Stop> {
        if depth > MAX_DEPTH {
            return Err(Stop::Bad);
        }
        match first {
            b'"' => self.string(&mut Kept::nothing()),
            b'{' => self.members(&mut |scan, _| {
                let token = scan.token()?;
                scan.skip(token, depth + 1)
            }),
            b'[' => self.elements(&mut |scan, token| scan.skip(token, depth + 1)),
            other => self.word(other).map(drop),
        }
    }

    /// Reads a number, `true`, `false` or `null` that begins with `first`.
    pub(super) fn word(&mut self, first: u8) -> Result<serde_json::Value, Stop> {
        let mut word = vec![first];
        while let Some(byte) = self.peek()? {
            if matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r' | 0) {
                break;
            }
            if word.len() >= MAX_WORD {
                return Err(Stop::Bad);
            }
            self.at += 1;
            word.push(byte);
        }
        serde_json::from_slice(&word).map_err(|_| Stop::Bad)
    }

    /// Reads a string behind its opening quote; halves of surrogate pairs become U+FFFD.
    pub(super) fn string(&mut self, to: &mut Kept) -> Result<(), Stop> {
        let mut high: Option<u16> = None;
        loop {
            let rest = self.rest()?;
            let run = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
            if run > 0 {
                let text = rest.get(..run).unwrap_or_default();
                if text.iter().any(|byte| *byte < 0x20) {
                    return Err(Stop::Bad);
                }
                if high.take().is_some() {
                    push(to, '\u{fffd}');
                }
                to.push(text);
                self.at += run;
                continue;
            }
            let special = self.next()?;
            let unit = match special {
                b'"' => None,
                _ => Some(self.next()?),
            };
            if unit == Some(b'u') {
                let unit = self.unit()?;
                high = pair(to, high, unit);
                continue;
            }
            if high.take().is_some() {
                push(to, '\u{fffd}');
            }
            match unit {
                None => return Ok(()),
                Some(byte @ (b'"' | b'\\' | b'/')) => to.push(&[byte]),
                Some(b'b') => to.push(&[8]),
                Some(b'f') => to.push(&[12]),
                Some(b'n') => to.push(b"\n"),
                Some(b'r') => to.push(b"\r"),
                Some(b't') => to.push(b"\t"),
                Some(_) => return Err(Stop::Bad),
            }
        }
    }

    fn unit(&mut self) -> Result<u16, Stop> {
        let mut unit = 0_u32;
        for _ in 0..4 {
            let digit = char::from(self.next()?).to_digit(16).ok_or(Stop::Bad)?;
            unit = unit * 16 + digit;
        }
        u16::try_from(unit).map_err(|_| Stop::Bad)
    }
}

/// A key longer than this is none that anyone looks for. Units: bytes.
const MAX_KEY: usize = 256;

/// Adds the character that a unit makes with the one before; returns a unit that waits for its other half.
fn pair(to: &mut Kept, high: Option<u16>, unit: u16) -> Option<u16> {
    let waits = (0xd800..0xdc00).contains(&unit);
    match (high, unit) {
        (Some(high), 0xdc00..=0xdfff) => {
            for decoded in char::decode_utf16([high, unit]) {
                push(to, decoded.unwrap_or('\u{fffd}'));
            }
            return None;
        }
        (Some(_), _) => push(to, '\u{fffd}'),
        (None, _) => {}
    }
    if !waits {
        push(to, char::from_u32(u32::from(unit)).unwrap_or('\u{fffd}'));
    }
    waits.then_some(unit)
}

fn push(to: &mut Kept, character: char) {
    to.push(character.encode_utf8(&mut [0; 4]).as_bytes());
}
