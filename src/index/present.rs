//! Which documents the index holds already: a new one needs no removal first.
//!
//! Tantivy keeps every removal in memory until the next commit (over a kilobyte each) and looks each up in every segment; of an import nearly
//! all would remove nothing. A removal that is left out by mistake would leave a document twice, so every doubt counts as held.

use super::schema::{Fields, key_of};
use std::collections::HashSet;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, Index, IndexReader, ReloadPolicy, Term};

/// The last commit, and what was added since.
pub(super) struct Present {
    committed: Option<IndexReader>,
    /// Keys added after the last commit.
    since: HashSet<Vec<u8>>,
}

impl Present {
    /// What an index that was just opened holds.
    pub(super) fn of(index: &Index) -> Self {
        let builder =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).doc_store_cache_num_blocks(1);
        Self { committed: builder.try_into().ok(), since: HashSet::new() }
    }

    /// Is a document with this id held, or may it be? It is from now on.
    pub(super) fn holds(&mut self, fields: &Fields, id: &str) -> bool {
        let key = key_of(id);
        let term = Term::from_field_bytes(fields.key, &key);
        !self.since.insert(key) || self.is_committed(&term)
    }

    fn is_committed(&self, term: &Term) -> bool {
        let Some(reader) = &self.committed else { return true };
        let searcher = reader.searcher();
        searcher.segment_readers().iter().any(|segment| {
            let found = segment
                .inverted_index(term.field())
                .and_then(|inverted| Ok(inverted.read_postings(term, IndexRecordOption::Basic)?));
            // A dictionary that cannot be read is a doubt.
            found.map_or(true, |list| list.is_some_and(|list| list.doc() != tantivy::TERMINATED))
        })
    }

    /// All that was added is committed.
    pub(super) fn committed(&mut self, index: &Index) {
        let reloaded = self.committed.as_ref().is_some_and(|reader| reader.reload().is_ok());
        if !reloaded {
            // A merge took a file from under it: what cannot be looked at is taken for held.
            *self = Self::of(index);
        }
        self.since.clear();
    }
}
