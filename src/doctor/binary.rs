//! Proves that the command line and the hooks start the same program. Mend: remove the others.

use super::trial::real;
use super::{Finding, Patient};
use std::path::PathBuf;

pub(super) fn look(patient: &Patient) -> Finding {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = real(&patient.program);
    let mut others: Vec<PathBuf> = Vec::new();
    for file in std::env::split_paths(&path).filter(|dir| dir.is_absolute()).map(|dir| dir.join("sinker")) {
        if file.is_file() && real(&file) != own && !others.contains(&file) {
            others.push(file);
        }
    }
    let this = format!("{} {}", patient.program.display(), env!("CARGO_PKG_VERSION"));
    if others.is_empty() {
        return Finding::good(this);
    }
    let names = others.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ");
    Finding::bad(
        format!("this is {this}; on the search path there are others: {names}"),
        "remove those that are not wanted, or put the folder of the wanted one first in PATH and run `sinker install` with it",
    )
}
