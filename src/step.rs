//! Kill points: every durable operation passes one, so a test can end the process between any two of them.
//!
//! Compiled to nothing unless the feature `failpoints` is on. With it, `STEP_KILL=n` makes the n-th step of
//! the process end it with `SIGKILL`, `STEP_FAIL=n:ENOSPC` makes that step return the error,
//! `STEP_FAIL=n+:ENOSPC` every step from the n-th on, and `STEP_STALL=n` makes the n-th step take ten seconds, like a disk that does not
//! answer. `STEP_LOG=path` appends the name of each step passed.

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

#[cfg(feature = "failpoints")]
mod armed {
    use std::io::{self, Write};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct Plan {
        kill_at: u64,
        stall_at: u64,
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
        let fail = std::env::var("STEP_FAIL").unwrap_or_default();
        let (at, name) = fail.split_once(':').unwrap_or(("0", ""));
        let fail_on = at.ends_with('+');
        let fail_at = at.trim_end_matches('+').parse().unwrap_or(0);
        let error = match name {
            "EIO" => 5,
            "EROFS" => 30,
            "EDQUOT" => 122,
            "EMFILE" => 24,
            "EACCES" => 13,
            _ => 28,
        };
        Plan { kill_at, stall_at, fail_at, fail_on, error, log: std::env::var_os("STEP_LOG").map(Into::into) }
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
