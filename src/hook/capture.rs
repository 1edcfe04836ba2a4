//! Capture: one pointer file, and nothing else (D1).

use super::wire::Payload;
use super::{Event, SettingsOf};
use crate::clock;
use crate::config::{self, Capture, Home, Secret, Settings};
use crate::fs::{FsError, Sync};
use crate::spool::{self, Agent, Entry};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Why an event left no pointer.
#[derive(Debug, thiserror::Error)]
pub(super) enum CaptureError {
    /// The payload lacks what makes a pointer.
    #[error("the payload has no {0}")]
    Missing(&'static str),
    /// The transcript's path cannot be that of a transcript.
    #[error("its transcript {0}")]
    Path(&'static str),
    /// The spool could not be written.
    #[error("{0} (check the permissions and the free space there)")]
    Spool(#[from] FsError),
}

impl CaptureError {
    /// The event was understood, and the fault lies on our side.
    pub(super) fn is_ours(&self) -> bool {
        matches!(self, Self::Spool(_))
    }
}

/// Publishes the pointer of one event; false when the settings say that nothing of it is to be stored. Errors: [`CaptureError`]; then nothing is in `spool/new`.
pub(super) fn capture(
    home: &Home,
    event: Event,
    payload: &Payload,
    settings: &mut SettingsOf,
) -> Result<bool, CaptureError> {
    let session = payload.session_id.clone().ok_or(CaptureError::Missing("session_id"))?;
    let transcript = payload.transcript_path.as_deref().ok_or(CaptureError::Missing("transcript_path"))?;
    let transcript = plain_path(transcript)?;
    if is_passed_over(home, payload, settings) {
        return Ok(false);
    }
    let cursor = size(&transcript)?;
    let agent = match &payload.agent_id {
        // The nameless agent of a compaction names a file that never exists: absent is normal, too.
        Some(id) => Some(Agent {
            id: id.clone(),
            kind: payload.agent_type.clone().unwrap_or_default(),
            transcript: payload.agent_transcript_path.as_deref().map(plain_path).transpose()?,
        }),
        None => None,
    };
    if let Some(own) = agent.as_ref().and_then(|a| a.transcript.as_ref()) {
        size(own)?;
    }
    let reason = match event {
        // The kind of an API error; the text of a failed tool is content and stays out.
        Event::StopFailure => payload.error.clone(),
        _ => payload.reason().map(str::to_owned),
    };
    let entry = Entry {
        v: spool::FORMAT,
        host: "claude".to_owned(),
        event: event.name().to_owned(),
        session,
        transcript,
        cursor,
        cwd: payload.cwd.as_ref().filter(|d| !d.is_empty()).map(PathBuf::from),
        project_dir: project_dir(),
        root: other_root(),
        agent,
        tool: payload.tool_name.clone(),
        tool_use: payload.tool_use_id.clone(),
        prompt: payload.prompt_id.clone(),
        reason: reason.map(|r| r.chars().take(64).collect()),
        stop_hook_active: payload.stop_hook_active,
        time: clock::format(clock::now()),
    };
    spool::publish(home, &entry, if event.synced() { Sync::Yes } else { Sync::No })?;
    Ok(true)
}

/// Nothing of this project is to be stored: then nothing is noted either. Without a word on capture in any settings it costs a few looks for
/// files that are not there.
fn is_passed_over(home: &Home, payload: &Payload, settings: &mut SettingsOf) -> bool {
    let Some(directory) = project_dir().or_else(|| payload.cwd.as_ref().map(PathBuf::from)) else {
        return false;
    };
    if !Settings::speak_of_capture(Some(&directory)) {
        return false;
    }
    let capture = Capture::of(settings.read(&directory));
    capture.passes(&directory, || Secret::read(home).ok().flatten()).is_some()
}

/// The host's project directory variable. What is not UTF-8 in it is replaced: an entry is JSON.
fn project_dir() -> Option<PathBuf> {
    let value = std::env::var_os("CLAUDE_PROJECT_DIR").filter(|v| !v.is_empty())?;
    Some(PathBuf::from(value.to_string_lossy().into_owned()))
}

/// Where the host keeps its transcripts when a variable tells it where: a drainer may have been started without it.
fn other_root() -> Option<PathBuf> {
    std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty())?;
    config::host_root().filter(|root| root.to_str().is_some())
}

/// Accepts an absolute path without `..`; it is not opened.
fn plain_path(text: &str) -> Result<PathBuf, CaptureError> {
    let path = Path::new(text);
    // Its words are not repeated: a path is foreign text, and the log is a file.
    let refuse = |why| Err(CaptureError::Path(why));
    if !path.is_absolute() {
        return refuse("is not an absolute path");
    }
    if text.contains('\0') || path.components().any(|c| c == Component::ParentDir) {
        return refuse("is not a plain path");
    }
    Ok(path.to_path_buf())
}

/// The size of a regular file, 0 when there is none yet; a link, a FIFO, a device or a folder is refused without being opened.
fn size(path: &Path) -> Result<u64, CaptureError> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_file() => Ok(meta.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Ok(_) => Err(CaptureError::Path("is not a regular file")),
        Err(_) => Err(CaptureError::Path("cannot be looked at")),
    }
}
