//! Reading the spool: claim by rename, oldest first, a bounded number at a time.

use super::{Command, Entry, EntryError, Odd, SpoolName, quarantine, safe_id};
use crate::clock::{self, Millis};
use crate::config::Home;
use crate::fs::{self, FsError};
use std::collections::{BinaryHeap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

/// The spool itself could not be read: permissions, or it is gone.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// A folder could not be listed.
    #[error("cannot list {}: {source}", path.display())]
    List {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file operation failed.
    #[error(transparent)]
    Fs(#[from] FsError),
    /// A folder of the spool lies on another file system than its neighbours: nothing can be renamed from one to the other.
    #[error("{} lies on another file system than the spool", .0.display())]
    Split(PathBuf),
}

/// An entry that is ours now: it lies in `cur/` until what it stands for is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claimed {
    /// An event.
    Event(PathBuf, Box<Entry>),
    /// A command.
    Command(PathBuf, Command),
}

impl Claimed {
    /// Where it lies.
    pub fn path(&self) -> &PathBuf {
        match self {
            Claimed::Event(path, _) | Claimed::Command(path, _) => path,
        }
    }
}

/// What one look at the spool gave.
#[derive(Debug, Default)]
pub struct Batch {
    /// Entries that are ours now, oldest first.
    pub claimed: Vec<Claimed>,
    /// Names of entries that a newer version wrote; they stay in `new/` and belong into the next `busy`.
    pub newer: Vec<String>,
    /// How many were set aside in `odd/`.
    pub odd: u64,
    /// Ids of commands among them: somebody waits for their answer.
    pub refused: Vec<String>,
    /// What first went wrong with a single entry; it stays where it was, and the others were claimed.
    pub fault: Option<FsError>,
}

/// An entry is a few hundred bytes; paths may be long, but not this long.
const MAX_ENTRY_BYTES: u64 = 256 * 1024;
/// A command may name as many paths as a command line holds.
const MAX_COMMAND_BYTES: u64 = 16 * 1024 * 1024;

/// A temporary file older than this belongs to a hook that is dead: hooks live half a second. Units: milliseconds.
const TMP_AGE_MS: i64 = 60_000;

/// Makes the four folders. Errors: those of `fs::make_private_dir`.
pub fn prepare(home: &Home) -> Result<(), FsError> {
    for dir in [home.spool_tmp(), home.spool_new(), home.spool_cur(), home.spool_odd()] {
        fs::make_private_dir(&dir)?;
    }
    Ok(())
}

/// Looks whether the four folders lie on one file system: an entry goes from one to the next by a rename, which is all or nothing only then.
///
/// Errors: [`SpoolError::Split`], and `List` when a folder cannot be looked at.
pub fn check_file_system(home: &Home) -> Result<(), SpoolError> {
    let place = |dir: PathBuf| match file_system(&dir) {
        Ok(place) => Ok((dir, place)),
        Err(source) => Err(SpoolError::List { path: dir, source }),
    };
    let (_, first) = place(home.spool_new())?;
    for dir in [home.spool_tmp(), home.spool_cur(), home.spool_odd()] {
        let (dir, other) = place(dir)?;
        if other != first {
            return Err(SpoolError::Split(dir));
        }
    }
    Ok(())
}

/// Device and, where the kernel tells, mount: a folder bound to another place of the same device refuses renames, too.
fn file_system(dir: &Path) -> std::io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let device = dir.metadata()?.dev();
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
        let mount = statx(CWD, dir, AtFlags::empty(), StatxFlags::MNT_ID).map_or(0, |found| found.stx_mnt_id);
        Ok((device, mount))
    }
    #[cfg(not(target_os = "linux"))]
    Ok((device, 0))
}

/// Names of `new/`, the oldest first, from one look at the folder: with a week of entries waiting, a look for each handful of them would
/// take the square of their number.
#[derive(Debug, Default)]
pub struct Backlog(VecDeque<String>);

impl Backlog {
    /// Nothing is known to wait.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// So many names are remembered from one look: some megabytes.
const BACKLOG: usize = 65_536;

/// Claims at most `limit` entries, the oldest first; what lies in `cur/` from a drainer that died comes before `new/`.
///
/// `busy` names the entries to leave where they are: those being worked on, and those found to be of a newer format. Junk goes to `odd/`.
/// `backlog` is kept from one call to the next. Memory: a few hundred bytes for each of `limit`, and a bounded backlog, whatever the
/// spool holds.
pub fn claim(
    home: &Home,
    limit: usize,
    busy: &HashSet<String>,
    backlog: &mut Backlog,
) -> Result<Batch, SpoolError> {
    let mut batch = Batch::default();
    for name in oldest(&home.spool_cur(), limit, busy)? {
        batch.take(home, &name);
    }
    if backlog.is_empty() {
        backlog.0 = oldest(&home.spool_new(), BACKLOG, busy)?.into();
    }
    let left = limit.saturating_sub(batch.claimed.len());
    for _ in 0..left {
        let Some(name) = backlog.0.pop_front() else { break };
        // 1. The drainer claims `new/a` to `cur/a` and reads the transcript. 2. The hook publishes `new/a` again (the
        // same event, delivered twice). 3. Claiming it now would replace `cur/a`, and the unlink after the commit
        // of the first would take the second with it. So a name that is busy waits in `new/`.
        if busy.contains(&name) {
            continue;
        }
        let (from, to) = (home.spool_new().join(&name), home.spool_cur().join(&name));
        match fs::rename(&from, &to) {
            Ok(()) => batch.take(home, &name),
            Err(error) if error.is_missing() => {}
            // It still waits, and must not keep those behind it waiting.
            Err(error) => drop(batch.fault.get_or_insert(error)),
        }
    }
    Ok(batch)
}

impl Batch {
    fn take(&mut self, home: &Home, name: &str) {
        if let Err(error) = read(home, name, self) {
            self.fault.get_or_insert(error);
        }
    }
}

/// Reads a file in `cur/` into the batch; junk is set aside.
fn read(home: &Home, name: &str, batch: &mut Batch) -> Result<(), FsError> {
    let path = home.spool_cur().join(name);
    let parsed_name = SpoolName::parse(name);
    let command = match &parsed_name {
        Some(SpoolName::Command { random, .. }) => Some(random.clone()),
        _ => None,
    };
    let limit = if command.is_some() { MAX_COMMAND_BYTES } else { MAX_ENTRY_BYTES };
    let read = match is_foreign(&path) {
        Ok(true) => Err("it belongs to another user".to_owned()),
        Ok(false) => fs::read_small(&path, limit).map_err(|error| error.source.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let bytes = match read {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(()),
        Err(why) => {
            batch.odd += 1;
            batch.refused.extend(command);
            return quarantine(home, &path, &Odd::new(why));
        }
    };
    let parsed = match parsed_name {
        None => Err(EntryError::Shape("its name is not that of an entry".to_owned())),
        Some(SpoolName::Command { .. }) => Command::parse(&bytes).map(|c| Claimed::Command(path.clone(), c)),
        Some(SpoolName::Event { .. }) => {
            Entry::parse(&bytes).map(|e| Claimed::Event(path.clone(), Box::new(e)))
        }
    };
    match parsed {
        Ok(claimed) => batch.claimed.push(claimed),
        // A newer Sinker wrote it and will read it: back to where it was.
        Err(EntryError::Newer(_)) => {
            fs::rename(&path, &home.spool_new().join(name))?;
            batch.newer.push(name.to_owned());
        }
        Err(error) => {
            batch.odd += 1;
            batch.refused.extend(command);
            quarantine(home, &path, &Odd::new(error.to_string()))?;
        }
    }
    Ok(())
}

/// It belongs to somebody else than the folder does: the folder is private, and what another user put there is not to be followed.
fn is_foreign(path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let owner = |path: &Path| path.symlink_metadata().map(|meta| meta.uid());
    let file = match owner(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    Ok(file != owner(path.parent().unwrap_or(path))?)
}

/// The names of the `limit` oldest files of a folder, oldest first; equal times by name.
fn oldest(dir: &Path, limit: usize, busy: &HashSet<String>) -> Result<Vec<String>, SpoolError> {
    let list = |source| SpoolError::List { path: dir.to_path_buf(), source };
    let mut heap: BinaryHeap<(Millis, String)> = BinaryHeap::new();
    if limit == 0 {
        return Ok(Vec::new());
    }
    for file in std::fs::read_dir(dir).map_err(list)? {
        let file = file.map_err(list)?;
        let name = file.file_name().to_string_lossy().into_owned();
        if busy.contains(&name) {
            continue;
        }
        // A file that vanished in the meantime is somebody else's business.
        let Ok(meta) = file.metadata() else { continue };
        let time = meta.modified().map(clock::from_system).unwrap_or_default();
        heap.push((time, name));
        if heap.len() > limit {
            heap.pop();
        }
    }
    Ok(heap.into_sorted_vec().into_iter().map(|(_, name)| name).collect())
}

/// Removes what dead processes left: everything in `tmp/`, and in `odd/` the neighbours of reports that were never finished. Returns
/// how many. Errors: a folder cannot be listed, or a file not removed.
pub fn sweep_tmp(home: &Home) -> Result<u64, FsError> {
    let pointers = fs::remove_leftovers(&home.spool_tmp(), TMP_AGE_MS, |_| true)?;
    Ok(pointers + fs::remove_leftovers(&home.spool_odd(), TMP_AGE_MS, fs::is_replacement)?)
}

/// How much waits where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files in `new/`.
    pub new: u64,
    /// Files in `cur/`.
    pub cur: u64,
    /// Things set aside in `odd/`: one for each `.why`.
    pub odd: u64,
    /// Age of the oldest file in `new/` and `cur/`, seconds.
    pub oldest_age_s: u64,
}

/// Counts the spool, reading names and times only; a missing folder counts nothing.
pub fn counts(home: &Home) -> Counts {
    let mut counts = Counts::default();
    let mut oldest: Option<Millis> = None;
    let mut count = |dir: PathBuf, timed: bool| {
        let mut n = 0;
        for file in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let why = file.path().extension().is_some_and(|e| e == "why");
            n += u64::from(timed || why);
            if timed && let Ok(time) = file.metadata().and_then(|m| m.modified()) {
                let time = clock::from_system(time);
                oldest = Some(oldest.map_or(time, |o| o.min(time)));
            }
        }
        n
    };
    counts.new = count(home.spool_new(), true);
    counts.cur = count(home.spool_cur(), true);
    counts.odd = count(home.spool_odd(), false);
    let age_ms = oldest.map_or(0, |o| clock::wall().0.saturating_sub(o.0));
    counts.oldest_age_s = u64::try_from(age_ms / 1000).unwrap_or(0);
    counts
}

/// True when an entry of the session waits in `new/` or `cur/`.
pub fn waits(home: &Home, session: &str) -> bool {
    let head = format!("{}.", safe_id(session));
    let dirs = [home.spool_new(), home.spool_cur()];
    let mut files = dirs.iter().flat_map(|dir| std::fs::read_dir(dir).into_iter().flatten().flatten());
    files.any(|file| file.file_name().to_string_lossy().starts_with(&head))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::Sync;

    fn spool(files: &[(&str, &str)]) -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        prepare(&home).unwrap();
        for (name, text) in files {
            fs::replace(&home.spool_new().join(name), text.as_bytes(), Sync::No).unwrap();
        }
        (dir, home)
    }

    fn claimed(home: &Home, limit: usize, busy: &HashSet<String>) -> Batch {
        claim(home, limit, busy, &mut Backlog::default()).unwrap()
    }

    const GOOD: &str =
        r#"{"v":1,"host":"claude","event":"stop","session":"s","transcript":"/t","cursor":1,"time":""}"#;
    const NAME: &str = "s.0000000000000001.stop.json";

    #[test]
    fn f19_junk_is_set_aside_with_its_reason_and_harms_no_neighbour() {
        let newer = r#"{"v":9,"x":[]}"#;
        let (_dir, home) = spool(&[
            (NAME, GOOD),
            (".x.swp", ""),
            ("t.0000000000000001.stop.json", "{\"v\":1"),
            ("u.0000000000000001.stop.json", newer),
        ]);
        let batch = claimed(&home, 100, &HashSet::new());
        assert_eq!(batch.claimed.len(), 1);
        assert_eq!(batch.newer, ["u.0000000000000001.stop.json"]);
        assert_eq!((batch.odd, counts(&home).odd), (2, 2));
        assert_eq!(
            std::fs::read_to_string(home.spool_new().join("u.0000000000000001.stop.json")).unwrap(),
            newer
        );
        let busy = batch.newer.into_iter().chain([NAME.to_owned()]).collect();
        assert!(claimed(&home, 100, &busy).claimed.is_empty());
    }

    #[test]
    fn f24_a_backlog_is_claimed_oldest_first_from_one_look_and_what_comes_meanwhile_waits_its_turn() {
        let (_dir, home) = spool(&[]);
        let name = |n: u32| format!("s.{:016x}.stop.json", 100 - n);
        let put = |n: u32| {
            let path = home.spool_new().join(name(n));
            fs::replace(&path, GOOD.as_bytes(), Sync::No).unwrap();
            let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(n.into());
            fs::append_to(&path).unwrap().set_modified(time).unwrap();
        };
        (0..5).for_each(put);
        let mut backlog = Backlog::default();
        let mut got = Vec::new();
        for later in 5..8 {
            let batch = claim(&home, 2, &got.iter().cloned().collect(), &mut backlog).unwrap();
            let names =
                batch.claimed.iter().map(|c| c.path().file_name().unwrap().to_str().unwrap().to_owned());
            got.extend(names);
            put(later);
        }
        assert!(backlog.is_empty());
        got.extend(
            claim(&home, 9, &got.iter().cloned().collect(), &mut backlog)
                .unwrap()
                .claimed
                .iter()
                .map(|c| c.path().file_name().unwrap().to_str().unwrap().to_owned()),
        );
        assert_eq!(got, (0..8).map(name).collect::<Vec<_>>());
    }

    #[test]
    fn f18_the_second_delivery_of_a_busy_entry_waits_in_new() {
        let (_dir, home) = spool(&[(NAME, GOOD)]);
        let first = claimed(&home, 1, &HashSet::new());
        fs::replace(&home.spool_new().join(NAME), GOOD.as_bytes(), Sync::No).unwrap();
        let busy = HashSet::from([NAME.to_owned()]);
        assert!(claimed(&home, 9, &busy).claimed.is_empty());
        fs::remove(first.claimed[0].path()).unwrap();
        assert_eq!(claimed(&home, 9, &HashSet::new()).claimed.len(), 1);
    }

    #[test]
    fn f17_a_claimed_entry_of_a_dead_drainer_comes_first() {
        let (_dir, home) = spool(&[(NAME, GOOD)]);
        assert_eq!(claimed(&home, 1, &HashSet::new()).claimed.len(), 1);
        assert_eq!(claimed(&home, 1, &HashSet::new()).claimed.len(), 1, "retried from cur");
    }
}
