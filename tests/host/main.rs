//! Sinker inside the real Claude Code client: each test plays a scenario against a scripted Messages API, in a network namespace of its own.
//!
//! The client is fetched by `tests/host/client` into a cache outside this tree. Where it or namespaces cannot be had, tests say so and try nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    reason = "a test that panics says what it found; the support code is outside of #[test], where clippy cannot tell"
)]

mod citizen;
mod events;
mod late;
mod measure;
mod memory;
mod moments;
mod rig;
mod screen;
mod tools;
mod turns;
mod working;
