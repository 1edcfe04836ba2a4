//! Waiting on a condition with a deadline.

use std::time::{Duration, Instant};

/// Waits until `condition` holds; false when `limit` passed first.
pub fn within(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + limit;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Waits until `condition` holds; panics with `what` after half a minute.
pub fn eventually(what: &str, condition: impl FnMut() -> bool) {
    assert!(within(Duration::from_secs(30), condition), "did not come true within 30 s: {what}");
}
