//! Transcripts over which a drainer died, so that one of them cannot end every drainer that follows.
//!
//! A panic is caught where it happens. What ends the whole process (an abort, a stack that overflows, the kernel short of memory), and
//! what never comes back and had to be ended, is known only to the next drainer: the reader names the file it is about to read in
//! `state/reading`, a slot written in place. It is never synced, since the death of a process loses nothing of the kernel's cache, so a
//! file costs two short writes and no wait. A drainer that starts and finds a name there knows what the last one died over.
//!
//! | deaths in a row at the same place | what is done with the file |
//! |---|---|
//! | 0 | it is read |
//! | 1 | it is read behind all others |
//! | 2 and more | another process reads it first, see [`super::apart`]; if that one dies, too, the file is set aside |
//!
//! A death may have other causes (somebody ended the drainer, the machine went down), so deaths alone never condemn a file. One that is
//! set aside is tried again after a day, by another version, or when a person imports it: apart, where it can do no harm.

use crate::clock;
use crate::config::Home;
use crate::fs::{self, Sync};
use crate::{id, log};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// What is to be done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Caution {
    /// Read it.
    #[default]
    Plain,
    /// Read it when nothing else waits.
    Last,
    /// Let another process read it first.
    Apart,
    /// It is set aside.
    Refused,
}

/// Why a file that was set aside is not read.
pub(super) const REFUSED: &str = "reading it ended the process again and again";

/// After so many deaths in a row the next try is made apart: the third.
const DEATHS: u32 = 2;
/// What was set aside is tried again after this. Units: milliseconds.
const AGAIN_MS: i64 = 24 * 60 * 60 * 1000;
/// More files than this are not kept in mind.
const MOST: usize = 1_000;
const FORMAT: u32 = 1;
/// A longer file is none of ours.
const MAX_BYTES: u64 = 1024 * 1024;

/// `state/suspects`: hashes and numbers only.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Page {
    v: u32,
    files: BTreeMap<String, Suspect>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Suspect {
    /// Where the reading began, bytes.
    offset: u64,
    /// Deaths in a row that found it begun there.
    deaths: u32,
    /// When it was set aside, milliseconds, and by which version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    aside: Option<(i64, String)>,
}

/// The files that are suspected, and the slot.
#[derive(Debug)]
pub(super) struct Suspects {
    home: Home,
    slot: Option<File>,
    files: BTreeMap<String, Suspect>,
    /// A newer version's page is left as it is.
    keeps: bool,
}

impl Suspects {
    /// Takes note of what the last drainer died over. A fault is logged: without the page a drainer works as before.
    pub(super) fn open(home: &Home) -> Self {
        let slot = fs::open_in_place(&home.reading())
            .map_err(|error| log::warn("drain", &[("error", &error)], "The file in work cannot be noted."))
            .ok();
        let mut suspects = Self { home: home.clone(), slot, files: BTreeMap::new(), keeps: true };
        if let Ok(Some(bytes)) = fs::read_small(&home.suspects(), MAX_BYTES) {
            match serde_json::from_slice::<Page>(&bytes) {
                Ok(page) if page.v <= FORMAT => suspects.files = page.files,
                Ok(_) => suspects.keeps = false,
                Err(_) => {}
            }
        }
        if let Some((hash, offset)) = suspects.begun() {
            suspects.died(hash, offset);
            suspects.end();
        }
        suspects
    }

    /// The file that the last drainer had begun to read and did not end.
    fn begun(&self) -> Option<(String, u64)> {
        let mut bytes = [0; SLOT_BYTES];
        self.slot.as_ref()?.read_exact_at(&mut bytes, 0).ok()?;
        let text = std::str::from_utf8(&bytes).ok()?;
        let (hash, offset) = text.trim_end().split_once(' ')?;
        (hash.len() == HASH_LEN).then_some(())?;
        Some((hash.to_owned(), u64::from_str_radix(offset, 16).ok()?))
    }

    fn died(&mut self, hash: String, offset: u64) {
        if self.files.len() >= MOST && !self.files.contains_key(&hash) {
            return;
        }
        let suspect = self.files.entry(hash).or_default();
        // It came further than the last time: whatever ended that drainer, it was another thing.
        let again = suspect.deaths > 0 && suspect.offset == offset;
        suspect.deaths = if again { suspect.deaths + 1 } else { 1 };
        suspect.offset = offset;
        log::warn(
            "drain",
            &[("deaths", &suspect.deaths)],
            "The last drainer ended while it read a transcript; that one is read last.",
        );
        self.keep();
    }

    /// Notes in the slot that the reading of a file begins. Faults are passed over: it is a note.
    pub(super) fn begin(&self, path: &Path, offset: u64) {
        let Some(slot) = &self.slot else { return };
        let line = format!("{} {offset:016x}\n", hash(path));
        drop(slot.write_all_at(line.as_bytes(), 0));
    }

    /// Notes that it has ended, whatever came of it.
    pub(super) fn end(&self) {
        let Some(slot) = &self.slot else { return };
        drop(slot.write_all_at(&[b'-'; SLOT_BYTES], 0));
    }

    /// What is to be done with a file; `named` by a person, it is tried whatever was before.
    pub(super) fn caution(&self, path: &Path, named: bool) -> Caution {
        if self.files.is_empty() {
            return Caution::Plain;
        }
        match self.files.get(&hash(path)) {
            None => Caution::Plain,
            Some(Suspect { aside: Some((ms, version)), .. }) => {
                let age_ms = clock::now().0.saturating_sub(*ms);
                // A clock that was set back must not keep it aside for ever.
                let fresh = (-AGAIN_MS..AGAIN_MS).contains(&age_ms) && version == env!("CARGO_PKG_VERSION");
                if fresh && !named { Caution::Refused } else { Caution::Apart }
            }
            Some(suspect) if suspect.deaths >= DEATHS => Caution::Apart,
            Some(_) => Caution::Last,
        }
    }

    /// It was read to its end: nothing is held against it.
    pub(super) fn acquit(&mut self, path: &Path) {
        if !self.files.is_empty() && self.files.remove(&hash(path)).is_some() {
            self.keep();
        }
    }

    /// It is set aside.
    pub(super) fn convict(&mut self, path: &Path) {
        let suspect = self.files.entry(hash(path)).or_default();
        suspect.aside = Some((clock::now().0, env!("CARGO_PKG_VERSION").to_owned()));
        self.keep();
    }

    fn keep(&self) {
        if !self.keeps {
            return;
        }
        let path = self.home.suspects();
        let done = if self.files.is_empty() {
            fs::remove(&path)
        } else {
            let page = Page { v: FORMAT, files: self.files.clone() };
            fs::replace(&path, &serde_json::to_vec(&page).unwrap_or_default(), Sync::No)
        };
        if let Err(error) = done {
            log::warn("drain", &[("error", &error)], "What is known of fatal transcripts could not be kept.");
        }
    }
}

const HASH_LEN: usize = 32;
/// Hash, space, 16 hex digits, newline.
const SLOT_BYTES: usize = HASH_LEN + 18;

fn hash(path: &Path) -> String {
    id::short(&id::sha256(path.as_os_str().as_bytes()), HASH_LEN).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        fs::make_private_dir(&home.state()).unwrap();
        (dir, home)
    }

    /// A drainer that dies over `path` at `offset`.
    fn dies(home: &Home, path: &str, offset: u64) {
        Suspects::open(home).begin(Path::new(path), offset);
    }

    fn caution(home: &Home, path: &str) -> Caution {
        Suspects::open(home).caution(Path::new(path), false)
    }

    #[test]
    fn f25_deaths_in_a_row_lead_to_a_try_apart_and_never_further() {
        let (_dir, home) = world();
        let expected = [Caution::Plain, Caution::Last, Caution::Apart, Caution::Apart, Caution::Apart];
        for expected_now in expected {
            assert_eq!(caution(&home, "/a"), expected_now);
            assert_eq!(caution(&home, "/b"), Caution::Plain);
            dies(&home, "/a", 7);
        }
    }

    #[test]
    fn f25_progress_an_orderly_end_and_a_good_end_clear_a_file() {
        let (_dir, home) = world();
        dies(&home, "/a", 0);
        dies(&home, "/a", 4096);
        assert_eq!(caution(&home, "/a"), Caution::Last, "it came further in between");
        dies(&home, "/a", 4096);
        assert_eq!(caution(&home, "/a"), Caution::Apart);
        let mut later = Suspects::open(&home);
        later.begin(Path::new("/b"), 0);
        later.end();
        later.acquit(Path::new("/a"));
        assert_eq!((caution(&home, "/a"), caution(&home, "/b")), (Caution::Plain, Caution::Plain));
        assert!(!home.suspects().exists());
    }

    #[test]
    fn f25_what_was_set_aside_stays_there_unless_a_person_names_it() {
        let (_dir, home) = world();
        Suspects::open(&home).convict(Path::new("/a"));
        let later = Suspects::open(&home);
        assert_eq!(later.caution(Path::new("/a"), false), Caution::Refused);
        assert_eq!(later.caution(Path::new("/a"), true), Caution::Apart);
        let text = std::fs::read_to_string(home.suspects()).unwrap();
        let other = text.replace(env!("CARGO_PKG_VERSION"), "0.0.0");
        fs::replace(&home.suspects(), other.as_bytes(), Sync::No).unwrap();
        assert_eq!(caution(&home, "/a"), Caution::Apart, "another version tries again");
    }

    #[test]
    fn f25_a_newer_page_is_left_as_it_is() {
        let (_dir, home) = world();
        let newer = r#"{"v":9,"files":{}}"#;
        fs::replace(&home.suspects(), newer.as_bytes(), Sync::No).unwrap();
        dies(&home, "/a", 0);
        assert_eq!(caution(&home, "/a"), Caution::Last, "this drainer knows, and tells nobody");
        assert_eq!(std::fs::read_to_string(home.suspects()).unwrap(), newer);
    }
}
