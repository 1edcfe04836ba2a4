//! Reading the host's payload from stdin: a scan over the top level of one JSON object that keeps a few short fields and skips the rest.
//!
//! A payload may hold a 200 MB tool response. It is read through one block; what is skipped is not kept, parsed or checked, and the
//! scan ends at the object's closing brace, so a stdin that is never closed does not hang the hook. Nothing here knows what an event means.

use super::input::{self, Gist, Input};
use crate::clock::Stopwatch;
use std::io;
use std::time::Duration;

/// The fields of a payload that Sinker acts on; each is absent when it was missing or of another type.
///
/// Source: host payloads of client 2.1.332, every event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Payload {
    pub session_id: Option<String>,
    pub transcript_path: Option<String>,
    pub agent_transcript_path: Option<String>,
    pub cwd: Option<String>,
    pub source: Option<String>,
    pub trigger: Option<String>,
    pub end_reason: Option<String>,
    pub error: Option<String>,
    pub prompt_id: Option<String>,
    pub prompt: Option<String>,
    pub agent_id: Option<String>,
    pub agent_type: Option<String>,
    pub tool_name: Option<String>,
    pub tool_use_id: Option<String>,
    pub command_name: Option<String>,
    pub command_args: Option<String>,
    /// What a tool was given, as far as recall asks by it.
    pub tool_input: Input,
    /// The beginning of what a tool gave back.
    pub tool_response: Gist,
    pub stop_hook_active: bool,
    /// False when the deadline came before the closing brace; what was read until then still counts.
    pub whole: bool,
}

impl Payload {
    /// Source, trigger or reason: whichever the event has.
    pub(super) fn reason(&self) -> Option<&str> {
        self.source.as_deref().or(self.trigger.as_deref()).or(self.end_reason.as_deref())
    }

    /// Takes out what is private: nothing is asked by it, and no key is made of it.
    pub(super) fn hide_private(&mut self) {
        let fields = [&mut self.prompt, &mut self.error, &mut self.command_name, &mut self.command_args];
        fields.into_iter().for_each(input::hide_private);
        self.tool_input.hide_private();
        self.tool_response.hide_private();
    }

    fn slot(&mut self, key: &[u8]) -> Option<(&mut Option<String>, usize)> {
        Some(match key {
            b"session_id" => (&mut self.session_id, MAX_ID_BYTES),
            b"transcript_path" => (&mut self.transcript_path, MAX_ID_BYTES),
            b"agent_transcript_path" => (&mut self.agent_transcript_path, MAX_ID_BYTES),
            b"cwd" => (&mut self.cwd, MAX_ID_BYTES),
            b"source" => (&mut self.source, MAX_ID_BYTES),
            b"trigger" => (&mut self.trigger, MAX_ID_BYTES),
            b"reason" => (&mut self.end_reason, MAX_ID_BYTES),
            b"error" => (&mut self.error, MAX_ERROR_BYTES),
            b"prompt_id" => (&mut self.prompt_id, MAX_ID_BYTES),
            b"prompt" => (&mut self.prompt, MAX_PROMPT_BYTES),
            b"agent_id" => (&mut self.agent_id, MAX_ID_BYTES),
            b"agent_type" => (&mut self.agent_type, MAX_ID_BYTES),
            b"tool_name" => (&mut self.tool_name, MAX_ID_BYTES),
            b"tool_use_id" => (&mut self.tool_use_id, MAX_ID_BYTES),
            b"command_name" => (&mut self.command_name, MAX_ID_BYTES),
            b"command_args" => (&mut self.command_args, MAX_ID_BYTES),
            _ => return None,
        })
    }
}

/// Ids and paths longer than this are no ids and paths.
const MAX_ID_BYTES: usize = 64 * 1024;
/// Of an error the kind is kept, or so much of its text that a query can be made of it. Escapes may double it.
const MAX_ERROR_BYTES: usize = 2 * input::GIST_BYTES;
/// A query is made of a dozen terms: more of a pasted prompt than this adds nothing.
const MAX_PROMPT_BYTES: usize = 256 * 1024;

/// Why a payload gives nothing. The host's fault, or a person's who called the hook by hand.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    #[error("stdin is empty")]
    Empty,
    #[error("it is not a JSON object (at byte {0})")]
    NotJson(u64),
    #[error("it ends in the middle")]
    Cut,
    #[error("it did not come within the deadline")]
    Late,
    #[error("stdin cannot be read: {0}")]
    Read(#[from] io::Error),
}

/// Reads one payload from stdin, for at most `limit`; `texts` as for [`read`]. Errors: [`WireError`].
pub(super) fn read_stdin(watch: &Stopwatch, limit: Duration, texts: bool) -> Result<Payload, WireError> {
    read(Stdin { watch: *watch, limit }, texts)
}

/// Where bytes come from: replaces what is in the block, within its capacity; an empty block means the end.
pub(super) trait Source {
    fn read(&mut self, block: &mut Vec<u8>) -> Result<(), WireError>;
}

struct Stdin {
    watch: Stopwatch,
    limit: Duration,
}

impl Source for Stdin {
    fn read(&mut self, block: &mut Vec<u8>) -> Result<(), WireError> {
        use rustix::buffer::spare_capacity;
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let stdin = rustix::stdio::stdin();
        loop {
            let left = self.watch.left(self.limit);
            if left.is_zero() {
                return Err(WireError::Late);
            }
            let timeout = Timespec::try_from(left).map_err(|_| WireError::Late)?;
            let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut fds, Some(&timeout)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(WireError::Read(error.into())),
            }
            block.clear();
            match rustix::io::read(stdin, spare_capacity(block)) {
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
                read => return Ok(read.map(drop).map_err(io::Error::from)?),
            }
        }
    }
}

/// Reads one payload. The deadline may cut it: then what identifies the event must have come already, or it is an error.
///
/// Without `texts` what a tool was given and gave back is passed over: capture has no use for it.
pub(super) fn read(source: impl Source, texts: bool) -> Result<Payload, WireError> {
    let mut payload = Payload::default();
    let mut scan = Scanner { source, block: Vec::with_capacity(BLOCK_BYTES), at: 0, before: 0, texts };
    match scan.object(&mut payload) {
        Ok(()) => payload.whole = true,
        Err(WireError::Late) if payload.session_id.is_some() && payload.transcript_path.is_some() => {}
        Err(error) => return Err(error),
    }
    Ok(payload)
}

/// What a pipe gives at once. Only the pages that are read into are ever touched, and each of them costs the hook.
const BLOCK_BYTES: usize = 64 * 1024;
/// Most payloads are shorter.
const SHORT_BYTES: usize = 8 * 1024;

struct Scanner<S> {
    source: S,
    block: Vec<u8>,
    at: usize,
    /// Bytes consumed in earlier blocks.
    before: u64,
    texts: bool,
}

impl<S: Source> Scanner<S> {
    /// What is left of the block, refilled when it is used up; empty at the end of input.
    fn rest(&mut self) -> Result<&[u8], WireError> {
        if self.at >= self.block.len() {
            self.before += self.block.len() as u64;
            self.at = 0;
            self.source.read(&mut self.block)?;
        }
        Ok(self.block.get(self.at..).unwrap_or_default())
    }

    fn peek(&mut self) -> Result<Option<u8>, WireError> {
        Ok(self.rest()?.first().copied())
    }

    fn bad(&self) -> WireError {
        WireError::NotJson(self.before + self.at as u64)
    }

    /// The next byte that is not white space, consumed.
    fn token(&mut self) -> Result<u8, WireError> {
        while let Some(byte) = self.peek()? {
            self.at += 1;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Ok(byte);
            }
        }
        Err(WireError::Cut)
    }

    fn object(&mut self, payload: &mut Payload) -> Result<(), WireError> {
        match self.token() {
            Ok(b'{') => {}
            Ok(_) => return Err(self.bad()),
            Err(WireError::Cut) => return Err(WireError::Empty),
            Err(error) => return Err(error),
        }
        self.members(&mut |scan, key| scan.value(key, payload))
    }

    /// Consumes the members of an object behind its opening brace; `each` consumes a value.
    fn members(
        &mut self,
        each: &mut dyn FnMut(&mut Self, &[u8]) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        let mut key = Vec::new();
        let mut first = true;
        loop {
            match self.token()? {
                b'}' if first => return Ok(()),
                b'"' => {}
                _ => return Err(self.bad()),
            }
            first = false;
            key.clear();
            self.string(&mut key, 64)?;
            if self.token()? != b':' {
                return Err(self.bad());
            }
            each(self, &key)?;
            match self.token()? {
                b',' => {}
                b'}' => return Ok(()),
                _ => return Err(self.bad()),
            }
        }
    }

    fn value(&mut self, key: &[u8], payload: &mut Payload) -> Result<(), WireError> {
        match self.token()? {
            b'"' => {
                let mut raw = Vec::new();
                match payload.slot(key) {
                    Some((slot, cap)) => {
                        self.string(&mut raw, cap)?;
                        *slot = Some(unescape(raw));
                    }
                    None if self.texts && key == b"tool_response" => {
                        self.string(&mut raw, input::GIST_BYTES)?;
                        payload.tool_response.add(&unescape(raw));
                    }
                    None => self.string(&mut raw, 0)?,
                }
                Ok(())
            }
            b'{' if self.texts && key == b"tool_input" => {
                let input = &mut payload.tool_input;
                self.members(&mut |scan, key| scan.input(key, input))
            }
            b'{' | b'[' if self.texts && key == b"tool_response" => {
                self.nested(Some(&mut payload.tool_response))
            }
            b'{' | b'[' => self.nested(None),
            byte => {
                let word = self.word(byte)?;
                if key == b"stop_hook_active" {
                    payload.stop_hook_active = word == b"true";
                }
                Ok(())
            }
        }
    }

    /// A member of what a tool was given.
    fn input(&mut self, key: &[u8], input: &mut Input) -> Result<(), WireError> {
        match self.token()? {
            b'"' => {
                let mut raw = Vec::new();
                let cap = Input::cap(key);
                let room = if input::is_id(key) { 0 } else { input.gist.room() };
                self.string(&mut raw, cap.max(room))?;
                input.take(key, unescape(raw));
                Ok(())
            }
            b'{' | b'[' => self.nested(Some(&mut input.gist)),
            byte => {
                let word = self.word(byte)?;
                input.is_part |= Input::names_part(key) && word != b"null";
                Ok(())
            }
        }
    }

    /// Consumes a string behind its opening quote; keeps the first `cap` raw bytes.
    fn string(&mut self, kept: &mut Vec<u8>, cap: usize) -> Result<(), WireError> {
        let mut escaped = false;
        loop {
            let rest = self.rest()?;
            if rest.is_empty() {
                return Err(WireError::Cut);
            }
            // Between quotes and backslashes nothing matters: jump from one to the next.
            let (run, stop) = match (escaped, special(rest)) {
                (true, _) => (1, false),
                (false, Some(found)) => (found, true),
                (false, None) => (rest.len(), false),
            };
            let room = cap.saturating_sub(kept.len());
            kept.extend_from_slice(rest.get(..run.min(room)).unwrap_or_default());
            let special = if stop { rest.get(run).copied() } else { None };
            self.at += run;
            escaped = false;
            match special {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(byte) => {
                    self.at += 1;
                    if kept.len() < cap {
                        kept.push(byte);
                    }
                    escaped = true;
                }
                None => {}
            }
        }
    }

    /// Consumes an object or array behind its opening bracket; its texts, as far as there is room, go to `gist`, the names of members do
    /// not. Depth is a number, so a million brackets cost nothing.
    fn nested(&mut self, mut gist: Option<&mut Gist>) -> Result<(), WireError> {
        let mut depth = 1_u64;
        let mut said = Vec::new();
        // The value of a member that names a record, a call, a turn or an agent.
        let mut noise = false;
        while depth > 0 {
            let token = self.token()?;
            if let Some(gist) = &mut gist
                && !said.is_empty()
            {
                let text = std::mem::take(&mut said);
                match token {
                    b':' => noise = input::is_id(&text),
                    _ => gist.add(&unescape(text)),
                }
            }
            match token {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                b'"' => {
                    let room = gist.as_ref().filter(|_| !noise).map_or(0, |gist| gist.room());
                    self.string(&mut said, room)?;
                    noise = false;
                }
                b',' => noise = false,
                _ => {}
            }
        }
        Ok(())
    }

    /// Consumes a number, `true`, `false` or `null` that begins with `first`; returns its first [`MAX_WORD_BYTES`]. A number may be as long
    /// as it likes: it is some other program's, and nothing is made of it.
    fn word(&mut self, first: u8) -> Result<Vec<u8>, WireError> {
        let mut word = vec![first];
        let mut number = is_number_byte(first);
        while let Some(byte) = self.peek()? {
            if matches!(byte, b',' | b'}' | b' ' | b'\t' | b'\n' | b'\r') {
                let good = number || matches!(word.as_slice(), b"true" | b"false" | b"null");
                return if good { Ok(word) } else { Err(self.bad()) };
            }
            number = number && is_number_byte(byte);
            if word.len() < MAX_WORD_BYTES {
                word.push(byte);
            } else if !number {
                return Err(self.bad());
            }
            self.at += 1;
        }
        Err(WireError::Cut)
    }
}

/// Longer than `true`, `false` and `null`, so that nothing that is cut here looks like one of them.
const MAX_WORD_BYTES: usize = 16;

fn is_number_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || b"+-.eE".contains(&byte)
}

/// The first quote or backslash.
fn special(bytes: &[u8]) -> Option<usize> {
    // The fastest search asks the processor once what it can do, and on a virtual machine that question costs more than looking through
    // a short payload by words.
    if bytes.len() <= SHORT_BYTES {
        return memchr::arch::all::memchr::Two::new(b'"', b'\\').find(bytes);
    }
    memchr::memchr2(b'"', b'\\', bytes)
}

/// Undoes the escapes of a raw JSON string; what is not UTF-8, or cut inside an escape, is replaced or left off.
fn unescape(raw: Vec<u8>) -> String {
    let text = match String::from_utf8(raw) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    if !text.contains('\\') && !text.contains(|c: char| c.is_control()) {
        return text;
    }
    // A cut may fall inside `\ud83d\ude00`: at most twelve bytes have to go.
    let mut end = text.len();
    for _ in 0..=12 {
        if let Some(part) = text.get(..end)
            && let Ok(whole) = serde_json::from_str::<String>(&format!("\"{part}\""))
        {
            return whole;
        }
        end = end.saturating_sub(1);
    }
    text
}

#[cfg(test)]
pub(super) mod tests;
