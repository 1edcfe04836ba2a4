//! `sinker export`.

use super::exit::Failure;
use super::output;
use super::{Exit, redact, scope};
use crate::clock;
use crate::config::{Home, Secret};
use crate::drain::{EXPORT_FORMAT, ExportHead, clean_record};
use crate::fs;
use crate::redact::{Redactor, Report};
use crate::store::{Part, Portable, Reader};
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Write what is stored as JSON lines: sessions, what was said, notes. `sinker import FILE` reads it back to the same ids. Refused when a
/// redaction rule of this version finds something in it.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A new file; without it, or as `-`, stdout
    file: Option<PathBuf>,
    /// Only this project: an id, a name or a path
    #[arg(long, value_name = "P")]
    project: Option<String>,
    /// Only this session
    #[arg(long, value_name = "S")]
    session: Option<String>,
    /// Only what is not older: a time or an age (2026-11-30, 90d)
    #[arg(long, value_name = "T")]
    since: Option<String>,
    /// Replace the file
    #[arg(long)]
    force: bool,
}

/// Documents named where a rule finds something.
const NAMED: usize = 10;

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let store = Reader::open_to_show(home)?;
    let part = part(home, &store, args)?;
    let file = args.file.as_ref().filter(|file| file.as_os_str() != "-");
    if let Some(file) = file.filter(|file| !args.force && file.symlink_metadata().is_ok()) {
        return Err(Failure::new(format!("{} is there already", file.display()))
            .hint("sinker export FILE --force")
            .exit(Exit::Usage));
    }
    if let Some(file) = file.filter(|file| lies_in(file, home.root())) {
        return Err(Failure::new(format!("{} lies in the data directory", file.display()))
            .hint("sinker export /another/place.jsonl")
            .exit(Exit::Usage));
    }
    redact::refuse_problems(home)?;
    // What is looked through is what is written.
    store.hold()?;
    look_through(home, &store, &part)?;
    let Some(path) = file else {
        return match write(&store, &part, &mut BufWriter::new(std::io::stdout().lock())) {
            // Who reads it has seen enough.
            Err(Stop::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Done),
            done => done.map(|_| Exit::Done).map_err(|stop| stop.failure("stdout")),
        };
    };
    // Written beside it: until the new one is whole, the old one stays.
    let beside = if args.force { beside(path)? } else { path.clone() };
    let mut out = BufWriter::new(fs::create_new(&beside)?);
    let written = write(&store, &part, &mut out).and_then(|n| {
        fs::sync(out.get_ref(), &beside)?;
        if args.force {
            fs::rename(&beside, path)?;
        }
        Ok(n)
    });
    match written {
        Ok(records) => {
            output::say(&format!("{records} records in {}", path.display()));
            Ok(Exit::Done)
        }
        Err(stop) => {
            fs::remove(&beside)?;
            Err(stop.failure(&path.display().to_string()))
        }
    }
}

/// The name under which what replaces a file is written. What a process of our number left there is worth nothing.
///
/// Errors: what is to be replaced is no file.
fn beside(path: &Path) -> Result<PathBuf, Failure> {
    if path.symlink_metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_symlink()) {
        return Err(Failure::new(format!("{} is no file", path.display()))
            .hint("sinker export /another/place.jsonl")
            .exit(Exit::Usage));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    fs::remove(&beside)?;
    Ok(beside)
}

fn part(home: &Home, store: &Reader, args: &Args) -> Result<Part, Failure> {
    let mut part = Part::default();
    if let Some(wanted) = &args.project {
        part.project = Some(scope::project(home, Some(wanted))?);
    }
    if let Some(wanted) = &args.session {
        let known = store.session_id(wanted)?.ok_or_else(|| {
            Failure::new(format!("there is no session {wanted}"))
                .hint("`sinker sessions --all` lists them")
                .exit(Exit::Nothing)
        })?;
        part.session = Some(known);
    }
    if let Some(text) = &args.since {
        let since = clock::since(text).ok_or_else(|| {
            Failure::new(format!("{text} is no time"))
                .hint("2026-11-30, 2026-11-30T12:00:00Z, 3d, 12h")
                .exit(Exit::Usage)
        })?;
        part.since_ms = Some(since.0);
    }
    Ok(part)
}

/// Nothing leaves that a rule of today would have taken out.
fn look_through(home: &Home, store: &Reader, part: &Part) -> Result<(), Failure> {
    let redactor = Redactor::new(&Secret::open(home).map_err(|e| Failure::new(e.to_string()))?);
    let (mut rules, mut named, mut records) = (BTreeMap::<&str, u64>::new(), Vec::new(), 0_u64);
    store
        .portable(part, &mut |mut record: Portable| -> Result<(), Stop> {
            let mut report = Report::default();
            clean_record(&mut record, &redactor, &mut report);
            if !report.is_empty() {
                records += 1;
                for (rule, times) in report.counts() {
                    *rules.entry(rule).or_default() += times;
                }
                if named.len() < NAMED {
                    named.push(record.name().to_owned());
                }
            }
            Ok(())
        })
        .map_err(|stop| stop.failure("the export"))?;
    if records == 0 {
        return Ok(());
    }
    let rules: Vec<String> = rules.iter().map(|(rule, times)| format!("{rule} ({times})")).collect();
    Err(Failure::new(format!(
        "nothing was written: {records} records hold what a redaction rule finds: {}; in {}",
        rules.join(", "),
        named.join(", ")
    ))
    .hint("`sinker redact --rescan` takes it out of the store; then export again"))
}

/// Writes the head and every record. Returns how many.
fn write(store: &Reader, part: &Part, out: &mut impl Write) -> Result<u64, Stop> {
    let head = ExportHead {
        sinker_export: EXPORT_FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        time: clock::format(clock::now()),
    };
    let mut line = |value: &serde_json::Value| -> Result<(), Stop> {
        serde_json::to_writer(&mut *out, value).map_err(|error| Stop::Io(error.into()))?;
        Ok(out.write_all(b"\n")?)
    };
    let json = |error: serde_json::Error| Stop::Io(error.into());
    line(&serde_json::to_value(&head).map_err(json)?)?;
    let mut records = 0;
    store.portable(part, &mut |record: Portable| -> Result<(), Stop> {
        records += 1;
        line(&serde_json::to_value(&record).map_err(json)?)
    })?;
    // Without it the file was cut short.
    line(&serde_json::json!({ "t": "end", "records": records }))?;
    out.flush()?;
    Ok(records)
}

/// Would a new file of this name lie in a folder?
fn lies_in(file: &Path, folder: &Path) -> bool {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (parent.canonicalize(), folder.canonicalize()) {
        (Ok(parent), Ok(folder)) => parent.starts_with(folder),
        _ => false,
    }
}

/// Why an export ended early.
enum Stop {
    Store(crate::store::StoreError),
    Io(std::io::Error),
}

impl From<crate::store::StoreError> for Stop {
    fn from(error: crate::store::StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<fs::FsError> for Stop {
    fn from(error: fs::FsError) -> Self {
        Self::Io(error.source)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl Stop {
    fn failure(self, place: &str) -> Failure {
        match self {
            Self::Store(error) => error.into(),
            Self::Io(error) => Failure::new(format!("{place} cannot be written: {error}"))
                .hint("check free space and permissions there"),
        }
    }
}
