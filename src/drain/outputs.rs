//! Follows a tool's result into the file that the host moved it to: `<session>/tool-results/<name>` beside the transcript, and nowhere else.
//!
//! The transcript names the file by a whole path. Only its last part is believed; the rest is known from where the transcript lies. No link
//! is followed, and what is no regular file is left alone.

use crate::fs;
use crate::store::PERSISTED;
use crate::transcript::{Block, Text, read_text};
use std::path::{Path, PathBuf};

/// What came of a result that lies in a file.
pub(super) enum Followed {
    /// The file's text, raw.
    Text(Text),
    /// It is not there, or is nothing that may be read.
    Missing,
}

/// Reads the file of a result; `None` for a result that lies in no file. Returns the call's id with it.
pub(super) fn follow(transcript: &Path, block: &Block) -> Option<(String, Followed)> {
    let Block::ToolResult { id, text, .. } = block else { return None };
    if !text.starts_with(PERSISTED) {
        return None;
    }
    let name = text.split_once("saved to: ").map(|(_, rest)| rest.lines().next().unwrap_or_default());
    let found = name.and_then(|path| {
        let name = path.trim().rsplit(['/', '\\']).next().filter(|name| !name.is_empty() && *name != "..")?;
        let folder = session_folder(transcript)?;
        let session = folder.file_name()?.to_str()?;
        let file = fs::open_beneath(folder.parent()?, &[session, "tool-results", name]).ok()?;
        read_text(&file).ok()
    });
    Some((id.clone(), found.map_or(Followed::Missing, Followed::Text)))
}

/// The folder of the session: named like its transcript, or the one that holds its subagents.
fn session_folder(transcript: &Path) -> Option<PathBuf> {
    let above = transcript.ancestors().find(|path| path.file_name().is_some_and(|name| name == "subagents"));
    match above {
        Some(subagents) => subagents.parent().map(Path::to_path_buf),
        None => Some(transcript.with_extension("")),
    }
}
