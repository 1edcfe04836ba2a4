//! What is not to be stored: private spans in every carrier, excluded and switched-off projects, tools and files left out.

use crate::support::{Sandbox, Transcript, UNHURRIED, payload};
use serde_json::{Value, json};
use std::path::Path;

/// A word that stands for what must be nowhere.
const CANARY: &str = "quagmire-7431-heron";

/// Files below a home that hold the word, as they are.
fn holders(home: &Path, word: &str) -> Vec<String> {
    let files =
        walkdir::WalkDir::new(home).into_iter().map(Result::unwrap).filter(|e| e.file_type().is_file());
    let holds = |path: &Path| {
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(word.len()).any(|window| window == word.as_bytes())
    };
    files.filter(|e| holds(e.path())).map(|e| e.path().display().to_string()).collect()
}

/// Neither stored, nor in any file as it is.
fn assert_gone(sandbox: &Sandbox, word: &str, case: &str) {
    let rows = sandbox.dump();
    assert!(!rows.contains(word), "{case}: stored: {rows}");
    assert_eq!(holders(sandbox.home(), word), [""; 0], "{case}");
}

#[test]
fn private_spans_are_kept_in_no_carrier() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 1);
    let span = format!("<private>{CANARY}</private>");
    let escaped = span.replace('<', "\\u003c").replace('>', "\\u003e");
    let twice = span.replace('<', "\\\\u003c").replace('>', "\\\\u003e").replace('/', "\\\\/");
    let pasted = "p".repeat(900_000);
    transcript
        .prompt(&format!("before the tide {span} after the tide"))
        .says(&format!("I will not say {span} again"))
        .prompt(&span)
        .prompt(&format!("open <private>{CANARY}, never closed"))
        .queued(&format!("queued {span} words"))
        .command("moor", &format!("at {span}"))
        .calls("toolu_1", "Bash", json!({"command": format!("echo '{span}'"), "description": span}))
        .returns("toolu_1", &format!("{{\"a\":\"{escaped}\"}} and {{\"b\":\"{twice}\"}}"))
        .calls("toolu_2", "mcp__x__put", json!({"deep": {"list": [{"text": span}]}, "text": escaped}))
        .fails("toolu_2", &format!("failed: <PRIVATE >a <private>{CANARY}</private> {CANARY}</Private>"))
        .calls("toolu_3", "Edit", json!({"file_path": "/a/b.rs", "old_string": "x", "new_string": span}))
        .thinks(&format!("hm {span}"));
    // An image was pasted in the middle of a span; and a span longer than anything that is held.
    let parts = json!([{"type": "text", "text": format!("see <private>{CANARY}")},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGFyYm91cg=="}},
        {"type": "text", "text": format!("{CANARY}</private> the ferry leaves")}]);
    let record = |n: u64, content: Value| {
        json!({"type": "user", "uuid": format!("00000000-0000-4000-8000-{n:012}"), "timestamp": "2026-11-20T01:30:00.000Z",
            "sessionId": transcript.session, "cwd": sandbox.project(), "message": {"role": "user", "content": content}})
        .to_string()
    };
    let long = format!("long <private>{pasted} {CANARY} {pasted} {CANARY}</private> the pilot boards");
    let (parts, long) = (record(1, parts), record(2, long.into()));
    transcript.raw(&parts).raw(&long).flush();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    sandbox.drain_once();
    assert_gone(&sandbox, CANARY, "a carrier");
    let rows = sandbox.dump();
    for kept in ["before the tide", "after the tide", "I will not say", "the ferry leaves", "/a/b.rs"] {
        assert!(rows.contains(kept), "{kept}: {rows}");
    }
    // The prompt that is nothing but private begins no turn.
    let turns = rows.lines().filter(|line| line.contains("\"outcome\"")).count();
    assert_eq!(turns, sandbox.json(&["status"])["store"]["turns"].as_u64().unwrap() as usize);
    sandbox.verify();
}

#[test]
fn hooks_ask_by_no_private_word_and_keep_none() {
    let sandbox = Sandbox::unhurried("");
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript
        .prompt("Why does the quagmire heron pump overflow at the bilge valve?")
        .says("The quagmire heron pump overflows because the bilge valve sticks; replace its gasket.")
        .flush();
    sandbox.import(&[&transcript.path]);
    let other = Transcript::new(&sandbox, 2);
    let asks = |n: u64, prompt: &str| {
        let mut asked = payload("UserPromptSubmit", &sandbox, &other);
        asked["prompt"] = prompt.into();
        asked["prompt_id"] = format!("p-{n}").into();
        sandbox.hook("user-prompt-submit", &asked)
    };
    let question = "quagmire heron pump overflow bilge valve";
    assert!(asks(0, question).stdout.contains("gasket"), "the question has an answer");
    let silent = [
        format!("<private>{question}</private>"),
        format!("  <private>{question}"),
        format!("{} <PRIVATE>{question}</PRIVATE>", "Hello there."),
    ];
    for (n, prompt) in silent.iter().enumerate() {
        asks(1 + n as u64, prompt).assert_silent(prompt);
    }
    // The public half of a prompt is asked by; the private half leaves nothing in `state/`, not even a hash.
    let later = Transcript::new(&sandbox, 3);
    let state = |secret: &str| {
        let home = sandbox.copy();
        let mut asked = payload("UserPromptSubmit", &home, &later);
        asked["prompt"] = format!("{question} <private>{secret}</private>").into();
        let out = home.hook("user-prompt-submit", &asked);
        assert!(out.stdout.contains("gasket"), "{out}");
        let mut failed = payload("PostToolUseFailure.Bash", &home, &later);
        failed["tool_input"] = json!({"command": format!("make <private>{secret}</private>")});
        failed["error"] = format!("<private>{secret}</private>").into();
        home.hook("post-tool-use-failure", &failed);
        let shown =
            walkdir::WalkDir::new(home.at("state/shown")).sort_by_file_name().into_iter().map(Result::unwrap);
        let shown: Vec<String> = shown
            .filter(|e| e.file_type().is_file())
            .map(|e| std::fs::read_to_string(e.path()).unwrap())
            .collect();
        assert_eq!(holders(home.home(), secret), [""; 0]);
        assert!(!shown.is_empty());
        shown
    };
    assert_eq!(state("aaa-4711"), state("bbb-0815"));
}

/// A transcript of a session in another directory.
fn elsewhere(sandbox: &Sandbox, seed: u64, dir: &Path, word: &str) -> Transcript {
    std::fs::create_dir_all(dir).unwrap();
    let mut transcript = Transcript::new(sandbox, seed);
    let folder = dir.to_str().unwrap().replace('/', "-");
    transcript.move_to(dir, &sandbox.claude().join("projects").join(folder));
    transcript.prompt(&format!("What about {word}?")).says(&format!("The {word} is moored.")).flush();
    transcript
}

fn in_dir(sandbox: &Sandbox, dir: &Path, event: &str, mut asked: Value) -> crate::support::Out {
    asked["cwd"] = dir.to_str().unwrap().into();
    let mut command = sandbox.command(&["hook", "claude", event]);
    command.env("CLAUDE_PROJECT_DIR", dir);
    crate::support::run_to_end(command, asked.to_string().as_bytes())
}

#[test]
fn of_an_excluded_project_nothing_is_noted_stored_or_told_until_it_is_taken_in_again() {
    let sandbox = Sandbox::new();
    let user = sandbox.user();
    let dirs = [user.join("clients/secret/app"), user.join("code/Ledger"), user.join("code/switched-off")];
    std::fs::create_dir_all(dirs[2].join(".sinker")).unwrap();
    std::fs::write(
        dirs[2].join(".sinker/settings.toml"),
        "[capture]\nenabled = false\n[recall]\nenabled = false\n",
    )
    .unwrap();
    // Named by a link, while the host names the real directory.
    std::fs::create_dir_all(&dirs[0]).unwrap();
    std::os::unix::fs::symlink(user.join("clients"), user.join("by-link")).unwrap();
    let rules = "[capture]\nexclude = [\"~/by-link/secret/**\", \"ledger-*\"]\n";
    sandbox.configure(&format!("[recall]\n{UNHURRIED}{rules}"));
    let mut hidden: Vec<Transcript> =
        dirs.iter().enumerate().map(|(n, dir)| elsewhere(&sandbox, 10 + n as u64, dir, CANARY)).collect();
    let mut agent = hidden[0].subagent("a1");
    agent.prompt(&format!("Look at {CANARY}")).says(CANARY).flush();
    let mut open = Transcript::new(&sandbox, 1);
    open.prompt("Which berth is free?").says("Berth nine is free.").flush();
    for (dir, transcript) in dirs.iter().zip(&hidden) {
        for (event, name) in
            [("session-start", "SessionStart.startup"), ("stop", "Stop"), ("session-end", "SessionEnd.other")]
        {
            in_dir(&sandbox, dir, event, payload(name, &sandbox, transcript)).assert_silent(event);
        }
    }
    assert_eq!(sandbox.spool("new"), [""; 0], "a hook notes nothing");
    // An older hook, or one without the settings, did note it.
    let mut asked = payload("SessionEnd.other", &sandbox, &hidden[0]);
    asked["cwd"] = dirs[0].to_str().unwrap().into();
    let bare = sandbox.root().join("none.toml");
    let env = [("SINKER_CONFIG", bare.to_str().unwrap()), ("CLAUDE_PROJECT_DIR", dirs[0].to_str().unwrap())];
    sandbox
        .sinker_with(&["hook", "claude", "session-end"], asked.to_string().as_bytes(), &env)
        .assert_silent("old hook");
    assert_eq!(sandbox.spool("new").len(), 1);
    // What the spool, the sweep and an import find is passed over, and counted.
    // One that is announced and found counts twice in a run, and once in the account.
    assert!(sandbox.drain_once()["passed"].as_u64().unwrap() >= 4);
    assert!(sandbox.spool("cur").is_empty() && sandbox.spool("odd").is_empty());
    let imported = sandbox.import(&[&sandbox.claude().join("projects")]);
    assert_eq!((&imported["observations"], &imported["passed"]), (&json!(0), &json!(4)), "{imported}");
    assert_eq!(sandbox.drain_once()["files"], 0, "what was passed over is not looked at again");
    assert_gone(&sandbox, CANARY, "excluded");
    assert_eq!(sandbox.lines(&["sessions", "--all"]).len(), 1, "not even that there was a session");
    let status = sandbox.json(&["status"]);
    assert_eq!(status["passed_files"], json!({"excluded": 3, "off": 1}), "{status}");
    assert_eq!(status["behind"], json!([]));
    assert!(sandbox.sinker(&["status"]).stdout.contains("3 transcripts (excluded)"));
    // A person may not put it there by name either.
    for wanted in [dirs[1].to_str().unwrap(), dirs[2].to_str().unwrap()] {
        let path = open.path.to_str().unwrap();
        let out = sandbox.sinker(&["import", path, "--project", wanted]);
        assert!(out.code == Some(4) && out.stderr.contains("capture.exclude"), "{wanted}: {out}");
    }
    // A session that goes on is passed over again; with the exclusion lifted it is stored from its beginning.
    hidden[0].prompt(CANARY).flush();
    sandbox.drain_once();
    assert_gone(&sandbox, CANARY, "grown");
    sandbox.configure("");
    assert_eq!(sandbox.drain_once()["files"], 0);
    let lifted = sandbox.import(&[&sandbox.claude().join("projects")]);
    assert_eq!((&lifted["observations"], &lifted["passed"]), (&json!(3 + 2 + 2), &json!(1)), "{lifted}");
    assert_eq!(sandbox.json(&["status"])["passed_files"], json!({"off": 1}));
    let fresh = sandbox.sibling();
    fresh.import(&[&sandbox.claude().join("projects")]);
    assert_eq!(sandbox.dump(), fresh.dump(), "as if it had never been excluded");
    // Excluded again: what is stored stays, is not told, and doctor says so.
    let asks = |dir: &Path| {
        let mut asked = payload("UserPromptSubmit", &sandbox, &open);
        asked["prompt"] = format!("What about {CANARY} that is moored?").into();
        in_dir(&sandbox, dir, "user-prompt-submit", asked)
    };
    sandbox.configure(&format!("[recall]\n{UNHURRIED}"));
    assert!(asks(&dirs[1]).stdout.contains(CANARY));
    sandbox.configure(&format!("[recall]\n{UNHURRIED}{rules}"));
    asks(&dirs[0]).assert_silent("excluded by its directory");
    asks(&dirs[1]).assert_silent("excluded by its name");
    let found = sandbox.lines_of(&["doctor", "capture"]).remove(0);
    let detail = found["detail"].as_str().unwrap();
    assert!(
        found["ok"] == true && detail.contains("sinker forget --project") && detail.contains("ledger-"),
        "{found}"
    );
}

#[test]
fn a_session_that_goes_into_an_excluded_directory_leaves_that_part_out() {
    let sandbox = Sandbox::new();
    sandbox.configure("[capture]\nexclude = [\"**/vault-x\"]\n");
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript.prompt("Which berth is free?").says("Berth nine.");
    let (folder, inside) =
        (transcript.path.parent().unwrap().to_path_buf(), sandbox.project().join("vault-x"));
    transcript
        .move_to(&inside, &folder)
        .says(CANARY)
        .move_to(&sandbox.project(), &folder)
        .says("Back again.")
        .flush();
    sandbox.drain_once();
    assert_gone(&sandbox, CANARY, "inside");
    let status = sandbox.json(&["status"]);
    assert_eq!(
        (&status["passed_records"], &status["store"]["observations"]),
        (&json!({"excluded": 1}), &json!(3))
    );
}

#[test]
fn settings_that_are_not_clear_about_capture_store_nothing() {
    for text in
        ["[capture]\nexclude = \"~/x\"\n", "[capture\nexclude = [\"a\"]\n", "[capture]\nenabled = 1\n"]
    {
        let sandbox = Sandbox::new();
        sandbox.configure(text);
        let mut transcript = Transcript::new(&sandbox, 1);
        transcript.prompt(CANARY).flush();
        sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent(text);
        assert_eq!(sandbox.drain_once()["passed"], 1, "{text}");
        assert_gone(&sandbox, CANARY, text);
        let found = sandbox.lines_of(&["doctor", "capture"]).remove(0);
        assert_eq!(found["ok"], false, "{text}: {found}");
        sandbox.configure("[recall\n");
        assert_eq!(sandbox.import(&[&transcript.path])["observations"], 1, "{text}");
    }
}

#[test]
fn tools_and_files_left_out_are_a_placeholder_live_and_on_import() {
    let sandbox = Sandbox::new();
    sandbox.configure(
        "[capture]\ntools = [\"*\", \"!mcp__bank__*\"]\nnever = [\"**/salaries/**\", \"!**/tls.key\"]\n",
    );
    std::fs::create_dir_all(sandbox.project().join(".sinker")).unwrap();
    let own = "[capture]\nnever = [\"notes.txt\"]\ntools = [\"!WebFetch\"]\n";
    std::fs::write(sandbox.project().join(".sinker/settings.toml"), own).unwrap();
    let hidden: &[(&str, Value)] = &[
        ("Read", json!({"file_path": "/srv/app/.env"})),
        ("Write", json!({"file_path": "/srv/app/.env.production", "content": format!("KEY={CANARY}")})),
        ("Edit", json!({"file_path": "salaries/2026/a.csv", "old_string": "x", "new_string": CANARY})),
        (
            "Bash",
            json!({"command": format!("echo {CANARY} > .env; cat ~/.ssh/id_ed25519"), "description": "x"}),
        ),
        ("Grep", json!({"pattern": CANARY, "path": "/srv/app/.env"})),
        ("mcp__bank__pay", json!({"iban": CANARY})),
        ("WebFetch", json!({"url": "https://example.org/", "prompt": CANARY})),
        ("NotebookEdit", json!({"notebook_path": "/a/notes.txt", "new_source": CANARY})),
    ];
    let shown: &[(&str, Value)] = &[
        ("Read", json!({"file_path": "/srv/app/.env.example"})),
        ("Read", json!({"file_path": "/srv/app/tls.key"})),
        ("Bash", json!({"command": "cargo test environment"})),
        ("mcp__banker__pay", json!({"text": "open"})),
    ];
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript.prompt("Do it.");
    let live = |transcript: &mut Transcript, name: &str| {
        transcript.flush();
        sandbox.hook("stop", &payload(name, &sandbox, transcript)).assert_silent(name);
        sandbox.drain_once();
    };
    for (n, (tool, input)) in hidden.iter().chain(shown).enumerate() {
        let (id, word) = (format!("toolu_{n:02}"), if n < hidden.len() { CANARY } else { "plain-result" });
        transcript.calls(&id, tool, input.clone());
        // Each result is read in a slice of its own, long after its call: it must be known all the same.
        if n == 3 || n == 7 {
            live(&mut transcript, "Stop");
        }
        if n == 4 {
            transcript.says(&"The tide tables say otherwise. ".repeat(12_000));
            live(&mut transcript, "Stop");
        }
        transcript.returns(&id, &format!("line 1 {word}"));
    }
    live(&mut transcript, "Stop");
    assert_gone(&sandbox, CANARY, "left out");
    let rows = sandbox.dump();
    assert_eq!(rows.matches("[not stored: protected file, ").count(), 12, "{rows}");
    assert_eq!(rows.matches("[not stored: tool left out, ").count(), 4, "{rows}");
    assert_eq!(rows.matches("plain-result").count(), shown.len());
    assert!(rows.contains("/srv/app/.env.production") && rows.contains("salaries/2026/a.csv"));
    assert_eq!(sandbox.json(&["status"])["withheld"], json!({"file": 12, "tool": 4}));
    let fresh = sandbox.sibling();
    fresh.import(&[&transcript.path]);
    assert_eq!(fresh.dump(), rows, "import gives the same rows");
}

#[test]
fn a_project_may_only_keep_more_out() {
    let sandbox = Sandbox::new();
    sandbox.configure("[capture]\nenabled = false\n");
    std::fs::create_dir_all(sandbox.project().join(".sinker")).unwrap();
    let own = "[capture]\nenabled = true\nexclude = []\ntools = [\"*\"]\nnever = [\"!**\"]\n";
    std::fs::write(sandbox.project().join(".sinker/settings.toml"), own).unwrap();
    let problems = sandbox.lines_of(&["config", "check"]);
    let mut keys: Vec<&str> = problems.iter().map(|p| p["key"].as_str().unwrap()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["capture.enabled", "capture.exclude", "capture.never", "capture.tools"]);
    let shown = sandbox.lines(&["config", "show"]);
    let value = |key: &str| shown.iter().find(|line| line["key"] == key).unwrap()["value"].clone();
    assert_eq!((value("capture.enabled"), value("capture.tools")), (json!(false), json!(["*"])));
    assert!(value("capture.never").as_array().unwrap().contains(&json!("**/.env*")));
}

#[test]
fn a_path_outside_of_the_transcript_roots_is_set_aside_and_not_read() {
    let sandbox = Sandbox::new();
    let outside = sandbox.root().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript.prompt(CANARY);
    std::fs::write(outside.join("s.jsonl"), transcript.bytes()).unwrap();
    let folder = transcript.path.parent().unwrap().to_path_buf();
    std::fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(&outside, folder.join("link")).unwrap();
    let refused =
        [outside.join("s.jsonl"), folder.join("link/s.jsonl"), sandbox.user().join(".bash_history")];
    for (n, path) in refused.iter().enumerate() {
        let mut asked = payload("Stop", &sandbox, &transcript);
        asked["transcript_path"] = path.to_str().unwrap().into();
        sandbox.hook("stop", &asked).assert_silent("outside");
        asked["transcript_path"] = transcript.path.to_str().unwrap().into();
        asked["agent_id"] = format!("a{n}").into();
        asked["agent_transcript_path"] = path.to_str().unwrap().into();
        sandbox.hook("subagent-stop", &asked).assert_silent("a subagent's, outside");
    }
    let waiting = sandbox.spool("new").len();
    let done = sandbox.drain_once();
    assert_eq!(
        (done["odd"].as_u64().unwrap() as usize, &done["observations"]),
        (waiting, &json!(0)),
        "{done}"
    );
    assert!(sandbox.log().contains("outside of the transcript roots"));
    assert_eq!(sandbox.json(&["status"])["spool"]["odd"], waiting);
    assert_gone(&sandbox, CANARY, "outside");
    // A person may name any file; and a host that keeps its files elsewhere says so to its hooks.
    assert_eq!(sandbox.import(&[&outside.join("s.jsonl")])["observations"], 1);
    let other = sandbox.sibling();
    let host = sandbox.root().join("host/projects/-x");
    std::fs::create_dir_all(&host).unwrap();
    std::fs::write(host.join("s.jsonl"), transcript.bytes()).unwrap();
    let mut asked = payload("Stop", &other, &transcript);
    asked["transcript_path"] = host.join("s.jsonl").to_str().unwrap().into();
    let config = sandbox.root().join("host");
    let env = [("CLAUDE_CONFIG_DIR", config.to_str().unwrap())];
    other
        .sinker_with(&["hook", "claude", "stop"], asked.to_string().as_bytes(), &env)
        .assert_silent("elsewhere");
    assert_eq!(other.drain_once()["observations"], 1);
    for odd in ["/dev/null", "/dev/zero"] {
        assert_eq!(other.sinker(&["import", odd]).code, Some(2), "{odd}");
    }
}

/// A prompt that is wholly private skips its turn: answers, tool calls, subagents and a model's title; the next prompt is kept again.
#[test]
fn a_turn_whose_prompt_is_wholly_private_is_not_stored_in_any_order_or_split() {
    let session = |sandbox: &Sandbox| {
        let mut t = Transcript::new(sandbox, 1);
        t.prompt("Where are the charts?").says("In the chart room.");
        t.prompt(&format!("<private>Find the will of {CANARY}</private>"));
        let begun = t.bytes().len();
        t.says(&format!("The will of {CANARY} is in the safe."))
            .calls("toolu_1", "Bash", json!({"command": format!("cat /safe/{CANARY}.txt")}))
            .returns("toolu_1", &format!("I, {CANARY}, leave all to the cat."));
        let title =
            json!({"type": "ai-title", "aiTitle": format!("Will of {CANARY}"), "sessionId": t.session});
        t.raw(&title.to_string());
        t.prompt("Thanks for that, now plot a course to Brest.").says("The course to Brest is 210.");
        (t, begun)
    };
    let check = |sandbox: &Sandbox, case: &str| {
        assert_gone(sandbox, CANARY, case);
        let rows = sandbox.dump();
        for kept in ["In the chart room", "course to Brest is 210"] {
            assert!(rows.contains(kept), "{case}: {kept}: {rows}");
        }
        assert!(!rows.contains("in the safe") && !rows.contains("leave all to the cat"), "{case}: {rows}");
        assert_eq!(sandbox.json(&["status"])["store"]["turns"], 2, "{case}");
        let shown = sandbox.sinker(&["search", "Brest", "--kind", "outcome", "--all", "--json"]);
        assert!(shown.stdout.contains("course to Brest"), "{shown}");
        sandbox.verify();
        rows
    };
    // In one go; cut within the turn; a subagent's file before and after.
    let whole = Sandbox::new();
    let (mut t, _) = session(&whole);
    t.flush();
    whole.drain_once();
    let rows = check(&whole, "whole");
    let out = whole.sinker(&["inspect", "--view", "lines", "--json"]);
    assert!(
        out.stdout.contains("\"private\":{\"ai-title\":1,\"assistant\":2,\"tool\":1,\"user\":1}"),
        "{out}"
    );

    let cut = Sandbox::new();
    let (mut t, begun) = session(&cut);
    t.flush_to(begun);
    cut.drain_once();
    t.flush_to(begun + 700);
    cut.drain_once();
    t.flush();
    cut.drain_once();
    let place = |sandbox: &Sandbox, rows: &str| rows.replace(sandbox.project().to_str().unwrap(), "/p");
    assert_eq!(place(&cut, &check(&cut, "cut")).lines().count(), place(&whole, &rows).lines().count());

    for late in [false, true] {
        let sandbox = Sandbox::new();
        let (mut t, _) = session(&sandbox);
        let prompt = {
            let text = String::from_utf8(t.bytes().to_vec()).unwrap();
            let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let private =
                records.iter().find(|r| r["message"]["content"].to_string().contains("<private>")).unwrap();
            private["promptId"].as_str().unwrap().to_owned()
        };
        let agent = t.agent_path("a0000000000000001");
        std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
        let record = |n: u64, kind: &str, text: &str, prompt: Option<&str>| {
            json!({"type": kind, "uuid": format!("00000000-0000-4000-9000-{n:012}"), "timestamp": "2026-11-20T01:30:00.000Z", "isSidechain": true,
                "agentId": "a0000000000000001", "sessionId": t.session, "promptId": prompt, "cwd": sandbox.project(),
                "message": {"role": kind, "content": [{"type": "text", "text": text}]}})
            .to_string()
        };
        let lines = [
            record(1, "user", &format!("Open the safe of {CANARY}."), Some(&prompt)),
            record(2, "assistant", &format!("It holds the will of {CANARY}."), None),
        ];
        if late {
            std::fs::write(&agent, lines.join("\n") + "\n").unwrap();
            sandbox.drain_once();
            t.flush();
        } else {
            t.flush();
            sandbox.drain_once();
            std::fs::write(&agent, lines.join("\n") + "\n").unwrap();
        }
        sandbox.drain_once();
        check(&sandbox, if late { "a subagent that was read before" } else { "a subagent" });
    }
}
