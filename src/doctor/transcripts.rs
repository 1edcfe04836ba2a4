//! Proves that the host's transcripts can be read. Mend: CLAUDE_CONFIG_DIR or `transcripts.roots`, permissions.

use super::{Finding, Patient};
use crate::config::{Settings, host_root};
use std::io::ErrorKind;

pub(super) fn look(patient: &Patient) -> Finding {
    let fresh = !patient.home.store().exists();
    let roots = Settings::read(None).roots();
    let mut found = Vec::new();
    for root in &roots {
        match std::fs::read_dir(root) {
            Ok(_) => found.push(root.display().to_string()),
            // The host makes it with its first session.
            Err(error)
                if fresh && error.kind() == ErrorKind::NotFound && host_root().as_ref() == Some(root) =>
            {
                found.push(format!("{} is made by Claude Code's first session", root.display()));
            }
            Err(error) => {
                return Finding::bad(
                    format!("{}: {error}", root.display()),
                    "start Claude Code once, or tell where it keeps its sessions: CLAUDE_CONFIG_DIR, or `transcripts.roots` in the config",
                );
            }
        }
    }
    if found.is_empty() {
        return Finding::bad("no root is known", "set HOME, or `transcripts.roots` in the config");
    }
    Finding::good(found.join(", "))
}
