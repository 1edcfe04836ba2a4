//! Proves that the host's settings hold each entry, as it is written today, once. Mend: `sinker install`.

use super::server::HOOKS;
use super::settings;
use super::{Finding, Patient};
use crate::install::{Entry, Form, find};
use std::collections::BTreeSet;

pub(super) fn look(patient: &Patient) -> Finding {
    let program = patient.program.to_string_lossy();
    let unread: Vec<String> =
        patient.files.iter().filter(|f| f.value.is_none()).map(|f| f.path.display().to_string()).collect();
    if !unread.is_empty() {
        return Finding::bad(
            format!("{} cannot be read as settings", unread.join(", ")),
            "mend the JSON (comments and doubled keys are none), then `sinker install --dry-run`",
        );
    }
    // By their worth, not by their number: each file has the table of its scope's config.
    let mut current: Vec<&Entry> = Vec::new();
    let mut wanted: Vec<&Entry> = Vec::new();
    let (mut older, mut doubled, mut by_hand, mut places) = (0, 0, 0, Vec::new());
    for file in &patient.files {
        let Some(value) = &file.value else { continue };
        let found = find(value, &file.wanted, &program);
        if !found.is_empty() {
            places.push(file.path.display().to_string());
        }
        if found.iter().any(|f| f.form != Form::ByHand) {
            let more: Vec<_> = file.wanted.iter().filter(|e| !wanted.contains(e)).collect();
            wanted.extend(more);
        }
        for one in &found {
            match one.form {
                Form::Current(n) => {
                    let Some(entry) = file.wanted.get(n) else { continue };
                    let again = current.contains(&entry);
                    // The host runs equal commands of several files once; those of a plugin it does not compare.
                    doubled += usize::from(again && is_plugin(file));
                    if !again {
                        current.push(entry);
                    }
                }
                Form::Older => older += 1,
                Form::Doubled => doubled += 1,
                Form::ByHand => by_hand += 1,
            }
        }
    }
    let lacking: Vec<&str> =
        wanted.iter().filter(|entry| !current.contains(entry)).map(|entry| entry.host_event).collect();
    let place = places.join(", ");
    if places.is_empty() {
        return Finding::bad(
            format!("no hook of Sinker is in the settings of {}", settings::host_name()),
            "`sinker install`; `--dry-run` says what it would write",
        );
    }
    if by_hand > 0 && current.is_empty() && older == 0 {
        return Finding::good(format!(
            "{by_hand} entries made by hand in {place}; what they do is their maker's"
        ));
    }
    let mut wrong = Vec::new();
    if !lacking.is_empty() {
        wrong.push(format!("{} of {} are missing ({})", lacking.len(), wanted.len(), events(&lacking)));
    }
    if older > 0 {
        wrong.push(format!("{older} are of another form or for another binary"));
    }
    if doubled > 0 {
        wrong.push(format!("{doubled} stand there twice"));
    }
    if wrong.is_empty() {
        return Finding::good(format!("{} entries in {place}", current.len()));
    }
    let hint = if doubled > 0 && older == 0 && lacking.is_empty() {
        "`sinker install` takes doubled ones out; of settings and plugin keep one (`sinker uninstall`, or `claude plugin uninstall`)"
    } else {
        "`sinker install` brings them up to date; `--dry-run` says how"
    };
    Finding::bad(format!("{place}: {}", wrong.join("; ")), hint)
}

fn is_plugin(file: &settings::SettingsFile) -> bool {
    file.path.ends_with(HOOKS)
}

fn events(names: &[&str]) -> String {
    let names: BTreeSet<&str> = names.iter().copied().collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}
