//! `redaction`: are all rules of the user's own in force, those of retention too?

use super::{Finding, Patient};
use crate::drain;

pub(super) fn look(patient: &Patient) -> Finding {
    match drain::rules_in_doubt().or_else(drain::retention_in_doubt) {
        None if !patient.home.rescan().exists() && drain::rescan_due(&patient.home) => Finding::bad(
            "every rule of redaction and retention is in force, but some of what is stored was redacted by other ones",
            "`sinker redact --rescan` redacts it anew",
        ),
        None => Finding::good("every rule of redaction and retention is in force"),
        Some(what) => Finding::bad(what, "`sinker config check` names each; mend the file it names"),
    }
}
