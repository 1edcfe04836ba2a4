//! tidy: table
//! What becomes of each type of record, system record, attachment, progress record and content block, in one table (clients 1.0 to 2.1.332).
//!
//! A name that is in no row is new: it is counted as unknown, and `sinker status` names it. A row of an old client stays for ever, since old
//! transcripts do.

/// Where a type's name stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// `type` of a record.
    Record,
    /// `subtype` of a system record.
    System,
    /// `attachment.type`.
    Attachment,
    /// `data.type` of a progress record.
    Progress,
    /// `type` of a content block, or of a part of a tool's result.
    Block,
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// A user or assistant record: an observation, unless nobody said it.
    Said,
    /// An attachment that a person typed: an observation.
    Queued,
    /// Its own table says more.
    See(Place),
    /// A compaction boundary: what lies before it makes a checkpoint.
    Boundary,
    /// Names the session that it stands in.
    Title,
    /// Names the session that holds its `leafUuid`.
    Summary,
    /// Counted by name, not kept.
    Noise,
    /// A block of prose.
    Text,
    /// A block of thinking: stored, not scored.
    Thinking,
    /// A tool call.
    Call,
    /// A tool's result.
    Result,
    /// An image or document: media type, size and hash.
    Media,
    /// A block kept as its JSON.
    Json,
    /// In no row: counted by its name, and shown by `status`.
    Unknown,
}

/// A name, what becomes of it, and why where that is not plain.
pub type Row = (&'static str, Fate, &'static str);

use Fate::{Boundary, Call, Json, Media, Noise, Queued, Result, Said, See, Summary, Text, Thinking, Title};

const COPY: &str = "a copy of what was said, or of what was sent";
const STATE: &str = "a state of the client";
const CONTEXT: &str = "context that the client added, not said by anyone";
const HOOK: &str = "what a hook printed; ours come back here";
const RUN: &str = "bookkeeping of a workflow run; its workers have transcripts of their own";

const RECORDS: &[Row] = &[
    ("user", Said, ""),
    ("assistant", Said, ""),
    ("attachment", See(Place::Attachment), ""),
    ("system", See(Place::System), ""),
    ("progress", See(Place::Progress), ""),
    ("custom-title", Title, "a person's"),
    ("ai-title", Title, "a model's"),
    ("summary", Summary, "a model's, written into later files by clients before 2.1"),
    ("queue-operation", Noise, "an enqueue comes again as a user record, or as an attachment"),
    ("last-prompt", Noise, COPY),
    ("api-request", Noise, COPY),
    ("api-request-shape", Noise, COPY),
    ("api-request-blob", Noise, COPY),
    ("api-request-resumed", Noise, COPY),
    ("file-history-snapshot", Noise, "a list of the client's backups"),
    ("file-history-delta", Noise, "a list of the client's backups"),
    ("attribution-snapshot", Noise, STATE),
    ("mode", Noise, STATE),
    ("permission-mode", Noise, STATE),
    ("atis-latch", Noise, STATE),
    ("isolation-latch", Noise, STATE),
    ("tools-used", Noise, STATE),
    ("cost-state", Noise, STATE),
    ("worktree-state", Noise, STATE),
    ("relocated", Noise, "the file moved; it is found by its name"),
    ("tag", Noise, STATE),
    ("agent-name", Noise, STATE),
    ("agent-color", Noise, STATE),
    ("agent-setting", Noise, STATE),
    ("pr-link", Noise, STATE),
    ("frame-link", Noise, STATE),
    ("content-replacement", Noise, "which results were cut for the model; the records hold them"),
    ("session-owner", Noise, STATE),
    ("bridge-session", Noise, STATE),
    ("history-suppression", Noise, STATE),
    ("continued-in", Noise, STATE),
    ("derived-from", Noise, STATE),
    ("fork-context-ref", Noise, STATE),
    ("data-flow-records", Noise, STATE),
    ("ended-by-model", Noise, STATE),
    ("started", Noise, RUN),
    ("result", Noise, RUN),
    ("tool_result", Noise, "no client writes it; test data of other tools does"),
];

const SYSTEM: &[Row] = &[
    ("compact_boundary", Boundary, ""),
    ("microcompact_boundary", Noise, "old results were cut for the model; the file holds them"),
    ("stop_hook_summary", Noise, HOOK),
    ("turn_duration", Noise, STATE),
    ("api_error", Noise, "a request that was tried again"),
    ("local_command", Noise, "the screen's copy of a command; user records hold it"),
    ("away_summary", Noise, "a model's recap of what the records say"),
    ("informational", Noise, STATE),
    ("session_start", Noise, STATE),
    ("ui_telemetry", Noise, STATE),
    ("api_refusal", Noise, STATE),
    ("model_refusal_fallback", Noise, STATE),
    ("rewind", Noise, "the branch that was left stays in the file"),
    ("slash_command", Noise, "user records hold it"),
    ("custom_title", Noise, "the title has a record of its own"),
    ("session_artifact_snapshot", Noise, STATE),
    ("error", Noise, STATE),
];

const ATTACHMENTS: &[Row] = &[
    ("queued_command", Queued, "a prompt that was typed while the model was busy"),
    ("agent_listing_delta", Noise, CONTEXT),
    ("async_hook_response", Noise, HOOK),
    ("auto_mode", Noise, CONTEXT),
    ("batching_reminder_sent", Noise, CONTEXT),
    ("budget_usd", Noise, CONTEXT),
    ("command_permissions", Noise, CONTEXT),
    ("compact_file_reference", Noise, CONTEXT),
    ("date", Noise, CONTEXT),
    ("date_change", Noise, CONTEXT),
    ("deferred_tools_delta", Noise, CONTEXT),
    ("dynamic_skill", Noise, CONTEXT),
    ("edited_text_file", Noise, CONTEXT),
    ("environment", Noise, CONTEXT),
    ("file", Noise, CONTEXT),
    ("hook_additional_context", Noise, HOOK),
    ("hook_blocking_error", Noise, HOOK),
    ("hook_cancelled", Noise, HOOK),
    ("hook_non_blocking_error", Noise, HOOK),
    ("hook_stopped_continuation", Noise, HOOK),
    ("hook_success", Noise, HOOK),
    ("hook_system_message", Noise, HOOK),
    ("instructions", Noise, CONTEXT),
    ("invoked_skills", Noise, CONTEXT),
    ("max_turns_reached", Noise, STATE),
    ("mcp_instructions_delta", Noise, CONTEXT),
    ("model", Noise, CONTEXT),
    ("nested_memory", Noise, CONTEXT),
    ("plan_mode", Noise, CONTEXT),
    ("plan_mode_exit", Noise, CONTEXT),
    ("prompt_snapshot", Noise, COPY),
    ("read_truncation_notice", Noise, CONTEXT),
    ("remote_session_change", Noise, CONTEXT),
    ("session_context", Noise, CONTEXT),
    ("silent_turn_reminder", Noise, CONTEXT),
    ("skill_listing", Noise, CONTEXT),
    ("task_reminder", Noise, CONTEXT),
    ("task_status", Noise, CONTEXT),
    ("todo_reminder", Noise, CONTEXT),
    ("total_tokens_reminder", Noise, CONTEXT),
    ("ultra_effort_enter", Noise, CONTEXT),
    ("ultra_effort_exit", Noise, CONTEXT),
    ("unknown_command_fallback", Noise, CONTEXT),
];

const PROGRESS: &[Row] = &[
    ("bash_progress", Noise, COPY),
    ("hook_progress", Noise, STATE),
    ("agent_progress", Noise, "a copy of a subagent's records"),
    ("mcp_progress", Noise, STATE),
    ("query_update", Noise, STATE),
    ("search_results_received", Noise, STATE),
    ("waiting_for_task", Noise, STATE),
];

const BLOCKS: &[Row] = &[
    ("text", Text, ""),
    ("thinking", Thinking, ""),
    ("redacted_thinking", Media, "encrypted: only its client can read it"),
    ("tool_use", Call, ""),
    ("server_tool_use", Call, "a tool that runs at the API"),
    ("mcp_tool_use", Call, ""),
    ("tool_result", Result, ""),
    ("mcp_tool_result", Result, ""),
    ("web_search_tool_result", Json, "a list of sources"),
    ("web_fetch_tool_result", Json, ""),
    ("code_execution_tool_result", Json, ""),
    ("bash_code_execution_tool_result", Json, ""),
    ("text_editor_code_execution_tool_result", Json, ""),
    ("tool_search_tool_result", Json, ""),
    ("tool_reference", Json, "the name of a tool that was found"),
    ("search_result", Json, ""),
    ("container_upload", Json, ""),
    ("compaction", Json, ""),
    ("image", Media, ""),
    ("document", Media, ""),
    ("fallback", Json, "which model answered instead"),
    (LEFT_OUT, Json, "ours: what a record holds beyond all bounds, by number"),
];

/// The block that stands for what was too much of a record.
pub(super) const LEFT_OUT: &str = "left-out";

/// The rows of a place.
pub fn rows(place: Place) -> &'static [Row] {
    match place {
        Place::Record => RECORDS,
        Place::System => SYSTEM,
        Place::Attachment => ATTACHMENTS,
        Place::Progress => PROGRESS,
        Place::Block => BLOCKS,
    }
}

/// Looks a type up.
pub fn fate(place: Place, kind: &str) -> Fate {
    rows(place).iter().find(|(name, ..)| *name == kind).map_or(Fate::Unknown, |(_, fate, _)| *fate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Names seen in transcripts of clients 1.0 to 2.1.332, or named by their schemas; written down apart from the table.
    const SEEN: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/spool-fixtures/kinds.json"));

    fn place(name: &str) -> Place {
        match name {
            "record" => Place::Record,
            "system" => Place::System,
            "attachment" => Place::Attachment,
            "progress" => Place::Progress,
            "block" => Place::Block,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn every_type_that_was_ever_seen_has_its_row() {
        let seen: BTreeMap<String, Vec<String>> = serde_json::from_str(SEEN).unwrap();
        assert_eq!(seen.len(), 5);
        for (name, kinds) in &seen {
            for kind in kinds {
                assert_ne!(fate(place(name), kind), Fate::Unknown, "{name}/{kind}");
            }
        }
    }

    #[test]
    fn no_name_stands_twice_and_only_what_is_listed_is_more_than_noise() {
        let mut loud = Vec::new();
        for at in [Place::Record, Place::System, Place::Attachment, Place::Progress] {
            let names: BTreeSet<&str> = rows(at).iter().map(|(name, ..)| *name).collect();
            assert_eq!(names.len(), rows(at).len(), "{at:?}");
            loud.extend(rows(at).iter().filter(|(_, fate, _)| *fate != Fate::Noise).map(|(name, ..)| *name));
        }
        let expected = [
            "user",
            "assistant",
            "attachment",
            "system",
            "progress",
            "custom-title",
            "ai-title",
            "summary",
            "compact_boundary",
            "queued_command",
        ];
        assert_eq!(loud, expected);
        assert_eq!(fate(Place::Record, "tide-table"), Fate::Unknown);
    }
}
