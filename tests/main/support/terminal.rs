//! A command at a terminal: everything that it writes there, byte by byte.

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::Read as _;
use std::process::Command;

/// Runs a command whose three streams are one terminal, 160 columns wide, and gives what the terminal got.
pub fn at_a_terminal(mut command: Command) -> Vec<u8> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let size = rustix::termios::Winsize { ws_row: 50, ws_col: 160, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&ours, size).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = || File::options().read(true).write(true).open(&name).unwrap();
    let mut child = command.stdin(theirs()).stdout(theirs()).stderr(theirs()).spawn().unwrap();
    // The command holds ends of its own.
    drop(command);
    let mut from = File::from(ours);
    let (mut all, mut block) = (Vec::new(), [0; 8192]);
    // When the last end is closed the kernel says EIO, or that there is no more.
    while let Ok(n @ 1..) = from.read(&mut block) {
        all.extend_from_slice(&block[..n]);
    }
    child.wait().unwrap();
    all
}
