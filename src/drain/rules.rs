//! What a person's own rules of redaction and retention lack: told wherever somebody looks, since what such a rule was to take out is kept.

use crate::config::{Home, Problem, Secret, Settings};
use crate::log;
use crate::redact::{OwnRules, Redactor};
use crate::store::Reader;

/// The rules in the user's settings that are not in force, with the reason; the built-in ones are in force always.
pub fn unusable_rules() -> Vec<Problem> {
    OwnRules::read().problems
}

/// The same as one sentence for `status`; `None` when nothing is wrong.
pub fn rules_in_doubt() -> Option<String> {
    let problems = unusable_rules();
    let first = problems.first()?;
    let more = if problems.len() > 1 { format!(" (and {} more)", problems.len() - 1) } else { String::new() };
    Some(format!("a rule of redaction is wrong and not in force: {first}{more}"))
}

/// True when some of what is stored was redacted by other rules than those in force now. False where there is no store to look at.
pub fn rescan_due(home: &Home) -> bool {
    let rules = Reader::open(home).and_then(|store| store.rules());
    let redactor = Secret::read(home).ok().flatten().map(|secret| Redactor::new(&secret));
    match (rules, redactor) {
        (Ok(rules), Some(redactor)) => rules != i64::from(redactor.version()),
        _ => false,
    }
}

/// What keeps the rules of retention out of force, as one sentence. One wrong rule stops them all: what it was to leave alone, another might
/// take.
pub fn retention_in_doubt() -> Option<String> {
    let problems = Settings::read(None).problems;
    let wrong = problems.iter().find(|p| p.key.is_empty() || p.key.starts_with("retain"))?;
    Some(format!("a rule of retention is wrong, and none is in force: {wrong}"))
}

/// Says it in the log, once a start.
pub(super) fn log_unusable(problems: &[Problem]) {
    for problem in problems {
        log::error(
            "drain",
            &[("file", &problem.path.display()), ("key", &problem.key), ("what", &problem.what)],
            "A rule of redaction is wrong and not in force; the built-in ones are.",
        );
    }
    if let Some(what) = retention_in_doubt() {
        log::error("drain", &[("what", &what)], "Nothing is taken away for its age or size.");
    }
}
