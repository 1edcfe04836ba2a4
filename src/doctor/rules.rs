//! `redaction`: are all rules of the user's own in force, those of retention too?

use super::{Finding, Patient};
use crate::drain;

pub(super) fn look(_: &Patient) -> Finding {
    match drain::rules_in_doubt().or_else(drain::retention_in_doubt) {
        None => Finding::good("every rule of redaction and retention is in force"),
        Some(what) => Finding::bad(what, "`sinker config check` names each; mend the file it names"),
    }
}
