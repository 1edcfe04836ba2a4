//! Follows a tool's result into the file that the host moved it to: `<session>/tool-results/<name>` beside the transcript, and nowhere else.
//!
//! The transcript names the file by a whole path. Only its last part is believed; the rest is known from where the transcript lies. No link
//! is followed, and what is no regular file is left alone.

use crate::fs;
use crate::store::PERSISTED;
use crate::transcript::{Block, Text, read_text};
use std::path::{Path, PathBuf};

/// A result that lies in a file.
pub(super) struct Moved {
    /// The call's id.
    pub call: String,
    /// The file's name, where the result says one.
    pub name: Option<String>,
}

/// Says whether a result lies in a file.
pub(super) fn moved(block: &Block) -> Option<Moved> {
    let Block::ToolResult { id, text, .. } = block else { return None };
    if !text.starts_with(PERSISTED) {
        return None;
    }
    let path = text.split_once("saved to: ").map(|(_, rest)| rest.lines().next().unwrap_or_default());
    let name = path.and_then(|path| path.trim().rsplit(['/', '\\']).next());
    let name = name.filter(|name| !name.is_empty() && *name != "..").map(str::to_owned);
    Some(Moved { call: id.clone(), name })
}

/// Reads the file of a result, raw; `None` when it is not there, or is nothing that may be read.
pub(super) fn follow(transcript: &Path, name: &str) -> Option<Text> {
    let folder = session_folder(transcript)?;
    let session = folder.file_name()?.to_str()?;
    let file = fs::open_beneath(folder.parent()?, &[session, "tool-results", name]).ok()?;
    read_text(&file).ok()
}

/// The folder of the session: named like its transcript, or the one that holds its subagents.
fn session_folder(transcript: &Path) -> Option<PathBuf> {
    let above = transcript.ancestors().find(|path| path.file_name().is_some_and(|name| name == "subagents"));
    match above {
        Some(subagents) => subagents.parent().map(Path::to_path_buf),
        None => Some(transcript.with_extension("")),
    }
}
