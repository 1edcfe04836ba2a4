//! Scores documents of a scope: BM25, each term by its best field, prose above tool text.

use super::ask::RecallError;
use super::parts::{Part, Parts};
use super::query::{MAX_TERMS, Query};
use super::scope::{Docs, alive, meet, postings};
use crate::index::Reader;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings as _, TermInfo};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet as _, SegmentReader, Term};

const K1: f64 = 1.2;
/// What a person took back, or what a later word replaced, counts so much.
const SUPERSEDED: f64 = 0.5;
/// How much a record gains that holds all terms.
const COVERAGE: f64 = 0.4;
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
    documents: f64,
    /// Somebody said it: not a tool.
    is_said: bool,
    is_prose: bool,
}

/// One scored document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ranked {
    /// Where it is.
    pub at: DocAddress,
    /// BM25, summed over terms, more where it covers much of the query.
    pub score: f64,
    /// The scores of what was said around it, together.
    pub near: f64,
    /// Which terms of the query it holds, a bit each.
    pub mask: u16,
    /// The same in what was said, without tool text.
    pub said: u16,
    /// By what its place in the turn multiplies all that counts for it.
    pub place: f64,
}

/// What the terms of a query give to one document.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cell {
    sum: f64,
    best: f64,
    /// Which terms it holds, a bit each.
    pub mask: u16,
    /// The same without tool text.
    pub said: u16,
}

/// How often each term was said, over some documents.
pub(super) type Counts = [f64; MAX_TERMS];

/// What scoring needs to know of the corpus; made once a question.
pub(super) struct Ranker<'a> {
    reader: &'a Reader,
    /// What is asked.
    pub query: &'a Query,
    /// Which parts of the ranking take part.
    pub parts: Parts,
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
    /// Less than 1 for a form that stands for the term.
    factor: f64,
    info: TermInfo,
}

impl<'a> Ranker<'a> {
    /// Reads the average lengths.
    pub(super) fn new(reader: &'a Reader, query: &'a Query, parts: Parts) -> Result<Self, RecallError> {
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
                let (is_said, is_prose) = (field != f.tool && field != f.files, field == f.prose);
                fields.push(Scored {
                    field,
                    name,
                    weight,
                    b,
                    average,
                    documents: docs as f64,
                    is_said,
                    is_prose,
                });
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
            for (term, asked) in query.terms.iter().enumerate() {
                for (text, factor) in asked.forms() {
                    for (field, scored) in fields.iter().enumerate() {
                        let known = Term::from_field_text(scored.field, text);
                        if let Some(info) = segment.inverted_index(scored.field)?.get_term_info(&known)? {
                            found.push(List { term, field, factor, info });
                        }
                    }
                }
            }
            lists.push(found);
        }
        Ok(Self { reader, query, parts, fields, lists, lesser })
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
        let cells = self.cells(ord, docs, &mut Counts::default())?;
        let held = docs.iter().zip(&cells).filter(|(_, cell)| cell.mask != 0);
        Ok(held.map(|(doc, cell)| self.ranked(DocAddress::new(ord, *doc), cell)).collect())
    }

    /// A scored document.
    pub(super) fn ranked(&self, at: DocAddress, cell: &Cell) -> Ranked {
        let more = 1.0 + self.parts.weight(Part::Coverage, COVERAGE) * self.query.coverage(cell.said);
        Ranked { at, score: cell.sum * more, near: 0.0, mask: cell.mask, said: cell.said, place: 1.0 }
    }

    /// Scores these documents of a segment, in their order; adds up how often each term was said in them.
    pub(super) fn cells(
        &self,
        ord: u32,
        docs: &[DocId],
        said: &mut Counts,
    ) -> Result<Vec<Cell>, RecallError> {
        let segment = self.reader.searcher().segment_reader(ord);
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
                let tf = list.factor * f64::from(found.term_freq());
                let length = norms.as_ref().map_or(scored.average, |x| f64::from(x.fieldnorm(found.doc())));
                let k = K1 * (1.0 - scored.b + scored.b * length / scored.average);
                let share = list.factor * scored.weight * term.weight * tf * (K1 + 1.0) / (tf + k);
                cell.add(list.term, scored.is_said, share);
                if let (true, Some(count)) = (scored.is_prose, said.get_mut(list.term)) {
                    *count += tf;
                }
            });
        }
        let held: Vec<usize> =
            (0..cells.len()).filter(|at| cells.get(*at).is_some_and(|c| c.mask != 0)).collect();
        let listed: Vec<DocId> = held.iter().filter_map(|at| docs.get(*at).copied()).collect();
        for (place, factor) in self.lesser(ord, &listed)? {
            if let Some(cell) = held.get(place).and_then(|at| cells.get_mut(*at)) {
                cell.sum *= factor;
            }
        }
        Ok(cells)
    }

    /// How many words of prose a session has on average.
    pub(super) fn average_session(&self) -> Result<f64, RecallError> {
        let mut sessions = 0_u64;
        for segment in self.reader.searcher().segment_readers() {
            let kind = self.reader.fields().kind;
            sessions +=
                u64::from(segment.inverted_index(kind)?.doc_freq(&Term::from_field_text(kind, "session"))?);
        }
        let words = self.fields.iter().find(|f| f.is_prose).map_or(0.0, |f| f.average * f.documents);
        Ok((words / sessions.max(1) as f64).max(1.0))
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
    fn add(&mut self, term: usize, is_said: bool, share: f64) {
        let bit = 1_u16 << term;
        if is_said {
            self.said |= bit;
        }
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
