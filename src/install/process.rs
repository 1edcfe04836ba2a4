//! Running another program with an end to waiting.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Runs a program to its end. `Ok(None)`: it took longer than `limit`, and was ended with all that it had started.
pub fn run(command: &mut Command, stdin: Vec<u8>, limit: Duration) -> io::Result<Option<Output>> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let pid = rustix::process::Pid::from_child(&child);
    let pipe = child.stdin.take();
    // The program may not read what it is given: that must not hold us either.
    std::thread::spawn(move || pipe.map(|mut pipe| pipe.write_all(&stdin)));
    let (tell, told) = crossbeam_channel::bounded(1);
    std::thread::spawn(move || tell.send(child.wait_with_output()));
    if let Ok(output) = told.recv_timeout(limit) {
        return output.map(Some);
    }
    rustix::process::kill_process_group(pid, rustix::process::Signal::KILL).ok();
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_is_ended() {
        let run = |script: &str, stdin: &[u8], ms| {
            run(Command::new("sh").args(["-c", script]), stdin.to_vec(), Duration::from_millis(ms)).unwrap()
        };
        assert_eq!(run("cat", b"abc", 60_000).unwrap().stdout, b"abc");
        assert!(run("sleep 600 & sleep 600", b"", 50).is_none());
    }
}
