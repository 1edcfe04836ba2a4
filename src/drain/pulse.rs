//! The drainer's pulse: says that it lives as long as its work moves, and looks now and then at what it stands on.

use super::machine::{Event, Mode};
use super::publish::Order;
use super::repair::Repair;
use super::run::Drainer;
use super::{DrainError, prepare};
use crate::config::{Secret, user_config};
use crate::redact::Redactor;
use crate::{fs, log, store};
use std::time::SystemTime;

/// The longest a stage may be silent while there is work before the heartbeat stops. Short where tests make a stage stall.
const WEDGED_MS: i64 = if cfg!(feature = "failpoints") { 4_000 } else { 30_000 };
pub(super) const BEAT_MS: i64 = 2_000;

/// When the user's settings were written, and their size.
pub(super) fn stamp() -> Option<(SystemTime, u64)> {
    let meta = user_config()?.metadata().ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

impl Drainer {
    /// What has nothing to do with the work: damage that somebody met, a repair that is through, another binary in our place.
    pub(super) fn look_around(&mut self) -> Result<Option<Event>, DrainError> {
        let repaired = self.progress.is_repairing() && !self.progress.is_mending() && self.state.is_idle();
        if repaired && self.options.mode != Mode::Import {
            self.progress.repair(false, false);
            Repair::finish(&self.options.home, &self.progress)?;
            self.order(Order::Flush(String::new()))?;
        }
        if !self.stand.is_due(self.progress.now_ms()) {
            return Ok(None);
        }
        if let Some(why) = self.stand.damage() {
            return Err(DrainError::Store(store::StoreError::Damaged {
                path: self.options.home.store(),
                why,
            }));
        }
        if self.stand.is_index_suspect() {
            self.order(Order::Check)?;
        }
        let serves = matches!(self.options.mode, Mode::Serve { .. });
        Ok((serves && (self.stand.is_replaced() || self.rules_changed())).then_some(Event::Replaced))
    }

    /// The user's settings name other rules of redaction than those that we began with: the next drainer begins with them.
    fn rules_changed(&mut self) -> bool {
        let stamp = stamp();
        if stamp == self.settings {
            return false;
        }
        self.settings = stamp;
        let rules = Secret::open(&self.options.home).map(|secret| Redactor::new(&secret).version());
        let changed = rules.is_ok_and(|version| version != self.redactor.version());
        if changed {
            log::info(
                "drain",
                &[],
                "The rules of redaction have changed; this drainer leaves, the next one has them.",
            );
        }
        changed
    }

    /// Says that we live, unless a stage is stuck: then the heartbeat grows old, and `status` shows it.
    pub(super) fn beat(&mut self) {
        let now_ms = self.progress.now_ms();
        let busy = self.state.is_working() || self.progress.is_publishing();
        // Writing a large store anew is one step for us, and takes as long as it takes.
        let wedged = busy && !self.progress.is_asked() && now_ms - self.progress.moved_ms() > WEDGED_MS;
        if now_ms - self.beat_ms < BEAT_MS || wedged {
            return;
        }
        self.beat_ms = now_ms;
        self.claims.retain(|_, (path, _)| path.exists());
        let path = self.options.home.heartbeat();
        let beaten = match fs::touch(&path) {
            Err(error) if error.is_missing() => {
                prepare(&self.options.home).ok();
                fs::replace(&path, b"", fs::Sync::No)
            }
            beaten => beaten,
        };
        if let Err(error) = beaten {
            log::warn(
                "drain",
                &[("error", &error)],
                "The heartbeat could not be written; hooks may start a second drainer.",
            );
        }
    }
}
