//! Proves that an installed service starts this binary, with the paths of today. Mend: `sinker service install`.

use super::{Finding, Patient};
use crate::service::{self, Installed, Kind, Manager};

pub(super) fn look(patient: &Patient) -> Finding {
    let kind = Kind::here();
    let found = service::path(kind).and_then(|path| {
        let text = patient.service.text(kind)?;
        Ok((service::look(&path, &text)?, path))
    });
    let (found, path) = match found {
        Ok(found) => found,
        Err(error) => return Finding::bad(error.to_string(), "`sinker service status` says more"),
    };
    let path = path.display();
    match found {
        Installed::Absent => Finding::good("none is installed, and none is needed: hooks start a drainer"),
        Installed::Older => Finding::bad(
            format!("{path} starts another binary, or was written by another version"),
            "`sinker service install` renews it, `sinker service uninstall` removes it",
        ),
        Installed::Foreign => {
            Finding::bad(format!("{path} was not written by Sinker"), "look at it, and move it away")
        }
        Installed::Current => match Manager::new(kind).is_active() {
            Some(false) => Finding::bad(
                format!("{path} is installed, and not active"),
                "`sinker service install` starts it; `systemctl --user status sinker` says why it ended",
            ),
            _ => Finding::good(path.to_string()),
        },
    }
}
