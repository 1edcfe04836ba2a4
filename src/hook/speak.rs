//! Recall in a hook: reads the published index, prints one reply or nothing.

use super::args::{self, Args};
use super::wire::Payload;
use super::{Event, SettingsOf, tool, watchdog};
use crate::config::{Capture, Home, Passed, ProjectMap, Secret, Settings, Tools};
use crate::recall::{self, Inject, Moment, Said};
use crate::{id, log, step};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A recall that is still inside a step so long after its deadline is stuck.
const LEEWAY: Duration = Duration::from_millis(200);

/// Prints the help that a person asked for.
pub(super) fn help() -> u8 {
    let mut out = std::io::stdout().lock();
    // A closed stdout: then nobody reads it.
    drop(out.write_all(args::HELP.as_bytes()).and_then(|()| out.flush()));
    0
}

/// What an event is answered with.
#[derive(Default)]
pub(super) struct Told {
    /// For the assistant.
    pub context: Option<String>,
    /// Why the call is not to be made now.
    pub deny: Option<String>,
    /// The same for the user, where the settings want it shown.
    pub copy: Option<String>,
}

/// What past sessions know that bears on this event. Every fault ends in no context and a log line.
pub(super) fn compose(
    home: &Home,
    args: &Args,
    payload: &Payload,
    settings: &mut SettingsOf,
) -> Option<Told> {
    step::poison("hook::compose", args.event.name().as_bytes());
    let session = payload.session_id.as_deref()?;
    let secret = match Secret::read(home) {
        Ok(secret) => secret?,
        Err(error) => {
            log::warn("hook", &[("error", &error)], "Nothing is recalled: the local secret cannot be read.");
            return None;
        }
    };
    let directory = directory(args, payload)?;
    let settings = settings.read(&directory);
    if !settings.recall_enabled() {
        return None;
    }
    // Recall has a deadline of its own, and looks at it between its steps; this one is for a step that does not return.
    let _watchdog = watchdog::set(settings.recall_deadline() + LEEWAY);
    let moment = moment(args.event, payload, settings, &directory)?;
    let project = project(home, &directory, &secret);
    let capture = Capture::of(settings);
    let excluded = capture.passes(&directory, || Some(secret.clone())) == Some(Passed::Excluded);
    if excluded || capture.names(&project) {
        return None;
    }
    let key = event_key(args.event, payload);
    let inject = Inject {
        home,
        settings,
        secret: &secret,
        project: &project,
        session,
        event_key: &key,
        prompt: payload.prompt_id.as_deref(),
        agent: payload.agent_id.as_deref(),
        call: payload.tool_use_id.as_deref(),
        moment,
    };
    let context = match recall::inject(&inject)? {
        Said::Context(context) => context,
        Said::Deny(reason) => return Some(Told { context: None, deny: Some(reason), copy: None }),
    };
    let shown = args.event == Event::SessionStart && settings.show_brief();
    // The user needs no fence, and the model none of this.
    let copy = shown.then(|| context.lines().filter(|line| !is_fence(line)).collect::<Vec<_>>().join("\n"));
    Some(Told { context: Some(context), deny: None, copy })
}

/// No line of a note begins like one: what looks like markup in it is neutralised.
fn is_fence(line: &str) -> bool {
    line.starts_with("<sinker-memory-") || line.starts_with("</sinker-memory-")
}

/// What the event asks; `None`: nothing, and then nothing is said.
fn moment(event: Event, payload: &Payload, settings: &Settings, directory: &Path) -> Option<Moment> {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    match event {
        Event::SessionStart => Some(Moment::SessionStart { source: text(&payload.source) }),
        Event::UserPromptSubmit => {
            let text = payload.prompt.clone().filter(|prompt| !is_host_message(prompt))?;
            Some(Moment::Prompt { text })
        }
        Event::UserPromptExpansion => {
            let parts = [&payload.command_name, &payload.command_args, &payload.prompt];
            let parts: Vec<&str> = parts.into_iter().filter_map(|part| part.as_deref()).collect();
            (!parts.is_empty()).then(|| Moment::Prompt { text: parts.join(" ") })
        }
        Event::SubagentStart => {
            payload.agent_id.as_ref()?;
            let kind = payload.agent_type.clone()?;
            (settings.tools() != Tools::Off).then_some(Moment::SubagentStart { kind })
        }
        event if event.is_of_tool() => {
            let moment = tool::moment(event, payload, settings.tools(), directory)?;
            tool::look(moment, payload, settings.read_gate())
        }
        _ => None,
    }
}

/// The host's project directory variable, else the argument written by install, else the payload's cwd.
fn directory(args: &Args, payload: &Payload) -> Option<PathBuf> {
    let variable = std::env::var_os("CLAUDE_PROJECT_DIR").filter(|v| !v.is_empty()).map(PathBuf::from);
    variable.or_else(|| args.project.clone()).or_else(|| payload.cwd.as_ref().map(PathBuf::from))
}

/// The id of the directory's project, from the published map, else by walking up once.
fn project(home: &Home, directory: &Path, secret: &Secret) -> String {
    ProjectMap::read(home).of(directory, secret)
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
        text(&part(&payload.agent_id)),
        text(&part(&payload.tool_use_id)),
        // Two calls of one turn, where the host gives them no ids.
        text(&part(&payload.tool_name)),
        text(payload.tool_input.gist.text()),
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
