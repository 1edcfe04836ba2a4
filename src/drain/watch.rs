//! Wakes, and nothing else: whatever the watcher says (an event, an error, a rescan) means "look at the spool now". Only that
//! somebody looked into the folder means nothing: the drainer's own look would wake it for ever.
//!
//! A timer looks anyway, so a watcher that is dead, deaf or not to be had costs at most two seconds.

use crate::config::Home;
use crate::log;
use crossbeam_channel::Sender;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Lives as long as the watch is wanted.
pub(super) struct Watch {
    watcher: Option<RecommendedWatcher>,
    /// The folder that is watched: device and inode.
    folder: Option<(u64, u64)>,
    /// The watcher said that something happened to the folder itself.
    lost: Arc<AtomicBool>,
    /// A channel without a sender is always ready: the drainer would wake for ever.
    _wake: Sender<()>,
}

impl Watch {
    /// Watches `spool/new`. Where that is not possible it says so once, and the timers do the work. `SINKER_WATCH=off` asks for that.
    pub(super) fn start(home: &Home, wake: Sender<()>) -> Self {
        if std::env::var_os("SINKER_WATCH").is_some_and(|v| v == "off") {
            return Self { watcher: None, folder: None, lost: Arc::default(), _wake: wake };
        }
        let waker = wake.clone();
        let lost: Arc<AtomicBool> = Arc::default();
        let (losing, own) = (Arc::clone(&lost), home.spool_new());
        let made = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if means_work(&event) {
                if event.is_ok_and(|event| event.paths.contains(&own)) {
                    losing.store(true, Ordering::Relaxed);
                }
                // A full channel holds a wake already, and one is enough.
                waker.try_send(()).ok();
            }
        });
        let mut watch = match made {
            Ok(watcher) => Self { watcher: Some(watcher), folder: None, lost, _wake: wake },
            Err(error) => {
                log::warn(
                    "watch",
                    &[("error", &error)],
                    "The spool cannot be watched; it is looked at every two seconds.",
                );
                Self { watcher: None, folder: None, lost, _wake: wake }
            }
        };
        watch.renew(home);
        watch
    }

    /// Watches the folder anew when another stands in its place: a hook makes the spool again as soon as it is gone, and a watch stays
    /// with the folder that was taken away.
    pub(super) fn keep(&mut self, home: &Home) {
        let folder = identity(&home.spool_new());
        // A folder that is made again may get the number of the one that is gone, so the watcher's own word counts, too.
        if folder.is_some() && (self.lost.swap(false, Ordering::Relaxed) || folder != self.folder) {
            self.renew(home);
        }
    }

    /// Watches the folder anew: it was made again.
    pub(super) fn renew(&mut self, home: &Home) {
        let Some(watcher) = &mut self.watcher else { return };
        // Not watched any more, or not yet: either is fine.
        watcher.unwatch(&home.spool_new()).ok();
        self.folder = identity(&home.spool_new());
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

fn identity(folder: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    folder.metadata().ok().map(|meta| (meta.dev(), meta.ino()))
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
    fn f21_a_look_into_the_folder_is_no_work_and_everything_else_is() {
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
