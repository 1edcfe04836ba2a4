//! Commands that failed and were not seen to work since.

use super::line::{Kind, Line};
use super::past::{Past, Scope, of_kind};
use crate::command;
use crate::index::Reader;
use crate::recall::ask::{Deadline, RecallError};
use crate::recall::history::Failed;
use crate::recall::origin;
use std::collections::HashSet;

/// Most failures told.
const MOST: usize = 4;
/// Most failures looked into.
const LOOK_INTO: usize = 24;

/// The newest first; none that is older than the oldest turn of `turns`: a project has moved on from those.
pub(super) fn unfixed(
    reader: &Reader,
    scope: Scope<'_>,
    turns: &[Past],
    deadline: &Deadline,
) -> Result<Vec<Line>, RecallError> {
    let Some(oldest) = turns.iter().map(|turn| turn.doc.time_ms).min() else { return Ok(Vec::new()) };
    let mut known: HashSet<String> = HashSet::new();
    let mut lines = Vec::new();
    for past in of_kind(reader, scope, "failure", LOOK_INTO)? {
        deadline.check()?;
        let failed = Failed::of(&past.doc);
        let told = failed.told();
        let is_work =
            failed.tool == "Bash" && failed.end == "failed" && !command::only_looks(&failed.command);
        let is_recent = past.doc.time_ms >= oldest || turns.iter().any(|turn| turn.doc.id == failed.turn);
        if !is_work || !is_recent || failed.error.is_empty() || origin::is_addressed(&told) {
            continue;
        }
        if lines.len() < MOST && known.insert(failed.command) {
            lines.push(Line::new(Kind::Failure, &past, "tool", &told));
        }
    }
    Ok(lines)
}
