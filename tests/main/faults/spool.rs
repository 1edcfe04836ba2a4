//! Faults of the spool, F18 to F20 and F26. F17 is in `crash.rs`, more of F19 and F20 in `spool.rs` beside this folder.

use crate::support::{Sandbox, Transcript, is_root, payload, shell, to_end};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn world() -> (Sandbox, Transcript) {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript.prompt("When does the dredger leave?").says("On Tuesday, with the tide.").flush();
    (sandbox, transcript)
}

fn idle(sandbox: &Sandbox) -> bool {
    sandbox.spool("new").is_empty() && sandbox.spool("cur").is_empty()
}

/// F18: the host delivers again, under the same name, while the transaction of the first delivery is being committed.
#[cfg(all(feature = "failpoints", target_os = "linux"))]
#[test]
fn f18_a_delivery_that_meets_its_own_name_in_work_is_processed_too() {
    use crate::support::{Running, within};
    let (sandbox, mut transcript) = world();
    sandbox.drain_once();
    let stop = payload("Stop", &sandbox, &transcript);
    sandbox.hook("stop", &stop).assert_silent("first");
    let name = sandbox.spool("new");
    let mut command = sandbox.command(&["drain"]);
    command.env("STEP_STOP", "store::commit");
    let mut drainer = Running::start(command);
    assert!(drainer.stops(), "it ended without a commit");
    assert_eq!(sandbox.spool("cur"), name, "the first delivery is in work");
    sandbox.hook("stop", &stop).assert_silent("second");
    assert_eq!(sandbox.spool("new"), name, "the second has the same name");
    transcript.says("No, on Wednesday.").flush();
    drainer.signal(rustix::process::Signal::CONT);
    assert!(within(Duration::from_secs(30), || idle(&sandbox)), "{:?}", sandbox.spool("new"));
    let status = || sandbox.json(&["status"]);
    let stored = within(Duration::from_secs(30), || status()["store"]["observations"] == 3);
    assert!(stored, "what came meanwhile: {}", status());
    drainer.signal(rustix::process::Signal::TERM);
    drainer.finish(Duration::from_secs(30));
    assert_eq!(status()["drainer"]["drained_1h"], 2, "{}", status());
    assert_eq!(status()["spool"]["odd"], 0);
}

/// F19: root can put a file of somebody else there; a person cannot, but a hook that ran as root can.
#[test]
fn f19_an_entry_of_another_user_is_set_aside() {
    let (sandbox, transcript) = world();
    if !is_root() {
        return;
    }
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    sandbox.hook("session-end", &payload("SessionEnd.other", &sandbox, &transcript)).assert_silent("end");
    let foreign = sandbox.spool("new").into_iter().find(|n| n.contains(".stop.")).unwrap();
    std::os::unix::fs::chown(sandbox.at("spool/new").join(&foreign), Some(12_345), None).unwrap();
    let account = sandbox.drain_once();
    assert_eq!((&account["entries"], &account["odd"]), (&json!(1), &json!(1)), "{account}");
    assert_eq!(account["observations"], 2, "{account}");
    let why = std::fs::read_to_string(sandbox.at("spool/odd").join(format!("{foreign}.why"))).unwrap();
    assert!(why.contains("another user"), "{why}");
}

/// F19, D10: the second piece of junk must not replace the first, and a folder must not jam the spool.
#[test]
fn f19_junk_that_comes_again_under_its_name_is_kept_beside_the_first() {
    let (sandbox, transcript) = world();
    sandbox.drain_once();
    for round in 0..3 {
        let new = sandbox.at("spool/new");
        std::fs::write(new.join("README"), format!("round {round}")).unwrap();
        std::fs::create_dir(new.join("folder.0000000000000001.stop.json")).unwrap();
        std::fs::write(new.join("folder.0000000000000001.stop.json/file"), "x").unwrap();
        sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
        let account = sandbox.drain_once();
        assert_eq!((&account["entries"], &account["odd"]), (&json!(1), &json!(2)), "{round}: {account}");
        assert!(idle(&sandbox), "{round}");
    }
    assert_eq!(sandbox.json(&["status"])["spool"]["odd"], 6);
    let kept: BTreeSet<String> = ["README", "README.2", "README.3"]
        .iter()
        .map(|name| std::fs::read_to_string(sandbox.at("spool/odd").join(name)).unwrap())
        .collect();
    assert_eq!(kept.len(), 3, "{kept:?}");
}

/// F20: what is left of a file that was being replaced when its process died.
#[test]
fn f20_unfinished_replacements_are_swept_by_age_and_told() {
    let (sandbox, transcript) = world();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    sandbox.drain_once();
    let places =
        ["spool/tmp/s.1.aa", "spool/odd/.x.why.77.tmp", "state/.status.77.tmp", "index/.current.77.tmp"];
    for place in places {
        let path = sandbox.at(place);
        std::fs::write(&path, "{").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    }
    let young = sandbox.at("spool/odd/.y.why.78.tmp");
    std::fs::write(&young, "{").unwrap();
    sandbox.drain_once();
    for place in places {
        assert!(!sandbox.at(place).exists(), "{place} is still there");
    }
    assert!(young.exists(), "somebody may be writing it");
    assert!(sandbox.log().contains("files=4"), "{}", sandbox.log());
    assert_eq!(sandbox.json(&["status"])["spool"]["odd"], 0);
}

/// F26: an entry cannot be renamed from one file system to another.
#[test]
fn f26_a_spool_on_two_file_systems_is_refused() {
    let (sandbox, transcript) = world();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    if !is_root() {
        return;
    }
    let binds = r#"mkdir -p "$SINKER_HOME/elsewhere"; mount --bind "$SINKER_HOME/elsewhere""#;
    for (case, mount) in [("another disk", "mount -t tmpfs tmpfs"), ("the same disk", binds)] {
        for folder in ["tmp", "cur", "odd"] {
            let script = format!(
                r#"{mount} "$SINKER_HOME/spool/{folder}"
                "$SINKER" hook claude session-end || exit 99
                exec "$SINKER" drain --once"#
            );
            let Some(command) = shell(&sandbox, &["unshare", "-m"], &script) else { return };
            let end = format!("{}\n", payload("SessionEnd.other", &sandbox, &transcript));
            let out = to_end(command, end.as_bytes());
            assert_eq!((out.code, out.stdout.as_str()), (Some(1), ""), "{case}, {folder}: {out}");
            assert!(
                out.stderr.contains("another file system") && out.stderr.contains("hint:"),
                "{folder}: {out}"
            );
            assert!(out.stderr.contains(&format!("spool/{folder}")), "it names the folder: {out}");
            assert!(sandbox.spool("tmp").is_empty(), "{case}, {folder}");
        }
    }
    assert!(!Path::new(&sandbox.at("store.db")).exists(), "it was refused before anything was made");
    sandbox.drain_once();
    assert_eq!(sandbox.json(&["status"])["store"]["observations"], 2);
    assert!(idle(&sandbox));
}
