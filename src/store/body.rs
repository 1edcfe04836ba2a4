//! What a document holds: blocks of text for an observation, fields for a derived one; compressed where that pays.

use super::StoreError;
use crate::id;
use crate::work::State;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use zstd::bulk::{Compressor, Decompressor};

/// A text longer than this is kept as head, tail, size and hash. Units: bytes.
pub const TEXT_CAP_BYTES: usize = 1024 * 1024;

const KEPT_EACH_END: usize = 64 * 1024;

/// A redacted part of an observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "snake_case")]
pub enum Block {
    /// Prose.
    Text {
        /// The text.
        t: String,
    },
    /// The model's thinking: shown, not scored.
    Think {
        /// The text.
        t: String,
    },
    /// A tool call.
    Use {
        /// Call id.
        id: String,
        /// Tool name.
        name: String,
        /// Its input, flattened.
        t: String,
        /// The file it names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The shell command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cmd: Option<String>,
    },
    /// A tool's result.
    Result {
        /// Call id.
        id: String,
        /// The text the model read.
        t: String,
        /// Failed or denied.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
        /// Exit status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit: Option<i64>,
        /// Cut off by the user.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interrupted: bool,
    },
    /// An image or document by what identifies it.
    Media {
        /// `image/png`.
        media: String,
        /// Bytes of the encoded data.
        bytes: u64,
        /// sha256, hex.
        sha: String,
    },
    /// A block of a type that is not known.
    Other {
        /// Its type.
        kind: String,
        /// Its JSON.
        t: String,
    },
}

impl Block {
    /// Hands out every text that came with the block, to be changed in place; what it is called here, numbers and hashes are none.
    pub(super) fn each_text(&mut self, say: &mut dyn FnMut(&mut String)) {
        match self {
            Block::Text { t } | Block::Think { t } => say(t),
            Block::Use { id, name, t, file, cmd } => {
                [Some(id), Some(name), Some(t), file.as_mut(), cmd.as_mut()]
                    .into_iter()
                    .flatten()
                    .for_each(say);
            }
            Block::Result { id, t, .. } => [id, t].into_iter().for_each(say),
            Block::Media { media, .. } => say(media),
            Block::Other { kind, t } => [kind, t].into_iter().for_each(say),
        }
    }

    /// The text of the block as a person reads it.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Block::Text { t } | Block::Think { t } | Block::Result { t, .. } => Cow::Borrowed(t),
            Block::Use { name, t, .. } => Cow::Owned(format!("{name}\n{t}")),
            Block::Media { media, bytes, sha } => {
                Cow::Owned(format!("[{media}, {bytes} bytes, sha256 {}]", id::short(sha, 16)))
            }
            Block::Other { kind, t } => Cow::Owned(format!("[{kind}] {t}")),
        }
    }
}

/// What is kept of an observation in one body with its parts: nothing looks for it, and it repeats from record to record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Beside<'a> {
    /// The host's parent uuid.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none", borrow)]
    pub parent: Option<Cow<'a, str>>,
    /// The API message.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none", borrow)]
    pub message: Option<Cow<'a, str>>,
    /// The model that said it.
    #[serde(rename = "o", default, skip_serializing_if = "Option::is_none", borrow)]
    pub model: Option<Cow<'a, str>>,
    /// The host's prompt id.
    #[serde(rename = "q", default, skip_serializing_if = "Option::is_none", borrow)]
    pub prompt: Option<Cow<'a, str>>,
    /// The arguments of a slash command.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none", borrow)]
    pub args: Option<Cow<'a, str>>,
}

/// A body that is no JSON of ours. What stands in it is not told: errors are logged.
pub(super) fn not_ours(error: &serde_json::Error) -> StoreError {
    StoreError::Body(format!("{:?} error at byte {}", error.classify(), error.column()))
}

/// The body of an observation: its parts as JSON, then what is beside them.
pub(super) fn body_of(mut blocks: Vec<u8>, beside: &Beside<'_>) -> Result<Vec<u8>, StoreError> {
    if *beside != Beside::default() {
        serde_json::to_writer(&mut blocks, beside).map_err(|e| not_ours(&e))?;
    }
    Ok(blocks)
}

/// The parts of a body. Errors: [`StoreError::Body`].
pub(super) fn blocks_of(body: &[u8]) -> Result<Vec<Block>, StoreError> {
    Vec::deserialize(&mut serde_json::Deserializer::from_slice(body)).map_err(|e| not_ours(&e))
}

/// The parts of a body, and what is beside them. Errors: [`StoreError::Body`].
pub(super) fn whole_of(body: &[u8]) -> Result<(Vec<Block>, Beside<'static>), StoreError> {
    let read = || {
        let mut json = serde_json::Deserializer::from_slice(body);
        let blocks = Vec::deserialize(&mut json)?;
        let rest = json.into_iter::<Beside<'_>>().next().transpose()?.unwrap_or_default();
        Ok((blocks, rest.owned()))
    };
    read().map_err(|e: serde_json::Error| not_ours(&e))
}

impl Beside<'_> {
    fn owned(self) -> Beside<'static> {
        let own = |text: Option<Cow<'_, str>>| text.map(|t| Cow::Owned(t.into_owned()));
        Beside {
            parent: own(self.parent),
            message: own(self.message),
            model: own(self.model),
            prompt: own(self.prompt),
            args: own(self.args),
        }
    }
}

/// A command that was run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ran {
    /// The command, one line, without what only shortens its output.
    pub command: String,
    /// Its exit status, where it is known to be its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i64>,
    /// `well`, `failed`, `denied`, `unknown` or `interrupted`.
    pub end: String,
    /// The beginning of the id of the observation that holds the result.
    pub record: String,
}

/// Tests that were run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tested {
    /// The command, as in [`Ran`].
    pub command: String,
    /// `passed`, `failed` or `unclear`.
    pub result: String,
    /// The line in which the runner sums up, or empty.
    pub summary: String,
    /// As in [`Ran`].
    pub record: String,
}

/// An item of a list of things to do, as a turn left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// What is to be done; empty where only the state of an earlier turn's task changed.
    #[serde(default)]
    pub text: String,
    /// Where it stands.
    pub state: State,
    /// The host's number of a task; none for an item of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// As in [`Ran`].
    #[serde(default)]
    pub record: String,
}

/// The content of a derived document; every field may be empty. Extraction is deterministic.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fields {
    /// What was asked.
    pub request: String,
    /// What was looked into.
    pub investigated: String,
    /// What was found.
    pub learned: String,
    /// What was finished.
    pub completed: String,
    /// What comes next.
    pub next_steps: String,
    /// Anything else: decisions, failures left, interruptions.
    pub notes: String,
    /// Files read, in order of first sight.
    pub files_read: Vec<String>,
    /// Files edited, in order of first sight.
    pub files_edited: Vec<String>,
    /// Files that commands named, in order of first sight, as they stand there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_named: Vec<String>,
    /// Of a turn or a run: `fix`, `feature`, `refactor`, `change`, `discovery`, `decision` or `security`; else empty.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The model that answered last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Commands, the newest of too many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Ran>,
    /// Tests, the newest of too many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Tested>,
    /// The host's lists of things to do, as the turn left them; of a session, what they come to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub todos: Vec<Todo>,
    /// Of each field by its name: beginnings of the ids of the observations that it was taken from.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<String, Vec<String>>,
}

impl Fields {
    /// Reads a stored body. Errors: [`StoreError::Body`].
    pub(super) fn read(codec: i64, body: Vec<u8>) -> Result<Self, StoreError> {
        serde_json::from_slice(&unpack(codec, body)?).map_err(|e| not_ours(&e))
    }

    /// What a header in the index holds: without what only a person looks at.
    pub fn header(&self) -> Self {
        Self {
            commands: Vec::new(),
            tests: Vec::new(),
            todos: Vec::new(),
            sources: BTreeMap::new(),
            ..self.clone()
        }
    }

    /// The fields as lines `name: text`, the empty ones left out.
    pub fn text(&self) -> String {
        let (read, edited) = (self.files_read.join(", "), self.files_edited.join(", "));
        let parts = [
            ("request", &self.request),
            ("investigated", &self.investigated),
            ("learned", &self.learned),
            ("completed", &self.completed),
            ("next steps", &self.next_steps),
            ("notes", &self.notes),
            ("files read", &read),
            ("files edited", &edited),
        ];
        let lines =
            parts.iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| format!("{name}: {text}"));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Keeps a text up to [`TEXT_CAP_BYTES`]; of a longer one head, tail, size and hash.
pub fn cap_text(text: String) -> String {
    if text.len() <= TEXT_CAP_BYTES {
        return text;
    }
    let head = floor(&text, KEPT_EACH_END);
    let tail = floor(&text, text.len() - KEPT_EACH_END);
    format!(
        "{}\n[… {} bytes left out of {}, sha256 {} …]\n{}",
        text.get(..head).unwrap_or_default(),
        tail - head,
        text.len(),
        id::sha256(text.as_bytes()),
        text.get(tail..).unwrap_or_default()
    )
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

/// Zstd's level for packs: each is written once or a few times and kept for years.
const PACK_LEVEL: i32 = 4;
/// Below this size zstd's frame costs more than it saves. Units: bytes.
const COMPRESS_FROM: usize = 160;
/// No body is larger: sixteen million bytes of line, escaped. A damaged frame cannot ask for more.
const MAX_BODY_BYTES: usize = 128 * 1024 * 1024;

thread_local! {
    // Making a context costs more than compressing a short text with it.
    static PACKER: RefCell<Option<Compressor<'static>>> = RefCell::new(Compressor::new(3).ok());
    static PACK_PACKER: RefCell<Option<Compressor<'static>>> = RefCell::new(Compressor::new(PACK_LEVEL).ok());
    static UNPACKER: RefCell<Option<Decompressor<'static>>> = RefCell::new(Decompressor::new().ok());
}

/// Packs bytes for a row: (codec, bytes); codec 0 as they are, 1 zstd.
pub(super) fn pack(bytes: Vec<u8>) -> (i64, Vec<u8>) {
    if bytes.len() >= COMPRESS_FROM
        && let Some(packed) = compress(&bytes)
        && packed.len() < bytes.len() * 9 / 10
    {
        return (1, packed);
    }
    (0, bytes)
}

/// Compresses with zstd; `None` when it refuses.
pub(super) fn compress(bytes: &[u8]) -> Option<Vec<u8>> {
    PACKER.with_borrow_mut(|packer| packer.as_mut()?.compress(bytes).ok())
}

/// Compresses a pack; `None` when zstd refuses.
pub(super) fn compress_pack(bytes: &[u8]) -> Option<Vec<u8>> {
    PACK_PACKER.with_borrow_mut(|packer| packer.as_mut()?.compress(bytes).ok())
}

/// Unpacks a row's bytes. Errors: [`StoreError::Body`].
pub(super) fn unpack(codec: i64, bytes: Vec<u8>) -> Result<Vec<u8>, StoreError> {
    match codec {
        0 => Ok(bytes),
        1 => UNPACKER.with_borrow_mut(|unpacker| {
            let damaged = || StoreError::Body("its frame cannot be read".to_owned());
            // A frame of ours names its size; a damaged one cannot ask for more than any body has.
            let size = Decompressor::upper_bound(&bytes)
                .filter(|size| *size <= MAX_BODY_BYTES)
                .ok_or_else(damaged)?;
            unpacker
                .as_mut()
                .ok_or_else(damaged)?
                .decompress(&bytes, size)
                .map_err(|e| StoreError::Body(e.to_string()))
        }),
        other => Err(StoreError::Body(format!("codec {other} is not known"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_keep_both_ends_and_their_hash() {
        let text = format!("{}é{}", "a".repeat(KEPT_EACH_END - 1), "b".repeat(TEXT_CAP_BYTES));
        let capped = cap_text(text.clone());
        assert!(capped.len() < 2 * KEPT_EACH_END + 300);
        assert!(
            capped.starts_with("aaa")
                && capped.ends_with("bbb")
                && capped.contains(&id::sha256(text.as_bytes()))
        );
        assert_eq!(cap_text("short".to_owned()), "short");
    }

    #[test]
    fn what_is_beside_the_parts_comes_back_and_the_parts_alone_too() {
        let blocks = vec![Block::Text { t: "}{ \u{1f600}".to_owned() }];
        let json = serde_json::to_vec(&blocks).unwrap();
        let beside = Beside { parent: Some("a\"b".into()), args: Some("".into()), ..Beside::default() };
        for beside in [beside, Beside::default()] {
            let body = body_of(json.clone(), &beside).unwrap();
            assert_eq!(blocks_of(&body).unwrap(), blocks);
            assert_eq!(whole_of(&body).unwrap(), (blocks.clone(), beside));
        }
        assert!(whole_of(b"[] {").is_err() && blocks_of(b"").is_err());
    }

    proptest::proptest! {
        #[test]
        fn bodies_round_trip(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..2000), times in 1_usize..20) {
            let bytes = bytes.repeat(times);
            let (codec, packed) = pack(bytes.clone());
            proptest::prop_assert_eq!(unpack(codec, packed).unwrap(), bytes);
        }
    }
}
