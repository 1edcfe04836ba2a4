//! Dates that a question names: `on 14 October 2025`, `in May`, `2025-10-14`. Absolute ones only: what `yesterday` means hangs on a clock, and
//! what is said must not (D15).

use crate::clock::{self, Millis};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// A month says more than a day without one, a year less.
const MONTH: f64 = 1.0;
const DAY: f64 = 0.7;
const YEAR: f64 = 0.5;

/// What a question says of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Date {
    year: Option<u16>,
    month: Option<u8>,
    day: Option<u8>,
}

impl Date {
    /// Reads the first date of a text; `None` where it names neither a month nor a whole date.
    pub(super) fn of(text: &str) -> Option<Self> {
        let words: Vec<&str> = text
            .split(|c: char| !c.is_alphanumeric() && c != '-')
            .map(|word| word.trim_matches('-'))
            .filter(|word| !word.is_empty())
            .take(400)
            .collect();
        let iso = words.iter().find_map(|word| iso(word));
        if iso.is_some() {
            return iso;
        }
        let at = words
            .iter()
            .enumerate()
            .find_map(|(at, word)| Some((at, month(word, words.get(at + 1).copied(), before(&words, at))?)));
        let (at, month) = at?;
        let mut date = Self { month: Some(month), ..Self::default() };
        let near = words.get(at.saturating_sub(2)..(at + 4).min(words.len())).unwrap_or_default();
        for word in near {
            date.day = date.day.or_else(|| day(word));
            date.year = date.year.or_else(|| year(word));
        }
        Some(date)
    }

    /// How well a time fits, 0 to 1.
    pub(super) fn fit(self, time_ms: i64) -> f64 {
        if time_ms == 0 {
            return 0.0;
        }
        let told = clock::format(Millis(time_ms));
        let part = |range: std::ops::Range<usize>| told.get(range).and_then(|part| part.parse::<u16>().ok());
        let parts = [
            (self.year, part(0..4), YEAR),
            (self.month.map(u16::from), part(5..7), MONTH),
            (self.day.map(u16::from), part(8..10), DAY),
        ];
        let asked: f64 = parts.iter().filter(|(asked, ..)| asked.is_some()).map(|(.., weight)| weight).sum();
        let fits: f64 = parts
            .iter()
            .filter(|(asked, is, _)| asked.is_some() && asked == is)
            .map(|(.., weight)| weight)
            .sum();
        if asked > 0.0 { fits / asked } else { 0.0 }
    }
}

fn before<'a>(words: &[&'a str], at: usize) -> Option<&'a str> {
    at.checked_sub(1).and_then(|before| words.get(before)).copied()
}

/// `October`, `Oct`; `may` and `march` are words too, and stand for months only beside a number or after `in`, `since`, `of`.
fn month(word: &str, next: Option<&str>, before: Option<&str>) -> Option<u8> {
    let lower = word.to_lowercase();
    let found = MONTHS.iter().position(|name| {
        *name == lower
            || (lower.len() >= 3 && lower != "mar" && lower != "dec" && name.get(..3) == Some(&lower))
    });
    let number = |word: Option<&str>| word.is_some_and(|word| day(word).is_some() || year(word).is_some());
    let is_word = matches!(lower.as_str(), "may" | "march");
    let said = number(next)
        || number(before)
        || before.is_some_and(|word| {
            matches!(
                word.to_lowercase().as_str(),
                "in" | "since" | "of" | "last" | "early" | "late" | "mid" | "until"
            )
        });
    found.filter(|_| !is_word || said).and_then(|at| u8::try_from(at + 1).ok())
}

fn day(word: &str) -> Option<u8> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    if digits.len() > 2 {
        return None;
    }
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

fn year(word: &str) -> Option<u16> {
    if word.len() != 4 {
        return None;
    }
    word.parse().ok().filter(|year| (1990..=2100).contains(year))
}

fn iso(word: &str) -> Option<Date> {
    let mut parts = word.split('-');
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let month = second.parse().ok().filter(|month| (1..=12).contains(month) && second.len() == 2)?;
    Some(Date { year: Some(year(first)?), month: Some(month), day: third.map(day).unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_in_words_or_digits_is_read() {
        let date = |year, month, day| Some(Date { year, month: Some(month), day });
        let cases = [
            ("what broke on 14 October 2025?", date(Some(2025), 10, Some(14))),
            ("What did we do on October 14th, 2025", date(Some(2025), 10, Some(14))),
            ("the release in may", date(None, 5, None)),
            ("2025-10-14: which port", date(Some(2025), 10, Some(14))),
            ("since 2025-10", date(Some(2025), 10, None)),
            ("decided in Sep 2024", date(Some(2024), 9, None)),
            ("it may fail on 3 of 5", None),
            ("may 3 be used", date(None, 5, Some(3))),
            ("decode the token, mark it", None),
            ("mar file, dec 10", None),
            ("in 2025", None),
            ("1-2-3", None),
        ];
        for (text, expected) in cases {
            assert_eq!(Date::of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_time_fits_by_the_parts_that_were_named() {
        let time = 1_760_400_000_000; // 2025-10-14
        let fit = |text| Date::of(text).unwrap().fit(time);
        assert_eq!(fit("2025-10-14"), 1.0);
        assert_eq!(fit("in October"), 1.0);
        assert!(fit("October 2024") < fit("October 2025") && fit("October 2024") > fit("May 2025"));
        assert_eq!(Date::of("in October").unwrap().fit(0), 0.0);
    }
}
