//! Scores documents of a scope: BM25, each term by its best field, prose above tool text.

use super::ask::RecallError;
use super::query::Query;
use super::scope::{Docs, holding, meet, postings};
use crate::index::Reader;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::Postings as _;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet as _, SegmentReader};

const K1: f64 = 1.2;

/// A scored field: how much it weighs, and how much its length counts (BM25's b).
#[derive(Clone, Copy)]
struct Scored {
    field: Field,
    name: &'static str,
    weight: f64,
    b: f64,
    average: f64,
}

/// One scored document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ranked {
    /// Where it is.
    pub at: DocAddress,
    /// BM25, summed over terms.
    pub score: f64,
    /// Which terms of the query it holds, a bit each.
    pub mask: u16,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    sum: f64,
    best: f64,
    mask: u16,
}

/// What scoring needs to know of the corpus; made once a question.
pub(super) struct Ranker<'a> {
    reader: &'a Reader,
    query: &'a Query,
    fields: Vec<Scored>,
}

impl<'a> Ranker<'a> {
    /// Reads the average lengths.
    pub(super) fn new(reader: &'a Reader, query: &'a Query) -> Result<Self, RecallError> {
        let f = reader.fields();
        let table = [
            (f.prose, "prose", 1.0, 0.4),
            (f.tool, "tool", 0.25, 0.6),
            (f.request, "request", 0.8, 0.3),
            (f.title, "title", 0.8, 0.3),
            (f.files, "files", 0.5, 0.0),
        ];
        let mut fields = Vec::new();
        for (field, name, weight, b) in table {
            let (mut tokens, mut docs) = (0, 0);
            for segment in reader.searcher().segment_readers() {
                tokens += segment.inverted_index(field)?.total_num_tokens();
                docs += u64::from(segment.max_doc());
            }
            let average = (tokens as f64 / docs.max(1) as f64).max(1.0);
            if tokens > 0 {
                fields.push(Scored { field, name, weight, b, average });
            }
        }
        Ok(Self { reader, query, fields })
    }

    /// Scores the documents of one segment that hold any term. In the order of the segment.
    pub(super) fn segment(&self, ord: u32, docs: &Docs) -> Result<Vec<Ranked>, RecallError> {
        let segment = self.reader.searcher().segment_reader(ord);
        let union;
        let docs: &[DocId] = match docs {
            Docs::Only(docs) => docs,
            Docs::All => {
                union = self.union(segment)?;
                &union
            }
        };
        if docs.is_empty() {
            return Ok(Vec::new());
        }
        let mut cells = vec![Cell::default(); docs.len()];
        let norms = self.fields.iter().map(|f| norms(segment, f)).collect::<Result<Vec<_>, _>>()?;
        for (n, term) in self.query.terms.iter().enumerate() {
            for (scored, norms) in self.fields.iter().zip(&norms) {
                let option = IndexRecordOption::WithFreqs;
                let Some(mut list) = postings(segment, scored.field, &term.text, option)? else { continue };
                meet(docs, &mut list, |at, list| {
                    let Some(cell) = cells.get_mut(at) else { return };
                    let tf = f64::from(list.term_freq());
                    let length =
                        norms.as_ref().map_or(scored.average, |x| f64::from(x.fieldnorm(list.doc())));
                    let k = K1 * (1.0 - scored.b + scored.b * length / scored.average);
                    cell.add(n, scored.weight * term.weight * tf * (K1 + 1.0) / (tf + k));
                });
            }
        }
        let ranked = docs.iter().zip(&cells).filter(|(_, cell)| cell.mask != 0);
        let address = |doc: &DocId| DocAddress::new(ord, *doc);
        Ok(ranked.map(|(doc, cell)| Ranked { at: address(doc), score: cell.sum, mask: cell.mask }).collect())
    }

    fn union(&self, segment: &SegmentReader) -> Result<Vec<DocId>, RecallError> {
        let mut all = Vec::new();
        for scored in &self.fields {
            for term in &self.query.terms {
                all.append(&mut holding(segment, scored.field, &term.text)?);
            }
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    /// Says how a document came to its score: field, term and share.
    pub(super) fn explain(&self, ranked: &Ranked) -> Result<serde_json::Value, RecallError> {
        let segment = self.reader.searcher().segment_reader(ranked.at.segment_ord);
        let docs = [ranked.at.doc_id];
        let mut parts = Vec::new();
        for scored in &self.fields {
            let norms = norms(segment, scored)?;
            for term in &self.query.terms {
                let option = IndexRecordOption::WithFreqs;
                let Some(mut list) = postings(segment, scored.field, &term.text, option)? else { continue };
                meet(&docs, &mut list, |_, list| {
                    let length = norms.as_ref().map_or(0, |x| x.fieldnorm(list.doc()));
                    parts.push(serde_json::json!({
                        "field": scored.name, "term": term.text, "weight": round(term.weight),
                        "records": term.df, "times": list.term_freq(), "length": length,
                    }));
                });
            }
        }
        Ok(serde_json::json!({
            "score": round(ranked.score), "coverage": round(self.query.coverage(ranked.mask)), "terms": parts,
        }))
    }
}

impl Cell {
    /// A term counts once, by the field where it counts most. All fields of a term come before the next term.
    fn add(&mut self, term: usize, share: f64) {
        let bit = 1_u16 << term;
        if self.mask & bit == 0 {
            self.mask |= bit;
            self.best = 0.0;
        }
        if share > self.best {
            self.sum += share - self.best;
            self.best = share;
        }
    }
}

fn norms(segment: &SegmentReader, scored: &Scored) -> Result<Option<FieldNormReader>, RecallError> {
    let has = scored.b > 0.0;
    Ok(if has { Some(segment.get_fieldnorms_reader(scored.field)?) } else { None })
}

/// Three decimals are enough to read.
pub(super) fn round(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}
