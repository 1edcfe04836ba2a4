//! Proves that the host writes transcripts at all: with `--no-session-persistence` hooks run, and name a file that never comes. Mend: leave the
//! flag out where a session is to be remembered.

use super::{Finding, Patient};
use crate::drain::StatusFile;

pub(super) fn look(patient: &Patient) -> Finding {
    match StatusFile::read(&patient.home).map_or(0, |file| file.unwritten_sessions) {
        0 => Finding::good("every session that spoke has a transcript"),
        n => Finding::bad(
            format!("of {n} sessions the host wrote no transcript: nothing of them is remembered"),
            "they ran with `--no-session-persistence`, or the host could not write; where that is meant, nothing is wrong",
        ),
    }
}
