//! The choke point: an observation leaves here redacted, or not at all (D8). Nothing else in the crate makes a [`store::Observation`].

use crate::redact::{Redactor, Report, ends_private, may_begin_private};
use crate::store::{self, Block, cap_text};
use crate::transcript::{self, MARGIN_BYTES, Piece};
use crate::{clock, id, index};
use std::borrow::Cow;

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
    let mut say = |text: String| say(text, redactor, report);
    let time_ms = raw.timestamp.as_deref().and_then(clock::parse).map(|t| t.0);
    let id = identity(&raw, place);
    let mut blocks = raw.blocks;
    keep_private_across(&mut blocks);
    let blocks: Vec<Block> = blocks.into_iter().map(|block| clean_block(block, &mut say)).collect();
    let (speaker, scored) = (raw.speaker.name(), !raw.is_summary && !is_question_to_us(&blocks));
    let mut terms: Vec<String> =
        store::telling(speaker, scored, &blocks).flat_map(index::tokens::terms).collect();
    terms.sort_unstable();
    terms.dedup();
    let terms = terms.join(" ");
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
        model: raw.model.map(&mut say),
        prompt: raw.prompt_id.map(&mut say),
        is_prompt: raw.is_prompt && !is_withheld(&blocks),
        scored,
        command: raw.command.map(|(name, args)| (say(name), say(args))),
        blocks,
        terms,
    }
}

/// A private span that one block begins may end in another: an image was pasted in between.
fn keep_private_across(blocks: &mut [transcript::Block]) {
    let mut open = false;
    for block in blocks {
        if let transcript::Block::Text(text) = block {
            if open {
                text.insert_str(0, PRIVATE);
            }
            open = ends_private(text);
        }
    }
}

/// What a part is begun with that lies within a span.
const PRIVATE: &str = "<private>";

/// Redacts the text of a file that a result of an observation lies in.
pub(super) fn clean_output(
    observation: &str,
    call: String,
    found: transcript::Text,
    redactor: &Redactor,
    report: &mut Report,
) -> store::Output {
    let transcript::Text { text, bytes, sha256 } = found;
    let call = say(call, redactor, report);
    store::Output {
        observation: observation.to_owned(),
        call,
        text: say(text, redactor, report),
        bytes,
        sha256,
    }
}

/// Redacts a text, then cuts it. One that was cut already, because nobody could hold it, is redacted piece by piece, margins included.
fn say(text: String, redactor: &Redactor, report: &mut Report) -> String {
    let pieces = transcript::pieces(&text);
    if let [Piece::Text(..)] = pieces.as_slice() {
        return match redactor.clean(&text, report) {
            Cow::Borrowed(_) => cap_text(text),
            Cow::Owned(cleaned) => cap_text(cleaned),
        };
    }
    let mut out = String::new();
    let mut open = false;
    for piece in pieces {
        match piece {
            Piece::Cut(bytes, sha256) => {
                out.push_str(&format!("\n[… a part of {bytes} bytes left out, sha256 {sha256} …]\n"));
            }
            Piece::Text(text, behind_cut, before_cut) => {
                // 1. A span begins. 2. It is cut. 3. Behind the cut nothing says that it is private: so what may lie in one is begun as one.
                let inside = behind_cut && (open || may_begin_private(text));
                let text = if inside { Cow::Owned(format!("{PRIVATE}{text}")) } else { Cow::Borrowed(text) };
                open = ends_private(&text);
                let cleaned = redactor.clean(&text, report);
                let mut kept = cleaned.as_ref();
                if behind_cut {
                    kept = drop_start(kept);
                }
                if before_cut && text.len() >= MARGIN_BYTES {
                    kept = drop_end(kept);
                }
                out.push_str(kept);
            }
        }
    }
    cap_text(out)
}

/// Leaves off a margin, and the rest of the word that lies across its end.
fn drop_start(text: &str) -> &str {
    let from = (MARGIN_BYTES..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let rest = text.get(from..).unwrap_or_default();
    rest.find(char::is_whitespace).and_then(|at| rest.get(at..)).unwrap_or_default()
}

fn drop_end(text: &str) -> &str {
    let to = text.len().saturating_sub(MARGIN_BYTES);
    let to = (0..=to).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let rest = text.get(..to).unwrap_or_default();
    rest.rfind(char::is_whitespace).and_then(|at| rest.get(..at)).unwrap_or_default()
}

/// A call of our own tools: scored, the words of a question would be the best answer to the same question asked again (D14).
fn is_question_to_us(blocks: &[Block]) -> bool {
    let ours = |name: &str| {
        let tool = name.strip_prefix("mcp__").and_then(|rest| rest.rsplit_once("__"));
        tool.is_some_and(|(server, tool)| {
            (tool.starts_with("memory_") || tool.starts_with("work_"))
                && (server == "sinker" || server.ends_with("_sinker"))
        })
    };
    !blocks.is_empty() && blocks.iter().all(|block| matches!(block, Block::Use { name, .. } if ours(name)))
}

/// Is it a prompt that is wholly private? Then nothing of its turn is stored.
pub(super) fn is_private(observation: &store::Observation) -> bool {
    let private =
        |block: &Block| matches!(block, Block::Text { t } if t.trim().starts_with("[redacted:private:"));
    is_withheld(&observation.blocks) && observation.blocks.iter().any(private)
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
