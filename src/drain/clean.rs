//! The choke point: an observation leaves here redacted, or not at all (D8). Nothing else in the crate makes a [`store::Observation`].

use crate::redact::{Redactor, Report};
use crate::store::{self, Block, cap_text};
use crate::transcript;
use crate::{clock, id, index};

/// Where an observation lies in its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// Names the file by its content, for a record that has no uuid.
    pub file_mark: &'a str,
    /// First byte of the line.
    pub at: u64,
    /// The latest time seen in the file so far, milliseconds.
    pub at_ms: i64,
}

/// Redacts one observation. The session's row is filled in by the writer.
pub(super) fn clean(
    raw: transcript::Observation,
    place: Place<'_>,
    redactor: &Redactor,
    report: &mut Report,
) -> store::Observation {
    let mut say = |text: String| match redactor.clean(&text, report) {
        std::borrow::Cow::Borrowed(_) => cap_text(text),
        std::borrow::Cow::Owned(cleaned) => cap_text(cleaned),
    };
    let time_ms = raw.timestamp.as_deref().and_then(clock::parse).map(|t| t.0);
    let id = identity(&raw, place);
    let blocks: Vec<Block> = raw.blocks.into_iter().map(|block| clean_block(block, &mut say)).collect();
    let (speaker, scored) = (raw.speaker.name(), !raw.is_summary);
    let mut terms: Vec<String> =
        store::telling(speaker, scored, &blocks).flat_map(index::tokens::terms).collect();
    terms.sort_unstable();
    terms.dedup();
    store::Observation {
        id,
        host: "claude".to_owned(),
        session: 0,
        agent: say(raw.agent),
        speaker,
        time: raw.timestamp.map(&mut say),
        time_ms,
        at_ms: place.at_ms,
        at: place.at,
        record: raw.uuid.map(&mut say),
        parent: raw.parent.map(&mut say),
        message: raw.message_id.map(&mut say),
        prompt: raw.prompt_id.map(&mut say),
        is_prompt: raw.is_prompt && !is_withheld(&blocks),
        scored,
        command: raw.command.map(|(name, args)| (say(name), say(args))),
        blocks,
        terms,
    }
}

/// A prompt that is wholly private, or wholly our own context come back, begins no turn.
fn is_withheld(blocks: &[Block]) -> bool {
    !blocks.is_empty()
        && blocks.iter().all(|block| match block {
            Block::Text { t } => {
                let t = t.trim();
                t.is_empty()
                    || (t.starts_with("[redacted:private:")
                        && t.matches('[').count() == 1
                        && t.ends_with(']'))
            }
            _ => false,
        })
}

fn clean_block(block: transcript::Block, say: &mut dyn FnMut(String) -> String) -> Block {
    match block {
        transcript::Block::Text(text) => Block::Text { t: say(text) },
        transcript::Block::Thinking(text) => Block::Think { t: say(text) },
        transcript::Block::ToolUse { id, name, input, file, command } => Block::Use {
            id: say(id),
            name: say(name),
            t: say(input),
            file: file.map(&mut *say),
            cmd: command.map(say),
        },
        transcript::Block::ToolResult { id, text, failed, exit, interrupted } => {
            Block::Result { id: say(id), t: say(text), failed, exit, interrupted }
        }
        transcript::Block::Media { media_type, bytes, sha256 } => {
            Block::Media { media: say(media_type), bytes, sha: sha256 }
        }
        transcript::Block::Other { kind, json } => Block::Other { kind: say(kind), t: say(json) },
    }
}

/// `o-` and 32 hex of host, uuid and timestamp: uuids alone are not unique. A record without a uuid is known by file and position.
fn identity(raw: &transcript::Observation, place: Place<'_>) -> String {
    let at = place.at.to_le_bytes();
    let time = raw.timestamp.as_deref().unwrap_or_default().as_bytes();
    let hash = match &raw.uuid {
        Some(uuid) => id::hash(&[b"claude", uuid.as_bytes(), time]),
        None => id::hash(&[b"claude", b"at", place.file_mark.as_bytes(), &at, time]),
    };
    format!("o-{}", id::short(&hash, 32))
}
