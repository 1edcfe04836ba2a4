//! The ledger of what was forgotten: `$SINKER_HOME/forgotten`, append-only, outside the store (D12).
//!
//! It is written before anything is removed, and holds nothing but hashes, so it says what must not come back without saying what it
//! was. The store passes over what it names, recall hides it while the index still has it, and a store or an index that was restored
//! from a backup is brought in line with it. It needs no key: ids of the host are random, and it must hold when the local secret is lost.
//!
//! ```text
//! sinker-forgotten 1
//! 9f86d081884c7d659a2feaa0c55ad015      one line of 32 hex digits an entry, sorted by nothing
//! ```
//!
//! A last line without a newline is a write that was cut short: it promised nothing, and the next write takes it out. Any other line that
//! is no entry is damage, and nobody is answered and nothing stored until a person has looked: what was forgotten must not come back.

use crate::config::Home;
use crate::fs::{self, FsError};
use crate::id;
use crate::step::step;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

/// The first line, with the format this version writes and the newest it reads.
const TITLE: &str = "sinker-forgotten ";
const FORMAT: u64 = 1;

/// What names a forgotten thing: a hash of what it is and of its id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark([u8; 16]);

impl Mark {
    /// A document, by our id.
    pub fn document(id: &str) -> Self {
        Self::of("document", &[id])
    }

    /// A session, by the host's id.
    pub fn session(id: &str) -> Self {
        Self::of("session", &[id])
    }

    /// A title, by the session or the record that it was given to.
    pub fn title(of: &str, title: &str) -> Self {
        Self::of("title", &[of, title])
    }

    fn of(kind: &str, parts: &[&str]) -> Self {
        let all: Vec<&[u8]> =
            std::iter::once(kind.as_bytes()).chain(parts.iter().map(|p| p.as_bytes())).collect();
        Self::read(&id::hash(&all)).unwrap_or_default()
    }

    fn read(hex: &str) -> Option<Self> {
        let digits = hex.get(..32)?;
        if !digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        u128::from_str_radix(digits, 16).ok().map(|bits| Self(bits.to_be_bytes()))
    }
}

impl std::fmt::Display for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

/// Why the ledger cannot be obeyed. Whoever meets it stays silent, or refuses to work: what was forgotten must not come back.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// A newer Sinker wrote it.
    #[error("the forget ledger {path} has format {found}, newer than this version knows")]
    Newer {
        /// The file.
        path: String,
        /// Its format.
        found: u64,
    },
    /// It is none, or cannot be read.
    #[error("the forget ledger {path} cannot be read: {why}")]
    Unreadable {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// It could not be written.
    #[error(transparent)]
    Fs(#[from] FsError),
}

/// The marks of a ledger, or of the part behind a place in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    marks: Vec<Mark>,
    bytes: u64,
    /// Its first line is whole; else nothing was ever written behind it.
    titled: bool,
}

impl Ledger {
    /// Reads what lies behind `from`, a size that the ledger had; 0 reads all. A missing one is empty.
    ///
    /// Errors: [`LedgerError`].
    pub fn read(home: &Home, from: u64) -> Result<Self, LedgerError> {
        let path = home.forgotten();
        let shown = path.display().to_string();
        let unreadable =
            |why: std::io::Error| LedgerError::Unreadable { path: shown.clone(), why: why.to_string() };
        let file = match fs::open_plain(&path) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(Self::default()),
            Err(error) => return Err(error.into()),
        };
        let bytes = file.metadata().map_err(unreadable)?.len();
        let titled = check_title(&file, &shown)?;
        // Shorter than it was: an older copy was put in its place, and all of it is looked at.
        let from = if from > bytes { 0 } else { from };
        let mut reader = BufReader::new(file);
        reader.seek(SeekFrom::Start(from)).map_err(unreadable)?;
        let mut marks = Vec::new();
        let mut line = String::new();
        let mut seen = from;
        while seen < bytes {
            line.clear();
            let read = (&mut reader).take(4_096).read_line(&mut line);
            let read = read.map_err(unreadable)?;
            if read == 0 {
                break;
            }
            seen += read as u64;
            // A last line without a newline is a write that was cut short, and promised nothing.
            let Some(whole) = line.strip_suffix('\n') else {
                let begun = line.len() <= 32 && line.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
                if begun || seen == read as u64 {
                    break;
                }
                let why = "its last line is no entry".to_owned();
                return Err(LedgerError::Unreadable { path: shown, why });
            };
            let title = seen == read as u64 && whole.starts_with(TITLE);
            match Mark::read(whole).filter(|_| whole.len() == 32) {
                Some(mark) => marks.push(mark),
                None if title => {}
                None => {
                    let why = format!("the line that ends at byte {seen} is no entry");
                    return Err(LedgerError::Unreadable { path: shown, why });
                }
            }
        }
        marks.sort_unstable();
        marks.dedup();
        Ok(Self { marks, bytes, titled })
    }

    /// The size of the file when it was read; 0 when there was none. Units: bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Is nothing in it?
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Was this forgotten?
    pub fn holds(&self, mark: &Mark) -> bool {
        self.marks.binary_search(mark).is_ok()
    }
}

/// The size of the ledger now; 0 when there is none. One look at the directory: what recall pays for when nothing is newly forgotten.
pub fn size(home: &Home) -> u64 {
    home.forgotten().symlink_metadata().map_or(0, |meta| meta.len())
}

/// Adds marks, and returns once they are on disk. Errors: [`LedgerError`]; nothing may be removed then.
pub fn append(home: &Home, marks: &[Mark]) -> Result<(), LedgerError> {
    let path = home.forgotten();
    let io = |source| FsError { what: "write", path: path.clone(), source };
    // Never added to what a newer version wrote, or to what is no ledger.
    let known = Ledger::read(home, 0)?;
    let mut text = String::with_capacity(marks.len() * 33 + 32);
    for mark in marks.iter().filter(|mark| !known.holds(mark)) {
        text.push_str(&format!("{mark}\n"));
    }
    step("ledger::append").map_err(io)?;
    if !known.titled {
        fs::replace(&path, format!("{TITLE}{FORMAT}\n{text}").as_bytes(), fs::Sync::Yes)?;
    } else if let Some(whole) = cut_short(home)? {
        fs::replace(&path, &[&whole, text.as_bytes()].concat(), fs::Sync::Yes)?;
    } else {
        fs::append_synced(&path, text.as_bytes())?;
    }
    step("ledger::synced").map_err(io)?;
    Ok(())
}

/// The whole lines of a ledger whose last one was cut short; `None` where it was not.
fn cut_short(home: &Home) -> Result<Option<Vec<u8>>, LedgerError> {
    let mut bytes = fs::read_small(&home.forgotten(), u64::MAX)?.unwrap_or_default();
    if bytes.last() == Some(&b'\n') {
        return Ok(None);
    }
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    bytes.truncate(whole);
    Ok(Some(bytes))
}

fn check_title(mut file: &File, shown: &str) -> Result<bool, LedgerError> {
    let mut head = [0; 64];
    let mut read = 0;
    while read < head.len() {
        let Some(rest) = head.get_mut(read..) else { break };
        match file.read(rest) {
            Ok(0) => break,
            Ok(n) => read += n,
            Err(error) => {
                return Err(LedgerError::Unreadable { path: shown.to_owned(), why: error.to_string() });
            }
        }
    }
    let head = String::from_utf8_lossy(head.get(..read).unwrap_or_default()).into_owned();
    let number = head.strip_prefix(TITLE).and_then(|rest| rest.lines().next()?.trim().parse::<u64>().ok());
    match number {
        Some(found) if found > FORMAT => Err(LedgerError::Newer { path: shown.to_owned(), found }),
        Some(_) => Ok(head.contains('\n')),
        None if TITLE.starts_with(&head) => Ok(false),
        None => Err(LedgerError::Unreadable {
            path: shown.to_owned(),
            why: "it does not begin as a ledger does".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        (dir, home)
    }

    #[test]
    fn marks_are_kept_and_told_apart() {
        let (_dir, home) = home();
        assert!(Ledger::read(&home, 0).unwrap().is_empty());
        let (one, two) = (Mark::document("o-1"), Mark::session("o-1"));
        assert_ne!(one, two);
        append(&home, &[one]).unwrap();
        let before = size(&home);
        append(&home, &[one, two]).unwrap();
        let all = Ledger::read(&home, 0).unwrap();
        assert!(all.holds(&one) && all.holds(&two) && !all.holds(&Mark::title("o-1", "")));
        let tail = Ledger::read(&home, before).unwrap();
        assert!(!tail.holds(&one) && tail.holds(&two));
        assert_eq!((all.bytes(), tail.bytes()), (size(&home), size(&home)));
    }

    #[test]
    fn a_write_cut_short_loses_only_its_own_last_line() {
        let (_dir, home) = home();
        let (one, two, three) = (Mark::document("1"), Mark::document("2"), Mark::document("3"));
        append(&home, &[one, two]).unwrap();
        let whole = std::fs::read(home.forgotten()).unwrap();
        for len in 0..whole.len() {
            fs::replace(&home.forgotten(), whole.get(..len).unwrap(), fs::Sync::No).unwrap();
            append(&home, &[three]).unwrap();
            let ledger = Ledger::read(&home, 0).unwrap();
            assert!(ledger.holds(&three), "cut at {len}");
            assert_eq!(ledger.holds(&one), len >= 52, "cut at {len}");
        }
    }

    #[test]
    fn one_of_a_newer_format_is_refused_and_left_unchanged() {
        let (_dir, home) = home();
        let nuls = [&b"sinker-forgotten 1\n"[..], &[0; 99]].concat();
        for bytes in [
            &b"sinker-forgotten 2\n???\n"[..],
            b"something else\n",
            b"sinker-forgotten 1\nno entry\n",
            b"sinker-forgotten 1\n0123456789abcdef\n0123456789abcdef0123456789abcdef\n",
            &nuls,
        ] {
            fs::replace(&home.forgotten(), bytes, fs::Sync::No).unwrap();
            assert!(Ledger::read(&home, 0).is_err());
            assert!(append(&home, &[Mark::document("1")]).is_err());
            assert_eq!(std::fs::read(home.forgotten()).unwrap(), bytes);
        }
    }
}
