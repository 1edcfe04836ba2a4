//! `sinker show`.

use super::Exit;
use super::exit::Failure;
use super::output::{self, Paint};
use crate::config::Home;
use crate::store::{Document, DocumentRow, Reader};
use serde::Serialize;

/// Show one document whole.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Its id, a beginning of it, or the host's record uuid
    id: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A hit with its text, links and revisions.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    row: &'a DocumentRow,
    /// A document that was asked for by name has no rank.
    score: f64,
    excerpt: Vec<Excerpt<'a>>,
    sessions: &'a [String],
    files: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<&'a crate::store::Fields>,
    /// Of a claim: subject, value, evidence, and how others stand to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<&'a crate::store::Stated>,
    /// Of a failure: command, error, how often, and what fixed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a crate::store::Failure>,
    /// Of an item of work: text, state and source.
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<&'a crate::store::Item>,
    /// The number of the turn that it is, or lies in, in its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u64>,
    text: &'a str,
    links: &'a [String],
    revisions: &'a [String],
}

#[derive(Serialize)]
struct Excerpt<'a> {
    text: String,
    record: Option<&'a str>,
    speaker: &'a str,
}

pub(super) fn run(home: &Home, args: &Args) -> Result<Exit, Failure> {
    let store = Reader::open_to_show(home)?;
    let Some(document) = store.document(&args.id)? else {
        return Err(Failure::new(format!("there is no document {}", args.id))
            .hint("`sinker search WORDS` and `sinker timeline` print ids")
            .exit(Exit::Nothing));
    };
    let links = store.evidence(&document.row.id)?;
    let revisions = store.revisions(&document.row.id)?;
    let turn = store.turn_number(&document.row.id)?;
    let text = document.text();
    if args.json {
        let shown = Shown {
            row: &document.row,
            score: 0.0,
            excerpt: text
                .lines()
                .filter(|l| !l.trim().is_empty())
                .take(3)
                .map(|line| Excerpt {
                    text: line.trim().chars().take(300).collect(),
                    record: document.row.record.as_deref(),
                    speaker: &document.row.speaker,
                })
                .collect(),
            sessions: &document.sessions,
            files: &document.files,
            fields: document.fields.as_ref(),
            header: document.stated.as_ref(),
            failure: document.failure.as_ref(),
            item: document.item.as_ref(),
            turn,
            text: &text,
            links: &links,
            revisions: &revisions,
        };
        output::json(&shown);
    } else {
        print(&document, turn, &text, &links, &revisions);
    }
    Ok(Exit::Done)
}

fn print(document: &Document, turn: Option<u64>, text: &str, links: &[String], revisions: &[String]) {
    let paint = Paint::new();
    let row = &document.row;
    output::say(&format!("{}  {}", paint.accent(&row.id), paint.bold(&row.kind)));
    let line = |name: &str, value: &str| {
        if !value.is_empty() {
            output::say(&format!("{}  {}", paint.dim(&format!("{name:>9}")), output::plain(value)));
        }
    };
    line("speaker", &row.speaker);
    line("time", &output::when(row.time.as_deref()));
    line("project", &row.project);
    line("session", &document.sessions.join(", "));
    line("turn", &turn.map(|n| n.to_string()).unwrap_or_default());
    line("agent", &document.agent);
    line("record", row.record.as_deref().unwrap_or_default());
    line("command", document.command.as_deref().unwrap_or_default());
    line("files", &document.files.join(", "));
    line("status", row.status.as_deref().unwrap_or_default());
    if let Some(stated) = &document.stated {
        line("subject", &stated.subject);
        line("value", stated.value.as_deref().unwrap_or_default());
        for other in &stated.related {
            let (id, relation) = (other.id.get(..12).unwrap_or(&other.id), other.relation.replace('_', " "));
            line(
                "related",
                &format!("{relation} {id} of {}: {}", output::when(Some(&other.time)), other.text),
            );
        }
    }
    if let Some(item) = &document.item {
        line("state", item.state.name());
        line("source", &item.source);
    }
    if let Some(fields) = &document.fields {
        line("type", &fields.kind);
        line("model", fields.model.as_deref().unwrap_or_default());
        for ran in &fields.commands {
            let end = ran.exit.map_or_else(|| ran.end.clone(), |exit| format!("exit {exit}"));
            line("ran", &format!("{} ({end})  {}", ran.command, ran.record));
        }
        for test in &fields.tests {
            line("tests", &format!("{}: {} {}  {}", test.result, test.command, test.summary, test.record));
        }
        for (field, records) in &fields.sources {
            line("from", &format!("{field}: {}", records.join(" ")));
        }
    }
    if !links.is_empty() {
        let shown: Vec<&str> = links.iter().take(8).map(|l| l.get(..12).unwrap_or(l)).collect();
        let more = if links.len() > 8 { format!(" and {} more", links.len() - 8) } else { String::new() };
        line("links", &format!("{}{more}", shown.join(" ")));
    }
    if !revisions.is_empty() {
        line("revisions", &format!("{} older, see --json", revisions.len()));
    }
    output::say("");
    output::say(&output::plain(text));
}
