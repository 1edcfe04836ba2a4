//! What a text states: a pure function of the text and who says it, a sentence at a time.
//!
//! A question, a guess, an offer, a step that is told, and quoted code state nothing: when in doubt, none.

use super::cues::{self, FITTING, PATTERNS, Who};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// What kind of claim a statement makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// What was chosen.
    Decision,
    /// What holds: a port, a version, a limit, a name, a path, a command.
    Value,
    /// How a person wants things done.
    Preference,
    /// Why something went wrong.
    RootCause,
    /// What has another name or place.
    Rename,
    /// What is there no more.
    Removal,
    /// No claim, but the end of one: what was thought is not so.
    Refuted,
}

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::store) struct Statement {
    pub kind: Kind,
    pub subject: String,
    pub value: Option<String>,
    /// The sentence.
    pub text: String,
}

/// Shorter ones state nothing, longer ones are no sentences. Units: bytes.
const SENTENCE_BYTES: (usize, usize) = (12, 400);
/// Of one text, at most so many: more is a report, not what a person will be asked about.
const MOST: usize = 12;

/// What a person pastes is not what a person says: of a longer text the first paragraph counts. Units: bytes.
const TYPED_BYTES: usize = 1000;

fn regex(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

static UNSURE: LazyLock<Option<Regex>> = LazyLock::new(|| regex(cues::UNSURE));
static PASSING: LazyLock<Option<Regex>> = LazyLock::new(|| regex(cues::PASSING));
static NO_PROSE: LazyLock<Option<Regex>> = LazyLock::new(|| regex(cues::NO_PROSE));
static NO_RULE: LazyLock<Option<Regex>> = LazyLock::new(|| regex(cues::NO_RULE));
static NO_SUBJECT: LazyLock<Option<Regex>> = LazyLock::new(|| regex(cues::NO_SUBJECT));
static TROUBLED: LazyLock<Option<Regex>> = LazyLock::new(|| regex(cues::TROUBLED));
static QUOTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| regex("(?:^|[\\s(:])[\"“][^\\s\"”][^\"”]*(?: [^\"”]*){3,}[\"”]"));

fn holds(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// Draws the statements of a text. `by_user`: a person said it, otherwise the assistant.
pub(in crate::store) fn statements(text: &str, by_user: bool) -> Vec<Statement> {
    let typed = match text.split_once("\n\n") {
        Some((first, _)) if by_user && text.len() > TYPED_BYTES => first,
        None if by_user && text.len() > TYPED_BYTES => "",
        _ => text,
    };
    let mut found: Vec<Statement> = Vec::new();
    for sentence in sentences(typed) {
        if found.len() >= MOST {
            break;
        }
        if let Some(statement) = statement(sentence, by_user)
            && !found.iter().any(|known| known.text == statement.text)
        {
            found.push(statement);
        }
    }
    found
}

fn statement(sentence: &str, by_user: bool) -> Option<Statement> {
    // What follows a colon may be plain where what leads up to it is not.
    let whole = stated(sentence, sentence, by_user);
    whole.or_else(|| sentence.split_once(": ").and_then(|(_, rest)| stated(rest, sentence, by_user)))
}

/// What `part` of a sentence states.
fn stated(part: &str, sentence: &str, by_user: bool) -> Option<Statement> {
    let lower = part.trim_end_matches(['.', '!']).to_ascii_lowercase();
    if part.len() < SENTENCE_BYTES.0 || sentence.len() > SENTENCE_BYTES.1 {
        return None;
    }
    let fitting = FITTING.as_ref()?.matches(lower.as_bytes());
    if !fitting.matched_any() || quotes(&lower) {
        return None;
    }
    let unsure = holds(&UNSURE, &lower);
    let prose = !holds(&NO_PROSE, &lower);
    let first = lower.find([',', ';', ':']).and_then(|end| lower.get(..end)).unwrap_or(&lower);
    for (kind, who, regex) in fitting.iter().filter_map(|place| PATTERNS.get(place)) {
        if *who == Who::User && !by_user {
            continue;
        }
        let refused = match kind {
            Kind::Preference => holds(&NO_RULE, &lower),
            Kind::Refuted => false,
            Kind::Value | Kind::Decision => unsure || !prose || holds(&PASSING, first),
            Kind::Rename | Kind::Removal => unsure || !prose,
            Kind::RootCause => unsure,
        };
        if refused {
            continue;
        }
        let Some(parts) = regex.captures(&lower) else { continue };
        let named = parts.name("s").map(|m| m.as_str());
        // A cause is told of what is at hand; all else has to say of what it speaks.
        if !matches!(kind, Kind::RootCause | Kind::Refuted | Kind::Preference)
            && named.is_some_and(|s| holds(&NO_SUBJECT, s) || (*kind == Kind::Value && holds(&TROUBLED, s)))
        {
            continue;
        }
        // Lowering ASCII letters moves no byte.
        let of = |name: &str| parts.name(name).and_then(|m| part.get(m.range())).map(plain);
        let subject = of("s").filter(|s| s.len() > 2).unwrap_or_else(|| plain(part));
        let value = of("v").or_else(|| of("w")).filter(|v| !v.is_empty());
        return Some(Statement {
            kind: *kind,
            subject: cut(&subject, 120),
            value: value.map(|v| cut(&v, 160)),
            text: sentence.to_owned(),
        });
    }
    None
}

/// Whole sentences of somebody else are told, not stated.
fn quotes(lower: &str) -> bool {
    holds(&QUOTED, lower)
}

fn plain(text: &str) -> String {
    text.trim().trim_matches([',', ':', ';', '.', ' ', '*']).to_owned()
}

fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// The sentences of a prose text: no code, no quotations, no tables, no headings.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines()
        .filter(move |line| {
            let line = line.trim_start();
            if line.starts_with("```") {
                fenced = !fenced;
            }
            !fenced && !line.starts_with("```") && !line.starts_with(['>', '|', '#'])
        })
        .flat_map(|line| line.split_inclusive(". "))
        .flat_map(|line| line.split_inclusive("! "))
        .flat_map(|line| line.split_inclusive("? "))
        .map(|s| s.trim().trim_start_matches(['-', '*', ' ', '#']))
        .filter(|s| !s.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        assert_eq!(
            FITTING.as_ref().map(regex::bytes::RegexSet::len),
            Some(PATTERNS.len()),
            "one that fails shifts the others"
        );
    }

    /// What a text states, as (kind, value).
    fn check(by_user: bool, text: &str, expected: &[(Kind, Option<&str>)]) {
        let found = statements(text, by_user);
        let found: Vec<_> = found.iter().map(|s| (s.kind, s.value.as_deref())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_text_states_what_holds_and_nothing_else() {
        use Kind::{Decision, Preference, Refuted, Removal, Rename, RootCause, Value};
        for (by_user, text, kind, value) in [
            (false, "The gateway listens on 8080.", Value, Some("8080")),
            (
                false,
                "Done. Sessions expire after 14 days of inactivity.",
                Value,
                Some("14 days of inactivity"),
            ),
            (false, "I renamed `old_name` to `new_name` everywhere.", Rename, Some("`new_name`")),
            (false, "The `legacy` feature flag has been retired.", Removal, None),
            (false, "The stale prices are caused by the edge cache.", RootCause, Some("the edge cache")),
            (true, "let's use SQLite for the local cache", Decision, Some("SQLite")),
            (true, "never push to main without asking", Preference, None),
            (false, "So it wasn't the edge cache after all.", Refuted, None),
        ] {
            check(by_user, text, &[(kind, value)]);
        }
        for (by_user, text) in [
            (true, "does the gateway listen on 8080?"),
            (false, "It might be the cache, which is kept for 5 minutes."),
            (false, "If we set the limit to 5 MB, uploads would fail."),
            (false, "Let me see which port the gateway is on."),
            (false, "I can set the timeout to 30 s if you like."),
            (false, "```\nport is 8080 in this file\n```"),
            (false, "> The gateway listens on 8080."),
            (false, "The first query took 812 ms."),
            (false, "- delete the port 6379 note from docs/staging.md once dispatch is gone"),
            (false, "The legacy flag is removed as soon as the rollout ends."),
            (false, "- [x] The lint job runs every 5 minutes"),
            (false, "Now I need to check that the worker listens on 8080."),
            (false, "The router is now rebooting."),
            (false, "The branch is at commit `06d0bd6`."),
            (false, "Uses `reportlab` for PDFs."),
            // Only a person has preferences.
            (false, "Never mind that folder, it is generated."),
        ] {
            check(by_user, text, &[]);
        }
    }
}
