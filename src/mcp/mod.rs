//! `sinker mcp`: memory as tools of the Model Context Protocol, over stdin and stdout.
//!
//! ```text
//! stdin ─▶ lines     bounded, one JSON object a line; what is no request for us is answered or dropped here
//!       ─▶ adapter   the SDK and the async runtime: nothing of either is used in another file
//!       ─▶ tools     memory_search, memory_timeline, memory_get, memory_save, memory_status: plain functions of arguments
//!       ─▶ page      whole entries within the bound of an answer, cleaned, inside a fence of ours (D14)
//! ```
//!
//! It reads the published index through [`crate::recall`], which is opened for each call, so a newer one is noticed by itself; and the store's
//! read-only `Reader` for what the index does not hold: the whole of a long text, the neighbours of a document, and how far a session is
//! stored. It starts no drainer, opens no connection, waits for no lock longer than an answer may take, and writes nothing but its log, a
//! word for the drainer when it meets damage, and what `memory_save` is given: through [`crate::drain`], as the command `note` does.

mod adapter;
mod arguments;
mod get;
mod lines;
mod page;
mod save;
mod search;
mod status;
mod timeline;
mod tools;
mod work;

use crate::config::{Home, Secret, SecretError};
use crate::recall;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What is said in place of an answer. It may repeat an argument, which may be long. Units: characters.
const SENTENCE_CHARS: usize = 600;

/// What every call looks into.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Where the data lies.
    pub home: Home,
    /// The directory whose project is meant when none is named: the host's project directory, else the working directory.
    pub directory: PathBuf,
    /// The host's session, where it tells it.
    pub session: Option<String>,
    /// The secret as it was read last: what is said when the disk does not answer is fenced as well.
    fence: Arc<Mutex<Option<Secret>>>,
}

impl Memory {
    /// Takes directory and session from the environment that the host gave this process.
    pub fn of_environment(home: Home) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let directory = set("CLAUDE_PROJECT_DIR").map(PathBuf::from).or_else(|| std::env::current_dir().ok());
        let session = set("CLAUDE_CODE_SESSION_ID").and_then(|id| id.into_string().ok());
        Self::new(home, directory.unwrap_or_default(), session)
    }

    fn new(home: Home, directory: PathBuf, session: Option<String>) -> Self {
        Self { home, directory, session, fence: Arc::default() }
    }

    /// Reads the secret. Errors: it is damaged, or the system's.
    fn secret(&self) -> Result<Option<Secret>, SecretError> {
        let secret = Secret::read(&self.home)?;
        self.fence.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&secret);
        Ok(secret)
    }

    /// A sentence of ours for the model, and nothing it could take for something else: one line, cleaned, cut, and fenced as soon as this
    /// installation has a secret, so that it is known when it comes back. Touches no disk.
    fn sentence(&self, text: &str) -> String {
        let line = page::gist(text, SENTENCE_CHARS);
        match &*self.fence.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(secret) => recall::enclose(&format!("{line}\n"), secret),
            None => line,
        }
    }
}

pub use adapter::serve;
