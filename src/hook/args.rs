//! The arguments of `hook`, parsed by hand: building the command line parser would cost more than the hook's work.

use super::Event;
use std::ffi::OsString;
use std::path::PathBuf;

/// Which half of the work is wanted; without it, both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Only {
    Capture,
    Recall,
    Vault,
}

/// What `--help` prints. The host never asks.
pub(super) const HELP: &str = "\
Answer one hook of the host: read its event on stdin, leave a pointer in the spool, print what past work says, or nothing

Usage: sinker hook claude <EVENT> [PROJECT] [--only capture|recall|vault] [--strict]

Arguments:
  <EVENT>    session-start, user-prompt-submit, post-tool-use, stop, session-end, ... (the host's names, in small letters with dashes)
  [PROJECT]  The project's directory; CLAUDE_PROJECT_DIR goes before it

Options:
      --only <HALF>  Do only one half: capture, recall or vault
      --strict       Exit with 1 when an event was understood but could not be spooled
  -h, --help         Print help

Example: echo '{\"session_id\":\"s\",\"transcript_path\":\"/tmp/s.jsonl\"}' | sinker hook claude stop
";

/// `claude <event> [PROJECT] [--only capture|recall|vault] [--strict]`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Args {
    pub event: Event,
    pub project: Option<PathBuf>,
    pub only: Option<Only>,
    pub strict: bool,
}

impl Args {
    /// The half that answers is wanted.
    pub(super) fn recalls(&self) -> bool {
        self.only.is_none_or(|only| only == Only::Recall)
    }

    /// Errors: the argument that is not understood, or what is missing.
    pub(super) fn parse(mut args: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let host = args.next().ok_or("(no host)")?;
        if host != "claude" {
            return Err(host.to_string_lossy().into_owned());
        }
        let event = args.next().ok_or("(no event)")?;
        let event = Event::from_name(&event.to_string_lossy()).ok_or(event.to_string_lossy().into_owned())?;
        let mut parsed = Self { event, project: None, only: None, strict: false };
        while let Some(arg) = args.next() {
            match arg.to_str() {
                Some("--strict") => parsed.strict = true,
                Some("--only") => {
                    let value = args.next().unwrap_or_default();
                    parsed.only = Some(only(&value.to_string_lossy())?);
                }
                Some(text) if text.starts_with("--only=") => {
                    parsed.only = Some(only(text.trim_start_matches("--only="))?);
                }
                Some(text) if text.starts_with('-') => return Err(text.to_owned()),
                _ if parsed.project.is_none() => parsed.project = Some(PathBuf::from(arg)),
                _ => return Err(arg.to_string_lossy().into_owned()),
            }
        }
        Ok(parsed)
    }
}

fn only(text: &str) -> Result<Only, String> {
    match text {
        "capture" => Ok(Only::Capture),
        "recall" => Ok(Only::Recall),
        "vault" => Ok(Only::Vault),
        other => Err(format!("--only {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<Args, &str>) {
        let args = line.split_whitespace().map(OsString::from);
        assert_eq!(Args::parse(args), expected.map_err(str::to_owned), "{line}");
    }

    #[test]
    fn the_installed_command_lines_are_understood() {
        let stop = |project: Option<&str>, only, strict| Args {
            event: Event::Stop,
            project: project.map(PathBuf::from),
            only,
            strict,
        };
        check("claude stop", Ok(stop(None, None, false)));
        check("claude stop /p --only capture --strict", Ok(stop(Some("/p"), Some(Only::Capture), true)));
        check("claude stop --only=recall", Ok(stop(None, Some(Only::Recall), false)));
        check("claude stop --only vault", Ok(stop(None, Some(Only::Vault), false)));
        check("", Err("(no host)"));
        check("codex stop", Err("codex"));
        check("claude dance", Err("dance"));
        check("claude stop --only", Err("--only "));
        check("claude stop --loud", Err("--loud"));
        check("claude stop a b", Err("b"));
    }
}
