//! Draining: the same rows whatever the order, the split and the interruptions (D3, D4, D5, D7).

use crate::support::{Noise, Running, Sandbox, Transcript, eventually, payload, within};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::Duration;

/// A session with a bit of everything, and its subagent. The same bytes each time it is told.
fn story(sandbox: &Sandbox) -> (Transcript, Transcript) {
    let mut main = Transcript::new(sandbox, 3);
    main.noise(Noise::LastPrompt)
        .prompt("The berth list skips a berth at the end of each page. Why?")
        .noise(Noise::QueueOperation)
        .injected("Past notes: a berth list was paged before.")
        .thinks("Off by one, probably in the page size.")
        .says("I'll look at the query.")
        .calls("toolu_1", "Read", json!({"file_path": "/home/dev/harbor-api/harbor/berths.py"}))
        .returns("toolu_1", "1\tPAGE = 50\n2\trows = query.limit(PAGE - 1)\n")
        .noise(Noise::ApiRequest)
        .says("Root cause: the query asks for PAGE - 1 rows, but the next page starts at PAGE.")
        .meta("Base directory for this skill: /home/dev/.claude/skills/tidy")
        .prompt("Fix it. We decide on 40 rows a page, phones are slow.")
        .queued("and run the tests, please")
        .calls("toolu_2", "Edit", json!({"file_path": "/home/dev/harbor-api/harbor/berths.py", "old_string": "PAGE - 1", "new_string": "PAGE"}))
        .returns("toolu_2", "The file has been updated successfully.")
        .calls("toolu_3", "Bash", json!({"command": "pytest -q tests/test_berths.py"}))
        .fails("toolu_3", "Exit code 1\n1 failed")
        .noise(Noise::Snapshot)
        .calls("toolu_4", "Bash", json!({"command": "pytest -q tests/test_berths.py"}))
        .returns("toolu_4", "4 passed")
        .noise(Noise::Unknown)
        .says("Fixed: 40 rows a page, and no berth is skipped.\n\nNext steps:\n- tell the mobile team")
        .compacts("The berth list was fixed.")
        .command("review", "harbor/berths.py")
        .says("Nothing to add. Grüße, 日本.");
    let mut agent = main.subagent("a3b9c2d1e0f48576");
    agent.prompt("List the callers of the berth query.").says("There are two callers.");
    (main, agent)
}

fn forget_files(transcripts: &[&Transcript]) {
    for transcript in transcripts {
        std::fs::remove_file(&transcript.path).ok();
    }
}

/// A small random generator: the same numbers for the same seed, on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

fn observations(sandbox: &Sandbox) -> Value {
    sandbox.json(&["status"])["store"]["observations"].clone()
}

#[test]
fn draining_in_any_split_and_order_gives_the_rows_of_an_import() {
    let world = Sandbox::new();
    let (mut main, mut agent) = story(&world);
    main.flush();
    agent.flush();
    let imported = world.sibling();
    let account = imported.import(&[&world.claude().join("projects")]);
    assert_eq!(account["observations"], json!(main.observations + agent.observations), "{account}");
    let expected = imported.dump();
    imported.verify();

    let events = ["UserPromptSubmit", "PostToolUse.Bash", "Stop", "PreCompact.auto"];
    let names = ["user-prompt-submit", "post-tool-use", "stop", "pre-compact"];
    for seed in 1..=6 {
        forget_files(&[&main, &agent]);
        let mut dice = Dice(seed);
        let home = world.sibling();
        (main, agent) = story(&world);
        let total = main.bytes().len();
        let mut at = 0;
        let mut agent_done = false;
        while at < total {
            // Cuts fall anywhere: in a line, in a character, on a boundary.
            at = (at + 1 + dice.roll(total / 4)).min(total);
            main.flush_to(at);
            let which = dice.roll(events.len());
            for _ in 0..=dice.roll(2) {
                home.hook(names[which], &payload(events[which], &home, &main)).assert_silent(names[which]);
            }
            if !agent_done && dice.roll(3) == 0 {
                agent.flush();
                let stop = payload("SubagentStop", &home, &main);
                home.hook("subagent-stop", &stop).assert_silent("subagent-stop");
                agent_done = true;
            }
            if dice.roll(3) == 0 {
                home.drain_once();
            }
        }
        agent.flush();
        home.hook("session-end", &payload("SessionEnd.other", &home, &main)).assert_silent("session-end");
        home.drain_once();
        assert_eq!(home.dump(), expected, "seed {seed}");
        home.verify();
        // Free, because of the ids.
        home.drain_once();
        home.import(&[&main.path]);
        assert_eq!(home.dump(), expected, "seed {seed}, imported on top");
    }
}

/// One file that cannot be read must not hold up its neighbours, nor pass for success.
#[test]
fn what_cannot_be_read_is_told_and_holds_up_no_neighbour() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 23);
    transcript.prompt("Is the light on?").flush();
    let folder = transcript.path.parent().unwrap();
    std::os::unix::fs::symlink("/proc/self/mem", folder.join("a.jsonl")).unwrap();
    let absent = folder.join("b.jsonl");
    std::fs::create_dir(&absent).unwrap();
    let account = sandbox.import(&[folder]);
    assert_eq!(account["observations"], 1, "{account}");
    // A link that a person names is refused, and the reason is kept.
    let link = sandbox.import(&[&folder.join("a.jsonl")]);
    assert_eq!((&link["observations"], &link["odd"]), (&json!(0), &json!(1)), "{link}");
    assert_eq!(sandbox.spool("odd").len(), 1);
    assert_eq!(sandbox.json(&["status"])["store"]["observations"], 1);
}

/// D10: a limit on depth would drop files silently.
#[test]
fn a_transcript_deep_in_folders_is_imported() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 17);
    let deep = sandbox.root().join("backup/a/b/c/d/e/f/g/h/i/j/k");
    transcript.path = deep.join("session.jsonl");
    transcript.prompt("How deep is the harbour?").flush();
    let account = sandbox.import(&[&sandbox.root().join("backup")]);
    assert_eq!(
        (account["files"].clone(), account["observations"].clone()),
        (json!(1), json!(1)),
        "{account}"
    );
}

fn running(sandbox: &Sandbox) -> bool {
    sandbox.json(&["status"])["drainer"]["running"] == true
}

/// A drainer with nothing to do does nothing: its own looks must not wake it.
#[test]
fn an_idle_drainer_sleeps_with_and_without_a_watcher() {
    for watch in ["on", "off"] {
        let sandbox = Sandbox::new();
        let mut command = sandbox.command(&["drain"]);
        command.env("SINKER_WATCH", watch);
        let drainer = crate::support::Running::start(command);
        eventually("the drainer beats", || sandbox.at("state/heartbeat").exists());
        let switches = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", drainer.pid())).unwrap();
            let lines = status.lines().filter(|l| l.contains("ctxt_switches"));
            lines.map(|l| l.split_whitespace().last().unwrap().parse::<u64>().unwrap()).sum::<u64>()
        };
        let before = switches();
        std::thread::sleep(std::time::Duration::from_secs(2));
        let woken = switches() - before;
        assert!(woken < 400, "woken {woken} times in two seconds, watcher {watch}");
    }
}

/// F58.
#[test]
fn f58_of_twenty_drainers_in_a_storm_exactly_one_works() {
    let sandbox = Sandbox::new();
    let (mut main, _) = story(&sandbox);
    main.flush();
    let mut drainers: Vec<Running> = (0..20).map(|_| sandbox.start(&["drain"])).collect();
    eventually("nineteen leave", || {
        drainers.iter_mut().filter_map(|d| d.ended().then_some(())).count() == 19
    });
    eventually("the one stores", || running(&sandbox) && observations(&sandbox) == main.observations);
    let (left, mut stayed): (Vec<Running>, Vec<Running>) = {
        let mut left = Vec::new();
        let mut stayed = Vec::new();
        for mut drainer in drainers {
            if drainer.ended() { left.push(drainer) } else { stayed.push(drainer) }
        }
        (left, stayed)
    };
    for drainer in left {
        let out = drainer.finish(Duration::from_secs(5));
        assert_eq!(out.code, Some(4), "{out}");
        assert!(out.stderr.contains("hint:"), "{out}");
    }
    let last = stayed.pop().unwrap();
    assert!(stayed.is_empty());
    last.signal(Signal::TERM);
    let out = last.finish(Duration::from_secs(20));
    assert_eq!(out.code, Some(0), "{out}");
    sandbox.verify();
}

#[test]
fn f58_a_second_drainer_is_refused_and_takes_over_when_the_first_is_killed() {
    let sandbox = Sandbox::new();
    let (mut main, _) = story(&sandbox);
    main.flush();
    let first = sandbox.start(&["drain"]);
    eventually("it runs", || running(&sandbox));
    let second = sandbox.sinker(&["drain", "--once"]);
    assert_eq!(second.code, Some(4), "{second}");
    first.signal(Signal::KILL);
    assert!(first.finish(Duration::from_secs(10)).killed());
    assert!(!running(&sandbox), "the lock went with it");
    sandbox.drain_once();
    assert_eq!(observations(&sandbox), main.observations);
    sandbox.verify();
}

/// F61.
#[test]
fn f61_each_ending_signal_ends_the_drainer_cleanly() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let sandbox = Sandbox::new();
        let mut drainer = sandbox.start(&["drain"]);
        eventually("it runs", || running(&sandbox));
        drainer.signal(signal);
        assert!(drainer.ends_within(Duration::from_secs(10)), "{signal:?}");
        let out = drainer.finish(Duration::from_secs(5));
        assert_eq!(out.code, Some(0), "{signal:?}: {out}");
        sandbox.drain_once();
    }
}

/// F21, F22: a watcher only wakes; without one the timers find everything.
#[test]
fn f22_a_running_drainer_stores_what_a_hook_announces_with_and_without_a_watcher() {
    for watch in ["on", "off"] {
        let sandbox = Sandbox::new();
        let mut command = sandbox.command(&["drain"]);
        command.env("SINKER_WATCH", watch);
        let drainer = Running::start(command);
        eventually("it runs", || running(&sandbox));
        let mut transcript = Transcript::new(&sandbox, 13);
        transcript.prompt("Who is the harbour master?").flush();
        sandbox.hook("user-prompt-submit", &payload("UserPromptSubmit", &sandbox, &transcript));
        eventually("the prompt is stored", || observations(&sandbox) == 1);
        // The answer reaches the file after Stop: the drainer looks again without being told.
        sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
        eventually("the entry is done", || {
            sandbox.spool("new").is_empty() && sandbox.spool("cur").is_empty()
        });
        transcript.says("Åse Müller, since May.").flush();
        eventually("the late answer is stored", || observations(&sandbox) == 2);
        eventually("it can be found", || sandbox.sinker(&["search", "Müller", "--json"]).code == Some(0));
        drop(drainer);
    }
}

/// F23.
#[test]
fn f23_a_spool_deleted_under_a_running_drainer_comes_back() {
    let sandbox = Sandbox::new();
    let mut drainer = sandbox.start(&["drain"]);
    eventually("it runs", || running(&sandbox));
    std::fs::remove_dir_all(sandbox.at("spool")).unwrap();
    let mut transcript = Transcript::new(&sandbox, 14);
    transcript.prompt("Is anybody there?").flush();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    eventually("the prompt is stored", || observations(&sandbox) == 1);
    assert!(!drainer.ended());
}

/// F59, D9: a stuck drainer holds up nobody but itself.
#[test]
fn f59_hooks_go_on_beside_a_stopped_drainer_and_its_end_frees_the_lock() {
    let sandbox = Sandbox::new();
    let drainer = sandbox.start(&["drain"]);
    eventually("it runs", || running(&sandbox));
    drainer.signal(Signal::STOP);
    let mut transcript = Transcript::new(&sandbox, 15);
    transcript.prompt("Which buoy is adrift?").flush();
    let silent = |name: &str, event: &str| {
        sandbox.hook(event, &payload(name, &sandbox, &transcript)).assert_silent(event);
    };
    assert!(within(Duration::from_secs(20), || {
        silent("UserPromptSubmit", "user-prompt-submit");
        silent("Stop", "stop");
        true
    }));
    assert_eq!(sandbox.spool("new").len(), 2);
    drainer.signal(Signal::KILL);
    drop(drainer);
    sandbox.drain_once();
    assert_eq!(observations(&sandbox), 1);
}

#[test]
fn an_import_beside_a_running_drainer_is_done_by_it_and_searchable_on_return() {
    let sandbox = Sandbox::new();
    let drainer = sandbox.start(&["drain"]);
    eventually("it runs", || running(&sandbox));
    let elsewhere = sandbox.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut transcript = Transcript::new(&sandbox, 16);
    transcript.path = elsewhere.join("session.jsonl");
    transcript.prompt("Where do we keep the lighthouse keys?").says("In the blue locker.").flush();
    let account = sandbox.import(&[&transcript.path]);
    assert_eq!(account["observations"], 2, "{account}");
    let found = sandbox.json(&["search", "lighthouse keys", "--all"]);
    assert!(!found["hits"].as_array().unwrap().is_empty(), "{found}");
    drop(drainer);
}

/// D11.
#[test]
fn a_store_of_a_newer_version_is_refused_and_left_as_it_is() {
    let sandbox = Sandbox::new();
    let (mut main, _) = story(&sandbox);
    main.flush();
    sandbox.drain_once();
    let store = rusqlite::Connection::open(sandbox.at("store.db")).unwrap();
    store.pragma_update(None, "user_version", 9999).unwrap();
    store.pragma_update(None, "wal_checkpoint", "TRUNCATE").ok();
    drop(store);
    let before = std::fs::read(sandbox.at("store.db")).unwrap();
    let out = sandbox.sinker(&["drain", "--once"]);
    assert_eq!(out.code, Some(4), "{out}");
    assert!(out.stderr.contains("hint:"), "{out}");
    assert_eq!(std::fs::read(sandbox.at("store.db")).unwrap(), before);
}

/// D6.
#[test]
fn a_deleted_index_loses_nothing_but_time() {
    let sandbox = Sandbox::new();
    let (mut main, _) = story(&sandbox);
    main.flush();
    sandbox.drain_once();
    let before = sandbox.dump();
    std::fs::remove_dir_all(sandbox.at("index")).unwrap();
    sandbox.drain_once();
    assert_eq!(sandbox.dump(), before);
    sandbox.verify();
    assert_eq!(sandbox.sinker(&["search", "berth list", "--json"]).code, Some(0));
}

#[test]
fn what_a_session_was_shown_is_forgotten_after_a_season() {
    let sandbox = Sandbox::new();
    let dir = sandbox.at("state/shown");
    std::fs::create_dir_all(&dir).unwrap();
    let day = std::time::Duration::from_secs(24 * 60 * 60);
    for (name, days) in [("old", 91), ("young", 89)] {
        std::fs::write(dir.join(name), "shown 1\n").unwrap();
        let file = std::fs::File::open(dir.join(name)).unwrap();
        file.set_modified(std::time::SystemTime::now() - day * days).unwrap();
    }
    sandbox.drain_once();
    assert!(!dir.join("old").exists() && dir.join("young").exists());
}
