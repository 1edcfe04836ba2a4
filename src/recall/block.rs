//! A piece of an answer, with the names under which it is known when it comes again.

use super::clean::clean;
use super::duplicate::Shingles;
use super::render::{FIELD_CHARS, cut};
use crate::id;

/// A piece of an answer: a header, and parts of which those are shown that the session was not told yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// What was shown before is known by this.
    pub hash: String,
    /// Other names of what it tells: where one of them was shown, it is not said again.
    pub marks: Vec<String>,
    /// Where it is from.
    pub head: String,
    /// What it tells.
    pub parts: Vec<Part>,
}

/// One line of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// As it is shown.
    pub text: String,
    /// What it tells, without label and record.
    pub words: String,
    /// Names of its sentences.
    pub tells: Vec<String>,
    /// A block is worth showing for this part; what a header repeats is not.
    pub counts: bool,
}

impl Part {
    /// `label` is what stands before the words that it tells.
    pub(super) fn new(label: &str, words: &str, counts: bool) -> Self {
        Self {
            text: format!("{label}{words}"),
            words: words.to_owned(),
            tells: sentences(words).into_iter().map(tells).collect(),
            counts,
        }
    }
}

impl Block {
    pub(super) fn new(head: String, parts: Vec<Part>, known_by: &[&[u8]]) -> Self {
        Self { hash: name(known_by), marks: Vec::new(), head, parts }
    }

    /// One line by itself, without a number: what stands before its words, they, and what stands behind them.
    pub(super) fn line(before: &str, words: &str, behind: &str, known_by: &[&[u8]]) -> Self {
        let mut part = Part::new(before, words, true);
        part.text.push_str(behind);
        Self::new(String::new(), vec![part], known_by)
    }

    /// The same block, which tells how a session or a turn of it ended.
    pub(super) fn ends(self, session: &str, completed: &str) -> Self {
        let end = cut(&clean(completed), FIELD_CHARS);
        self.marked(&[b"end", session.as_bytes(), end.as_bytes()])
    }

    /// The same block under more names.
    pub(super) fn marked(mut self, known_by: &[&[u8]]) -> Self {
        self.marks.push(name(known_by));
        self
    }

    /// The block without the parts whose every sentence was told, and without what it says twice itself; `None` when nothing is left.
    pub(super) fn untold(&self, was_told: impl Fn(&str) -> bool) -> Option<Self> {
        let mut told: Vec<&String> = Vec::new();
        let mut left = Vec::new();
        for part in &self.parts {
            let known = |name: &String| was_told(name) || told.contains(&name);
            if part.tells.is_empty() || !part.tells.iter().all(known) {
                left.push(part.clone());
            }
            told.extend(&part.tells);
        }
        left.iter().any(|part| part.counts).then(|| Self { parts: left, ..self.clone() })
    }

    /// The names of all sentences in it.
    pub(super) fn tells(&self) -> impl Iterator<Item = &String> {
        self.parts.iter().flat_map(|part| &part.tells)
    }

    /// The block without the parts that say what one of these texts says, in nearly the same words; `None` when nothing is left.
    pub(super) fn unlike(mut self, seen: &[Shingles]) -> Option<(Self, Vec<Shingles>)> {
        let mut own: Vec<Shingles> = Vec::new();
        self.parts.retain(|part| {
            let shingles = Shingles::of(&part.words);
            let near = part.counts && seen.iter().chain(&own).any(|known| known.is_near(&shingles));
            if part.counts && !near {
                own.push(shingles);
            }
            !near
        });
        self.parts.iter().any(|part| part.counts).then_some((self, own))
    }

    /// Lines without a number, the header first; no line end at the end.
    pub(super) fn text(&self) -> String {
        let head = Some(self.head.as_str()).filter(|head| !head.is_empty());
        let lines: Vec<&str> = head.into_iter().chain(self.parts.iter().map(|p| p.text.as_str())).collect();
        lines.join("\n")
    }

    /// The block as the `n`th of an answer, with its line end.
    pub(super) fn numbered(&self, n: usize) -> String {
        let number = if self.head.is_empty() { String::new() } else { format!("[{n}] ") };
        format!("{number}{}\n", self.text())
    }

    pub(super) fn chars(&self) -> usize {
        let parts: usize = self.parts.iter().map(|part| part.text.chars().count() + 1).sum();
        // Number in brackets and line end: `[10] ` and `\n`.
        if self.head.is_empty() { parts } else { self.head.chars().count() + parts + 6 }
    }
}

/// The sentences of a cleaned text, without their ends. Short ones tell nothing by themselves.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    /// Units: bytes.
    const LEAST: usize = 16;
    let mut found = Vec::new();
    let mut from = 0;
    for (at, end) in text.match_indices(['.', '!', '?', ';', '\n']) {
        let next = at + end.len();
        // An end is followed by space: `lib.rs` and `0.5` are one word.
        let ends = end == "\n" || text.get(next..).is_some_and(|rest| rest.starts_with(char::is_whitespace));
        if ends {
            found.extend(text.get(from..next));
            from = next;
        }
    }
    found.extend(text.get(from..));
    found.retain(|sentence| sentence.trim().len() >= LEAST);
    found
}

/// A part without its label: `- (speaker) `, or the name of a field.
pub(super) fn words(part: &str) -> &str {
    let (label, words) = match part.strip_prefix("- (") {
        Some(rest) => rest.split_once(") ").unwrap_or(("", part)),
        None => part.split_once(": ").unwrap_or(("", part)),
    };
    let is_label =
        label.len() <= 16 && label.bytes().all(|b| b.is_ascii_lowercase() || b == b' ' || b == b'-');
    if is_label { words } else { part }
}

/// The name of a sentence, whoever says it.
pub(super) fn tells(sentence: &str) -> String {
    let bare = sentence.trim_matches(|c: char| c.is_whitespace() || ".!?;-“”".contains(c));
    name(&[b"told", bare.as_bytes()])
}

pub(super) fn name(known_by: &[&[u8]]) -> String {
    id::short(&id::hash(known_by), 16).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_known_again_whatever_stands_around_it() {
        let names = |text: &str| sentences(text).into_iter().map(tells).collect::<Vec<_>>();
        let one = names("The gateway listens on port 7443.");
        assert_eq!(one.len(), 1);
        assert_eq!(
            names("Fine. The gateway listens on port 7443; it moved from 8080 in src/lib.rs v0.5")[0],
            one[0]
        );
        assert_eq!(names("Yes!\nThe gateway listens on port 7443").last(), one.last());
        assert_ne!(names("The gateway listens on port 7444."), one);
        assert_eq!(sentences("Ok. Done. So be it."), Vec::<&str>::new());
        assert_eq!(words("- (user) that: this"), "that: this");
        assert_eq!(words("completed: it works"), "it works");
        assert_eq!(words("See Chapter 4 of it: no"), "See Chapter 4 of it: no");
    }
}
