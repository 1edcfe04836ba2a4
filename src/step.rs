//! Kill points: every durable operation passes one, so a test can end the process between any two of them.
//!
//! Compiled to nothing unless the feature `failpoints` is on. With it, `STEP_KILL=n` makes the n-th step of
//! the process end it with `SIGKILL`, `STEP_FAIL=n:ENOSPC` makes that step return the error,
//! `STEP_FAIL=n+:ENOSPC` every step from the n-th on, `STEP_STALL=n` (or a step's name) makes it take ten seconds, once, like a disk
//! that does not answer, and `STEP_STOP=n` (or a step's name) stops the process there, once, until it gets `SIGCONT`. `STEP_LOG=path` appends the name of each step passed.
//! `STEP_RECORD=dir` writes down what each operation [`Did`], in order and with contents, so that a test can make the states in which a
//! power cut may leave a disk.
//!
//! Beside the steps, [`poison`] stands where foreign content is worked on: `STEP_POISON=place=how=text` makes content that holds `text`
//! end that work by `panic`, `abort`, `kill` or `spin` (never come back), or go on after it has been loud on stdout and stderr (`print`). `STEP_PATIENCE_MS` shortens the wait for one that spins.

use std::io;
use std::path::Path;

/// An operation on files that has been done.
#[derive(Debug, Clone, Copy)]
pub enum Did<'a> {
    /// A file was made, empty.
    Create(&'a Path),
    /// A file holds all that it will hold.
    Write(&'a Path),
    /// Its content was synced.
    Sync(&'a Path),
    /// A synced file was put in the place of another by a rename.
    Replace(&'a Path),
    /// A file was renamed.
    Rename(&'a Path, &'a Path),
    /// A file got a second name.
    Link(&'a Path, &'a Path),
    /// A file was removed.
    Remove(&'a Path),
    /// A directory was removed, with all in it.
    RemoveTree(&'a Path),
    /// A directory was made.
    MakeDir(&'a Path),
    /// The names in a directory were synced.
    SyncDir(&'a Path),
    /// A transaction of the database at this path was answered.
    Commit(&'a Path),
}

/// Records an operation, where `STEP_RECORD` asks for it.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub fn did(_did: Did<'_>) {}

/// Records an operation, where `STEP_RECORD` asks for it.
#[cfg(feature = "failpoints")]
pub fn did(did: Did<'_>) {
    record::record(did);
}

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
        stall_on: String,
        fail_at: u64,
        fail_on: bool,
        error: i32,
        log: Option<std::path::PathBuf>,
    }

    static COUNT: AtomicU64 = AtomicU64::new(0);
    static STALLED: AtomicBool = AtomicBool::new(false);
    static PLAN: OnceLock<Plan> = OnceLock::new();

    fn plan() -> Plan {
        let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(0);
        let (kill_at, stall_at) = (number("STEP_KILL"), number("STEP_STALL"));
        let stop_at = std::env::var("STEP_STOP").unwrap_or_default();
        let stall_on = std::env::var("STEP_STALL").unwrap_or_default();
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
        Plan { kill_at, stall_at, stall_on, stop_at, fail_at, fail_on, error, log }
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
            "print" => {
                drop(io::stdout().write_all(b"noise\n").and_then(|()| io::stdout().flush()));
                drop(io::stderr().write_all(b"noise\n"));
            }
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
        if n == plan.stall_at || (name == plan.stall_on && !STALLED.swap(true, Ordering::SeqCst)) {
            #[allow(clippy::disallowed_methods, reason = "this is what a stuck disk does")]
            std::thread::sleep(std::time::Duration::from_secs(10));
        }
        if plan.fail_at > 0 && (n == plan.fail_at || (plan.fail_on && n > plan.fail_at)) {
            return Err(io::Error::from_raw_os_error(plan.error));
        }
        Ok(())
    }
}

#[cfg(feature = "failpoints")]
mod record {
    use super::Did;
    use std::io::{self, Write};
    use std::path::{Path, PathBuf};
    use std::sync::{Mutex, OnceLock, PoisonError};

    static DIR: OnceLock<Option<PathBuf>> = OnceLock::new();
    static NEXT: Mutex<u64> = Mutex::new(0);

    pub(super) fn record(did: Did<'_>) {
        let Some(dir) = DIR.get_or_init(|| std::env::var_os("STEP_RECORD").map(PathBuf::from)) else {
            return;
        };
        let mut next = NEXT.lock().unwrap_or_else(PoisonError::into_inner);
        *next += 1;
        let kept = |path: &Path, end: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            match std::fs::copy(PathBuf::from(name), dir.join(format!("{next:06}{end}"))) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
                copied => copied,
            }
        };
        let (what, path, to) = match did {
            Did::Create(path) => ("create", path, path),
            Did::Write(path) => ("write", path, path),
            Did::Sync(path) => ("sync", path, path),
            Did::Replace(path) => ("replace", path, path),
            Did::Rename(from, to) => ("rename", from, to),
            Did::Link(from, to) => ("link", from, to),
            Did::Remove(path) => ("remove", path, path),
            Did::RemoveTree(path) => ("remove-tree", path, path),
            Did::MakeDir(path) => ("make-dir", path, path),
            Did::SyncDir(path) => ("sync-dir", path, path),
            Did::Commit(path) => ("commit", path, path),
        };
        let copied = match did {
            Did::Write(path) | Did::Replace(path) => kept(path, ""),
            Did::Commit(path) => kept(path, "").and_then(|_| kept(path, "-wal")),
            _ => Ok(0),
        };
        let line =
            serde_json::json!({ "n": *next, "did": what, "path": path, "to": to, "lost": copied.is_err() });
        let log = std::fs::OpenOptions::new().create(true).append(true).open(dir.join("log"));
        // The driver sees a record that is short of one, since the numbers run on.
        log.and_then(|mut log| log.write_all(format!("{line}\n").as_bytes())).ok();
    }
}
