//! What a tool call is asked by, in pieces that weigh differently: an identifier or the text of an error says what it is about, a path of the
//! project, a flag or the key of a JSON member says little, and an id of the host nothing.

use crate::index::tokens;
use std::collections::HashMap;

/// How much the words of a piece weigh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worth {
    /// What stands in many calls.
    Little,
    /// A word.
    Plain,
    /// An identifier, an error.
    Much,
}

impl Worth {
    /// The factor of a term's weight.
    fn factor(self) -> f64 {
        match self {
            Worth::Little => 0.3,
            Worth::Plain => 1.0,
            Worth::Much => 1.5,
        }
    }
}

/// A part of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its words.
    pub text: String,
    /// What they weigh.
    pub worth: Worth,
}

impl Piece {
    /// A piece of ordinary words.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), worth: Worth::Plain }
    }

    /// Cuts what a tool was given, gave back or failed with. `root` is the project's directory, `ids` are the host's of this very call; `error`:
    /// each word of it weighs much that does not weigh little.
    pub fn cut(text: &str, root: &str, ids: &[&str], error: bool) -> Vec<Self> {
        let mut pieces: Vec<Self> = Vec::new();
        let mut add = |text: &str, worth: Worth| match pieces.last_mut() {
            Some(last) if last.worth == worth => {
                last.text.push(' ');
                last.text.push_str(text);
            }
            _ => pieces.push(Self { text: text.to_owned(), worth }),
        };
        for word in text.split_whitespace() {
            if is_id(word, ids) {
                continue;
            }
            let (flag, value) = flag(word);
            if let Some(flag) = flag {
                add(flag, Worth::Little);
            }
            let Some(value) = value else { continue };
            let worth = worth(value, root);
            let inside = value.strip_prefix(root).filter(|rest| rest.starts_with('/') && !root.is_empty());
            add(inside.unwrap_or(value), if error && worth == Worth::Plain { Worth::Much } else { worth });
        }
        pieces
    }

    /// All of them as one text.
    pub(super) fn join(pieces: &[Self]) -> String {
        pieces.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// What each term of some pieces weighs: the most that a piece gives it.
#[derive(Debug, Default)]
pub(super) struct Worths(HashMap<String, Worth>);

impl Worths {
    pub(super) fn of(pieces: &[Piece]) -> Self {
        let mut worths = HashMap::new();
        for piece in pieces {
            for term in tokens::terms(&piece.text) {
                let known = worths.entry(term).or_insert(piece.worth);
                *known = (*known).max(piece.worth);
            }
        }
        Self(worths)
    }

    /// The factor of a term's weight.
    pub(super) fn factor(&self, term: &str) -> f64 {
        self.0.get(term).copied().unwrap_or(Worth::Plain).factor()
    }

    /// Tells if a term may say what a call is about.
    pub(super) fn is_telling(&self, term: &str) -> bool {
        self.0.get(term).is_none_or(|worth| *worth != Worth::Little)
    }
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| "\"'`()[]{}<>,;“”".contains(c))
}

/// An id of a record, a call, a turn or an agent: no past session has it.
fn is_id(word: &str, ids: &[&str]) -> bool {
    let word = bare(word);
    let uuid = word.len() == 36
        && word
            .bytes()
            .enumerate()
            .all(|(n, b)| if matches!(n, 8 | 13 | 18 | 23) { b == b'-' } else { b.is_ascii_hexdigit() });
    let of_host = ["toolu_", "msg_", "req_"].iter().any(|head| word.starts_with(head)) && word.len() > 12;
    uuid || of_host || (!word.is_empty() && ids.contains(&word))
}

/// A flag or the key of a JSON member, and what stands beside it.
fn flag(word: &str) -> (Option<&str>, Option<&str>) {
    if let Some((key, value)) =
        word.trim_start_matches(['{', ',']).strip_prefix('"').and_then(|w| w.split_once("\":"))
    {
        return (Some(key), Some(value).filter(|v| !v.is_empty()));
    }
    let dashes = word.len() - word.trim_start_matches('-').len();
    if (1..=2).contains(&dashes) && word.len() > dashes {
        return match word.split_once('=') {
            Some((flag, value)) => (Some(flag), Some(value).filter(|v| !v.is_empty())),
            None => (Some(word), None),
        };
    }
    (None, Some(word))
}

fn worth(word: &str, root: &str) -> Worth {
    let word = bare(word).trim_end_matches(['.', ':', '!', '?']);
    // `a.rs:10:5` is a path with a place in it.
    let path = word.split_once(':').map_or(word, |(path, place)| {
        if place.bytes().all(|b| b.is_ascii_digit() || b == b':') { path } else { word }
    });
    let is_path = path.contains('/') && !path.contains("://") && !path.contains("::");
    let inside =
        !path.starts_with('/') || path == root || (!root.is_empty() && path.starts_with(&format!("{root}/")));
    if is_path && inside {
        return Worth::Little;
    }
    let chars: Vec<char> = word.chars().collect();
    let humps = chars.windows(2).any(|w| matches!(w, [a, b] if a.is_lowercase() && b.is_uppercase()));
    let joined = word.contains("::") || word.trim_matches('_').contains('_');
    let lettered = word.chars().any(char::is_alphabetic) && word.chars().any(|c| c.is_ascii_digit());
    if humps || joined || lettered { Worth::Much } else { Worth::Plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, error: bool) -> Vec<(String, Worth)> {
        let pieces = Piece::cut(text, "/p/app", &["agent-7"], error);
        pieces.into_iter().map(|piece| (piece.text, piece.worth)).collect()
    }

    #[test]
    fn paths_flags_and_keys_weigh_little_identifiers_much_and_ids_nothing() {
        use Worth::{Little, Much, Plain};
        let cases: [(&str, bool, &[(&str, Worth)]); 9] = [
            ("Read /p/app/src/quay.rs", false, &[("Read", Plain), ("/src/quay.rs", Little)]),
            (
                "cat src/quay.rs:10:5 /usr/lib/x",
                false,
                &[("cat", Plain), ("src/quay.rs:10:5", Little), ("/usr/lib/x", Plain)],
            ),
            ("/p/application/x", false, &[("/p/application/x", Plain)]),
            (
                "make -j4 --target=BerthPager all",
                false,
                &[("make", Plain), ("-j4 --target", Little), ("BerthPager", Much), ("all", Plain)],
            ),
            (
                r#"{"exit_code": "7", "stdout":"quay"}"#,
                false,
                &[("exit_code", Little), ("\"7\",", Plain), ("stdout", Little), ("\"quay\"}", Plain)],
            ),
            (
                "E0432 harbor::paging mooring_cursor port",
                false,
                &[("E0432 harbor::paging mooring_cursor", Much), ("port", Plain)],
            ),
            ("cannot open src/quay.rs", true, &[("cannot open", Much), ("src/quay.rs", Little)]),
            ("5e551000-0000-4000-8000-00000000000a toolu_01abcdefgh agent-7 go", false, &[("go", Plain)]),
            ("https://a.example/b x", false, &[("https://a.example/b x", Plain)]),
        ];
        for (text, error, expected) in cases {
            let expected: Vec<_> = expected.iter().map(|(t, w)| ((*t).to_owned(), *w)).collect();
            assert_eq!(cut(text, error), expected, "{text}");
        }
    }

    #[test]
    fn a_term_weighs_what_its_best_piece_gives_it() {
        let pieces = [
            Piece { text: "src/quay.rs".into(), worth: Worth::Little },
            Piece { text: "quay".into(), worth: Worth::Much },
        ];
        let worths = Worths::of(&pieces);
        assert_eq!((worths.factor("quay"), worths.factor("src"), worths.factor("other")), (1.5, 0.3, 1.0));
        assert!(worths.is_telling("quay") && !worths.is_telling("src"));
    }
}
