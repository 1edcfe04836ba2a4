//! Recall in a hook: reads the published index, prints one reply or nothing.

use super::args::{self, Args};
use super::wire::Payload;
use super::{Event, reply, watchdog};
use crate::config::{self, Home, ProjectMap, Secret, Settings};
use crate::recall::{self, Inject, Moment};
use crate::{id, log};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A recall that is still inside a step so long after its deadline is stuck.
const LEEWAY: Duration = Duration::from_millis(200);

/// Prints what past sessions know that bears on this event. Every fault ends in no context and a log line.
pub(super) fn speak(home: &Home, args: &Args, payload: &Payload) {
    let Some(text) = compose(home, args, payload) else { return };
    let reply = reply::context(args.event, &text);
    // The whole reply is one write: the host takes half a JSON as plain text. A closed stdout is the host's wish.
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_all(reply.as_bytes()).and_then(|()| out.flush()) {
        log::info("hook", &[("error", &error)], "The host did not take the reply.");
    }
}

/// Prints the help that a person asked for.
pub(super) fn help() -> u8 {
    let mut out = std::io::stdout().lock();
    // A closed stdout: then nobody reads it.
    drop(out.write_all(args::HELP.as_bytes()).and_then(|()| out.flush()));
    0
}

fn compose(home: &Home, args: &Args, payload: &Payload) -> Option<String> {
    let session = payload.session_id.as_deref()?;
    let secret = match Secret::read(home) {
        Ok(secret) => secret?,
        Err(error) => {
            log::warn("hook", &[("error", &error)], "Nothing is recalled: the local secret cannot be read.");
            return None;
        }
    };
    let directory = directory(args, payload)?;
    let project = project(home, &directory, &secret);
    let settings = Settings::read(Some(&directory));
    if !settings.recall_enabled() {
        return None;
    }
    // Recall has a deadline of its own, and looks at it between its steps; this one is for a step that does not return.
    let _watchdog = watchdog::set(settings.recall_deadline() + LEEWAY);
    let source = payload.source.as_deref().unwrap_or_default();
    let moment = match args.event {
        Event::SessionStart => Moment::SessionStart { source: source.to_owned() },
        Event::UserPromptSubmit => {
            let prompt = payload.prompt.clone()?;
            if is_host_message(&prompt) {
                return None;
            }
            Moment::UserPrompt { prompt }
        }
        _ => return None,
    };
    let key = event_key(args.event, payload);
    let inject = Inject {
        home,
        settings: &settings,
        secret: &secret,
        project: &project,
        session,
        event_key: &key,
        moment,
    };
    recall::inject(&inject)
}

/// The host's project directory variable, else the argument written by install, else the payload's cwd.
fn directory(args: &Args, payload: &Payload) -> Option<PathBuf> {
    let variable = std::env::var_os("CLAUDE_PROJECT_DIR").filter(|v| !v.is_empty()).map(PathBuf::from);
    variable.or_else(|| args.project.clone()).or_else(|| payload.cwd.as_ref().map(PathBuf::from))
}

/// The id of the directory's project, from the published map, else by walking up once.
fn project(home: &Home, directory: &Path, secret: &Secret) -> String {
    let map = ProjectMap::read(home);
    map.get(directory).map_or_else(|| config::identify(directory, secret).id, str::to_owned)
}

/// Names one delivery: the same event delivered again has the same key, and gets the same bytes (D15).
fn event_key(event: Event, payload: &Payload) -> String {
    let part = |field: &Option<String>| field.clone().unwrap_or_default();
    let text = |s: &str| s.to_owned().into_bytes();
    // One turn may be compacted more than once: the transcript has grown in between.
    let compaction = match payload.source.as_deref() {
        Some("compact") => transcript_size(payload).to_string(),
        _ => String::new(),
    };
    let parts = [
        text(event.name()),
        text(&part(&payload.session_id)),
        text(&part(&payload.prompt_id)),
        text(payload.reason().unwrap_or_default()),
        text(&part(&payload.prompt)),
        text(&compaction),
    ];
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    id::short(&id::hash(&parts), 16).to_owned()
}

fn transcript_size(payload: &Payload) -> u64 {
    let path = payload.transcript_path.as_deref().map(Path::new);
    path.and_then(|path| path.symlink_metadata().ok()).map_or(0, |meta| meta.len())
}

/// Texts that arrive as prompts but that no person wrote (host facts, sections 1.3 and 5.2).
fn is_host_message(prompt: &str) -> bool {
    const HOST: [&str; 7] = [
        "<task-notification>",
        "<local-command-",
        "<command-name>",
        "<command-message>",
        "<bash-",
        "<system-reminder>",
        "[Request interrupted by user",
    ];
    let prompt = prompt.trim_start();
    prompt.is_empty() || HOST.iter().any(|head| prompt.starts_with(head))
}
