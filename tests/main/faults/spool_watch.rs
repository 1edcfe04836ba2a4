//! Faults of the watcher, F21 to F23; F21's synthetic event is beside `drain/watch.rs`, and more of F22 and F23 in `drain.rs`.

use crate::support::{Running, Sandbox, Transcript, eventually, is_root, payload, shell, within};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

fn told(sandbox: &Sandbox) -> usize {
    sandbox.log().lines().filter(|line| line.contains("cannot be watched")).count()
}

/// Puts the kernel's setting back, whatever happens.
struct Setting {
    path: &'static str,
    before: String,
}

impl Setting {
    /// `None`, said, where it may not be set.
    fn set(path: &'static str, value: &str) -> Option<Self> {
        let before = std::fs::read_to_string(path).ok()?;
        if std::fs::write(path, value).is_err() {
            eprintln!("skipped: needs root, and {path} that may be written");
            return None;
        }
        Some(Self { path, before })
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        std::fs::write(self.path, &self.before).ok();
    }
}

/// F21: a queue of four events, and hundreds of hooks while the drainer cannot look. This is the one test that touches the setting.
#[test]
fn f21_an_overflow_of_the_watcher_leads_to_a_full_scan() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 1);
    transcript.prompt("How many swans are in the basin?").says("Eleven.").flush();
    if !is_root() {
        return;
    }
    let Some(setting) = Setting::set("/proc/sys/fs/inotify/max_queued_events", "4") else { return };
    // The queue of a watcher keeps the length it is made with.
    let mut drainer = sandbox.start(&["drain"]);
    eventually("it watches", || {
        std::fs::read_to_string(format!("/proc/{}/maps", drainer.pid())).is_ok()
            && sandbox.at("state/heartbeat").exists()
    });
    drop(setting);
    let stored = || sandbox.json(&["status"])["store"]["observations"] == 2;
    eventually("the sweep has seen the session", stored);
    drainer.signal(rustix::process::Signal::STOP);
    let event = payload("PostToolUse.Bash", &sandbox, &transcript);
    for n in 0..60 {
        let mut event = event.clone();
        event["tool_use_id"] = format!("toolu_{n:02}").into();
        sandbox.hook("post-tool-use", &event).assert_silent("event");
    }
    assert_eq!(sandbox.spool("new").len(), 60);
    drainer.signal(rustix::process::Signal::CONT);
    // A second, says the list of faults; the rest is for a busy machine.
    let drained = within(Duration::from_secs(5), || sandbox.spool("new").is_empty());
    assert!(drained, "{} left", sandbox.spool("new").len());
    eventually("all of them are done", || sandbox.spool("cur").is_empty());
    // It goes on watching.
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    eventually("the next one, too", || sandbox.spool("new").is_empty() && sandbox.spool("cur").is_empty());
    assert!(!drainer.ended());
    assert_eq!(told(&sandbox), 0, "{}", sandbox.log());
}

/// F22: a user who may have no watcher, or watch nothing. Limits of a user namespace, so nobody else feels them.
#[test]
fn f22_without_a_watch_to_be_had_the_drainer_polls_and_says_so_once() {
    for limit in ["max_inotify_instances", "max_inotify_watches"] {
        let sandbox = Sandbox::new();
        let mut transcript = Transcript::new(&sandbox, 2);
        transcript.prompt("Is the crane free?").says("From noon on.").flush();
        let script = format!(r#"echo 0 > /proc/sys/user/{limit} || exit 77; exec "$SINKER" drain"#);
        let Some(command) = shell(&sandbox, &["unshare", "-U", "-r"], &script) else { return };
        let mut drainer = Running::start(command);
        if !within(Duration::from_secs(20), || drainer.ended() || sandbox.at("state/heartbeat").exists())
            || drainer.ended()
        {
            eprintln!("skipped: {limit} may not be set");
            continue;
        }
        eventually("the sweep has seen the session", || {
            sandbox.json(&["status"])["store"]["observations"] == 2
        });
        for (event, sample) in [("stop", "Stop"), ("session-end", "SessionEnd.other")] {
            sandbox.hook(event, &payload(sample, &sandbox, &transcript)).assert_silent(event);
            eventually("it is drained", || {
                sandbox.spool("new").is_empty() && sandbox.spool("cur").is_empty()
            });
        }
        assert_eq!(told(&sandbox), 1, "{limit}: {}", sandbox.log());
        assert!(!drainer.ended());
    }
}

/// The folder is among those that a process watches. Linux tells their inodes; elsewhere this is not looked at.
fn watches(pid: u32, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    if !cfg!(target_os = "linux") {
        return true;
    }
    let Ok(inode) = folder.metadata().map(|meta| meta.ino()) else { return false };
    let files = std::fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().filter_map(Result::ok);
    let texts = files.map(|file| std::fs::read_to_string(file.path()).unwrap_or_default());
    texts
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .any(|line| line.starts_with("inotify ") && line.contains(&format!(" ino:{inode:x} ")))
}

/// F23: renamed away, deleted in part, deleted whole, again and again.
#[test]
fn f23_a_spool_that_is_taken_away_is_made_again_and_watched() {
    let sandbox = Sandbox::new();
    let mut transcript = Transcript::new(&sandbox, 3);
    transcript.prompt("Where is the buoy?").says("Ashore.").flush();
    let mut drainer = sandbox.start(&["drain"]);
    eventually("it runs", || sandbox.at("state/heartbeat").exists());
    let faults =
        [("spool", false), ("spool/new", true), ("spool/cur", true), ("spool/tmp", true), ("spool", true)];
    for (round, (folder, removed)) in faults.into_iter().enumerate() {
        // Moved first: what is removed file by file would meet the drainer, which makes it again.
        let away = sandbox.root().join(format!("elsewhere-{round}"));
        std::fs::rename(sandbox.at(folder), &away).unwrap();
        if removed {
            std::fs::remove_dir_all(away).unwrap();
        }
        transcript.says(&format!("Seen {round} times.")).flush();
        sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
        eventually("what was said is stored", || {
            sandbox.json(&["status"])["store"]["observations"] == json!(transcript.observations)
        });
        eventually("the entry is done", || {
            sandbox.at("spool/new").is_dir()
                && sandbox.spool("new").is_empty()
                && sandbox.spool("cur").is_empty()
        });
        eventually("the new folder is watched", || watches(drainer.pid(), &sandbox.at("spool/new")));
    }
    assert!(!drainer.ended());
}
