//! The log file: one line an event, `time level module: key=value … Sentence.`, size-capped, never on stdout.
//!
//! Logging never blocks and never fails its caller: a line that cannot be written goes to stderr, and when that is closed or nobody reads
//! it, it is lost.
//! No line holds content of a transcript, at any level.

use crate::{clock, config, fs, visible};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// How serious a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Data was lost, or a person must act.
    Error,
    /// Unexpected, but recovered.
    Warn,
    /// A change of state, once.
    Info,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
        }
    }
}

/// Above this size (bytes) the log is moved to `<name>.1` and a new one begun; so a log takes at most twice as much.
const CAP_BYTES: u64 = 4 * 1024 * 1024;

static FILE: OnceLock<PathBuf> = OnceLock::new();

/// Names the log file of this process, once: `hook`, `drain` or `cli`.
pub fn open(home: &config::Home, name: &str) {
    FILE.get_or_init(|| home.log().join(format!("{name}.log")));
}

/// Writes one line. `fields` come first, as `key=value`; `sentence` begins with a capital and ends with a full stop.
pub fn line(level: Level, module: &str, fields: &[(&str, &dyn std::fmt::Display)], sentence: &str) {
    let mut text = format!("{} {} {module}:", clock::format(clock::now()), level.name());
    for (key, value) in fields {
        text.push_str(&format!(" {key}={}", one_line(&value.to_string())));
    }
    text.push_str(&format!(" {}\n", one_line(sentence)));
    let written = match FILE.get() {
        Some(path) => append(path, &text),
        None => Err(()),
    };
    if written.is_err() {
        complain(&text);
    }
}

/// A pipe that has room takes this much at once, whole and without waiting (POSIX: at least 512 bytes; Linux and macOS: 4096).
const PIPE_BYTES: usize = 4096;

/// Writes to stderr unless that would wait for whoever should read it. Closed, or full: there is nobody left to tell.
fn complain(text: &str) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stderr = rustix::stdio::stderr();
    let mut fds = [PollFd::new(&stderr, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    if matches!(poll(&mut fds, Some(&now)), Ok(n) if n > 0) {
        let bytes = text.as_bytes();
        drop(std::io::stderr().write_all(bytes.get(..PIPE_BYTES).unwrap_or(bytes)));
    }
}

/// Writes a line of level `error`.
pub fn error(module: &str, fields: &[(&str, &dyn std::fmt::Display)], sentence: &str) {
    line(Level::Error, module, fields, sentence);
}

/// Writes a line of level `warn`.
pub fn warn(module: &str, fields: &[(&str, &dyn std::fmt::Display)], sentence: &str) {
    line(Level::Warn, module, fields, sentence);
}

/// Writes a line of level `info`.
pub fn info(module: &str, fields: &[(&str, &dyn std::fmt::Display)], sentence: &str) {
    line(Level::Info, module, fields, sentence);
}

/// From now on a panic of this process is a line of the log. It says where, and not what: the words of a panic may quote what was in work.
pub fn panics(module: &'static str) {
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()));
        error(module, &[("at", &place)], "A panic; please report it.");
    }));
}

fn append(path: &Path, text: &str) -> Result<(), ()> {
    let opened = fs::append_to(path).or_else(|_| {
        let dir = path.parent().ok_or(())?;
        fs::make_passing_dir(dir).map_err(drop)?;
        fs::append_to(path).map_err(drop)
    });
    let mut file = opened.map_err(drop)?;
    let meta = file.metadata().map_err(drop)?;
    if !meta.is_file() {
        return Err(());
    }
    if meta.len() > CAP_BYTES {
        // Two processes may both move it: the second moves a short new log, and a few lines are lost. No line is torn.
        // What is far above the cap was not written by us: kept, it would break the promise for as long as the next 4 MiB take.
        let old = path.with_extension("log.1");
        if meta.len() > 2 * CAP_BYTES { fs::remove(path) } else { fs::rename(path, &old) }.map_err(drop)?;
        file = fs::append_to(path).map_err(drop)?;
    }
    file.write_all(text.as_bytes()).map_err(drop)
}

/// A line end would let a foreign path or error forge a second line; whoever reads the log at a terminal reads the rest.
fn one_line(text: &str) -> String {
    let text = text.replace(['\n', '\t'], "\u{fffd}");
    visible::escaped(&text).chars().take(2000).collect()
}
