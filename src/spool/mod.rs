//! The spool: the doorbell between hooks and drainer (D1, D2).
//!
//! `tmp/` half-written, never read · `new/` published, complete · `cur/` claimed by the drainer · `odd/` what could not be used, each
//! with a `.why` file. A lost entry costs only time, because a sweep finds every transcript whose end lies beyond its cursor.

mod entry;
mod name;
mod odd;
mod scan;
mod write;

pub use entry::{Agent, Command, Entry, EntryError, FORMAT};
pub use name::{SpoolName, safe_id};
pub use odd::{Odd, quarantine, write_report};
pub use scan::{
    Backlog, Batch, Claimed, Counts, SpoolError, check_file_system, claim, counts, prepare, sweep_tmp, waits,
};
pub use write::{command, publish};
