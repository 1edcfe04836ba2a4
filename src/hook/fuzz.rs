//! The way in for the fuzz targets: what a hook reads of its stdin, without a process.

use super::wire::{Source, WireError, read};

struct Pieces<'a> {
    left: &'a [u8],
    most: usize,
}

impl Source for Pieces<'_> {
    fn read(&mut self, block: &mut Vec<u8>) -> Result<(), WireError> {
        let n = self.most.min(block.capacity()).min(self.left.len());
        let (now, later) = self.left.split_at(n);
        block.clear();
        block.extend_from_slice(now);
        self.left = later;
        Ok(())
    }
}

/// Reads a payload that comes in pieces of at most `most` bytes. The host's names of the fields, each with its value where it
/// was a string; `None` when the payload cannot be used.
pub fn payload(bytes: &[u8], most: usize) -> Option<Vec<(&'static str, Option<String>)>> {
    let payload = read(Pieces { left: bytes, most }, true).ok()?;
    Some(vec![
        ("session_id", payload.session_id),
        ("transcript_path", payload.transcript_path),
        ("agent_transcript_path", payload.agent_transcript_path),
        ("cwd", payload.cwd),
        ("source", payload.source),
        ("trigger", payload.trigger),
        ("reason", payload.end_reason),
        ("error", payload.error),
        ("prompt_id", payload.prompt_id),
        ("prompt", payload.prompt),
        ("agent_id", payload.agent_id),
        ("agent_type", payload.agent_type),
        ("tool_name", payload.tool_name),
        ("tool_use_id", payload.tool_use_id),
        ("command_name", payload.command_name),
        ("command_args", payload.command_args),
        ("stop_hook_active", payload.stop_hook_active.then(|| "true".to_owned())),
    ])
}
