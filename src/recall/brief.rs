//! What a new session is told: where the project stands, a line a thing.
//!
//! | line | from |
//! |---|---|
//! | open | items that were written down; next steps of the last session, then those of earlier turns that nothing took up later; what was asked and broken off |
//! | decision | current claims: decisions, values, preferences |
//! | fix | current claims: causes that were found |
//! | failure | commands that failed and were not seen to work later |
//! | change | renames and removals, the files most edited lately, how the newest sessions ended |
//! | note | what a person asked to be noted |
//!
//! After a compaction what this very session did comes first, since its own context no longer holds it. No clock is read: newest means newest in the
//! index, ties go by id, so the same memory gives the same bytes (D15).

mod decided;
mod failures;
mod line;
mod open;
mod past;

use super::ask::{Deadline, RecallError};
use super::block::Block;
use super::claims::in_force;
use super::duplicate::Shingles;
use super::todo::items;
use crate::index::Reader;
pub(super) use line::gist;
use line::{Kind, Line, stripped};
pub(super) use open::{left, taken_up};
pub(super) use past::{Past, Scope, of_kind};

/// So many of the newest sessions are looked at for what they edited and how they ended.
const SESSIONS: usize = 8;
/// So many of the newest turns are looked at for what they left open.
const TURNS: usize = 40;
/// Of the compacted session: what its turns ended with.
const OWN_ENDS: usize = 5;
/// Most files named.
const MAX_FILES: usize = 6;
/// Most lines of a kind, of this session or of others. A page is read from its top: each kind has its place on it.
const MOST: [(Kind, usize); 6] = [
    (Kind::Open, 7),
    (Kind::Decision, 7),
    (Kind::Fix, 3),
    (Kind::Failure, 4),
    (Kind::Change, 6),
    (Kind::Note, 3),
];

/// Gives the lines of a brief in the order of their worth. `sessions`: of so many it is told how they ended.
pub(super) fn brief(
    reader: &Reader,
    project: &str,
    session: &str,
    compacted: bool,
    sessions: usize,
    deadline: &Deadline,
) -> Result<Vec<Block>, RecallError> {
    let mut lines = Vec::new();
    if compacted {
        lines = most(part(reader, Scope::Own { session }, OWN_ENDS, deadline)?);
        lines.iter_mut().for_each(|line| line.own = true);
    }
    lines.extend(most(part(reader, Scope::Others { project, session }, sessions, deadline)?));
    Ok(distinct(lines).iter().map(Line::block).collect())
}

/// The lines of one scope, the best first.
fn part(
    reader: &Reader,
    scope: Scope<'_>,
    ends: usize,
    deadline: &Deadline,
) -> Result<Vec<Line>, RecallError> {
    let sessions = of_kind(reader, scope, "session-summary", SESSIONS)?;
    deadline.check()?;
    let turns = of_kind(reader, scope, "outcome", TURNS)?;
    deadline.check()?;
    let mut decided = decided::decided(reader, scope, &turns)?;
    deadline.check()?;
    let mut changes = decided
        .iter()
        .position(|line| line.kind == Kind::Change)
        .map_or_else(Vec::new, |at| decided.split_off(at));
    let failed = failures::unfixed(reader, scope, &turns, deadline)?;
    let of: &[Past] = match scope {
        Scope::Own { .. } => &turns,
        Scope::Others { .. } => &sessions,
    };
    let mut ended: Vec<Line> = Vec::new();
    for past in of {
        if ended.len() >= ends {
            break;
        }
        ended.extend(end(past, &in_force(reader, past.session(), &past.said.completed)?));
    }
    let (next, left) = open::open(&sessions, &turns, &items(reader, scope, &turns, deadline)?);
    let mut lines = Vec::new();
    if let Scope::Own { .. } = scope {
        lines.append(&mut decided);
    }
    lines.extend(next);
    // How the last session ended stands beside what it left to do.
    lines.extend((!ended.is_empty()).then(|| ended.remove(0)));
    lines.append(&mut decided);
    lines.extend(left);
    lines.extend(failed);
    lines.append(&mut changes);
    lines.extend(edited(&sessions));
    lines.extend(ended);
    if let Scope::Others { .. } = scope {
        for note in of_kind(reader, scope, "note", 8)? {
            lines.push(Line::new(Kind::Note, &note, "note", &note.doc.prose));
        }
    }
    Ok(lines)
}

/// Of each kind no more than there is room for.
fn most(lines: Vec<Line>) -> Vec<Line> {
    let mut left = MOST;
    let lines = distinct(lines).into_iter();
    lines
        .filter(|line| match left.iter_mut().find(|(kind, _)| *kind == line.kind) {
            Some((_, 0)) | None => false,
            Some((_, room)) => {
                *room -= 1;
                true
            }
        })
        .collect()
}

/// Without what an earlier line says in nearly the same words.
fn distinct(lines: Vec<Line>) -> Vec<Line> {
    let mut seen: Vec<Shingles> = Vec::new();
    let mut kept = Vec::new();
    for line in lines {
        let shingles = Shingles::of(&line.words);
        if !line.words.is_empty() && !seen.iter().any(|known| known.is_near(&shingles)) {
            seen.push(shingles);
            kept.push(line);
        }
    }
    kept
}

/// How a session or a turn ended, as far as it is still so, with what was asked.
fn end(past: &Past, completed: &str) -> Option<Line> {
    let completed = gist(completed, 360);
    if completed.is_empty() {
        return None;
    }
    let mut line = Line::new(Kind::Change, past, "assistant", &completed);
    let asked = || past.said.request.lines().map(stripped).filter(|text| !text.is_empty());
    // `Implement the following plan:` says less than the plan's title.
    line.asked = asked().find(|text| !text.ends_with(':')).or_else(|| asked().next()).map(str::to_owned);
    // The same ending is not told again at a file that it touched.
    line.end = Some(past.said.completed.clone());
    Some(line)
}

/// The files that the newest sessions edited, those first that most of them did.
fn edited(sessions: &[Past]) -> Option<Line> {
    let mut files: Vec<(&str, usize)> = Vec::new();
    for file in sessions.iter().flat_map(|past| &past.said.files_edited) {
        match files.iter_mut().find(|(known, _)| known == file) {
            Some((_, times)) => *times += 1,
            None => files.push((file, 1)),
        }
    }
    // A stable sort: of those that were edited as often the newest session's come first, in its order.
    files.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    files.truncate(MAX_FILES);
    let newest = sessions.iter().find(|past| !past.said.files_edited.is_empty())?;
    let folder = common_folder(&files.iter().map(|(file, _)| *file).collect::<Vec<_>>());
    let name = |(file, times): &(&str, usize)| {
        let name = super::render::one_word(file.get(folder.len()..).unwrap_or(file));
        if *times > 1 { format!("{name} (in {times} sessions)") } else { name }
    };
    let names: Vec<String> = files.iter().map(name).collect();
    let below = if folder.is_empty() {
        String::new()
    } else {
        format!(", below {}", super::render::one_word(folder))
    };
    let mut line =
        Line::new(Kind::Change, newest, "files", &format!("edited lately{below}: {}", names.join(", ")));
    line.chars = 600;
    Some(line)
}

/// The longest beginning of all paths that ends in a `/`; the last part of each stays.
fn common_folder<'a>(paths: &[&'a str]) -> &'a str {
    let Some(first) = paths.first() else { return "" };
    let mut end = 0;
    for (at, _) in first.match_indices('/') {
        let head = first.get(..=at).unwrap_or_default();
        if paths.iter().all(|path| path.starts_with(head)) {
            end = at + 1;
        }
    }
    first.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_below_the_folder_that_they_share() {
        assert_eq!(common_folder(&["/p/src/a.rs", "/p/src/b/c.rs"]), "/p/src/");
        assert_eq!(common_folder(&["/p/src/a.rs"]), "/p/src/");
        assert_eq!(common_folder(&["/p/src/a.rs", "q/src/b.rs"]), "");
        assert_eq!(common_folder(&["/ä/b", "/ö/b"]), "/");
        assert_eq!(common_folder(&[]), "");
    }
}
