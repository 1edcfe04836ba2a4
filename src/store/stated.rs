//! What a document of kind claim holds.

use super::body::{not_ours, unpack};
use super::{Kind, StoreError};
use serde::{Deserialize, Serialize};

/// A claim as it is stored, shown, and put into the index as a header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stated {
    /// What kind of claim it is.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What it is about, in the words of the sentence.
    pub subject: String,
    /// What it says of it.
    pub value: Option<String>,
    /// Our id of the record that states it.
    pub document: String,
    /// Uuids of the records that say it, its own first.
    pub evidence: Vec<String>,
    /// How other claims of the project stand to it, the newest first.
    pub related: Vec<Related>,
    /// `user` or `assistant`.
    pub speaker: String,
    /// The sentence that states it.
    pub text: String,
}

/// Another claim, and how it stands to this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Related {
    /// Its id.
    pub id: String,
    /// `supersedes` (this one took its place), `superseded_by`, `conflicts_with`, `restates` or `restated_by`.
    pub relation: String,
    /// The uuid of its record.
    pub record: String,
    /// The host's id of its session.
    pub session: String,
    /// RFC 3339.
    pub time: String,
    /// Its sentence.
    pub text: String,
}

impl Stated {
    /// Reads a stored body. Errors: [`StoreError::Body`].
    pub(super) fn read(codec: i64, body: Vec<u8>) -> Result<Self, StoreError> {
        serde_json::from_slice(&unpack(codec, body)?).map_err(|e| not_ours(&e))
    }
}
