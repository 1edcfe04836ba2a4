//! What is in force: claims that nothing later replaced or contradicts.

use super::line::{Kind, Line};
use super::past::{Past, Scope, is_any, of_kind};
use crate::index::Reader;
use crate::recall::ask::RecallError;
use crate::recall::origin;
use serde_json::Value;

/// So many of the newest current claims are looked at.
const CLAIMS: usize = 60;
/// A claim that was stated once more counts as if it were so many claims newer.
const AGAIN: usize = 6;
/// The same of one that the user stated.
const BY_USER: usize = 12;

/// Decisions and fixes first, then renames and removals, each in the order of their weight: the newest, the user's, and those with the most evidence.
///
/// A session of which no claim is known, and that was just compacted, is told the sentences in which its own turns decided something.
pub(super) fn decided(reader: &Reader, scope: Scope<'_>, turns: &[Past]) -> Result<Vec<Line>, RecallError> {
    let claims: Vec<Past> = of_kind(reader, scope, "claim", CLAIMS)?;
    let mut ranked: Vec<(usize, Line)> = Vec::new();
    for (age, claim) in claims.iter().enumerate() {
        let foreign = origin::is_foreign(&claim.doc.speaker) && origin::is_addressed(&claim.doc.prose);
        // One without a status was not compared with the others yet.
        if claim.doc.status != "current" || foreign {
            continue;
        }
        let header: Value = serde_json::from_str(&claim.doc.header).unwrap_or_default();
        let kind = match header.get("type").and_then(Value::as_str) {
            Some("root_cause") => Kind::Fix,
            Some("rename" | "removal") => Kind::Change,
            _ => Kind::Decision,
        };
        let evidence = header.get("evidence").and_then(Value::as_array).map_or(1, Vec::len);
        let mut worth = AGAIN.saturating_mul(evidence.saturating_sub(1).min(4));
        if claim.doc.speaker == "user" {
            worth += BY_USER;
        }
        let who = if claim.doc.speaker.is_empty() { "claim" } else { &claim.doc.speaker };
        let line = Line::new(kind, claim, who, &claim.doc.prose);
        // Older is a greater place, worth a smaller one: places of equal rank keep the order of time.
        ranked.push(((age + CLAIMS).saturating_sub(worth), line));
    }
    ranked.sort_by_key(|(place, line)| (line.kind == Kind::Change, *place));
    let mut lines: Vec<Line> = ranked.into_iter().map(|(_, line)| line).collect();
    if matches!(scope, Scope::Own { .. }) && !is_any(reader, scope, "claim")? {
        for turn in turns {
            let said = turn.said.notes.lines();
            let said =
                said.filter(|line| !line.starts_with("failed: ") && *line != "interrupted by the user");
            lines.extend(said.map(|line| Line::new(Kind::Decision, turn, "notes", line)));
        }
    }
    Ok(lines)
}
