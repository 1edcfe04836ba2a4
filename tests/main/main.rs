//! Behaviour tests: the real executable, each test with its own home, host folder and spool.
//!
//! One binary, so that it links once. A test is named by its outcome; it waits on a condition with a deadline and never sleeps.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    reason = "a test that panics says what it found; the support code is outside of #[test], where clippy cannot tell"
)]

mod brief;
mod claims;
mod cli;
mod crash;
mod demo;
mod doctor;
mod drain;
mod events;
mod export;
mod failures;
mod faults;
mod file_history;
mod frozen;
mod hook;
mod note;
mod notice;
mod mcp;
mod install;
mod order;
mod permissions;
mod private;
mod projects;
mod rewind;
mod shapes;
mod service;
mod spool;
mod support;
mod tidy;
mod trust;
mod waiting;
mod work;
