//! Sinker: a memory for Claude Code.
pub mod clock;
pub mod config;
pub mod fs;
pub mod id;
pub mod index;
pub mod log;
pub mod recall;
pub mod step;
