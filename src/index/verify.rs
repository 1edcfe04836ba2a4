//! Compares the published index with what it must hold: the ids, and the checksum of every file.

use super::directory::ReadDirectory;
use super::error::{At, IndexError};
use super::generation::{Generation, Meta, file_list, meta};
use super::schema::{Fields, id_term, schema};
use crate::config::Home;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tantivy::index::{SegmentComponent, SegmentMeta};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Index, SegmentReader, TERMINATED};

/// What was found.
#[derive(serde::Serialize, Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Nothing is missing, too many, or damaged.
    pub ok: bool,
    /// Expected ids that the index does not hold; not counted when a file is damaged.
    pub missing: u64,
    /// Documents of the index that nobody expects; not counted when a file is damaged.
    pub extra: u64,
    /// Files that are gone or whose content is not what was written; relative to the generation. Sorted.
    pub bad_files: Vec<String>,
}

/// Checks the published index against the ids it must hold, each named once. Memory does not grow with their number.
///
/// No index at all is a report with everything missing. Errors: [`IndexError::Newer`], or a disk that cannot be read.
pub fn verify(home: &Home, expected: &mut dyn Iterator<Item = String>) -> Result<Report, IndexError> {
    let Some(generation) = Generation::current(home)? else {
        let missing = expected.count() as u64;
        return Ok(Report { ok: missing == 0, missing, ..Report::default() });
    };
    let path = generation.path(home);
    let Meta::Ours { .. } = meta(&path)? else { return Ok(bad(&["meta.json"])) };
    let Ok(index) = ReadDirectory::open(&path).and_then(Index::open) else { return Ok(bad(&["meta.json"])) };
    if index.schema() != schema().0 {
        return Ok(bad(&["meta.json"]));
    }
    let bad_files = bad_files(&index, &path)?;
    if !bad_files.is_empty() {
        // Damaged dictionaries must not be searched: their bytes lead anywhere.
        return Ok(Report { bad_files, ..Report::default() });
    }
    let mut segments = Vec::new();
    for segment in index.searchable_segments().at("open", &path)? {
        segments.push(SegmentReader::open(&segment).at("open", &path)?);
    }
    let fields = schema().1;
    let (mut held, mut missing) = (0_u64, 0_u64);
    for expected in expected {
        let found = copies(&segments, &fields, &expected, &path)?;
        held += found.min(1);
        missing += u64::from(found == 0);
    }
    let documents: u64 = segments.iter().map(|s| u64::from(s.num_docs())).sum();
    let extra = documents.saturating_sub(held);
    Ok(Report { ok: missing == 0 && extra == 0, missing, extra, bad_files })
}

/// The files of the published index that are gone or whose sum is not the one they end with, relative to the generation.
///
/// Reads all of it. While a writer is at work a file may go from under it: who finds one looks again. Errors: [`verify`].
pub fn damaged_files(home: &Home) -> Result<Vec<String>, IndexError> {
    let Some(generation) = Generation::current(home)? else { return Ok(Vec::new()) };
    let path = generation.path(home);
    let Meta::Ours { .. } = meta(&path)? else { return Ok(vec!["meta.json".to_owned()]) };
    let Ok(index) = ReadDirectory::open(&path).and_then(Index::open) else {
        return Ok(vec!["meta.json".to_owned()]);
    };
    bad_files(&index, &path)
}

fn bad(names: &[&str]) -> Report {
    Report { bad_files: names.iter().map(|n| (*n).to_owned()).collect(), ..Report::default() }
}

/// How many live documents have this id.
fn copies(segments: &[SegmentReader], fields: &Fields, id: &str, path: &Path) -> Result<u64, IndexError> {
    let term = id_term(fields, id);
    let mut found = 0;
    for segment in segments {
        let inverted = segment.inverted_index(fields.key).at("read", path)?;
        let Some(mut docs) = inverted.read_postings(&term, IndexRecordOption::Basic).at("read", path)? else {
            continue;
        };
        while docs.doc() != TERMINATED {
            found += u64::from(!segment.is_deleted(docs.doc()));
            docs.advance();
        }
    }
    Ok(found)
}

/// Reads every file of every live segment and compares its sum with the one in its footer.
fn bad_files(index: &Index, path: &Path) -> Result<Vec<String>, IndexError> {
    let mut bad = BTreeSet::new();
    let segments = index.searchable_segment_metas().at("read", path)?;
    // Read after the segments: a file is listed before it is written. Without the list no writer can open the index.
    let listed = file_list(path);
    if listed.is_none() {
        bad.insert(".managed.json".to_owned());
    }
    for segment in segments {
        for file in files(&segment) {
            // An error is a file that is gone, or a footer that cannot be read.
            if !matches!(index.directory().validate_checksum(&file), Ok(true)) {
                bad.insert(file.display().to_string());
            }
            if listed.as_ref().is_some_and(|listed| !listed.contains(&file)) {
                bad.insert(".managed.json".to_owned());
            }
        }
    }
    Ok(bad.into_iter().collect())
}

/// The files that a live segment consists of.
pub(super) fn files(segment: &SegmentMeta) -> Vec<PathBuf> {
    use SegmentComponent::{Delete, FastFields, FieldNorms, Positions, Postings, Store, Terms};
    let mut parts = vec![FastFields, FieldNorms, Positions, Postings, Store, Terms];
    if segment.has_deletes() {
        parts.push(Delete);
    }
    parts.into_iter().map(|part| segment.relative_path(part)).collect()
}

#[cfg(test)]
mod tests;
