//! Versions of Sinker: which of two is newer.

/// The version of this process.
pub fn own() -> String {
    #[cfg(feature = "failpoints")]
    if let Ok(other) = std::env::var("STEP_VERSION") {
        return other;
    }
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Is `one` newer than `other`? By numbers alone; what is no version is newer than nothing.
pub fn is_newer(one: &str, other: &str) -> bool {
    match (numbers(one), numbers(other)) {
        (Some(one), Some(other)) => one > other,
        _ => false,
    }
}

fn numbers(text: &str) -> Option<[u64; 3]> {
    let mut parts = text.split(['.', '-', '+']).map(str::parse);
    let mut next = || parts.next()?.ok();
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_go_by_their_numbers() {
        for (one, other, newer) in [
            ("0.2.0", "0.1.9", true),
            ("0.10.0", "0.9.0", true),
            ("0.1.0", "0.1.0", false),
            ("0.1.0", "0.2.0", false),
            ("1.0.0-rc1", "0.9.0", true),
            ("", "0.1.0", false),
            ("0.2.0", "", false),
            ("x.y.z", "0.1.0", false),
        ] {
            assert_eq!(is_newer(one, other), newer, "{one} and {other}");
        }
    }
}
