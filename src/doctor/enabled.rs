//! Proves that nothing switches all hooks off. Mend: take the line out.

use super::{Finding, Patient};
use serde_json::Value;

pub(super) fn look(patient: &Patient) -> Finding {
    let off = patient.files.iter().find(|file| {
        let value = file.value.as_ref().and_then(|v| v.get("disableAllHooks"));
        value.and_then(Value::as_bool) == Some(true)
    });
    match off {
        Some(file) => Finding::bad(
            format!("`disableAllHooks` is true in {}: no hook of any file runs", file.path.display()),
            "take it out there, or nothing is captured in sessions that read this file",
        ),
        None => Finding::good("no settings switch hooks off"),
    }
}
