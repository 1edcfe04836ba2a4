//! Proves that who holds the drain lock is alive: it writes a heartbeat after work done. Mend: end it; its death frees everything.

use super::{Finding, Patient};
use crate::{clock, drain, fs, spool};

/// Longer than any heartbeat of a drainer that works. Units: seconds.
const SILENT_S: i64 = 60;

pub(super) fn look(patient: &Patient) -> Finding {
    let home = &patient.home;
    let beat = home.heartbeat().symlink_metadata().and_then(|m| m.modified());
    let age_s = beat.ok().map(|time| (clock::wall().0 - clock::from_system(time).0) / 1000);
    if !drain::is_held(home) {
        let counts = spool::counts(home);
        return Finding::good(match counts.new + counts.cur {
            0 => "not running, and nothing waits; the next event of a session starts it".to_owned(),
            n => format!("not running, and {n} entries wait; the next event of a session starts it"),
        });
    }
    match age_s {
        Some(age) if age > SILENT_S => {
            let holder = fs::read_small(&home.lock(), 1024).ok().flatten().unwrap_or_default();
            let holder = String::from_utf8_lossy(&holder).trim().to_owned();
            Finding::bad(
                format!("the drainer ({holder}) holds the lock and has been silent for {age} s"),
                "end that process; the next event of a session starts another, which goes on where it stood",
            )
        }
        _ => Finding::good("at work"),
    }
}
