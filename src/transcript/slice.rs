//! Lines of a transcript from a byte position on, in memory that does not grow with the file or the line (D13).

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// A longer line is not held: [`super::look_long`] reads it in blocks. Units: bytes.
///
/// A parsed line may take a hundred times its size (`{"a":1},` again and again), and that must not be much.
pub const MAX_LINE_BYTES: usize = 256 * 1024;

const BLOCK_BYTES: usize = 256 * 1024;

/// A line with where it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// First byte.
    pub from: u64,
    /// One past the newline; for a line without one, the end of what is there.
    pub to: u64,
    /// False when no newline follows yet: it may be half written.
    pub complete: bool,
    /// What it holds.
    pub content: RawLine,
}

/// The bytes of a line, without the newline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawLine {
    /// All of it.
    Whole(Vec<u8>),
    /// Too long to be held; its length in bytes.
    Long(u64),
}

/// Reads lines by position; never maps the file, which the host may truncate at any time.
pub struct Reader {
    file: File,
    at: u64,
    block: Vec<u8>,
    block_from: u64,
}

impl Reader {
    /// Opens a regular file; a link, FIFO, device or folder is refused without waiting on it.
    ///
    /// Errors: the system's; `InvalidInput` when it is not a regular file.
    pub fn open(path: &Path, from: u64) -> io::Result<Self> {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).unwrap_or(0);
        let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        Ok(Self { file, at: from, block: Vec::new(), block_from: from })
    }

    /// The open file, for the cursor's check.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Moves to a byte position, which must be the start of a line.
    pub fn seek(&mut self, to: u64) {
        self.at = to;
        self.block.clear();
        self.block_from = to;
    }

    /// Reads the next line; `None` at the end of the file. Units: offsets are bytes from the start of the file.
    ///
    /// A last line without a newline comes once, as not complete; the position then stays before it. Errors: the system's.
    pub fn next_line(&mut self) -> io::Result<Option<Line>> {
        let from = self.at;
        let mut kept = Vec::new();
        let mut long = false;
        let mut at = from;
        loop {
            let rest = self.rest(at)?;
            if rest.is_empty() {
                if at == from {
                    return Ok(None);
                }
                return Ok(Some(Line {
                    from,
                    to: at,
                    complete: false,
                    content: finish(kept, long, at - from),
                }));
            }
            let newline = memchr::memchr(b'\n', rest);
            let part = rest.get(..newline.unwrap_or(rest.len())).unwrap_or_default();
            if !long && kept.len() + part.len() > MAX_LINE_BYTES {
                kept = Vec::new();
                long = true;
            }
            if !long {
                kept.extend_from_slice(part);
            }
            at += part.len() as u64;
            if newline.is_some() {
                let len = at - from;
                self.at = at + 1;
                return Ok(Some(Line { from, to: at + 1, complete: true, content: finish(kept, long, len) }));
            }
        }
    }

    /// What the block holds from `at` on, read anew when it holds nothing of it.
    fn rest(&mut self, at: u64) -> io::Result<&[u8]> {
        let known = at.checked_sub(self.block_from).and_then(|skip| usize::try_from(skip).ok());
        let known = known.filter(|skip| *skip < self.block.len());
        let skip = match known {
            Some(skip) => skip,
            None => {
                self.block.resize(BLOCK_BYTES, 0);
                let n = loop {
                    match self.file.read_at(&mut self.block, at) {
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                        read => break read?,
                    }
                };
                self.block.truncate(n);
                self.block_from = at;
                0
            }
        };
        Ok(self.block.get(skip..).unwrap_or_default())
    }
}

fn finish(kept: Vec<u8>, long: bool, len: u64) -> RawLine {
    if long { RawLine::Long(len) } else { RawLine::Whole(kept) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::{self, Sync};

    fn lines(bytes: &[u8], from: u64) -> Vec<(u64, u64, bool, Vec<u8>)> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        fs::replace(&path, bytes, Sync::No).unwrap();
        let mut reader = Reader::open(&path, from).unwrap();
        let mut all = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            let RawLine::Whole(bytes) = line.content else { panic!("long") };
            all.push((line.from, line.to, line.complete, bytes));
            if !line.complete {
                break;
            }
        }
        all
    }

    #[test]
    fn a_half_written_last_line_is_told_and_not_passed() {
        assert_eq!(
            lines(b"a\n\nbc", 0),
            [(0, 2, true, b"a".to_vec()), (2, 3, true, vec![]), (3, 5, false, b"bc".to_vec())]
        );
        assert_eq!(lines(b"a\n\nbc\n", 3), [(3, 6, true, b"bc".to_vec())]);
        assert!(lines(b"", 0).is_empty());
        assert!(lines(b"a\n", 2).is_empty());
    }

    #[test]
    fn a_line_over_the_limit_is_known_by_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let mut bytes = vec![b'x'; MAX_LINE_BYTES + 1];
        bytes.extend_from_slice(b"\nnext\n");
        fs::replace(&path, &bytes, Sync::No).unwrap();
        let mut reader = Reader::open(&path, 0).unwrap();
        let long = reader.next_line().unwrap().unwrap();
        assert_eq!(long.content, RawLine::Long(MAX_LINE_BYTES as u64 + 1));
        assert_eq!(reader.next_line().unwrap().unwrap().content, RawLine::Whole(b"next".to_vec()));
    }

    #[test]
    fn what_is_not_a_regular_file_is_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Reader::open(dir.path(), 0).is_err());
        let fifo = dir.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
            .unwrap();
        assert!(Reader::open(&fifo, 0).is_err());
        std::os::unix::fs::symlink(dir.path(), dir.path().join("link")).unwrap();
        assert!(Reader::open(&dir.path().join("link"), 0).is_err());
    }

    proptest::proptest! {
        #[test]
        fn lines_put_together_are_the_file(parts in proptest::collection::vec("[a-z\u{e9}]{0,300}", 0..40), last in "[a-z]{0,5}") {
            let mut text: String = parts.iter().map(|p| format!("{p}\n")).collect();
            text.push_str(&last);
            let mut joined = Vec::new();
            for (_, _, complete, bytes) in lines(text.as_bytes(), 0) {
                joined.extend(bytes);
                if complete { joined.push(b'\n'); }
            }
            proptest::prop_assert_eq!(joined, text.into_bytes());
        }
    }
}
