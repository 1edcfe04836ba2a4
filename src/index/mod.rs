//! The search index: Tantivy, derived from the store, disposable (D6).
//!
//! Nothing here is the truth: deleting `index/` loses only the time to build it again. A **generation** is one Tantivy index in its own
//! directory; `index/current` holds the name of the one that answers. Only the holder of the drain lock writes; readers
//! wait for nobody.
//!
//! ```text
//! index/current        "g000002\n", replaced by rename
//! index/g000002/       Tantivy; its commit payload is {"seq":4711,"format":1}
//! ```
//!
//! It does not rank: see [`crate::recall`].

mod admission;
mod compound;
mod directory;
mod document;
mod error;
mod fold;
mod generation;
mod irregular;
mod paths;
mod present;
mod publish;
mod reader;
mod schema;
mod stem;
mod stop;
pub mod tokens;
mod verify;

pub use document::Document;
pub use error::{IndexError, is_damage};
pub use generation::{published_seq, refuse_newer};
pub use irregular::forms as irregular_forms;
pub use paths::fold_path;
pub use publish::{Opened, Writer};
pub use reader::{Reader, Stored};
pub use schema::Fields;
pub use verify::{Report, damaged_files, verify};
