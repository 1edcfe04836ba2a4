//! Proves that the index reflects the store: the same change, as many documents. Each document and file is compared by `sinker index verify`.
//! Mend: `--fix` asks the drainer to look, who rebuilds what is damaged.

use super::{Finding, Patient};
use crate::drain;
use crate::fs::{self, Sync};
use crate::index::{IndexError, Reader};
use crate::store::{self, StoreError};

pub(super) fn look(patient: &Patient) -> Finding {
    let home = &patient.home;
    let figures = match store::Reader::open(home).and_then(|store| store.figures()) {
        Ok(figures) => figures,
        Err(StoreError::Absent(_)) => return Finding::good("nothing is stored yet"),
        Err(error) => {
            return Finding::bad(
                error.to_string(),
                "`sinker drain --once` moves a damaged store aside and rebuilds it",
            );
        }
    };
    let what = match Reader::open(home) {
        Ok(Some(index)) if index.seq() == figures.seq && index.documents() == figures.documents => {
            return Finding::good(format!("{} documents, as in the store", figures.documents));
        }
        Ok(Some(index)) => {
            let what = format!(
                "the index holds {} documents as of change {}, the store {} as of {}",
                index.documents(),
                index.seq(),
                figures.documents,
                figures.seq
            );
            if drain::is_held(home) {
                return Finding::good(format!("{what}; a drainer is at work on it"));
            }
            what
        }
        Ok(None) if drain::is_held(home) => return Finding::good("there is none yet; a drainer makes it"),
        Ok(None) => "there is no index that this version can read".to_owned(),
        Err(error @ IndexError::Newer { .. }) => {
            return Finding::bad(error.to_string(), "update Sinker; nothing was changed");
        }
        Err(error) => error.to_string(),
    };
    let rebuild = "`sinker index verify` names what is missing, `sinker index rebuild` makes it anew; a large one takes minutes";
    if !patient.mend {
        return Finding::bad(what, rebuild);
    }
    match fs::make_private_dir(&home.state()).and_then(|()| fs::replace(&home.suspect_index(), b"", Sync::No))
    {
        Ok(()) => Finding::bad(
            format!("{what}; the next drainer was asked to look"),
            format!("`sinker drain --once`, or {rebuild}"),
        ),
        Err(error) => Finding::bad(error.to_string(), rebuild),
    }
}
