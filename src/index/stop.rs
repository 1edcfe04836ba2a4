//! Words that say nothing about a text.

/// Tells if a folded, unstemmed word is one of the function words of English. Only single words are dropped, never a whole
/// identifier that holds one.
pub(super) fn is_stop(word: &str) -> bool {
    word.len() <= 10 && WORDS.binary_search(&word).is_ok()
}

/// Sorted. Contractions stand without their apostrophe, as the tokenizer leaves them.
const WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "arent", "as", "at", "be",
    "because", "been", "before", "being", "both", "but", "by", "can", "cant", "could", "couldnt", "did",
    "didnt", "do", "does", "doesnt", "doing", "dont", "each", "few", "for", "from", "had", "hadnt", "has",
    "hasnt", "have", "havent", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "ill",
    "im", "in", "into", "is", "isnt", "it", "its", "itself", "ive", "just", "lets", "me", "more", "most",
    "my", "no", "nor", "not", "now", "of", "off", "on", "once", "only", "or", "other", "our", "ours", "out",
    "own", "same", "she", "should", "shouldnt", "so", "some", "such", "than", "that", "thats", "the",
    "their", "theirs", "them", "then", "there", "theres", "these", "they", "theyre", "this", "those",
    "through", "to", "too", "us", "very", "was", "wasnt", "we", "were", "werent", "weve", "what", "whats",
    "when", "where", "which", "while", "who", "whom", "why", "will", "with", "wont", "would", "wouldnt",
    "you", "youd", "youll", "your", "youre", "yours", "youve",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_so_that_it_can_be_searched() {
        assert!(WORDS.is_sorted());
        assert!(is_stop("the") && is_stop("youve") && !is_stop("retry"));
    }
}
