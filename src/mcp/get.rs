//! `memory_get`: whole texts, in pieces where they are long.

use super::Memory;
use super::arguments::{self, Get};
use super::page::{Page, plain, quote};
use super::search::{files, provenance, store};
use super::tools::{self, Trouble};
use crate::recall;
use crate::store::{Document, Reader};
use serde_json::{Map, Value};

/// Units: characters of an answer.
pub(super) const BOUND: usize = 12_000;
/// Ids in one call.
pub(super) const MOST: usize = 10;
/// Ids of links that are shown of one document.
const LINKS: usize = 12;
/// A piece of a text is never shorter, unless it ends.
const LEAST: usize = 200;

pub(super) fn answer(memory: &Memory, given: &Map<String, Value>) -> Result<String, Trouble> {
    let args: Get = tools::read(given)?;
    if args.ids.is_empty() || args.ids.len() > MOST {
        return Err(Trouble::Arguments(format!("ids must be 1 to {MOST} ids")));
    }
    let offset = args.offset.map_or(0, |offset| offset.0);
    if offset > 0 && args.ids.len() > 1 {
        return Err(Trouble::Arguments("an offset goes with one id".to_owned()));
    }
    let secret = tools::secret(memory)?;
    let store = store(memory)?;
    let mut page = Page::new(BOUND);
    let (mut found, mut missing, mut left_out) = (0, Vec::new(), 0);
    for (n, id) in args.ids.iter().enumerate() {
        let Some(document) = store.document(id)? else {
            missing.push(arguments::beginning(id));
            continue;
        };
        // Each may take its share of what is left.
        let share = page.room() / (args.ids.len() - n);
        match entry(&store, &document, offset, share)? {
            Some(entry) if page.add(&entry) => found += 1,
            _ => left_out += 1,
        }
    }
    let mut last = format!("{found} of {} documents.", args.ids.len());
    if left_out > 0 {
        last.push_str(&format!(" No room for {left_out}: ask for fewer."));
    }
    if !missing.is_empty() {
        last.push_str(&format!(" Not known: {}", missing.join(", ")));
    }
    Ok(page.close(&last, &secret))
}

/// A document within `room` characters; `None` when not even its beginning fits.
fn entry(store: &Reader, document: &Document, offset: usize, room: usize) -> Result<Option<String>, Trouble> {
    let row = &document.row;
    let mut text = provenance(&[
        ("", &row.kind),
        ("", &row.id),
        ("", row.time.as_deref().unwrap_or("no time")),
        ("project", &row.project),
        ("session", &row.session),
        ("agent", &document.agent),
        ("record", row.record.as_deref().unwrap_or_default()),
        ("speaker", &row.speaker),
        ("command", document.command.as_deref().unwrap_or_default()),
        ("status", row.status.as_deref().unwrap_or("null")),
    ]);
    if !document.files.is_empty() {
        text.push_str(&format!("\nfiles {}", files(&document.files)));
    }
    if document.sessions.len() > 1 {
        text.push_str(&format!("\nalso in {} forked sessions", document.sessions.len() - 1));
    }
    let links = store.evidence(&row.id)?;
    if !links.is_empty() {
        let shown: Vec<&str> = links.iter().take(LINKS).map(String::as_str).collect();
        let more = links.len() - shown.len();
        let more = if more > 0 { format!(" (+{more})") } else { String::new() };
        let what = if document.fields.is_some() { "rests on" } else { "used by" };
        text.push_str(&format!("\n{what} {}{more}", shown.join(" ")));
    }
    let revisions = store.revisions(&row.id)?.len();
    if revisions > 0 {
        text.push_str(&format!("\n{revisions} older revisions: `sinker show {} --json`", row.id));
    }
    let origin = if row.speaker.is_empty() { &row.kind } else { &row.speaker };
    text.push_str(&format!("\n({}) said:\n", recall::clean(origin)));
    // Kept for the line below the text.
    let left = room.saturating_sub(text.chars().count() + 100);
    let whole = plain(&document.text());
    let piece = quote(&whole, offset, left);
    if left < LEAST && piece.end < piece.total {
        return Ok(None);
    }
    text.push_str(&piece.text);
    if piece.end < piece.total {
        text.push_str(&format!(
            "\n… characters {offset} to {} of {}; offset {} goes on",
            piece.end, piece.total, piece.end
        ));
    } else if offset > 0 {
        text.push_str(&format!("\nend of the text, {} characters", piece.total));
    }
    Ok(Some(text))
}
