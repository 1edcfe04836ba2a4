//! Writes documents, commits them with the store sequence they reflect, and publishes the generation that holds them.
//!
//! Held only by the process that holds the drain lock. After an error a writer may be dead (Tantivy ends its threads on a full disk):
//! drop it and open again; what was not committed is indexed again from the store.

use super::admission::{Admitted, Gate};
use super::directory::WriteDirectory;
use super::document::Document;
use super::error::{At, IndexError};
use super::generation::{Generation, Meta, file_list, meta, payload, remove_all_but, sweep};
use super::present::Present;
use super::schema::{Fields, id_term, schema, to_tantivy, tokenizers};
use super::verify::files as segment_files;
use crate::config::Home;
use crate::fs;
use crate::step::step;
use std::path::{Path, PathBuf};
use tantivy::index::SegmentId;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{Index, IndexSettings, IndexWriter, SegmentReader, TantivyError};

/// Heap of the one indexing thread before it writes a segment (D13). Units: bytes.
const HEAP_BYTES: usize = 50_000_000;
/// More segments than this, and [`Writer::settle`] merges. Each costs every recall hook about a tenth of a millisecond.
const SETTLED_SEGMENTS: usize = 4;

/// Rounds of [`Writer::scrub`]; a merge in the background takes a few.
const SCRUB_ROUNDS: usize = 20;

/// Stored documents are compressed in blocks of this size: larger ones take less disk, smaller ones less time to read.
const STORE_BLOCK_BYTES: usize = 64 * 1024;

/// The one writer of the index.
pub struct Writer {
    home: Home,
    generation: Generation,
    path: PathBuf,
    fields: Fields,
    writer: IndexWriter<Admitted>,
    gate: Gate,
    present: Present,
    published: bool,
    documents: u64,
    ledger: u64,
}

/// A writer, and how far the index it writes is.
pub struct Opened {
    /// The writer.
    pub writer: Writer,
    /// The store sequence of the last commit; 0 for a new generation. What is newer in the store is missing here.
    pub seq: u64,
    /// How much of the forget ledger it obeys, bytes.
    pub ledger: u64,
    /// A new generation was begun: there was none, or it was damaged or of an older format.
    pub fresh: bool,
}

impl Writer {
    /// Opens the published generation, or begins a new one beside it, which answers from its first commit on.
    ///
    /// Errors: [`IndexError::Newer`] leaves everything as it is; else the disk's.
    pub fn open(home: &Home) -> Result<Opened, IndexError> {
        fs::make_private_dir(&home.index())?;
        let Some(generation) = Generation::current(home)? else {
            return Ok(Opened { writer: Self::begin(home)?, seq: 0, ledger: 0, fresh: true });
        };
        let Meta::Ours { seq, ledger } = meta(&generation.path(home))? else {
            return Ok(Opened { writer: Self::begin(home)?, seq: 0, ledger: 0, fresh: true });
        };
        match Self::resume(home, generation) {
            Ok(mut writer) => {
                writer.ledger = ledger;
                sweep(&generation.path(home));
                remove_all_but(home, generation);
                Ok(Opened { writer, seq, ledger, fresh: false })
            }
            Err(IndexError::Engine { .. }) => {
                Ok(Opened { writer: Self::begin(home)?, seq: 0, ledger: 0, fresh: true })
            }
            Err(error) => Err(error),
        }
    }

    fn begin(home: &Home) -> Result<Self, IndexError> {
        let generation = Generation::next(home);
        let path = generation.path(home);
        step("index::begin")?;
        fs::make_private_dir(&path)?;
        let directory = WriteDirectory::open(&path).at("create", &path)?;
        // No thread of its own for compressing: the drainer has two cores at best, and sessions run on them.
        let settings = IndexSettings {
            docstore_compress_dedicated_thread: false,
            docstore_compression: Compressor::Zstd(ZstdCompressor::default()),
            docstore_blocksize: STORE_BLOCK_BYTES,
            ..IndexSettings::default()
        };
        let index = Index::create(directory, schema().0, settings).at("create", &path)?;
        Self::with(home, generation, index, false)
    }

    fn resume(home: &Home, generation: Generation) -> Result<Self, IndexError> {
        let path = generation.path(home);
        if file_list(&path).is_none() {
            // Tantivy would take no list for an empty one, and never remove the files it does not know of.
            let lost = TantivyError::InternalError("the list of files is gone".to_owned());
            return Err(lost).at("open", &path);
        }
        let index = WriteDirectory::open(&path).and_then(Index::open).at("open", &path)?;
        if index.schema() != schema().0 {
            let other = TantivyError::SchemaError("the fields are not ours".to_owned());
            return Err(other).at("open", &path);
        }
        for segment in index.searchable_segments().at("open", &path)? {
            SegmentReader::open(&segment).at("open", &path)?;
        }
        Self::with(home, generation, index, true)
    }

    fn with(
        home: &Home,
        generation: Generation,
        mut index: Index,
        published: bool,
    ) -> Result<Self, IndexError> {
        let path = generation.path(home);
        index.set_tokenizers(tokenizers());
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(HEAP_BYTES)
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        let present = Present::of(&index);
        let writer: IndexWriter<Admitted> = index.writer_with_options(options).at("write", &path)?;
        writer.set_merge_policy(Box::new(merge_policy()));
        if published {
            // What a killed process has left goes before anything is written: Tantivy forgets a file that is written anew, under the name of a
            // leftover, while that is being removed.
            writer.garbage_collect_files().wait().at("clean up", &path)?;
        }
        // 1. A writer opened anew gives its first operation the number of the last commit. 2. A merge that begins before the next
        // commit takes a segment for one in which that operation is done. 3. If it was the removal of an old copy, the copy
        // outlives it. So the first operation removes what cannot be there.
        writer.delete_term(id_term(&schema().1, ""));
        let mut writer = Self {
            home: home.clone(),
            generation,
            path,
            fields: schema().1,
            writer,
            gate: Gate::default(),
            present,
            published,
            documents: 0,
            ledger: 0,
        };
        writer.documents = writer.count()?;
        Ok(writer)
    }

    fn count(&self) -> Result<u64, IndexError> {
        let segments = self.writer.index().searchable_segment_metas().at("read", &self.path)?;
        Ok(segments.iter().map(|s| u64::from(s.num_docs())).sum())
    }

    /// Puts a document in the place of the one with its id. Visible after [`Writer::commit`].
    pub fn upsert(&mut self, document: &Document) -> Result<(), IndexError> {
        if self.present.holds(&self.fields, &document.id) {
            self.remove(&document.id)?;
        }
        let admitted = self.gate.admit(to_tantivy(&self.fields, document), document.text_bytes());
        self.writer.add_document(admitted).at("write", &self.path)?;
        Ok(())
    }

    /// Takes the document with this id out; one that is not there is fine. Its bytes leave the disk with the next merge of its segment.
    pub fn remove(&mut self, id: &str) -> Result<(), IndexError> {
        self.writer.delete_term(id_term(&self.fields, id));
        Ok(())
    }

    /// Makes all that was written durable, as the state of store sequence `seq`, and lets readers see it.
    ///
    /// A new generation is published here, whole or not at all: write everything before the first commit.
    pub fn commit(&mut self, seq: u64) -> Result<(), IndexError> {
        step("index::commit")?;
        let mut prepared = self.writer.prepare_commit().at("commit", &self.path)?;
        prepared.set_payload(&payload(seq, self.ledger));
        step("index::prepared")?;
        prepared.commit().at("commit", &self.path)?;
        self.present.committed(self.writer.index());
        step("index::committed")?;
        // 1. Killed before this line: `current` names the old generation, ours is an orphan, swept at the next open.
        // 2. Killed after it: the old one is the orphan.
        if !self.published {
            self.generation.publish(&self.home)?;
            self.published = true;
        }
        self.documents = self.count()?;
        Ok(())
    }

    /// Says how much of the forget ledger the next commit obeys, bytes: readers are silent while the ledger is longer.
    pub fn obeys(&mut self, ledger: u64) {
        self.ledger = ledger;
    }

    /// Documents in the last commit.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Begins a new, empty generation beside the published one, whatever state that is in.
    pub fn anew(home: &Home) -> Result<Self, IndexError> {
        fs::make_private_dir(&home.index())?;
        Self::begin(home)
    }

    /// Leaves this generation (it answers until the next one's first commit) and begins a new, empty one.
    pub fn discard(self, home: &Home) -> Result<Self, IndexError> {
        // A merge in the background would go on writing into a directory that is about to be removed. Its failure is no news: the
        // generation may be left because it is damaged.
        drop(self.close());
        Self::begin(home)
    }

    /// Merges down to few segments when there are many; for idle times, since it waits for the merge.
    pub fn settle(&mut self) -> Result<(), IndexError> {
        let segments = self.writer.index().searchable_segment_metas().at("read", &self.path)?;
        if segments.len() <= SETTLED_SEGMENTS {
            return Ok(());
        }
        let mut by_size: Vec<_> = segments.iter().map(|s| (s.num_docs(), s.id())).collect();
        by_size.sort();
        let many = by_size.len() + 1 - SETTLED_SEGMENTS;
        let ids: Vec<_> = by_size.into_iter().take(many).map(|(_, id)| id).collect();
        match self.writer.merge(&ids).wait() {
            // A merge in the background took one of them first; what it leaves is fewer as well.
            Err(TantivyError::InvalidArgument(_)) | Ok(_) => Ok(()),
            Err(error) => Err(error).at("merge", &self.path),
        }
    }

    /// Writes anew every segment that holds what was taken out, so that its bytes leave the disk. Call it after a commit; it waits.
    pub fn scrub(&mut self) -> Result<(), IndexError> {
        step("index::scrub")?;
        // A merge in the background may take a segment first; what it makes is looked at in the next round.
        for _ in 0..SCRUB_ROUNDS {
            let holding = self.holding()?;
            if holding.is_empty() {
                break;
            }
            for id in holding {
                match self.writer.merge(&[id]).wait() {
                    Err(TantivyError::InvalidArgument(_)) | Ok(_) => {}
                    Err(error) => return Err(error).at("merge", &self.path),
                }
            }
        }
        if !self.holding()?.is_empty() {
            // A merge that could not write its end is told to nobody.
            let left = TantivyError::InternalError("segments with removed documents are left".to_owned());
            return Err(left).at("merge", &self.path);
        }
        // A reader of ours holds the old segments open.
        self.present.committed(self.writer.index());
        self.writer.garbage_collect_files().wait().at("clean up", &self.path)?;
        self.documents = self.count()?;
        Ok(())
    }

    /// The segments that hold what was taken out.
    fn holding(&self) -> Result<Vec<SegmentId>, IndexError> {
        let segments = self.writer.index().searchable_segment_metas().at("read", &self.path)?;
        Ok(segments.iter().filter(|s| s.has_deletes()).map(|s| s.id()).collect())
    }

    /// Waits for merges in the background and ends. What was not committed is dropped.
    pub fn close(self) -> Result<(), IndexError> {
        let path = self.path;
        let index = self.writer.index().clone();
        self.writer.wait_merging_threads().at("close", &path)?;
        complete_list(&index, &path)
    }
}

/// Puts what a live segment consists of on Tantivy's list of files, where it is not.
///
/// A file that a killed process left is being removed; meanwhile one of that name is written anew, and entered in the list; then the removal takes
/// it off again. Nobody would ever remove that file, and every check would find it. Nothing writes any more when this is called.
fn complete_list(index: &Index, path: &Path) -> Result<(), IndexError> {
    let Some(mut list) = file_list(path) else { return Ok(()) };
    let known = list.len();
    for segment in index.searchable_segment_metas().at("read", path)? {
        list.extend(segment_files(&segment).into_iter().filter(|file| path.join(file).exists()));
    }
    if list.len() == known {
        return Ok(());
    }
    let text = serde_json::to_vec(&list).unwrap_or_default();
    Ok(fs::replace(&path.join(".managed.json"), &text, fs::Sync::Yes)?)
}

/// Four segments of about one size become one; a size is a factor of four. So a million documents lie in about six segments.
fn merge_policy() -> LogMergePolicy {
    let mut policy = LogMergePolicy::default();
    policy.set_min_num_segments(4);
    policy.set_min_layer_size(4_000);
    policy.set_level_log_size(2.0);
    policy.set_del_docs_ratio_before_merge(0.3);
    policy
}

#[cfg(test)]
mod tests;
