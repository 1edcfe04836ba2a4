//! What a single word becomes: nothing if it is a stop word, else its English stem. Remembered, since a text says few words many times.

use super::irregular;
use super::stop::is_stop;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer, TokenStream};

/// Above this many words a thread forgets them and begins again; bounds memory at about a megabyte (D13).
const REMEMBERED: usize = 16 * 1024;

struct Stems {
    analyzer: TextAnalyzer,
    known: HashMap<String, Option<String>, BuildHasherDefault<Fnv>>,
}

/// FNV-1a: three times as fast as the default on words; a memory that forgets when full has no fear of chosen keys.
#[derive(Default)]
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

thread_local! {
    static STEMS: RefCell<Stems> = RefCell::new(Stems {
        analyzer: TextAnalyzer::builder(RawTokenizer::default()).filter(Stemmer::new(Language::English)).build(),
        known: HashMap::default(),
    });
}

/// Gives the stem of a folded word, `None` for a stop word; what is not an English-looking word (up to 30 ASCII
/// letters) comes back as it is.
pub(super) fn stem(word: &str) -> Option<String> {
    if word.len() > 30 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return Some(word.to_owned());
    }
    STEMS.with_borrow_mut(|stems| {
        if let Some(stem) = stems.known.get(word) {
            return stem.clone();
        }
        let base = irregular::base(word).unwrap_or(word);
        let stem = if is_stop(word) { None } else { Some(reduce(&mut stems.analyzer, base)) };
        if stems.known.len() >= REMEMBERED {
            stems.known.clear();
        }
        stems.known.insert(word.to_owned(), stem.clone());
        stem
    })
}

fn reduce(analyzer: &mut TextAnalyzer, word: &str) -> String {
    if word.len() < 3 {
        return word.to_owned();
    }
    let mut stream = analyzer.token_stream(word);
    if stream.advance() { stream.token().text.clone() } else { word.to_owned() }
}
