//! What the store hands to the index: one row, flat.

/// One row that the index must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// The row's id, `[a-z0-9-]{1,64}`; the index holds one document an id.
    pub id: String,
    /// `observation`, `outcome`, `checkpoint`, `session-summary`, `session`, `claim`, `note`, `work` or `failure`.
    pub kind: String,
    /// Host session ids; the first owns the row, the others link it (forks).
    pub sessions: Vec<String>,
    /// Project id, such as `app-0123456789`.
    pub project: String,
    /// `claude`.
    pub host: String,
    /// `user`, `assistant`, `tool`, `web`, `agent` or `host`; empty for derived documents.
    pub speaker: String,
    /// When it was said. Units: milliseconds since 1970, UTC; 0 when unknown.
    pub time_ms: i64,
    /// Uuid of the host's record; empty for derived documents.
    pub record: String,
    /// Id of the subagent that said it, or empty.
    pub agent: String,
    /// What was said, or the text of a derived document; redacted.
    pub prose: String,
    /// Inputs and outputs of tools; redacted. Weighs less.
    pub tool: String,
    /// Title of a session (kinds session and session-summary), or empty.
    pub title: String,
    /// Request of a derived document, or empty.
    pub request: String,
    /// Name of a slash command, or empty.
    pub command: String,
    /// Paths read or edited.
    pub files: Vec<String>,
    /// `current`, `superseded`, `conflicted` or empty.
    pub status: String,
    /// JSON of a derived document's header, opaque here:
    /// `{"request":…,"completed":…,"next_steps":…,"files_read":[…],"files_edited":[…]}`.
    pub header: String,
    /// Kind `session` only: the distinct terms of the whole session, joined by spaces, made with [`super::tokens::terms`].
    pub profile: String,
    /// Store sequence of the row's last change. The index keeps one number a commit, not one a row.
    pub seq: u64,
}

impl Document {
    /// Size of its texts. Units: bytes.
    pub(super) fn text_bytes(&self) -> usize {
        let texts = [&self.prose, &self.tool, &self.title, &self.request, &self.header, &self.profile];
        texts.iter().map(|text| text.len()).sum()
    }
}
