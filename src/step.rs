//! Kill points: every durable operation passes one, so a test can end the process between any two of them.
//!
//! Compiled to nothing unless the feature `failpoints` is on. With it, `STEP_KILL=n` makes the n-th step of
//! the process end it with `SIGKILL`, `STEP_FAIL=n:ENOSPC` makes that step return the error,
//! `STEP_FAIL=n+:ENOSPC` every step from the n-th on, `STEP_STALL=n` makes the n-th step take ten seconds, like a disk that does not
//! answer, and `STEP_STOP=n` (or a step's name) stops the process there, once, until it gets `SIGCONT`. `STEP_LOG=path` appends the name of each step passed.
//!
//! Beside the steps, [`poison`] stands where foreign content is worked on: `STEP_POISON=place=how=text` makes content that holds `text`
//! end that work by `panic`, `abort`, `kill` or `spin` (never come back). `STEP_PATIENCE_MS` shortens the wait for one that spins.

use std::io;

/// Passes a kill point named `module::what`; an injected error comes back as the `io::Error` of that name.
///
/// Errors: only those asked for by `STEP_FAIL`, and only in builds with the feature `failpoints`.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub fn step(_name: &'static str) -> io::Result<()> {
    Ok(())
}

/// Passes a kill point named `module::what`; an injected error comes back as the `io::Error` of that name.
///
/// Errors: only those asked for by `STEP_FAIL`.
#[cfg(feature = "failpoints")]
pub fn step(name: &'static str) -> io::Result<()> {
    armed::pass(name)
}

/// Passes a place where foreign content is worked on: content that was chosen by `STEP_POISON` is fatal there.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub fn poison(_place: &'static str, _content: &[u8]) {}

/// Passes a place where foreign content is worked on: content that was chosen by `STEP_POISON` is fatal there.
#[cfg(feature = "failpoints")]
pub fn poison(place: &'static str, content: &[u8]) {
    armed::taste(place, content);
}

/// How long to wait, milliseconds: `default`, or what `STEP_PATIENCE_MS` says in builds with the feature `failpoints`.
pub fn patience_ms(default: i64) -> i64 {
    if !cfg!(feature = "failpoints") {
        return default;
    }
    std::env::var("STEP_PATIENCE_MS").ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

#[cfg(feature = "failpoints")]
mod armed {
    use std::io::{self, Write};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    struct Plan {
        kill_at: u64,
        stall_at: u64,
        stop_at: String,
        fail_at: u64,
        fail_on: bool,
        error: i32,
        log: Option<std::path::PathBuf>,
    }

    static COUNT: AtomicU64 = AtomicU64::new(0);
    static PLAN: OnceLock<Plan> = OnceLock::new();

    fn plan() -> Plan {
        let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(0);
        let (kill_at, stall_at) = (number("STEP_KILL"), number("STEP_STALL"));
        let stop_at = std::env::var("STEP_STOP").unwrap_or_default();
        let fail = std::env::var("STEP_FAIL").unwrap_or_default();
        let (at, name) = fail.split_once(':').unwrap_or(("0", ""));
        let fail_on = at.ends_with('+');
        let fail_at = at.trim_end_matches('+').parse().unwrap_or(0);
        let error = match name {
            "EIO" => 5,
            "EROFS" => 30,
            "EDQUOT" => 122,
            "EMFILE" => 24,
            "ENFILE" => 23,
            "EACCES" => 13,
            _ => 28,
        };
        let log = std::env::var_os("STEP_LOG").map(Into::into);
        Plan { kill_at, stall_at, stop_at, fail_at, fail_on, error, log }
    }

    pub(super) fn taste(place: &str, content: &[u8]) {
        static POISON: OnceLock<Option<(String, String, String)>> = OnceLock::new();
        let poison = POISON.get_or_init(|| {
            let text = std::env::var("STEP_POISON").ok()?;
            let (place, rest) = text.split_once('=')?;
            let (how, word) = rest.split_once('=')?;
            Some((place.to_owned(), how.to_owned(), word.to_owned()))
        });
        let Some((at, how, word)) = poison else { return };
        if at != place || memchr::memmem::find(content, word.as_bytes()).is_none() {
            return;
        }
        match how.as_str() {
            "panic" => panic!("poison"),
            "abort" => std::process::abort(),
            "kill" => {
                let own = rustix::process::getpid();
                rustix::process::kill_process(own, rustix::process::Signal::KILL).ok();
            }
            _ => loop {
                std::hint::spin_loop();
            },
        }
    }

    pub(super) fn pass(name: &'static str) -> io::Result<()> {
        let plan = PLAN.get_or_init(plan);
        let n = COUNT.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(path) = &plan.log {
            let mut log = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
            log.write_all(format!("{n} {name}\n").as_bytes())?;
        }
        if n == plan.kill_at {
            let own = rustix::process::getpid();
            rustix::process::kill_process(own, rustix::process::Signal::KILL)?;
        }
        static STOPPED: AtomicBool = AtomicBool::new(false);
        let stops = plan.stop_at == name || plan.stop_at == n.to_string();
        if stops && !STOPPED.swap(true, Ordering::SeqCst) {
            // To this thread, which stops before it goes on; a signal to the process may find another one first.
            nix::sys::signal::raise(nix::sys::signal::Signal::SIGSTOP)?;
        }
        if n == plan.stall_at {
            #[allow(clippy::disallowed_methods, reason = "this is what a stuck disk does")]
            std::thread::sleep(std::time::Duration::from_secs(10));
        }
        if plan.fail_at > 0 && (n == plan.fail_at || (plan.fail_on && n > plan.fail_at)) {
            return Err(io::Error::from_raw_os_error(plan.error));
        }
        Ok(())
    }
}
