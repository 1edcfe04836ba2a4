//! Recall: query → route → rank → session → weigh → excerpt → budget → render. One way for hooks, command line, MCP and web.
//!
//! ```text
//! text ─▶ query    at most a dozen terms, the rarest first
//!      ─▶ route    at most N sessions, by how distinctively their profiles answer
//!      ─▶ rank     BM25 over the records of those sessions, prose above tool text
//!      ─▶ session  each record with its neighbours and its session; the threshold
//!      ─▶ weigh    what the text of the best few says of their worth
//!      ─▶ excerpt  at most 3 lines and 800 bytes a session, each with the uuid of its record
//!      ─▶ budget   whole entries, not shown before, within the characters left
//!      ─▶ render   fenced, labelled, cleaned
//! ```
//!
//! It reads the published index and writes nothing but `state/` (D9); what it says is a function of the index, the event, the
//! settings and what the session was shown (D15).

mod ask;
mod block;
mod brief;
mod claims;
mod clean;
mod context;
mod dates;
mod duplicate;
mod entry;
mod excerpt;
mod gate;
mod history;
mod inject;
mod launch;
mod newer;
mod origin;
mod parts;
mod piece;
mod query;
mod rank;
mod render;
mod route;
mod scope;
mod search;
mod session;
mod shown;
mod synonyms;
mod todo;
mod weigh;

pub use ask::{Answer, Ask, By, Deadline, Hit, Line, RecallError};
pub use clean::clean;
pub use gate::{Gated, gated};
pub use inject::{Inject, Moment, Said, Whole, inject};
pub use origin::quoted;
pub use parts::Parts;
pub use piece::{Piece, Worth};
pub use render::{FENCE_CHARS, enclose};
pub use search::{published, search};
pub use todo::{Work, work};
