//! English stems, remembered: a text says few words many times.

use std::cell::RefCell;
use std::collections::HashMap;
use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer, TokenStream};

/// Above this many words a thread forgets them and begins again; bounds memory at about a megabyte (D13).
const REMEMBERED: usize = 16 * 1024;

struct Stems {
    analyzer: TextAnalyzer,
    known: HashMap<String, String>,
}

thread_local! {
    static STEMS: RefCell<Stems> = RefCell::new(Stems {
        analyzer: TextAnalyzer::builder(RawTokenizer::default()).filter(Stemmer::new(Language::English)).build(),
        known: HashMap::new(),
    });
}

/// Gives the stem of a lower-case word; what is not an English-looking word (3 to 30 ASCII letters) comes back as it is.
pub(super) fn stem(word: String) -> String {
    if !(3..=30).contains(&word.len()) || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return word;
    }
    STEMS.with_borrow_mut(|stems| {
        if let Some(stem) = stems.known.get(&word) {
            return stem.clone();
        }
        let mut stream = stems.analyzer.token_stream(&word);
        let stem = if stream.advance() { stream.token().text.clone() } else { word.clone() };
        drop(stream);
        if stems.known.len() >= REMEMBERED {
            stems.known.clear();
        }
        stems.known.insert(word, stem.clone());
        stem
    })
}
