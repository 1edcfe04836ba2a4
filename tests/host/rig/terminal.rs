//! A session at a terminal: the client on a pty, its screen as a person sees it, keys as a person presses them.

use super::world::{TOOLS, World, until};
use rustix::process::{Pid, Signal};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

const ROWS: u16 = 50;
const COLUMNS: u16 = 160;

/// A running client; killed when dropped.
pub struct Terminal {
    child: Child,
    keys: File,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl Terminal {
    /// Starts the client and waits for its prompt.
    pub fn start(world: &World, args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = world.claude(&["--permission-mode", "default", "--allowedTools", TOOLS]);
        command.args(args).envs(env.iter().copied());
        let terminal = Self::open(command);
        terminal.see("? for shortcuts");
        terminal
    }

    /// Starts any command on a terminal of its own.
    pub fn open(command: Command) -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let ours: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let size = rustix::termios::Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&ours, size).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let theirs = || File::options().read(true).write(true).open(&name).unwrap();
        // `setsid --ctty` makes the terminal its own, as a login does; it then becomes the command.
        let mut setsid = Command::new("setsid");
        setsid.args(["--ctty", "--"]).arg(command.get_program()).args(command.get_args());
        setsid.env_clear().envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
        if let Some(dir) = command.get_current_dir() {
            setsid.current_dir(dir);
        }
        let child = setsid.stdin(theirs()).stdout(theirs()).stderr(theirs()).spawn().unwrap();
        let keys = File::from(ours);
        let mut from = keys.try_clone().unwrap();
        let (rows, columns) = (NonZero::new(ROWS).unwrap(), NonZero::new(COLUMNS).unwrap());
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 2000)));
        let shared = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut block = [0; 8192];
            // At the end of the client the kernel says EIO.
            while let Ok(n @ 1..) = from.read(&mut block) {
                shared.lock().unwrap().process(&block[..n]);
            }
        });
        Self { child, keys, screen }
    }

    /// The screen's text.
    pub fn screen(&self) -> String {
        self.screen.lock().unwrap().screen().contents().replace('\u{a0}', " ")
    }

    /// Waits until the screen shows `text`.
    pub fn see(&self, text: &str) {
        until(&format!("to see {text:?}"), || self.screen().contains(text), || self.screen());
    }

    /// Waits until the screen no longer shows `text`.
    pub fn see_no(&self, text: &str) {
        until(&format!("to see no {text:?}"), || !self.screen().contains(text), || self.screen());
    }

    /// Waits until the screen shows `text` at least so often.
    pub fn see_count(&self, text: &str, times: usize) {
        let seen = || self.screen().matches(text).count() >= times;
        until(&format!("to see {text:?} {times} times"), seen, || self.screen());
    }

    /// Presses keys.
    pub fn press(&self, keys: &str) {
        (&self.keys).write_all(keys.as_bytes()).unwrap();
    }

    /// Types a line, waits until it stands there, and enters it.
    pub fn enter(&self, line: &str) {
        self.press(line);
        self.see(&format!("❯ {line}"));
        self.press("\r");
    }

    /// Sends a signal to the client.
    pub fn signal(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until the client has ended.
    pub fn ended(&mut self) {
        let child = &mut self.child;
        let screen = Arc::clone(&self.screen);
        until(
            "the client's end",
            || child.try_wait().unwrap().is_some(),
            || screen.lock().unwrap().screen().contents(),
        );
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
