//! Reading the host's transcripts: files that another program appends to, moves, copies and cuts while we read.
//!
//! [`Reader`] gives lines, [`Cursor`] says where a file was left and whether it still is the file that was read, [`look`] says what a
//! line is, [`look_long`] the same of one that is too long to be held. Nothing here redacts or stores; text that leaves this module is still raw.

mod blocks;
mod cut;
mod cursor;
mod kinds;
mod long;
mod mend;
mod observation;
mod record;
mod slice;

pub use cursor::{Cursor, Mark, Verdict};
pub use cut::{MARGIN_BYTES, Piece, pieces};
pub use kinds::{Fate, Place, fate, rows};
pub use long::{Text, look_long, read_text};
pub use observation::{Block, Observation, Speaker, flatten_input};
pub use record::{Context, INLINE, Look, Namer, Parsed, look};
pub use slice::{Line, MAX_LINE_BYTES, RawLine, Reader};
