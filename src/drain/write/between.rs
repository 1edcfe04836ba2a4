//! What the writer does between two transactions of rows: what a person asks, and what an earlier drainer left.

use super::Writer;
use crate::config::Home;
use crate::drain::asks::{Ask, Done};
use crate::drain::commands::Reply;
use crate::drain::publish::suspect;
use crate::store::{Store, StoreError};
use crate::{index, log};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

/// The command itself is in work: then it is not done twice.
fn rescan_waits(home: &Home) -> bool {
    [home.spool_cur(), home.spool_new()]
        .iter()
        .filter_map(|dir| std::fs::read_dir(dir).ok())
        .flatten()
        .any(|entry| entry.is_ok_and(|entry| entry.file_name().to_string_lossy().ends_with(".rescan.json")))
}

impl Writer {
    /// Does what a person asks, between two transactions. Failed, it is told; nobody but them knows whether to try it again.
    /// Returns false when something is left to do.
    pub(super) fn perform(&mut self, store: &mut Store, id: String, ask: &Ask) -> bool {
        self.progress.asked(true);
        let done = catch_unwind(AssertUnwindSafe(|| ask.perform(&self.home, store, &self.redactor)));
        let done = match done {
            Ok(Ok(done)) => {
                self.committed.try_send(u64::try_from(store.seq()).unwrap_or(0)).ok();
                Ok(done)
            }
            Ok(Err(error)) => {
                self.failed(&error);
                Err(error.to_string())
            }
            Err(_) => Err("it ended in a panic; log/drain.log has more".to_owned()),
        };
        self.progress.asked(false);
        super::publish_projects(&self.home);
        let whole = done.is_ok();
        drop(self.told.send((id, done)));
        whole
    }

    /// Does what an earlier drainer left: reads out a damaged store, derives what is behind. Returns false when it is to be tried again.
    pub(super) fn catch_up(&mut self, store: &mut Store) -> bool {
        self.progress.asked(true);
        let done = self.catch_up_with(store);
        self.progress.asked(false);
        match done {
            Ok(seq) => {
                self.progress.recovered("store");
                self.committed.try_send(seq).ok();
                true
            }
            Err(error) => {
                self.failed(&error);
                false
            }
        }
    }

    /// Brings bytes off the disk that were taken away meanwhile.
    pub(super) fn scrub(&mut self, store: &mut Store) {
        if let Err(error) = store.scrub(&self.home) {
            log::warn("drain", &[("error", &error)], "Freed pages of the store keep old bytes for now.");
        }
        drop(self.told.send((String::new(), Ok(Done { reply: Reply::default(), scrub: true }))));
    }

    fn catch_up_with(&mut self, store: &mut Store) -> Result<u64, StoreError> {
        if let Some(repair) = &mut self.repair {
            if !repair.read_out(&self.home, store, &self.progress, &self.halt)? {
                // Halted: what was forgotten is taken out of a whole store, and not before.
                return Ok(u64::try_from(store.seq()).unwrap_or(0));
            }
            self.repair = None;
            self.progress.repair(true, false);
        }
        if store.obey(&self.home, &mut |text, take| index::tokens::terms(text).for_each(take))? {
            // Nobody asked: the index is to lose the bytes all the same.
            drop(self.told.send((String::new(), Ok(Done { reply: Reply::default(), scrub: true }))));
        }
        if self.home.rescan().exists() && !self.halt.load(Ordering::Relaxed) && !rescan_waits(&self.home) {
            log::info(
                "drain",
                &[],
                "What is stored is redacted anew: somebody began it and did not come to the end.",
            );
            let done = Ask::Rescan.perform(&self.home, store, &self.redactor)?;
            drop(self.told.send((String::new(), Ok(done))));
        }
        if store.is_behind()? && !self.halt.load(Ordering::Relaxed) {
            let mut write = store.begin()?;
            write.derive(&mut |text, take| index::tokens::terms(text).for_each(take))?;
            write.commit()?;
        }
        Ok(u64::try_from(store.seq()).unwrap_or(0))
    }

    pub(super) fn failed(&self, error: &StoreError) {
        log::error("drain", &[("error", error)], "A transaction was rolled back; it is tried again.");
        self.progress.failed("store", error.to_string());
        if error.is_damage() {
            suspect(&self.home.suspect_store());
        }
    }
}
