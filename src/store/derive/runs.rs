//! What was run in a turn, and how each run ended: commands, tests, and calls of any tool that failed.

use crate::command;
use crate::store::body::{Block, Ran, Tested};
use crate::store::facts::action;
use std::collections::BTreeMap;

/// Of a call of another tool, so much is told. Units: characters.
const CALL_CHARS: usize = 160;
/// Of an error, so much. Units: characters.
const ERROR_CHARS: usize = 200;
/// Commands and tests that a turn tells: the newest.
const TOLD: usize = 24;
/// Of a turn, so many runs are known.
const MOST: usize = 2_000;
/// What a call was given is told, where no file and no command is, by so much of it. Units: characters.
const INPUT_CHARS: usize = 80;
/// Of what was printed, so much is looked through for what it says of itself, from the end. Units: bytes.
const LOOK_BYTES: usize = 64 * 1024;

/// How the read gate says what it denies.
const GATE: &str = "Sinker: this file has ";

/// How a run ended. The numbers are those of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum End {
    /// It worked.
    Well = 0,
    /// It failed.
    Failed = 1,
    /// A person or a rule did not allow it.
    Denied = 2,
    /// There is no such tool.
    Unknown = 3,
    /// A person cut it off.
    Interrupted = 4,
}

impl End {
    /// The name in JSON.
    pub(in crate::store) fn name(number: i64) -> &'static str {
        match number {
            0 => "well",
            2 => "denied",
            3 => "unknown",
            4 => "interrupted",
            _ => "failed",
        }
    }
}

/// One run.
#[derive(Debug, Clone)]
pub(in crate::store) struct Run {
    /// The observation that holds the result.
    pub observation: i64,
    pub time_ms: i64,
    /// Tool and what it was to do, without its dress: runs of one key are runs of one thing.
    pub key: String,
    pub tool: String,
    /// The command, or tool and file, as it is told.
    pub told: String,
    pub end: End,
    pub exit: Option<i64>,
    /// The line that says what went wrong; empty for one that worked.
    pub error: String,
}

struct Call {
    tool: String,
    command: Option<String>,
    key: String,
    told: String,
    edits: Option<String>,
}

/// Collects the runs of a turn, record by record.
#[derive(Default)]
pub(super) struct Collector {
    open: BTreeMap<String, Call>,
    runs: Vec<Run>,
    ran: Vec<Ran>,
    tested: Vec<Tested>,
    /// Commands that failed when they ran last, with what they printed, and the record.
    failing: Vec<(String, String, String)>,
}

impl Collector {
    /// Takes a record. `record`: the id that tells where a run is found again.
    pub(super) fn add(&mut self, observation: i64, record: &str, time_ms: Option<i64>, blocks: &[Block]) {
        for block in blocks {
            match block {
                Block::Use { id, name, t, file, cmd } => {
                    self.called(id, name, t, file.as_deref(), cmd.as_deref());
                }
                Block::Result { id, t, failed, exit, interrupted } => {
                    let how = (*failed, *exit, *interrupted);
                    self.returned(id, t, how, (observation, record, time_ms.unwrap_or(0)));
                }
                _ => {}
            }
        }
    }

    fn called(&mut self, id: &str, tool: &str, input: &str, file: Option<&str>, command: Option<&str>) {
        let call = match (command, file) {
            (Some(command), _) => Call {
                tool: tool.to_owned(),
                command: Some(command.to_owned()),
                key: command::plain(command),
                told: command::told(command),
                edits: None,
            },
            (None, file) => {
                let first = || one_line(input.lines().next().unwrap_or_default(), INPUT_CHARS);
                let what = file.map_or_else(first, str::to_owned);
                let edits = file.filter(|_| matches!(action(tool), Some("edit" | "write")));
                Call {
                    tool: tool.to_owned(),
                    command: None,
                    key: format!("{tool} {what}"),
                    told: one_line(&format!("{tool} {what}"), CALL_CHARS),
                    edits: edits.map(str::to_owned),
                }
            }
        };
        self.open.insert(id.to_owned(), call);
    }

    fn returned(
        &mut self,
        id: &str,
        text: &str,
        (failed, exit, interrupted): (bool, Option<i64>, bool),
        (observation, record, time_ms): (i64, &str, i64),
    ) {
        // The read gate's own word is nobody's failure.
        let Some(call) = self.open.remove(id).filter(|_| !text.contains(GATE)) else { return };
        let end = end(text, failed, interrupted);
        let shown = tail(text);
        let error = || match end {
            End::Well => String::new(),
            _ => one_line(command::error_line(text), ERROR_CHARS),
        };
        if let Some(command) = &call.command {
            let hides = !command::tells_its_status(command) && command::says_it_failed(shown);
            let is_test = command::runs_tests(command);
            if is_test {
                let result = match (end, command::test_summary(shown)) {
                    (End::Well, Some(_)) if hides || command::says_it_failed(shown) => "failed",
                    (End::Well, Some(_)) => "passed",
                    (End::Well, None) if command::tells_its_status(command) => "passed",
                    (End::Failed, _) => "failed",
                    _ => "unclear",
                };
                let summary = command::test_summary(shown).unwrap_or_default();
                self.tested.push(Tested {
                    command: call.told.clone(),
                    result: result.to_owned(),
                    summary: one_line(summary, ERROR_CHARS),
                    record: record.to_owned(),
                });
            }
            let exit = match end {
                End::Failed => exit,
                End::Well if command::tells_its_status(command) => Some(exit.unwrap_or(0)),
                _ => exit,
            };
            self.ran.push(Ran {
                command: call.told.clone(),
                exit,
                end: End::name(end as i64).to_owned(),
                record: record.to_owned(),
            });
            self.failing.retain(|(known, ..)| *known != call.told);
            if matches!(end, End::Failed | End::Interrupted) {
                self.failing.push((call.told.clone(), error(), record.to_owned()));
            }
            // A run whose failure a pipe hid is none that worked.
            if end == End::Well && hides {
                return;
            }
        } else if end == End::Well {
            // Of what is no command a run that worked is known only as the end of a failure of this turn.
            if call.edits.is_none() || !self.runs.iter().any(|run| run.key == call.key) {
                return;
            }
        }
        if self.runs.len() < MOST {
            let error = error();
            let Call { tool, key, told, .. } = call;
            self.runs.push(Run { observation, time_ms, key, tool, told, end, exit, error });
        }
    }

    /// Commands that failed when they ran last in the turn: command, error, record.
    pub(super) fn failing(&mut self) -> Vec<(String, String, String)> {
        std::mem::take(&mut self.failing)
    }

    /// What the turn tells of its commands and tests, the newest of too many.
    pub(super) fn told(&mut self) -> (Vec<Ran>, Vec<Tested>) {
        let mut ran = std::mem::take(&mut self.ran);
        let mut tested = std::mem::take(&mut self.tested);
        ran.drain(..ran.len().saturating_sub(TOLD));
        tested.drain(..tested.len().saturating_sub(TOLD));
        (ran, tested)
    }

    /// All runs.
    pub(super) fn runs(self) -> Vec<Run> {
        self.runs
    }
}

/// How a result says that its call ended (host facts, sections 1 and 5.2).
fn end(text: &str, failed: bool, interrupted: bool) -> End {
    let text = text.trim_start();
    let begins = |heads: &[&str]| heads.iter().any(|head| text.starts_with(head));
    if interrupted
        || (failed
            && begins(&[
                "[Request interrupted",
                "Command was aborted",
                "Interrupted by user",
                "<tool_use_error>Sibling tool call errored",
            ]))
    {
        return End::Interrupted;
    }
    if !failed {
        return End::Well;
    }
    if text.contains("No such tool available") || begins(&["Unknown tool"]) {
        return End::Unknown;
    }
    let denied = [
        "The user doesn't want to",
        "Permission to use",
        "Claude requested permissions",
        "Permission for this",
        "User rejected",
        "Tool use was rejected",
        "This command requires approval",
        "User chose to",
    ];
    let by_a_hook = text.starts_with("PreToolUse:") && text.contains(" hook error:");
    if by_a_hook || begins(&denied) || text.contains("denied this tool call") || text.contains("hook blocked")
    {
        return End::Denied;
    }
    End::Failed
}

fn tail(text: &str) -> &str {
    let from = text.len().saturating_sub(LOOK_BYTES);
    (from..=text.len()).find_map(|at| text.get(at..)).unwrap_or_default()
}

/// A text as one line, cut.
pub(super) fn one_line(text: &str, chars: usize) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match joined.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", joined.get(..at).unwrap_or_default()),
        None => joined,
    }
}
