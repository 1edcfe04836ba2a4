//! Everything a command prints: one place that owns stdout and stderr, colour, widths and times.

use crate::clock::{self, Millis};
use crate::visible;
use serde::Serialize;
use std::io::{IsTerminal, Write};

/// Prints a line on stdout. A closed pipe ends the output, not the command.
pub(super) fn say(line: &str) {
    drop(writeln!(std::io::stdout().lock(), "{}", shown(line, Paint::new())));
}

/// Prints a line on stderr.
pub(super) fn complain(line: &str) {
    drop(writeln!(std::io::stderr().lock(), "{}", visible::escaped(line)));
}

/// Prints one JSON object a line.
pub(super) fn json(value: &impl Serialize) {
    drop(writeln!(std::io::stdout().lock(), "{}", json_line(value)));
}

/// One JSON object as one line: whatever its strings hold, a terminal that shows it is not driven by it.
pub(super) fn json_line(value: &impl Serialize) -> String {
    visible::escaped_json(&serde_json::to_string(value).unwrap_or_default()).into_owned()
}

/// What stands for a colour until the line is printed: noncharacters, which stored text can show only as escapes.
const COLOURS: [(char, &str); 6] = [
    ('\u{fdd0}', "\u{1b}[0m"),
    ('\u{fdd1}', "\u{1b}[1m"),
    ('\u{fdd2}', "\u{1b}[2m"),
    ('\u{fdd3}', "\u{1b}[31m"),
    ('\u{fdd4}', "\u{1b}[32m"),
    ('\u{fdd5}', "\u{1b}[36m"),
];

/// The last thing that happens to a line: of what drives a terminal only our own colours are left, and the line ends without any.
fn shown(line: &str, paint: Paint) -> String {
    if !paint.0 {
        return visible::escaped(line).into_owned();
    }
    let mut out = String::with_capacity(line.len() + 16);
    let mut open = false;
    for piece in line.split_inclusive(|c| COLOURS.iter().any(|(mark, _)| *mark == c)) {
        let colour = COLOURS.iter().find_map(|(mark, code)| Some((piece.strip_suffix(*mark)?, *mark, *code)));
        let (text, code) = colour.map_or((piece, ""), |(text, _, code)| (text, code));
        out.push_str(&visible::escaped(text));
        out.push_str(code);
        open = colour.map_or(open, |(_, mark, _)| mark != '\u{fdd0}');
    }
    if open {
        out.push_str("\u{1b}[0m");
    }
    out
}

/// Colours, on a terminal only, and never when `NO_COLOR` is set.
#[derive(Clone, Copy)]
pub(super) struct Paint(bool);

impl Paint {
    pub(super) fn new() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        Self(wanted && std::io::stdout().is_terminal())
    }

    /// `mark` is one of [`COLOURS`].
    fn wrap(self, mark: char, text: &str) -> String {
        if self.0 { format!("{mark}{}\u{fdd0}", visible::escaped(text)) } else { text.to_owned() }
    }
    pub(super) fn bold(self, text: &str) -> String {
        self.wrap('\u{fdd1}', text)
    }
    pub(super) fn dim(self, text: &str) -> String {
        self.wrap('\u{fdd2}', text)
    }
    pub(super) fn good(self, text: &str) -> String {
        self.wrap('\u{fdd4}', text)
    }
    pub(super) fn bad(self, text: &str) -> String {
        self.wrap('\u{fdd3}', text)
    }
    pub(super) fn accent(self, text: &str) -> String {
        self.wrap('\u{fdd5}', text)
    }
}

/// Columns of the terminal; 100 where there is none.
pub(super) fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    size.map_or(100, |s| usize::from(s.ws_col)).clamp(40, 160)
}

/// Stored text as it may be shown in a terminal: what drives one, and what shows nothing, as escapes; line breaks and tabs stay.
pub(super) fn plain(text: &str) -> String {
    // A line end of another system is a line end.
    visible::escaped(&text.lines().collect::<Vec<_>>().join("\n")).into_owned()
}

/// A number of things, in words: `1 hit`, `2 hits`. `things` ends in `s`.
pub(super) fn count(n: impl Into<u64>, things: &str) -> String {
    match n.into() {
        1 => format!("1 {}", things.strip_suffix('s').unwrap_or(things)),
        n => format!("{n} {things}"),
    }
}

/// The first line that says something, cut at `chars` characters.
pub(super) fn headline(text: &str, chars: usize) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    // Most of a long line need not be looked at.
    let begin =
        line.char_indices().nth(chars.saturating_mul(2)).and_then(|(at, _)| line.get(..at)).unwrap_or(line);
    let words = begin.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = visible::escaped(&words);
    match line.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default().trim_end()),
        None => line.into_owned(),
    }
}

/// A time as a person reads it: `2026-11-30 13:54 (3 days ago)`; as it is when it cannot be read.
pub(super) fn when(time: Option<&str>) -> String {
    let Some(text) = time.filter(|t| !t.is_empty()) else { return "no time".to_owned() };
    let Some(at) = clock::parse(text) else { return plain(text) };
    let shown = clock::format(at);
    let minute = shown.get(..16).unwrap_or(&shown).replace('T', " ");
    format!("{minute} ({})", ago(at))
}

fn ago(at: Millis) -> String {
    let seconds = (clock::now().0 - at.0) / 1000;
    let (count, unit) = match seconds {
        i64::MIN..0 => return "in the future".to_owned(),
        0..60 => return "just now".to_owned(),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        86_400..2_592_000 => (seconds / 86_400, "day"),
        2_592_000..31_536_000 => (seconds / 2_592_000, "month"),
        _ => (seconds / 31_536_000, "year"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

/// Bytes as a person reads them.
pub(super) fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KB", "MB", "GB"] {
        if value < 1000.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// Lines up columns: each as wide as its widest cell, two spaces between them; the last one is cut at the terminal's edge.
pub(super) fn table(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let wide = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(wide).collect();
    let before: usize = widths.iter().take(columns.saturating_sub(1)).map(|w| w + 2).sum();
    let last = width().saturating_sub(before).max(20);
    let line = |row: &Vec<String>| {
        let mut line = String::new();
        for (c, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if c + 1 == columns {
                line.push_str(&headline(cell, last));
            } else {
                line.push_str(&format!("{cell:width$}  "));
            }
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_cannot_drive_a_terminal() {
        assert_eq!(
            plain("  a\u{1b}[31mb\u{7}\u{202e}\r\n\tc <b>"),
            "  a\\u{1b}[31mb\\u{7}\\u{202e}\n\tc <b>"
        );
        assert_eq!(json_line(&"\u{9b}2J \u{202e} ü"), "\"\\u009b2J \\u202e ü\"");
        assert_eq!(headline("\n  first line here\nsecond", 8), "first li…");
        assert_eq!(headline("a\tb \u{1b}]0;t\u{7}", 40), "a b \\u{1b}]0;t\\u{7}");
    }

    #[test]
    fn f71_only_our_own_colours_reach_a_terminal_and_none_is_left_on() {
        let (on, off) = (Paint(true), Paint(false));
        let line =
            |paint: Paint| format!("{} \u{1b}[31mred {}", paint.bold("b\u{1b}[5m\u{fdd3}"), paint.dim("d"));
        assert_eq!(shown(&line(off), off), "b\\u{1b}[5m\\u{fdd3} \\u{1b}[31mred d");
        assert_eq!(
            shown(&line(on), on),
            "\u{1b}[1mb\\u{1b}[5m\\u{fdd3}\u{1b}[0m \\u{1b}[31mred \u{1b}[2md\u{1b}[0m"
        );
        // Even a line that brings a mark of its own ends as it began.
        assert_eq!(shown("a\u{fdd3}b", on), "a\u{1b}[31mb\u{1b}[0m");
    }

    #[test]
    fn sizes_and_columns_are_readable() {
        assert_eq!([size(12), size(1_500), size(2_000_000_000)], ["12 B", "1.5 KB", "2.0 GB"]);
        let rows = [vec!["a".to_owned(), "bb".to_owned()], vec!["ccc".to_owned(), "d".to_owned()]];
        assert_eq!(table(&rows), ["a    bb", "ccc  d"]);
    }
}
