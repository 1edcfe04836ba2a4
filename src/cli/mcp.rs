//! `sinker mcp`.

use super::Exit;
use super::exit::Failure;
use crate::config::Home;
use crate::mcp::{self, Memory};

/// Serve memory to the host as tools (MCP over stdin and stdout).
///
/// The host starts it: `claude mcp add sinker -- sinker mcp`. It reads only, opens no port, and ends when its input does.
#[derive(clap::Args)]
pub(super) struct Args {}

pub(super) fn run(home: &Home, _args: &Args) -> Result<Exit, Failure> {
    mcp::serve(Memory::of_environment(home.clone()))
        .map_err(|error| Failure::new(format!("the server cannot start: {error}")))?;
    Ok(Exit::Done)
}
