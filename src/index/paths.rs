//! The analysis of file names: each suffix of a path, beside the words in it.

use super::compound::Form;
use super::fold::{normalise, push_folded};
use super::tokens::{FormStream, forms_of};
use tantivy::tokenizer::Tokenizer;

/// Deeper than this, and the leading directories are left out.
const MAX_SUFFIXES: usize = 24;

/// Folds a path to the form in which the field `files` holds it: lower case, `/` between parts, none around.
pub fn fold_path(path: &str) -> String {
    let mut folded = String::with_capacity(path.len());
    for c in normalise(path).chars() {
        push_folded(if c == '\\' { '/' } else { c }, &mut folded);
    }
    let trimmed = folded.trim().trim_start_matches("./").trim_matches('/');
    trimmed.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// `/home/a/src/b.rs` → `home/a/src/b.rs`, `a/src/b.rs`, `src/b.rs`, `b.rs`, then the words: a filter matches by any suffix.
#[derive(Clone, Default)]
pub(super) struct Paths;

impl Tokenizer for Paths {
    type TokenStream<'a> = FormStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> FormStream<'a> {
        let folded = fold_path(text);
        let to = text.len();
        let mut starts: Vec<usize> = folded.match_indices('/').map(|(at, _)| at + 1).collect();
        starts.insert(0, 0);
        let skip = starts.len().saturating_sub(MAX_SUFFIXES);
        let suffixes: Vec<String> =
            starts.into_iter().skip(skip).filter_map(|s| folded.get(s..)).map(str::to_owned).collect();
        let known = suffixes.clone();
        let suffixes = suffixes.into_iter().filter(|s| !s.is_empty() && s.len() <= 1024);
        let suffixes = suffixes.map(move |text| Form { text, position: 0, span: 1, from: 0, to });
        FormStream::new(suffixes.chain(forms_of(text).filter(move |form| !known.contains(&form.text))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tantivy::tokenizer::TokenStream;

    #[test]
    fn a_path_is_found_by_any_suffix_and_by_its_words() {
        let mut paths = Paths;
        let mut found = Vec::new();
        paths.token_stream("/Home/a/src/userStore.rs").process(&mut |t| found.push(t.text.clone()));
        assert_eq!(
            found.join(" "),
            "home/a/src/userstore.rs a/src/userstore.rs src/userstore.rs userstore.rs home src userstore user store rs"
        );
    }
}
