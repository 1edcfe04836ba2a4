//! Proves that the programs that the entries name are there, and are this one. Mend: `sinker install`, or the binary back in its place.

use super::settings::{Call, hooks};
use super::trial::real;
use super::trust::found;
use super::{Finding, Patient};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(super) fn look(patient: &Patient) -> Finding {
    let mut programs: BTreeSet<PathBuf> = BTreeSet::new();
    for file in &patient.files {
        let (ours, _) = file.ours(&patient.program);
        programs.extend(ours.iter().filter_map(super::settings::Hook::program));
        let Some(value) = &file.value else { continue };
        let exec = hooks(value).into_iter().filter_map(|hook| match hook.call {
            Call::Exec(words) if words.get(1).is_some_and(|w| w == "hook") => words.into_iter().next(),
            _ => None,
        });
        programs.extend(exec.map(PathBuf::from).filter(|p| p.file_name().is_some_and(|n| n == "sinker")));
    }
    if programs.is_empty() {
        return Finding::good("no entry names a program");
    }
    let gone: Vec<String> = programs.iter().filter(|p| !runs(p)).map(|p| p.display().to_string()).collect();
    if !gone.is_empty() {
        return Finding::bad(
            format!("entries name a program that is not there or may not be run: {}", gone.join(", ")),
            "`sinker install` writes the path of this binary; until then the host reports an error for each event",
        );
    }
    let own = real(&patient.program);
    let others: Vec<String> =
        programs.iter().filter(|p| found(p) != Some(own.clone())).map(|p| p.display().to_string()).collect();
    if !others.is_empty() {
        return Finding::bad(
            format!("entries name {}, and this is {}", others.join(", "), own.display()),
            "`sinker install` from the binary that is wanted",
        );
    }
    Finding::good(programs.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", "))
}

fn runs(program: &Path) -> bool {
    let file = found(program);
    file.is_some_and(|p| p.is_file() && rustix::fs::access(&p, rustix::fs::Access::EXEC_OK).is_ok())
}
