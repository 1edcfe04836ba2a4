//! Sinker: a memory for Claude Code.
pub mod clock;
pub mod config;
pub mod drain;
pub mod fs;
pub mod hook;
pub mod id;
pub mod index;
pub mod log;
pub mod recall;
pub mod redact;
pub mod spool;
pub mod step;
pub mod store;
pub mod transcript;
