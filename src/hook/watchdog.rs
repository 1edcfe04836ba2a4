//! The hook's own deadline, whatever it is doing: a disk that does not answer must not hold the host (D1).
//!
//! Stdin and recall have deadlines of their own; this one is for a system call that does not return. What was not renamed by then is swept
//! from `spool/tmp` later, and the transcript is found by the drainer's sweep.

use crate::clock::Stopwatch;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Dropped when the hook has done its work.
pub(super) struct Watchdog {
    _done: Sender<()>,
}

/// Ends the process with code 0 when `limit` has passed since `watch` began. Where no thread can be had, the hook goes on without.
pub(super) fn set(watch: Stopwatch, limit: Duration) -> Option<Watchdog> {
    let (done, wait) = channel::<()>();
    let guard = move || {
        if wait.recv_timeout(watch.left(limit)) == Err(RecvTimeoutError::Timeout) {
            #[allow(
                clippy::disallowed_methods,
                reason = "the thread that should return is stuck in the kernel"
            )]
            std::process::exit(0);
        }
    };
    let thread = std::thread::Builder::new().name("watchdog".to_owned()).stack_size(64 * 1024).spawn(guard);
    thread.ok().map(|_| Watchdog { _done: done })
}
