//! Which documents of each segment may answer: filters, as sorted lists of document numbers.

use super::ask::RecallError;
use crate::index::Reader;
use tantivy::postings::SegmentPostings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

/// A sorted list without repetition, or all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Docs {
    /// Every document.
    All,
    /// These.
    Only(Vec<DocId>),
}

/// Opens the list of documents that hold a term; `None` when none does.
pub(super) fn postings(
    segment: &SegmentReader,
    field: Field,
    text: &str,
    option: IndexRecordOption,
) -> Result<Option<SegmentPostings>, RecallError> {
    Ok(segment.inverted_index(field)?.read_postings(&Term::from_field_text(field, text), option)?)
}

/// Every live document of a segment that holds a term.
pub(super) fn holding(segment: &SegmentReader, field: Field, text: &str) -> Result<Vec<DocId>, RecallError> {
    let mut found = Vec::new();
    if let Some(list) = postings(segment, field, text, IndexRecordOption::Basic)? {
        alive(segment, list, &mut found);
    }
    Ok(found)
}

/// Adds the live documents of a list.
pub(super) fn alive(segment: &SegmentReader, mut list: SegmentPostings, to: &mut Vec<DocId>) {
    while list.doc() != TERMINATED {
        if !segment.is_deleted(list.doc()) {
            to.push(list.doc());
        }
        list.advance();
    }
}

/// Calls `hit(place in docs, the list standing on it)` for every document in both.
pub(super) fn meet(docs: &[DocId], list: &mut SegmentPostings, mut hit: impl FnMut(usize, &SegmentPostings)) {
    let mut at = 0;
    while let Some(&target) = docs.get(at) {
        let found = if list.doc() < target { list.seek(target) } else { list.doc() };
        if found == TERMINATED {
            return;
        }
        if found == target {
            hit(at, list);
            at += 1;
        } else {
            let rest = docs.get(at..).unwrap_or_default();
            at += rest.partition_point(|d| *d < found);
        }
    }
}

impl Docs {
    /// Keeps those that hold a term.
    pub(super) fn keep(self, segment: &SegmentReader, field: Field, text: &str) -> Result<Self, RecallError> {
        let docs = match self {
            Docs::All => return Ok(Docs::Only(holding(segment, field, text)?)),
            Docs::Only(docs) => docs,
        };
        let mut kept = Vec::new();
        if let Some(mut list) = postings(segment, field, text, IndexRecordOption::Basic)? {
            meet(&docs, &mut list, |at, _| kept.extend(docs.get(at)));
        }
        Ok(Docs::Only(kept))
    }

    /// Drops those that hold a term.
    pub(super) fn drop(self, segment: &SegmentReader, field: Field, text: &str) -> Result<Self, RecallError> {
        let dropped = holding(segment, field, text)?;
        let docs = match self {
            Docs::All if dropped.is_empty() => return Ok(Docs::All),
            Docs::All => segment.doc_ids_alive().collect(),
            Docs::Only(docs) => docs,
        };
        Ok(Docs::Only(docs.into_iter().filter(|d| dropped.binary_search(d).is_err()).collect()))
    }

    /// Drops what hidden hosts wrote.
    pub(super) fn visible(self, segment: &SegmentReader, reader: &Reader) -> Result<Self, RecallError> {
        let mut docs = self;
        for host in reader.hidden() {
            docs = docs.drop(segment, reader.fields().host, host)?;
        }
        Ok(docs)
    }

    /// Keeps those not older than `since_ms`; a document without a time goes.
    pub(super) fn since(self, segment: &SegmentReader, since_ms: i64) -> Result<Self, RecallError> {
        let times = segment.fast_fields().i64("time")?;
        let young = |doc: DocId| times.first(doc).is_some_and(|t| t >= since_ms);
        Ok(Docs::Only(match self {
            Docs::All => segment.doc_ids_alive().filter(|d| young(*d)).collect(),
            Docs::Only(docs) => docs.into_iter().filter(|d| young(*d)).collect(),
        }))
    }
}
