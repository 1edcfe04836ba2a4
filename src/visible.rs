//! What a reader sees of a text: code points that show nothing or reorder what is shown, and letters that look like others.
//!
//! Stored text keeps them. Whoever indexes leaves them out, whoever quotes to a model leaves them out ([`crate::recall`]), and whoever
//! shows a text to a person shows them as escapes, so that neither the person nor the terminal is fooled.

use std::borrow::Cow;

/// Tells if `c` shows nothing, or changes the order of what is shown: zero width, fillers, bidirectional controls, variation selectors,
/// tags, private use, noncharacters. Control characters are not among them.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..)
}

/// Does a text show anything at all?
pub fn shows(text: &str) -> bool {
    text.chars().any(|c| !c.is_whitespace() && !c.is_control() && !is_invisible(c) && c != '\u{2800}')
}

/// The ASCII letter that a Cyrillic or Greek one looks like, in its case; any other character as it is.
pub fn look_alike(c: char) -> char {
    const PAIRS: [(&str, &str); 3] = [
        ("асеорхуіјѕһԁԛԝӏ", "aceopxyijshdqwl"),
        ("АВЕКМНОРСТХУІЈЅԚԜ", "ABEKMHOPCTXYIJSQW"),
        ("αικνορΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aikvopABEZHIKMNOPTYX"),
    ];
    if !matches!(c, '\u{370}'..='\u{52f}') {
        return c;
    }
    let alike = |(from, to): &(&str, &str)| from.chars().zip(to.chars()).find(|(f, _)| *f == c);
    PAIRS.iter().find_map(alike).map_or(c, |(_, to)| to)
}

/// What may not reach a terminal as it is: the separators of lines and paragraphs are no control characters, and end lines.
fn hides(c: char) -> bool {
    c.is_control() || is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// A text as it may be shown in a terminal: what drives it, and what shows nothing, as `\u{1b}`. Line ends and tabs stay.
///
/// A variation selector behind a symbol and a joiner between two letters or symbols beyond ASCII are how these are written, and stay.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let shown = |c: &char| !c.is_ascii() && !c.is_control() && !is_invisible(*c);
        let belongs = match c {
            '\u{fe0e}' | '\u{fe0f}' => shown(&before) && !before.is_alphanumeric(),
            '\u{200c}' | '\u{200d}' => {
                (shown(&before) || before == '\u{fe0f}') && rest.peek().is_some_and(shown)
            }
            _ => false,
        };
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => out.push_str("\\r"),
            c if hides(c) && !belongs => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => out.push(c),
        }
        before = c;
    }
    Cow::Owned(out)
}

/// JSON with the same strings, in which nothing drives a terminal and nothing is unseen: `\u001b`. Whoever parses it gets the text as it is.
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    // Outside of strings JSON holds no such character but line ends, of which ours has none.
    if !json.contains(hides) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if hides(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn f70_what_is_unseen_is_shown_as_an_escape() {
        let table = [
            ("plain\ttext\nof two lines", "plain\ttext\nof two lines"),
            ("\u{1b}[31mred\u{1b}]0;title\u{7}", "\\u{1b}[31mred\\u{1b}]0;title\\u{7}"),
            ("c1 \u{9b}2J \u{9d}52;c;eA==\u{9c}", "c1 \\u{9b}2J \\u{9d}52;c;eA==\\u{9c}"),
            ("over\rwritten\u{8}", "over\\rwritten\\u{8}"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
            ("\u{202e}txt.exe\u{202c}\u{2066}\u{2069}", "\\u{202e}txt.exe\\u{202c}\\u{2066}\\u{2069}"),
            ("tag\u{e0041}\u{e007f}", "tag\\u{e0041}\\u{e007f}"),
            ("a\u{fe0f}\u{e0100}", "a\\u{fe0f}\\u{e0100}"),
            ("soft\u{ad}hyphen \u{feff}bom \u{3164}filler", "soft\\u{ad}hyphen \\u{feff}bom \\u{3164}filler"),
            ("line\u{2028}and\u{2029}paragraph", "line\\u{2028}and\\u{2029}paragraph"),
            ("private \u{e000} \u{f0000}", "private \\u{e000} \\u{f0000}"),
            // How emoji and Persian are written.
            ("⚠\u{fe0f} 👩\u{200d}🔬 می\u{200c}خواهم", "⚠\u{fe0f} 👩\u{200d}🔬 می\u{200c}خواهم"),
            ("⚠\u{fe0f}\u{fe0f}\u{200d}", "⚠\u{fe0f}\\u{fe0f}\\u{200d}"),
            ("a\u{200d}b", "a\\u{200d}b"),
        ];
        for (text, expected) in table {
            assert_eq!(escaped(text), expected, "{text:?}");
            assert_eq!(escaped(expected), expected, "twice {text:?}");
        }
    }

    #[test]
    fn letters_of_other_scripts_are_known_by_what_they_look_like() {
        let plain = |text: &str| text.chars().map(look_alike).collect::<String>();
        assert_eq!(plain("раѕѕwоrd ѕуѕtеm"), "password system");
        assert_eq!(plain("ΑΒβ жук 日本 plain"), "ABβ жyк 日本 plain");
    }

    proptest! {
        #[test]
        fn escaped_json_says_the_same_and_shows_all_of_it(text in "(\\PC|[\u{0}-\u{9f}]|\u{200b}|\u{202e}|\u{e0041}|\"|\\\\){0,60}") {
            let json = serde_json::to_string(&text).unwrap();
            let safe = escaped_json(&json);
            prop_assert!(!safe.contains(hides), "{safe:?}");
            prop_assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text.clone());
            let shown = escaped(&text);
            prop_assert!(!shown.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')), "{shown:?}");
        }
    }
}
