//! What a reader will see of a text: escapes and invisible code points cut a token in two on disk, and whoever shows the text puts it together again.

use crate::visible::is_invisible;
use std::borrow::Cow;

/// Leaves out terminal escapes, control characters (line ends and tabs stay) and what lies outside the visible part of the Basic
/// Multilingual Plane; borrowed when there is nothing of the kind. At least what recall leaves out of a quoted line.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let string = match c {
            '\u{1b}' => match chars.peek().copied() {
                Some('[') => {
                    chars.next();
                    false
                }
                Some(']' | 'P' | 'X' | '^' | '_') => true,
                Some('(' | ')' | '*' | '+' | '#' | '%') => {
                    chars.next();
                    chars.next_if(char::is_ascii_alphanumeric);
                    continue;
                }
                Some('7' | '8' | '=' | '>' | 'c' | 'D' | 'E' | 'H' | 'M' | 'N' | 'O' | 'Z') => {
                    chars.next();
                    continue;
                }
                _ => continue,
            },
            '\u{9b}' => false,
            '\u{9d}' | '\u{90}' => true,
            c if is_hidden(c) => continue,
            c => {
                out.push(c);
                continue;
            }
        };
        if string {
            while chars.next_if(|c| !matches!(c, '\n' | '\u{1b}' | '\u{7}' | '\u{9c}')).is_some() {}
        } else {
            while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
            chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
        }
    }
    Cow::Owned(out)
}

fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n' | '\r')) || is_invisible(c) || c > '\u{ffff}'
}
