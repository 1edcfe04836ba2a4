//! What scenarios stand on: a namespace without a way out, a scripted Messages API, the client, a user's machine.

mod api;
mod namespace;
mod terminal;
mod world;

pub use api::{Reply, bash, call, text, thinking};
pub use terminal::Terminal;
pub use world::{DECISION, TOOLS, World, assert_rang, finish, line, until, write};

use std::path::Path;

/// Runs a scenario in a world of its own; `name` is the test's, as the test harness lists it.
pub fn scenario(name: &str, play: impl FnOnce(&World)) {
    namespace::isolated(name, |client: &Path| play(&World::new(client)));
}
