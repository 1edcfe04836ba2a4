//! Asking systemd or launchd. Where there is nobody to ask, as in a container or over `su`, the commands are for a person to run later.

use super::{Kind, ServiceError, agent, unit};
use crate::install::{find_in_path, run};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

/// A manager answers within moments, or not at all.
const LIMIT: Duration = Duration::from_secs(30);

/// The service manager of this user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manager {
    kind: Kind,
}

impl Manager {
    /// The manager of a kind.
    pub fn new(kind: Kind) -> Self {
        Self { kind }
    }

    /// Somebody is there to be asked: a session of this user, and the command that talks to it.
    pub fn is_there(self) -> bool {
        match self.kind {
            Kind::Systemd => {
                let runtime = std::env::var_os("XDG_RUNTIME_DIR").filter(|v| !v.is_empty());
                let session = runtime.is_some_and(|dir| Path::new(&dir).join("systemd").is_dir());
                session && find_in_path("systemctl").is_some()
            }
            Kind::Launchd => find_in_path("launchctl").is_some(),
        }
    }

    /// The commands to run before those, which may fail: what they take away need not be there.
    pub fn clear_words(self) -> Vec<Vec<String>> {
        match self.kind {
            Kind::Systemd => Vec::new(),
            // It refuses to load a label that is loaded already, also with another file.
            Kind::Launchd => self.uninstall_words(),
        }
    }

    /// The commands that bring a newly written file into force, after [`Manager::clear_words`].
    pub fn install_words(self, file: &Path) -> Vec<Vec<String>> {
        match self.kind {
            Kind::Systemd => vec![
                words(&["systemctl", "--user", "daemon-reload"]),
                words(&["systemctl", "--user", "enable", unit::NAME]),
                // Also where an older one runs already.
                words(&["systemctl", "--user", "restart", unit::NAME]),
            ],
            Kind::Launchd => vec![words(&["launchctl", "bootstrap", &domain(), &file.to_string_lossy()])],
        }
    }

    /// The commands to run before its file is removed.
    pub fn uninstall_words(self) -> Vec<Vec<String>> {
        match self.kind {
            Kind::Systemd => vec![words(&["systemctl", "--user", "disable", "--now", unit::NAME])],
            Kind::Launchd => {
                vec![words(&["launchctl", "bootout", &format!("{}/{}", domain(), agent::LABEL)])]
            }
        }
    }

    /// The commands to run after it.
    pub fn forget_words(self) -> Vec<Vec<String>> {
        match self.kind {
            Kind::Systemd => vec![words(&["systemctl", "--user", "daemon-reload"])],
            Kind::Launchd => Vec::new(),
        }
    }

    /// Brings a newly written file into force. Errors: as [`Manager::run`].
    pub fn install(self, file: &Path) -> Result<(), ServiceError> {
        for words in self.clear_words() {
            drop(ran(&words));
        }
        self.run(&self.install_words(file))
    }

    /// Runs commands, each of which must succeed.
    pub fn run(self, commands: &[Vec<String>]) -> Result<(), ServiceError> {
        for words in commands {
            let failed = |why: String| ServiceError::Manager { command: words.join(" "), why };
            match ran(words) {
                Some(out) if out.status.success() => {}
                Some(out) => return Err(failed(String::from_utf8_lossy(&out.stderr).trim().to_owned())),
                None => return Err(failed("it did not end, or could not be started".to_owned())),
            }
        }
        Ok(())
    }

    /// It will be started at the next login; `None` when nobody can tell.
    pub fn is_enabled(self) -> Option<bool> {
        match self.kind {
            Kind::Systemd => self.says(&["systemctl", "--user", "is-enabled", unit::NAME], "enabled"),
            // An agent that is loaded comes again by itself.
            Kind::Launchd => self.is_active(),
        }
    }

    /// It runs now; `None` when nobody can tell.
    pub fn is_active(self) -> Option<bool> {
        match self.kind {
            Kind::Systemd => self.says(&["systemctl", "--user", "is-active", unit::NAME], "active"),
            Kind::Launchd => {
                let target = format!("{}/{}", domain(), agent::LABEL);
                let out = self.is_there().then(|| ran(&words(&["launchctl", "print", &target])))??;
                Some(out.status.success())
            }
        }
    }

    fn says(self, command: &[&str], word: &str) -> Option<bool> {
        let out = self.is_there().then(|| ran(&words(command)))??;
        let said = String::from_utf8_lossy(&out.stdout).trim().to_owned();
        // Nothing on stdout: the manager itself did not answer.
        (!said.is_empty()).then(|| said == word)
    }
}

fn ran(words: &[String]) -> Option<Output> {
    let (program, args) = words.split_first()?;
    run(Command::new(program).args(args), Vec::new(), LIMIT).ok().flatten()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

/// The user's own session.
fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_is_loaded_is_taken_out_before_the_new_file_is_loaded() {
        let manager = Manager::new(Kind::Launchd);
        let file = Path::new("/home/dev/Library/LaunchAgents/sinker.drain.plist");
        let label = format!("{}/{}", domain(), agent::LABEL);
        assert_eq!(manager.clear_words(), [["launchctl", "bootout", &label].map(str::to_owned)]);
        let load = ["launchctl", "bootstrap", &domain(), file.to_str().unwrap()].map(str::to_owned);
        assert_eq!(manager.install_words(file), [load]);
        assert!(Manager::new(Kind::Systemd).clear_words().is_empty());
    }
}
