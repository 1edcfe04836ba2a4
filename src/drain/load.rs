//! Taking an export in: JSON lines, each redacted again, in transactions of bounded size. Done again from its beginning it changes nothing.

use super::Reply;
use super::gate::Gate;
use crate::config::Home;
use crate::redact::{Redactor, Report};
use crate::spool::{self, Odd};
use crate::step::step;
use crate::store::{Portable, Store, StoreError, Terms};
use crate::{fs, id};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The format that is written, and the newest that is read.
pub const EXPORT_FORMAT: u64 = 1;
/// A transaction is committed at this many rows.
const ROWS: usize = 8_000;
/// Or at so much text. Units: bytes.
const BYTES: usize = 32 * 1024 * 1024;
/// A longer line is no record of ours. Units: bytes.
const LINE_BYTES: u64 = 128 * 1024 * 1024;
/// The first line of an export is short. Units: bytes.
const HEAD_BYTES: u64 = 4_096;

/// The first line of an export.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExportHead {
    /// Its format.
    pub sinker_export: u64,
    /// The version that wrote it.
    #[serde(default)]
    pub version: String,
    /// When, RFC 3339.
    #[serde(default)]
    pub time: String,
}

/// The first line of a file, if it is an export.
pub fn export_head(path: &Path) -> Option<ExportHead> {
    // Opening a pipe would wait for whoever writes it.
    if !path.metadata().is_ok_and(|meta| meta.is_file()) {
        return None;
    }
    let file = File::open(path).ok()?;
    let mut line = Vec::new();
    BufReader::new(file).take(HEAD_BYTES).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

/// Redacts every text of a record.
pub fn clean_record(record: &mut Portable, redactor: &Redactor, report: &mut Report) {
    record.each_text(&mut |text| {
        if let Cow::Owned(cleaned) = redactor.clean(text, report) {
            *text = cleaned;
        }
    });
}

/// What could not be used of a file.
#[derive(Default)]
struct Junk {
    lines: u64,
    first: Option<(u64, u64, String)>,
}

impl Junk {
    fn add(&mut self, from: u64, to: u64, why: String) {
        self.lines += 1;
        self.first.get_or_insert((from, to, why));
    }
}

/// Takes an export in. Errors: [`StoreError`]; what was committed by then holds, and doing it again goes on.
pub(super) fn load(
    home: &Home,
    store: &mut Store,
    redactor: &Redactor,
    path: &Path,
    terms: Terms<'_>,
) -> Result<Reply, StoreError> {
    let refused = |error: String| Ok(Reply { error: Some(error), ..Reply::default() });
    let Some(file) = fs::open_plain(path)? else { return refused(format!("{} is gone", path.display())) };
    match export_head(path) {
        Some(head) if head.sinker_export <= EXPORT_FORMAT => {}
        Some(_) => return refused(format!("{} was written by a newer version", path.display())),
        None => return refused(format!("{} is no export", path.display())),
    }
    let mut reader = BufReader::new(file);
    let (mut line, mut at, mut junk) = (Vec::new(), 0_u64, Junk::default());
    let before = store.totals()?;
    let (mut gate, mut passed, mut left_out) = (Gate::new(home), BTreeSet::new(), 0_u64);
    let (mut more, mut ended) = (true, false);
    while more {
        step("load::chunk")?;
        let mut write = store.begin()?;
        let (mut rows, mut bytes) = (0, 0);
        while rows < ROWS && bytes < BYTES {
            line.clear();
            let read = (&mut reader).take(LINE_BYTES).read_until(b'\n', &mut line)?;
            if read == 0 {
                more = false;
                break;
            }
            let from = at;
            at += read as u64;
            if from == 0 || line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            bytes += read;
            let parsed = serde_json::from_slice::<Value>(&line);
            if parsed.as_ref().is_ok_and(|value| value.get("t") == Some(&Value::from("end"))) {
                ended = true;
                continue;
            }
            let record = parsed.and_then(serde_json::from_value::<Portable>);
            match record {
                // What stands in it is not told.
                Err(error) => junk.add(from, at, format!("no record: {:?} error", error.classify())),
                Ok(mut record) => {
                    clean_record(&mut record, redactor, &mut Report::default());
                    if !record.keep(&mut passed, &mut |project| gate.passes_project(project)) {
                        left_out += u64::from(matches!(record, Portable::Session(_) | Portable::Note(_)));
                        continue;
                    }
                    match write.take_in(record, terms)? {
                        0 => junk.add(from, at, "a record that cannot be used".to_owned()),
                        n => rows += n,
                    }
                }
            }
        }
        write.derive(terms)?;
        write.commit()?;
    }
    let after = store.totals()?;
    if let Some((from, to, why)) = &junk.first {
        let mut odd =
            Odd::new(format!("{} lines of an export could not be used; the first: {why}", junk.lines));
        odd.path = Some(redactor.clean(&path.to_string_lossy(), &mut Report::default()).into_owned());
        (odd.from, odd.to) = (Some(*from), Some(*to));
        let name = id::short(&id::sha256(path.to_string_lossy().as_bytes()), 16).to_owned();
        spool::write_report(home, &format!("export.{name}"), &odd)?;
    }
    Ok(Reply {
        files: 1,
        documents: after.0.saturating_sub(before.0),
        observations: after.1.saturating_sub(before.1),
        odd: junk.lines,
        passed: left_out,
        error: (!ended).then(|| format!("{} is cut short: what is in it is stored", path.display())),
        ..Reply::default()
    })
}
