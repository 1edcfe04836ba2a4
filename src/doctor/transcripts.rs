//! Proves that the host's transcripts can be read. Mend: CLAUDE_CONFIG_DIR or `transcripts.roots`, permissions.

use super::{Finding, Patient};
use crate::config::Settings;

pub(super) fn look(_patient: &Patient) -> Finding {
    let roots = Settings::read(None).roots();
    let mut found = Vec::new();
    for root in &roots {
        match std::fs::read_dir(root) {
            Ok(_) => found.push(root.display().to_string()),
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
