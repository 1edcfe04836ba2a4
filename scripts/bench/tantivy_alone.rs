//! What Tantivy alone does with the text of transcripts: the same schema, analysis, threads and heap as the drainer's index, and
//! neither store, redaction nor derived documents. `scripts/bench/run` holds the drainer against it.
//!
//! `tantivy_alone TRANSCRIPTS HOME`: reads all text first, then indexes it into `HOME/index` with one commit, and prints one JSON object.

use serde_json::Value;
use sinker::clock::Stopwatch;
use sinker::config::Home;
use sinker::index::{Document, Writer};
use std::io::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args_os().skip(1);
    let transcripts = args.next().ok_or("usage: tantivy_alone TRANSCRIPTS HOME")?;
    let home = Home::at(args.next().ok_or("usage: tantivy_alone TRANSCRIPTS HOME")?);
    let mut documents = Vec::new();
    for entry in walkdir::WalkDir::new(transcripts).sort_by_file_name() {
        let entry = entry?;
        if entry.path().extension().is_some_and(|e| e == "jsonl") {
            let text = std::fs::read_to_string(entry.path())?;
            documents.extend(text.lines().filter_map(document));
        }
    }
    let bytes: usize = documents.iter().map(|d| d.prose.len() + d.tool.len()).sum();
    let watch = Stopwatch::start();
    let mut writer = Writer::open(&home)?.writer;
    for document in &documents {
        writer.upsert(document)?;
    }
    writer.commit(1)?;
    writer.close()?;
    let seconds = watch.elapsed().as_secs_f64();
    let line = serde_json::json!({"documents": documents.len(), "text_bytes": bytes, "seconds": seconds});
    writeln!(std::io::stdout().lock(), "{line}")?;
    Ok(())
}

/// One observation, as the drainer would hand it to the index.
fn document(line: &str) -> Option<Document> {
    let record: Value = serde_json::from_str(line).ok()?;
    let kind = record.get("type")?.as_str()?;
    if kind != "user" && kind != "assistant" {
        return None;
    }
    let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut document = Document {
        id: text("uuid"),
        kind: "observation".to_owned(),
        sessions: vec![text("sessionId")],
        project: text("cwd").rsplit('/').next().unwrap_or_default().to_owned(),
        host: "claude".to_owned(),
        speaker: kind.to_owned(),
        record: text("uuid"),
        time_ms: sinker::clock::parse(&text("timestamp")).map_or(0, |t| t.0),
        ..Document::default()
    };
    match record.get("message")?.get("content")? {
        Value::String(text) => document.prose.clone_from(text),
        Value::Array(blocks) => blocks.iter().for_each(|block| add(&mut document, block)),
        _ => {}
    }
    Some(document)
}

fn add(document: &mut Document, block: &Value) {
    let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "text" => document.prose.push_str(text("text")),
        "thinking" => document.prose.push_str(text("thinking")),
        "tool_result" => document.tool.push_str(text("content")),
        "tool_use" => {
            let input = block.get("input").map(Value::to_string).unwrap_or_default();
            document.tool.push_str(&input);
            let file = block.get("input").and_then(|i| i.get("file_path")).and_then(Value::as_str);
            document.files.extend(file.map(str::to_owned));
        }
        _ => {}
    }
}
