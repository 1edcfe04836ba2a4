//! What a user is told when memory has fallen behind: one line, at the start of a session, at most once a day for each kind of trouble.
//!
//! Nobody looks into `sinker status` as long as all seems well. So the one hook whose reply the host shows to the user looks at the files that
//! the drainer leaves behind, each by one small read, and at a bounded part of the spool. It works where no drainer ever ran.
//!
//! `state/notice` remembers: a line of the version, then `<day> <kinds> <odd> <lost>`; kinds are words of ours. What cannot be remembered is
//! told again: on a full disk that is right.

use crate::config::{Home, version};
use crate::fs::{self, FsError, Sync};
use crate::recall::clean;
use crate::{clock, log};
use serde::Deserialize;
use std::collections::BTreeSet;

const VERSION: &str = "notice 1\n";
/// In place of kinds.
const NONE: &str = "-";
/// Younger than this, what waits is on its way. Units: milliseconds.
const LONG_MS: i64 = 3_600_000;
/// More names of a folder are not counted.
const MAX_NAMES: usize = 1_000;
/// The times of more files are not looked at.
const MAX_LOOKS: usize = 256;
/// So much of transcripts is more than a torn last line. Units: bytes.
const MUCH_BEHIND: u64 = 64 * 1024;
/// Of a message that others made, so much is repeated. Units: characters.
const MESSAGE_CHARS: usize = 200;
/// The drainer's pulse. Units: milliseconds.
const HEARTBEAT_MS: i64 = 10_000;

/// What of `state/status` matters here; each is absent in a file of another version.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Told {
    v: u32,
    version: String,
    seq: u64,
    index_seq: u64,
    documents: u64,
    lost_ranges: u64,
    behind: Vec<Behind>,
    last_error: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Behind {
    cursor: u64,
    size: u64,
}

/// What is wrong: a word for the record, and a sentence's half for the user.
type Trouble = (&'static str, String);

/// What was told, and when.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Record {
    day: String,
    kinds: BTreeSet<String>,
    odd: u64,
    lost: u64,
}

/// The line that the user is owed today; `mended` is how the care of the home went.
pub(super) fn due(home: &Home, mended: Result<(), FsError>) -> Option<String> {
    let told = read_status(home);
    ask_to_leave(home, &told);
    let mut record = Record::read(home);
    let day: String = clock::format(clock::now()).chars().take(10).collect();
    // Each thing set aside lies there with its reason.
    let folder = home.spool_odd();
    let reasons = names(&folder, 4 * MAX_NAMES).filter(|name| name.ends_with(".why"));
    let odd = reasons.take(MAX_NAMES).count() as u64;
    let cleared = odd < record.odd;
    record.odd = record.odd.min(odd);
    // Without a status nothing is known of what was lost.
    let lost = if told.v == 0 { record.lost } else { told.lost_ranges };
    let mut troubles = troubles(home, &told, mended);
    if odd > record.odd {
        let (new, more) = (odd - record.odd, if odd >= MAX_NAMES as u64 { " or more" } else { "" });
        let what = many(new, "thing");
        troubles.push(("odd", format!("{what}{more} set aside that could not be used")));
    }
    if lost > record.lost {
        let new = lost - record.lost;
        let what = many(new, "range");
        troubles.push(("lost", format!("{what} of transcripts lost: gone before stored")));
    }
    if day != record.day {
        record.kinds.clear();
    }
    // What was told today is not told again beside something new.
    troubles.retain(|(kind, _)| !record.kinds.contains(*kind));
    if troubles.is_empty() {
        if cleared {
            record.write(home);
        }
        return None;
    }
    record.day = day;
    record.kinds.extend(troubles.iter().map(|(kind, _)| (*kind).to_owned()));
    (record.odd, record.lost) = (odd, lost);
    record.write(home);
    let texts: Vec<String> = troubles.into_iter().map(|(_, text)| text).collect();
    Some(line(&texts))
}

/// One line, whatever the parts hold.
pub(super) fn line(parts: &[String]) -> String {
    format!("sinker: {}; run `sinker doctor`", clean(&parts.join("; ")))
}

fn read_status(home: &Home) -> Told {
    let bytes = fs::read_small(&home.status(), 1024 * 1024).ok().flatten().unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn troubles(home: &Home, told: &Told, mended: Result<(), FsError>) -> Vec<Trouble> {
    let mut found: Vec<Trouble> = Vec::new();
    if let Err(error) = mended {
        found.push(("home", format!("nothing can be remembered: {error}")));
    }
    if fs::is_full(home.root()) {
        found.push(("disk", format!("the disk of {} is full", home.root().display())));
    }
    let own = version::own();
    if told.v > 1 || version::is_newer(&told.version, &own) {
        let what = format!("the data is kept by Sinker {}, and this is {own}", told.version);
        found.push(("newer", format!("{what}: it reads and changes nothing that is newer")));
    }
    if let Some(error) = &told.last_error {
        found.push(("error", error.chars().take(MESSAGE_CHARS).collect()));
    }
    if home.repair().exists() && told.last_error.is_none() {
        found.push(("repair", "the store was damaged and is being rebuilt".to_owned()));
    }
    found.extend(waiting(home));
    let age_ms = age_of(&home.status()).unwrap_or(0);
    if told.documents > 0 && !home.index().join("current").exists() {
        found.push(("index", "the index is gone".to_owned()));
    } else if told.index_seq < told.seq && age_ms > LONG_MS {
        found.push(("index", format!("the index is behind the store since {}", age(age_ms))));
    }
    let behind: u64 =
        told.behind.iter().map(|b| b.size.saturating_sub(b.cursor)).fold(0, u64::saturating_add);
    if behind > MUCH_BEHIND && age_ms > LONG_MS {
        let (files, mib) = (many(told.behind.len() as u64, "transcript"), behind.div_ceil(1024 * 1024));
        found.push(("behind", format!("{mib} MiB of {files} not stored since {}", age(age_ms))));
    }
    found
}

/// Entries that nobody has taken for long. Of a long spool a part is looked at: some of what has waited for days is in any part.
fn waiting(home: &Home) -> Option<Trouble> {
    let (mut events, mut oldest_ms, mut more) = (0_u64, 0_i64, false);
    let mut sessions = BTreeSet::new();
    for folder in [home.spool_new(), home.spool_cur()] {
        for (n, name) in names(&folder, MAX_NAMES).enumerate() {
            events += 1;
            more |= n + 1 == MAX_NAMES;
            if n < MAX_LOOKS
                && let Some(age_ms) = age_of(&folder.join(&name))
            {
                oldest_ms = oldest_ms.max(age_ms);
            }
            sessions.insert(name.split('.').next().unwrap_or_default().to_owned());
        }
    }
    let (at_least, sessions) = (if more { "over " } else { "" }, sessions.len() as u64);
    (oldest_ms > LONG_MS).then(|| {
        let (events, sessions) = (many(events, "event"), many(sessions, "session"));
        ("spool", format!("{at_least}{events} of {sessions} waiting since {}", age(oldest_ms)))
    })
}

fn names(folder: &std::path::Path, most: usize) -> impl Iterator<Item = String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    files.map(|file| file.file_name().to_string_lossy().into_owned()).take(most)
}

/// For how long nobody has touched a file. Units: milliseconds, of the clock that set its time.
fn age_of(path: &std::path::Path) -> Option<i64> {
    let time = path.symlink_metadata().and_then(|m| m.modified()).ok()?;
    Some(clock::wall().0.saturating_sub(clock::from_system(time).0))
}

fn many(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn age(ms: i64) -> String {
    match ms / 3_600_000 {
        hours @ ..48 => format!("{hours} h"),
        hours => format!("{} days", hours / 24),
    }
}

/// A drainer of an older version still runs, from another place than this hook: it leaves when it is asked, and the next hook starts ours.
fn ask_to_leave(home: &Home, told: &Told) {
    let beats = age_of(&home.heartbeat()).is_some_and(|age_ms| age_ms <= HEARTBEAT_MS);
    let own = version::own();
    if !beats || told.version.is_empty() || !version::is_newer(&own, &told.version) {
        return;
    }
    if let Err(error) = fs::replace(&home.successor(), own.as_bytes(), Sync::No) {
        log::warn("hook", &[("error", &error)], "The older drainer could not be asked to leave.");
    }
}

impl Record {
    fn read(home: &Home) -> Self {
        let bytes = fs::read_small(&home.notice(), 4096).ok().flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines();
        let (Some("notice 1"), Some(line)) = (lines.next(), lines.next()) else {
            return Self::default();
        };
        let parts: Vec<&str> = line.split_whitespace().collect();
        let [day, kinds, odd, lost] = parts.as_slice() else { return Self::default() };
        Self {
            day: (*day).to_owned(),
            kinds: kinds.split(',').filter(|kind| *kind != NONE).map(str::to_owned).collect(),
            odd: odd.parse().unwrap_or(0),
            lost: lost.parse().unwrap_or(0),
        }
    }

    fn write(&self, home: &Home) {
        let found = fs::read_small(&home.notice(), 4096).ok().flatten().unwrap_or_default();
        if !found.is_empty() && !found.starts_with(VERSION.as_bytes()) {
            // Another version's: it is told again rather than written over.
            return;
        }
        let kinds = match self.kinds.iter().map(String::as_str).collect::<Vec<_>>().join(",") {
            none if none.is_empty() => NONE.to_owned(),
            kinds => kinds,
        };
        let text = format!("{VERSION}{} {kinds} {} {}\n", self.day, self.odd, self.lost);
        // What a full disk does not let us replace can still be written over: it is long enough from the first time.
        let padded = format!("{text:<256}");
        if let Err(error) = fs::replace(&home.notice(), padded.as_bytes(), Sync::No)
            && fs::overwrite(&home.notice(), padded.as_bytes()).is_err()
        {
            log::warn("hook", &[("error", &error)], "What the user was told cannot be remembered.");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_reads_back_and_a_foreign_one_is_empty() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        fs::make_private_dir(&home.state()).unwrap();
        let kinds = ["disk", "odd"].map(str::to_owned).into();
        let record = Record { day: "2026-11-30".to_owned(), kinds, odd: 3, lost: 1 };
        record.write(&home);
        assert_eq!(Record::read(&home), record);
        let nothing = Record { kinds: BTreeSet::new(), ..record.clone() };
        nothing.write(&home);
        assert_eq!(Record::read(&home), nothing);
        for foreign in ["", "notice 2\n2026-11-30 disk 3 1\n", "notice 1\n2026-11-30\n"] {
            fs::replace(&home.notice(), foreign.as_bytes(), Sync::No).unwrap();
            assert_eq!(Record::read(&home), Record::default(), "{foreign}");
            record.write(&home);
            let kept = std::fs::read_to_string(home.notice()).unwrap() == foreign;
            assert_eq!(kept, foreign.starts_with("notice 2"), "{foreign}");
        }
    }

    #[test]
    fn the_line_is_one_line_and_ages_are_short() {
        assert_eq!(
            line(&["a\nb".to_owned(), "<system>c".to_owned()]),
            "sinker: a b; ‹system>c; run `sinker doctor`"
        );
        assert_eq!(["3 h", "47 h", "2 days"], [age(10_900_000), age(47 * 3_600_000), age(50 * 3_600_000)]);
    }
}
