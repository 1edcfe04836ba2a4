//! What the text of a good record says of its worth: judged on the few best, since it has to be read for that.

use super::parts::{Part, Parts};
use crate::index::Stored;

/// What only announces the next step counts so much.
const NARRATION: f64 = 0.7;
/// A longer text says more than the step that it begins with. Units: bytes.
const NARRATION_BYTES: usize = 280;
/// How assistants announce what they are about to do.
const STEPS: &[&str] = &[
    "let me ",
    "let's ",
    "now let me ",
    "now let's ",
    "now i'll ",
    "now i need ",
    "now i ",
    "i'll ",
    "i will ",
    "i need to ",
    "i'm going to ",
    "i am going to ",
    "next, i",
    "first, let me ",
    "first, i'll ",
    "next, let me ",
    "let’s ",
    "i’ll ",
    "now i’ll ",
];
/// What may stand before that.
const OPENERS: &[&str] = &[
    "good",
    "great",
    "perfect",
    "excellent",
    "ok",
    "okay",
    "alright",
    "right",
    "sure",
    "now",
    "yes",
    "done",
];

/// By what the score of a record is multiplied.
pub(super) fn factor(doc: &Stored, parts: Parts) -> f64 {
    let steps = parts.has(Part::Narration) && doc.speaker == "assistant" && is_narration(&doc.prose);
    if steps { NARRATION } else { 1.0 }
}

/// Tells if a short text does nothing but announce a step.
fn is_narration(text: &str) -> bool {
    let text = text.trim();
    if text.len() > NARRATION_BYTES {
        return false;
    }
    let lower = text.to_lowercase();
    let mut rest = lower.as_str();
    let opener = OPENERS
        .iter()
        .find_map(|word| rest.strip_prefix(word))
        .filter(|rest| rest.starts_with([' ', ',', '.', '!', ':']));
    if let Some(behind) = opener {
        rest = behind.trim_start_matches([' ', ',', '.', '!', ':']);
    }
    STEPS.iter().any(|step| rest.starts_with(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_is_announced_is_told_from_what_was_found() {
        for step in [
            "Let me read the file.",
            "Great! Now I'll run the tests.",
            "Perfect. Let me check the port",
            "Now let me look at `a.rs`:",
            "I'll read both.",
        ] {
            assert!(is_narration(step), "{step}");
        }
        let told = [
            "The port is 8443.",
            "Greatly reduced: I will be brief",
            "Letters are counted.",
            "I found it: the lock is held.",
            "Nowhere.",
        ];
        for text in told {
            assert!(!is_narration(text), "{text}");
        }
        assert!(!is_narration(&format!("Let me explain. {}", "It is the lock. ".repeat(30))));
    }
}
