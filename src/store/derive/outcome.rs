//! Outcomes: of a turn in the main line, and of a subagent's run.

use super::claims::{Collector, Drawn};
use super::extract::{Beside, Builder};
use super::runs;
use super::todos;
use super::{Derived, Terms, derived_id};
use crate::store::body::{Block, whole_of};
use crate::store::compact::{self, Id};
use crate::store::packs::Place as BodyPlace;
use crate::store::{StoreError, Write};
use rusqlite::{OptionalExtension, params};
use std::collections::HashSet;

/// A place in a session's order: time in milliseconds, then byte position.
type Place = (i64, i64);

/// What a turn gives.
pub(super) struct Turn {
    /// Its outcome; `None` where there is nothing to keep, or it was forgotten.
    pub derived: Option<Derived>,
    /// Its id; `None` when its prompt was forgotten.
    pub id: Option<String>,
    pub claims: Vec<Drawn>,
    pub runs: Vec<runs::Run>,
}

impl Turn {
    fn nothing(id: Option<String>) -> Self {
        Self { derived: None, id, claims: Vec::new(), runs: Vec::new() }
    }
}

/// The outcome of the turn that begins with prompt `item` (a document number; 0 for what lies before the first prompt).
///
/// Its members are the union over all sessions that hold the prompt: a fork that copied the turn gives no second outcome. `None`
/// when nothing lies before the first prompt; an outcome of it that was there is taken away.
pub(super) fn turn(
    write: &mut Write<'_>,
    session: i64,
    item: &str,
    terms: Terms<'_>,
) -> Result<Turn, StoreError> {
    let prompt: i64 = item.parse().map_err(|_| StoreError::Body(format!("turn {item}")))?;
    let own = write.session_id(session)?;
    let (id, holders) = match prompt {
        0 => (derived_id("t", &["start", &own]), vec![(own, session, None)]),
        prompt => {
            let id: Option<Id> = write
                .transaction
                .prepare_cached("SELECT id FROM documents WHERE n = ?1")?
                .query_row([prompt], |row| row.get(0))
                .optional()?;
            // It was forgotten, and its outcome with it.
            let Some(id) = id else { return Ok(Turn::nothing(None)) };
            (derived_id("t", &["turn", &id.text()]), holders(write, prompt)?)
        }
    };
    let mut run = Run::default();
    let mut at_ms = None;
    for (_, session, from) in &holders {
        let to = next_prompt(write, *session, *from)?;
        at_ms = at_ms.or(from.map(|(ms, _)| ms));
        run.read(write, *session, 0, (*from, to))?;
    }
    if run.members.is_empty() || run.builder.is_small_talk() {
        write.take_away(&id)?;
        return Ok(Turn::nothing(Some(id)));
    }
    // Holders are in the order of their ids: the first is the owner, whatever was read first.
    let owner = holders.first().map_or(session, |(_, session, _)| *session);
    let sessions = holders.iter().map(|(_, session, _)| *session).collect();
    let status = write.status_of(run.members.first())?;
    run.decided = run.claims.has_decided();
    let claims = std::mem::take(&mut run.claims).drawn(terms);
    // What a person took back was done all the same, but tells nothing of how things stand.
    let is_in_force = status.is_none();
    let (derived, runs) = run.finish(id.clone(), owner, sessions, 0, at_ms);
    let runs = if is_in_force { runs } else { Vec::new() };
    Ok(Turn { derived: Some(Derived { status, ..derived }), id: Some(id), claims, runs })
}

/// The outcome of a subagent's run, in its parent's session.
pub(super) fn agent(
    write: &mut Write<'_>,
    session: i64,
    item: &str,
) -> Result<(String, Option<Derived>, Vec<runs::Run>), StoreError> {
    let own = write.session_id(session)?;
    let agent: i64 = item.parse().map_err(|_| StoreError::Body(format!("run {item}")))?;
    let name: String =
        write.transaction.query_row("SELECT name FROM agents WHERE n = ?1", [agent], |row| row.get(0))?;
    let mut run = Run::default();
    run.read(write, session, agent, (None, None))?;
    let id = derived_id("a", &["agent", &own, &name]);
    // What a compaction's own agent says repeats the session: no outcome.
    if !run.scored {
        write.take_away(&id)?;
        return Ok((id, None, Vec::new()));
    }
    let status = write.status_of(run.members.first())?;
    let is_in_force = status.is_none();
    let (derived, runs) = run.finish(id.clone(), session, vec![session], agent, None);
    Ok((id, Some(Derived { status, ..derived }), if is_in_force { runs } else { Vec::new() }))
}

/// The sessions that hold a prompt, in the order of their ids, with its place in each.
fn holders(write: &Write<'_>, prompt: i64) -> Result<Vec<(String, i64, Option<Place>)>, StoreError> {
    let mut query = write.transaction.prepare_cached(
        "SELECT s.id, l.session, l.at_ms, l.at FROM links l JOIN sessions s ON s.n = l.session WHERE l.document = ?1 ORDER BY s.id",
    )?;
    let rows =
        query.query_map([prompt], |row| Ok((row.get(0)?, row.get(1)?, Some((row.get(2)?, row.get(3)?)))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Where the next prompt of a session lies behind a place; the first one for `None`.
fn next_prompt(write: &Write<'_>, session: i64, after: Option<Place>) -> Result<Option<Place>, StoreError> {
    let (ms, at) = after.unwrap_or((i64::MIN, i64::MIN));
    let mut query = write.transaction.prepare_cached(
        "SELECT at_ms, at FROM links INDEXED BY links_prompts WHERE session = ?1 AND is_prompt = 1 AND agent = 0 AND (at_ms, at) > (?2, ?3)
         ORDER BY at_ms, at LIMIT 1",
    )?;
    Ok(query.query_row(params![session, ms, at], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// A stretch of a session while it is read; holds numbers and the builder's bounded texts, never the stretch itself.
#[derive(Default)]
struct Run {
    members: Vec<i64>,
    seen: HashSet<i64>,
    builder: Builder,
    runs: runs::Collector,
    todos: todos::Collector,
    decided: bool,
    claims: Collector,
    newest: Option<(i64, Option<String>)>,
    /// Something in it is scored.
    scored: bool,
    /// The slash command that it begins with.
    command: Option<String>,
    first_ms: Option<i64>,
}

impl Run {
    fn read(
        &mut self,
        write: &Write<'_>,
        session: i64,
        agent: i64,
        (from, to): (Option<Place>, Option<Place>),
    ) -> Result<(), StoreError> {
        let (from_ms, from_at) = from.unwrap_or((i64::MIN, i64::MIN));
        let (to_ms, to_at) = to.unwrap_or((i64::MAX, i64::MAX));
        let mut query = write.transaction.prepare_cached(
            "SELECT d.n, d.speaker, d.is_prompt, d.scored, d.time_ms, d.time, d.command, d.pack, d.start, d.length, l.at_ms, d.status IS NULL, d.id
             FROM links l JOIN documents d ON d.n = l.document
             WHERE l.session = ?1 AND l.agent = ?2 AND (l.at_ms, l.at) >= (?3, ?4) AND (l.at_ms, l.at) < (?5, ?6)
             ORDER BY l.at_ms, l.at, d.id",
        )?;
        let mut rows = query.query(params![session, agent, from_ms, from_at, to_ms, to_at])?;
        while let Some(row) = rows.next()? {
            let n: i64 = row.get(0)?;
            if !self.seen.insert(n) {
                continue;
            }
            self.members.push(n);
            self.first_ms = self.first_ms.or(Some(row.get(10)?));
            let time_ms: Option<i64> = row.get(4)?;
            if let Some(ms) = time_ms
                && self.newest.as_ref().is_none_or(|(newest, _)| ms >= *newest)
            {
                self.newest = Some((ms, compact::time(row.get(5)?, Some(ms))));
            }
            let scored: bool = row.get(3)?;
            self.scored |= scored;
            if !scored {
                continue;
            }
            let body = write.body(BodyPlace::read(row, 7)?)?;
            let command: Option<String> = row.get(6)?;
            let is_prompt: bool = row.get(2)?;
            if is_prompt && self.command.is_none() {
                self.command.clone_from(&command);
            }
            let id = row.get::<_, Id>(12)?.text();
            let (blocks, beside) = whole_of(&body)?;
            let args = beside.args.unwrap_or_default();
            let speaker = compact::speaker_name(row.get(1)?);
            // What a model wrote to another one, a command's text, and what was taken back are no statements.
            if agent == 0 && command.is_none() && row.get(11)? {
                for block in &blocks {
                    if let Block::Text { t } = block {
                        self.claims.add(n, time_ms, speaker, t);
                    }
                }
            }
            let command = command.as_deref().map(|name| (name, args.as_ref()));
            self.builder.add(&id, speaker, is_prompt, command, &blocks);
            self.runs.add(n, &id, time_ms, &blocks);
            self.todos.add(&id, &blocks);
            if let Some(model) = beside.model.filter(|_| speaker == "assistant") {
                self.builder.by(&model);
            }
        }
        Ok(())
    }

    fn finish(
        mut self,
        id: String,
        session: i64,
        sessions: Vec<i64>,
        agent: i64,
        at_ms: Option<i64>,
    ) -> (Derived, Vec<runs::Run>) {
        let (commands, tests) = self.runs.told();
        let failing = self.runs.failing();
        let todos = std::mem::take(&mut self.todos).items();
        let decided = self.decided;
        let (time_ms, time) = match self.newest {
            Some((ms, time)) => (Some(ms), time),
            None => (None, None),
        };
        let derived = Derived {
            id,
            kind: "outcome",
            session,
            agent,
            time,
            time_ms,
            at_ms: at_ms.or(self.first_ms).unwrap_or(0),
            fields: self.builder.finish(Beside { failing, commands, tests, todos, decided }),
            evidence: self.members,
            command: self.command,
            status: None,
            sessions,
        };
        (derived, self.runs.runs())
    }
}
