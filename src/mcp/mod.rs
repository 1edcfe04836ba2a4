//! `sinker mcp`: memory as tools of the Model Context Protocol, over stdin and stdout.
//!
//! ```text
//! stdin ─▶ lines     bounded, one JSON object a line; what is no request for us is answered or dropped here
//!       ─▶ adapter   the SDK and the async runtime: nothing of either is used in another file
//!       ─▶ tools     memory_search, memory_timeline, memory_get, memory_status: plain functions of arguments
//!       ─▶ page      whole entries within the bound of an answer, cleaned, inside a fence of ours (D14)
//! ```
//!
//! It reads the published index through [`crate::recall`], which is opened for each call, so a newer one is noticed by itself; and the store's
//! read-only `Reader` for what the index does not hold: the whole of a long text, the neighbours of a document, and how far a session is
//! stored. It starts no drainer, opens no connection, waits for no lock longer than an answer may take, and writes nothing but its log and a
//! note for the drainer when it meets damage.

mod adapter;
mod arguments;
mod get;
mod lines;
mod page;
mod search;
mod status;
mod timeline;
mod tools;

use crate::config::Home;
use std::path::PathBuf;

/// What every call looks into.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Where the data lies.
    pub home: Home,
    /// The directory whose project is meant when none is named: the host's project directory, else the working directory.
    pub directory: PathBuf,
    /// The host's session, where it tells it.
    pub session: Option<String>,
}

impl Memory {
    /// Takes directory and session from the environment that the host gave this process.
    pub fn of_environment(home: Home) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let directory = set("CLAUDE_PROJECT_DIR").map(PathBuf::from).or_else(|| std::env::current_dir().ok());
        let session = set("CLAUDE_CODE_SESSION_ID").and_then(|id| id.into_string().ok());
        Self { home, directory: directory.unwrap_or_default(), session }
    }
}

pub use adapter::serve;
