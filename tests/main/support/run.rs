//! Running the binary, always with a deadline.

use std::fmt;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

/// No command of a test takes longer; one that does hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// What a process left behind.
pub struct Out {
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Standard output, lossy.
    pub stdout: String,
    /// Standard error, lossy.
    pub stderr: String,
}

impl Out {
    fn new(status: ExitStatus, stdout: &[u8], stderr: &[u8]) -> Self {
        Self {
            code: status.code(),
            signal: status.signal(),
            stdout: String::from_utf8_lossy(stdout).into_owned(),
            stderr: String::from_utf8_lossy(stderr).into_owned(),
        }
    }

    /// True when SIGKILL ended it.
    pub fn killed(&self) -> bool {
        self.signal == Some(9)
    }

    /// Asserts what a hook owes the host when it has nothing to say: exit 0 and not one byte.
    pub fn assert_silent(&self, case: &str) {
        assert_eq!(self.code, Some(0), "{case}: {self}");
        assert_eq!(self.stdout, "", "{case}: {self}");
    }
}

impl fmt::Display for Out {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |s: &str| s.chars().take(2000).collect::<String>();
        write!(
            f,
            "exit {:?} signal {:?}\n{}\n{}",
            self.code,
            self.signal,
            end(&self.stdout),
            end(&self.stderr)
        )
    }
}

/// Runs to the end, or to [`LIMIT`].
pub fn to_end(command: Command, stdin: &[u8]) -> Out {
    let mut running = Running::start(command);
    // A process that does not read all of its input is fine: it closes the pipe.
    running.stdin.take().unwrap().write_all(stdin).ok();
    running.finish(LIMIT)
}

/// A started process; killed when dropped.
pub struct Running {
    child: Child,
    /// Its open stdin; take and drop it to close it.
    pub stdin: Option<ChildStdin>,
    readers: Vec<JoinHandle<Vec<u8>>>,
    eof: mpsc::Receiver<()>,
}

impl Running {
    /// Starts it with three pipes.
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (tell, eof) = mpsc::channel();
        let out = child.stdout.take().unwrap();
        let err = child.stderr.take().unwrap();
        let readers = vec![read(out, tell.clone()), read(err, tell)];
        Self { stdin: child.stdin.take(), child, readers, eof }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Whether it has ended.
    pub fn ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for the end. Panics after `limit`, with what it had said by then.
    pub fn finish(mut self, limit: Duration) -> Out {
        drop(self.stdin.take());
        let until = std::time::Instant::now() + limit;
        for _ in 0..2 {
            let left = until.saturating_duration_since(std::time::Instant::now());
            if self.eof.recv_timeout(left).is_err() {
                self.child.kill().ok();
                panic!("still running after {limit:?}");
            }
        }
        let status = self.child.wait().unwrap();
        let err = self.readers.pop().unwrap().join().unwrap();
        let out = self.readers.pop().unwrap().join().unwrap();
        Out::new(status, &out, &err)
    }

    #[cfg(all(feature = "failpoints", target_os = "linux"))]
    /// Waits until a signal, or the process itself, has stopped it. False when it ended instead. Linux only.
    pub fn stops(&mut self) -> bool {
        let stat = format!("/proc/{}/stat", self.pid());
        let mut ended = false;
        let stopped = super::within(LIMIT, || {
            ended = self.child.try_wait().unwrap().is_some();
            let text = std::fs::read_to_string(&stat).unwrap_or_default();
            ended || text.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
        });
        assert!(stopped, "neither stopped nor ended");
        !ended
    }

    #[cfg(target_os = "linux")]
    /// The most anonymous memory seen until it ends or `limit` passes, KiB; `look` is called each time. Linux only.
    pub fn peak_kib(&mut self, limit: Duration, mut look: impl FnMut(&Self)) -> u64 {
        let status = format!("/proc/{}/status", self.pid());
        let mut peak = 0;
        super::within(limit, || {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find(|l| l.starts_with("RssAnon:")).unwrap_or_default().to_owned();
            let kib = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
            peak = std::cmp::max(peak, kib);
            look(self);
            self.child.try_wait().unwrap().is_some()
        });
        peak
    }

    /// Waits with stdin held open. `None` when it did not end within `limit`.
    pub fn ends_within(&mut self, limit: Duration) -> bool {
        super::within(limit, || self.child.try_wait().unwrap().is_some())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn read(mut from: impl Read + Send + 'static, tell: mpsc::Sender<()>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).ok();
        tell.send(()).ok();
        bytes
    })
}
