//! How fast redaction is: `redaction TRANSCRIPTS` cleans each line of the transcripts once and prints one JSON object.

use sinker::clock::Stopwatch;
use sinker::config::Secret;
use sinker::redact::{Redactor, Report};
use std::io::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let transcripts = std::env::args_os().nth(1).ok_or("usage: redaction TRANSCRIPTS")?;
    let mut lines: Vec<String> = Vec::new();
    for entry in walkdir::WalkDir::new(transcripts).sort_by_file_name() {
        let entry = entry?;
        if entry.path().extension().is_some_and(|e| e == "jsonl") {
            let text = String::from_utf8_lossy(&std::fs::read(entry.path())?).into_owned();
            lines.extend(text.lines().map(str::to_owned));
        }
    }
    let redactor = Redactor::new(&Secret::from_bytes([1; 32]));
    let mut report = Report::default();
    let bytes: usize = lines.iter().map(String::len).sum();
    let watch = Stopwatch::start();
    let kept: usize = lines.iter().map(|line| redactor.clean(line, &mut report).len()).sum();
    let seconds = watch.elapsed().as_secs_f64();
    let line = serde_json::json!({"bytes": bytes, "kept": kept, "seconds": seconds, "report": report});
    writeln!(std::io::stdout().lock(), "{line}")?;
    Ok(())
}
