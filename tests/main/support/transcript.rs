//! Transcripts in the record shapes of the current client, with stable ids and times.

use super::Sandbox;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Record types that say nothing of the conversation.
#[derive(Debug, Clone, Copy)]
pub enum Noise {
    /// The prompt again, at the tip of the branch.
    LastPrompt,
    /// The prompt again, when it was queued.
    QueueOperation,
    /// What was sent to the model.
    ApiRequest,
    /// A checkpoint of files.
    Snapshot,
    /// A type no version of this program has heard of.
    Unknown,
}

/// A transcript that grows. Records are made in memory; [`Transcript::flush`] brings them to disk.
pub struct Transcript {
    /// The host's session id.
    pub session: String,
    /// Where it lies.
    pub path: PathBuf,
    /// Observations made so far: what a count must find.
    pub observations: usize,
    cwd: String,
    agent: Option<String>,
    seed: u64,
    made: u64,
    prompts: u64,
    parent: Option<String>,
    bytes: Vec<u8>,
    flushed: usize,
}

impl Transcript {
    /// A session's transcript. `seed` makes its ids and times its own: session `seed` begins at hour `seed` of 2026-11-20.
    pub fn new(sandbox: &Sandbox, seed: u64) -> Self {
        let session = format!("5e551000-0000-4000-8000-{seed:012x}");
        let cwd = sandbox.project().to_str().unwrap().to_owned();
        let slug: String = cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let path = sandbox.claude().join("projects").join(slug).join(format!("{session}.jsonl"));
        Self {
            session,
            path,
            observations: 0,
            cwd,
            agent: None,
            seed,
            made: 0,
            prompts: 0,
            parent: None,
            bytes: Vec::new(),
            flushed: 0,
        }
    }

    /// The transcript of one of its subagents.
    pub fn subagent(&self, agent: &str) -> Self {
        Self {
            session: self.session.clone(),
            path: self.agent_path(agent),
            observations: 0,
            cwd: self.cwd.clone(),
            agent: Some(agent.to_owned()),
            seed: self.seed + 1_000_000,
            made: 0,
            prompts: 0,
            parent: None,
            bytes: Vec::new(),
            flushed: 0,
        }
    }

    /// From now on its records name this directory, and it lies in that folder; nothing is moved on disk.
    pub fn move_to(&mut self, dir: &Path, folder: &Path) -> &mut Self {
        self.cwd = dir.to_str().unwrap().to_owned();
        self.path = folder.join(format!("{}.jsonl", self.session));
        self
    }

    /// Where a subagent's transcript lies.
    pub fn agent_path(&self, agent: &str) -> PathBuf {
        self.path.with_extension("").join("subagents").join(format!("agent-{agent}.jsonl"))
    }

    /// The record written last, to go back to.
    pub fn mark(&self) -> Option<String> {
        self.parent.clone()
    }

    /// The next record follows the marked one, as after `/rewind`.
    pub fn back_to(&mut self, mark: Option<String>) -> &mut Self {
        self.parent = mark;
        self
    }

    /// A typed prompt.
    pub fn prompt(&mut self, text: &str) -> &mut Self {
        self.prompts += 1;
        self.user(json!({"role": "user", "content": text}), json!({
            "promptId": self.id(900 + self.prompts), "permissionMode": "default", "origin": {"kind": "human"},
            "promptSource": "typed", "turnOrigin": "human",
            "turnPosition": {"promptIndex": self.prompts, "turnIndex": self.prompts},
        }), true)
    }

    /// A block of the assistant's text.
    pub fn says(&mut self, text: &str) -> &mut Self {
        self.assistant(json!({"type": "text", "text": text}))
    }

    /// A block of the assistant's thinking.
    pub fn thinks(&mut self, text: &str) -> &mut Self {
        self.assistant(json!({"type": "thinking", "thinking": text, "signature": "c2lnbmF0dXJl"}))
    }

    /// A tool call; `id` is what its result refers to.
    pub fn calls(&mut self, id: &str, tool: &str, input: Value) -> &mut Self {
        self.assistant(json!({"type": "tool_use", "id": id, "name": tool, "input": input}))
    }

    /// A tool's result.
    pub fn returns(&mut self, id: &str, text: &str) -> &mut Self {
        let source = self.parent.clone();
        self.user(
            json!({"role": "user", "content": [{"tool_use_id": id, "type": "tool_result", "content": text}]}),
            json!({"toolUseResult": {"stdout": text, "stderr": "", "interrupted": false}, "sourceToolAssistantUUID": source}),
            true,
        )
    }

    /// A tool's result whose content is a list of parts.
    pub fn raw_result(&mut self, id: &str, content: &Value) -> &mut Self {
        self.user(
            json!({"role": "user", "content": [{"tool_use_id": id, "type": "tool_result", "content": content}]}),
            json!({"toolUseResult": content}),
            true,
        )
    }

    /// A tool's failure.
    pub fn fails(&mut self, id: &str, text: &str) -> &mut Self {
        let source = self.parent.clone();
        self.user(
            json!({"role": "user", "content": [{"type": "tool_result", "content": text, "is_error": true, "tool_use_id": id}]}),
            json!({"toolUseResult": format!("Error: {text}"), "sourceToolAssistantUUID": source}),
            true,
        )
    }

    /// An expanded skill: a user record that nobody typed.
    pub fn meta(&mut self, text: &str) -> &mut Self {
        self.user(
            json!({"role": "user", "content": [{"type": "text", "text": text}]}),
            json!({"isMeta": true, "turnCompanion": true, "rowSource": "local"}),
            false,
        )
    }

    /// A slash command that was typed.
    pub fn command(&mut self, name: &str, args: &str) -> &mut Self {
        let text = format!(
            "<command-message>{name}</command-message>\n<command-name>/{name}</command-name>\n<command-args>{args}</command-args>"
        );
        self.user(
            json!({"role": "user", "content": text}),
            json!({"rowSource": "local", "turnOrigin": "human"}),
            true,
        )
    }

    /// A prompt typed while the assistant was busy: an attachment, and the only one that is kept.
    pub fn queued(&mut self, text: &str) -> &mut Self {
        self.observations += 1;
        self.attachment(json!({"type": "queued_command", "prompt": text, "commandMode": "prompt"}))
    }

    /// Context that a hook injected: our own text coming back.
    pub fn injected(&mut self, text: &str) -> &mut Self {
        self.attachment(json!({
            "type": "hook_additional_context", "content": [text], "hookName": "UserPromptSubmit",
            "toolUseID": "hook-0", "hookEvent": "UserPromptSubmit",
        }))
    }

    /// A compaction: the boundary, and the summary that goes on after it.
    pub fn compacts(&mut self, summary: &str) -> &mut Self {
        let logical = self.parent.take();
        self.record(json!({
            "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": false, "level": "info",
            "logicalParentUuid": logical, "compactMetadata": {"trigger": "manual", "preTokens": 9000, "postTokens": 900, "durationMs": 40},
        }));
        self.user(
            json!({"role": "user", "content": format!("This session is being continued from a previous conversation. {summary}")}),
            json!({"isVisibleInTranscriptOnly": true, "isCompactSummary": true, "rowSource": "local"}),
            true,
        )
    }

    /// A record that is no part of the conversation.
    pub fn noise(&mut self, kind: Noise) -> &mut Self {
        let session = &self.session;
        let record = match kind {
            Noise::LastPrompt => {
                json!({"type": "last-prompt", "lastPrompt": "again", "leafUuid": self.parent, "sessionId": session})
            }
            Noise::QueueOperation => json!({
                "type": "queue-operation", "operation": "enqueue", "timestamp": self.time(), "sessionId": session, "content": "again",
            }),
            Noise::ApiRequest => json!({
                "type": "api-request-blob", "sessionId": session, "hash": "00", "message": {"role": "system", "content": "again"},
            }),
            Noise::Snapshot => json!({
                "type": "file-history-snapshot", "messageId": self.id(1), "isSnapshotUpdate": false,
                "snapshot": {"messageId": self.id(1), "trackedFileBackups": {}, "timestamp": self.time()},
            }),
            Noise::Unknown => json!({"type": "tide-table", "sessionId": session, "height": 3}),
        };
        self.raw(&record.to_string())
    }

    /// A line as it is, whatever it holds.
    pub fn raw(&mut self, line: &str) -> &mut Self {
        self.raw_bytes(format!("{line}\n").as_bytes())
    }

    /// Bytes as they are, without a newline.
    pub fn raw_bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// All bytes made so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends what is not on disk yet.
    pub fn flush(&mut self) -> &mut Self {
        self.flush_to(self.bytes.len())
    }

    /// Appends up to byte `end` of what was made.
    pub fn flush_to(&mut self, end: usize) -> &mut Self {
        std::fs::create_dir_all(self.path.parent().unwrap()).unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(&self.path).unwrap();
        file.write_all(&self.bytes[self.flushed..end]).unwrap();
        self.flushed = end;
        self
    }

    /// Byte positions just behind each newline.
    pub fn line_ends(&self) -> Vec<usize> {
        self.bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1).collect()
    }

    /// Size on disk.
    pub fn size(&self) -> u64 {
        std::fs::metadata(&self.path).map(|m| m.len()).unwrap_or(0)
    }

    fn attachment(&mut self, attachment: Value) -> &mut Self {
        self.record(json!({"type": "attachment", "attachment": attachment}))
    }

    fn user(&mut self, message: Value, more: Value, counts: bool) -> &mut Self {
        self.observations += usize::from(counts);
        let mut record = json!({"type": "user", "message": message});
        merge(&mut record, more);
        self.record(record)
    }

    fn assistant(&mut self, block: Value) -> &mut Self {
        self.observations += 1;
        let n = self.made;
        self.record(json!({
            "type": "assistant", "requestId": format!("req_{n:03}"), "apiBlockIndex": 0, "madeBy": "model",
            "message": {
                "id": format!("msg_{}_{n:03}", self.seed), "type": "message", "role": "assistant", "model": "claude-opus-5-5",
                "content": [block], "stop_reason": "end_turn", "stop_sequence": null,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        }))
    }

    fn record(&mut self, mut record: Value) -> &mut Self {
        self.made += 1;
        let uuid = self.id(self.made);
        let parent = self.parent.replace(uuid.clone());
        merge(
            &mut record,
            json!({
                "parentUuid": parent, "isSidechain": self.agent.is_some(), "uuid": uuid, "timestamp": self.time(), "userType": "external",
                "entrypoint": "cli", "cwd": self.cwd, "sessionId": self.session, "version": "2.1.332", "gitBranch": "main",
            }),
        );
        if let Some(agent) = &self.agent {
            merge(&mut record, json!({"agentId": agent}));
        }
        self.raw(&record.to_string())
    }

    fn id(&self, n: u64) -> String {
        format!("{:08x}-0000-4000-8000-{n:012x}", self.seed + 0x1000)
    }

    fn time(&self) -> String {
        let seconds = self.made;
        format!("2026-11-20T{:02}:{:02}:{:02}.000Z", self.seed % 24, seconds / 60 % 60, seconds % 60)
    }
}

fn merge(into: &mut Value, more: Value) {
    if let (Some(into), Value::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}
