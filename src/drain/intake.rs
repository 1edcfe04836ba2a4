//! What comes in: entries and commands of the spool, files that have grown. Each becomes requests to the machine.

use super::DrainError;
use super::asks::{Ask, Done};
use super::commands::{Reply, answer};
use super::machine::{Event, Mode, Request};
use super::prepare;
use super::publish::Order;
use super::run::{Asked, Drainer};
use super::suspects::Caution;
use super::{roots, sweep};
use crate::config::{Project, Settings};
use crate::spool::{self, Claimed, Entry, Odd, SpoolError};
use crate::store::{self, FileState};
use crate::{clock, fs, log};

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Entries claimed at once.
const CLAIM: usize = 1_024;

/// Nobody takes this long to replace a file. Units: milliseconds.
const LEFTOVER_AGE_MS: i64 = 60_000;
/// Units: milliseconds.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Units: milliseconds.
const LAUNCHES_AGE_MS: i64 = 60 * 60 * 1000;
/// Units: milliseconds.
const REPLIES_AGE_MS: i64 = 24 * 60 * 60 * 1000;
/// The host removes its transcripts after a month. Units: milliseconds.
const SHOWN_AGE_MS: i64 = 90 * 24 * 60 * 60 * 1000;
/// Behind an event the host may write for a while; an entry that has waited longer needs no second look. Units: milliseconds.
const FRESH_MS: i64 = 60_000;

/// The event is of now, or of a clock that cannot be compared with ours.
fn is_fresh(entry: &Entry) -> bool {
    clock::parse(&entry.time).is_none_or(|time| clock::now().0.saturating_sub(time.0) < FRESH_MS)
}

impl Drainer {
    pub(super) fn requests(&self, mut list: Vec<Request>, more: bool) -> Event {
        list.retain_mut(|request| {
            let caution = self.caution(&request.path, request.command.is_some());
            request.suspect = caution != Caution::Plain;
            // What is set aside is not looked for; who asks is told.
            caution != Caution::Refused || request.entry.is_some()
        });
        Event::Requests { now_ms: self.progress.now_ms(), list, more }
    }

    pub(super) fn scan(&mut self) -> Result<Vec<Event>, DrainError> {
        let mut busy: HashSet<String> = self.state.busy().cloned().collect();
        busy.extend(self.newer.iter().cloned());
        busy.extend(
            self.commands
                .values()
                .filter_map(|(path, _)| Some(path.file_name()?.to_string_lossy().into_owned())),
        );
        let home = self.options.home.clone();
        self.watch.keep(&home);
        let batch = match spool::claim(&home, CLAIM, &busy, &mut self.backlog) {
            // Somebody removed the folders under us: make them again, and watch the new ones.
            Err(SpoolError::List { .. }) if prepare(&home).is_ok() => {
                self.watch.renew(&home);
                return Ok(vec![self.requests(Vec::new(), false)]);
            }
            Err(error) => {
                log::warn("drain", &[("error", &error)], "The spool could not be read; it is tried again.");
                self.progress.failed("spool", error.to_string());
                return Ok(vec![self.requests(Vec::new(), false)]);
            }
            Ok(batch) => batch,
        };
        match &batch.fault {
            None => self.progress.recovered("spool"),
            Some(error) => {
                log::warn("drain", &[("error", error)], "An entry could not be taken; it is tried again.");
                self.progress.failed("spool", error.to_string());
            }
        }
        self.progress.odd(batch.odd);
        for id in &batch.refused {
            let error = Some("the drainer could not read the command; spool/odd says why".to_owned());
            self.reply(id, &home.spool_odd().join(id), &Reply { error, ..Reply::default() });
        }
        self.newer.extend(batch.newer);
        let more = batch.claimed.len() >= CLAIM || !self.backlog.is_empty();
        let mut list = Vec::new();
        let mut events = Vec::new();
        let mut seen = BTreeSet::new();
        for claimed in batch.claimed {
            match claimed {
                Claimed::Event(path, entry) => self.event(path, *entry, &mut seen, &mut list)?,
                Claimed::Command(path, command) => events.extend(self.command(path, command, &mut list)?),
            }
        }
        events.push(self.requests(list, more));
        Ok(events)
    }

    fn event(
        &mut self,
        path: PathBuf,
        entry: Entry,
        seen: &mut BTreeSet<PathBuf>,
        list: &mut Vec<Request>,
    ) -> Result<(), DrainError> {
        if !roots::holds(&self.options.roots, &entry) {
            let odd = Odd::new("it names a transcript outside of the transcript roots (`transcripts.roots`)");
            log::warn(
                "drain",
                &[("session", &entry.session)],
                "An event names a path outside of the transcript roots.",
            );
            self.progress.odd(1);
            return Ok(spool::quarantine(&self.options.home, &path, &odd)?);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ended = entry.event == "session-end";
        list.push(Request {
            path: entry.transcript.clone(),
            entry: Some(name.clone()),
            last_line: ended,
            look_again: is_fresh(&entry),
            ..Request::default()
        });
        if let Some(own) = entry.agent.as_ref().and_then(|a| a.transcript.clone())
            && own.is_file()
        {
            list.push(Request { path: own, last_line: entry.event == "subagent-stop", ..Request::default() });
        }
        if seen.insert(entry.transcript.clone()) {
            list.extend(self.beside(&entry.transcript, ended)?);
        }
        self.claims.insert(name, (path, entry));
        Ok(())
    }

    /// Removes what processes left that died: hooks in `spool/tmp`, drainers beside the files they replaced.
    fn sweep_leftovers(&self) {
        let home = &self.options.home;
        let pointers = spool::sweep_tmp(home);
        // A launch waits ten minutes for its subagent; a session that nobody has resumed for so long is told anew.
        // An answer that nobody waited for lies there for ever.
        let records = [
            (home.launches(), LAUNCHES_AGE_MS),
            (home.shown(), SHOWN_AGE_MS),
            (home.replies(), REPLIES_AGE_MS),
        ];
        let records = records.map(|(dir, age_ms)| match fs::remove_leftovers(&dir, age_ms, |_| true) {
            Err(error) if !error.is_missing() => Err(error),
            _ => Ok(0),
        });
        let others = [home.state(), home.replies(), home.shown(), home.index()].into_iter().map(|dir| {
            match fs::remove_leftovers(&dir, LEFTOVER_AGE_MS, fs::is_replacement) {
                Err(error) if error.is_missing() => Ok(0),
                removed => removed,
            }
        });
        match [pointers].into_iter().chain(records).chain(others).sum::<Result<u64, _>>() {
            Ok(0) => {}
            Ok(files) => {
                log::info("drain", &[("files", &files)], "Files were removed that dead processes had left.");
            }
            Err(error) => log::warn("drain", &[("error", &error)], "A leftover could not be removed."),
        }
    }

    /// Takes away what the settings say is too old or too much, once a day.
    fn retain_daily(&self) {
        let rules = Settings::read(None).retain();
        let note = self.options.home.retained();
        let age_ms = fs::age_ms(&note).unwrap_or(i64::MAX);
        if rules.is_empty() || !matches!(self.options.mode, Mode::Serve { .. }) || age_ms < DAY_MS {
            return;
        }
        match Ask::parse("retain", &serde_json::json!({ "rules": rules })) {
            Some(Ok(ask)) => {
                // Nobody waits for the answer.
                self.asks.send((String::new(), ask)).ok();
            }
            _ => log::warn("drain", &[], "The rules of retention could not be read."),
        }
        if let Err(error) = fs::touch(&note) {
            log::warn("drain", &[("error", &error)], "Retention will be tried again soon.");
        }
    }

    /// The session's other files, where they have grown.
    fn beside(&self, transcript: &Path, last_line: bool) -> Result<Vec<Request>, DrainError> {
        let mut list = Vec::new();
        for path in store::transcripts_beside(transcript) {
            if sweep::is_behind(&path, self.store.file(&path)?.as_ref()) {
                list.push(Request { path, last_line, ..Request::default() });
            }
        }
        Ok(list)
    }

    fn command(
        &mut self,
        path: PathBuf,
        command: spool::Command,
        list: &mut Vec<Request>,
    ) -> Result<Vec<Event>, DrainError> {
        let before = self.figures()?;
        let files = match command.verb.as_str() {
            "import" => sweep::named(&command.paths),
            "rebuild" => {
                let asked = Asked { rebuild: true, ..Asked::default() };
                self.commands.insert(command.id.clone(), (path, asked));
                self.order(Order::Rebuild(command.id))?;
                return Ok(Vec::new());
            }
            "stop" => {
                self.reply(&command.id, &path, &Reply::default());
                // As when the binary was replaced: what is in work is finished, what waits is left to the next drainer.
                return Ok(vec![Event::Replaced]);
            }
            verb => {
                let unknown = || Err(format!("this version knows no command {verb}"));
                match Ask::parse(verb, &command.what).unwrap_or_else(unknown) {
                    Ok(ask) => {
                        self.commands.insert(command.id.clone(), (path, Asked::default()));
                        // Closed: the drainer ends, and the next one finds the command.
                        self.asks.send((command.id, ask)).ok();
                    }
                    Err(error) => {
                        let reply = Reply { error: Some(error), ..Reply::default() };
                        self.reply(&command.id, &path, &reply);
                    }
                }
                return Ok(Vec::new());
            }
        };
        let asked = Asked {
            files: files.len() as u64,
            observations: before.observations,
            documents: before.documents,
            odd: self.progress.odd_found(),
            passed: self.progress.passed_files(),
            ..Asked::default()
        };
        if let Some(id) = &command.project {
            let known = self.store.projects()?.into_iter().find(|p| p.id == *id);
            let name = id.rsplit_once('-').map_or(id.as_str(), |(name, _)| name).to_owned();
            let project = match known {
                Some(p) => {
                    Project { id: p.id, name: p.name, remote: p.remote, root: p.directory.into(), mark: None }
                }
                None => Project { id: id.clone(), name, remote: None, root: PathBuf::new(), mark: None },
            };
            self.given.extend(files.iter().map(|path| (path.clone(), project.clone())));
        }
        let event = Event::Command { id: command.id.clone(), files: files.len() };
        list.extend(files.into_iter().map(|path| Request {
            path,
            command: Some(command.id.clone()),
            last_line: true,
            ..Request::default()
        }));
        self.commands.insert(command.id, (path, asked));
        Ok(vec![event])
    }

    /// Asks the publisher; the answer comes by the loop, which beats and listens to signals meanwhile.
    pub(super) fn order(&self, order: Order) -> Result<(), DrainError> {
        let sent = self.orders.as_ref().is_some_and(|orders| orders.send(order).is_ok());
        if sent {
            Ok(())
        } else {
            Err(DrainError::Start("the publisher has ended; see log/drain.log".to_owned()))
        }
    }

    /// All that a command asked for is stored: it is answered once that is published.
    pub(super) fn answer(&self, id: &str) -> Result<(), DrainError> {
        if self.commands.contains_key(id) { self.order(Order::Flush(id.to_owned())) } else { Ok(()) }
    }

    /// The writer is done with what a person asked: it is published, then answered.
    pub(super) fn told(&mut self, id: String, done: Result<Done, String>) -> Result<(), DrainError> {
        match self.keep_reply(&id, done) {
            Ok(true) => self.order(Order::Scrub(id)),
            Ok(false) => self.order(Order::Flush(id)),
            Err(error) => {
                self.answered(&id, Err(error));
                Ok(())
            }
        }
    }

    /// Keeps what the writer says until it is published. Returns whether old bytes are to leave the index.
    pub(super) fn keep_reply(&mut self, id: &str, done: Result<Done, String>) -> Result<bool, String> {
        let done = done?;
        if let Some((_, asked)) = self.commands.get_mut(id) {
            asked.reply = Some(done.reply);
        }
        Ok(done.scrub)
    }

    /// The publisher is done with an order.
    pub(super) fn answered(&mut self, id: &str, done: Result<(), String>) {
        let Some((path, asked)) = self.commands.remove(id) else { return };
        let error = done.err();
        let reply = if let Some(reply) = asked.reply {
            Reply { error, ..reply }
        } else if asked.rebuild {
            Reply { documents: self.progress.index().1, error, ..Reply::default() }
        } else {
            let now = self.figures().unwrap_or_default();
            Reply {
                files: asked.files,
                observations: now.observations.saturating_sub(asked.observations),
                documents: now.documents.saturating_sub(asked.documents),
                odd: self.progress.odd_found().saturating_sub(asked.odd),
                passed: self.progress.passed_files().saturating_sub(asked.passed),
                error,
                ..Reply::default()
            }
        };
        self.reply(id, &path, &reply);
    }

    fn reply(&self, id: &str, path: &Path, reply: &Reply) {
        let done = answer(&self.options.home, id, reply).and_then(|()| fs::remove(path));
        if let Err(error) = done {
            log::warn("drain", &[("error", &error)], "A command could not be answered.");
        }
    }

    pub(super) fn look(&self, path: &Path) -> Result<Event, DrainError> {
        let mut list = self.beside(path, false)?;
        if sweep::is_behind(path, self.store.file(path)?.as_ref()) {
            list.push(Request { path: path.to_path_buf(), ..Request::default() });
        }
        Ok(self.requests(list, false))
    }

    pub(super) fn sweep(&mut self) -> Result<Event, DrainError> {
        self.sweep_leftovers();
        self.retain_daily();
        self.progress.recovered("read");
        let known = self.store.files()?;
        let mut found = BTreeSet::new();
        for root in self.options.roots.clone() {
            // A long look is work, too.
            found.extend(store::transcripts_beating(&root, &mut || self.beat()));
        }
        // What a repaired store knows of and has not read lies anywhere.
        let unread =
            known.paths().iter().filter(|(path, state)| **state == FileState::default() && path.is_file());
        found.extend(unread.map(|(path, _)| path.clone()));
        let gone: Vec<PathBuf> =
            known.paths().keys().filter(|path| !found.contains(*path) && !path.exists()).cloned().collect();
        let behind = sweep::behind(found.into_iter().collect(), &known);
        self.expect(&behind);
        let list =
            behind.into_iter().chain(gone).map(|path| Request { path, ..Request::default() }).collect();
        Ok(self.requests(list, false))
    }
}
