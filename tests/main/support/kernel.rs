//! Real faults of the kernel: full and read-only file systems, calls that fail, limits. Each needs something of the machine; where
//! that is missing the helper says so on stderr, `skipped: needs …`, and returns `None`.

use super::{Out, run};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// True when the test may mount; else it has said why not.
pub fn as_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: needs root");
    }
    root
}

/// A mount of this machine, taken off when dropped.
pub struct Mount {
    at: PathBuf,
}

impl Mount {
    /// An empty file system in memory, at a folder that exists. `size` as mount takes it, `256k`.
    pub fn tmpfs(at: &Path, size: &str) -> Option<Self> {
        let options = format!("size={size},mode=0700");
        Self::put(at, &["-t", "tmpfs", "-o", &options, "tmpfs"])
    }

    fn put(at: &Path, args: &[&str]) -> Option<Self> {
        if !as_root() {
            return None;
        }
        let mut command = Command::new("mount");
        command.args(args).arg(at);
        if quiet(command) {
            return Some(Self { at: at.to_path_buf() });
        }
        eprintln!("skipped: needs the right to mount");
        None
    }

    /// Changes its options, `size=1m` or `ro,bind`.
    pub fn remount(&self, options: &str) -> bool {
        let mut command = Command::new("mount");
        command.args(["-o", &format!("remount,{options}")]).arg(&self.at);
        quiet(command)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let mut command = Command::new("umount");
        // Lazy: a process of the test may still hold a file open.
        command.arg("-l").arg(&self.at);
        quiet(command);
    }
}

/// Wraps a command so that its system calls fail, as strace says it: `fsync,fdatasync:error=EIO:when=2+`. Calls injected are written
/// to `log`, see [`hits`].
pub fn inject(command: &Command, what: &str, log: &Path) -> Option<Command> {
    static WORKS: OnceLock<bool> = OnceLock::new();
    let works = *WORKS.get_or_init(|| {
        let mut command = Command::new("strace");
        command.args(["-f", "-e", "trace=none", "true"]);
        quiet(command)
    });
    if !works {
        eprintln!("skipped: needs strace, and the right to trace");
        return None;
    }
    let calls = what.split(':').next().unwrap();
    let log = log.to_str().unwrap();
    let args = ["-f", "-o", log, "-e", &format!("trace={calls}"), "-e", &format!("inject={what}"), "--"];
    Some(wrap(command, "strace", &args))
}

/// How many calls were injected, by the log of [`inject`].
pub fn hits(log: &Path) -> usize {
    std::fs::read_to_string(log).unwrap_or_default().matches("(INJECTED)").count()
}

/// Runs a command to its end.
pub fn run_to_end(command: Command, stdin: &[u8]) -> Out {
    run::to_end(command, stdin)
}

/// The same command behind `program` and its arguments, with the environment and directory it was given and no other.
fn wrap(command: &Command, program: &str, args: &[&str]) -> Command {
    let mut outer = Command::new(program);
    outer.args(args).arg(command.get_program()).args(command.get_args()).env_clear();
    outer.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(dir) = command.get_current_dir() {
        outer.current_dir(dir);
    }
    outer
}

fn quiet(mut command: Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Anonymous resident memory of a process, MiB: what it holds itself, without the files it has mapped. `None` when it is gone, or the
/// system has no `/proc`.
pub fn anon_mib(pid: u32) -> Option<u64> {
    proc_number(pid, "status", "RssAnon:").map(|kib| kib / 1024)
}

/// Bytes that a process has read by any call, from files and pipes alike.
pub fn bytes_read(pid: u32) -> Option<u64> {
    proc_number(pid, "io", "rchar:")
}

fn proc_number(pid: u32, file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}
