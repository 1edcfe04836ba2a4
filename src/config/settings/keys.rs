//! The table of settings: name, shape, who may set it, what it is for, what holds where nothing is set.

use super::super::capture::NEVER;
use super::super::home;

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Bool,
    /// A bool that a project's file may only switch off.
    Switch,
    Int {
        min: i64,
        max: i64,
    },
    Float {
        min: f64,
        max: f64,
    },
    Paths,
    Rules,
    Patterns,
    /// A list of globs, `!` before one takes back.
    Globs(Adds),
    Choice(&'static [&'static str]),
    /// A list of some of these.
    Words(&'static [&'static str]),
    Retain,
    /// A list of relative folders.
    Folders,
}

/// What a layer's list does to those below it. A project's may only keep more out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Adds {
    /// It takes their place; a project's is added, and may only hold `!` entries.
    Replaces,
    /// It is added; a project's may hold no `!` entry.
    Always,
}

/// The parts of the ranking that can be left out (`recall.without`).
pub const RANKING_PARTS: &[&str] = &[
    "neighbours",
    "session",
    "coverage",
    "dates",
    "age",
    "closing",
    "work",
    "claims",
    "narration",
    "synonyms",
];

pub(super) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    /// May a project's file set it?
    pub project: bool,
    /// One line for `config show`.
    pub help: &'static str,
    pub default: fn() -> toml::Value,
}

/// Every setting. A new one is a row here and a method of [`super::Settings`].
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "capture.enabled",
        kind: Kind::Switch,
        project: true,
        help: "store what sessions say; a project's file may only switch it off",
        default: || true.into(),
    },
    Key {
        name: "capture.exclude",
        kind: Kind::Globs(Adds::Replaces),
        project: false,
        help: "projects of which nothing is stored and to which nothing is told: globs over directories (with a /), ids or names",
        default: || toml::Value::Array(Vec::new()),
    },
    Key {
        name: "capture.tools",
        kind: Kind::Globs(Adds::Replaces),
        project: true,
        help: "tools whose inputs and results are stored; the last glob that fits decides, ! leaves out",
        default: || toml::Value::Array(vec!["*".into()]),
    },
    Key {
        name: "capture.never",
        kind: Kind::Globs(Adds::Always),
        project: true,
        help: "files whose content is never stored, added to the built-in list; ! takes one back",
        default: || toml::Value::Array(NEVER.iter().map(|p| toml::Value::from(*p)).collect()),
    },
    Key {
        name: "project.split",
        kind: Kind::Folders,
        project: true,
        help: "folders of a repository that are projects of their own: paths from its root, * for any one folder",
        default: || toml::Value::Array(Vec::new()),
    },
    Key {
        name: "recall.enabled",
        kind: Kind::Bool,
        project: true,
        help: "hand past work to the assistant",
        default: || true.into(),
    },
    Key {
        name: "recall.deadline_ms",
        kind: Kind::Int { min: 0, max: 1000 },
        project: false,
        help: "after this a recall hook gives no context",
        default: || 150.into(),
    },
    Key {
        name: "recall.event_chars",
        kind: Kind::Int { min: 0, max: 9000 },
        project: true,
        help: "characters injected for one event (session-start: twice)",
        default: || 2500.into(),
    },
    Key {
        name: "recall.prompt_chars",
        kind: Kind::Int { min: 0, max: 20_000 },
        project: true,
        help: "characters injected for one prompt, its tool events included",
        default: || 3000.into(),
    },
    Key {
        name: "recall.session_chars",
        kind: Kind::Int { min: 0, max: 200_000 },
        project: true,
        help: "characters injected for one session since its last compaction",
        default: || 20_000.into(),
    },
    Key {
        name: "recall.sessions",
        kind: Kind::Int { min: 1, max: 10 },
        project: true,
        help: "past sessions that one answer may draw on",
        default: || 3.into(),
    },
    Key {
        name: "recall.threshold",
        kind: Kind::Float { min: 0.0, max: 1.0 },
        project: true,
        help: "share of the query's weight that a session must cover, or nothing of it is injected",
        default: || 0.5.into(),
    },
    Key {
        name: "recall.without",
        kind: Kind::Words(RANKING_PARTS),
        project: true,
        help: "parts of the ranking to leave out, to see what each is worth",
        default: || toml::Value::Array(Vec::new()),
    },
    Key {
        name: "recall.hint",
        kind: Kind::Bool,
        project: true,
        help: "the start of a session says in one line how to ask for more",
        default: || true.into(),
    },
    Key {
        name: "recall.show_brief",
        kind: Kind::Bool,
        project: true,
        help: "what the assistant is told at the start of a session is shown in the terminal, too",
        default: || false.into(),
    },
    Key {
        name: "recall.tools",
        kind: Kind::Choice(&["quiet", "all", "off"]),
        project: true,
        help: "events of tools: quiet (a file with history, a command that failed before, a failure, a subagent), all, off",
        default: || "quiet".into(),
    },
    Key {
        name: "recall.all_hosts",
        kind: Kind::Bool,
        project: true,
        help: "hand out what sessions of other hosts than Claude Code said, too",
        default: || false.into(),
    },
    Key {
        name: "recall.read_gate",
        kind: Kind::Bool,
        project: false,
        help: "a large file of which past sessions know something is not read whole at the first try, but told about; the second try always reads it",
        default: || false.into(),
    },
    Key {
        name: "recall.read_gate_bytes",
        kind: Kind::Int { min: 4_000, max: 100_000_000 },
        project: false,
        help: "smaller files are always read",
        default: || 40_000.into(),
    },
    Key {
        name: "retain.rules",
        kind: Kind::Retain,
        project: false,
        help: "what is taken away once a day: tables of project, kind, speaker, max_age_days, max_mb; nothing by default",
        default: || toml::Value::Array(Vec::new()),
    },
    Key {
        name: "redact.rules",
        kind: Kind::Rules,
        project: false,
        help: "rules beside the built-in ones: { name, pattern, keywords }",
        default: || toml::Value::Array(Vec::new()),
    },
    Key {
        name: "redact.allow",
        kind: Kind::Patterns,
        project: false,
        help: "what is no secret although a rule finds it: patterns of the whole",
        default: || toml::Value::Array(Vec::new()),
    },
    Key {
        name: "transcripts.roots",
        kind: Kind::Paths,
        project: false,
        help: "folders swept for transcripts",
        default: || {
            let root = home::host_root().map(|r| toml::Value::from(r.to_string_lossy().into_owned()));
            toml::Value::Array(root.into_iter().collect())
        },
    },
];
