//! Power cuts (faults, C3): hook and drainer write down what they do to files; from that record the states are made in which a cut
//! may leave the disk, and from each a plain drain must come to the rows of an undisturbed run.
#![cfg(feature = "failpoints")]

use crate::support::{Record, Sandbox, Seed, Transcript, payload};
use serde_json::json;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// States tried by a run of a test; `POWER_STATES` says otherwise.
fn states() -> usize {
    std::env::var("POWER_STATES").ok().and_then(|n| n.parse().ok()).unwrap_or(80)
}

/// Runs a process of `home` that writes down what it does.
fn recorded(home: &Sandbox, record: &mut Record, args: &[&str], stdin: &str) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let mut env = vec![("STEP_RECORD", dir.path().to_str().unwrap())];
    let project = home.project();
    env.push(("CLAUDE_PROJECT_DIR", project.to_str().unwrap()));
    let out = home.sinker_with(args, stdin.as_bytes(), &env);
    assert_eq!(out.code, Some(0), "{args:?}: {out}");
    record.add(dir.path())
}

fn hook(home: &Sandbox, record: &mut Record, event: &str, name: &str, transcript: &Transcript) -> usize {
    let stdin = format!("{}\n", payload(name, home, transcript));
    recorded(home, record, &["hook", "claude", event], &stdin)
}

/// Makes `states()` states of cuts between `from` and the end, and looks at each with `check`.
fn after_cuts(
    home: &Sandbox,
    record: &Record,
    from: usize,
    check: impl Fn(&Sandbox, usize, &[String]) + Sync,
) {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    let work = || {
        while failed.lock().unwrap().len() < 3 {
            let n = next.fetch_add(1, Ordering::SeqCst);
            if n >= states() {
                return;
            }
            let mut seed = Seed::new(n as u64 + 1);
            let cut = from + seed.below(record.done().len() + 1 - from);
            let after = home.sibling();
            std::fs::remove_file(after.at("secret")).unwrap();
            let told = record.cut(cut, &mut seed, after.home());
            let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&after, cut, &told)));
            if let Err(why) = tried {
                let why = why.downcast_ref::<String>().cloned().unwrap_or_default();
                let last: Vec<String> = record.done()[..cut]
                    .iter()
                    .rev()
                    .take(6)
                    .map(|d| format!("{} {}", d.did, d.to.display()))
                    .collect();
                failed
                    .lock()
                    .unwrap()
                    .push(format!("state {n}, cut after {cut} ({last:?})\n{}\n{why}", told.join("\n")));
            }
            std::fs::remove_dir_all(after.home()).ok();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// What may be found in `odd/` after a cut: pointers that nobody promised, torn.
fn only_torn_pointers(home: &Sandbox, told: &[String]) {
    for name in home.spool("odd") {
        let name = name.trim_end_matches(".why");
        assert!(
            told.iter().any(|t| t.contains("write spool/tmp") && t.contains(name)),
            "{name} in odd: {told:?}"
        );
    }
}

fn world() -> (Sandbox, Transcript) {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript
        .prompt("Why is the tide gauge off by an hour?")
        .calls("toolu_1", "Bash", json!({"command": "date -u"}))
        .returns("toolu_1", "Mon Nov 30 10:00:00 UTC")
        .says("Root cause: the gauge reports local time. Decision: we convert to UTC on arrival.")
        .flush();
    (sandbox, transcript)
}

/// Hooks, a first drain, more of the session, a second drain, a rebuild: cut at any of their operations.
#[test]
fn f40_a_power_cut_at_any_operation_loses_no_row() {
    let (home, mut transcript) = world();
    let mut record = Record::begin(home.home());
    hook(&home, &mut record, "post-tool-use", "PostToolUse.Bash", &transcript);
    hook(&home, &mut record, "stop", "Stop", &transcript);
    recorded(&home, &mut record, &["drain", "--once"], "");
    transcript
        .prompt("And the other gauge?")
        .says("It was right.")
        .compacts("The gauge was an hour off.")
        .flush();
    hook(&home, &mut record, "post-tool-use", "PostToolUse.Read", &transcript);
    hook(&home, &mut record, "stop", "Stop", &transcript);
    recorded(&home, &mut record, &["drain", "--once"], "");
    recorded(&home, &mut record, &["index", "rebuild"], "");
    record_is_complete(&record);
    entries_go_after_the_commit(&record);
    let rows = home.dump();
    assert!(rows.contains("Root cause") && rows.contains("It was right"), "{rows}");
    after_cuts(&home, &record, 0, |after, cut, told| {
        if cut % 4 == 0 {
            // Whoever looks before the drainer does may find little, but no fault.
            let status = after.sinker(&["status", "--json"]);
            assert!(matches!(status.code, Some(0 | 3)), "{status}");
            let asked = after.hook("user-prompt-submit", &payload("UserPromptSubmit", after, &transcript));
            assert_eq!(asked.code, Some(0), "{asked}");
        }
        after.drain_once();
        assert_eq!(after.dump(), rows);
        after.verify();
        only_torn_pointers(after, told);
        assert_eq!((after.spool("new"), after.spool("cur")), (Vec::new(), Vec::new()));
    });
}

/// A folder of the user's may lie in others that are as new: each is on disk before something is promised to lie in the last.
#[test]
fn f40_each_new_folder_on_the_way_to_a_file_is_synced() {
    let (home, _) = world();
    let mut record = Record::begin(home.home());
    let plugin = home.at("one/two/plugin");
    recorded(&home, &mut record, &["install", "--plugin", plugin.to_str().unwrap()], "");
    let done = record.done();
    let at = |did: &str, path: &Path| done.iter().position(|d| d.did == did && d.path == path);
    let first = done.iter().position(|d| d.did == "replace" || d.did == "rename").expect("a file");
    for folder in ["one", "one/two", "one/two/plugin"].map(Path::new) {
        let made = at("make-dir", folder).unwrap_or_else(|| panic!("{} was not made", folder.display()));
        let synced = done
            .iter()
            .enumerate()
            .find(|(i, d)| *i > made && d.did == "sync-dir" && Some(d.path.as_path()) == folder.parent());
        assert!(synced.is_some_and(|(i, _)| i < first), "{}: {done:?}", folder.display());
    }
}

/// F01 and F06 under a power cut: a stop is promised to be on disk when its hook ends, in a home that did not exist before, too.
#[test]
fn f40_what_a_synced_hook_has_written_survives_a_power_cut() {
    let (home, transcript) = world();
    let mut record = Record::begin(home.home());
    let promised = hook(&home, &mut record, "stop", "Stop", &transcript);
    let entry = home.spool("new");
    assert_eq!(entry.len(), 1);
    hook(&home, &mut record, "post-tool-use", "PostToolUse.Bash", &transcript);
    let bytes = std::fs::read(home.at("spool/new").join(&entry[0])).unwrap();
    after_cuts(&home, &record, promised, |after, _, _| {
        let kept = std::fs::read(after.at("spool/new").join(&entry[0])).ok();
        assert_eq!(kept.as_ref(), Some(&bytes), "a promised pointer is not there");
    });
}

/// Every durable file that is there in the end was seen by the recorder: a write past it would not be tried.
fn record_is_complete(record: &Record) {
    for file in ["spool/new", "index/current", "meta.json", ".managed.json", "state/status"] {
        assert!(
            record.done().iter().any(|d| d.to.to_string_lossy().contains(file)),
            "nothing recorded of {file}"
        );
    }
    for did in [
        "create",
        "write",
        "sync",
        "replace",
        "rename",
        "remove",
        "remove-tree",
        "make-dir",
        "sync-dir",
        "commit",
    ] {
        assert!(record.done().iter().any(|d| d.did == did), "no {did} recorded");
    }
}

/// D3: a pointer is removed only behind a commit that was answered after it was claimed.
fn entries_go_after_the_commit(record: &Record) {
    let mut removed = 0;
    for (i, op) in record.done().iter().enumerate() {
        if op.did == "remove" && op.path.starts_with(Path::new("spool/cur")) {
            removed += 1;
            let claimed = record.done()[..i].iter().rposition(|d| d.did == "rename" && d.to == op.path);
            let between = &record.done()[claimed.expect("an entry that was never claimed")..i];
            assert!(
                between.iter().any(|d| d.did == "commit"),
                "{} is removed before its commit",
                op.path.display()
            );
        }
    }
    assert!(removed >= 4, "{removed} entries were done");
}
