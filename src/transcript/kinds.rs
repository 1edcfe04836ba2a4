//! What becomes of each record type of the current client, in one table (client 2.1.332; older ones are counted by name).

/// What becomes of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// A user or assistant record: an observation, unless nobody said it.
    Said,
    /// An attachment: noise, but for a queued prompt.
    Attachment,
    /// A system record: noise, but for a compaction boundary.
    System,
    /// Names the session.
    Title,
    /// A copy, a state or a log of the client: counted as noise by its name.
    Noise,
    /// Not in the table: counted by its name, and shown by `status`.
    Unknown,
}

/// The types that the current client writes, and those its schema names (host facts, section 5.1).
const TABLE: &[(&str, Fate)] = &[
    ("user", Fate::Said),
    ("assistant", Fate::Said),
    ("attachment", Fate::Attachment),
    ("system", Fate::System),
    ("custom-title", Fate::Title),
    ("ai-title", Fate::Title),
    ("queue-operation", Fate::Noise),
    ("last-prompt", Fate::Noise),
    ("api-request", Fate::Noise),
    ("api-request-shape", Fate::Noise),
    ("api-request-blob", Fate::Noise),
    ("api-request-resumed", Fate::Noise),
    ("file-history-snapshot", Fate::Noise),
    ("file-history-delta", Fate::Noise),
    ("attribution-snapshot", Fate::Noise),
    ("mode", Fate::Noise),
    ("permission-mode", Fate::Noise),
    ("atis-latch", Fate::Noise),
    ("isolation-latch", Fate::Noise),
    ("tools-used", Fate::Noise),
    ("cost-state", Fate::Noise),
    ("worktree-state", Fate::Noise),
    ("relocated", Fate::Noise),
    ("progress", Fate::Noise),
    ("tag", Fate::Noise),
    ("agent-name", Fate::Noise),
    ("agent-color", Fate::Noise),
    ("agent-setting", Fate::Noise),
    ("pr-link", Fate::Noise),
    ("content-replacement", Fate::Noise),
    ("session-owner", Fate::Noise),
    ("bridge-session", Fate::Noise),
    ("history-suppression", Fate::Noise),
    ("continued-in", Fate::Noise),
    ("derived-from", Fate::Noise),
    ("fork-context-ref", Fate::Noise),
    ("data-flow-records", Fate::Noise),
    ("ended-by-model", Fate::Noise),
];

/// Looks a record type up.
pub fn fate(kind: &str) -> Fate {
    TABLE.iter().find(|(name, _)| *name == kind).map_or(Fate::Unknown, |(_, fate)| *fate)
}
