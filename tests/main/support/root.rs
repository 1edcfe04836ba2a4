//! What only root can do, and what takes long: both only where they are wanted.

use super::Sandbox;
use std::path::Path;
use std::process::Command;

/// True for root; else says that the test, or this part of it, is skipped.
pub fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: needs root");
    }
    root
}

/// `full` when `SINKER_TEST_LONG` is set, else `normal`: sizes that the list of faults names, and sizes for every day.
pub fn long(normal: usize, full: usize) -> usize {
    if std::env::var_os("SINKER_TEST_LONG").is_some() { full } else { normal }
}

/// Makes a FIFO.
pub fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success(), "mkfifo {}", path.display());
}

/// A shell script in the world of a sandbox, behind `wrap` (`unshare -m`); the binary is `$SINKER`. `None`, said, where `wrap` may not be used.
pub fn shell(sandbox: &Sandbox, wrap: &[&str], script: &str) -> Option<Command> {
    let line = |script: &str| {
        let mut words = wrap.to_vec();
        words.extend(["sh", "-ec", script]);
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        command
    };
    if !line("true").output().is_ok_and(|out| out.status.success()) {
        eprintln!("skipped: needs root, and a system that allows {wrap:?}");
        return None;
    }
    let made = sandbox.command(&[]);
    let mut command = line(script);
    command.env_clear().env("SINKER", made.get_program()).current_dir(sandbox.project());
    command.envs(made.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(command)
}
