//! Running another program with an end to waiting.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Runs a program to its end. `Ok(None)`: it took longer than `limit`, and was ended with all that it had started.
pub(super) fn run(command: &mut Command, limit: Duration) -> io::Result<Option<Output>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn()?;
    let pid = rustix::process::Pid::from_child(&child);
    let (tell, told) = crossbeam_channel::bounded(1);
    std::thread::spawn(move || tell.send(child.wait_with_output()));
    if let Ok(output) = told.recv_timeout(limit) {
        return output.map(Some);
    }
    rustix::process::kill_process_group(pid, rustix::process::Signal::KILL).ok();
    Ok(None)
}

/// Finds a program on the search path.
pub(super) fn find_in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut found = std::env::split_paths(&path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(name));
    found.find(|file| file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok())
}
