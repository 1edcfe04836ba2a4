//! What the index is given of a row.

use crate::index;
use crate::store::{Block, Document};

/// The row as the index holds it: prose and tool text apart, thinking and unscored text left out.
pub(super) fn indexed(document: Document) -> index::Document {
    let mut prose = String::new();
    let mut tool = String::new();
    let add = |to: &mut String, text: &str| {
        if !to.is_empty() {
            to.push('\n');
        }
        to.push_str(text);
    };
    if document.scored {
        for block in &document.blocks {
            match block {
                Block::Text { t } if matches!(document.row.speaker.as_str(), "tool" | "web") => {
                    add(&mut tool, t)
                }
                Block::Text { t } => add(&mut prose, t),
                Block::Use { .. } | Block::Result { .. } | Block::Other { .. } => {
                    add(&mut tool, &block.text())
                }
                Block::Think { .. } | Block::Media { .. } => {}
            }
        }
    }
    let (mut request, mut header) = (String::new(), String::new());
    if let Some(fields) = &document.fields {
        prose = fields.text();
        request.clone_from(&fields.request);
        header = serde_json::to_string(&fields.header()).unwrap_or_default();
    }
    if let Some(stated) = &document.stated {
        prose.clone_from(&stated.text);
        header = serde_json::to_string(stated).unwrap_or_default();
    }
    if let Some(failure) = &document.failure {
        tool = format!("{}\n{}", failure.command, failure.error);
        header = serde_json::to_string(failure).unwrap_or_default();
    }
    if let Some(item) = &document.item {
        prose.clone_from(&item.text);
        header = serde_json::to_string(item).unwrap_or_default();
    }
    let title = match document.row.kind.as_str() {
        "session" | "session-summary" => document.title.unwrap_or_default(),
        _ => document.stated.map(|stated| stated.subject).unwrap_or_default(),
    };
    // A tool said it, but who asks for what tools said is given the record.
    let speaker = if document.row.kind == "failure" { String::new() } else { document.row.speaker };
    index::Document {
        id: document.row.id,
        kind: document.row.kind,
        sessions: document.sessions,
        project: document.row.project,
        host: document.host,
        speaker,
        time_ms: document.time_ms.unwrap_or(0),
        record: document.row.record.unwrap_or_default(),
        agent: document.agent,
        prose,
        tool,
        title,
        request,
        command: document.command.unwrap_or_default(),
        files: document.files,
        status: document.row.status.unwrap_or_default(),
        header,
        profile: document.profile,
        seq: document.row.seq,
    }
}
