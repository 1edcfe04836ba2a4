//! What Sinker must survive, one function a fault, named by its number: `f19_…` is row F19 of the list in `docs::faults`.

mod hook;
mod index;
mod life;
mod log;
mod spool;
mod store;
mod transcript;
