//! A damaged store is moved aside and rebuilt: from what can still be read of it, and from the transcripts that are still there.
//!
//! ```text
//! damage seen ─▶ state/repair "moving" ─▶ store.db → store.db.damaged-<time> ─▶ "rebuilding" ─▶ new store.db
//!                                                                                  │ salvage, sweep of all roots
//!                              spool/odd/store.damaged-<time>.why: the loss in numbers ◀─┘ then state/repair goes
//! ```
//!
//! Killed anywhere on the way, the next drainer goes on from `state/repair`. The old file is never removed: that is the person's to do.

use super::DrainError;
use super::figures::{FORMAT, StatusFile};
use super::progress::Progress;
use crate::config::Home;
use crate::fs::{self, Sync};
use crate::spool::{self, Odd};
use crate::store::{self, Look, Reader, Salvage, Store, StoreError};
use crate::{clock, index, log};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Chunks of the old store that go into one transaction.
const CHUNKS: usize = 10;

/// The content of `state/repair`: names of ours and numbers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Repair {
    /// Format version.
    v: u32,
    /// What is wrong with the old store.
    why: String,
    /// The stores that were moved aside, the newest last: `damaged-<time>`.
    aside: Vec<String>,
    /// The newest of them is still being moved.
    moving: bool,
    /// What the old store held, as far as it could tell.
    documents: u64,
    observations: u64,
    /// Rows of it that could not be read.
    unreadable: u64,
    /// All that could be read of it is in the new one.
    salvaged: bool,
}

/// Opens the store, or what takes its place. Errors: [`DrainError`]; a newer format is never taken for damage.
pub(super) fn open(home: &Home) -> Result<(Store, Option<Repair>), DrainError> {
    let mut repair = Repair::read(home);
    if let Some(pending) = &mut repair
        && pending.moving
    {
        pending.move_aside(home)?;
    } else if let Some(why) = damage(home, repair.is_some())? {
        repair = Some(Repair::begin(home, repair, why)?);
    }
    if home.suspect_store().exists() {
        fs::remove(&home.suspect_store())?;
    }
    let store = match Store::open(home) {
        Err(error) if error.is_damage() => {
            repair = Some(Repair::begin(home, repair, error.to_string())?);
            Store::open(home)?
        }
        store => store?,
    };
    let shown = published(home);
    if repair.is_none() && shown > u64::try_from(store.seq()).unwrap_or(0) {
        // Its log is gone, or it is a backup. Without its log a store may be half of one state and half of another.
        if let Some(why) = store::check(home)? {
            drop(store);
            let repair = Repair::begin(home, None, why)?;
            return Ok((Store::open(home)?, Some(repair)));
        }
        log::warn(
            "drain",
            &[("store", &store.seq()), ("published", &shown)],
            "The store is older than what was published (a backup, or its log is gone); transcripts are read again from its cursors.",
        );
    }
    Ok((store, repair))
}

/// What can be told before the store is opened: its header, and the note of whoever met damage.
fn damage(home: &Home, repairing: bool) -> Result<Option<String>, DrainError> {
    // A repair that was cut short may not have made the new store yet.
    let was = || !repairing && published(home) > 0;
    Ok(match store::look(home)? {
        Look::Damaged(why) => Some(why),
        Look::Absent if was() => Some("it is gone".to_owned()),
        Look::Empty if was() => Some("it is empty".to_owned()),
        Look::Absent | Look::Empty => None,
        Look::Plausible { .. } if home.suspect_store().exists() => {
            let found = store::check(home)?;
            if found.is_none() {
                log::warn("drain", &[], "Damage of the store was reported, and is not there any more.");
            }
            found
        }
        Look::Plausible { .. } => None,
    })
}

/// The newest change that anything of ours has shown: it was committed, so the store must have it.
fn published(home: &Home) -> u64 {
    let status = StatusFile::read(home).map_or(0, |s| s.seq.max(s.index_seq));
    status.max(index::published_seq(home))
}

impl Repair {
    fn read(home: &Home) -> Option<Self> {
        let bytes = fs::read_small(&home.repair(), 64 * 1024).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    fn write(&self, home: &Home) -> Result<(), DrainError> {
        Ok(fs::replace(&home.repair(), &serde_json::to_vec(self).unwrap_or_default(), Sync::Yes)?)
    }

    /// Moves the store aside. `before`: a repair that was not finished when its new store was damaged as well.
    fn begin(home: &Home, before: Option<Self>, why: String) -> Result<Self, DrainError> {
        let mut repair = Self { v: FORMAT, ..before.unwrap_or_default() };
        let figures = Reader::open_aside(&home.store()).and_then(|store| store.figures());
        let (documents, observations) = match figures {
            Ok(figures) => (figures.documents, figures.observations),
            Err(_) => StatusFile::read(home).map_or((0, 0), |s| (s.documents, s.observations)),
        };
        repair.documents = repair.documents.max(documents);
        repair.observations = repair.observations.max(observations);
        repair.salvaged = false;
        repair.why = why;
        let stamp = clock::format(clock::now()).replace([':', '.'], "");
        repair.aside.push(format!("damaged-{stamp}"));
        repair.moving = home.store().symlink_metadata().is_ok();
        log::error(
            "drain",
            &[("why", &repair.why), ("documents", &repair.documents)],
            "The store is damaged; it is moved aside and rebuilt.",
        );
        repair.write(home)?;
        if repair.moving {
            repair.move_aside(home)?;
        }
        Ok(repair)
    }

    fn move_aside(&mut self, home: &Home) -> Result<(), DrainError> {
        if let Some(name) = self.aside.last() {
            store::set_aside(home, name)?;
        }
        self.moving = false;
        self.write(home)
    }

    fn places(&self, home: &Home) -> Vec<PathBuf> {
        let store = home.store();
        self.aside
            .iter()
            .map(|name| store.with_extension(format!("db.{name}")))
            .filter(|p| p.exists())
            .collect()
    }

    /// Carries what can still be read of the old stores into the new one. Returns false when it was halted before the end.
    ///
    /// Errors: those of the new store; what is carried over by then holds.
    pub(super) fn read_out(
        &mut self,
        home: &Home,
        store: &mut Store,
        progress: &Progress,
        halt: &AtomicBool,
    ) -> Result<bool, StoreError> {
        let mut unreadable = 0;
        for mut salvage in self.salvage(home) {
            let mut more = true;
            while more {
                if halt.load(Ordering::Relaxed) {
                    return Ok(false);
                }
                let mut write = store.begin()?;
                for _ in 0..CHUNKS {
                    more = more
                        && salvage.some(&mut write, &mut |text, take| {
                            index::tokens::terms(text).for_each(take);
                        })?;
                }
                write.commit()?;
                progress.moved();
            }
            unreadable += salvage.unreadable;
        }
        if !self.salvaged {
            (self.unreadable, self.salvaged) = (unreadable, true);
            if let Err(error) = self.write(home) {
                log::warn("drain", &[("error", &error)], "The repair will read the damaged store once more.");
            }
        }
        Ok(true)
    }

    fn salvage(&self, home: &Home) -> Vec<Salvage> {
        if self.salvaged {
            return Vec::new();
        }
        let mut found = Vec::new();
        for place in self.places(home) {
            match Salvage::open(&place) {
                Ok(salvage) => found.push(salvage),
                Err(error) => {
                    log::error("drain", &[("error", &error)], "Nothing can be read of the damaged store.")
                }
            }
        }
        found
    }

    /// What `status` says as long as it lasts.
    pub(super) fn notice(&self, home: &Home) -> String {
        format!("the store was damaged ({}) and is being rebuilt{}", self.why, self.kept(home))
    }

    fn kept(&self, home: &Home) -> String {
        match self.places(home).last() {
            Some(place) => format!("; the old one is {}", place.display()),
            None => String::new(),
        }
    }

    /// All is read again: states the loss, in the log, in `spool/odd` and to `status`, and ends the repair.
    pub(super) fn finish(home: &Home, progress: &Progress) -> Result<(), DrainError> {
        match Self::read(home) {
            Some(repair) => repair.tell(home, progress),
            None => Ok(()),
        }
    }

    fn tell(&self, home: &Home, progress: &Progress) -> Result<(), DrainError> {
        let store = Reader::open(home)?;
        let now = store.figures()?;
        let paths = store.known_paths();
        let gone = paths.iter().filter(|path| !path.exists()).count();
        let text = format!(
            "the store was damaged ({}) and was rebuilt: {} observations of {}, {} documents of {}; {} rows of the old one could not be read, {gone} of {} transcripts are gone{}",
            self.why,
            now.observations,
            self.observations,
            now.documents,
            self.documents,
            self.unreadable,
            paths.len(),
            self.kept(home)
        );
        let lost = now.observations < self.observations;
        let level = if lost { log::Level::Error } else { log::Level::Warn };
        log::line(
            level,
            "drain",
            &[("lost", &self.observations.saturating_sub(now.observations))],
            &format!("Repaired: {text}."),
        );
        let name = self.aside.last().map_or("damaged", String::as_str);
        spool::write_report(home, &format!("store.{name}"), &Odd::new(text.clone()))?;
        progress.odd(1);
        progress.notice(Some(text));
        Ok(fs::remove(&home.repair())?)
    }
}
