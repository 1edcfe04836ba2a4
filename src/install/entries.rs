//! The hook entries that the host's settings should hold: one table, used by `install`, by the plugin and by `doctor`.
//!
//! A row a half of an event's work. Capture runs beside the session (`async`), recall is waited for. Entries are in exec form, `command` and
//! `args`: no shell reads them, so a path may hold spaces, quotes or `$`.
//!
//! ```json
//! {"matcher": "startup|resume|clear|compact|fork",
//!  "hooks": [{"type": "command", "command": "/home/dev/.local/bin/sinker", "args": ["hook", "claude", "session-start", "--only", "recall"], "timeout": 3}]}
//! ```

use crate::config::Tools;
use serde_json::{Value, json};

/// The part of an event's work that one entry does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// Drops a pointer; the session does not wait for it.
    Capture,
    /// Answers with past work; the session waits for it.
    Recall,
    /// The event has one work only, and no `--only` names it.
    Whole,
}

impl Half {
    /// Its name behind `--only`; `None` for [`Half::Whole`].
    pub fn name(self) -> Option<&'static str> {
        match self {
            Half::Capture => Some("capture"),
            Half::Recall => Some("recall"),
            Half::Whole => None,
        }
    }
}

/// One entry that should be there. Units: seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The host's name of the event, the key in its settings.
    pub host_event: &'static str,
    /// Our name of it, on the command line.
    pub event: &'static str,
    /// Which half of the work.
    pub half: Half,
    /// Which tools, or which kinds of start; `None` for all.
    ///
    /// The host takes letters, digits, `_`, `-`, `|`, commas and spaces as a list of whole names, and anything else as a regex that
    /// it does not anchor.
    pub matcher: Option<&'static str>,
    /// The host does not wait for it.
    pub background: bool,
    /// The host ends it after this.
    pub timeout_s: u32,
}

const CAPTURE_S: u32 = 5;
const RECALL_S: u32 = 3;

/// Every way in which a session begins. Recall has nothing to say on some, but a line about its state may be due on any.
const STARTS: &str = "startup|resume|clear|compact|fork";

/// Tools before which past work may matter: files, commands, subagents, and a look into another memory, whatever server it belongs to. Some
/// exist in some clients only. Our own tools match, too, and the hook is silent there: without look-around a regex cannot leave them out.
const TOOLS: &str =
    "^(Read|Edit|MultiEdit|Write|NotebookEdit|Bash|Grep|Glob|Agent|Task|(.*__)?memory|.*memory_search)$";

const fn capture(host_event: &'static str, event: &'static str) -> Entry {
    Entry { host_event, event, half: Half::Capture, matcher: None, background: true, timeout_s: CAPTURE_S }
}

const fn recall(host_event: &'static str, event: &'static str, matcher: Option<&'static str>) -> Entry {
    Entry { host_event, event, half: Half::Recall, matcher, background: false, timeout_s: RECALL_S }
}

const fn whole(host_event: &'static str, event: &'static str) -> Entry {
    Entry { host_event, event, half: Half::Whole, matcher: None, background: false, timeout_s: CAPTURE_S }
}

/// The table, in the order in which a session meets the events.
const QUIET: &[Entry] = &[
    whole("Setup", "setup"),
    capture("SessionStart", "session-start"),
    recall("SessionStart", "session-start", Some(STARTS)),
    capture("UserPromptSubmit", "user-prompt-submit"),
    recall("UserPromptSubmit", "user-prompt-submit", None),
    recall("UserPromptExpansion", "user-prompt-expansion", None),
    recall("PreToolUse", "pre-tool-use", Some(TOOLS)),
    capture("PostToolUse", "post-tool-use"),
    capture("PostToolUseFailure", "post-tool-use-failure"),
    recall("PostToolUseFailure", "post-tool-use-failure", None),
    capture("PostToolBatch", "post-tool-batch"),
    recall("SubagentStart", "subagent-start", None),
    capture("SubagentStop", "subagent-stop"),
    capture("PreCompact", "pre-compact"),
    capture("PostCompact", "post-compact"),
    capture("Stop", "stop"),
    capture("StopFailure", "stop-failure"),
    capture("SessionEnd", "session-end"),
];

/// With `tools = "all"`, these go in the place of the rows of their event and half, or behind the captures of their event.
const ALL: &[Entry] =
    &[recall("PreToolUse", "pre-tool-use", None), recall("PostToolUse", "post-tool-use", None)];

/// With `tools = "off"`, recall has no entry on these: a process that never speaks need not be started.
const OFF: &[&str] = &["pre-tool-use", "post-tool-use-failure", "subagent-start"];

/// The entries that should be there, by `recall.tools` of the config.
pub fn wanted(tools: Tools) -> Vec<Entry> {
    let mut entries = QUIET.to_vec();
    match tools {
        Tools::Quiet => {}
        Tools::Off => entries.retain(|e| e.half != Half::Recall || !OFF.contains(&e.event)),
        Tools::All => {
            for entry in ALL {
                let same = |e: &Entry| e.event == entry.event && e.half == entry.half;
                entries.retain(|e| !same(e));
                let behind = entries.iter().rposition(|e| e.event == entry.event);
                entries.insert(behind.map_or(entries.len(), |at| at + 1), *entry);
            }
        }
    }
    entries
}

impl Entry {
    /// The arguments of the binary: `hook claude stop --only capture`.
    pub fn args(&self) -> Vec<&'static str> {
        let mut args = vec!["hook", "claude", self.event];
        if let Some(half) = self.half.name() {
            args.extend(["--only", half]);
        }
        args
    }

    /// The hook object as it stands in the host's settings. `command` is the absolute path of the binary.
    pub fn hook(&self, command: &str) -> Value {
        let mut hook = json!({ "type": "command", "command": command, "args": self.args() });
        if let Value::Object(fields) = &mut hook {
            if self.background {
                fields.insert("async".to_owned(), true.into());
            }
            fields.insert("timeout".to_owned(), self.timeout_s.into());
        }
        hook
    }

    /// The group around it, a member of the event's list.
    pub fn group(&self, command: &str) -> Value {
        match self.matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": [self.hook(command)] }),
            None => json!({ "hooks": [self.hook(command)] }),
        }
    }

    /// The matcher of a group means the same as this entry's.
    pub fn matches(&self, matcher: Option<&str>) -> bool {
        matcher.filter(|m| !matches!(*m, "" | "*")) == self.matcher
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::Event;

    #[test]
    fn the_table_agrees_with_what_the_hook_does() {
        for tools in [Tools::Quiet, Tools::All, Tools::Off] {
            let entries = wanted(tools);
            for entry in &entries {
                let event = Event::from_name(entry.event).expect(entry.event);
                assert_eq!(event.host_name(), entry.host_event);
                assert_eq!(entry.background, entry.half == Half::Capture, "{}", entry.event);
                assert!(entry.half != Half::Capture || event.captures(), "{}", entry.event);
                assert!(entry.half != Half::Recall || event.may_recall(), "{}", entry.event);
                let same = |e: &&Entry| e.event == entry.event && e.half == entry.half;
                assert_eq!(entries.iter().filter(same).count(), 1, "{}", entry.event);
            }
            let captured = |name: &str| entries.iter().any(|e| e.event == name && e.half == Half::Capture);
            for (_, event) in EVENTS {
                let event = Event::from_name(event).unwrap();
                assert_eq!(captured(event.name()), event.captures(), "{}", event.name());
            }
        }
        assert_eq!(wanted(Tools::All).len(), wanted(Tools::Quiet).len() + 1);
        assert_eq!(wanted(Tools::Off).len(), wanted(Tools::Quiet).len() - OFF.len());
        let post: Vec<_> = wanted(Tools::All).into_iter().filter(|e| e.event == "post-tool-use").collect();
        assert_eq!(post.iter().map(|e| e.half).collect::<Vec<_>>(), [Half::Capture, Half::Recall]);
    }

    /// The names that `hook::tool` has a quiet answer for, and some that it has none for.
    #[test]
    fn the_matcher_of_tools_lets_those_through_that_the_hook_answers() {
        let quiet = wanted(Tools::Quiet);
        let matcher = quiet.iter().find(|e| e.event == "pre-tool-use").and_then(|e| e.matcher).unwrap();
        let matcher = regex::Regex::new(matcher).unwrap();
        let answered = "Read Edit MultiEdit Write NotebookEdit Bash Grep Glob Agent Task memory memory_search mcp__notes__memory \
            mcp__other__memory_search mcp__plugin_a_b__memory_search mcp__a__old_memory_search";
        let others = "WebFetch TodoWrite NotebookRead BashOutput KillBash mcp__x__Read memory_get mcp__a__memory_search_2 memories";
        for (names, expected) in [(answered, true), (others, false)] {
            for name in names.split_whitespace() {
                assert_eq!(matcher.is_match(name), expected, "{name}");
            }
        }
    }

    const EVENTS: [(&str, &str); 15] = [
        ("SessionStart", "session-start"),
        ("UserPromptSubmit", "user-prompt-submit"),
        ("UserPromptExpansion", "user-prompt-expansion"),
        ("PreToolUse", "pre-tool-use"),
        ("PostToolUse", "post-tool-use"),
        ("PostToolUseFailure", "post-tool-use-failure"),
        ("PostToolBatch", "post-tool-batch"),
        ("SubagentStart", "subagent-start"),
        ("SubagentStop", "subagent-stop"),
        ("PreCompact", "pre-compact"),
        ("PostCompact", "post-compact"),
        ("Stop", "stop"),
        ("StopFailure", "stop-failure"),
        ("SessionEnd", "session-end"),
        ("Setup", "setup"),
    ];

    #[test]
    fn matchers_are_lists_of_whole_names_or_regexes_with_anchors() {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '|' | '-');
        for matcher in wanted(Tools::Quiet).iter().filter_map(|entry| entry.matcher) {
            let list = matcher.chars().all(plain);
            assert!(list || matcher.starts_with("^(") && matcher.ends_with(")$"), "{matcher}");
            assert!(regex::Regex::new(matcher).is_ok(), "{matcher}");
        }
        let start =
            wanted(Tools::Quiet).into_iter().find(|e| e.host_event == "SessionStart" && !e.background);
        assert!(start.unwrap().matcher.unwrap().split('|').any(|name| name == "resume"));
    }
}
