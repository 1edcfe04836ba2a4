//! The hook's own deadline, whatever it is doing: a disk that does not answer must not hold the host (D1).
//!
//! Stdin and recall have deadlines of their own; this one is for a system call that does not return. What was not renamed by then is swept
//! from `spool/tmp` later, and the transcript is found by the drainer's sweep.
//!
//! On Linux a timer's signal ends the process with code 0: a thread that waits would cost a third of the hook. Elsewhere it is a thread.

use std::time::Duration;

/// Dropped when the hook has done its work.
pub(super) struct Watchdog {
    _armed: Armed,
}

/// Ends the process with code 0 when `left` has passed. Where that cannot be armed, the hook goes on without.
pub(super) fn set(left: Duration) -> Option<Watchdog> {
    arm(left).map(|armed| Watchdog { _armed: armed })
}

#[cfg(target_os = "linux")]
type Armed = nix::sys::timer::Timer;

#[cfg(target_os = "linux")]
fn arm(left: Duration) -> Option<Armed> {
    use nix::sys::signal::{SigEvent, SigevNotify, Signal};
    use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
    use nix::time::ClockId;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    signal_hook::flag::register_conditional_shutdown(
        signal_hook::consts::SIGALRM,
        0,
        Arc::new(AtomicBool::new(true)),
    )
    .ok()?;
    let event = SigEvent::new(SigevNotify::SigevSignal { signal: Signal::SIGALRM, si_value: 0 });
    let mut timer = Timer::new(ClockId::CLOCK_MONOTONIC, event).ok()?;
    timer
        .set(Expiration::OneShot(left.max(Duration::from_millis(1)).into()), TimerSetTimeFlags::empty())
        .ok()?;
    Some(timer)
}

#[cfg(not(target_os = "linux"))]
type Armed = std::sync::mpsc::Sender<()>;

#[cfg(not(target_os = "linux"))]
fn arm(left: Duration) -> Option<Armed> {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    let (done, wait) = channel::<()>();
    let guard = move || {
        if wait.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
            #[allow(
                clippy::disallowed_methods,
                reason = "the thread that should return is stuck in the kernel"
            )]
            std::process::exit(0);
        }
    };
    let thread = std::thread::Builder::new().name("watchdog".to_owned()).stack_size(64 * 1024).spawn(guard);
    thread.ok().map(|_| done)
}
