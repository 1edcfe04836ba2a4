//! `memory_search`: the same question as `sinker search`, by record.

use super::Memory;
use super::arguments::{self, KINDS, SPEAKERS, Scope, Search};
use super::page::{Page, cut};
use super::tools::{self, OWN_LIMIT, Trouble};
use crate::clock;
use crate::config::{self, Project, ProjectMap, Secret, Settings};
use crate::recall::{self, Ask, Deadline, Hit, Line, Parts};
use crate::store::{ProjectRow, Reader, StoreError};
use serde_json::{Map, Value};
use std::path::Path;

/// Units: characters of an answer.
pub(super) const BOUND: usize = 8_000;
/// Hits without a `limit`.
pub(super) const DEFAULT: usize = 8;
/// Hits at most.
pub(super) const MOST: usize = 50;

pub(super) fn answer(memory: &Memory, given: &Map<String, Value>) -> Result<String, Trouble> {
    let args: Search = tools::read(given)?;
    arguments::one_of("kind", args.kind.as_ref(), &KINDS).map_err(Trouble::Arguments)?;
    arguments::one_of("speaker", args.speaker.as_ref(), &SPEAKERS).map_err(Trouble::Arguments)?;
    let since_ms = match &args.since {
        Some(text) => Some(clock::since(text).ok_or_else(|| {
            Trouble::Arguments("since must be a date, a time, or an age: 2026-11-30, 3d, 12h".to_owned())
        })?),
        None => None,
    };
    let secret = tools::secret(memory)?;
    // A session that is named is looked into wherever it ran.
    let everywhere = args.all || (args.session.is_some() && args.project.is_none());
    let scope = Scope { project: args.project, all: everywhere };
    let project = project(memory, &scope, &secret)?;
    let ask = Ask {
        text: arguments::query(&args.query).to_owned(),
        project: project.clone(),
        session: args.session.map(|wanted| session(memory, wanted)),
        kind: args.kind,
        speaker: args.speaker,
        file: args.file,
        since_ms: since_ms.map(|at| at.0),
        limit: args.limit.map_or(DEFAULT, |n| n.0.min(MOST)),
        parts: Parts::without(&Settings::read(None).recall_without()),
        ..Ask::default()
    };
    let hits = find(memory, &ask)?;
    let place = place(project.as_deref());
    let mut page = Page::new(BOUND);
    let shown = hits.iter().enumerate().take_while(|(n, hit)| page.add(&entry(*n, hit))).count();
    let last = match (hits.len(), shown) {
        (0, _) if scope.all => format!("Nothing found in {place}. Other words may find it."),
        (0, _) => format!("Nothing found in {place}. Other words, or all: true, may find it."),
        (n, shown) if shown < n => {
            format!("{shown} of {n} hits of {place}; narrow the query for the others.")
        }
        (n, _) => format!("{n} hits in {place}. memory_get gives whole texts."),
    };
    Ok(page.close(&last, &secret))
}

/// Asks the published index. Errors: there is none, it is damaged, or the time is over.
pub(super) fn find(memory: &Memory, ask: &Ask) -> Result<Vec<Hit>, Trouble> {
    let deadline = Deadline::after(OWN_LIMIT);
    let Some(reader) = recall::published(&memory.home)? else {
        return Err(if memory.home.store().exists() { Trouble::NoIndex } else { Trouble::Nothing });
    };
    Ok(recall::search(&reader, ask, &deadline)?.hits)
}

/// The project that is meant; `None` for all. Errors: none or several of that name.
pub(super) fn project(memory: &Memory, scope: &Scope, secret: &Secret) -> Result<Option<String>, Trouble> {
    let Some(wanted) = &scope.project else {
        return Ok((!scope.all).then(|| of_directory(memory, &memory.directory, secret)));
    };
    let known = match store(memory) {
        Ok(store) => store.projects()?,
        Err(Trouble::Store(StoreError::Absent(_))) => Vec::new(),
        Err(error) => return Err(error),
    };
    match ProjectRow::named(&known, wanted).as_slice() {
        [one] => return Ok(Some((*one).to_owned())),
        [] => {}
        several => {
            let what = format!("several projects have this name; pass one of: {}", several.join(", "));
            return Err(Trouble::Arguments(cut(&what, 600)));
        }
    }
    if wanted.contains('/') {
        return Ok(Some(of_directory(memory, &memory.directory.join(wanted), secret)));
    }
    let names: Vec<String> = known.iter().take(20).map(|p| recall::clean(&p.name)).collect();
    let what = format!("no project has this name or id; known are, the latest first: {}", names.join(", "));
    Err(Trouble::Arguments(cut(&what, 600)))
}

/// The project of a scope that names one at most, with all that is known of it. Errors: as [`project`].
pub(super) fn whole_project(memory: &Memory, scope: &Scope, secret: &Secret) -> Result<Project, Trouble> {
    let id = project(memory, scope, secret)?.unwrap_or_default();
    let known = store(memory).and_then(|store| Ok(store.projects()?)).unwrap_or_default();
    if let Some(p) = known.into_iter().find(|p| p.id == id) {
        return Ok(Project {
            id: p.id,
            name: p.name,
            remote: p.remote,
            root: p.directory.into(),
            mark: None,
        });
    }
    let directory = memory.directory.join(scope.project.as_deref().unwrap_or_default());
    Ok(Project { id, ..config::identify(&directory, secret) })
}

fn of_directory(memory: &Memory, directory: &Path, secret: &Secret) -> String {
    ProjectMap::read(&memory.home).of(directory, secret)
}

/// A session by its id or a beginning of it; as it was given where it is not known.
pub(super) fn session(memory: &Memory, wanted: String) -> String {
    let known = store(memory).ok().and_then(|store| store.session_id(&wanted).ok().flatten());
    known.unwrap_or(wanted)
}

/// The store, to be read, without waiting long for anybody.
pub(super) fn store(memory: &Memory) -> Result<Reader, Trouble> {
    let store = Reader::open_to_show(&memory.home)?;
    store.wait_at_most(tools::LOCK_LIMIT)?;
    Ok(store)
}

/// Names where was looked.
pub(super) fn place(project: Option<&str>) -> String {
    project.map_or("all projects".to_owned(), |p| format!("project {}", recall::clean(p)))
}

/// A hit: a line that says what and whence it is, and its best lines.
pub(super) fn entry(n: usize, hit: &Hit) -> String {
    let mut text = format!("[{}] {} score {}", n + 1, head(hit), hit.score);
    for Line { text: line, record, speaker } in &hit.excerpt {
        let origin = if speaker.is_empty() { &hit.kind } else { speaker };
        text.push_str(&format!("\n{}", recall::quoted(origin, line)));
        if let Some(record) = record {
            text.push_str(&format!("  [{}]", cut(&recall::clean(record), 64)));
        }
    }
    text
}

/// Kind, id, time, place and status of a hit.
pub(super) fn head(hit: &Hit) -> String {
    let mut text = provenance(&[
        ("", &hit.kind),
        ("", &hit.id),
        ("", &hit.time),
        ("project", &hit.project),
        ("session", &hit.session),
        ("speaker", &hit.speaker),
    ]);
    text.push_str(&format!(" status {}", hit.status.as_deref().map_or("null".to_owned(), recall::clean)));
    if !hit.files.is_empty() {
        text.push_str(&format!(" files {}", files(&hit.files)));
    }
    text
}

/// Names and values, those without a value left out.
pub(super) fn provenance(parts: &[(&str, &str)]) -> String {
    let some = parts.iter().filter(|(_, value)| !value.is_empty());
    let shown =
        some.map(|(name, value)| format!("{name} {}", cut(&recall::clean(value), 120)).trim().to_owned());
    shown.collect::<Vec<_>>().join(" ")
}

/// A few paths, and how many more.
pub(super) fn files(all: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut text = all.iter().take(SHOWN).map(|f| cut(&recall::clean(f), 120)).collect::<Vec<_>>().join(", ");
    let more = all.len().saturating_sub(SHOWN);
    if more > 0 {
        text.push_str(&format!(" (+{more})"));
    }
    text
}
