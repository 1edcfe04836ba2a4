//! `sinker inspect`.

use super::Exit;
use super::exit::Failure;
use super::output;
use crate::config::Home;
use crate::store::{Document, Reader};
use serde::Serialize;
use std::io::Write;

/// List what is stored, row by row, in the order of ids.
#[derive(clap::Args)]
pub(super) struct Args {
    /// What to list
    #[arg(long, value_enum, default_value_t = View::SourceDocuments)]
    view: View,
    /// Print one JSON object a line (the default when stdout is no terminal)
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum View {
    /// Every document, without its text
    SourceDocuments,
    /// Every document, with its text
    Records,
    /// One a session: what recall routes by
    Segments,
    /// What user and assistant stated, with its status and what stands against it
    Claims,
    /// What failed, how often, and the run that worked afterwards
    Failures,
    /// One a transcript: what became of its lines
    Lines,
}

#[derive(Serialize)]
struct SourceDocument<'a> {
    id: &'a str,
    kind: &'a str,
    session: &'a str,
    project: &'a str,
    time: Option<&'a str>,
    revision: u64,
    bytes: u64,
    speaker: &'a str,
    record: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    sessions: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

#[derive(Serialize)]
struct Claim<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: crate::store::Kind,
    subject: &'a str,
    value: Option<&'a str>,
    status: Option<&'a str>,
    evidence: &'a [String],
    related: &'a [crate::store::Related],
    speaker: &'a str,
    session: &'a str,
    project: &'a str,
    time: Option<&'a str>,
    text: &'a str,
}

#[derive(Serialize)]
struct Failed<'a> {
    id: &'a str,
    status: Option<&'a str>,
    session: &'a str,
    project: &'a str,
    #[serde(flatten)]
    failure: &'a crate::store::Failure,
}

#[derive(Serialize)]
struct Segment {
    id: String,
    sessions: Vec<String>,
    documents: u64,
    terms: u64,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let store = Reader::open_to_show(home)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut any = false;
    let mut put = |line: String| {
        any = true;
        // A closed pipe ends the listing.
        writeln!(out, "{line}").is_ok()
    };
    match args.view {
        View::Segments => {
            let mut open = true;
            store.each_document(Some("session"), |document| {
                let segment = segment(&store, &document);
                open = put(line(args.json, &segment, || {
                    vec![
                        segment.id.clone(),
                        format!("{} documents", segment.documents),
                        format!("{} terms", segment.terms),
                    ]
                }));
                open
            })?;
        }
        View::Lines => store.each_account(|file| {
            put(line(args.json, &file, || {
                let classes =
                    file.by.iter().map(|(class, kinds)| format!("{class} {}", kinds.values().sum::<u64>()));
                vec![
                    output::plain(&file.path),
                    format!("{} lines", file.lines),
                    classes.collect::<Vec<_>>().join(", "),
                ]
            }))
        })?,
        View::Claims => store.each_document(Some("claim"), |document| {
            let Some(claim) = claim(&document) else { return true };
            put(line(args.json, &claim, || {
                let status = claim.status.unwrap_or("-");
                vec![claim.id.to_owned(), format!("{status:<10}"), output::headline(claim.text, 200)]
            }))
        })?,
        View::Failures => store.each_document(Some("failure"), |document| {
            let Some(failure) = &document.failure else { return true };
            let row = &document.row;
            let status = row.status.as_deref();
            let failed =
                Failed { id: &row.id, status, session: &row.session, project: &row.project, failure };
            put(line(args.json, &failed, || {
                let how = if failure.fixed.is_some() { "fixed" } else { status.unwrap_or("-") };
                let what = format!("{}: {}", failure.command, failure.error);
                vec![
                    row.id.clone(),
                    format!("{how:<10}"),
                    format!("{:>3}x", failure.count),
                    output::headline(&what, 200),
                ]
            }))
        })?,
        view => store.each_document(None, |document| {
            let row = source(&document, view != View::SourceDocuments);
            put(line(args.json, &row, || {
                let time = row.time.unwrap_or("-").to_owned();
                let text = row.text.as_deref().map(|t| output::headline(t, 200)).unwrap_or_default();
                vec![row.id.to_owned(), format!("{:<15}", row.kind), time, format!("{:>7}", row.bytes), text]
            }))
        })?,
    }
    drop(out.flush());
    Ok(if any { Exit::Done } else { Exit::Nothing })
}

fn line<T: Serialize>(json: bool, value: &T, cells: impl Fn() -> Vec<String>) -> String {
    use std::io::IsTerminal;
    if json || !std::io::stdout().is_terminal() {
        output::json_line(value)
    } else {
        output::headline(&cells().join("  "), output::width())
    }
}

fn source(document: &Document, with_text: bool) -> SourceDocument<'_> {
    let row = &document.row;
    SourceDocument {
        id: &row.id,
        kind: &row.kind,
        session: &row.session,
        project: &row.project,
        time: row.time.as_deref(),
        revision: row.revision,
        bytes: row.bytes,
        speaker: &row.speaker,
        record: row.record.as_deref(),
        status: row.status.as_deref(),
        sessions: &document.sessions,
        text: with_text.then(|| document.text()),
    }
}

fn claim(document: &Document) -> Option<Claim<'_>> {
    let (row, stated) = (&document.row, document.stated.as_ref()?);
    Some(Claim {
        id: &row.id,
        kind: stated.kind,
        subject: &stated.subject,
        value: stated.value.as_deref(),
        status: row.status.as_deref(),
        evidence: &stated.evidence,
        related: &stated.related,
        speaker: &stated.speaker,
        session: &row.session,
        project: &row.project,
        time: row.time.as_deref(),
        text: &stated.text,
    })
}

fn segment(store: &Reader, document: &Document) -> Segment {
    let session = &document.row.session;
    Segment {
        id: format!("claude-session:{}:{session}", document.row.project),
        sessions: vec![session.clone()],
        documents: store.session_documents(session).unwrap_or(0),
        terms: document.profile.split_whitespace().count() as u64,
    }
}
