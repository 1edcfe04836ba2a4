//! The newest documents of a kind, with what their header says. What was taken back, replaced or contradicted is not among them.

use crate::index::{Reader, Stored};
use crate::recall::ask::RecallError;
use crate::recall::scope::{Docs, holding};
use serde_json::Value;
use tantivy::DocAddress;

/// Whose documents: those of one session, or of its project but not its own. A fork shares its parent's documents, and its context holds them.
#[derive(Debug, Clone, Copy)]
pub(in crate::recall) enum Scope<'a> {
    /// Of this session.
    Own { session: &'a str },
    /// Of the project's other sessions.
    Others { project: &'a str, session: &'a str },
}

/// A document and its header.
#[derive(Debug, Clone)]
pub(in crate::recall) struct Past {
    pub doc: Stored,
    pub said: Said,
}

/// The fields of a header that a brief is made of; lists are joined by line ends.
#[derive(Debug, Clone, Default)]
pub(in crate::recall) struct Said {
    pub request: String,
    pub completed: String,
    pub next_steps: String,
    pub notes: String,
    pub files_edited: Vec<String>,
}

impl Past {
    fn of(doc: Stored) -> Self {
        let header: Value = serde_json::from_str(&doc.header).unwrap_or_default();
        let list = |name: &str| -> Vec<String> {
            match header.get(name) {
                Some(Value::String(text)) => vec![text.clone()],
                Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                _ => Vec::new(),
            }
        };
        let text = |name: &str| list(name).join("\n");
        let said = Said {
            request: text("request"),
            completed: text("completed"),
            next_steps: text("next_steps"),
            notes: text("notes"),
            files_edited: list("files_edited"),
        };
        Self { doc, said }
    }

    /// The session that it is of.
    pub(in crate::recall) fn session(&self) -> &str {
        self.doc.sessions.first().map_or("", String::as_str)
    }
}

/// Which documents of a segment are of a kind and in a scope.
pub(super) fn within(
    reader: &Reader,
    segment: &tantivy::SegmentReader,
    docs: Docs,
    scope: Scope<'_>,
) -> Result<Vec<u32>, RecallError> {
    let f = reader.fields();
    let docs = match scope {
        Scope::Own { session } => docs.keep(segment, f.session, session)?,
        Scope::Others { project, session } => {
            docs.keep(segment, f.project, project)?.drop(segment, f.session, session)?
        }
    };
    let docs = docs.visible(segment, reader)?;
    Ok(match docs {
        Docs::Only(docs) => docs,
        Docs::All => Vec::new(),
    })
}

/// Is there any document of a kind, whatever its status?
pub(super) fn is_any(reader: &Reader, scope: Scope<'_>, kind: &str) -> Result<bool, RecallError> {
    for segment in reader.searcher().segment_readers() {
        let docs = Docs::Only(holding(segment, reader.fields().kind, kind)?);
        if !within(reader, segment, docs, scope)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The newest documents of a kind, newest first; ties by id, so that no order of the index shows.
pub(in crate::recall) fn of_kind(
    reader: &Reader,
    scope: Scope<'_>,
    kind: &str,
    limit: usize,
) -> Result<Vec<Past>, RecallError> {
    let f = reader.fields();
    let mut found: Vec<(i64, DocAddress)> = Vec::new();
    for (ord, segment) in (0..).zip(reader.searcher().segment_readers()) {
        let docs = Docs::Only(holding(segment, f.kind, kind)?);
        let docs = Docs::Only(within(reader, segment, docs, scope)?);
        let docs = docs.drop(segment, f.status, "superseded")?.drop(segment, f.status, "conflicted")?;
        let Docs::Only(docs) = docs else { continue };
        for doc in docs {
            let at = DocAddress::new(ord, doc);
            found.push((reader.time(at)?, at));
        }
    }
    // Some are of one time.
    let look = limit.saturating_add(16);
    let newest_first = |a: &(i64, DocAddress), b: &(i64, DocAddress)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
    if found.len() > look {
        found.select_nth_unstable_by(look, newest_first);
        found.truncate(look);
    }
    let mut docs = Vec::new();
    for (_, at) in found {
        docs.push(reader.stored(at)?);
    }
    docs.sort_by(|a, b| b.time_ms.cmp(&a.time_ms).then_with(|| a.id.cmp(&b.id)));
    docs.truncate(limit);
    Ok(docs.into_iter().map(Past::of).collect())
}
