//! What of a tool call recall can ask by: the fields that name something, and the beginning of all its texts.

use crate::redact::without_private;

/// So much of all texts of an input, a result or an error is kept. Units: bytes.
pub(super) const GIST_BYTES: usize = 800;

/// Texts of a payload put together, one space between two, cut at a character.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Gist(String);

impl Gist {
    /// Adds a text, as far as there is room.
    pub(super) fn add(&mut self, text: &str) {
        if text.is_empty() || self.room() == 0 {
            return;
        }
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        self.0.push_str(cut(text, self.room()));
    }

    /// Takes out what is private.
    pub(super) fn hide_private(&mut self) {
        if let std::borrow::Cow::Owned(kept) = without_private(&self.0) {
            self.0 = kept;
        }
    }

    /// Bytes that still go in.
    pub(super) fn room(&self) -> usize {
        GIST_BYTES.saturating_sub(self.0.len())
    }

    /// All of it.
    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

/// Tells if a member's value is an id of the host: of a record, a call, a turn, a session or an agent. No past session holds it.
pub(super) fn is_id(key: &[u8]) -> bool {
    const NAMES: [&str; 7] = ["agentid", "tooluseid", "promptid", "sessionid", "turnid", "requestid", "uuid"];
    let key: Vec<u8> = key.iter().filter(|b| **b != b'_').map(u8::to_ascii_lowercase).collect();
    NAMES.iter().any(|name| key.ends_with(name.as_bytes()))
}

/// The beginning of a text, at most `bytes` long, cut at a character.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// Takes out of a field what is private.
pub(super) fn hide_private(field: &mut Option<String>) {
    if let Some(text) = field
        && let std::borrow::Cow::Owned(kept) = without_private(text)
    {
        *text = kept;
    }
}

/// The fields of `tool_input` that say what a call is about, by the host's names; each absent when it was missing or no string.
///
/// Source: the host's tools Read, Edit, Write, MultiEdit, NotebookEdit, Grep, Glob, Bash, Agent, and memory tools of MCP servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Input {
    pub file_path: Option<String>,
    pub notebook_path: Option<String>,
    pub path: Option<String>,
    pub command: Option<String>,
    pub prompt: Option<String>,
    pub subagent_type: Option<String>,
    pub query: Option<String>,
    pub pattern: Option<String>,
    /// A part of a file is named: `offset`, `limit` or `pages` is there and not null.
    pub is_part: bool,
    /// The beginning of all its texts.
    pub gist: Gist,
}

/// A longer path is none.
const MAX_PATH_BYTES: usize = 8 * 1024;
/// As much as a query is made of.
const MAX_TEXT_BYTES: usize = 16 * 1024;

impl Input {
    /// How much of a field is kept as such. Units: raw bytes.
    pub(super) fn cap(key: &[u8]) -> usize {
        match key {
            b"file_path" | b"notebook_path" | b"path" | b"subagent_type" => MAX_PATH_BYTES,
            b"command" | b"prompt" | b"query" | b"pattern" => MAX_TEXT_BYTES,
            _ => 0,
        }
    }

    /// Does a member say which part of a file is wanted?
    pub(super) fn names_part(key: &[u8]) -> bool {
        matches!(key, b"offset" | b"limit" | b"pages")
    }

    /// Takes out what is private.
    pub(super) fn hide_private(&mut self) {
        let fields = [&mut self.file_path, &mut self.notebook_path, &mut self.path, &mut self.command];
        fields
            .into_iter()
            .chain([&mut self.prompt, &mut self.query, &mut self.pattern])
            .for_each(hide_private);
        self.gist.hide_private();
    }

    /// Takes a field.
    pub(super) fn take(&mut self, key: &[u8], text: String) {
        self.gist.add(&text);
        let slot = match key {
            b"file_path" => &mut self.file_path,
            b"notebook_path" => &mut self.notebook_path,
            b"path" => &mut self.path,
            b"command" => &mut self.command,
            b"prompt" => &mut self.prompt,
            b"subagent_type" => &mut self.subagent_type,
            b"query" => &mut self.query,
            b"pattern" => &mut self.pattern,
            b"offset" | b"limit" | b"pages" => {
                self.is_part |= !text.is_empty();
                return;
            }
            _ => return,
        };
        *slot = Some(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gist_is_cut_at_a_character_and_never_longer() {
        let mut gist = Gist::default();
        gist.add("");
        gist.add(&"\u{e9}".repeat(399));
        gist.add("\u{6f22}");
        assert_eq!((gist.text().len(), gist.room()), (799, 1));
        gist.add("more");
        assert_eq!(gist.text().len(), 800);
        assert_eq!(cut("a\u{e9}", 2), "a");
    }
}
