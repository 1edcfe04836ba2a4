//! The host's events and what each does here: one table (design, section 7).

/// An event of the host that Sinker listens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A session begins, or goes on after `/clear` or a compaction.
    SessionStart,
    /// A prompt was submitted.
    UserPromptSubmit,
    /// A slash command or skill expands.
    UserPromptExpansion,
    /// A tool is about to run.
    PreToolUse,
    /// A tool has run.
    PostToolUse,
    /// A tool has failed.
    PostToolUseFailure,
    /// All tools of one model message are done, denied and unknown ones included.
    PostToolBatch,
    /// A subagent begins.
    SubagentStart,
    /// A subagent has ended.
    SubagentStop,
    /// The host is about to compact.
    PreCompact,
    /// The host has compacted.
    PostCompact,
    /// The assistant has finished a reply.
    Stop,
    /// A reply failed on the API.
    StopFailure,
    /// A session ends.
    SessionEnd,
    /// The host was started for setup.
    Setup,
}

struct Row {
    event: Event,
    /// On our command line.
    name: &'static str,
    /// In the host's payloads and replies.
    host: &'static str,
    captures: bool,
    recalls: bool,
    synced: bool,
}

const fn row(event: Event, name: &'static str, host: &'static str, does: [bool; 3]) -> Row {
    let [captures, recalls, synced] = does;
    Row { event, name, host, captures, recalls, synced }
}

/// `[captures, recalls, synced to disk]`. Whether a tool's event speaks is for the settings to say.
const TABLE: &[Row] = &[
    row(Event::SessionStart, "session-start", "SessionStart", [true, true, false]),
    row(Event::UserPromptSubmit, "user-prompt-submit", "UserPromptSubmit", [true, true, false]),
    row(Event::UserPromptExpansion, "user-prompt-expansion", "UserPromptExpansion", [false, true, false]),
    row(Event::PreToolUse, "pre-tool-use", "PreToolUse", [false, true, false]),
    row(Event::PostToolUse, "post-tool-use", "PostToolUse", [true, true, false]),
    row(Event::PostToolUseFailure, "post-tool-use-failure", "PostToolUseFailure", [true, true, false]),
    row(Event::PostToolBatch, "post-tool-batch", "PostToolBatch", [true, false, false]),
    row(Event::SubagentStart, "subagent-start", "SubagentStart", [false, true, false]),
    row(Event::SubagentStop, "subagent-stop", "SubagentStop", [true, false, true]),
    row(Event::PreCompact, "pre-compact", "PreCompact", [true, false, true]),
    row(Event::PostCompact, "post-compact", "PostCompact", [true, false, true]),
    row(Event::Stop, "stop", "Stop", [true, false, true]),
    row(Event::StopFailure, "stop-failure", "StopFailure", [true, false, true]),
    row(Event::SessionEnd, "session-end", "SessionEnd", [true, false, true]),
    row(Event::Setup, "setup", "Setup", [false, false, false]),
];

impl Event {
    fn row(self) -> Option<&'static Row> {
        TABLE.iter().find(|row| row.event == self)
    }

    /// Finds an event by its name on our command line.
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.event)
    }

    /// Its name on our command line and in the spool.
    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    /// Its name in the host's payloads and replies.
    pub fn host_name(self) -> &'static str {
        self.row().map_or("", |row| row.host)
    }

    /// Does it leave a pointer in the spool?
    pub fn captures(self) -> bool {
        self.row().is_some_and(|row| row.captures)
    }

    /// Is that pointer synced to disk?
    pub fn synced(self) -> bool {
        self.row().is_some_and(|row| row.synced)
    }

    /// Is it one of those that may answer with context?
    pub fn may_recall(self) -> bool {
        self.row().is_some_and(|row| row.recalls)
    }

    /// May it answer with context? `source` is the payload's: a session that is resumed or forked has its context already.
    pub fn recalls(self, source: Option<&str>) -> bool {
        let speaks = self.may_recall();
        let repeated =
            self == Event::SessionStart && !matches!(source, Some("startup" | "clear" | "compact"));
        speaks && !repeated
    }
}

impl Event {
    /// Is it about one tool call?
    pub fn is_of_tool(self) -> bool {
        matches!(self, Event::PreToolUse | Event::PostToolUse | Event::PostToolUseFailure)
    }

    /// May its reply deny what is about to happen?
    pub fn may_deny(self) -> bool {
        self == Event::PreToolUse
    }

    /// May its reply hold a word to the user?
    pub fn tells_user(self) -> bool {
        matches!(self, Event::SessionStart | Event::Setup)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_found_by_its_name_and_resume_stays_silent() {
        for row in TABLE {
            assert_eq!(Event::from_name(row.name), Some(row.event));
            assert_eq!(row.event.host_name(), row.host);
        }
        let cases =
            [("startup", true), ("clear", true), ("compact", true), ("resume", false), ("fork", false)];
        for (source, speaks) in cases {
            assert_eq!(Event::SessionStart.recalls(Some(source)), speaks, "{source}");
        }
        assert!(!Event::SessionStart.recalls(None));
        assert!(!Event::Stop.recalls(None));
    }
}
