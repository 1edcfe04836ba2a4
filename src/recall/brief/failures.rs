//! Commands that failed at the end of a turn and were not seen to work later.
//!
//! A turn tells of a command that failed unless its last run in that turn worked. So a run that is younger than the newest turn that tells of the
//! failure worked: had it failed, its own turn would tell.

use super::line::{Kind, Line};
use super::past::{Past, Scope, within};
use crate::index::{Reader, tokens};
use crate::recall::ask::{Deadline, RecallError};
use crate::recall::history::as_kept;
use crate::recall::scope::{Docs, holding};
use crate::recall::{history, origin};
use std::collections::HashSet;
use tantivy::{DocAddress, Term};

/// Most failures told.
const MOST: usize = 4;
/// Most failures looked into.
const LOOK_INTO: usize = 8;
/// Most runs of what may be the same command that are read.
const RUNS: usize = 6;
/// Looking is not work: that these found nothing is no failure of the project.
const LOOKS: [&str; 16] = [
    "grep", "rg", "ls", "cat", "which", "test", "[", "diff", "find", "head", "tail", "stat", "type",
    "command", "cd", "sed",
];

/// The newest failures first.
pub(super) fn unfixed(
    reader: &Reader,
    scope: Scope<'_>,
    turns: &[Past],
    deadline: &Deadline,
) -> Result<Vec<Line>, RecallError> {
    let mut known: HashSet<String> = HashSet::new();
    let mut lines = Vec::new();
    let mut looked = 0;
    for turn in turns {
        for failure in history::failures(&turn.doc) {
            let told = failure.trim_start_matches("failed: ");
            let (command, error) = told.split_once(": ").unwrap_or((told, ""));
            let is_news = known.insert(command.to_owned());
            let is_look = command.split_whitespace().next().is_none_or(|first| LOOKS.contains(&first));
            if !is_news || is_look || error.trim().is_empty() || error.starts_with("<tool_use_error>") {
                continue;
            }
            if origin::is_addressed(told) {
                continue;
            }
            if lines.len() >= MOST || looked >= LOOK_INTO {
                return Ok(lines);
            }
            looked += 1;
            if !ran_later(reader, scope, told, command, turn.doc.time_ms)? {
                lines.push(Line::new(Kind::Failure, turn, "tool", told));
            }
            deadline.check()?;
        }
    }
    Ok(lines)
}

/// Was the command that a failure begins with run after a time? `least` is what surely belongs to it.
fn ran_later(
    reader: &Reader,
    scope: Scope<'_>,
    failure: &str,
    least: &str,
    after: i64,
) -> Result<bool, RecallError> {
    let f = reader.fields();
    let terms: HashSet<String> = tokens::terms(least).take(24).collect();
    let mut found = Vec::new();
    for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
        let inverted = segment.inverted_index(f.tool)?;
        let mut lists = Vec::new();
        for text in &terms {
            lists.push((inverted.doc_freq(&Term::from_field_text(f.tool, text))?, text));
        }
        // The rarest first: the others only thin out what it holds.
        lists.sort();
        let Some(((_, rarest), rest)) = lists.split_first() else { return Ok(false) };
        let mut docs = Docs::Only(holding(segment, f.tool, rarest)?);
        for (_, text) in rest.iter().take(6) {
            docs = docs.keep(segment, f.tool, text)?;
        }
        docs = docs.keep(segment, f.speaker, "assistant")?;
        for doc in within(reader, segment, docs, scope)? {
            let at = DocAddress::new(ord, doc);
            let ms = reader.time(at)?;
            if ms > after {
                found.push((ms, at));
            }
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    for (_, at) in found.into_iter().take(RUNS) {
        if commands(&reader.stored(at)?.tool).any(|command| begins(failure, &as_kept(command))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Does what is known of a failure begin with this command?
fn begins(failure: &str, command: &str) -> bool {
    let rest = failure.strip_prefix(command);
    !command.is_empty() && rest.is_some_and(|rest| rest.starts_with(": ") || rest.starts_with("…: "))
}

/// The commands in the text of a tool call, as the store flattens it.
fn commands(tool: &str) -> impl Iterator<Item = &str> {
    const NEXT: [&str; 5] = [
        "\ndescription: ",
        "\ntimeout: ",
        "\nrun_in_background: ",
        "\ndangerouslyDisableSandbox: ",
        "\nBash\n",
    ];
    let starts =
        tool.match_indices("command: ").filter(|(at, _)| tool.get(..*at).is_some_and(|b| b.ends_with('\n')));
    starts.filter_map(|(at, key)| {
        let rest = tool.get(at + key.len()..)?;
        let end = NEXT.iter().filter_map(|next| rest.find(next)).min().unwrap_or(rest.len());
        rest.get(..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_of_a_call_are_found_again_in_what_is_told_of_a_failure() {
        let tool = "Bash\ncommand: cargo fmt \\\n  --check\ndescription: the command: of all\ntimeout: 7";
        let found: Vec<String> = commands(tool).map(as_kept).collect();
        assert_eq!(found, ["cargo fmt \\ --check"]);
        assert!(begins("cargo fmt \\ --check: diff", &found[0]));
        assert!(begins(&format!("{}…: x", "a".repeat(160)), &as_kept(&"a".repeat(200))));
        for (failure, command) in [("cargo fmt: x", "cargo"), ("cargo fmt: x", ""), ("cargo: x", "cargo fmt")]
        {
            assert!(!begins(failure, command), "{failure}, {command}");
        }
        assert_eq!(commands("Read\nfile_path: /a").count(), 0);
    }
}
