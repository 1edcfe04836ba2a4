//! The six fields, drawn from what was said: deterministic, without a model.
//!
//! Only whole lines and sentences of the source are taken, so that a person finds them again in the record.

use crate::store::body::{Block, Fields};
use crate::store::facts::action;
use std::collections::BTreeMap;

/// Units: characters, for each field.
const FIELD_CHARS: usize = 700;
const MAX_FILES: usize = 40;
/// The newest answers are kept whole up to this size (bytes), for the fields that come from the end of a turn.
const ANSWER_BYTES: usize = 16 * 1024;

/// Collects a turn or run, record by record, in bounded memory.
#[derive(Default)]
pub(super) struct Builder {
    fields: Fields,
    answer: String,
    looked: Vec<String>,
    /// Open and failed commands by call id, in the order of their ids.
    running: BTreeMap<String, String>,
    failed: Vec<(String, String)>,
    decided: Vec<String>,
    interrupted: bool,
}

const LEARNED: [&str; 13] = [
    "root cause",
    "because",
    "turns out",
    "the problem is",
    "the problem was",
    "the issue is",
    "the issue was",
    "caused by",
    "found that",
    "the reason",
    "the bug",
    "was failing",
    "fails when",
];
const DECIDED: [&str; 12] = [
    "decided",
    "we'll use",
    "we will use",
    "i'll use",
    "let's use",
    "instead of",
    "rather than",
    "from now on",
    "going with",
    "chose ",
    "must not",
    "switch to",
];
const NEXT: [&str; 9] = [
    "next step",
    "next, ",
    "todo",
    "still need",
    "remaining",
    "follow-up",
    "follow up",
    "not yet",
    "left to do",
];

impl Builder {
    /// Adds a record.
    pub(super) fn add(
        &mut self,
        speaker: &str,
        is_prompt: bool,
        command: Option<&str>,
        args: Option<&str>,
        blocks: &[Block],
    ) {
        for block in blocks {
            match block {
                Block::Text { t } => match speaker {
                    "user" | "agent" => self.asked(is_prompt || speaker == "agent", command, args, t),
                    "assistant" => self.answered(t),
                    "host" if t.starts_with("[Request interrupted") => self.interrupted = true,
                    _ => {}
                },
                Block::Use { id, name, t, file, cmd } => {
                    self.called(id, name, t, file.as_deref(), cmd.as_deref())
                }
                Block::Result { id, t, failed, interrupted, .. } => {
                    self.returned(id, t, *failed || *interrupted)
                }
                _ => {}
            }
        }
    }

    fn asked(&mut self, is_request: bool, command: Option<&str>, args: Option<&str>, text: &str) {
        let line = match command {
            Some(name) => format!("/{name} {}", args.unwrap_or_default()).trim_end().to_owned(),
            None => text.to_owned(),
        };
        if is_request && self.fields.request.is_empty() {
            self.fields.request = first_lines(&line, FIELD_CHARS);
        }
        collect(&mut self.decided, &line, &DECIDED);
    }

    fn answered(&mut self, text: &str) {
        let mut learned = Vec::new();
        collect(&mut learned, text, &LEARNED);
        for sentence in learned {
            add_line(&mut self.fields.learned, &sentence);
        }
        collect(&mut self.decided, text, &DECIDED);
        if !text.trim().is_empty() {
            let mut end = ANSWER_BYTES.min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            self.answer = text.get(..end).unwrap_or(text).to_owned();
        }
    }

    fn called(&mut self, id: &str, name: &str, input: &str, file: Option<&str>, command: Option<&str>) {
        match (file, action(name)) {
            (Some(path), Some("read")) => add_file(&mut self.fields.files_read, path),
            (Some(path), Some(_)) => add_file(&mut self.fields.files_edited, path),
            _ => {}
        }
        if let Some(command) = command {
            self.running.insert(id.to_owned(), one_line(command, 160));
        } else if matches!(name, "Grep" | "Glob" | "WebSearch" | "WebFetch" | "Agent" | "Task") {
            let wanted = ["pattern: ", "query: ", "url: ", "description: "];
            let line = input.lines().find(|l| wanted.iter().any(|w| l.starts_with(w)));
            self.looked.push(format!("{name} {}", one_line(line.unwrap_or_default(), 120)));
        }
    }

    fn returned(&mut self, id: &str, text: &str, failed: bool) {
        let Some(command) = self.running.remove(id) else { return };
        self.failed.retain(|(known, _)| *known != command);
        if failed {
            let line = text.lines().map(str::trim).find(|l| !l.is_empty() && !l.starts_with("Exit code"));
            self.failed.push((command, one_line(line.unwrap_or_default(), 160)));
        }
    }

    /// The fields; those that come from the end of the run are drawn now.
    pub(super) fn finish(mut self) -> Fields {
        self.fields.next_steps = next_steps(&self.answer);
        self.fields.completed = first_lines(&without_section(&self.answer), FIELD_CHARS);
        self.looked.dedup();
        for line in &self.looked {
            add_line(&mut self.fields.investigated, line);
        }
        for sentence in &self.decided {
            add_line(&mut self.fields.notes, sentence);
        }
        for (command, error) in &self.failed {
            add_line(&mut self.fields.notes, &format!("failed: {command}: {error}"));
        }
        if self.interrupted {
            add_line(&mut self.fields.notes, "interrupted by the user");
        }
        self.fields
    }
}

fn add_file(files: &mut Vec<String>, path: &str) {
    if files.len() < MAX_FILES && !files.iter().any(|f| f == path) {
        files.push(path.to_owned());
    }
}

/// Adds a line while there is room; the first one always.
fn add_line(field: &mut String, line: &str) {
    let known = field.lines().any(|l| l == line);
    let full = !field.is_empty() && field.chars().count() + line.chars().count() > FIELD_CHARS;
    if line.trim().is_empty() || known || full {
        return;
    }
    if !field.is_empty() {
        field.push('\n');
    }
    field.push_str(line);
}

fn one_line(text: &str, chars: usize) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match joined.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", joined.get(..at).unwrap_or_default()),
        None => joined,
    }
}

/// Whole lines from the beginning, up to `chars`; a first line that is longer is cut.
fn first_lines(text: &str, chars: usize) -> String {
    let mut out = String::new();
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
        if out.is_empty() {
            out = one_line(line, chars);
        } else if out.chars().count() + line.chars().count() < chars {
            out.push('\n');
            out.push_str(line);
        } else {
            break;
        }
    }
    out
}

/// Collects the sentences that hold one of the cues. A sentence ends at `. `, `! `, `? ` or the end of its line.
fn collect(into: &mut Vec<String>, text: &str, cues: &[&str]) {
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced || into.len() >= 20 {
            continue;
        }
        for sentence in sentences(line) {
            let lower = sentence.to_lowercase();
            if (12..=400).contains(&sentence.len()) && cues.iter().any(|cue| lower.contains(cue)) {
                into.push(sentence.to_owned());
            }
        }
    }
}

fn sentences(line: &str) -> impl Iterator<Item = &str> {
    line.split_inclusive(". ")
        .flat_map(|s| s.split_inclusive("! "))
        .flat_map(|s| s.split_inclusive("? "))
        .map(|s| s.trim().trim_start_matches(['-', '*', '#', '>', ' ']))
}

fn is_next_heading(line: &str) -> bool {
    let plain = line.trim().trim_matches(['#', '*', ':', ' ']).to_lowercase();
    plain.len() < 40
        && [
            "next step",
            "next up",
            "todo",
            "to do",
            "remaining",
            "follow-up",
            "follow up",
            "still open",
            "left to do",
        ]
        .iter()
        .any(|head| plain.starts_with(head))
}

/// The lines under a heading of next steps, else the sentences that speak of them.
fn next_steps(answer: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in answer.lines() {
        let heading =
            line.trim_start().starts_with('#') || (line.starts_with("**") && line.trim_end().ends_with("**"));
        if is_next_heading(line) {
            inside = true;
        } else if inside && heading {
            break;
        } else if inside {
            add_line(&mut out, line.trim());
        }
    }
    if out.is_empty() {
        let mut found = Vec::new();
        collect(&mut found, answer, &NEXT);
        for sentence in found {
            add_line(&mut out, &sentence);
        }
    }
    out
}

/// The answer without its section of next steps: what is left was done or said.
fn without_section(answer: &str) -> String {
    let kept = answer.lines().take_while(|line| !is_next_heading(line));
    kept.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(t: &str) -> Vec<Block> {
        vec![Block::Text { t: t.to_owned() }]
    }

    fn run(id: &str, command: &str, result: &str, failed: bool) -> [(&'static str, Vec<Block>); 2] {
        let call = Block::Use {
            id: id.into(),
            name: "Bash".into(),
            t: String::new(),
            file: None,
            cmd: Some(command.into()),
        };
        let result =
            Block::Result { id: id.into(), t: result.into(), failed, exit: None, interrupted: false };
        [("assistant", vec![call]), ("tool", vec![result])]
    }

    #[test]
    fn a_turn_gives_its_six_fields() {
        let mut builder = Builder::default();
        builder.add("user", true, None, None, &text("Fix the login test.\nIt is flaky."));
        let edit = Block::Use {
            id: "e".into(),
            name: "Edit".into(),
            t: String::new(),
            file: Some("/a.rs".into()),
            cmd: None,
        };
        builder.add("assistant", false, None, None, &[edit]);
        for (speaker, blocks) in run("1", "cargo test", "Exit code 1\nlogin failed", true)
            .into_iter()
            .chain(run("2", "cargo test", "ok", false))
            .chain(run("3", "cargo fmt --check", "Exit code 1\ndiff", true))
        {
            builder.add(speaker, false, None, None, &blocks);
        }
        builder.add(
            "assistant",
            false,
            None,
            None,
            &text("The root cause is a strict comparison. We'll use a leeway of 30 s."),
        );
        builder.add(
            "assistant",
            false,
            None,
            None,
            &text("Fixed the comparison.\n\n## Next steps\n- run the load test\n"),
        );
        let fields = builder.finish();
        assert_eq!(fields.request, "Fix the login test.\nIt is flaky.");
        assert_eq!(fields.learned, "The root cause is a strict comparison.");
        assert_eq!(fields.completed, "Fixed the comparison.");
        assert_eq!(fields.next_steps, "- run the load test");
        assert_eq!(fields.notes, "We'll use a leeway of 30 s.\nfailed: cargo fmt --check: diff");
        assert_eq!(fields.files_edited, ["/a.rs"]);
    }

    #[test]
    fn code_is_not_taken_for_a_finding() {
        let mut builder = Builder::default();
        builder.add(
            "assistant",
            false,
            None,
            None,
            &text("```\n// because of the borrow checker\n```\nDone."),
        );
        let fields = builder.finish();
        assert_eq!((fields.learned.as_str(), fields.next_steps.as_str()), ("", ""));
    }
}
