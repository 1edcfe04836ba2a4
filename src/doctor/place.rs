//! Proves that the data lies on a local disk (SQLite's log and the drain lock need one), and that there is room. Mend: another SINKER_HOME.

use super::{Finding, Patient};
use crate::fs;
use std::path::Path;

/// Less is little for a store, its log and an index that is being rebuilt. Units: bytes.
const LITTLE: u64 = 100 * 1024 * 1024;

pub(super) fn network(patient: &Patient) -> Finding {
    let root = exists(patient.home.root());
    match fs::network(root) {
        Some(kind) => Finding::bad(
            format!("{} lies on a network file system ({kind})", patient.home.root().display()),
            "SINKER_HOME=/path/on/a/local/disk, and the same in the host's environment; two machines must not share one",
        ),
        None => Finding::good("a local file system"),
    }
}

pub(super) fn space(patient: &Patient) -> Finding {
    let root = exists(patient.home.root());
    judge(fs::free_bytes(root), &patient.home.root().display().to_string())
}

fn judge(free: Option<u64>, root: &str) -> Finding {
    match free {
        Some(free) if free < LITTLE => Finding::bad(
            format!("{} MB are free where {root} lies", free / 1_000_000),
            "make room; nothing is lost meanwhile, as long as the host keeps its transcripts",
        ),
        Some(free) => Finding::good(format!("{} MB are free", free / 1_000_000)),
        None => Finding::good("cannot be told here"),
    }
}

/// The nearest part of a path that is there.
fn exists(path: &Path) -> &Path {
    path.ancestors().find(|p| p.exists()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_room_is_told() {
        assert!(judge(Some(LITTLE), "/data").ok && judge(None, "/data").ok);
        assert!(!judge(Some(LITTLE - 1), "/data").ok);
    }
}
