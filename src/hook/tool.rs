//! What a tool call asks of recall, by the host's tools: quietly, unless the settings want all of it.

use super::Event;
use super::input::{GIST_BYTES, cut};
use super::wire::Payload;
use crate::command;
use crate::config::Tools;
use crate::recall::{Moment, Piece, Whole};
use std::path::{Component, Path, PathBuf};

/// What comes back from a tool is asked by at least so many distinctive terms: `Exit code 1` alone says nothing.
const RESULT_TERMS: usize = 3;
/// So many words of a command are taken for paths.
const MAX_PATHS: usize = 8;
/// The host's name for a subagent without a type.
const PLAIN_AGENT: &str = "general-purpose";

/// What to ask at an event of a tool; `None`: say nothing. `root` is the project's directory.
pub(super) fn moment(event: Event, payload: &Payload, tools: Tools, root: &Path) -> Option<Moment> {
    let name = payload.tool_name.as_deref()?;
    if tools == Tools::Off || is_ours(name) {
        return None;
    }
    let input = &payload.tool_input;
    let root_text = root.to_str().unwrap_or_default();
    let ids = [&payload.session_id, &payload.prompt_id, &payload.agent_id, &payload.tool_use_id];
    let ids: Vec<&str> = ids.into_iter().filter_map(|id| id.as_deref()).collect();
    let called = || {
        let mut pieces = vec![Piece::plain(name)];
        pieces.extend(Piece::cut(input.gist.text(), root_text, &ids, false));
        pieces
    };
    match event {
        Event::PreToolUse if matches!(name, "Agent" | "Task") => Some(Moment::Launch {
            kind: input.subagent_type.clone().unwrap_or_else(|| PLAIN_AGENT.to_owned()),
            prompt: input.prompt.clone()?,
            aloud: tools == Tools::All,
        }),
        Event::PreToolUse if tools == Tools::All => Some(Moment::Tool { pieces: called(), least: 0 }),
        Event::PreToolUse if is_memory(name) => {
            Some(Moment::Call { pieces: vec![Piece::plain(input.query.as_deref()?)], least: 0 })
        }
        Event::PreToolUse => match host_memory(name, payload) {
            Some(asked) => asked.map(|query| Moment::Call { pieces: vec![Piece::plain(&query)], least: 0 }),
            None => touch(name, payload, root),
        },
        Event::PostToolUse if tools == Tools::All => {
            let given_back = Piece::cut(payload.tool_response.text(), root_text, &ids, false);
            Some(Moment::Tool { pieces: [called(), given_back].concat(), least: RESULT_TERMS })
        }
        Event::PostToolUseFailure => {
            let error = cut(payload.error.as_deref().unwrap_or_default(), GIST_BYTES);
            let error = Piece::cut(error, root_text, &ids, true);
            Some(Moment::Call { pieces: [called(), error].concat(), least: RESULT_TERMS })
        }
        _ => None,
    }
}

/// A tool of our own MCP server answers from the same memory.
fn is_ours(name: &str) -> bool {
    name.starts_with("mcp__sinker__") || name.starts_with("mcp__plugin_sinker_sinker__")
}

/// A tool that looks into another memory.
fn is_memory(name: &str) -> bool {
    let last = name.rsplit("__").next().unwrap_or(name);
    last.ends_with("memory_search") || last == "memory"
}

fn touch(name: &str, payload: &Payload, root: &Path) -> Option<Moment> {
    let input = &payload.tool_input;
    let base = payload.cwd.as_deref().map_or(root, Path::new);
    let command = if name == "Bash" { input.command.clone() } else { None };
    let named = match name {
        "Read" | "Edit" | "Write" | "MultiEdit" => input.file_path.as_slice(),
        "NotebookEdit" => input.notebook_path.as_slice(),
        "Grep" | "Glob" => input.path.as_slice(),
        "Bash" => &[],
        _ => return None,
    };
    let words = command.iter().flat_map(|command| command::paths(command));
    let files: Vec<_> = named
        .iter()
        .map(String::as_str)
        .chain(words)
        .filter_map(|path| names(path, base, root))
        .take(MAX_PATHS)
        .collect();
    let edits = matches!(name, "Edit" | "Write" | "MultiEdit" | "NotebookEdit");
    (!files.is_empty() || command.is_some()).then_some(Moment::Touch { files, command, whole: None, edits })
}

/// A file that is no longer than what would be said of it is not worth saying it. Units: bytes.
const TINY_BYTES: u64 = 400;

/// Looks at what a call names on disk: a word of a command, or what is searched, is told of only where it really is a file; what is tiny, and what a
/// subagent reads, not at all. `gate`: the size from which on a whole read is to be asked about, bytes.
pub(super) fn look(moment: Moment, payload: &Payload, gate: Option<u64>) -> Option<Moment> {
    let Moment::Touch { mut files, command, edits, .. } = moment else { return Some(moment) };
    let name = payload.tool_name.as_deref().unwrap_or_default();
    let named = !matches!(name, "Bash" | "Grep" | "Glob");
    let disk = |names: &Vec<String>| std::fs::metadata(names.first()?).ok();
    files.retain(|names| match disk(names) {
        Some(meta) => meta.is_file() && meta.len() >= TINY_BYTES,
        None => named,
    });
    if payload.agent_id.is_some() {
        files.clear();
    }
    let gate = gate.filter(|_| name == "Read" && !payload.tool_input.is_part && payload.whole);
    let whole = gate.and_then(|limit| {
        let meta = disk(files.first()?)?;
        let changed = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        let changed_ms = i64::try_from(changed.as_millis()).ok()?;
        (meta.len() > limit).then_some(Whole { bytes: meta.len(), changed_ms })
    });
    let edits = edits && !files.is_empty();
    (!files.is_empty() || command.is_some()).then_some(Moment::Touch { files, command, whole, edits })
}

/// What is asked of the host's own memory of a project (`<projects>/<slug>/memory`), by a search there or by the name of the note that is read.
/// `None`: the call has nothing to do with it; `Some(None)`: it asks for nothing that has words.
fn host_memory(name: &str, payload: &Payload) -> Option<Option<String>> {
    let input = &payload.tool_input;
    let projects = crate::config::host_root()?;
    let is_there = |path: &str| {
        let path = match path.strip_prefix("~/") {
            Some(rest) => std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default().join(rest),
            None => PathBuf::from(path),
        };
        path.strip_prefix(&projects)
            .is_ok_and(|rest| rest.components().nth(1) == Some(Component::Normal("memory".as_ref())))
    };
    match name {
        "Read" => {
            let path = input.file_path.as_deref().filter(|path| is_there(path))?;
            let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            // The host's list of its notes is about everything.
            Some((!stem.eq_ignore_ascii_case("memory")).then(|| stem.replace(['-', '_', '.'], " ")))
        }
        "Grep" => {
            input.path.as_deref().filter(|path| is_there(path))?;
            Some(input.pattern.as_deref().map(words_of).filter(|words| !words.is_empty()))
        }
        "Bash" => {
            let command = input.command.as_deref()?;
            let quiet = |c: char| c.is_whitespace() || "\"';|&()<>".contains(c);
            let words: Vec<&str> = command.split(quiet).filter(|word| !word.is_empty()).collect();
            words.iter().find(|word| is_there(word))?;
            // Behind the program's name, without options and places.
            let asked = words.iter().skip(1).filter(|word| !word.starts_with('-') && !word.contains('/'));
            let asked = words_of(&asked.copied().collect::<Vec<_>>().join(" "));
            Some(Some(asked).filter(|words| !words.is_empty()))
        }
        _ => None,
    }
}

/// The words of a pattern.
fn words_of(pattern: &str) -> String {
    let words =
        pattern.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The names of a file: the whole path, and that inside the project, by which another checkout of it knows it.
fn names(path: &str, base: &Path, root: &Path) -> Option<Vec<String>> {
    let whole = plain(&base.join(path))?;
    let inside = whole.strip_prefix(root).ok().filter(|inside| inside.components().count() > 1);
    let text = |path: &Path| path.to_str().map(str::to_owned);
    Some(text(&whole).into_iter().chain(inside.and_then(text)).collect())
}

/// Without `.` and `..`, which it takes at their word: nothing is looked up on disk.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    (out.components().count() > 1).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::super::wire;
    use super::*;
    use crate::recall::Worth;
    use serde_json::{Value, json};

    fn ask(event: Event, tools: Tools, payload: &Value) -> Option<Moment> {
        let payload = wire::tests::payload(payload);
        moment(event, &payload, tools, Path::new("/p"))
    }

    fn before(name: &str, input: Value) -> Option<Moment> {
        ask(
            Event::PreToolUse,
            Tools::Quiet,
            &json!({"tool_name": name, "tool_input": input, "cwd": "/p/sub"}),
        )
    }

    fn touches(files: &[&[&str]], command: Option<&str>) -> Option<Moment> {
        let files = files.iter().map(|names| names.iter().map(|n| (*n).to_owned()).collect()).collect();
        Some(Moment::Touch { files, command: command.map(str::to_owned), whole: None, edits: false })
    }

    #[test]
    fn a_call_that_names_a_file_asks_by_its_names() {
        for name in ["Read", "Edit", "Write", "MultiEdit"] {
            let asked = before(name, json!({"content": "x", "file_path": "/p/src/a.rs"}));
            let Some(Moment::Touch { files, edits, .. }) = asked else { panic!("{name}") };
            assert_eq!(files, [["/p/src/a.rs", "src/a.rs"]], "{name}");
            assert_eq!(edits, name != "Read", "{name}");
        }
        let notebook = before("NotebookEdit", json!({"notebook_path": "/n/a.ipynb"}));
        assert!(matches!(notebook, Some(Moment::Touch { files, .. }) if files == [["/n/a.ipynb"]]));
        assert_eq!(
            before("Grep", json!({"pattern": "x", "path": "../lib/b.rs"})),
            touches(&[&["/p/lib/b.rs", "lib/b.rs"]], None)
        );
        assert_eq!(before("Grep", json!({"pattern": "x"})), None);
        assert_eq!(before("Read", json!({})), None);
        assert_eq!(before("WebFetch", json!({"url": "https://a/b.html"})), None);
        assert_eq!(before("mcp__sinker__search", json!({"query": "x"})), None);
    }

    #[test]
    fn a_command_asks_by_itself_and_by_the_paths_in_it() {
        let cases: [(&str, &[&[&str]]); 6] = [
            ("cargo test", &[]),
            ("cat ./a/b.rs | tee \"/tmp/out.log\"", &[&["/p/sub/a/b.rs", "sub/a/b.rs"], &["/tmp/out.log"]]),
            ("python3 run.py --level=2", &[&["/p/sub/run.py", "sub/run.py"]]),
            ("curl -s https://example.org/a.html", &[]),
            ("ls ..; ls . /", &[]),
            ("FILE=src/x.rs make -C/usr/lib all", &[&["/p/sub/src/x.rs", "sub/src/x.rs"]]),
        ];
        for (command, files) in cases {
            assert_eq!(
                before("Bash", json!({"command": command})),
                touches(files, Some(command)),
                "{command}"
            );
        }
        assert_eq!(before("Bash", json!({"command": 7})), None);
    }

    #[test]
    fn memories_launches_and_failures_ask_by_their_words_and_ours_by_none() {
        let call = |text: &str, least| Some(Moment::Call { pieces: vec![Piece::plain(text)], least });
        for name in ["memory_search", "memory", "mcp__notes__memory_search", "mcp__plugin_a_b__memory_search"]
        {
            assert_eq!(before(name, json!({"query": "port"})), call("port", 0), "{name}");
        }
        for name in ["mcp__sinker__memory_search", "mcp__plugin_sinker_sinker__memory_search"] {
            for tools in [Tools::Quiet, Tools::All] {
                let payload = json!({"tool_name": name, "tool_input": {"query": "x"}, "error": "boom"});
                for event in [Event::PreToolUse, Event::PostToolUse, Event::PostToolUseFailure] {
                    assert_eq!(ask(event, tools, &payload), None, "{name} {event:?}");
                }
            }
        }
        let launch =
            |kind: &str, aloud| Some(Moment::Launch { kind: kind.into(), prompt: "go".into(), aloud });
        assert_eq!(
            before("Agent", json!({"prompt": "go", "subagent_type": "Explore"})),
            launch("Explore", false)
        );
        assert_eq!(before("Task", json!({"prompt": "go"})), launch("general-purpose", false));
        let failed =
            json!({"tool_name": "Bash", "tool_input": {"command": "make x"}, "error": "e".repeat(2_000)});
        let error = Piece { text: "e".repeat(800), worth: Worth::Much };
        let pieces = vec![Piece::plain("Bash"), Piece::plain("make x"), error];
        assert_eq!(
            ask(Event::PostToolUseFailure, Tools::Quiet, &failed),
            Some(Moment::Call { pieces, least: 3 })
        );
    }

    #[test]
    fn all_asks_by_every_call_and_off_by_none() {
        let payload = json!({
            "tool_name": "Edit", "tool_input": {"file_path": "/p/a/b.rs"}, "error": "no", "agent_id": "agent7",
            "tool_response": {"ok": "done", "agentId": "agent8", "turns": [{"by": "agent7", "promptId": "p9"}]},
        });
        let little = |text: &str| Piece { text: text.into(), worth: Worth::Little };
        let called = vec![Piece::plain("Edit"), little("/a/b.rs")];
        let before = Moment::Tool { pieces: called.clone(), least: 0 };
        assert_eq!(ask(Event::PreToolUse, Tools::All, &payload), Some(before));
        // What the host calls the agent asks for nothing.
        let after = Moment::Tool { pieces: [called, vec![Piece::plain("done")]].concat(), least: 3 };
        assert_eq!(ask(Event::PostToolUse, Tools::All, &payload), Some(after));
        assert_eq!(ask(Event::PostToolUse, Tools::Quiet, &payload), None);
        for event in [Event::PreToolUse, Event::PostToolUse, Event::PostToolUseFailure] {
            assert_eq!(ask(event, Tools::Off, &payload), None, "{event:?}");
        }
        let launch = json!({"tool_name": "Agent", "tool_input": {"prompt": "go", "subagent_type": "Plan"}});
        let aloud = Moment::Launch { kind: "Plan".into(), prompt: "go".into(), aloud: true };
        assert_eq!(ask(Event::PreToolUse, Tools::All, &launch), Some(aloud));
    }
}
