//! Telling a damaged store from a sound one, and moving it aside.
//!
//! | when | what is looked at | what it costs |
//! |---|---|---|
//! | every open | the header and the length of the file | one read |
//! | the last drainer did not end in order | [`check`] beside the work, in a thread of its own | a read of the whole file |
//! | somebody met damage, or the store is older than what was published | [`check`] before the work | the same |
//!
//! SQLite keeps no checksum of a page: a byte that flips inside a text is met only when that text is unpacked, which says so too.

use super::known::is_path;
use super::migrate::VERSION;
use super::{Reader, StoreError};
use crate::config::Home;
use crate::fs;
use rusqlite::{Connection, InterruptHandle, OpenFlags};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HEADER_BYTES: usize = 100;

/// What the first bytes of the store tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// There is no file.
    Absent,
    /// An empty one: just made, or all that is left.
    Empty,
    /// Nothing wrong so far. The format's version, as far as it stands in the file itself.
    Plausible {
        /// `PRAGMA user_version`; an older one when a newer stands in the log beside it.
        version: i64,
    },
    /// No store, or not all of one.
    Damaged(String),
}

/// Looks at header and length: cheap, and changes nothing. Errors: the file cannot be read.
pub fn look(home: &Home) -> Result<Look, StoreError> {
    let path = home.store();
    let file = match std::fs::File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Look::Absent),
        file => file?,
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Ok(Look::Damaged("it is not a file".to_owned()));
    }
    if meta.len() == 0 {
        return Ok(Look::Empty);
    }
    let mut head = [0; HEADER_BYTES];
    if file.read_exact_at(&mut head, 0).is_err() || !head.starts_with(MAGIC) {
        return Ok(Look::Damaged("it is not a database".to_owned()));
    }
    let word =
        |at: usize| head.get(at..at + 4).map_or(0, |b| b.iter().fold(0, |n, b| n << 8 | u64::from(*b)));
    let page = match word(16) >> 16 {
        1 => 65_536,
        bytes => bytes,
    };
    if !(512..=65_536).contains(&page) || !page.is_power_of_two() {
        return Ok(Look::Damaged(format!("its pages have {page} bytes")));
    }
    // The count of pages holds where the same change wrote it and the change counter. Pages may still lie in the log.
    let counted = word(24) == word(92);
    if counted && word(28) * page > meta.len() && log_bytes(home) == 0 {
        return Ok(Look::Damaged(format!("it has {} bytes of {}", meta.len(), word(28) * page)));
    }
    let version = i64::try_from(word(60)).unwrap_or(0);
    Ok(Look::Plausible { version })
}

/// Refuses a store of a newer format before anything is opened: SQLite makes files even for a reader (D11).
///
/// Errors: [`StoreError::Newer`].
pub fn refuse_newer(home: &Home) -> Result<(), StoreError> {
    match look(home) {
        Ok(Look::Plausible { version }) if version > VERSION => {
            Err(StoreError::Newer { path: home.store(), found: version, known: VERSION })
        }
        _ => Ok(()),
    }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn log_bytes(home: &Home) -> u64 {
    beside(&home.store(), "-wal").symlink_metadata().map_or(0, |m| m.len())
}

/// True when the last process that wrote did not end in order: its log is still there.
pub fn is_unclean(home: &Home) -> bool {
    log_bytes(home) > 0
}

/// A check that is under way in another thread can be cut short.
pub struct Check {
    connection: Connection,
}

impl Check {
    /// Prepares a check. Errors: SQLite's.
    pub fn of(home: &Home) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Ok(Self { connection: Connection::open_with_flags(home.store(), flags)? })
    }

    /// Cuts it short: [`Check::run`] then ends with an error that is no damage.
    pub fn interrupt(&self) -> InterruptHandle {
        self.connection.get_interrupt_handle()
    }

    /// Reads every page. `None`: sound; else what is wrong. Errors: it could not be finished.
    pub fn run(&self) -> Result<Option<String>, StoreError> {
        // With the indexes against their tables: a row that no index names is lost to us.
        let found = self.connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0));
        match found.map_err(StoreError::from) {
            Ok(word) if word == "ok" => Ok(None),
            Ok(word) => Ok(Some(word)),
            Err(error) if error.is_damage() => Ok(Some(error.to_string())),
            Err(error) => Err(error),
        }
    }
}

/// Reads the whole store. `None`: sound; else what is wrong. Errors: it could not be read to its end.
pub fn check(home: &Home) -> Result<Option<String>, StoreError> {
    match Check::of(home).and_then(|check| check.run()) {
        Err(error) if error.is_damage() => Ok(Some(error.to_string())),
        done => done,
    }
}

/// Moves the store with its log to `store.db.<name>`, the log first: who dies half way finds the store still there and goes on.
///
/// Errors: a rename failed. What has moved already is left where it is.
pub fn set_aside(home: &Home, name: &str) -> Result<PathBuf, StoreError> {
    let from = home.store();
    let to = beside(&from, &format!(".{name}"));
    if to.symlink_metadata().is_ok() {
        return Ok(to);
    }
    for end in ["-wal", "-shm", ""] {
        // 1. The log is moved. 2. The process dies. 3. A reader opens what is left and makes an empty log. That one is not the store's.
        if !end.is_empty() && beside(&to, end).symlink_metadata().is_ok() {
            fs::remove(&beside(&from, end))?;
            continue;
        }
        match fs::rename(&beside(&from, end), &beside(&to, end)) {
            Err(error) if error.is_missing() => {}
            done => done?,
        }
    }
    fs::sync_dir(home.root())?;
    Ok(to)
}

impl Reader {
    /// Opens a store that was moved aside. Errors: [`StoreError`]; much of it may be unreadable.
    pub fn open_aside(path: &Path) -> Result<Self, StoreError> {
        Self::open_file(path.to_path_buf())
    }

    /// Paths of all files ever read, gone or not, as far as they can be read.
    pub fn known_paths(&self) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        let Ok(mut query) = self.connection.prepare("SELECT path FROM files ORDER BY n") else {
            return paths;
        };
        let Ok(mut rows) = query.query([]) else { return paths };
        while let Ok(Some(row)) = rows.next() {
            paths.extend(row.get::<_, String>(0).ok().filter(|name| is_path(name)).map(PathBuf::from));
        }
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    fn store() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        drop(Store::open(&home).unwrap());
        (dir, home)
    }

    #[test]
    fn a_look_tells_a_store_from_what_is_none() {
        let (_dir, home) = store();
        assert_eq!(look(&home).unwrap(), Look::Plausible { version: VERSION });
        assert_eq!(check(&home).unwrap(), None);
        let whole = std::fs::read(home.store()).unwrap();
        let put = |bytes: &[u8]| fs::replace(&home.store(), bytes, fs::Sync::No).unwrap();
        put(whole.get(..whole.len() - 4096).unwrap());
        assert!(matches!(look(&home).unwrap(), Look::Damaged(why) if why.contains("bytes of")));
        put(b"");
        assert_eq!(look(&home).unwrap(), Look::Empty);
        put(b"SQLite");
        assert!(matches!(look(&home).unwrap(), Look::Damaged(_)));
        put(&vec![b'x'; 9000]);
        assert!(matches!(look(&home).unwrap(), Look::Damaged(_)));
        fs::remove(&home.store()).unwrap();
        assert_eq!(look(&home).unwrap(), Look::Absent);
    }

    #[test]
    fn a_check_finds_a_page_of_noise() {
        let (_dir, home) = store();
        let mut bytes = std::fs::read(home.store()).unwrap();
        for byte in bytes.iter_mut().skip(2 * 4096).take(4096) {
            *byte ^= 0x5a;
        }
        fs::replace(&home.store(), &bytes, fs::Sync::No).unwrap();
        assert!(matches!(look(&home).unwrap(), Look::Plausible { .. }), "the header is sound");
        assert!(check(&home).unwrap().is_some());
    }

    #[test]
    fn a_move_that_was_cut_short_is_finished() {
        let (_dir, home) = store();
        fs::rename(&home.store(), &beside(&home.store(), "-wal")).unwrap();
        fs::replace(&home.store(), b"db", fs::Sync::No).unwrap();
        fs::rename(&beside(&home.store(), "-wal"), &beside(&home.store(), ".damaged-x-wal")).unwrap();
        let aside = set_aside(&home, "damaged-x").unwrap();
        assert_eq!(std::fs::read(&aside).unwrap(), b"db");
        assert!(beside(&aside, "-wal").exists() && !home.store().exists());
        // Again, with a new store in its place: that one stays.
        fs::replace(&home.store(), b"new", fs::Sync::No).unwrap();
        assert_eq!(set_aside(&home, "damaged-x").unwrap(), aside);
        assert_eq!(std::fs::read(home.store()).unwrap(), b"new");
    }
}
