//! The marker that stands where something was: `[redacted:<rule>:<4 hex>]`, format 1.

use crate::id;
use std::ops::Range;

const OPEN: &str = "[redacted:";

/// Makes markers under one key.
#[derive(Clone)]
pub(super) struct Markers {
    key: [u8; 32],
}

impl std::fmt::Debug for Markers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Markers(..)")
    }
}

impl Markers {
    pub(super) fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// The marker of a secret; the same for the same rule and secret. Four digits tell two secrets apart and give a guess away to nobody.
    pub(super) fn make(&self, rule: &str, secret: &str) -> String {
        let hash = id::keyed(&self.key, &[rule.as_bytes(), secret.as_bytes()]);
        format!("{OPEN}{rule}:{}]", id::short(&hash, 4))
    }
}

/// Finds the markers that a text holds already, in order.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
    memchr::memmem::find_iter(text.as_bytes(), OPEN)
        .filter_map(|at| {
            let rest = text.as_bytes().get(at + OPEN.len()..)?;
            let name =
                rest.iter().take(41).take_while(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-')).count();
            let tail = rest.get(name..name + 6)?;
            let [b':', hex @ .., b']'] = tail else { return None };
            let marker =
                (1..=40).contains(&name) && hex.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            marker.then_some(at..at + OPEN.len() + name + 6)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_markers_are_recognised() {
        let cases = [
            ("a [redacted:jwt:09af] b", 1),
            ("[redacted:jwt:09af][redacted:private:0000]", 2),
            ("[redacted:jwt:09AF]", 0),
            ("[redacted::09af]", 0),
            ("[redacted:jwt:09af", 0),
            ("[redacted:jwt:09afe]", 0),
            ("[redacted:[redacted:jwt:09af]", 1),
        ];
        for (text, expected) in cases {
            assert_eq!(spans(text).len(), expected, "{text}");
        }
        let made = Markers::new([7; 32]).make("jwt", "secret");
        assert_eq!(spans(&made), vec![0..made.len()]);
    }
}
