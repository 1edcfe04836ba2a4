//! Wakes, and nothing else: whatever the watcher says (an event, an error, a rescan) means "look at the spool now".
//!
//! A timer looks anyway, so a watcher that is dead, deaf or not to be had costs at most two seconds.

use crate::config::Home;
use crate::log;
use crossbeam_channel::Sender;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

/// Lives as long as the watch is wanted.
pub(super) struct Watch {
    watcher: Option<RecommendedWatcher>,
}

impl Watch {
    /// Watches `spool/new`. Where that is not possible it says so once, and the timers do the work. `SINKER_WATCH=off` asks for that.
    pub(super) fn start(home: &Home, wake: Sender<()>) -> Self {
        if std::env::var_os("SINKER_WATCH").is_some_and(|v| v == "off") {
            return Self { watcher: None };
        }
        let made = notify::recommended_watcher(move |_: notify::Result<notify::Event>| {
            // A full channel holds a wake already, and one is enough.
            wake.try_send(()).ok();
        });
        let mut watch = match made {
            Ok(watcher) => Self { watcher: Some(watcher) },
            Err(error) => {
                log::warn(
                    "watch",
                    &[("error", &error)],
                    "The spool cannot be watched; it is looked at every two seconds.",
                );
                Self { watcher: None }
            }
        };
        watch.renew(home);
        watch
    }

    /// Watches the folder anew: it was made again.
    pub(super) fn renew(&mut self, home: &Home) {
        let Some(watcher) = &mut self.watcher else { return };
        if let Err(error) = watcher.watch(&home.spool_new(), RecursiveMode::NonRecursive) {
            log::warn(
                "watch",
                &[("error", &error)],
                "The spool cannot be watched; it is looked at every two seconds.",
            );
            self.watcher = None;
        }
    }
}
