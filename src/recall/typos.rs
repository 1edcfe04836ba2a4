//! What a word may have meant that nothing holds: a word of the index that is one slip of the finger away.

use super::ask::RecallError;
use crate::index::Reader;
use std::collections::BTreeMap;

/// Shorter words are one slip away from too many.
const LEAST_CHARS: usize = 5;
/// So many words of the dictionary with the same beginning are looked at in a segment (D13).
const MAX_LOOKUPS: usize = 4096;
/// A word that stands in one record only may be a slip itself.
const LEAST_RECORDS: u64 = 2;

/// The most common word that begins with the same two letters and differs by one letter left out, added, changed, or two swapped.
pub(super) fn meant(reader: &Reader, word: &str) -> Result<Option<String>, RecallError> {
    if word.chars().count() < LEAST_CHARS || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return Ok(None);
    }
    let Some(begin) = word.get(..2) else { return Ok(None) };
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for segment in reader.searcher().segment_readers() {
        let inverted = segment.inverted_index(reader.fields().prose)?;
        let mut words = inverted.terms().range().ge(begin.as_bytes()).into_stream()?;
        let mut left = MAX_LOOKUPS;
        while left > 0 && words.advance() {
            left -= 1;
            let Ok(other) = std::str::from_utf8(words.key()) else { continue };
            if !other.starts_with(begin) {
                break;
            }
            if is_slip(word.as_bytes(), other.as_bytes()) {
                *found.entry(other.to_owned()).or_default() += u64::from(words.value().doc_freq);
            }
        }
    }
    let common = found.into_iter().filter(|(_, records)| *records >= LEAST_RECORDS);
    // Of equals the first by name.
    Ok(common
        .fold(None, |best: Option<(String, u64)>, next| match best {
            Some(best) if best.1 >= next.1 => Some(best),
            _ => Some(next),
        })
        .map(|(word, _)| word))
}

/// Tells if one byte added, left out, changed, or two neighbours swapped make one of the other.
fn is_slip(a: &[u8], b: &[u8]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short == long || long.len() - short.len() > 1 {
        return false;
    }
    let same = short.iter().zip(long).take_while(|(x, y)| x == y).count();
    let rest = |bytes: &[u8], skip: usize| bytes.get(same + skip..).unwrap_or_default().to_vec();
    if short.len() < long.len() {
        return rest(short, 0) == rest(long, 1);
    }
    let swapped = short.get(same) == long.get(same + 1) && short.get(same + 1) == long.get(same);
    rest(short, 1) == rest(long, 1) || (swapped && rest(short, 2) == rest(long, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_told_from_two() {
        let slips = [
            ("databse", "database"),
            ("databaase", "database"),
            ("datebase", "database"),
            ("databsae", "database"),
        ];
        for (a, b) in slips {
            assert!(is_slip(a.as_bytes(), b.as_bytes()) && is_slip(b.as_bytes(), a.as_bytes()), "{a} {b}");
        }
        for (a, b) in
            [("database", "database"), ("dtabse", "database"), ("datbaes", "database"), ("data", "database")]
        {
            assert!(!is_slip(a.as_bytes(), b.as_bytes()), "{a} {b}");
        }
    }
}
