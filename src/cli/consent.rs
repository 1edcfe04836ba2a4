//! A person is asked before anything goes for good.

use super::Exit;
use super::exit::Failure;
use std::io::{BufRead, IsTerminal, Write};

/// Asks `question` on the terminal, unless `yes` answers it. Errors: there is nobody to ask, and nothing may go unasked.
pub(super) fn given(yes: bool, question: &str) -> Result<bool, Failure> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(Failure::new(
            "nothing was done: it would be for good, and there is no terminal to ask on",
        )
        .hint("`--dry-run` shows what would go; `--yes` answers the question beforehand")
        .exit(Exit::Usage));
    }
    let mut out = std::io::stdout().lock();
    drop(write!(out, "{question} [y/N] "));
    drop(out.flush());
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    Ok(read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes"))
}
