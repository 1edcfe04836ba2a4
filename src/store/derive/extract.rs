//! The six fields, drawn from what was said: deterministic, without a model.
//!
//! Only whole lines and sentences of the source are taken, so that a person finds them again in the record.

use super::runs::one_line;
use super::sentences::{
    add_line, collect, first_lines, next_steps, sentences, without_offers, without_section,
};
use super::sort;
use crate::command;
use crate::store::body::{Block, Fields, Ran, Tested, Todo};
use crate::store::facts::action;

/// Units: characters, for each field.
pub(super) const FIELD_CHARS: usize = 700;
const MAX_FILES: usize = 40;
/// The newest answers are kept whole up to this size (bytes), for the fields that come from the end of a turn.
const ANSWER_BYTES: usize = 16 * 1024;

/// Collects a turn or run, record by record, in bounded memory.
#[derive(Default)]
pub(super) struct Builder {
    fields: Fields,
    answer: String,
    answered_by: String,
    looked: Vec<(String, String)>,
    decided: Vec<(String, String)>,
    interrupted: bool,
    /// Tools were called.
    called: bool,
    /// One of them after the last answer.
    goes_on: bool,
}

/// What a turn says beside its words.
pub(super) struct Beside {
    /// Commands that failed when they ran last: command, error, record.
    pub failing: Vec<(String, String, String)>,
    pub commands: Vec<Ran>,
    pub tests: Vec<Tested>,
    pub todos: Vec<Todo>,
    /// Somebody settled something.
    pub decided: bool,
}

/// Words of what is still being looked for.
const GUESSES: [&str; 8] =
    ["let me", "i'll ", "something else", "maybe", "might be", "could be", "likely", "probably"];
/// A shorter sentence says that something was found, not what. Units: bytes.
const LEARNED_BYTES: usize = 24;
/// Records that a field names, at most.
const SOURCES: usize = 6;
/// A shorter answer to a shorter request, in characters and words, is small talk, when nothing was done beside.
const SMALL_TALK: (usize, usize) = (100, 4);

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
const DECIDED: [&str; 8] =
    ["decided", "we'll use", "we will use", "i'll use", "let's use", "from now on", "going with", "we chose"];
/// So begins what is about to be done, and no more.
const ANNOUNCES: [&str; 12] = [
    "let me ",
    "i'll ",
    "i will ",
    "i'm going to ",
    "i am going to ",
    "now i ",
    "now let",
    "next, i ",
    "i need to ",
    "first, i ",
    "let's ",
    "i should ",
];
impl Builder {
    /// Adds a record; `id` tells where it is found again.
    pub(super) fn add(
        &mut self,
        id: &str,
        speaker: &str,
        is_prompt: bool,
        command: Option<(&str, &str)>,
        blocks: &[Block],
    ) {
        for block in blocks {
            match block {
                Block::Text { t } => match speaker {
                    "user" | "agent" => self.asked(id, is_prompt || speaker == "agent", command, t),
                    "assistant" => self.answered(id, t),
                    "host" if t.starts_with("[Request interrupted") => self.interrupted = true,
                    _ => {}
                },
                Block::Use { name, t, file, cmd, .. } => {
                    self.called(id, name, t, file.as_deref(), cmd.as_deref())
                }
                _ => {}
            }
        }
    }

    /// Notes the model that answers.
    pub(super) fn by(&mut self, model: &str) {
        self.fields.model = Some(model.to_owned());
    }

    fn source(&mut self, field: &str, id: &str) {
        let known = self.fields.sources.entry(field.to_owned()).or_default();
        let id = id.get(..SOURCE_CHARS).unwrap_or(id);
        if known.len() < SOURCES && !known.iter().any(|k| k == id) {
            known.push(id.to_owned());
        }
    }

    fn asked(&mut self, id: &str, is_request: bool, command: Option<(&str, &str)>, text: &str) {
        let line = match command {
            Some((name, args)) => format!("/{name} {args}").trim_end().to_owned(),
            // What an editor adds, nobody asked.
            None if text.trim_start().starts_with("<ide_") => return,
            None => text.to_owned(),
        };
        if is_request && self.fields.request.is_empty() {
            self.fields.request = first_lines(&line, FIELD_CHARS);
            self.source("request", id);
        }
        let mut decided = Vec::new();
        collect(&mut decided, &line, &DECIDED);
        self.decided.extend(decided.into_iter().map(|sentence| (sentence, id.to_owned())));
    }

    fn answered(&mut self, id: &str, text: &str) {
        // The client's own word, where nothing was to be said.
        if text.trim() == "No response requested." {
            return;
        }
        let mut learned = Vec::new();
        collect(&mut learned, text, &LEARNED);
        // What is still being looked for was not found.
        learned.retain(|sentence| {
            let lower = sentence.to_lowercase();
            sentence.len() >= LEARNED_BYTES && !GUESSES.iter().any(|word| lower.contains(word))
        });
        for sentence in learned {
            if add_line(&mut self.fields.learned, &sentence) {
                self.source("learned", id);
            }
        }
        let mut decided = Vec::new();
        collect(&mut decided, text, &DECIDED);
        if self.decided.len() < 20 {
            self.decided.extend(decided.into_iter().map(|sentence| (sentence, id.to_owned())));
        }
        if !text.trim().is_empty() {
            self.answered_by = id.to_owned();
            self.goes_on = false;
            let mut end = ANSWER_BYTES.min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            self.answer = text.get(..end).unwrap_or(text).to_owned();
        }
    }

    fn called(&mut self, id: &str, name: &str, input: &str, file: Option<&str>, run: Option<&str>) {
        self.called = true;
        // Keeping a list is no further step.
        self.goes_on |= !matches!(name, "TodoWrite" | "TaskCreate" | "TaskUpdate");
        for path in run.map(command::paths).unwrap_or_default() {
            let path = path.strip_prefix("./").unwrap_or(path);
            add_file(&mut self.fields.files_named, path);
        }
        match (file, action(name)) {
            (Some(path), Some("read")) => {
                add_file(&mut self.fields.files_read, path);
                self.source("files_read", id);
            }
            (Some(path), Some(_)) => {
                add_file(&mut self.fields.files_edited, path);
                self.source("files_edited", id);
            }
            _ => {}
        }
        if run.is_none() && matches!(name, "Grep" | "Glob" | "WebSearch" | "WebFetch" | "Agent" | "Task") {
            let wanted = ["pattern: ", "query: ", "url: ", "description: "];
            let line = input.lines().find(|l| wanted.iter().any(|w| l.starts_with(w)));
            self.looked.push((format!("{name} {}", one_line(line.unwrap_or_default(), 120)), id.to_owned()));
        }
    }

    /// Was there nothing worth keeping: a greeting, thanks, a word of agreement, or no word at all?
    pub(super) fn is_small_talk(&self) -> bool {
        let (chars, words) = SMALL_TALK;
        let asked = self.fields.request.split_whitespace().count();
        if !self.called && !self.interrupted && self.answer.trim().is_empty() && asked == 0 {
            return self.decided.is_empty() && self.fields.learned.is_empty();
        }
        let (answer, request) = (self.answer.trim(), self.fields.request.trim());
        let is_plain = |text: &str| !text.chars().any(|c| c.is_ascii_digit() || "/\\`_#@{}=<>\"".contains(c));
        !self.called
            && !self.interrupted
            && !answer.is_empty()
            && self.fields.learned.is_empty()
            && self.decided.is_empty()
            && request.split_whitespace().count() < words
            && answer.chars().count() < chars
            && is_plain(request)
            && is_plain(answer)
            && !request.contains('?')
            && next_steps(&self.answer).is_empty()
            && sort::is_courtesy(request)
    }

    /// The last answer says only what is to be done now: the turn was broken off, or goes on without a word.
    fn only_announces(&self) -> bool {
        let last = self.answer.trim().lines().last().unwrap_or_default();
        let last = sentences(last).last().unwrap_or_default().to_lowercase();
        let announces = ANNOUNCES.iter().any(|head| last.starts_with(head));
        let answer = self.answer.trim();
        let short = answer.chars().count() < 160 && !answer.contains('\n');
        (announces && self.goes_on) || (short && (announces || self.goes_on))
    }

    /// The fields; those that come from the end of the run are drawn now.
    pub(super) fn finish(mut self, beside: Beside) -> Fields {
        let answered_by = std::mem::take(&mut self.answered_by);
        self.fields.next_steps = next_steps(&self.answer);
        if !self.only_announces() {
            self.fields.completed = first_lines(&without_offers(&without_section(&self.answer)), FIELD_CHARS);
        }
        for (field, is_there) in [
            ("next_steps", !self.fields.next_steps.is_empty()),
            ("completed", !self.fields.completed.is_empty()),
        ] {
            if is_there {
                self.source(field, &answered_by);
            }
        }
        self.looked.dedup_by(|a, b| a.0 == b.0);
        for (line, id) in std::mem::take(&mut self.looked) {
            if add_line(&mut self.fields.investigated, &line) {
                self.source("investigated", &id);
            }
        }
        for (sentence, id) in std::mem::take(&mut self.decided) {
            if add_line(&mut self.fields.notes, &sentence) {
                self.source("notes", &id);
            }
        }
        for (command, error, id) in &beside.failing {
            if add_line(&mut self.fields.notes, &format!("failed: {command}: {error}")) {
                self.source("notes", id);
            }
        }
        if self.interrupted {
            add_line(&mut self.fields.notes, "interrupted by the user");
        }
        (self.fields.commands, self.fields.tests) = (beside.commands, beside.tests);
        self.fields.todos = beside.todos;
        self.fields.kind = sort::sort(&self.fields, beside.decided).to_owned();
        self.fields
    }
}

/// So much of an id names a record. Units: characters.
pub(super) const SOURCE_CHARS: usize = 14;

fn add_file(files: &mut Vec<String>, path: &str) {
    if files.len() < MAX_FILES && !files.iter().any(|f| f == path) {
        files.push(path.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::Collector;
    use super::*;

    fn text(t: &str) -> Vec<Block> {
        vec![Block::Text { t: t.to_owned() }]
    }

    /// What was said, record by record.
    fn built(records: &[(&str, bool, &[Block])]) -> Fields {
        let (mut builder, mut runs) = (Builder::default(), Collector::default());
        for (n, (speaker, is_prompt, blocks)) in (1..).zip(records) {
            let id = format!("o-{n:032}");
            builder.add(&id, speaker, *is_prompt, None, blocks);
            runs.add(n, &id, None, blocks);
        }
        let (commands, tests) = runs.told();
        builder.finish(Beside { failing: runs.failing(), commands, tests, todos: Vec::new(), decided: false })
    }

    fn call(id: &str, command: &str) -> Vec<Block> {
        let cmd = Some(command.into());
        vec![Block::Use { id: id.into(), name: "Bash".into(), t: String::new(), file: None, cmd }]
    }

    fn result(id: &str, t: &str, failed: bool) -> Vec<Block> {
        vec![Block::Result {
            id: id.into(),
            t: t.into(),
            failed,
            exit: failed.then_some(1),
            interrupted: false,
        }]
    }

    #[test]
    fn a_turn_gives_its_fields_each_with_its_sources() {
        let edit = Block::Use {
            id: "e".into(),
            name: "Edit".into(),
            t: String::new(),
            file: Some("/a.rs".into()),
            cmd: None,
        };
        let fields = built(&[
            ("user", true, &text("Fix the login test.\nIt is flaky.")),
            ("assistant", false, &[edit]),
            ("assistant", false, &call("1", "cd /p && cargo test 2>&1")),
            ("tool", false, &result("1", "Exit code 1\nlogin failed", true)),
            ("assistant", false, &call("2", "cargo test")),
            ("tool", false, &result("2", "test result: ok. 3 passed; 0 failed", false)),
            ("assistant", false, &call("3", "cargo fmt --check")),
            ("tool", false, &result("3", "Exit code 1\ndiff", true)),
            ("assistant", false, &text("The root cause is a strict comparison. We'll use a leeway of 30 s.")),
            ("assistant", false, &text("Fixed the comparison.\n\n## Next steps\n- run the load test\n")),
        ]);
        assert_eq!(fields.request, "Fix the login test.\nIt is flaky.");
        assert_eq!(fields.learned, "The root cause is a strict comparison.");
        assert_eq!(fields.completed, "Fixed the comparison.");
        assert_eq!(fields.next_steps, "- run the load test");
        assert_eq!(fields.notes, "We'll use a leeway of 30 s.\nfailed: cargo fmt --check: diff");
        assert_eq!(fields.files_edited, ["/a.rs"]);
        assert_eq!(fields.kind, "fix");
        let ran: Vec<(&str, Option<i64>)> =
            fields.commands.iter().map(|c| (c.command.as_str(), c.exit)).collect();
        assert_eq!(ran, [("cargo test", Some(1)), ("cargo test", Some(0)), ("cargo fmt --check", Some(1))]);
        let tested: Vec<(&str, &str)> =
            fields.tests.iter().map(|t| (t.result.as_str(), t.summary.as_str())).collect();
        assert_eq!(tested, [("failed", ""), ("passed", "test result: ok. 3 passed; 0 failed")]);
        let source = |field: &str| fields.sources[field].iter().map(|id| id.len()).collect::<Vec<_>>();
        for (field, many) in [
            ("request", 1),
            ("learned", 1),
            ("completed", 1),
            ("next_steps", 1),
            ("notes", 2),
            ("files_edited", 1),
        ] {
            assert_eq!(
                source(field),
                vec![SOURCE_CHARS; many]
                    .into_iter()
                    .take(if field == "notes" { 1 } else { many })
                    .collect::<Vec<_>>(),
                "{field}"
            );
        }
    }

    #[test]
    fn code_is_not_taken_for_a_finding() {
        let fields =
            built(&[("assistant", false, &text("```\n// because of the borrow checker\n```\nDone."))]);
        assert_eq!((fields.learned.as_str(), fields.next_steps.as_str()), ("", ""));
    }

    #[test]
    fn small_talk_is_nothing_to_keep() {
        let talk = |request: &str, answer: &str| {
            let mut builder = Builder::default();
            builder.add("o-1", "user", true, None, &text(request));
            builder.add("o-2", "assistant", false, None, &text(answer));
            builder.is_small_talk()
        };
        for (request, answer) in
            [("hi", "Hello! How can I help?"), ("thanks!", "You're welcome."), ("ok great", "Glad it works.")]
        {
            assert!(talk(request, answer), "{request}");
        }
        for (request, answer) in [
            ("use port", "It is 8443 now."),
            ("ship it", "Shipped the release."),
            ("thanks", "You're welcome. The next step is the load test."),
            ("which port?", "The usual one."),
        ] {
            assert!(!talk(request, answer), "{request}");
        }
    }
}
