//! Reading the host's transcripts: files that another program appends to, moves, copies and cuts while we read.
//!
//! [`Reader`] gives lines, [`Cursor`] says where a file was left and whether it still is the file that was read, [`parse`] says what a
//! line is. Nothing here redacts or stores; text that leaves this module is still raw.

mod cursor;
mod kinds;
mod observation;
mod record;
mod slice;

pub use cursor::{Cursor, Mark, Verdict};
pub use kinds::{Fate, fate};
pub use observation::{Block, Observation, Speaker, flatten_input};
pub use record::{Context, Parsed, parse};
pub use slice::{Line, MAX_LINE_BYTES, RawLine, Reader};
