//! Where a transcript was left, and whether the file there still is the one that was read (D3).
//!
//! Inodes are reused and sizes grow back, so a cursor knows its file by content: a hash of its first line, and one of the end of the last
//! complete line before the offset. If either does not fit, the file is read again from the start, which costs nothing but time (D4).

use crate::id;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A stretch of a file known by its hash. An empty one (`len` 0) fits everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// Bytes hashed, newline included.
    pub len: u64,
    /// 32 hex of sha256; empty when `len` is 0.
    pub hash: String,
}

/// The position up to which a file is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor {
    /// One past the last newline read, in bytes.
    pub offset: u64,
    /// The first bytes of the first line.
    pub head: Mark,
    /// The last bytes of the line that ends at `offset`.
    pub tail: Mark,
}

/// What a file says to its cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Go on at the offset.
    Continue,
    /// Another file, or a cut one: read from the start.
    Restart,
}

/// More of a line than this is not hashed. Units: bytes.
const MARK_BYTES: u64 = 16 * 1024;

impl Mark {
    /// Marks the last bytes of a line (with its newline) that lies at `from..to`.
    pub fn tail_of(file: &File, from: u64, to: u64) -> io::Result<Self> {
        let len = (to - from).min(MARK_BYTES);
        Self::read(file, to - len, len)
    }

    /// Marks the first bytes of the first line, which ends at `to`.
    pub fn head_of(file: &File, to: u64) -> io::Result<Self> {
        Self::read(file, 0, to.min(MARK_BYTES))
    }

    fn read(file: &File, from: u64, len: u64) -> io::Result<Self> {
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        file.read_exact_at(&mut bytes, from)?;
        let hash = id::short(&id::sha256(&bytes), 32).to_owned();
        Ok(Self { len, hash })
    }

    fn fits(&self, file: &File, from: u64) -> io::Result<bool> {
        if self.len == 0 {
            return Ok(true);
        }
        match Self::read(file, from, self.len) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            read => Ok(read? == *self),
        }
    }
}

impl Cursor {
    /// Compares the cursor with the file. Errors: the system's, when the file cannot be read.
    pub fn check(&self, file: &File) -> io::Result<Verdict> {
        if self.offset == 0 {
            return Ok(Verdict::Continue);
        }
        let tail_from = self.offset.saturating_sub(self.tail.len);
        let long_enough = file.metadata()?.len() >= self.offset;
        if long_enough && self.head.fits(file, 0)? && self.tail.fits(file, tail_from)? {
            return Ok(Verdict::Continue);
        }
        Ok(Verdict::Restart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{self, Sync};

    #[test]
    fn a_cursor_knows_its_file_by_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        let verdict = |bytes: &[u8], cursor: &Cursor| {
            fs::replace(&path, bytes, Sync::No).unwrap();
            cursor.check(&File::open(&path).unwrap()).unwrap()
        };
        fs::replace(&path, b"first\nlast\n", Sync::No).unwrap();
        let file = File::open(&path).unwrap();
        let cursor = Cursor {
            offset: 11,
            head: Mark::head_of(&file, 6).unwrap(),
            tail: Mark::tail_of(&file, 6, 11).unwrap(),
        };
        let cases: [(&[u8], Verdict); 6] = [
            (b"first\nlast\n", Verdict::Continue),
            (b"first\nlast\nmore", Verdict::Continue),
            (b"first\nlost\nmore", Verdict::Restart),
            (b"other\nlast\nmore", Verdict::Restart),
            (b"first\n", Verdict::Restart),
            (b"", Verdict::Restart),
        ];
        for (bytes, expected) in cases {
            assert_eq!(verdict(bytes, &cursor), expected, "{}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(verdict(b"", &Cursor::default()), Verdict::Continue);
    }
}
