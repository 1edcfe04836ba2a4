//! Reading a transcript in a process of its own, to see whether it survives: what may be fatal is tried where it can end nobody else.
//!
//! The other process (`drain --probe PATH`) reads from the stored cursor to the end, parses and redacts, and throws away what it got. It
//! writes nothing. It has an allowance of processor time, so a slow disk does not condemn a file, and one that never comes back ends.

use super::DrainError;
use super::machine::Job;
use super::progress::Progress;
use super::read::{self, Task};
use super::suspects::Caution;
use crate::config::{Home, Secret};
use crate::redact::Redactor;
use crate::step;
use crate::store::{FileState, Reader, StoreError};
use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How a try ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tried {
    /// It can be read.
    Survived,
    /// The process died over it.
    Fatal,
    /// It could not be tried, for a reason that is not the file's.
    Unknown(String),
    /// A signal came.
    Halted,
}

/// A piece of a transcript (a few megabytes) takes a second at most; who computes over it for this long does not come back. Milliseconds.
pub(super) fn patience_ms() -> i64 {
    step::patience_ms(60_000)
}

/// Names the drainer whose try it is.
const PARENT: &str = "SINKER_PROBE_OF";

/// The exit code of Rust's runtime after a panic.
const PANICKED: i32 = 101;

/// Lets another process read the file first.
pub(super) fn try_apart(home: &Home, path: &Path, last_line: bool, halt: &AtomicBool) -> Tried {
    match run(home, path, last_line, halt) {
        Ok(tried) => tried,
        Err(error) => Tried::Unknown(error.to_string()),
    }
}

fn run(home: &Home, path: &Path, last_line: bool, halt: &AtomicBool) -> std::io::Result<Tried> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["drain", "--probe"]).arg(path).env("SINKER_HOME", home.root());
    command.env(PARENT, std::process::id().to_string());
    if last_line {
        command.arg("--last-line");
    }
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/").spawn()?;
    let (_keep, never) = crossbeam_channel::bounded::<()>(1);
    // Its allowance is of processor time; this is for a disk that does not answer.
    let watch = crate::clock::Stopwatch::start();
    let limit = Duration::from_millis(u64::try_from(patience_ms()).unwrap_or(0)).saturating_mul(10);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(judge(status));
        }
        let halted = halt.load(Ordering::Relaxed);
        if halted || watch.left(limit).is_zero() {
            child.kill()?;
            child.wait()?;
            return Ok(if halted { Tried::Halted } else { Tried::Unknown("it takes too long".to_owned()) });
        }
        never.recv_timeout(Duration::from_millis(20)).ok();
    }
}

fn judge(status: ExitStatus) -> Tried {
    // A terminal's Ctrl-C, or whoever ends a group of processes, means the drainer, not the file.
    let asked = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT].map(Signal::as_raw);
    match (status.code(), status.signal()) {
        (Some(0), _) => Tried::Survived,
        (Some(PANICKED), _) => Tried::Fatal,
        (Some(code), _) => Tried::Unknown(format!("the try ended with code {code}")),
        (None, Some(signal)) if asked.contains(&signal) => Tried::Halted,
        (None, _) => Tried::Fatal,
    }
}

/// Reads a transcript as the drainer would, and keeps nothing of it: the other side of a try. Errors: [`DrainError`].
pub fn probe(home: &Home, path: &Path, last_line: bool) -> Result<(), DrainError> {
    // So much for one piece, and a second for each megabyte: a long file is not a bad one.
    let length = path.metadata().map_or(0, |meta| meta.len());
    let seconds = u64::try_from(patience_ms()).unwrap_or(0).div_ceil(1000) + (length >> 20);
    let limit = |current, more| Rlimit { current: Some(current), maximum: Some(current + more) };
    // Whoever ends the drainer ends this, too.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).ok();
    // 1. The drainer starts this. 2. It is killed. 3. Only now do we ask to be ended with it, and nobody would end us.
    let parent = std::env::var(PARENT).ok().and_then(|pid| pid.parse::<i32>().ok());
    let own = rustix::process::getppid().map(rustix::process::Pid::as_raw_pid);
    if parent.is_some() && parent != own {
        return Err(DrainError::Stopped);
    }
    // Refused: then the drainer's own patience ends it.
    setrlimit(Resource::Cpu, limit(seconds, 1)).ok();
    setrlimit(Resource::Core, limit(0, 0)).ok();
    let secret = Secret::open(home).map_err(|e| DrainError::Start(e.to_string()))?;
    let state = match Reader::open(home) {
        Ok(store) => store.file(path)?.unwrap_or_default(),
        Err(StoreError::Absent(_)) => FileState::default(),
        Err(error) => return Err(error.into()),
    };
    let path = path.to_path_buf();
    let mut job = Job::default();
    (job.path, job.last_line) = (path.clone(), last_line);
    let task = Task { job, path, state, entries: Vec::new(), given: None, caution: Caution::Plain };
    read::discard(&task, &Redactor::new(&secret), &Progress::default(), home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f25_only_a_death_condemns() {
        let cases = [
            (0, Tried::Survived),
            (101 << 8, Tried::Fatal),
            (1 << 8, Tried::Unknown("the try ended with code 1".to_owned())),
            (Signal::ABORT.as_raw(), Tried::Fatal),
            (Signal::KILL.as_raw(), Tried::Fatal),
            (Signal::XCPU.as_raw(), Tried::Fatal),
            (Signal::TERM.as_raw(), Tried::Halted),
            (Signal::INT.as_raw(), Tried::Halted),
        ];
        for (raw, expected) in cases {
            assert_eq!(judge(ExitStatus::from_raw(raw)), expected, "{raw}");
        }
    }
}
