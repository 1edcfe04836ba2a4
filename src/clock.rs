//! Every reading of the time.
//!
//! [`now`] is the logical clock that names, rows and texts use; `SINKER_NOW` fixes it (`2026-11-30T12:00:00Z`)
//! or shifts it (`+3600` or `-3600`, seconds). [`wall`] is the machine's clock, which `SINKER_NOW` does not move: liveness
//! (heartbeat age, stale temporary files) is compared with file times that the kernel sets.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

/// A point in time. Units: milliseconds since 1970-01-01T00:00:00Z; negative before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub i64);

enum Shift {
    None,
    Fixed(i64),
    By(i64),
}

static SHIFT: OnceLock<Shift> = OnceLock::new();

fn read_shift() -> Shift {
    let Ok(text) = std::env::var("SINKER_NOW") else { return Shift::None };
    if let Some(fixed) = parse(&text) {
        return Shift::Fixed(fixed.0);
    }
    match text.parse::<i64>() {
        Ok(seconds) => Shift::By(seconds.saturating_mul(1000)),
        Err(_) => Shift::None,
    }
}

/// Reads the logical clock. Units: milliseconds.
pub fn now() -> Millis {
    match SHIFT.get_or_init(read_shift) {
        Shift::None => wall(),
        Shift::Fixed(ms) => Millis(*ms),
        Shift::By(ms) => Millis(wall().0.saturating_add(*ms)),
    }
}

/// Reads the machine's clock. Units: milliseconds.
#[allow(clippy::disallowed_methods, reason = "this is the one place that reads it")]
pub fn wall() -> Millis {
    from_system(SystemTime::now())
}

/// Nanoseconds of the machine's clock: differ from call to call, for temporary names.
#[allow(clippy::disallowed_methods, reason = "this is the one place that reads it")]
pub fn nanos() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

/// Converts a file time. Units: milliseconds, rounded down.
pub fn from_system(time: SystemTime) -> Millis {
    let ms = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX).saturating_neg(),
    };
    Millis(ms)
}

/// Parses RFC 3339 in any zone; `None` for anything else. Units of the result: milliseconds, UTC.
pub fn parse(text: &str) -> Option<Millis> {
    text.parse::<jiff::Timestamp>().ok().map(|t| Millis(t.as_millisecond()))
}

/// Is it a time that can be written, and another after it? What stands in a foreign file may be any number. Units: milliseconds.
pub fn is_time(ms: i64) -> bool {
    const DAY_MS: i64 = 86_400_000;
    [ms, ms.saturating_add(DAY_MS)].into_iter().all(|ms| jiff::Timestamp::from_millisecond(ms).is_ok())
}

/// Reads a date, a time, or an age before now: `2026-11-30`, `2026-11-30T12:00:00Z`, `90m`, `12h`, `3d`, `2w`.
pub fn since(text: &str) -> Option<Millis> {
    if let Some(at) = parse(text).or_else(|| parse(&format!("{text}T00:00:00Z"))) {
        return Some(at);
    }
    let mut number = text.chars();
    let unit_ms = match number.next_back()? {
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        'w' => 604_800_000,
        _ => return None,
    };
    let count: u32 = number.as_str().parse().ok()?;
    Some(Millis(now().0.saturating_sub(i64::from(count).saturating_mul(unit_ms))))
}

/// Formats as RFC 3339 UTC with milliseconds: `2026-11-30T13:54:13.854Z`.
pub fn format(at: Millis) -> String {
    let time = jiff::Timestamp::from_millisecond(at.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

/// The processor time that this process has used; zero where it cannot be told.
pub fn processor() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// Measures elapsed real time, and tells when a deadline has passed.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[allow(clippy::disallowed_methods, reason = "this is the one place that reads it")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    /// Milliseconds since the start, with fractions.
    pub fn ms(&self) -> f64 {
        self.elapsed().as_secs_f64() * 1000.0
    }

    /// What is left of `limit`; zero when it has passed.
    pub fn left(&self, limit: Duration) -> Duration {
        limit.saturating_sub(self.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_round_trip_in_utc_with_milliseconds() {
        let cases = [
            ("2026-11-30T13:54:13.854Z", "2026-11-30T13:54:13.854Z"),
            ("2026-11-30T15:54:13+02:00", "2026-11-30T13:54:13.000Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ];
        for (text, expected) in cases {
            assert_eq!(format(parse(text).unwrap()), expected);
        }
        assert_eq!(parse("yesterday"), None);
        assert_eq!(parse(""), None);
    }
}
