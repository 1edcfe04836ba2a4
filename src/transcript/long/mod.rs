//! Lines too long to be held: read once, in blocks, into a record of bounded size (D13).
//!
//! What identifies a record (type, uuid, times, session) is taken wherever in the line it stands. Of its content as much is built as fits a
//! bound; of a longer text both ends, size and hash are kept, of an image's data size and hash, and what is too much beyond that is counted.
//! All of it is a function of the line's bytes, so the same line gives the same row wherever it lies (D4).

mod scan;
mod text;

pub use text::{Text, read_text};

use super::blocks::Details;
use super::cut::Kept;
use super::kinds::{Fate, LEFT_OUT, Place, fate};
use super::record::{Look, Parsed, Wire, classify, progress};
use scan::{MAX_DEPTH, Scan, Stop};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fs::File;
use std::io;

/// The fields of a record that are one value.
const SCALARS: [&str; 24] = [
    "type",
    "subtype",
    "uuid",
    "parentUuid",
    "timestamp",
    "sessionId",
    "cwd",
    "gitBranch",
    "version",
    "agentId",
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "isApiErrorMessage",
    "ownNote",
    "hookText",
    "turnCompanion",
    "rowSource",
    "promptSource",
    "promptId",
    "customTitle",
    "aiTitle",
    "summary",
    "leafUuid",
];
/// No id, path or title is longer. Units: bytes.
const MAX_SCALAR: usize = 64 * 1024;
/// A text within this is kept whole. Units: bytes.
const WHOLE_TEXT: usize = 2 * 1024 * 1024;
/// All texts of a record together, whole ones and ends of longer ones. Units: bytes.
const ALL_TEXTS: usize = 4 * 1024 * 1024;
/// What the values of a record may take in memory, beside their texts: more than any shorter line can ask for. Units: bytes.
const ALL_VALUES: usize = 32 * 1024 * 1024;
/// The least that a text must be given, to be begun at all. Units: bytes.
const LEAST_TEXT: usize = 256 * 1024;

/// What may still be built.
struct Room {
    texts: usize,
    values: usize,
}

impl Room {
    fn take(&mut self, cost: usize) -> bool {
        let fits = self.values >= cost;
        self.values = if fits { self.values - cost } else { 0 };
        fits
    }
}

/// Says what the line at `from..to` (without its newline) is, and gives its sha256.
///
/// Errors: the system's; `UnexpectedEof` when the file became shorter meanwhile.
pub fn look_long(file: &File, from: u64, to: u64) -> io::Result<(Look, String)> {
    let mut scan = Scan::new(file, from, to);
    let mut torn = Vec::new();
    let parsed = match record(&mut scan, from, to, &mut torn) {
        Ok(parsed) => parsed,
        Err(Stop::Bad) => Parsed::Odd("not JSON"),
        Err(Stop::Io(error)) => return Err(error),
    };
    let sha256 = match scan.finish() {
        Ok(sha256) => sha256,
        Err(Stop::Io(error)) => return Err(error),
        Err(Stop::Bad) => return Err(io::ErrorKind::InvalidData.into()),
    };
    if matches!(parsed, Parsed::Odd(_)) {
        torn.clear();
    }
    Ok((Look { parsed, torn }, sha256))
}

const FILLER: &[u8] = b" \t\r\n\0";

fn record(
    scan: &mut Scan,
    from: u64,
    to: u64,
    torn: &mut Vec<std::ops::Range<usize>>,
) -> Result<Parsed, Stop> {
    let mut gap = |start: u64, end: u64| {
        let range = usize::try_from(start - from).ok().zip(usize::try_from(end - from).ok());
        torn.extend(range.filter(|(start, end)| start < end).map(|(start, end)| start..end));
    };
    if scan.pass(FILLER)? > 0 {
        gap(from, scan.position());
    }
    match scan.peek()? {
        None => return Ok(Parsed::Odd("zero bytes")),
        Some(b'{') => {}
        Some(_) => {
            let first = scan.token()?;
            scan.skip(first, 0)?;
            scan.pass(FILLER)?;
            return Ok(Parsed::Odd(if scan.peek()?.is_none() { "not an object" } else { "not JSON" }));
        }
    }
    scan.token()?;
    let mut fields = Map::new();
    let mut details = Details::default();
    let mut data_type = None;
    scan.members(&mut |scan, key| {
        let first = scan.token()?;
        match (key, first) {
            ("message", b'{') => {
                let message = message(scan)?;
                fields.insert(key.to_owned(), message);
            }
            ("attachment", _) => {
                let mut room = Room { texts: ALL_TEXTS, values: ALL_VALUES };
                let attachment = build(scan, first, key, &mut room, 1)?;
                fields.insert(key.to_owned(), attachment);
            }
            ("data", b'{') => {
                data_type =
                    picked(scan, &["type"])?.remove("type").and_then(|v| v.as_str().map(str::to_owned));
            }
            ("origin", b'{') => {
                let origin = picked(scan, &["kind"])?;
                fields.insert(key.to_owned(), Value::Object(origin));
            }
            ("toolUseResult", b'{') => {
                let known = picked(scan, &["exitCode", "interrupted"])?;
                let of = |key: &str| known.get(key).unwrap_or(&Value::Null);
                details = Details::of(of("exitCode"), of("interrupted"));
            }
            (key, first) if SCALARS.contains(&key) => {
                if let Some(value) = scalar(scan, first, 1)? {
                    fields.insert(key.to_owned(), value);
                }
            }
            (_, first) => scan.skip(first, 1)?,
        }
        Ok(())
    })?;
    let end = scan.position();
    scan.pass(FILLER)?;
    if scan.peek()?.is_some() {
        return Err(Stop::Bad);
    }
    gap(end, to);
    let Some(kind) = fields.get("type").and_then(Value::as_str).map(str::to_owned) else {
        return Ok(Parsed::Odd("no type"));
    };
    if fate(Place::Record, &kind) == Fate::See(Place::Progress) {
        return Ok(progress(data_type.as_deref()));
    }
    let mut large = |key: &str| fields.remove(key).unwrap_or_default();
    let (message, attachment) = (large("message"), large("attachment"));
    let fields = Value::Object(fields);
    let wire = Wire::deserialize(&fields).map_err(|_| Stop::Bad)?;
    Ok(classify(&kind, wire.holding(message, attachment), &details))
}

/// A value that is one word or one short text; `None` for any other, which is read and left.
fn scalar(scan: &mut Scan, first: u8, depth: u32) -> Result<Option<Value>, Stop> {
    match first {
        b'{' | b'[' => scan.skip(first, depth).map(|()| None),
        b'"' => {
            let mut kept = Kept::text(MAX_SCALAR);
            scan.string(&mut kept)?;
            let fits = kept.len() <= MAX_SCALAR as u64;
            Ok(fits.then(|| Value::String(kept.finish())))
        }
        word => scan.word(word).map(Some),
    }
}

/// The named fields of an object, where each is one value.
fn picked(scan: &mut Scan, names: &[&str]) -> Result<Map<String, Value>, Stop> {
    let mut found = Map::new();
    scan.members(&mut |scan, key| {
        let first = scan.token()?;
        if !names.contains(&key) {
            return scan.skip(first, 2);
        }
        found.extend(scalar(scan, first, 2)?.map(|value| (key.to_owned(), value)));
        Ok(())
    })?;
    Ok(found)
}

fn message(scan: &mut Scan) -> Result<Value, Stop> {
    let mut message = Map::new();
    scan.members(&mut |scan, key| {
        let first = scan.token()?;
        match key {
            "id" | "model" => message.extend(scalar(scan, first, 2)?.map(|value| (key.to_owned(), value))),
            "content" => {
                let mut room = Room { texts: ALL_TEXTS, values: ALL_VALUES };
                let content = build(scan, first, key, &mut room, 2)?;
                message.insert(key.to_owned(), content);
            }
            _ => scan.skip(first, 2)?,
        }
        Ok(())
    })?;
    Ok(Value::Object(message))
}

/// What tells a block from others is taken also where there is no more room.
const TELLING: [&str; 5] = ["type", "id", "name", "tool_use_id", "is_error"];

/// Builds a value as far as there is room.
fn build(scan: &mut Scan, first: u8, key: &str, room: &mut Room, depth: u32) -> Result<Value, Stop> {
    if depth > MAX_DEPTH {
        return Err(Stop::Bad);
    }
    match first {
        // The data of images and documents is known by size and hash.
        b'"' if key == "data" => {
            let mut kept = Kept::hash();
            scan.string(&mut kept)?;
            let (bytes, sha256) = kept.finish_hash();
            Ok(serde_json::json!({ "bytes": bytes, "sha256": sha256 }))
        }
        b'"' => {
            let fits = room.texts >= LEAST_TEXT;
            let mut kept = if fits { Kept::text(WHOLE_TEXT.min(room.texts)) } else { Kept::hash() };
            scan.string(&mut kept)?;
            room.texts = room.texts.saturating_sub(kept.held());
            Ok(Value::String(kept.finish()))
        }
        b'{' => {
            let mut map = Map::new();
            let mut left = 0_u64;
            scan.members(&mut |scan, key| {
                let token = scan.token()?;
                if room.take(VALUE_COST + key.len()) {
                    let value = build(scan, token, key, room, depth + 1)?;
                    map.insert(key.to_owned(), value);
                } else if TELLING.contains(&key) {
                    map.extend(scalar(scan, token, depth + 1)?.map(|value| (key.to_owned(), value)));
                } else {
                    left += 1;
                    scan.skip(token, depth + 1)?;
                }
                Ok(())
            })?;
            if left > 0 {
                map.insert(LEFT_OUT.to_owned(), left.into());
            }
            Ok(Value::Object(map))
        }
        b'[' => {
            let mut list = Vec::new();
            let mut left = 0_u64;
            scan.elements(&mut |scan, token| {
                let cost = if matches!(token, b'{') { MAP_COST } else { VALUE_COST };
                if room.take(cost) {
                    list.push(build(scan, token, "", room, depth + 1)?);
                    Ok(())
                } else {
                    left += 1;
                    scan.skip(token, depth + 1)
                }
            })?;
            if left > 0 {
                list.push(serde_json::json!({ "type": LEFT_OUT, "values": left }));
            }
            Ok(Value::Array(list))
        }
        word => scan.word(word),
    }
}

/// What a value takes in memory, and what a map takes that is not empty. Units: bytes.
const VALUE_COST: usize = 64;
const MAP_COST: usize = 704;

#[cfg(test)]
mod tests;
