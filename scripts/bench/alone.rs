//! What others do with the text of transcripts; `scripts/bench/run` holds the drainer against it. Each prints one JSON object.
//!
//! `alone tantivy TRANSCRIPTS HOME`: Tantivy with the schema, analysis, threads and heap of the drainer's index, and neither store,
//! redaction nor derived documents; one commit.
//! `alone fts5 TRANSCRIPTS FILE`: SQLite's FTS5, a plain table that keeps its own copy of the text (the text is found and shown from one file),
//! tokenizer `porter unicode61`, a transaction for each 8 MB.
//! `alone redaction TRANSCRIPTS`: how fast one thread redacts whole lines.
//!
//! Reading and parsing the transcripts is not counted: texts are collected 64 MB at a time, and the clock runs only while they are handed on.

use serde_json::Value;
use sinker::clock::Stopwatch;
use sinker::config::{Home, Secret};
use sinker::index::{Document, Writer};
use sinker::redact::{Redactor, Report};
use std::ffi::OsString;
use std::io::{BufRead as _, Write as _};

type Failed = Box<dyn std::error::Error>;

/// So much text is collected before the clock runs. Units: bytes.
const BATCH_BYTES: usize = 64 * 1024 * 1024;
/// So much goes into one transaction of FTS5.
const TRANSACTION_BYTES: usize = 8 * 1024 * 1024;

fn main() -> Result<(), Failed> {
    const USAGE: &str = "usage: alone tantivy|fts5|redaction TRANSCRIPTS [HOME|FILE]";
    let mut args = std::env::args_os().skip(1);
    let what = args.next().ok_or(USAGE)?;
    let transcripts = args.next().ok_or(USAGE)?;
    let line = match what.to_str() {
        Some("tantivy") => tantivy(transcripts, args.next().ok_or(USAGE)?)?,
        Some("fts5") => fts5(transcripts, args.next().ok_or(USAGE)?)?,
        Some("redaction") => redaction(transcripts)?,
        _ => return Err(USAGE.into()),
    };
    writeln!(std::io::stdout().lock(), "{line}")?;
    Ok(())
}

fn tantivy(transcripts: OsString, home: OsString) -> Result<Value, Failed> {
    let mut writer = Writer::open(&Home::at(home))?.writer;
    let mut total = Total::default();
    batches(transcripts, |documents| {
        let watch = Stopwatch::start();
        documents.iter().try_for_each(|document| writer.upsert(document))?;
        total.add(documents, &watch);
        Ok(())
    })?;
    let watch = Stopwatch::start();
    writer.commit(1)?;
    writer.close()?;
    total.add(&[], &watch);
    Ok(total.json())
}

fn fts5(transcripts: OsString, file: OsString) -> Result<Value, Failed> {
    let mut db = rusqlite::Connection::open(file)?;
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         CREATE VIRTUAL TABLE texts USING fts5(id UNINDEXED, session UNINDEXED, prose, tool, tokenize = 'porter unicode61');",
    )?;
    let mut total = Total::default();
    batches(transcripts, |mut documents| {
        let watch = Stopwatch::start();
        let all = documents;
        while !documents.is_empty() {
            let mut bytes = 0;
            let some = documents.iter().take_while(|d| {
                let room = bytes < TRANSACTION_BYTES;
                bytes += size(d);
                room
            });
            let (now, later) = documents.split_at(some.count());
            let transaction = db.transaction()?;
            {
                let mut insert = transaction.prepare_cached("INSERT INTO texts VALUES (?1, ?2, ?3, ?4)")?;
                for d in now {
                    insert.execute((&d.id, d.sessions.first(), &d.prose, &d.tool))?;
                }
            }
            transaction.commit()?;
            documents = later;
        }
        total.add(all, &watch);
        Ok(())
    })?;
    let watch = Stopwatch::start();
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);")?;
    total.add(&[], &watch);
    Ok(total.json())
}

fn redaction(transcripts: OsString) -> Result<Value, Failed> {
    let redactor = Redactor::built_in(&Secret::from_bytes([1; 32]));
    let (mut report, mut bytes, mut kept, mut seconds) = (Report::default(), 0, 0, 0.0);
    each_file(transcripts, |lines| {
        let watch = Stopwatch::start();
        for line in lines {
            bytes += line.len();
            kept += redactor.clean(line, &mut report).len();
        }
        seconds += watch.elapsed().as_secs_f64();
        Ok(())
    })?;
    Ok(serde_json::json!({"bytes": bytes, "kept": kept, "seconds": seconds, "report": report}))
}

#[derive(Default)]
struct Total {
    documents: usize,
    text_bytes: usize,
    seconds: f64,
}

impl Total {
    fn add(&mut self, documents: &[Document], watch: &Stopwatch) {
        self.seconds += watch.elapsed().as_secs_f64();
        self.documents += documents.len();
        self.text_bytes += documents.iter().map(size).sum::<usize>();
    }

    fn json(&self) -> Value {
        serde_json::json!({"documents": self.documents, "text_bytes": self.text_bytes, "seconds": self.seconds})
    }
}

fn size(document: &Document) -> usize {
    document.prose.len() + document.tool.len()
}

/// Hands on the observations of all transcripts, a batch at a time.
fn batches(
    transcripts: OsString,
    mut then: impl FnMut(&[Document]) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let (mut documents, mut bytes) = (Vec::new(), 0);
    each_file(transcripts, |lines| {
        for document in lines.iter().filter_map(|line| document(line)) {
            bytes += size(&document);
            documents.push(document);
            if bytes >= BATCH_BYTES {
                then(&documents)?;
                documents.clear();
                bytes = 0;
            }
        }
        Ok(())
    })?;
    then(&documents)
}

fn each_file(
    transcripts: OsString,
    mut then: impl FnMut(&[String]) -> Result<(), Failed>,
) -> Result<(), Failed> {
    for entry in walkdir::WalkDir::new(transcripts).sort_by_file_name() {
        let entry = entry?;
        if entry.path().extension().is_some_and(|e| e == "jsonl") {
            let file = std::io::BufReader::new(std::fs::File::open(entry.path())?);
            let lines = file.lines().collect::<Result<Vec<_>, _>>()?;
            then(&lines)?;
        }
    }
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
