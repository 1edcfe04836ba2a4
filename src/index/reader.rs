//! Opens the published index for searching: waits for no lock, writes nothing, starts no thread (D9).

use super::directory::{META, ReadDirectory};
use super::document::Document;
use super::error::{At, IndexError};
use super::generation::{Generation, Meta, meta, parse_payload};
use super::schema::{Fields, from_tantivy, id_term, schema, tokenizers};
use crate::config::Home;
use crate::ledger;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tantivy::columnar::Column;
use tantivy::schema::IndexRecordOption;
use tantivy::{
    Directory as _, DocAddress, DocSet as _, Index, ReloadPolicy, Searcher, TERMINATED, TantivyDocument,
};

/// The host of notes and items of work.
const OWN_HOST: &str = "sinker";

/// How often a reader opens again when the clean-up took a file from under it.
const ATTEMPTS: u32 = 3;

/// What is stored of a document: text may be cut, `request`, `profile` and `seq` are not there.
pub type Stored = Document;

/// The payload of the commit. The whole of the meta file, schema and all, was read when the index was opened; to read it as such
/// once more would cost a hook what it costs to look up a term.
fn payload(index: &Index) -> String {
    #[derive(serde::Deserialize)]
    struct Payload {
        payload: Option<String>,
    }
    let bytes = index.directory().atomic_read(Path::new(META)).unwrap_or_default();
    serde_json::from_slice::<Payload>(&bytes).ok().and_then(|meta| meta.payload).unwrap_or_default()
}

/// One state of the index; stays as it is while commits go on.
pub struct Reader {
    searcher: Searcher,
    fields: Fields,
    path: PathBuf,
    seq: u64,
    ledger: u64,
    /// The times of each segment's documents, opened when one is asked for: to open them costs more than to read one.
    times: Vec<OnceLock<Column<i64>>>,
    /// Hosts whose documents do not answer.
    hidden: Vec<String>,
}

impl Reader {
    /// Opens the published generation; `None` when there is none that this version can read.
    ///
    /// Errors: [`IndexError::Forgetting`] while it may hold what was forgotten, [`IndexError::Newer`], or damage that three attempts met.
    pub fn open(home: &Home) -> Result<Option<Self>, IndexError> {
        let mut attempt = 1;
        loop {
            // 1. We read `current` or a meta file. 2. The drainer publishes, or merges and removes files.
            // 3. We open one that is gone. The names we read were old, so read them again.
            match Self::try_open(home) {
                Err(IndexError::Engine { .. }) if attempt < ATTEMPTS => attempt += 1,
                Ok(Some(reader)) if reader.ledger != ledger::size(home) => {
                    ledger::Ledger::read(home, 0)?;
                    return Err(IndexError::Forgetting);
                }
                done => return done,
            }
        }
    }

    fn try_open(home: &Home) -> Result<Option<Self>, IndexError> {
        let Some(generation) = Generation::current(home)? else { return Ok(None) };
        let path = generation.path(home);
        let index = match ReadDirectory::open(&path).and_then(Index::open) {
            Ok(index) => index,
            Err(error) => {
                // A newer Tantivy's meta file may not parse for ours: then say so.
                meta(&path)?;
                return Err(error).at("open", &path);
            }
        };
        Self::with(index, path)
    }

    fn with(mut index: Index, path: PathBuf) -> Result<Option<Self>, IndexError> {
        let Meta::Ours { seq, ledger } = parse_payload(&path, &payload(&index))? else { return Ok(None) };
        let (schema, fields) = schema();
        if index.schema() != schema {
            return Ok(None);
        }
        index.set_tokenizers(tokenizers());
        let builder = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let reader = builder.doc_store_cache_num_blocks(8).try_into().at("open", &path)?;
        let searcher = reader.searcher();
        // Tantivy takes a segment whose list of positions is gone for one that has none, and fails only when a field is
        // looked into: do that now, while the meta file can still be read again.
        for segment in searcher.segment_readers() {
            segment.inverted_index(fields.key).at("open", &path)?;
        }
        let times = searcher.segment_readers().iter().map(|_| OnceLock::new()).collect();
        Ok(Some(Self { searcher, fields, path, seq, ledger, times, hidden: Vec::new() }))
    }

    /// Hides what other hosts than this one wrote; what was written down here answers everywhere. Errors: damage on disk.
    pub fn of_host(mut self, host: &str) -> Result<Self, IndexError> {
        for segment in self.searcher.segment_readers() {
            let inverted = segment.inverted_index(self.fields.host).at("open", &self.path)?;
            let mut terms = inverted.terms().stream().at("read", &self.path)?;
            while terms.advance() {
                let other = String::from_utf8_lossy(terms.key()).into_owned();
                if other != host && other != OWN_HOST && !self.hidden.contains(&other) {
                    self.hidden.push(other);
                }
            }
        }
        Ok(self)
    }

    /// Hosts whose documents do not answer: mostly none.
    pub fn hidden(&self) -> &[String] {
        &self.hidden
    }

    /// Tantivy's view of it.
    pub fn searcher(&self) -> &Searcher {
        &self.searcher
    }

    /// The handles of its fields.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// The store sequence it reflects.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// How many documents it holds.
    pub fn documents(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// Reads what is stored of a document. Errors: damage on disk.
    pub fn stored(&self, at: DocAddress) -> Result<Stored, IndexError> {
        let doc: TantivyDocument = self.searcher.doc(at).at("read", &self.path)?;
        Ok(from_tantivy(&self.fields, &doc))
    }

    /// When a document was said; 0 when unknown. Units: milliseconds since 1970, UTC. Errors: damage on disk.
    pub fn time(&self, at: DocAddress) -> Result<i64, IndexError> {
        let known = usize::try_from(at.segment_ord).ok().and_then(|ord| self.times.get(ord));
        let opened = known.and_then(OnceLock::get);
        if let Some(times) = opened {
            return Ok(times.first(at.doc_id).unwrap_or(0));
        }
        let segment = self.searcher.segment_reader(at.segment_ord);
        let times = segment.fast_fields().i64("time").at("open", &self.path)?;
        let time = times.first(at.doc_id).unwrap_or(0);
        if let Some(known) = known {
            known.get_or_init(|| times);
        }
        Ok(time)
    }

    /// Finds a document by its id; `None` when it is not there (any more). Errors: damage on disk.
    pub fn find(&self, id: &str) -> Result<Option<Stored>, IndexError> {
        let term = id_term(&self.fields, id);
        for (ord, segment) in (0..).zip(self.searcher.segment_readers()) {
            let inverted = segment.inverted_index(self.fields.key).at("open", &self.path)?;
            let list = inverted.read_postings(&term, IndexRecordOption::Basic);
            let Some(mut list) = list.at("read", &self.path)? else { continue };
            while list.doc() != TERMINATED {
                if !segment.is_deleted(list.doc()) {
                    // The key is a beginning of the id: it may be that of another one.
                    let stored = self.stored(DocAddress::new(ord, list.doc()))?;
                    if stored.id == id {
                        return Ok(Some(stored));
                    }
                }
                list.advance();
            }
        }
        Ok(None)
    }

    /// The generation's directory, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
