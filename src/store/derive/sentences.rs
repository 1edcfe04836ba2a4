//! Lines and sentences of what was said: whole ones, in the words of the source.

use super::extract::FIELD_CHARS;
use super::runs::one_line;

const NEXT: [&str; 5] = ["next step", "still need", "left to do", "remains to be", "remains open"];
/// So begins what only asks the user what to do now.
const OFFERS: [&str; 11] = [
    "would you like",
    "shall i",
    "should i",
    "do you want",
    "is there anything",
    "let me know",
    "just let me know",
    "want me to",
    "if you'd like",
    "feel free",
    "what would you like",
];

/// Adds a line while there is room; the first one always. Returns whether it did.
pub(super) fn add_line(field: &mut String, line: &str) -> bool {
    let known = field.lines().any(|l| l == line);
    let full = !field.is_empty() && field.chars().count() + line.chars().count() > FIELD_CHARS;
    if line.trim().is_empty() || known || full {
        return false;
    }
    if !field.is_empty() {
        field.push('\n');
    }
    field.push_str(line);
    true
}

/// Whole lines from the beginning, up to `chars`; a first line that is longer is cut.
pub(super) fn first_lines(text: &str, chars: usize) -> String {
    let mut out = String::new();
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
        if out.is_empty() {
            out = one_line(line, chars);
        } else if out.chars().count() + line.chars().count() < chars {
            out.push('\n');
            out.push_str(line);
        } else {
            break;
        }
    }
    out
}

/// Collects the sentences that hold one of the cues. A sentence ends at `. `, `! `, `? ` or the end of its line.
pub(super) fn collect(into: &mut Vec<String>, text: &str, cues: &[&str]) {
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced || into.len() >= 20 {
            continue;
        }
        for sentence in sentences(line) {
            let lower = sentence.to_lowercase();
            // What ends so only leads to what follows.
            let leads = sentence.ends_with(':');
            let is_over = ['✅', '☑'].iter().any(|mark| sentence.contains(*mark));
            if !leads
                && !is_over
                && (12..=400).contains(&sentence.len())
                && cues.iter().any(|cue| lower.contains(cue))
            {
                into.push(sentence.replace("**", ""));
            }
        }
    }
}

pub(super) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    line.split_inclusive(". ")
        .flat_map(|s| s.split_inclusive("! "))
        .flat_map(|s| s.split_inclusive("? "))
        .map(|s| s.trim().trim_start_matches(['-', '*', '#', '>', ' ']))
}

pub(super) fn is_next_heading(line: &str) -> bool {
    let plain = line.trim().trim_matches(['#', '*', ':', ' ']).to_lowercase();
    plain.len() < 40
        && [
            "next step",
            "next up",
            "todo",
            "to do",
            "remaining",
            "follow-up",
            "follow up",
            "still open",
            "left to do",
        ]
        .iter()
        .any(|head| {
            let rest = plain.strip_prefix(head).map(|rest| rest.strip_prefix('s').unwrap_or(rest));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':', '(']))
        })
}

/// The lines under a heading of next steps, else the sentences that speak of them.
pub(super) fn next_steps(answer: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in answer.lines() {
        let heading =
            line.trim_start().starts_with('#') || (line.starts_with("**") && line.trim_end().ends_with("**"));
        if is_next_heading(line) {
            inside = true;
        } else if inside && heading {
            break;
        } else if inside {
            add_line(&mut out, line.trim());
        }
    }
    if out.is_empty() {
        let mut found = Vec::new();
        collect(&mut found, answer, &NEXT);
        for sentence in found {
            add_line(&mut out, &sentence);
        }
    }
    out
}

/// The answer without the lines at its end that only ask what to do now.
pub(super) fn without_offers(answer: &str) -> String {
    let mut lines: Vec<&str> = answer.lines().collect();
    let is_offer = |line: &str| {
        let lower = line.trim_start_matches(['-', '*', '#', '>', ' ']).to_lowercase();
        lower.is_empty() || OFFERS.iter().any(|head| lower.starts_with(head))
    };
    while lines.last().is_some_and(|line| is_offer(line)) {
        lines.pop();
    }
    lines.join("\n")
}

/// The answer without its section of next steps: what is left was done or said.
pub(super) fn without_section(answer: &str) -> String {
    let kept = answer.lines().take_while(|line| !is_next_heading(line));
    kept.collect::<Vec<_>>().join("\n")
}
