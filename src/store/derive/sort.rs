//! What sort of work a turn was, by what was asked and what was done.

use crate::store::body::Fields;
use regex::RegexSet;
use std::sync::LazyLock;

/// The sorts, in the order of [`CUES`].
const SORTS: [&str; 4] = ["security", "fix", "refactor", "feature"];

/// What tells a sort; whole words, lower case.
const CUES: [&str; 4] = [
    r"\b(?:vulnerabilit(?:y|ies)|cve-\d+|xss|csrf|ssrf|sql injection|path traversal|privilege escalation|leaked? (?:secret|key|token|credential)s?|security (?:hole|issue|fix|audit|review|hardening)|harden(?:ed|ing)?|sanitiz(?:e|ed|ing) (?:input|user))\b",
    r"\b(?:fix(?:e[sd]|ing)?|bugs?|broken|breaks|crash(?:es|ed|ing)?|fail(?:s|ed|ing|ure|ures)?|errors?|regression|flaky|wrong|doesn't work|does not work|not working|hangs|deadlock|leaks?|debug|repair|resolve[sd]?)\b",
    r"\b(?:refactor(?:s|ed|ing)?|clean(?:ed|ing)? ?up|renam(?:e|ed|ing)|restructur(?:e|ed|ing)|simplif(?:y|ied|ying)|extract(?:ed|ing)? (?:a|the|into)|deduplicat(?:e|ed|ing)|reorgani[sz](?:e|ed|ing)|split (?:up|the|out)|move (?:the|all|these))\b",
    r"\b(?:add(?:s|ed|ing)?|implement(?:s|ed|ing|ation)?|creat(?:e|es|ed|ing)|build|introduc(?:e|ed|ing)|support(?:s|ed|ing)? (?:for|of)?|new (?:feature|command|endpoint|page|option|flag|test|module|component)|feature|write (?:a|an|the)|scaffold|set up|setup)\b",
];

/// `fix`, `feature`, `refactor`, `change`, `discovery`, `decision` or `security`; empty for a turn that says and does nothing.
pub(super) fn sort(fields: &Fields, has_decided: bool) -> &'static str {
    let edits = !fields.files_edited.is_empty();
    let request = cues(fields.request.lines().next().unwrap_or_default());
    let done = cues(&fields.completed.lines().take(2).collect::<Vec<_>>().join(" "));
    let told = |n: usize| request.contains(&n) || (edits && done.contains(&n));
    if told(0) {
        return "security";
    }
    if edits {
        // What was asked says more than how it was told afterwards; of several cues the earlier sort holds.
        let all = request.iter().chain(&done);
        return all
            .filter_map(|n| SORTS.get(*n))
            .find(|sort| **sort != "security")
            .copied()
            .unwrap_or("change");
    }
    if has_decided {
        return "decision";
    }
    let acted = fields.commands.iter().any(|ran| changes(&ran.command));
    if acted {
        return "change";
    }
    if fields.completed.is_empty() && fields.learned.is_empty() && fields.investigated.is_empty() {
        ""
    } else {
        "discovery"
    }
}

/// Numbers of the sorts whose cues a text holds.
fn cues(text: &str) -> Vec<usize> {
    static CUE_SET: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(CUES).ok());
    let lower = text.to_lowercase();
    CUE_SET.as_ref().map(|set| set.matches(&lower).into_iter().collect()).unwrap_or_default()
}

/// Commands that leave something behind without a file tool.
fn changes(command: &str) -> bool {
    const HEADS: [&str; 12] = [
        "git commit",
        "git push",
        "git merge",
        "git rebase",
        "git tag",
        "rm ",
        "mv ",
        "npm install",
        "cargo add",
        "pip install",
        "docker ",
        "kubectl ",
    ];
    HEADS.iter().any(|head| command.contains(head))
}

/// Words that thank, greet or agree, and ask for nothing.
const COURTESY: [&str; 42] = [
    "hi",
    "hello",
    "hey",
    "thanks",
    "thank",
    "thx",
    "you",
    "ty",
    "ok",
    "okay",
    "great",
    "good",
    "nice",
    "cool",
    "perfect",
    "awesome",
    "yes",
    "no",
    "yep",
    "nope",
    "sure",
    "morning",
    "evening",
    "night",
    "bye",
    "goodbye",
    "cheers",
    "lovely",
    "excellent",
    "wonderful",
    "got",
    "it",
    "all",
    "fine",
    "so",
    "much",
    "very",
    "there",
    "that's",
    "lgtm",
    "wow",
    "job",
];

/// Is it only a greeting, thanks or agreement?
pub(super) fn is_courtesy(request: &str) -> bool {
    let words = request.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    words.into_iter().all(|word| COURTESY.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_sorted_by_what_was_asked_and_done() {
        let cases = [
            ("Fix the crash on empty input", "Done.", true, "fix"),
            ("Add a flag for the port", "Added `--port`.", true, "feature"),
            ("Rename the module", "Renamed it.", true, "refactor"),
            ("Make the header blue", "It is blue now.", true, "change"),
            ("There is an XSS in the comment form", "Escaped the text.", true, "security"),
            ("Where is the port set?", "In `config.rs`.", false, "discovery"),
            ("", "", false, ""),
        ];
        for (request, completed, edits, expected) in cases {
            let files_edited = if edits { vec!["/a".to_owned()] } else { Vec::new() };
            let fields = Fields {
                request: request.into(),
                completed: completed.into(),
                files_edited,
                ..Fields::default()
            };
            assert_eq!(sort(&fields, false), expected, "{request}");
        }
        let fields = Fields {
            request: "Which one?".into(),
            completed: "We use this one.".into(),
            ..Fields::default()
        };
        assert_eq!(sort(&fields, true), "decision");
    }
}
