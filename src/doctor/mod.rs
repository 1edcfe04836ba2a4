//! `sinker doctor`: does memory work here, from the host's settings to an answer?
//!
//! One file a check, one line a check. A check looks and tries; it changes nothing of the user's (D16), and what it tries runs in a temporary
//! home. With `--fix` it mends what is safe to mend in the data directory: missing folders, modes, a stale mark, a note for the drainer.
//!
//! | check | what it proves |
//! |---|---|
//! | `binary` | the command line and the hooks start the same program |
//! | `hooks` | the host's settings hold each entry, as it is written today, once |
//! | `hooks-enabled` | nothing switches all hooks off |
//! | `hook-programs` | the programs that the entries name are there, and are this one |
//! | `hooks-work` | each entry does its work, started as the host starts it |
//! | `rivals` | no other memory answers the same prompts |
//! | `mcp` | the host knows the tools server, may start it, and it answers |
//! | `folders` | the data directory is whole |
//! | `modes` | nobody else may read it |
//! | `network`, `space` | it lies on a local disk that has room |
//! | `sqlite` | the SQLite in this binary is one whose log is safe |
//! | `transcripts` | the host's transcripts can be read |
//! | `unwritten` | the host writes transcripts at all |
//! | `capture` | what the settings keep out of memory, and that they can be read |
//! | `drainer` | who holds the drain lock is alive |
//! | `lag` | what was said is stored long before the host deletes it |
//! | `index` | the index holds what the store holds |
//! | `service` | an installed service starts this binary |
//! | `whole-way` | a made-up event becomes an answer |

mod binary;
mod capture;
mod drainer;
mod enabled;
mod fire;
mod folders;
mod hooks;
mod index;
mod lag;
mod modes;
mod place;
mod programs;
mod rivals;
mod rules;
mod server;
mod service;
mod settings;
mod sqlite;
mod transcripts;
mod trial;
mod trust;
mod unwritten;
mod whole_way;

use crate::config::{Home, Look};
use crate::service::Service;
use serde::Serialize;
use settings::SettingsFile;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// What is looked at.
#[derive(Debug)]
pub struct Patient {
    home: Home,
    /// Nothing in the data directory is another user's, or leads out of it; else only `folders` looks at it, and says so.
    is_safe: bool,
    here: PathBuf,
    program: PathBuf,
    service: Service,
    mend: bool,
    files: Vec<SettingsFile>,
}

impl Patient {
    /// `here` lies in the project whose settings count, `program` is the binary as the host would start it, `service` what a service of today
    /// would run. With `mend`, what is safe is mended.
    pub fn new(home: Home, here: PathBuf, program: PathBuf, service: Service, mend: bool) -> Self {
        let files = settings::read(&here);
        let (home, is_safe) = match home.clone().trusted(Look::Whole) {
            Ok(home) => (home, true),
            Err(_) => (home, false),
        };
        Self { home, is_safe, here, program, service, mend, files }
    }
}

/// What one check found; the JSON names are a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Name of the check.
    pub check: &'static str,
    /// Nothing is wrong.
    pub ok: bool,
    /// What to do; empty when nothing is.
    pub hint: String,
    /// What was seen.
    pub detail: String,
    /// It was wrong, and `--fix` has mended it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fixed: bool,
}

impl Finding {
    fn good(detail: impl Into<String>) -> Self {
        Self { check: "", ok: true, hint: String::new(), detail: detail.into(), fixed: false }
    }

    fn bad(detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { check: "", ok: false, hint: hint.into(), detail: detail.into(), fixed: false }
    }

    fn mended(detail: impl Into<String>) -> Self {
        Self { fixed: true, ..Self::good(detail) }
    }
}

/// A check and its name, in the order in which they are told.
type Check = (&'static str, fn(&Patient) -> Finding);

const CHECKS: &[Check] = &[
    ("binary", binary::look),
    ("hooks", hooks::look),
    ("hooks-enabled", enabled::look),
    ("hook-programs", programs::look),
    ("hooks-work", fire::look),
    ("rivals", rivals::look),
    ("mcp", server::look),
    ("folders", folders::look),
    ("modes", modes::look),
    ("network", place::network),
    ("space", place::space),
    ("redaction", rules::look),
    ("sqlite", sqlite::look),
    ("transcripts", transcripts::look),
    ("unwritten", unwritten::look),
    ("capture", capture::look),
    ("drainer", drainer::look),
    ("lag", lag::look),
    ("index", index::look),
    ("service", service::look),
    ("whole-way", whole_way::look),
];

/// Checks that open what lies in the data directory.
const INSIDE: [&str; 6] = ["modes", "unwritten", "capture", "drainer", "lag", "index"];

/// The names of all checks.
pub fn names() -> Vec<&'static str> {
    CHECKS.iter().map(|(name, _)| *name).collect()
}

/// Makes the checks that are named, or all where none is, one after the other.
pub fn examine<'a>(patient: &'a Patient, named: &'a [String]) -> impl Iterator<Item = Finding> + 'a {
    let wanted = |name: &str| named.is_empty() || named.iter().any(|n| n == name);
    CHECKS.iter().filter(move |(name, _)| wanted(name)).map(|(check, look)| {
        if !patient.is_safe && INSIDE.contains(check) {
            let found = Finding::bad("not looked at: the data directory is not safe", "see `folders`");
            return Finding { check, ..found };
        }
        // What is damaged can make a library panic; the other checks are made all the same.
        let found = catch_unwind(AssertUnwindSafe(|| look(patient)));
        let failed = |_| Finding::bad("the check itself failed; the log says where", "please report it");
        Finding { check, ..found.unwrap_or_else(failed) }
    })
}
