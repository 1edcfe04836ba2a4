//! Wakes, and nothing else: whatever the watcher says (an event, an error, a rescan) means "look at the spool now". Only that
//! somebody looked into the folder means nothing: the drainer's own look would wake it for ever.
//!
//! A timer looks anyway, so a watcher that is dead, deaf or not to be had costs at most two seconds.

use crate::config::Home;
use crate::log;
use crossbeam_channel::Sender;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

/// Lives as long as the watch is wanted.
pub(super) struct Watch {
    watcher: Option<RecommendedWatcher>,
    /// A channel without a sender is always ready: the drainer would wake for ever.
    _wake: Sender<()>,
}

impl Watch {
    /// Watches `spool/new`. Where that is not possible it says so once, and the timers do the work. `SINKER_WATCH=off` asks for that.
    pub(super) fn start(home: &Home, wake: Sender<()>) -> Self {
        if std::env::var_os("SINKER_WATCH").is_some_and(|v| v == "off") {
            return Self { watcher: None, _wake: wake };
        }
        let waker = wake.clone();
        let made = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if means_work(&event) {
                // A full channel holds a wake already, and one is enough.
                waker.try_send(()).ok();
            }
        });
        let mut watch = match made {
            Ok(watcher) => Self { watcher: Some(watcher), _wake: wake },
            Err(error) => {
                log::warn(
                    "watch",
                    &[("error", &error)],
                    "The spool cannot be watched; it is looked at every two seconds.",
                );
                Self { watcher: None, _wake: wake }
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

/// Everything but an access: errors and rescans as well.
fn means_work(event: &notify::Result<notify::Event>) -> bool {
    !matches!(event, Ok(event) if event.kind.is_access() && !event.need_rescan())
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::event::{AccessKind, CreateKind, Flag, ModifyKind, RenameMode};
    use notify::{Event, EventKind};

    #[test]
    fn a_look_into_the_folder_is_no_work_and_everything_else_is() {
        let look = Event::new(EventKind::Access(AccessKind::Any));
        assert!(!means_work(&Ok(look.clone())));
        assert!(means_work(&Ok(look.set_flag(Flag::Rescan))));
        for kind in [
            EventKind::Any,
            EventKind::Other,
            EventKind::Create(CreateKind::File),
            EventKind::Modify(ModifyKind::Name(RenameMode::To)),
        ] {
            assert!(means_work(&Ok(Event::new(kind))), "{kind:?}");
        }
        assert!(means_work(&Err(notify::Error::generic("lost"))));
    }
}
