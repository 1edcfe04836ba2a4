//! What becomes of a line: it is counted, reported, or made a row.

use super::{ODD_REPORTS, Row, Stretch, What};
use crate::drain::clean::{Place, clean, clean_output, is_private};
use crate::drain::outputs::{Moved, follow, moved};
use crate::spool::Odd;
use crate::transcript::{Context, INLINE, Line, Look, Namer, Parsed, RawLine, Reader, look, look_long};
use crate::{clock, id, store};
use std::io;
use std::path::Path;

/// Results of one record that are followed into files; the host writes one a record.
const MAX_MOVED: usize = 16;

impl Stretch<'_> {
    /// Reports bytes that cannot be used.
    fn odd(&mut self, why: &str, from: u64, to: u64) {
        self.odd += 1;
        if self.odd > ODD_REPORTS {
            return;
        }
        let path =
            self.redactor.clean(&self.task.path.to_string_lossy(), &mut self.batch.report).into_owned();
        let mut odd = Odd::new(format!("a line of a transcript cannot be used: {why}"));
        odd.path = Some(path);
        (odd.from, odd.to) = (Some(from), Some(to));
        let file = id::short(&id::sha256(self.task.path.to_string_lossy().as_bytes()), 16).to_owned();
        self.batch.odd.push((format!("line.{file}.{from:016x}"), odd));
    }

    /// Reports a line whose reading ended in a panic.
    pub(super) fn panicked(&mut self, from: u64, to: u64) {
        let why = "reading it ended in a panic";
        self.batch.lines.add("odd", why);
        self.odd(why, from, to);
    }

    /// A name of the host's is foreign text like any other: redacted, and cut.
    fn say(&mut self, text: &str) -> String {
        self.redactor.clean(text, &mut self.batch.report).chars().take(128).collect()
    }

    /// The session a record belongs to: its own word, else the file's name.
    fn meet(&mut self, context: &Context) -> String {
        let id = context
            .session
            .clone()
            .unwrap_or_else(|| self.task.path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
        let id = self.redactor.clean(&id, &mut self.batch.report).into_owned();
        if let Some(time) = context.timestamp.as_deref().and_then(clock::parse) {
            self.state.clock_ms = self.state.clock_ms.max(time.0);
        }
        self.batch.sessions.meet(&id, context, self.redactor, &mut self.batch.report);
        id
    }

    pub(super) fn take(&mut self, look: Look, held: &Held, line: &Line) -> io::Result<()> {
        let at = line.from;
        for torn in look.torn {
            let (from, to) = (at + torn.start as u64, at + torn.end as u64);
            let zeros = matches!(held, Held::Long(..))
                || held.bytes().get(torn).is_some_and(|bytes| !bytes.iter().any(u8::is_ascii_graphic));
            let why = if zeros { "zero bytes beside a record" } else { "half a record before a whole one" };
            // Beside the account of lines: the line is that of its record.
            self.batch.lines.add("gap", why);
            self.odd(&format!("{why}: {} bytes", to - from), from, to);
        }
        let cwd = match &look.parsed {
            Parsed::Said(context, _) | Parsed::Silent(context, _) | Parsed::Boundary(context, _) => {
                &context.cwd
            }
            _ => &None,
        };
        // A file may hold several sessions, and one that began elsewhere may go into an excluded directory.
        if let Some(why) = cwd.as_ref().and_then(|dir| self.gate.passes(Path::new(dir))) {
            self.batch.lines.add("excluded", why.name());
            return Ok(());
        }
        match look.parsed {
            Parsed::Said(context, mut observation) => {
                let session = self.meet(&context);
                self.name_agent(&context, &mut observation.agent)?;
                // A compaction's own agent repeats the session, like the summary that it writes.
                observation.is_summary |= observation.agent.starts_with("acompact-");
                for kind in &observation.unknown {
                    let name = self.say(&format!("block/{kind}"));
                    self.batch.lines.add("unknown-block", &name);
                }
                let place = (self.task.path.as_path(), self.began);
                let cwd = context.cwd.as_deref();
                for why in self.gate.withhold(&mut observation.blocks, cwd, place)? {
                    self.batch.lines.add("withheld", why.name());
                }
                let moved: Vec<_> = observation.blocks.iter().filter_map(moved).take(MAX_MOVED).collect();
                let place = Place { file_mark: &self.file_mark, at, at_ms: self.state.clock_ms };
                let observation = clean(*observation, place, self.redactor, &mut self.batch.report);
                // What a person says begins a turn, or ends one of which nothing is stored.
                if observation.speaker == "user" && observation.agent.is_empty() {
                    self.state.private = is_private(&observation);
                    if self.state.private
                        && let Some(prompt) = &observation.prompt
                    {
                        let what = What::Private { prompt: prompt.clone() };
                        self.batch.rows.push(Row { session: session.clone(), what });
                    }
                }
                if self.state.private && self.own_name().is_none() {
                    self.batch.lines.add("private", observation.speaker);
                    return Ok(());
                }
                self.batch.lines.add("said", observation.speaker);
                if let Held::Long(bytes, sha256) = held {
                    self.batch.silent.push((at, "long-line", *bytes, sha256.clone()));
                }
                let outputs = self.outputs(&observation.id, moved);
                self.batch
                    .rows
                    .push(Row { session: session.clone(), what: What::Said(Box::new(observation)) });
                let rows = outputs
                    .into_iter()
                    .map(|output| Row { session: session.clone(), what: What::Output(Box::new(output)) });
                self.batch.rows.extend(rows);
            }
            Parsed::Silent(context, kind) => {
                self.meet(&context);
                if let Some((uuid, parent)) = &context.inline
                    && self.own_name().is_none()
                {
                    self.chains.name(&self.task.path, self.began, (uuid, parent.as_deref()))?;
                }
                self.batch.lines.add("silent", kind);
                let (bytes, sha256) = held.size_and_hash();
                self.batch.silent.push((at, kind, bytes, sha256));
            }
            Parsed::Boundary(context, uuid) => {
                let session = self.meet(&context);
                self.batch.lines.add("boundary", "compact_boundary");
                let id = match uuid {
                    Some(uuid) => self.say(&uuid),
                    None => format!("{}-{at}", self.file_mark),
                };
                let time = context.timestamp.as_deref().map(|time| self.say(time));
                let what = What::Boundary { id, at_ms: self.state.clock_ms, at, time };
                self.batch.rows.push(Row { session, what });
            }
            Parsed::Title(context, title, namer) => {
                let session = self.meet(&context);
                let by_person = namer == Namer::Person;
                // A model's title repeats the turn it was made in.
                if self.state.private && !by_person {
                    self.batch.lines.add("private", "ai-title");
                    return Ok(());
                }
                self.batch.lines.add("title", if by_person { "custom-title" } else { "ai-title" });
                let title = self.redactor.clean(&title, &mut self.batch.report).into_owned();
                let place = (self.state.clock_ms, at);
                self.batch.rows.push(Row { session, what: What::Title { title, by_person, place } });
            }
            Parsed::Summary(leaf, title) => {
                self.batch.lines.add("title", "summary");
                let leaf = self.redactor.clean(&leaf, &mut self.batch.report).into_owned();
                let title = self.redactor.clean(&title, &mut self.batch.report).into_owned();
                self.batch.summaries.push((leaf, title));
            }
            Parsed::Noise(name) => {
                let name = self.say(&name);
                self.batch.lines.add("noise", &name);
            }
            Parsed::Unknown(name) => {
                let name = self.say(&name);
                self.batch.lines.add("unknown", &name);
            }
            Parsed::Blank => self.batch.lines.add("blank", ""),
            Parsed::Odd(why) => {
                self.batch.lines.add("odd", why);
                let end = line.to - u64::from(line.complete);
                match held {
                    Held::Whole(_) => self.odd(why, at, end),
                    Held::Long(bytes, sha256) => {
                        self.odd(&format!("{why}: {bytes} bytes, sha256 {sha256}"), at, end);
                    }
                }
            }
        }
        Ok(())
    }

    /// What results say that lie in files of their own.
    fn outputs(&mut self, observation: &str, moved: Vec<Moved>) -> Vec<store::Output> {
        let mut found = Vec::new();
        for Moved { call, name } in moved {
            // One after the other: each may be megabytes.
            let Some(text) = name.and_then(|name| follow(&self.task.path, &name)) else {
                self.batch.lines.add("output", "missing");
                continue;
            };
            self.batch.lines.add("output", "followed");
            let output = clean_output(observation, call, text, self.redactor, &mut self.batch.report);
            self.beside += output.text.len() as u64;
            found.push(output);
        }
        found
    }

    /// A subagent's file is named after it; some clients name it nowhere else.
    fn own_name(&self) -> Option<String> {
        let stem = self.task.path.file_stem().unwrap_or_default().to_string_lossy();
        stem.strip_prefix("agent-").map(str::to_owned)
    }

    fn name_agent(&mut self, context: &Context, agent: &mut String) -> io::Result<()> {
        let nameless = agent == INLINE;
        if let Some(own) = self.own_name() {
            if nameless || agent.is_empty() {
                *agent = own;
            }
        } else if nameless && let Some((uuid, parent)) = &context.inline {
            *agent = self.chains.name(&self.task.path, self.began, (uuid, parent.as_deref()))?;
        }
        Ok(())
    }
}

/// What is at hand of a line.
pub(in crate::drain) enum Held<'a> {
    Whole(&'a [u8]),
    /// Its length and sha256.
    Long(u64, String),
}

impl Held<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Held::Whole(bytes) => bytes,
            Held::Long(..) => &[],
        }
    }

    fn size_and_hash(&self) -> (u64, String) {
        match self {
            Held::Whole(bytes) => (bytes.len() as u64, id::sha256(bytes)),
            Held::Long(bytes, sha256) => (*bytes, sha256.clone()),
        }
    }
}

/// Says what a line is, long or not.
pub(in crate::drain) fn examine<'a>(reader: &Reader, line: &'a Line) -> io::Result<(Look, Held<'a>)> {
    match &line.content {
        RawLine::Whole(bytes) => Ok((look(bytes), Held::Whole(bytes))),
        RawLine::Long(len) => {
            let (look, sha256) = look_long(reader.file(), line.from, line.from + len)?;
            Ok((look, Held::Long(*len, sha256)))
        }
    }
}
