//! The one way to the host: while a handler works, whatever else in the process prints goes nowhere.

use crate::{fs, log};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

/// The host's end of stdout, held apart from the process's own.
pub(super) struct Voice(Option<File>);

impl Voice {
    /// Takes stdout for itself. Where that cannot be done, the process's stdout is used as it is.
    pub(super) fn take() -> Self {
        let apart = || -> io::Result<OwnedFd> {
            let own = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
            rustix::stdio::dup2_stdout(&fs::nowhere()?)?;
            Ok(own)
        };
        Self(apart().ok().map(File::from))
    }

    /// Prints the one reply, if there is one.
    pub(super) fn print(mut self, reply: Option<String>) {
        let Some(reply) = reply else { return };
        // The whole reply is one write: the host takes half a JSON as plain text. A closed stdout is the host's wish.
        let written = match &mut self.0 {
            Some(own) => own.write_all(reply.as_bytes()),
            None => {
                let mut out = io::stdout().lock();
                out.write_all(reply.as_bytes()).and_then(|()| out.flush())
            }
        };
        if let Err(error) = written {
            log::info("hook", &[("error", &error)], "The host did not take the reply.");
        }
    }
}
