//! The lock that makes one drainer a store (D7): an OS file lock, freed by the death of its holder, whatever the cause.

use super::DrainError;
use crate::config::Home;
use crate::{clock, fs};
use std::fs::{File, TryLockError};
use std::io::{Seek, Write};
use std::path::Path;
use std::time::Duration;

/// Held as long as it lives.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, or says who has it. The note in the file is for people: liveness is the lock itself.
    pub fn take(home: &Home) -> Result<Self, DrainError> {
        fs::make_private_dir(home.root())?;
        let path = home.lock();
        let mut file = fs::open_in_place(&path)?;
        // Who only asks whether it is held holds it for an instant: that must not turn a drainer away.
        let (_keep, never) = crossbeam_channel::bounded::<()>(1);
        for tries in 0.. {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if tries < 5 => {
                    never.recv_timeout(Duration::from_millis(10)).ok();
                }
                Err(TryLockError::WouldBlock) => return Err(DrainError::Locked(holder(home))),
                Err(TryLockError::Error(error)) => {
                    return Err(DrainError::Start(format!("cannot lock: {error}")));
                }
            }
        }
        if works(&path) == Some(false) {
            return Err(DrainError::NoLocks(path));
        }
        let note = format!("pid {}, since {}\n", std::process::id(), clock::format(clock::now()));
        let written =
            file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(note.as_bytes()));
        // Without the note the lock holds all the same: a full disk must not stop a drainer from trying.
        drop(written);
        Ok(Self { _file: file })
    }
}

/// Tells if a second taker is turned away, as long as we hold the lock; `None` when that cannot be tried. Some network file systems
/// grant every lock, and two drainers at once would damage the store.
fn works(path: &Path) -> Option<bool> {
    if fs::grants_every_lock() {
        return Some(false);
    }
    let second = File::open(path).ok()?;
    Some(matches!(second.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// True when some process holds the lock.
pub fn is_held(home: &Home) -> bool {
    match File::open(home.lock()) {
        Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

/// Who holds the lock, as far as it said.
pub(super) fn holder(home: &Home) -> Option<String> {
    let bytes = fs::read_small(&home.lock(), 1024).ok()??;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_one_is_told_who_holds_it_and_a_death_frees_it() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        assert!(!is_held(&home));
        let first = Lock::take(&home).unwrap();
        let Err(DrainError::Locked(Some(who))) = Lock::take(&home) else { panic!("taken twice") };
        assert!(who.starts_with("pid "), "{who}");
        assert!(is_held(&home));
        drop(first);
        Lock::take(&home).unwrap();
    }
}
