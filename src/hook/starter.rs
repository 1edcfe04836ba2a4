//! Starting a drainer from a hook, when the heartbeat says that none is at work (design, section 6).

use crate::config::Home;
use crate::{fs, log};
use std::io;
use std::process::{Command, Stdio};

/// A drainer touches its heartbeat every few seconds, at work or at rest. Units: milliseconds.
const HEARTBEAT_AGE_MS: i64 = 10_000;
/// A `starting` mark older than this is left from a start that failed. Units: milliseconds.
const STARTING_AGE_MS: i64 = 5_000;
/// A drainer started by a hook leaves when nothing came for this long. Units: seconds.
const IDLE_EXIT_S: u32 = 900;

/// What of the host's environment a drainer gets: the host's holds a session token.
const KEPT: [&str; 6] = ["HOME", "PATH", "TZ", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];

/// Starts a drainer unless one beats, one is being started, or `SINKER_AUTOSTART=0`. Faults are logged.
///
/// The drainer's lock decides who stays, so two that start at once do no harm.
pub(super) fn start_drainer_if_none(home: &Home) {
    // One from the future tells of a clock that was set back, not of a drainer.
    if fs::age_ms(&home.heartbeat()).is_some_and(|age| (-HEARTBEAT_AGE_MS..=HEARTBEAT_AGE_MS).contains(&age))
    {
        return;
    }
    if std::env::var_os("SINKER_AUTOSTART").is_some_and(|v| v == "0") {
        return;
    }
    match mark(home) {
        Ok(true) => {}
        Ok(false) => return,
        Err(error) => return log::warn("hook", &[], &format!("No drainer was started: {error}.")),
    }
    if let Err(error) = spawn(home) {
        log::warn("hook", &[("error", &error)], "No drainer was started; entries wait in the spool.");
    }
}

/// Makes `state/starting`; false when somebody else did within the last seconds.
fn mark(home: &Home) -> Result<bool, fs::FsError> {
    let path = home.starting();
    for _ in 0..3 {
        match fs::create_new(&path) {
            Ok(_) => return Ok(true),
            Err(error) if error.is_missing() => fs::make_private_dir(&home.state())?,
            Err(error) if error.source.kind() == io::ErrorKind::AlreadyExists => {
                if fs::age_ms(&path).is_none_or(|age| age <= STARTING_AGE_MS) {
                    return Ok(false);
                }
                fs::remove(&path)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

fn spawn(home: &Home) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    // `--detached` makes the drainer begin a session of its own, so that the end of the host's does not reach it.
    command.args(["drain", "--detached", "--idle-exit", &IDLE_EXIT_S.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/").env_clear();
    for name in KEPT {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("SINKER_HOME", home.root());
    if let Some(config) = std::env::var_os("SINKER_CONFIG") {
        command.env("SINKER_CONFIG", std::path::absolute(config)?);
    }
    command.spawn().map(drop)
}
