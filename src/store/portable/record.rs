//! A line of an export.

use crate::clock;
use crate::config::Project;
use crate::store::body::Block;
use crate::store::notes::Note;
use crate::store::salvage::OldSession;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A record of an export: one line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "kebab-case")]
pub enum Portable {
    /// A session with its project; it comes before what it holds.
    Session(Box<OldSession>),
    /// A title that names a record.
    Summary {
        /// The record.
        leaf: String,
        /// The title.
        title: String,
    },
    /// A compaction.
    Boundary {
        /// The host's session id.
        session: String,
        /// Its own.
        id: String,
        /// Its place. Units: milliseconds.
        at_ms: i64,
        /// Its place, byte.
        at: u64,
        /// Its time.
        time: Option<String>,
    },
    /// A record of a session.
    Observation(Box<Said>),
    /// A note.
    Note(Box<Kept>),
}

/// A longer id names nothing of any host's. Units: bytes.
const ID_BYTES: usize = 4_096;
/// No transcript is longer. Units: bytes.
const FILE_BYTES: i64 = 1 << 48;

impl Portable {
    /// Hands out every text that came from somebody else, to be redacted in place. What the format calls things, ids of ours, hashes, uuids
    /// and times are none: a rule as broad as a person likes must not make them unreadable.
    pub fn each_text(&mut self, say: &mut dyn FnMut(&mut String)) {
        match self {
            Portable::Session(session) => {
                named(&mut session.facts.id, say);
                hosted(&mut session.facts.host, say);
                let facts = &mut session.facts;
                let times = [&mut facts.first, &mut facts.last].into_iter().flatten();
                times.for_each(|dated| timed(&mut dated.text, say));
                session.end_mut().into_iter().for_each(|time| timed(time, say));
                session.each_text(say);
                session.project.iter_mut().for_each(|project| filed(project, say));
            }
            Portable::Summary { leaf, title } => {
                named(leaf, say);
                say(title);
            }
            Portable::Boundary { session, id, time, .. } => {
                [session, id].into_iter().for_each(|id| named(id, say));
                time.iter_mut().for_each(|time| timed(time, say));
            }
            Portable::Observation(said) => said.each_text(say),
            Portable::Note(kept) => {
                let Kept { note, older } = &mut **kept;
                named(&mut note.id, say);
                say(&mut note.text);
                note.files.iter_mut().flatten().for_each(&mut *say);
                older.iter_mut().for_each(|(_, text)| say(text));
                if let Some(project) = &mut note.project {
                    project.each_text(say);
                    filed(project, say);
                }
            }
        }
    }

    /// Could a store of ours have written it? Numbers of a foreign file may be any: a time that none can follow would be the newest for ever.
    pub fn is_sound(&self) -> bool {
        let is_id = |id: &String| (1..=ID_BYTES).contains(&id.len());
        match self {
            Portable::Session(session) => {
                is_id(&session.facts.id) && session.is_sound() && session.project.iter().all(is_project)
            }
            Portable::Summary { leaf, .. } => is_id(leaf),
            Portable::Boundary { session, id, at_ms, at, .. } => {
                is_id(session) && is_id(id) && clock::is_time(*at_ms) && is_place(*at)
            }
            Portable::Observation(said) => {
                said.is_sound() && said.links.iter().all(|link| is_id(&link.session))
            }
            Portable::Note(kept) => {
                let Kept { note, older } = &**kept;
                note.is_sound()
                    && note.project.iter().all(is_project)
                    // The newest is the note itself.
                    && older.iter().all(|(at_ms, _)| clock::is_time(*at_ms) && *at_ms <= note.at_ms)
            }
        }
    }

    /// Takes out what belongs to projects of which `passes` says that nothing is stored. `passed` holds their sessions, as far as they came.
    /// Returns false when nothing is left of the record.
    pub fn keep(&mut self, passed: &mut BTreeSet<String>, passes: &mut dyn FnMut(&Project) -> bool) -> bool {
        match self {
            Portable::Session(session) => {
                let out = session.project.as_ref().is_some_and(passes);
                if out {
                    passed.insert(session.facts.id.clone());
                }
                !out
            }
            Portable::Boundary { session, .. } => !passed.contains(session),
            Portable::Observation(said) => {
                let before = said.links.len();
                said.links.retain(|link| !passed.contains(&link.session));
                before == 0 || !said.links.is_empty()
            }
            Portable::Note(kept) => !kept.note.project.as_ref().is_some_and(passes),
            Portable::Summary { .. } => true,
        }
    }
}

impl Said {
    fn each_text(&mut self, say: &mut dyn FnMut(&mut String)) {
        named(&mut self.id, say);
        self.time.iter_mut().for_each(|time| timed(time, say));
        self.record.iter_mut().for_each(|record| named(record, say));
        [&mut self.parent, &mut self.message, &mut self.model, &mut self.prompt]
            .into_iter()
            .flatten()
            .for_each(&mut *say);
        if let Some((name, args)) = &mut self.command {
            [name, args].into_iter().for_each(&mut *say);
        }
        blocks(&mut self.blocks, say);
        for link in &mut self.links {
            named(&mut link.session, say);
            hosted(&mut link.host, say);
            say(&mut link.agent);
        }
        for Older { blocks: older, parent, message, prompt, args, .. } in &mut self.revisions {
            blocks(older, say);
            [parent, message, prompt, args].into_iter().flatten().for_each(&mut *say);
        }
        for Whole { call, text, sha256, .. } in &mut self.outputs {
            [call, text].into_iter().for_each(&mut *say);
            named(sha256, say);
        }
    }

    fn is_sound(&self) -> bool {
        (0..FILE_BYTES).contains(&self.at)
            && self.time_ms.is_none_or(clock::is_time)
            && self.links.iter().all(|link| clock::is_time(link.at_ms) && is_place(link.at))
            && self.revisions.iter().all(|older| (0..=self.at).contains(&older.at))
    }
}

fn blocks(blocks: &mut [Block], say: &mut dyn FnMut(&mut String)) {
    for block in blocks {
        block.each_text(say);
        if let Block::Media { sha, .. } = block {
            named(sha, say);
        }
    }
}

/// An id of the host's is a text like any other, unless it is a uuid, a hash or an id of ours.
fn named(text: &mut String, say: &mut dyn FnMut(&mut String)) {
    let digits = text.get(2..).filter(|_| text.as_bytes().get(1) == Some(&b'-')).unwrap_or(text);
    if digits.len() > 64 || !digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f' | b'-')) {
        say(text);
    }
}

fn timed(text: &mut String, say: &mut dyn FnMut(&mut String)) {
    if clock::parse(text).is_none() {
        say(text);
    }
}

fn hosted(host: &mut String, say: &mut dyn FnMut(&mut String)) {
    if host != "claude" {
        say(host);
    }
}

fn filed(project: &mut Project, say: &mut dyn FnMut(&mut String)) {
    if !is_project(project) {
        say(&mut project.id);
    }
}

/// Is its id one of ours: `<name>-<10 hex>`?
fn is_project(project: &Project) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=64).contains(&project.id.len()) && project.id.bytes().all(plain)
}

fn is_place(at: u64) -> bool {
    i64::try_from(at).is_ok_and(|at| at < FILE_BYTES)
}

/// An observation with what is kept of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Said {
    pub(super) id: String,
    pub(super) speaker: String,
    pub(super) time: Option<String>,
    pub(super) time_ms: Option<i64>,
    pub(super) record: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) scored: bool,
    pub(super) command: Option<(String, String)>,
    pub(super) at: i64,
    pub(super) blocks: Vec<Block>,
    pub(super) links: Vec<Link>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) revisions: Vec<Older>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) outputs: Vec<Whole>,
}

/// A session that holds it, and where.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Link {
    pub(super) session: String,
    pub(super) host: String,
    pub(super) agent: String,
    pub(super) at_ms: i64,
    pub(super) at: u64,
    pub(super) is_prompt: bool,
    /// Which record it follows there, as a hash.
    pub(super) follows: Option<i64>,
}

/// A revision that is no longer current.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Older {
    pub(super) at: i64,
    pub(super) blocks: Vec<Block>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) prompt: Option<String>,
    /// What a command was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) args: Option<String>,
}

/// The whole of a result that lay in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Whole {
    pub(super) call: String,
    pub(super) text: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// A note with its older revisions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kept {
    pub(super) note: Note,
    pub(super) older: Vec<(i64, String)>,
}
