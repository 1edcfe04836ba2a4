//! One line of a brief: `<kind> <day> <id> (<who>) <text>`.

use super::past::Past;
use crate::clock::{self, Millis};
use crate::recall::block::Block;
use crate::recall::clean::clean;
use crate::recall::origin;
use crate::recall::render::cut;
use crate::recall::todo::Work;
use crate::work::State;

/// Of an id so much is shown: `sinker show` takes a beginning. Units: characters.
const ID_CHARS: usize = 12;
/// A line is cut after so many.
const LINE_CHARS: usize = 220;
/// What was asked is cut after so many.
const ASKED_CHARS: usize = 90;

/// What a line tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Decision,
    Fix,
    Failure,
    Change,
    Note,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Open => "open",
            Kind::Decision => "decision",
            Kind::Fix => "fix",
            Kind::Failure => "failure",
            Kind::Change => "change",
            Kind::Note => "note",
        }
    }
}

/// A line before it is rendered.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub kind: Kind,
    id: String,
    session: String,
    time_ms: i64,
    /// Who said it.
    who: String,
    /// It is of the session that is told.
    pub own: bool,
    /// What it says, cleaned.
    pub words: String,
    /// What was asked for.
    pub asked: Option<String>,
    /// The whole of how a session or turn ended.
    pub end: Option<String>,
    /// Its words are cut after so many characters.
    pub chars: usize,
}

impl Line {
    pub(super) fn new(kind: Kind, past: &Past, who: &str, words: &str) -> Self {
        let doc = &past.doc;
        Self {
            kind,
            id: doc.id.clone(),
            session: past.session().to_owned(),
            time_ms: doc.time_ms,
            who: who.to_owned(),
            own: false,
            words: clean(words).replace("**", ""),
            asked: None,
            end: None,
            chars: if kind == Kind::Change { 2 * LINE_CHARS } else { LINE_CHARS },
        }
    }

    /// An item of open work.
    pub(super) fn of(item: &Work) -> Self {
        let who = if item.source == "user" { "user" } else { "assistant" };
        let doing = if item.state == State::Doing { "being done: " } else { "" };
        Self {
            kind: Kind::Open,
            id: item.id.clone(),
            session: item.session.clone(),
            time_ms: item.time_ms(),
            who: who.to_owned(),
            own: false,
            words: format!("{doing}{}", clean(&item.text).replace("**", "")),
            asked: None,
            end: None,
            chars: LINE_CHARS,
        }
    }

    /// Renders it; what is foreign is quoted.
    pub(super) fn block(&self) -> Block {
        let day: String = match self.time_ms {
            0 => "undated".to_owned(),
            ms => clock::format(Millis(ms)).chars().take(10).collect(),
        };
        let id: String = self.id.chars().take(ID_CHARS).collect();
        let (label, words, close) = origin::parts(&self.who, &cut(&self.words, self.chars));
        let label = label.trim_start_matches("- ");
        let label = if self.own { label.replacen(')', ", this session)", 1) } else { label.to_owned() };
        let before = format!("{} {day} {id} {label}", self.kind.name());
        let asked = self.asked.as_deref().map(|asked| cut(&clean(asked), ASKED_CHARS));
        let asked = asked.filter(|asked| !asked.is_empty()).map(|asked| format!(" (asked: {asked})"));
        let behind = format!("{close}{}", asked.unwrap_or_default());
        let block = Block::line(&before, &words, &behind, &[b"brief", self.id.as_bytes(), words.as_bytes()]);
        match &self.end {
            Some(end) => block.ends(&self.session, end),
            None => block,
        }
    }
}

/// A line of a list, a heading or a paragraph without its marks.
pub(super) fn stripped(line: &str) -> &str {
    let line = line.trim().trim_start_matches(['-', '*', '>', '#', '•', ' ']);
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let listed =
        line.get(digits..).filter(|rest| digits > 0 && (rest.starts_with(". ") || rest.starts_with(") ")));
    let line = listed.and_then(|rest| rest.get(2..)).unwrap_or(line);
    let line = line.strip_prefix("[ ]").unwrap_or(line);
    line.trim_matches(|c: char| c == '*' || c == '_' || c.is_whitespace())
}

/// The lines of an answer that say something, joined, as many as fit: no headings, no rules, no tables, nothing that only leads to what follows. When there
/// is nothing else, those.
pub(in crate::recall) fn gist(text: &str, chars: usize) -> String {
    let says = |line: &&str| {
        let bare = stripped(line);
        let heads = line.trim_start().starts_with(['#', '|', '<', '`']);
        !heads && !bare.ends_with(':') && bare.split_whitespace().count() >= 3
    };
    let mut out = String::new();
    for line in text.lines().filter(says).map(stripped) {
        let room = out.chars().count() + line.chars().count() < chars;
        if !out.is_empty() {
            if !room {
                break;
            }
            // So that a sentence of one line is known as a sentence.
            out.push_str(if out.ends_with(['.', '!', '?', ';']) { " " } else { "; " });
        }
        out.push_str(line);
    }
    if out.is_empty() { text.lines().map(stripped).collect::<Vec<_>>().join(" ") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gist_of_an_answer_is_what_it_says() {
        let cases = [
            (
                "All done. Here's a summary of the changes:\n### Changes\n1. **Moved the port to 7443**\n---\n- It works now",
                "Moved the port to 7443; It works now",
            ),
            ("Fixed it in one place.\nThe tests pass again.", "Fixed it in one place. The tests pass again."),
            ("Done.", "Done."),
            ("| a | b |\n|---|---|", "| a | b | |---|---|"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(gist(text, 200), expected, "{text}");
        }
        assert_eq!(stripped("  - [ ] **run** it"), "run** it");
        assert_eq!(stripped("10. go on"), "go on");
        assert_eq!(stripped("2026 was good"), "2026 was good");
    }
}
