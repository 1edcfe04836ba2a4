//! Says what the settings keep out of memory, and whether something of it was stored before. Mend: `sinker forget`, which only a person decides.

use super::{Finding, Patient};
use crate::config::{Capture, Secret, Settings};
use crate::drain::StatusFile;
use crate::store::{Reader, StoreError};
use std::path::Path;

pub(super) fn look(patient: &Patient) -> Finding {
    let settings = Settings::read(Some(&patient.here));
    let unclear = settings.problems.iter().find(|p| p.key.is_empty() || p.key.starts_with("capture"));
    if let Some(problem) = unclear {
        let what = format!("{}: {} {}", problem.path.display(), problem.key, problem.what);
        return Finding::bad(
            format!("the settings are not clear, so nothing they may mean is stored: {what}"),
            "`sinker config check` says what is wrong",
        );
    }
    let capture = Capture::of(&settings);
    let secret = || Secret::read(&patient.home).ok().flatten();
    let here = match capture.passes(&patient.here, secret) {
        Some(why) => format!("this project is {}; ", why.name()),
        None => String::new(),
    };
    let status = StatusFile::read(&patient.home).unwrap_or_default();
    let (files, records): (u64, u64) =
        (status.passed_files.values().sum(), status.passed_records.values().sum());
    let what = format!("{here}{files} transcripts and {records} records of others were passed over");
    let projects = match Reader::open(&patient.home).and_then(|store| store.projects()) {
        Ok(projects) => projects,
        Err(StoreError::Absent(_)) => Vec::new(),
        Err(error) => return Finding::bad(error.to_string(), "`sinker drain --once` looks, and repairs"),
    };
    let stored: Vec<&str> = projects
        .iter()
        .filter(|p| {
            let own = Capture::of(&Settings::read(Some(Path::new(&p.directory))));
            let passed = Path::new(&p.directory).is_absolute()
                && own.passes(Path::new(&p.directory), secret).is_some();
            passed || own.names(&p.id) || own.names(&p.name)
        })
        .map(|p| p.id.as_str())
        .collect();
    match stored.first() {
        None => Finding::good(what),
        Some(_) => Finding::good(format!(
            "{what}; what was stored before stays until `sinker forget --project` removes it: {}",
            stored.join(", ")
        )),
    }
}
