//! Scores documents of a scope: BM25, each term by its best field, prose above tool text.

use super::ask::RecallError;
use super::query::Query;
use super::scope::{Docs, alive, meet, postings};
use crate::index::Reader;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings as _, TermInfo};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet as _, SegmentReader, Term};

const K1: f64 = 1.2;
/// What a person took back, or what a later word replaced, counts so much.
const SUPERSEDED: f64 = 0.5;
/// What a page of the web says counts so much: who writes one may repeat what will be asked for.
const WEB: f64 = 0.5;

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
    /// Of each segment, the lists of the query's terms: looked up once, read for every session that may answer.
    lists: Vec<Vec<List>>,
    /// Of each segment, which documents count less, where they are listed.
    lesser: Vec<Vec<Lesser>>,
}

/// Documents of a segment whose score is multiplied by a factor.
struct Lesser {
    field: Field,
    factor: f64,
    info: TermInfo,
}

/// Where the documents of a segment that hold a term in a field are listed.
struct List {
    term: usize,
    field: usize,
    info: TermInfo,
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
        let mut lists = Vec::new();
        let mut lesser = Vec::new();
        for segment in reader.searcher().segment_readers() {
            let mut less = Vec::new();
            for (field, value, factor) in [(f.status, "superseded", SUPERSEDED), (f.speaker, "web", WEB)] {
                let known =
                    segment.inverted_index(field)?.get_term_info(&Term::from_field_text(field, value))?;
                less.extend(known.map(|info| Lesser { field, factor, info }));
            }
            lesser.push(less);
            let mut found = Vec::new();
            for (term, text) in query.terms.iter().enumerate() {
                for (field, scored) in fields.iter().enumerate() {
                    let known = Term::from_field_text(scored.field, &text.text);
                    if let Some(info) = segment.inverted_index(scored.field)?.get_term_info(&known)? {
                        found.push(List { term, field, info });
                    }
                }
            }
            lists.push(found);
        }
        Ok(Self { reader, query, fields, lists, lesser })
    }

    fn lists(&self, ord: u32) -> &[List] {
        usize::try_from(ord).ok().and_then(|ord| self.lists.get(ord)).map_or(&[], Vec::as_slice)
    }

    /// Scores the documents of one segment that hold any term. In the order of the segment.
    pub(super) fn segment(&self, ord: u32, docs: &Docs) -> Result<Vec<Ranked>, RecallError> {
        let segment = self.reader.searcher().segment_reader(ord);
        let union;
        let docs: &[DocId] = match docs {
            Docs::Only(docs) => docs,
            Docs::All => {
                union = self.union(ord, segment)?;
                &union
            }
        };
        if docs.is_empty() {
            return Ok(Vec::new());
        }
        let mut cells = vec![Cell::default(); docs.len()];
        let norms = self.fields.iter().map(|f| norms(segment, f)).collect::<Result<Vec<_>, _>>()?;
        // All lists of a term stand together.
        for list in self.lists(ord) {
            let (Some(scored), Some(norms), Some(term)) =
                (self.fields.get(list.field), norms.get(list.field), self.query.terms.get(list.term))
            else {
                continue;
            };
            let mut found = segment
                .inverted_index(scored.field)?
                .read_postings_from_terminfo(&list.info, IndexRecordOption::WithFreqs)?;
            meet(docs, &mut found, |at, found| {
                let Some(cell) = cells.get_mut(at) else { return };
                let tf = f64::from(found.term_freq());
                let length = norms.as_ref().map_or(scored.average, |x| f64::from(x.fieldnorm(found.doc())));
                let k = K1 * (1.0 - scored.b + scored.b * length / scored.average);
                cell.add(list.term, scored.weight * term.weight * tf * (K1 + 1.0) / (tf + k));
            });
        }
        let ranked = docs.iter().zip(&cells).filter(|(_, cell)| cell.mask != 0);
        let address = |doc: &DocId| DocAddress::new(ord, *doc);
        let rank =
            |(doc, cell): (&DocId, &Cell)| Ranked { at: address(doc), score: cell.sum, mask: cell.mask };
        let mut ranked: Vec<Ranked> = ranked.map(rank).collect();
        for (at, factor) in self.lesser(ord, &ranked.iter().map(|r| r.at.doc_id).collect::<Vec<_>>())? {
            if let Some(ranked) = ranked.get_mut(at) {
                ranked.score *= factor;
            }
        }
        Ok(ranked)
    }

    /// Which of these documents count less, by their place in the list, and how much.
    fn lesser(&self, ord: u32, docs: &[DocId]) -> Result<Vec<(usize, f64)>, RecallError> {
        let mut found = Vec::new();
        let all =
            usize::try_from(ord).ok().and_then(|ord| self.lesser.get(ord)).map_or(&[][..], Vec::as_slice);
        for Lesser { field, factor, info } in all {
            let inverted = self.reader.searcher().segment_reader(ord).inverted_index(*field)?;
            let mut list = inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
            meet(docs, &mut list, |at, _| found.push((at, *factor)));
        }
        Ok(found)
    }

    fn union(&self, ord: u32, segment: &SegmentReader) -> Result<Vec<DocId>, RecallError> {
        let mut all = Vec::new();
        for list in self.lists(ord) {
            let Some(scored) = self.fields.get(list.field) else { continue };
            let inverted = segment.inverted_index(scored.field)?;
            alive(
                segment,
                inverted.read_postings_from_terminfo(&list.info, IndexRecordOption::Basic)?,
                &mut all,
            );
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
        let standing: f64 =
            self.lesser(ranked.at.segment_ord, &docs)?.iter().map(|(_, factor)| factor).product();
        Ok(serde_json::json!({
            "score": round(ranked.score), "standing": standing, "coverage": round(self.query.coverage(ranked.mask)), "terms": parts,
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
