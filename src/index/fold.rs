//! Makes letters comparable: compatibility forms, case and accents; what shows nothing is left out, and a letter that stands for another is that one.

use crate::visible::{is_invisible, look_alike};
use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// Normalises to NFKC (half-width kana, ligatures, full-width letters), without what shows nothing: a word is found whatever is hidden
/// in it. Text whose words are all ASCII and hold nothing unseen is borrowed as it is, since what is between words does not matter.
/// Case is kept: it shows word borders.
pub(super) fn normalise(text: &str) -> Cow<'_, str> {
    let plain = text.is_ascii() || !text.chars().any(|c| !c.is_ascii() && (is_word(c) || is_invisible(c)));
    if plain {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().filter(|c| !is_invisible(*c)).nfkc().collect())
    }
}

/// Gives back the ASCII letters of a word that borrows some of them from scripts that look the same; any other word is left alone.
pub(super) fn unmask(word: &mut [char]) {
    if word.iter().any(char::is_ascii_alphabetic) && !word.iter().all(char::is_ascii) {
        word.iter_mut().for_each(|c| *c = look_alike(*c));
    }
}

/// Appends `c` in lower case without accents.
pub(super) fn push_folded(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
        return;
    }
    match c {
        'ß' | 'ẞ' => return out.push_str("ss"),
        'æ' | 'Æ' => return out.push_str("ae"),
        'œ' | 'Œ' => return out.push_str("oe"),
        'ø' | 'Ø' => return out.push('o'),
        'đ' | 'Đ' => return out.push('d'),
        'ł' | 'Ł' => return out.push('l'),
        'ı' | 'İ' => return out.push('i'),
        _ => {}
    }
    if is_accent(c) {
        return;
    }
    if !has_accents(c) {
        out.extend(c.to_lowercase());
        return;
    }
    decompose_canonical(c, |part| {
        if !is_accent(part) {
            out.extend(part.to_lowercase());
        }
    });
}

/// Latin, Greek and Cyrillic letters carry accents that people leave out; elsewhere a mark makes another word.
fn has_accents(c: char) -> bool {
    matches!(c, '\u{c0}'..='\u{52f}' | '\u{1e00}'..='\u{1fff}')
}

/// A mark that is left out in writing without changing the word: Latin accents, Hebrew points, Arabic vowel signs.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{1ab0}'..='\u{1aff}')
}

/// Tells if `c` is written inside a word.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_combining_mark(c))
}

/// Tells if `c` belongs to a script written without spaces; such text is cut into pairs of characters.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3100}'..='\u{312f}' | '\u{31a0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
        && is_word(c)
}
