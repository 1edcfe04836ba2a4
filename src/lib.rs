//! Sinker: a memory for Claude Code.
//!
//! It keeps what sessions said and hands the assistant the few lines of past work that matter now, or nothing. Capture costs a session about a
//! millisecond, recall a few; neither calls a model, opens a port or waits for a daemon. It promises that nothing said is lost, stored twice,
//! or stored with a secret in it; the promises have numbers, and the page [`docs::durability`] says where each is upheld and tested.
//!
//! The modules stand in the order in which a fact moves through the program:
//!
//! | module | what it does |
//! |---|---|
//! | [`hook`] | answers the host: drops a pointer, or recalls |
//! | [`spool`] | the pointers, between hooks and drainer |
//! | [`transcript`] | reads the host's session files |
//! | [`redact`] | takes secrets out before anything reaches disk |
//! | [`drain`] | follows the pointers; the only writer |
//! | [`store`] | SQLite, the truth |
//! | [`index`] | Tantivy, derived and disposable |
//! | [`recall`] | from a question to lines worth their tokens |
//! | [`mcp`] | the same answers as tools, for the assistant to ask |
//! | [`install`] | entries in the host's settings, the plugin |
//! | [`service`] | the drainer as a service of systemd or launchd |
//! | [`doctor`] | whether all of it works here |
//! | [`cli`] | the commands |
//!
//! Under all of them: [`config`], [`ledger`], [`fs`], [`clock`], [`step`], [`command`], [`work`], [`id`], [`log`], [`visible`].

pub mod hook;
pub mod spool;
pub mod transcript;
pub mod redact;
pub mod drain;
pub mod store;
pub mod index;
pub mod recall;
pub mod mcp;
pub mod install;
pub mod service;
pub mod doctor;
pub mod cli;
pub mod config;
pub mod ledger;
pub mod fs;
pub mod clock;
pub mod step;
pub mod command;
pub mod work;
pub mod id;
pub mod log;
pub mod visible;
pub mod docs;
