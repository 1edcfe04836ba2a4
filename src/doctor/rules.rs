//! `redaction`: are all rules of the user's own in force?

use super::{Finding, Patient};
use crate::drain;

pub(super) fn look(_: &Patient) -> Finding {
    match drain::rules_in_doubt() {
        None => Finding::good("every rule of redaction is in force"),
        Some(what) => Finding::bad(what, "`sinker config check` names each; mend the file it names"),
    }
}
