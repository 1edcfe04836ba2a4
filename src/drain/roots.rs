//! Where transcripts may lie. A path that an event names is foreign text: outside of the host's folder it is not read, whatever it is.
//!
//! The host's folder is the drainer's own (`transcripts.roots`), or the one that the hook saw in its environment: another `CLAUDE_CONFIG_DIR`
//! than the drainer's is common. What a person names for an import may lie anywhere.

use crate::spool::Entry;
use std::path::{Component, Path, PathBuf};

/// Every transcript of an entry lies below a root, links and `..` followed.
pub(super) fn holds(roots: &[PathBuf], entry: &Entry) -> bool {
    let own = entry.root.iter().filter(|root| root.is_absolute());
    let roots: Vec<PathBuf> = roots
        .iter()
        .chain(own)
        .filter_map(|root| real(root))
        .filter(|root| root.parent().is_some())
        .collect();
    let agent = entry.agent.as_ref().and_then(|agent| agent.transcript.as_ref());
    std::iter::once(&entry.transcript)
        .chain(agent)
        .all(|path| real(path).is_some_and(|path| roots.iter().any(|root| path.starts_with(root))))
}

/// The place that a path leads to; what is not there yet is taken as it is. `None`: it is not a whole path, or goes up.
fn real(path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    path.ancestors().find_map(|above| {
        let found = above.canonicalize().ok()?;
        Some(found.join(path.strip_prefix(above).ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_what_lies_below_a_root_is_held_wherever_links_lead() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for path in ["host/projects/-a", "other/projects", "outside"] {
            crate::fs::make_private_dir(&at(path)).unwrap();
        }
        symlink(at("outside"), at("host/projects/-link")).unwrap();
        symlink(at("host"), at("dotfiles")).unwrap();
        let cases = [
            ("host/projects/-a/s.jsonl", None, true),
            ("dotfiles/projects/-a/s.jsonl", None, true),
            ("host/projects/-new/s.jsonl", None, true),
            ("host/projects/-link/s.jsonl", None, false),
            ("host/projects/-a/../../../outside/s.jsonl", None, false),
            ("host/s.jsonl", None, false),
            ("host/projects-2/s.jsonl", None, false),
            ("other/projects/-a/s.jsonl", None, false),
            ("other/projects/-a/s.jsonl", Some("other/projects"), true),
            ("outside/s.jsonl", Some("other/projects"), false),
        ];
        for (path, root, expected) in cases {
            let text = serde_json::json!({"v": 1, "host": "claude", "event": "stop", "session": "s", "cursor": 0, "time": "",
                "transcript": at(path), "root": root.map(at)});
            let entry = Entry::parse(text.to_string().as_bytes()).unwrap();
            assert_eq!(holds(&[at("host/projects")], &entry), expected, "{path}");
            let mut agent = entry.clone();
            let own = at(path);
            agent.transcript = at("host/projects/-a/s.jsonl");
            agent.agent =
                Some(crate::spool::Agent { id: "a".into(), kind: String::new(), transcript: Some(own) });
            assert_eq!(holds(&[at("host/projects")], &agent), expected, "{path} of a subagent");
        }
    }
}
