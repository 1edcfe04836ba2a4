//! Proves that the SQLite in this binary is no older than one whose write-ahead log is safe. Mend: another build of Sinker.

use super::{Finding, Patient};

/// 3.52: a log that is reset while it is read damages the file no more.
const LEAST: i32 = 3_052_000;

pub(super) fn look(_patient: &Patient) -> Finding {
    judge(rusqlite::version_number(), rusqlite::version())
}

fn judge(number: i32, name: &str) -> Finding {
    if number >= LEAST {
        return Finding::good(name);
    }
    Finding::bad(
        format!("SQLite {name} is in this binary"),
        "use a build with SQLite 3.52 or newer, such as `scripts/dist` makes",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_one_is_told() {
        assert!(!judge(3_051_009, "3.51.9").ok && judge(3_052_000, "3.52.0").ok);
    }
}
