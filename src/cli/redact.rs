//! `sinker redact`.

use super::Exit;
use super::exit::Failure;
use super::output::{self, Paint};
use crate::config::{Home, Problem, Secret};
use crate::drain;
use crate::redact::Redactor;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Look for secrets in files, where none is ever printed and nothing is changed; or redact anew what is stored.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["scan", "rescan"])))]
pub(super) struct Args {
    /// Report which secrets lie in a file, or in every file below a folder
    #[arg(long, value_name = "PATH")]
    scan: Option<PathBuf>,
    /// Redact all that is stored by the rules in force: texts, revisions, titles, paths and the index
    #[arg(long)]
    rescan: bool,
    /// Print one JSON object a file with secrets, and one for all
    #[arg(long)]
    json: bool,
}

/// A longer line is looked at in pieces of this size. Units: bytes.
const PIECE_BYTES: u64 = 4 * 1024 * 1024;
/// So many lines are held together, so that a key that lies across lines is seen. Units: bytes.
const BLOCK_BYTES: usize = 256 * 1024;
/// So much of one block is looked at again with the next. Units: bytes.
const OVERLAP_BYTES: usize = 16 * 1024;
/// Of one rule in one file at most so many lines are named.
const MOST_LINES: usize = 100;

/// What one rule found in one file.
#[derive(Default, Serialize)]
struct Found {
    count: u64,
    /// Where: numbers of lines from 1, the first hundred.
    lines: Vec<u64>,
}

#[derive(Serialize)]
struct FileReport {
    path: String,
    rules: BTreeMap<&'static str, Found>,
}

#[derive(Default, Serialize)]
struct Total {
    files: u64,
    bytes: u64,
    files_with_secrets: u64,
    secrets: u64,
    unreadable: u64,
    rules: BTreeMap<&'static str, u64>,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let Some(path) = &args.scan else { return rescan(home, args.json) };
    let secret = Secret::open(home).map_err(|error| Failure::new(error.to_string()))?;
    let redactor = Redactor::new(&secret);
    warn_of(redactor.problems());
    if path.symlink_metadata().is_err() {
        return Err(Failure::new(format!("there is nothing at {}", path.display()))
            .hint("`sinker config show` names the folders of the host's transcripts"));
    }
    let mut total = Total::default();
    for entry in walkdir::WalkDir::new(path).sort_by_file_name() {
        let Ok(entry) = entry else {
            total.unreadable += 1;
            continue;
        };
        let named = entry.depth() == 0 && entry.path().is_file();
        if !named && !entry.file_type().is_file() {
            continue;
        }
        match scan(entry.path(), &redactor, &mut total) {
            Ok(rules) if rules.is_empty() => {}
            Ok(rules) => {
                total.files_with_secrets += 1;
                for (rule, found) in &rules {
                    total.secrets += found.count;
                    *total.rules.entry(rule).or_default() += found.count;
                }
                // The name of a file may hold one, too (D8).
                let mut names = crate::redact::Report::default();
                let path = redactor.clean(&entry.path().to_string_lossy(), &mut names).into_owned();
                show(&FileReport { path, rules }, args.json);
            }
            Err(_) => total.unreadable += 1,
        }
    }
    if args.json {
        output::json(&serde_json::json!({ "total": total }));
    } else {
        say(&total);
    }
    Ok(if total.secrets > 0 { Exit::Done } else { Exit::Nothing })
}

/// Says which rules are not in force, to whoever is about to have something redacted.
pub(super) fn warn_of(problems: &[Problem]) {
    for problem in problems {
        output::complain(&format!("warning: {problem}; that rule is not in force, all others are"));
    }
}

/// Errors: a rule of the user's is not in force, so that what it is to find would be kept.
pub(super) fn refuse_problems(home: &Home) -> Result<(), Failure> {
    let secret = Secret::open(home).map_err(|error| Failure::new(error.to_string()))?;
    match Redactor::new(&secret).problems().first() {
        None => Ok(()),
        Some(problem) => Err(Failure::new(format!("a rule of redaction is not in force: {problem}"))
            .hint("mend it in the settings; `sinker config check` names the file and the key")),
    }
}

fn rescan(home: &Home, json: bool) -> Result<Exit, Failure> {
    refuse_problems(home)?;
    let reply = drain::order(home, "rescan", &serde_json::json!({}), &mut output::complain)?;
    if let Some(error) = reply.error {
        return Err(Failure::new(error).hint("run it again: what was redacted stays so"));
    }
    if json {
        output::json(&serde_json::json!({ "redacted": reply.redacted }));
    } else {
        output::say(&format!("{} {} texts", Paint::new().good("redacted anew"), reply.redacted));
    }
    Ok(Exit::Done)
}

/// Looks through one file, a block of lines at a time.
fn scan(
    path: &Path,
    redactor: &Redactor,
    total: &mut Total,
) -> std::io::Result<BTreeMap<&'static str, Found>> {
    let mut file = BufReader::with_capacity(BLOCK_BYTES, std::fs::File::open(path)?);
    total.files += 1;
    let mut rules: BTreeMap<&'static str, Found> = BTreeMap::new();
    // The block's bytes, the number of its first line, and how much of its begin has been reported already.
    let (mut block, mut first, mut seen) = (Vec::new(), 1u64, 0usize);
    loop {
        let read = file.by_ref().take(PIECE_BYTES).read_until(b'\n', &mut block)?;
        total.bytes += read as u64;
        if read > 0 && block.len() < BLOCK_BYTES.saturating_add(seen) {
            continue;
        }
        let text = String::from_utf8_lossy(&block);
        let mut behind = seen;
        for (span, rule) in redactor.find(&text) {
            if span.start < seen {
                continue;
            }
            let before = text.as_bytes().get(..span.start).unwrap_or_default();
            let line = first + memchr::memchr_iter(b'\n', before).count() as u64;
            let found = rules.entry(rule).or_default();
            found.count += 1;
            if found.lines.len() < MOST_LINES && found.lines.last() != Some(&line) {
                found.lines.push(line);
            }
            behind = span.end;
        }
        if read == 0 {
            return Ok(rules);
        }
        // Lines at the end are kept for the next look; what was found up to `behind` is not counted again.
        let length = text.len();
        drop(text);
        let keep = block.len().saturating_sub(OVERLAP_BYTES);
        let cut = memchr::memchr(b'\n', block.get(keep..).unwrap_or_default())
            .map_or(block.len(), |n| keep + n + 1);
        // Bytes that are no UTF-8 are longer in the text than in the block: then nothing is kept.
        let cut = if length == block.len() { cut } else { block.len() };
        first += memchr::memchr_iter(b'\n', block.get(..cut).unwrap_or_default()).count() as u64;
        seen = behind.saturating_sub(cut);
        block.drain(..cut);
    }
}

fn show(file: &FileReport, json: bool) {
    if json {
        return output::json(file);
    }
    output::say(&Paint::new().bold(&output::plain(&file.path)));
    for (rule, found) in &file.rules {
        let some: Vec<String> = found.lines.iter().take(12).map(u64::to_string).collect();
        let more = if found.lines.len() > some.len() { ", …" } else { "" };
        output::say(&format!("  {:>5}  {rule:<24} line {}{more}", found.count, some.join(", ")));
    }
}

fn say(total: &Total) {
    let unreadable = if total.unreadable > 0 {
        format!(", {} could not be read", total.unreadable)
    } else {
        String::new()
    };
    output::say(&format!(
        "{} secrets in {} of {} files ({}){unreadable}; nothing there was changed",
        total.secrets,
        total.files_with_secrets,
        total.files,
        output::size(total.bytes),
    ));
}
