//! A whole file as one text, in bounded memory.

use super::WHOLE_TEXT;
use crate::transcript::cut::Kept;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A text with what identifies all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The text; of a long one its ends, with a note that [`crate::transcript::pieces`] reads.
    pub text: String,
    /// Size of all of it, bytes.
    pub bytes: u64,
    /// sha256 of all of it, hex.
    pub sha256: String,
}

/// Reads a file as it is now. Errors: the system's.
pub fn read_text(file: &File) -> io::Result<Text> {
    let (mut kept, mut all) = (Kept::text(WHOLE_TEXT), Kept::hash());
    let mut block = vec![0; 64 * 1024];
    loop {
        match file.read_at(&mut block, all.len()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => {
                let part = block.get(..read?).unwrap_or_default();
                if part.is_empty() {
                    break;
                }
                kept.push(part);
                all.push(part);
            }
        }
    }
    let (bytes, sha256) = all.finish_hash();
    Ok(Text { text: kept.finish(), bytes, sha256 })
}
