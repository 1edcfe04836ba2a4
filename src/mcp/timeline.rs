//! `memory_timeline`: around a document, to a file, or lately.

use super::Memory;
use super::arguments::{self, KINDS, Scope, Timeline};
use super::page::{Page, gist};
use super::search::{find, head, place, project, provenance, store};
use super::tools::{self, Trouble};
use crate::recall::{self, Ask, Hit};
use crate::store::{self, Document};
use serde_json::{Map, Value};

/// Units: characters of an answer.
pub(super) const BOUND: usize = 8_000;
/// Entries without a `limit`.
pub(super) const DEFAULT: usize = 15;
/// Entries at most.
pub(super) const MOST: usize = 50;
/// What is shown of a text.
const LINE_CHARS: usize = 240;

pub(super) fn answer(memory: &Memory, given: &Map<String, Value>) -> Result<String, Trouble> {
    let args: Timeline = tools::read(given)?;
    arguments::one_of("kind", args.kind.as_ref(), &KINDS).map_err(Trouble::Arguments)?;
    let limit = args.limit.map_or(DEFAULT, |n| n.0.min(MOST));
    let secret = tools::secret(memory)?;
    let (entries, what) = match &args.around {
        Some(_) if args.file.is_some() => {
            return Err(Trouble::Arguments("pass around or file, not both".to_owned()));
        }
        Some(id) => (around(memory, id, args.kind.as_deref(), limit)?, "around this document".to_owned()),
        None => {
            let scope = Scope { project: args.project, all: args.all };
            let project = project(memory, &scope, &secret)?;
            let place = place(project.as_deref());
            let what = if args.file.is_some() {
                format!("on this file in {place}")
            } else {
                format!("lately in {place}")
            };
            (newest(memory, project, args.file, args.kind, limit)?, what)
        }
    };
    let mut page = Page::new(BOUND);
    // The newest matter most: where there is no room for all, the oldest are left out.
    let mut room = page.room();
    let fits = |entry: &&String| {
        let chars = entry.chars().count() + 1;
        let fits = chars <= room;
        room = room.saturating_sub(chars);
        fits
    };
    let shown =
        if args.around.is_some() { entries.len() } else { entries.iter().rev().take_while(fits).count() };
    let added = entries.iter().skip(entries.len() - shown).take_while(|entry| page.add(entry)).count();
    let last = match entries.len() {
        0 => format!("Nothing is known {what}."),
        n if added < n => format!("{added} of {n} entries {what}; a smaller limit shows the nearest."),
        n => format!("{n} entries {what}, oldest first."),
    };
    Ok(page.close(&last, &secret))
}

/// What came before and after a document in its session.
fn around(memory: &Memory, id: &str, kind: Option<&str>, limit: usize) -> Result<Vec<String>, Trouble> {
    let store = store(memory)?;
    let Some(middle) = store.document(id)? else {
        return Err(Trouble::Arguments(format!("there is no document {}", arguments::beginning(id))));
    };
    let mut found = store.timeline(&store::Timeline::Around(middle.row.id.clone()), limit)?;
    if let Some(kind) = kind {
        found.retain(|d| d.row.kind == kind);
    }
    if !found.iter().any(|d| d.row.id == middle.row.id) {
        // What is derived from records, or of another kind, stands where its time is.
        let at = found.partition_point(|d| d.time_ms <= middle.time_ms);
        found.insert(at, middle.clone());
    }
    Ok(found.iter().map(|d| moment(d, &middle)).collect())
}

/// One document of a session; where it lies is said with the one that was asked for, and where it differs.
fn moment(document: &Document, middle: &Document) -> String {
    let row = &document.row;
    let is_middle = row.id == middle.row.id;
    let place =
        |here: &str, there: &str| if is_middle || here != there { here.to_owned() } else { String::new() };
    let head = provenance(&[
        ("", row.time.as_deref().unwrap_or_default()),
        ("", &row.kind),
        ("", &row.id),
        ("project", &place(&row.project, &middle.row.project)),
        ("session", &place(&row.session, &middle.row.session)),
        ("record", row.record.as_deref().unwrap_or_default()),
    ]);
    let status = row.status.as_deref().map_or("null".to_owned(), recall::clean);
    let origin = if row.speaker.is_empty() { &row.kind } else { &row.speaker };
    let mark = if is_middle { "▶" } else { "-" };
    format!("{mark} {head} status {status}\n  {}", said(origin, &document.text()))
}

/// The newest of a project, or on a file; oldest first.
fn newest(
    memory: &Memory,
    project: Option<String>,
    file: Option<String>,
    kind: Option<String>,
    limit: usize,
) -> Result<Vec<String>, Trouble> {
    let any = kind.is_none();
    let mut ask = Ask { project, file, limit, kind: kind.or(Some("outcome".to_owned())), ..Ask::default() };
    let mut hits = find(memory, &ask)?;
    if hits.is_empty() && any {
        // A first turn that is not over has no outcome yet, and a note never has one.
        ask.kind = None;
        hits = find(memory, &ask)?;
    }
    Ok(hits.iter().rev().map(line).collect())
}

fn line(hit: &Hit) -> String {
    let mut text = format!("- {}", head(hit));
    let field = |name: &str| {
        let value = hit.header.as_ref()?.get(name)?.as_str()?;
        Some(gist(value, LINE_CHARS)).filter(|t| !t.is_empty())
    };
    let fields = ["request", "completed"].map(|name| field(name).map(|text| (name, text)));
    for (name, value) in fields.iter().flatten() {
        text.push_str(&format!("\n  ({}) {name}: {value}", recall::clean(&hit.kind)));
    }
    if fields.iter().all(Option::is_none)
        && let Some(first) = hit.excerpt.first()
    {
        let origin = if first.speaker.is_empty() { &hit.kind } else { &first.speaker };
        text.push_str(&format!("\n  {}", said(origin, &first.text)));
    }
    text
}

/// The beginning of what somebody said, under who said it.
fn said(origin: &str, text: &str) -> String {
    recall::quoted(origin, &gist(text, LINE_CHARS)).trim_start_matches("- ").to_owned()
}
