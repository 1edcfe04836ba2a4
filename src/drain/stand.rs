//! What a drainer stands on, looked at every few seconds: store and index as somebody may have found them damaged, and its own binary.

use crate::config::{Home, version};
use crate::store::Check;
use crate::{fs, index, log};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

/// Units: milliseconds.
const EVERY_MS: i64 = 2_000;

/// The first look and what came of it.
pub(super) struct Stand {
    home: Home,
    looked_ms: i64,
    exe: Option<(PathBuf, Binary)>,
    deep: Option<Deep>,
    checking: bool,
}

/// A file as `stat` tells it from another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Binary {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

/// The close look after a drainer that did not end in order.
struct Deep {
    thread: JoinHandle<Option<String>>,
    interrupt: Box<dyn Fn() + Send>,
}

impl Stand {
    /// Takes the first look. After an end out of order, every page of the store and the sums of the index are read beside the work.
    pub(super) fn take(home: &Home, unclean: bool) -> Self {
        let exe = std::env::current_exe().ok().and_then(|path| Some((path.clone(), binary(&path)?)));
        let deep = if unclean { Deep::begin(home) } else { None };
        Self { home: home.clone(), looked_ms: 0, exe, deep, checking: false }
    }

    /// True when it is time for a look again.
    pub(super) fn is_due(&mut self, now_ms: i64) -> bool {
        let due = now_ms - self.looked_ms >= EVERY_MS;
        if due {
            self.looked_ms = now_ms;
        }
        due
    }

    /// Damage of the store that somebody met or the close look found.
    pub(super) fn damage(&mut self) -> Option<String> {
        if self.home.suspect_store().exists() {
            return Some("damage was met".to_owned());
        }
        let deep = self.deep.take_if(|deep| deep.thread.is_finished())?;
        deep.thread.join().ok().flatten()
    }

    /// Damage of the index that somebody met; told once until the note is gone.
    pub(super) fn is_index_suspect(&mut self) -> bool {
        let noted = self.home.suspect_index().exists();
        let fresh = noted && !self.checking;
        self.checking = noted;
        fresh
    }

    /// Another binary lies where ours was: an upgrade, or a downgrade. One that is gone may be about to come. Or a hook of a newer version,
    /// installed in another place, has asked for ours.
    pub(super) fn is_replaced(&mut self) -> bool {
        let Some((path, ours)) = &self.exe else { return false };
        let replaced = binary(path).is_some_and(|now| now != *ours) || self.has_successor();
        if replaced {
            log::info(
                "drain",
                &[],
                "Another version was installed; this one leaves, the next hook starts that one.",
            );
            self.exe = None;
        }
        replaced
    }
}

impl Stand {
    fn has_successor(&self) -> bool {
        let asked = fs::read_small(&self.home.successor(), 256).ok().flatten();
        asked.is_some_and(|by| version::is_newer(String::from_utf8_lossy(&by).trim(), &version::own()))
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        if let Some(deep) = self.deep.take() {
            while !deep.thread.is_finished() {
                (deep.interrupt)();
                std::thread::park_timeout(Duration::from_millis(1));
            }
        }
    }
}

impl Deep {
    fn begin(home: &Home) -> Option<Self> {
        let check = Check::of(home).ok()?;
        let handle = check.interrupt();
        let home = home.clone();
        let work = move || {
            let found = match check.run() {
                Ok(found) => found,
                Err(error) => {
                    log::info("drain", &[("error", &error)], "The check after an unclean end was cut short.");
                    return None;
                }
            };
            if index::damaged_files(&home).is_ok_and(|files| !files.is_empty()) {
                super::publish::suspect(&home.suspect_index());
            }
            found
        };
        let thread = std::thread::Builder::new().name("check".to_owned()).spawn(work).ok()?;
        Some(Self { thread, interrupt: Box::new(move || handle.interrupt()) })
    }
}

fn binary(path: &std::path::Path) -> Option<Binary> {
    let meta = path.metadata().ok()?;
    Some(Binary {
        device: meta.dev(),
        inode: meta.ino(),
        size: meta.size(),
        modified: (meta.mtime(), meta.mtime_nsec()),
    })
}
