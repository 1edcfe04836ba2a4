//! The shipped sessions, replayed event by event as the host would, end where an import ends; nothing private is written; a new
//! session is given the answer.

use crate::support::{Out, Running, Sandbox};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Observations in the four sessions and the subagent, counted by `scripts/count-observations`.
const OBSERVATIONS: u64 = 99;

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("spool-fixtures/demo")
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn prompts() -> Value {
    serde_json::from_slice(&read(&fixtures().join("prompts.json"))).unwrap()
}

/// The host: brings the files to the sizes an event names, then runs the hook.
struct Host<'a> {
    sandbox: &'a Sandbox,
    files: BTreeMap<String, usize>,
}

impl Host<'_> {
    fn grow(&mut self, file: &str, to: usize) {
        let done = self.files.entry(file.to_owned()).or_insert(0);
        if to <= *done {
            return;
        }
        let bytes = read(&fixtures().join("projects").join(file));
        let target = self.sandbox.claude().join("projects").join(file);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        let mut out = std::fs::OpenOptions::new().append(true).create(true).open(target).unwrap();
        out.write_all(&bytes[*done..to]).unwrap();
        *done = to;
    }

    fn fire(&mut self, event: &Value) -> Out {
        let root = self.sandbox.claude().join("projects");
        let text = event["payload"].to_string().replace("{{transcripts}}", root.to_str().unwrap());
        if let Some(size) = event["transcript_bytes"].as_u64() {
            let path = event["payload"]["transcript_path"].as_str().unwrap();
            self.grow(&path["{{transcripts}}/".len()..], usize::try_from(size).unwrap());
        }
        for (file, size) in event["agent_bytes"].as_object().into_iter().flatten() {
            self.grow(file, usize::try_from(size.as_u64().unwrap()).unwrap());
        }
        let name = event["event"].as_str().unwrap();
        let mut command = self.sandbox.command(&["hook", "claude", name]);
        command.env("CLAUDE_PROJECT_DIR", event["payload"]["cwd"].as_str().unwrap());
        let mut hook = Running::start(command);
        hook.stdin.take().unwrap().write_all(format!("{text}\n").as_bytes()).ok();
        let out = hook.finish(Duration::from_secs(30));
        assert_eq!(out.code, Some(0), "{name}: {out}");
        out
    }
}

fn host(sandbox: &Sandbox) -> Host<'_> {
    Host { sandbox, files: BTreeMap::new() }
}

/// All sessions through the hooks, a drain every few events.
fn replay(sandbox: &Sandbox) {
    let mut host = host(sandbox);
    for session in prompts()["order"].as_array().unwrap() {
        let events = fixtures().join("events").join(format!("{}.jsonl", session.as_str().unwrap()));
        let text = String::from_utf8(read(&events)).unwrap();
        for (n, line) in text.lines().enumerate() {
            host.fire(&serde_json::from_str(line).unwrap());
            if n % 7 == 3 {
                sandbox.drain_once();
            }
        }
        sandbox.drain_once();
    }
}

#[test]
fn the_demo_replayed_through_hooks_gives_the_rows_of_an_import() {
    let sandbox = Sandbox::new();
    replay(&sandbox);
    let status = sandbox.json(&["status"]);
    assert_eq!(status["store"]["observations"], OBSERVATIONS, "{status}");
    assert_eq!(status["store"]["sessions"], 4, "{status}");
    sandbox.verify();
    let imported = sandbox.sibling();
    let account = imported.import(&[&sandbox.claude().join("projects")]);
    assert_eq!(account["observations"], OBSERVATIONS, "{account}");
    assert_eq!(imported.dump(), sandbox.dump());
}

#[test]
fn the_independent_count_agrees() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/count-observations");
    let counted = std::process::Command::new("python3").arg(script).arg(fixtures().join("projects")).output();
    let Ok(counted) = counted else {
        eprintln!("skipped: there is no python3");
        return;
    };
    let account: Value = serde_json::from_slice(&counted.stdout).unwrap();
    assert_eq!(account["observations"], OBSERVATIONS, "{account}");
}

/// D8: every byte that was written, also in log, index and write-ahead log.
#[test]
fn no_secret_and_nothing_private_reaches_the_disk() {
    let sandbox = Sandbox::new();
    replay(&sandbox);
    let prompts = prompts();
    let words: Vec<&str> = ["secrets", "private"]
        .iter()
        .flat_map(|kind| prompts[*kind].as_array().unwrap())
        .map(|w| w.as_str().unwrap())
        .collect();
    assert!(words.len() > 2);
    let mut looked_at = 0;
    for file in walkdir::WalkDir::new(sandbox.home()) {
        let file = file.unwrap();
        if file.file_type().is_file() {
            let bytes = read(file.path());
            looked_at += 1;
            for word in &words {
                let found = bytes.windows(word.len()).any(|w| w.eq_ignore_ascii_case(word.as_bytes()));
                assert!(!found, "{word} is in {}", file.path().display());
            }
        }
    }
    assert!(looked_at > 5);
    // Compressed text hides words from a search for bytes, so what is read back is searched, too.
    let dump = sandbox.dump();
    for word in &words {
        assert!(!dump.contains(word), "{word} is in the store");
    }
    assert!(dump.contains("[redacted:"), "no marker: the rule did not fire");
}

/// The reply's context, or `None` when there was not one byte.
fn context(out: &Out, event: &str) -> Option<String> {
    if out.stdout.is_empty() {
        return None;
    }
    let reply: Value =
        serde_json::from_str(out.stdout.trim()).unwrap_or_else(|e| panic!("not one reply ({e}): {out}"));
    let specific = &reply["hookSpecificOutput"];
    assert_eq!(specific["hookEventName"], json!(event), "{reply}");
    let text = specific["additionalContext"].as_str().unwrap().to_owned();
    assert!(text.encode_utf16().count() <= 10_000, "over the host's limit");
    assert!(reply.get("additionalContext").is_none(), "the host drops it at the top level: {reply}");
    Some(text)
}

#[test]
fn a_new_session_is_given_the_answer_and_nothing_off_topic() {
    let sandbox = Sandbox::new();
    replay(&sandbox);
    let prompts = prompts();
    let ask = |sandbox: &Sandbox, what: &str| host(sandbox).fire(&prompts[what]);

    let answer = context(&ask(&sandbox, "recalls"), "UserPromptSubmit").expect("no context for the question");
    for word in prompts["recalls"]["must_hold"].as_array().unwrap() {
        assert!(answer.contains(word.as_str().unwrap()), "{word} is missing:\n{answer}");
    }
    for word in prompts["recalls"]["must_not_hold"].as_array().unwrap() {
        assert!(!answer.contains(word.as_str().unwrap()), "{word}:\n{answer}");
    }
    let session = prompts["recalls"]["answered_by"].as_str().unwrap();
    assert!(answer.contains(&session[..8]), "the answer does not say where it is from:\n{answer}");
    // D15: the same event again, the same bytes.
    assert_eq!(context(&ask(&sandbox, "recalls"), "UserPromptSubmit"), Some(answer));

    assert_eq!(ask(&sandbox, "silent").stdout, "");

    let other = sandbox.copy();
    let start = context(&ask(&other, "start"), "SessionStart").expect("nothing at session start");
    assert!(!start.contains("tide"), "another project's work:\n{start}");
}

/// F16, F53: whatever is stored, these print nothing; with no index at all, nothing does.
#[test]
fn f16_events_that_may_not_speak_print_nothing_and_without_an_index_none_does() {
    let sandbox = Sandbox::new();
    replay(&sandbox);
    let (first, fresh) = (sandbox.copy(), sandbox.sibling());
    let events: Vec<Value> = prompts()["order"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|s| {
            let path = fixtures().join("events").join(format!("{}.jsonl", s.as_str().unwrap()));
            String::from_utf8(read(&path))
                .unwrap()
                .lines()
                .map(|l| serde_json::from_str(l).unwrap())
                .collect::<Vec<Value>>()
        })
        .collect();
    let quiet = [
        "stop",
        "subagent-stop",
        "pre-compact",
        "post-compact",
        "session-end",
        "post-tool-use",
        "post-tool-batch",
    ];
    let mut tried = std::collections::BTreeSet::new();
    for mut event in events {
        let name = event["event"].as_str().unwrap().to_owned();
        event["transcript_bytes"] = Value::Null;
        event["agent_bytes"] = Value::Null;
        if tried.insert(name.clone()) {
            host(&fresh).fire(&event).assert_silent(&name);
            if quiet.contains(&name.as_str()) {
                host(&first).fire(&event).assert_silent(&name);
            }
        }
    }
    assert!(quiet.iter().all(|q| tried.contains(*q)), "{tried:?}");
}

#[test]
fn the_demo_command_shows_the_whole_way_and_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let before: Vec<_> =
        walkdir::WalkDir::new(sandbox.root()).into_iter().map(|e| e.unwrap().into_path()).collect();
    let out = sandbox.sinker(&["demo"]);
    assert_eq!(out.code, Some(0), "{out}");
    assert!(out.stdout.contains("additionalContext"), "{out}");
    assert!(!out.stdout.contains("ghp_H4rb0r") && !out.stdout.contains("NF-88-1123"), "{out}");
    assert!(!out.stdout.contains('\u{1b}'), "colour without a terminal");
    let after: Vec<_> =
        walkdir::WalkDir::new(sandbox.root()).into_iter().map(|e| e.unwrap().into_path()).collect();
    assert_eq!(before, after, "it works in a temporary home");
}
