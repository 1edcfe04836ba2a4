//! Proves that what was said is stored long before the host deletes it (`cleanupPeriodDays`). Mend: `sinker drain --once`.

use super::settings::cleanup_days;
use super::{Finding, Patient};
use crate::config::Settings;
use crate::store::{KnownFiles, Reader, StoreError};
use crate::{clock, spool};
use std::path::PathBuf;

/// A drainer that works is never so far behind. Units: seconds.
const LATE_S: u64 = 15 * 60;
const DAY_S: u64 = 86_400;

pub(super) fn look(patient: &Patient) -> Finding {
    let known = match Reader::open(&patient.home) {
        Ok(store) => store.files(),
        Err(StoreError::Absent(_)) => Ok(KnownFiles::default()),
        Err(error) => Err(error),
    };
    let known = match known {
        Ok(known) => known,
        Err(error) => return Finding::bad(error.to_string(), "`sinker drain --once` looks, and repairs"),
    };
    let mut behind: Vec<(u64, PathBuf)> = Vec::new();
    for root in Settings::read(None).roots() {
        for entry in walkdir::WalkDir::new(root).into_iter().filter_map(Result::ok) {
            let path = entry.path();
            if path.extension().is_none_or(|e| e != "jsonl") {
                continue;
            }
            let Ok(meta) = entry.metadata() else { continue };
            if meta.len() > known.get(path).map_or(0, |state| state.settled) {
                let ms = meta.modified().map_or(0, |t| clock::wall().0 - clock::from_system(t).0);
                behind.push((u64::try_from(ms / 1000).unwrap_or(0), path.to_path_buf()));
            }
        }
    }
    behind.retain(|(age_s, _)| *age_s > LATE_S);
    let waiting = spool::counts(&patient.home);
    let oldest = behind.iter().map(|(age, _)| *age).max().unwrap_or(0);
    judge(behind.len(), oldest, waiting.new + waiting.cur, waiting.oldest_age_s, cleanup_days(&patient.files))
}

/// Units: seconds; days for the host's period.
fn judge(files: usize, oldest_s: u64, entries: u64, entry_s: u64, days: u64) -> Finding {
    let entry_s = if entries == 0 { 0 } else { entry_s };
    let late = oldest_s.max(entry_s);
    if late <= LATE_S {
        return Finding::good(format!("{entries} entries wait, no transcript is behind"));
    }
    let what = format!("{files} transcripts and {entries} entries wait, the oldest for {}", age(late));
    // A third of the period is left to do something about it.
    if late.saturating_mul(3) > days.saturating_mul(2 * DAY_S) {
        return Finding::bad(
            format!("{what}; the host deletes transcripts after {days} days (cleanupPeriodDays)"),
            "`sinker import` now, or what was said is lost; then look at the other lines here for why nobody did",
        );
    }
    Finding::bad(what, "`sinker drain --once` stores what waits, `sinker import` also what no hook told of")
}

fn age(seconds: u64) -> String {
    match seconds {
        0..7_200 => format!("{} minutes", seconds / 60),
        7_200..172_800 => format!("{} hours", seconds / 3_600),
        _ => format!("{} days", seconds / DAY_S),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f33_a_lag_that_nears_the_hosts_clean_up_is_told_as_such() {
        assert!(judge(0, 0, 3, 20, 30).ok);
        let late = judge(2, 5 * DAY_S, 0, 0, 30);
        assert!(!late.ok && !late.detail.contains("deletes"));
        let near = judge(2, 21 * DAY_S, 0, 0, 30);
        assert!(!near.ok && near.detail.contains("after 30 days") && near.hint.contains("import"));
        assert!(judge(1, DAY_S, 0, 0, 1).detail.contains("after 1 days"));
        assert!(judge(0, 0, 1, 25 * DAY_S, 30).detail.contains("25 days"));
        assert!(judge(1, u64::MAX, 0, 0, u64::MAX).hint.contains("import"));
    }
}
