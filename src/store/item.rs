//! What a document of kind work holds.

use super::StoreError;
use super::body::{not_ours, unpack};
use crate::work::State;
use serde::{Deserialize, Serialize};

/// An item of work as it is stored, shown, and put into the index as a header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// What is to be done.
    pub text: String,
    /// Where it stands.
    pub state: State,
    /// `user` or `assistant` for one that was written down here, `todo` or `task` for one of the host's lists.
    pub source: String,
    /// The beginning of the id of the observation that says so; empty for one that was written down here.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub record: String,
}

impl Item {
    /// Reads a stored body. Errors: [`StoreError::Body`].
    pub(super) fn read(codec: i64, body: Vec<u8>) -> Result<Self, StoreError> {
        serde_json::from_slice(&unpack(codec, body)?).map_err(|e| not_ours(&e))
    }
}
