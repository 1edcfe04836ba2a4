//! What rests on turns: the session's summary, its checkpoints, and the header of its profile.

use super::{Derived, derived_id, todos};
use crate::store::Item;
use crate::store::body::{Fields, not_ours, unpack};
use crate::store::compact::{self, Id};
use crate::store::{StoreError, Write};
use rusqlite::OptionalExtension;
use std::collections::BTreeSet;

/// A compaction boundary: its id, place and time.
pub(super) struct Boundary {
    id: String,
    at_ms: i64,
    time: Option<String>,
}

/// More files than this are named by no summary.
const MAX_FILES: usize = 60;
/// Units: characters.
const FIELD_CHARS: usize = 900;

/// The boundaries of a session, in order.
pub(super) fn boundaries(write: &Write<'_>, session: i64) -> Result<Vec<Boundary>, StoreError> {
    let mut query = write
        .transaction
        .prepare_cached("SELECT id, at_ms, time FROM boundaries WHERE session = ?1 ORDER BY at_ms, at, id")?;
    let rows = query.query_map([session], |row| {
        Ok(Boundary { id: row.get(0)?, at_ms: row.get(1)?, time: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The checkpoint of what lies before a boundary.
pub(super) fn checkpoint(
    write: &mut Write<'_>,
    session: i64,
    boundary: &Boundary,
    turns: &[Turn],
) -> Result<Derived, StoreError> {
    let own = write.session_id(session)?;
    let before = turns.partition_point(|turn| turn.at_ms < boundary.at_ms);
    let turns = turns.get(..before).unwrap_or_default();
    let time_ms = boundary.time.as_deref().and_then(crate::clock::parse).map(|t| t.0);
    Ok(Derived {
        id: derived_id("c", &["checkpoint", &own, &boundary.id]),
        kind: "checkpoint",
        session,
        agent: 0,
        time: boundary.time.clone(),
        time_ms,
        at_ms: boundary.at_ms,
        evidence: turns.iter().map(|t| t.n).collect(),
        fields: join(turns),
        command: None,
        status: None,
        sessions: vec![session],
    })
}

/// The summary of a session: what it was about, what came of it, what is next; `None` as long as it has no turn.
pub(super) fn session_summary(
    write: &mut Write<'_>,
    session: i64,
    turns: &[Turn],
) -> Result<Option<Derived>, StoreError> {
    let own = write.session_id(session)?;
    let Some(last) = turns.last() else { return Ok(None) };
    let (time, time_ms, at_ms) = (last.time.clone(), last.time_ms, last.at_ms);
    Ok(Some(Derived {
        id: derived_id("s", &["session-summary", &own]),
        kind: "session-summary",
        session,
        agent: 0,
        time,
        time_ms,
        at_ms,
        evidence: turns.iter().map(|t| t.n).collect(),
        fields: join(turns),
        command: None,
        status: None,
        sessions: vec![session],
    }))
}

/// The items of the host's lists of things to do in a session: one document each. Those that are none any more are taken away. Returns how many changed.
pub(super) fn work(write: &mut Write<'_>, session: i64, turns: &[Turn]) -> Result<u64, StoreError> {
    let own = write.session_id(session)?;
    let mut known: BTreeSet<Id> = {
        let mut query = write.transaction.prepare_cached(
            "SELECT d.id FROM document_sessions s JOIN documents d ON d.n = s.document WHERE s.session = ?1 AND d.kind = ?2",
        )?;
        let rows = query.query_map([session, compact::kind("work")], |row| row.get(0))?;
        rows.collect::<Result<_, _>>()?
    };
    let mut changed = 0;
    for item in todos::fold(turns.iter().map(|turn| turn.fields.todos.as_slice())) {
        // When it came to stand so: the turn that says so.
        let says = |turn: &&Turn| turn.fields.todos.iter().any(|todo| todo.record == item.record);
        let Some(turn) = turns.iter().rev().find(says).or_else(|| turns.last()) else { continue };
        let name = item.task.as_deref().map_or_else(|| item.text.clone(), |task| format!("#{task}"));
        let id = derived_id("w", &["work", &own, &name]);
        known.remove(&Id::of(&id));
        let source = if item.task.is_some() { "task" } else { "todo" };
        let derived = Derived {
            id,
            kind: "work",
            session,
            agent: 0,
            time: turn.time.clone(),
            time_ms: turn.time_ms,
            at_ms: turn.at_ms,
            fields: Fields::default(),
            evidence: vec![write.record(&item.record)?.unwrap_or(turn.n)],
            command: None,
            status: None,
            sessions: vec![session],
        };
        let bytes = item.text.len();
        let item =
            Item { text: item.text, state: item.state, source: source.to_owned(), record: item.record };
        let json = serde_json::to_vec(&item).map_err(|e| not_ours(&e))?;
        changed += u64::from(write.put_body(&derived, json, bytes, "")?);
    }
    for id in known {
        write.take_away(&id.text())?;
        changed += 1;
    }
    Ok(changed)
}

/// The document that carries the session's profile in the index: a short header.
pub(super) fn profile(write: &mut Write<'_>, session: i64, turns: &[Turn]) -> Result<Derived, StoreError> {
    let own = write.session_id(session)?;
    let (time, time_ms) = turns.last().map_or((None, None), |t| (t.time.clone(), t.time_ms));
    let at_ms = turns.last().map_or(0, |t| t.at_ms);
    let title = write.session_title(session)?;
    let request = turns.first().map(|t| t.fields.request.clone()).unwrap_or_default();
    let fields = Fields { request, notes: title.unwrap_or_default(), ..Fields::default() };
    Ok(Derived {
        id: derived_id("p", &["session", &own]),
        kind: "session",
        session,
        agent: 0,
        time,
        time_ms,
        at_ms,
        fields,
        evidence: Vec::new(),
        command: None,
        status: None,
        sessions: vec![session],
    })
}

/// An outcome of the main line, as summaries use it.
pub(super) struct Turn {
    n: i64,
    time: Option<String>,
    time_ms: Option<i64>,
    at_ms: i64,
    fields: Fields,
}

/// The outcomes of the main line, in order, without those that were taken back.
pub(super) fn turns(write: &Write<'_>, session: i64) -> Result<Vec<Turn>, StoreError> {
    let mut query = write.transaction.prepare_cached(
        "SELECT d.n, d.time, d.time_ms, d.at, d.codec, d.body FROM document_sessions s JOIN documents d ON d.n = s.document
         WHERE s.session = ?1 AND d.kind = ?2 AND d.agent = 0 AND d.status IS NULL ORDER BY d.at, d.id",
    )?;
    let mut rows = query.query([session, compact::OUTCOME])?;
    let mut turns = Vec::new();
    while let Some(row) = rows.next()? {
        let fields = serde_json::from_slice(&unpack(row.get(4)?, row.get(5)?)?).map_err(|e| not_ours(&e))?;
        turns.push(Turn {
            n: row.get(0)?,
            time: compact::time(row.get(1)?, row.get(2)?),
            time_ms: row.get(2)?,
            at_ms: row.get(3)?,
            fields,
        });
    }
    Ok(turns)
}

/// Puts turns together: the first request and the newest, the newest results first, next steps of the newest turn only, all files.
fn join(turns: &[Turn]) -> Fields {
    let mut all = Fields::default();
    let mut requests: Vec<&str> =
        turns.iter().map(|t| t.fields.request.as_str()).filter(|r| !r.is_empty()).collect();
    requests.dedup();
    all.request = match requests.as_slice() {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first, .., last] => format!("{first}\n{last}"),
    };
    all.next_steps = turns.last().map(|t| t.fields.next_steps.clone()).unwrap_or_default();
    for turn in turns.iter().rev() {
        append(&mut all.completed, &turn.fields.completed);
        append(&mut all.learned, &turn.fields.learned);
        append(&mut all.notes, &turn.fields.notes);
        append(&mut all.investigated, &turn.fields.investigated);
    }
    for turn in turns {
        merge(&mut all.files_read, &turn.fields.files_read);
        merge(&mut all.files_edited, &turn.fields.files_edited);
    }
    all
}

/// Adds whole texts as long as there is room, each once.
fn append(to: &mut String, text: &str) {
    for line in text.lines() {
        if line.is_empty() || to.lines().any(|l| l == line) {
            continue;
        }
        if !to.is_empty() {
            if to.chars().count() + line.chars().count() > FIELD_CHARS {
                return;
            }
            to.push('\n');
        }
        to.push_str(line);
    }
}

fn merge(to: &mut Vec<String>, files: &[String]) {
    for file in files {
        if to.len() < MAX_FILES && !to.contains(file) {
            to.push(file.clone());
        }
    }
}

impl Write<'_> {
    /// The number of the observation whose id begins so.
    fn record(&self, beginning: &str) -> Result<Option<i64>, StoreError> {
        let Some((least, greatest)) = Id::range(beginning) else { return Ok(None) };
        let mut query =
            self.transaction.prepare_cached("SELECT n FROM documents WHERE id BETWEEN ?1 AND ?2 LIMIT 1")?;
        Ok(query.query_row([least, greatest], |row| row.get(0)).optional()?)
    }
}
