//! The spool: many writers at once, and files that are none of ours (D2, D10).

use crate::support::{Running, Sandbox, Transcript, long, payload};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn world() -> (Sandbox, Transcript) {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript.prompt("Which berths are free on Sunday?").says("A3 and B7.").flush();
    (sandbox, transcript)
}

/// Starts all, feeds all, waits for all.
fn at_once(sandbox: &Sandbox, event: &str, payloads: &[Value]) {
    let mut hooks: Vec<Running> =
        payloads.iter().map(|_| sandbox.start(&["hook", "claude", event])).collect();
    for (hook, payload) in hooks.iter_mut().zip(payloads) {
        hook.stdin.take().unwrap().write_all(format!("{payload}\n").as_bytes()).unwrap();
    }
    for hook in hooks {
        hook.finish(Duration::from_secs(60)).assert_silent(event);
    }
}

/// F11. Forty rounds; a thousand, as the list of faults says, with `SINKER_TEST_LONG`.
#[test]
fn f11_fifty_hooks_at_once_in_a_storm_leave_whole_pointers_and_none_is_lost() {
    let (sandbox, transcript) = world();
    let sample = payload("PostToolUse.Bash", &sandbox, &transcript);
    let rounds = long(40, 1_000);
    let doorbell = |worker: usize| {
        for round in 0..rounds {
            let mut payload = sample.clone();
            payload["tool_use_id"] = format!("toolu_{worker:02}_{round:04}").into();
            sandbox.hook("post-tool-use", &payload).assert_silent("post-tool-use");
        }
    };
    let doorbell = &doorbell;
    std::thread::scope(|scope| (0..50).for_each(|worker| drop(scope.spawn(move || doorbell(worker)))));
    let names = sandbox.spool("new");
    assert_eq!(names.len(), 50 * rounds);
    for name in &names {
        let bytes = std::fs::read(sandbox.at("spool/new").join(name)).unwrap();
        let entry: Value = serde_json::from_slice(&bytes).unwrap_or_else(|e| panic!("{name} is torn: {e}"));
        assert_eq!(entry["session"], json!(transcript.session));
    }
    assert!(sandbox.spool("tmp").is_empty());
    let account = sandbox.drain_once();
    assert_eq!(account["entries"], 50 * rounds, "{account}");
    assert_eq!(account["observations"], 2, "{account}");
    assert!(
        sandbox.spool("new").is_empty() && sandbox.spool("cur").is_empty() && sandbox.spool("odd").is_empty()
    );
}

/// F09.
#[test]
fn f09_the_same_event_four_times_at_once_is_one_pointer_and_one_set_of_rows() {
    let (sandbox, transcript) = world();
    let once = sandbox.sibling();
    let sample = payload("PostToolUse.Bash", &sandbox, &transcript);
    for round in 0..100 {
        let mut event = sample.clone();
        event["tool_use_id"] = format!("toolu_{round:03}").into();
        at_once(&sandbox, "post-tool-use", &vec![event; 4]);
        assert_eq!(sandbox.spool("new").len(), round + 1);
    }
    assert_eq!(sandbox.drain_once()["entries"], 100);
    let stop = payload("Stop", &sandbox, &transcript);
    at_once(&sandbox, "stop", &vec![stop.clone(); 4]);
    sandbox.drain_once();
    once.hook("stop", &stop).assert_silent("stop");
    once.drain_once();
    assert_eq!(sandbox.dump(), once.dump());
}

/// F19.
#[test]
fn f19_foreign_files_go_to_odd_with_their_reason_and_harm_no_neighbour() {
    let (sandbox, transcript) = world();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    let new = sandbox.at("spool/new");
    let id = "0b540000-0000-4000-8000-00000000000a";
    let name = |event: &str| format!("{id}.0000000000000001.{event}.json");
    std::fs::write(new.join(name("stop")), "").unwrap();
    std::fs::write(new.join(name("pre-compact")), "{\"v\":1,\"host\":\"claude\",\"ev").unwrap();
    std::fs::write(new.join(name("session-end")), "[1,2,3]").unwrap();
    std::fs::write(new.join(".note.swp"), "b0VIM").unwrap();
    std::fs::write(new.join("README"), "what is this folder?").unwrap();
    let huge = std::fs::File::create(new.join(name("post-compact"))).unwrap();
    huge.set_len(1 << 30).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", new.join(name("subagent-stop"))).unwrap();
    std::fs::create_dir(new.join(name("stop-failure"))).unwrap();
    let newer = r#"{"v":9,"host":"claude","event":"stop","tide":true}"#;
    std::fs::write(new.join(name("session-start")), newer).unwrap();

    let account = sandbox.drain_once();
    assert_eq!(account["observations"], 2, "the good neighbour: {account}");
    assert_eq!(account["odd"], 8, "{account}");
    // A file of a newer version is left as it was: that version will read it.
    assert_eq!(sandbox.spool("new"), [name("session-start")]);
    assert_eq!(std::fs::read_to_string(new.join(name("session-start"))).unwrap(), newer);
    let odd = sandbox.spool("odd");
    let files: Vec<&String> = odd.iter().filter(|n| !n.ends_with(".why")).collect();
    assert_eq!(files.len(), 8, "{odd:?}");
    for file in files {
        let why = std::fs::read(sandbox.at("spool/odd").join(format!("{file}.why"))).unwrap();
        let why: Value = serde_json::from_slice(&why).unwrap();
        assert!(why["reason"].as_str().is_some_and(|r| r.len() > 3), "{file}: {why}");
    }
    let status = sandbox.json(&["status"]);
    assert_eq!(status["spool"]["odd"], 8, "{status}");
    assert!(Path::new("/etc/passwd").exists(), "a link was followed");
    // Nothing of it comes back.
    assert_eq!(sandbox.drain_once()["odd"], 0);
}

/// F20.
#[test]
fn f20_stale_temporary_files_are_swept_and_fresh_ones_stay() {
    let (sandbox, transcript) = world();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    let tmp = sandbox.at("spool/tmp");
    std::fs::write(tmp.join("old.1.aa"), "{").unwrap();
    std::fs::write(tmp.join("young.1.bb"), "{").unwrap();
    let old = std::fs::File::options().write(true).open(tmp.join("old.1.aa")).unwrap();
    old.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    sandbox.drain_once();
    assert_eq!(sandbox.spool("tmp"), ["young.1.bb"]);
}

/// F17: what a dead drainer had claimed is not forgotten.
#[test]
fn f17_an_entry_claimed_by_a_dead_drainer_is_drained() {
    let (sandbox, transcript) = world();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    let name = sandbox.spool("new").pop().unwrap();
    std::fs::rename(sandbox.at("spool/new").join(&name), sandbox.at("spool/cur").join(&name)).unwrap();
    let account = sandbox.drain_once();
    assert_eq!(
        (account["entries"].clone(), account["observations"].clone()),
        (json!(1), json!(2)),
        "{account}"
    );
    assert!(sandbox.spool("cur").is_empty());
}

/// A lost doorbell costs only time: the transcript is the ledger.
#[test]
fn a_session_whose_pointers_were_all_lost_is_found_by_the_sweep() {
    let (sandbox, transcript) = world();
    let by_event = sandbox.sibling();
    sandbox.drain_once();
    assert_eq!(sandbox.json(&["status"])["store"]["observations"], 2);
    by_event.hook("stop", &payload("Stop", &by_event, &transcript)).assert_silent("stop");
    by_event.drain_once();
    assert_eq!(sandbox.dump(), by_event.dump());
}
