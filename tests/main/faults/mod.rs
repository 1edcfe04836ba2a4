//! What Sinker must survive, one function a fault, named by its number: `f19_…` is row F19 of the list in `docs::faults`.

mod actors;
mod drained;
mod echo;
mod forget;
mod hook;
mod hostile;
mod index;
pub mod install;
mod kernel;
mod life;
mod log;
mod mcp;
mod planted;
mod poison;
mod power;
mod recall;
mod redaction;
mod repair;
mod retain;
mod spool;
mod spool_watch;
mod spool_week;
mod store;
mod transcript;
mod transcript_lines;
mod transcript_types;
mod transcript_scale;
