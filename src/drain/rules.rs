//! What a person's own rules of redaction lack: told wherever somebody looks, since what such a rule was to take out is kept.

use crate::config::Problem;
use crate::log;
use crate::redact::OwnRules;

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

/// Says it in the log, once a start.
pub(super) fn log_unusable() {
    for problem in unusable_rules() {
        log::error(
            "drain",
            &[("file", &problem.path.display()), ("key", &problem.key), ("what", &problem.what)],
            "A rule of redaction is wrong and not in force; the built-in ones are.",
        );
    }
}
