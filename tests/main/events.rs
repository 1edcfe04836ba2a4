//! Recall on the events of a turn: what each asks, when it stays silent, that nothing is said twice and budgets hold.

use crate::support::{Running, Sandbox, Transcript, UNHURRIED, payload};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

const QUESTION: &str = "Why does the csv export lose the byte order mark in Excel?";
const COMMAND: &str = "pytest -q tests/test_export.py --strict-markers";

const PAGING: &str = "Bash: python -m harbor.paging: ImportError: cannot import name QuayIndex, known are BerthList, PontoonTable, \
                      MooringCursor";

/// Two past sessions, and a new one that has said nothing yet.
fn world() -> (Sandbox, Transcript) {
    let sandbox = Sandbox::unhurried("");
    // A word of a command is a file where there is one.
    let csv = sandbox.project_file("harbor/export/csv.py", 700);
    let mut past = Transcript::new(&sandbox, 1);
    past.prompt(QUESTION)
        .calls("toolu_1", "Read", json!({"file_path": csv}))
        .returns("toolu_1", "def rows(): ...")
        .calls("toolu_2", "Edit", json!({"file_path": csv, "old_string": "utf-8", "new_string": "utf-8-sig"}))
        .returns("toolu_2", "done")
        .calls("toolu_3", "Bash", json!({"command": COMMAND}))
        .fails("toolu_3", "Exit code 1\nImportError: cannot import name BerthPager from harbor.paging")
        .calls("toolu_4", "Bash", json!({"command": "ruff check harbor/export --select E501"}))
        .fails("toolu_4", "Exit code 1\nE501 line too long")
        .calls("toolu_6", "Bash", json!({"command": "python -m harbor.paging"}))
        .fails("toolu_6", &format!("Exit code 1\n{PAGING}"))
        .calls("toolu_5", "Bash", json!({"command": "ruff check harbor/export --select E501"}))
        .returns("toolu_5", "All checks passed!")
        .says("Excel reads the csv export only with the byte order mark of utf-8-sig; csv.py writes it.")
        .flush();
    let mut other = Transcript::new(&sandbox, 2);
    other
        .prompt("Calibrate the depth sounder of the tide gauge.")
        .says("The depth sounder of the tide gauge has an offset of 12 cm; I set it in gauge.toml.")
        .flush();
    sandbox.drain_once();
    let now = Transcript::new(&sandbox, 9);
    (sandbox, now)
}

fn ask(home: &Sandbox, event: &str, payload: &Value, env: &[(&str, &str)]) -> String {
    let project = home.project();
    let env = [&[("CLAUDE_PROJECT_DIR", project.to_str().unwrap())], env].concat();
    let args = ["hook", "claude", event, "--only", "recall"];
    let out = home.sinker_with(&args, format!("{payload}\n").as_bytes(), &env);
    assert_eq!((out.code, out.stderr.as_str()), (Some(0), ""), "{event}: {out}");
    assert!(home.spool("new").is_empty(), "{event}: recall captures nothing");
    out.stdout
}

/// The context of a reply, which must be of the one shape that reaches the model.
fn context(reply: &str, host_event: &str) -> String {
    let value: Value = serde_json::from_str(reply).unwrap_or_else(|e| panic!("{e}: {reply:?}"));
    let own = &value["hookSpecificOutput"];
    assert_eq!(own["hookEventName"], host_event, "{reply}");
    assert_eq!((value.as_object().unwrap().len(), own.as_object().unwrap().len()), (1, 2), "{reply}");
    own["additionalContext"].as_str().unwrap().to_owned()
}

fn tool(home: &Sandbox, now: &Transcript, id: &str, name: &str, input: Value) -> Value {
    let mut event = payload("PreToolUse.Read", home, now);
    event["tool_name"] = name.into();
    event["tool_input"] = input;
    event["tool_use_id"] = id.into();
    event
}

fn read(home: &Sandbox, now: &Transcript, id: &str) -> Value {
    let csv = home.project().join("harbor/export/csv.py");
    tool(home, now, id, "Read", json!({"file_path": csv}))
}

/// A command that failed before is about to run.
fn run(home: &Sandbox, now: &Transcript, id: &str) -> Value {
    tool(home, now, id, "Bash", json!({"command": COMMAND}))
}

fn with_config<'a>(home: &Sandbox, text: &str, path: &'a mut String) -> [(&'a str, &'a str); 1] {
    let file = home.root().join(format!("config-{}.toml", text.len()));
    std::fs::write(&file, text.replace("[recall]\n", &format!("[recall]\n{UNHURRIED}"))).unwrap();
    *path = file.to_str().unwrap().to_owned();
    [("SINKER_CONFIG", path.as_str())]
}

#[test]
fn a_command_that_expands_asks_by_its_name_arguments_and_prompt_and_says_nothing_twice() {
    let (home, now) = world();
    let mut typed = payload("UserPromptSubmit.slash", &home, &now);
    typed["prompt"] = "/review the csv export and its byte order mark".into();
    let mut expands = payload("UserPromptExpansion.command", &home, &now);
    expands["command_args"] = "the csv export and its byte order mark".into();
    expands["prompt"] = typed["prompt"].clone();
    let alone = context(&ask(&home.copy(), "user-prompt-expansion", &expands, &[]), "UserPromptExpansion");
    assert!(alone.contains("utf-8-sig"), "{alone}");
    let said = context(&ask(&home, "user-prompt-submit", &typed, &[]), "UserPromptSubmit");
    assert!(said.contains("utf-8-sig"), "{said}");
    assert_eq!(ask(&home, "user-prompt-expansion", &expands, &[]), "", "said for the prompt already");
    // What only the arguments name is asked for by the expansion alone.
    expands["command_args"] = "depth sounder offset of the tide gauge".into();
    expands["prompt"] = "/calibrate".into();
    let more = ask(&home, "user-prompt-expansion", &expands, &[]);
    assert!(context(&more, "UserPromptExpansion").contains("12 cm"), "{more}");
    assert_eq!(ask(&home, "user-prompt-expansion", &expands, &[]), more, "delivered again");
}

#[test]
fn a_file_with_history_is_told_once_a_session_in_one_short_entry() {
    let (home, now) = world();
    let first = ask(&home, "pre-tool-use", &read(&home, &now, "toolu_a"), &[]);
    let text = context(&first, "PreToolUse");
    assert!(text.contains("utf-8-sig") && text.contains("session 5e551000"), "{text}");
    assert!(text.chars().count() <= 400, "{}", text.chars().count());
    assert_eq!(ask(&home, "pre-tool-use", &read(&home, &now, "toolu_a"), &[]), first, "delivered again");
    assert_eq!(ask(&home, "pre-tool-use", &read(&home, &now, "toolu_b"), &[]), "", "told once");
    let mut next_turn = read(&home, &now, "toolu_c");
    next_turn["prompt_id"] = "another".into();
    assert_eq!(ask(&home, "pre-tool-use", &next_turn, &[]), "", "told once a session");
    // After a compaction the context no longer holds it.
    let mut compact = payload("SessionStart.compact", &home, &now);
    compact["prompt_id"] = next_turn["prompt_id"].clone();
    let mut path = String::new();
    let config = with_config(&home, "[recall]\nsessions = 1\n", &mut path);
    let brief = ask(&home, "session-start", &compact, &config);
    assert!(brief.contains("12 cm") && !brief.contains("utf-8-sig"), "{brief}");
    next_turn["tool_use_id"] = "toolu_d".into();
    let again = ask(&home, "pre-tool-use", &next_turn, &[]);
    assert!(context(&again, "PreToolUse").contains("utf-8-sig"), "{again}");
}

#[test]
fn what_the_start_of_the_session_told_is_not_told_at_its_files() {
    let (home, now) = world();
    let start = payload("SessionStart.startup", &home, &now);
    assert!(ask(&home, "session-start", &start, &[]).contains("utf-8-sig"));
    assert_eq!(ask(&home, "pre-tool-use", &read(&home, &now, "toolu_a"), &[]), "");
    // That a command failed is news.
    let bash = tool(&home, &now, "toolu_b", "Bash", json!({"command": COMMAND}));
    assert!(ask(&home, "pre-tool-use", &bash, &[]).contains("failed: pytest"));
}

#[test]
fn every_tool_that_names_the_file_asks_and_no_other_does() {
    let (home, now) = world();
    let csv = home.project().join("harbor/export/csv.py");
    let speaks = [
        ("Edit", json!({"file_path": csv, "old_string": "a", "new_string": "b"})),
        ("Write", json!({"content": "x", "file_path": csv})),
        ("MultiEdit", json!({"file_path": csv, "edits": []})),
        ("NotebookEdit", json!({"notebook_path": csv})),
        ("Grep", json!({"pattern": "sig", "path": "harbor/export/csv.py"})),
        ("Bash", json!({"command": "sed -n 1,20p harbor/export/csv.py", "description": "Look"})),
        ("Bash", json!({"command": format!("cat {}", csv.display())})),
    ];
    for (name, input) in speaks {
        let said = ask(&home.copy(), "pre-tool-use", &tool(&home, &now, "toolu_a", name, input), &[]);
        assert!(said.contains("utf-8-sig"), "{name}: {said}");
    }
    let silent = [
        ("Read", json!({"file_path": home.project().join("harbor/export/pdf.py")})),
        ("Read", json!({"file_path": "/elsewhere/csv.py"})),
        ("Read", json!({"file_path": 7})),
        ("Grep", json!({"pattern": "harbor/export/csv.py"})),
        ("Bash", json!({"command": "ls -la"})),
        ("Bash", json!({"command": "csv.py"})),
        ("WebFetch", json!({"url": "https://git.example/harbor/export/csv.py"})),
        ("Skill", json!({"skill": "tidy", "args": "harbor/export/csv.py"})),
        ("mcp__sinker__search", json!({"query": QUESTION})),
        ("mcp__plugin_sinker_sinker__search", json!({"query": QUESTION})),
        ("Agent", json!({"prompt": QUESTION, "subagent_type": "Explore"})),
    ];
    for (name, input) in silent {
        let asked = tool(&home, &now, "toolu_a", name, input);
        assert_eq!(ask(&home.copy(), "pre-tool-use", &asked, &[]), "", "{asked}");
    }
    // The session that did it needs no telling.
    let own = Transcript::new(&home, 1);
    assert_eq!(ask(&home, "pre-tool-use", &read(&home, &own, "toolu_z"), &[]), "");
}

#[test]
fn a_command_that_failed_before_is_told_and_one_that_worked_later_is_not() {
    let (home, now) = world();
    let bash = |id: &str, command: &str| tool(&home, &now, id, "Bash", json!({"command": command}));
    let said = ask(&home, "pre-tool-use", &bash("toolu_a", COMMAND), &[]);
    let text = context(&said, "PreToolUse");
    assert!(text.contains("failed: pytest -q") && text.contains("BerthPager"), "{text}");
    assert!(text.chars().count() <= 400, "{text}");
    assert_eq!(ask(&home, "pre-tool-use", &bash("toolu_a", COMMAND), &[]), said);
    assert_eq!(ask(&home, "pre-tool-use", &bash("toolu_b", COMMAND), &[]), "", "said before");
    for other in ["pytest -q tests/test_paging.py", "ruff check harbor/export --select E501", "pytest"] {
        let said = ask(&home.copy(), "pre-tool-use", &bash("toolu_c", other), &[]);
        assert!(!said.contains("failed:"), "{other}: {said}");
    }
}

#[test]
fn a_command_of_one_word_that_failed_is_told_and_no_other_that_holds_the_word() {
    let home = Sandbox::unhurried("");
    let mut past = Transcript::new(&home, 1);
    past.prompt("Build all of it.")
        .calls("toolu_1", "Bash", json!({"command": "make"}))
        .fails("toolu_1", "Exit code 2\nNo rule to make target quay")
        .calls("toolu_2", "Bash", json!({"command": "ninja -C out"}))
        .fails("toolu_2", "Exit code 1\nninja and cmake and tup disagree")
        .says("Neither works.")
        .flush();
    home.drain_once();
    let now = Transcript::new(&home, 9);
    for (command, told) in [("make", true), ("ninja", false), ("tup", false)] {
        let event = tool(&home, &now, command, "Bash", json!({"command": command}));
        let reply = ask(&home, "pre-tool-use", &event, &[]);
        assert_eq!(reply.contains(&format!("failed: {command}: ")), told, "{command}: {reply}");
        assert!(told || reply.is_empty(), "{command}: {reply}");
    }
}

#[test]
fn a_failure_is_told_what_is_known_of_it_unless_the_call_was_told_already() {
    let (home, now) = world();
    let failure = |id: &str, error: &str| {
        let mut event = payload("PostToolUseFailure.Bash", &home, &now);
        event["tool_use_id"] = id.into();
        event["tool_input"] = json!({"command": "python -m harbor.paging"});
        event["error"] = error.into();
        event
    };
    let same = format!("Exit code 1\n{PAGING}");
    let same = same.as_str();
    let said = ask(&home.copy(), "post-tool-use-failure", &failure("toolu_f", same), &[]);
    let text = context(&said, "PostToolUseFailure");
    assert!(text.contains("(tool)") && text.contains("QuayIndex"), "{text}");
    assert!(text.chars().count() <= 400, "{text}");
    let mut other = failure("toolu_f", "");
    other["tool_input"] = json!({"command": "ls tests/old"});
    for error in ["Exit code 1", "Exit code 2\nls: cannot access 'tests/old'", "", "Exit code 1\nBerthList"] {
        other["error"] = error.into();
        assert_eq!(ask(&home.copy(), "post-tool-use-failure", &other, &[]), "", "{error}");
    }
    // Before the call it was said that it failed before: what is known of that session is not said again after it.
    let before = tool(&home, &now, "toolu_g", "Bash", json!({"command": "python -m harbor.paging"}));
    let told = context(&ask(&home, "pre-tool-use", &before, &[]), "PreToolUse");
    assert!(told.contains("failed: python -m harbor.paging"), "{told}");
    assert_eq!(ask(&home, "post-tool-use-failure", &failure("toolu_g", same), &[]), "");
    assert_eq!(ask(&home, "post-tool-use-failure", &failure("toolu_h", same), &[]), said, "another call");
}

#[test]
fn a_tool_that_looks_into_another_memory_is_told_what_this_one_holds() {
    let (home, now) = world();
    let query = json!({"query": "depth sounder offset of the tide gauge"});
    for name in ["memory_search", "mcp__notes__memory_search"] {
        let asked = tool(&home, &now, "toolu_m", name, query.clone());
        let said = context(&ask(&home.copy(), "pre-tool-use", &asked, &[]), "PreToolUse");
        assert!(said.contains("12 cm") && said.chars().count() <= 400, "{name}: {said}");
    }
    let asked = tool(&home, &now, "toolu_m", "mcp__sinker__memory_search", query);
    assert_eq!(ask(&home, "pre-tool-use", &asked, &[]), "");
}

fn launch(home: &Sandbox, now: &Transcript, id: &str, kind: &str, prompt: &str) -> Value {
    tool(home, now, id, "Agent", json!({"description": "d", "prompt": prompt, "subagent_type": kind}))
}

fn start(home: &Sandbox, now: &Transcript, agent: &str, kind: &str) -> Value {
    let mut event = payload("SubagentStart", home, now);
    event["agent_id"] = agent.into();
    event["agent_type"] = kind.into();
    event
}

#[test]
fn a_subagent_gets_what_its_launch_found_and_nothing_waits_longer_than_its_start() {
    let (home, now) = world();
    let begin = |agent: &str, kind: &str| ask(&home, "subagent-start", &start(&home, &now, agent, kind), &[]);
    let leave = |id: &str, kind: &str, prompt: &str| {
        assert_eq!(
            ask(&home, "pre-tool-use", &launch(&home, &now, id, kind, prompt), &[]),
            "",
            "a launch says nothing"
        );
    };
    assert_eq!(begin("a0", "Explore"), "", "nothing waits");
    leave("toolu_1", "Explore", QUESTION);
    leave("toolu_1", "Explore", QUESTION);
    leave("toolu_2", "Explore", "Find out about the depth sounder offset of the tide gauge.");
    leave("toolu_3", "Plan", QUESTION);
    let file = std::fs::read_dir(home.at("state/launches")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    for file in std::fs::read_dir(home.at("state/launches")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for word in ["csv", "sounder", "utf", "Explore", "Plan", "5e551000"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }
    // In any order, each gets both; the second is told what the first was, since their contexts are apart.
    let first = begin("a2", "Explore");
    let text = context(&first, "SubagentStart");
    assert!(text.contains("utf-8-sig") && text.contains("12 cm"), "{text}");
    assert!(text.chars().count() <= 2_500);
    assert_eq!(begin("a1", "Explore"), first);
    assert_eq!(begin("a2", "Explore"), first, "delivered again");
    assert_eq!(begin("a3", "Explore"), "", "as many have started as were launched");
    let plan = context(&begin("a4", "Plan"), "SubagentStart");
    assert!(plan.contains("utf-8-sig") && !plan.contains("12 cm"), "{plan}");
    // A launch that finds nothing leaves nothing to say.
    leave("toolu_4", "Explore", "Write a haiku.");
    assert_eq!(begin("a5", "Explore"), "");
}

#[test]
fn a_launch_that_never_started_is_forgotten_after_ten_minutes() {
    let (home, now) = world();
    let asked = launch(&home, &now, "toolu_1", "Explore", QUESTION);
    let late = |agent: &str, shift: &str| {
        ask(&home, "subagent-start", &start(&home, &now, agent, "Explore"), &[("SINKER_NOW", shift)])
    };
    assert_eq!(ask(&home, "pre-tool-use", &asked, &[]), "");
    assert_eq!(late("a1", "+601"), "");
    assert_eq!(ask(&home, "pre-tool-use", &launch(&home, &now, "toolu_2", "Explore", QUESTION), &[]), "");
    assert!(context(&late("a2", "+500"), "SubagentStart").contains("utf-8-sig"));
    // The drainer sweeps what nobody comes for.
    let file = std::fs::read_dir(home.at("state/launches")).unwrap().next().unwrap().unwrap().path();
    let old = std::time::SystemTime::now() - Duration::from_secs(7_200);
    std::fs::File::options().append(true).open(&file).unwrap().set_modified(old).unwrap();
    home.drain_once();
    assert!(!file.exists());
}

#[test]
fn what_a_subagent_is_shown_and_what_its_parent_is_shown_are_apart() {
    let (home, now) = world();
    let inside = |id: &str, agent: &str| {
        let mut event = run(&home, &now, id);
        (event["agent_id"], event["agent_type"]) = (agent.into(), "Explore".into());
        ask(&home, "pre-tool-use", &event, &[])
    };
    let run_by_parent = run(&home, &now, "toolu_a");
    let parent = ask(&home, "pre-tool-use", &run_by_parent, &[]);
    assert!(!parent.is_empty());
    assert_eq!(inside("toolu_b", "a1"), parent, "its context does not hold it");
    assert_eq!(inside("toolu_c", "a1"), "", "told once there, too");
    assert_eq!(inside("toolu_d", "a2"), parent);
    // All of it counts against the session.
    let mut path = String::new();
    let length = context(&parent, "PreToolUse").chars().count();
    let config = with_config(&home, &format!("[recall]\nsession_chars = {}\n", length * 4 - 1), &mut path);
    let mut event = run(&home, &now, "toolu_e");
    event["agent_id"] = "a3".into();
    assert_eq!(ask(&home, "pre-tool-use", &event, &config), "", "no room is left");
}

#[test]
fn a_prompt_and_the_tools_of_its_turn_share_one_budget() {
    let (home, now) = world();
    let mut prompt = payload("UserPromptSubmit", &home, &now);
    prompt["prompt"] = "What is the depth sounder offset of the tide gauge?".into();
    let said = context(&ask(&home.copy(), "user-prompt-submit", &prompt, &[]), "UserPromptSubmit");
    let tool = context(&ask(&home.copy(), "pre-tool-use", &read(&home, &now, "toolu_a"), &[]), "PreToolUse");
    let (said, tool) = (said.chars().count(), tool.chars().count());
    // A block is counted with one character more than it may take.
    for (room, speaks) in [(said + tool + 1, true), (said + tool - 1, false)] {
        let (home, mut path) = (home.copy(), String::new());
        let config = with_config(&home, &format!("[recall]\nprompt_chars = {room}\n"), &mut path);
        assert!(!ask(&home, "user-prompt-submit", &prompt, &config).is_empty());
        let mut other_turn = read(&home, &now, "toolu_b");
        other_turn["prompt_id"] = "another".into();
        let here = ask(&home, "pre-tool-use", &read(&home, &now, "toolu_a"), &config);
        assert_eq!(!here.is_empty(), speaks, "{room}: {here}");
        assert_eq!(
            ask(&home, "pre-tool-use", &other_turn, &config).is_empty(),
            speaks,
            "{room}: its own budget"
        );
    }
}

#[test]
fn the_settings_make_tools_silent_or_let_every_call_ask() {
    let (home, now) = world();
    let (mut off, mut all) = (String::new(), String::new());
    let off = with_config(&home, "[recall]\ntools = \"off\"\n", &mut off);
    let all = with_config(&home, "[recall]\ntools = \"all\"\n  \n", &mut all);
    let fetch = tool(&home, &now, "toolu_a", "WebFetch", json!({"url": "x", "prompt": QUESTION}));
    let mut done = payload("PostToolUse.Bash", &home, &now);
    done["tool_input"] = json!({"command": "export csv"});
    done["tool_response"] =
        json!({"stdout": "the csv export lost the byte order mark, says Excel", "stderr": ""});
    let asked = launch(&home, &now, "toolu_l", "Explore", QUESTION);
    for (event, payload, name) in [
        ("pre-tool-use", &fetch, "PreToolUse"),
        ("post-tool-use", &done, "PostToolUse"),
        ("pre-tool-use", &asked, "PreToolUse"),
    ] {
        assert_eq!(ask(&home.copy(), event, payload, &[]), "", "quiet");
        assert_eq!(ask(&home.copy(), event, payload, &off), "", "off");
        let said = ask(&home.copy(), event, payload, &all);
        assert!(context(&said, name).contains("utf-8-sig"), "{event}: {said}");
    }
    let home = home.copy();
    assert_eq!(ask(&home, "pre-tool-use", &read(&home, &now, "toolu_b"), &off), "");
    assert_eq!(ask(&home, "pre-tool-use", &asked, &off), "");
    assert_eq!(
        ask(&home, "subagent-start", &start(&home, &now, "a1", "Explore"), &[]),
        "",
        "nothing was left"
    );
}

/// The hooks of tools that run at the same time run at the same time.
#[test]
fn of_hooks_at_once_one_says_it() {
    let (home, now) = world();
    for round in 0..4 {
        let home = home.copy();
        let mut hooks: Vec<Running> = (0..6)
            .map(|_| {
                let mut command = home.command(&["hook", "claude", "pre-tool-use", "--only", "recall"]);
                command.env("CLAUDE_PROJECT_DIR", home.project());
                Running::start(command)
            })
            .collect();
        for (n, hook) in hooks.iter_mut().enumerate() {
            use std::io::Write as _;
            let text = format!("{}\n", read(&home, &now, &format!("toolu_{n}")));
            hook.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        }
        let outs: Vec<_> = hooks.into_iter().map(|hook| hook.finish(Duration::from_secs(30))).collect();
        let said: Vec<_> = outs.iter().enumerate().filter(|(_, out)| !out.stdout.is_empty()).collect();
        assert_eq!(said.len(), 1, "round {round}");
        // Delivered again, each gets what it got.
        for (n, out) in outs.iter().enumerate() {
            let again = ask(&home, "pre-tool-use", &read(&home, &now, &format!("toolu_{n}")), &[]);
            assert_eq!(again, out.stdout, "round {round}, {n}");
        }
    }
}

/// F09 for recall: the same event at once gives the same bytes each time.
#[test]
fn f09_one_event_delivered_at_once_gets_the_same_bytes() {
    let (home, now) = world();
    let mut hooks: Vec<Running> = (0..4)
        .map(|_| {
            let mut command = home.command(&["hook", "claude", "pre-tool-use", "--only", "recall"]);
            command.env("CLAUDE_PROJECT_DIR", home.project());
            Running::start(command)
        })
        .collect();
    for hook in &mut hooks {
        use std::io::Write as _;
        let text = format!("{}\n", read(&home, &now, "toolu_1"));
        hook.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    }
    let outs: Vec<_> = hooks.into_iter().map(|hook| hook.finish(Duration::from_secs(30)).stdout).collect();
    assert!(outs.iter().all(|out| !out.is_empty() && out == &outs[0]), "{outs:?}");
}

/// F05: what a tool is given may be as long as a file; the path is found behind it, and the whole costs little memory. Linux only.
#[cfg(target_os = "linux")]
#[test]
fn f05_an_input_of_200_mb_costs_recall_little_memory() {
    use std::io::Write as _;
    let (home, now) = world();
    let mut event = read(&home, &now, "toolu_1");
    let csv = event["tool_input"]["file_path"].take();
    event["tool_name"] = "Write".into();
    event.as_object_mut().unwrap().remove("tool_input");
    let head = event.to_string();
    let head =
        format!("{},\"tool_input\":{{\"file_path\":{csv},\"content\":\"", head.strip_suffix('}').unwrap());
    let mut command = home.command(&["hook", "claude", "pre-tool-use", "--only", "recall"]);
    command.env("CLAUDE_PROJECT_DIR", home.project());
    let mut hook = Running::start(command);
    let status = format!("/proc/{}/status", hook.pid());
    let mut stdin = hook.stdin.take().unwrap();
    stdin.write_all(head.as_bytes()).unwrap();
    let block = vec![b'x'; 1 << 20];
    let mut peak_kb = 0;
    for _ in 0..200 {
        if stdin.write_all(&block).is_err() {
            break;
        }
        let now = std::fs::read_to_string(&status).unwrap_or_default();
        let line = now.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or_default().to_owned();
        let kb: u64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
        peak_kb = peak_kb.max(kb);
    }
    stdin.write_all(b"\"}}\n").ok();
    drop(stdin);
    let out = hook.finish(Duration::from_secs(20));
    assert_eq!(out.code, Some(0), "{out}");
    assert!(peak_kb > 0 && peak_kb < 64 * 1024, "peak {peak_kb} KiB");
    // Whether or not all of it came within the deadline, the path had been read.
    assert!(context(&out.stdout, "PreToolUse").contains("utf-8-sig"), "{out}");
}
