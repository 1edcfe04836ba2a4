//! Faults of the log, F64: whatever its file is, the work goes on.

use crate::support::{Sandbox, Transcript, fifo, is_root, payload, shell, to_end};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// The promise of `log`: at most twice this.
const CAP: u64 = 4 * 1024 * 1024;

fn sparse(path: &Path, size: u64) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::File::create(path).unwrap().set_len(size).unwrap();
}

/// What may stand where the log should: the line goes to stderr, and nobody waits.
#[test]
fn f64_a_log_that_cannot_be_written_holds_up_nobody() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("target");
    let cases: [(&str, &dyn Fn(&Path)); 6] = [
        ("a folder", &|log| std::fs::create_dir_all(log).unwrap()),
        ("a FIFO that nobody reads", &|log| {
            std::fs::create_dir_all(log.parent().unwrap()).unwrap();
            fifo(log);
        }),
        ("a link", &|log| {
            std::fs::create_dir_all(log.parent().unwrap()).unwrap();
            symlink(&target, log).unwrap();
        }),
        ("a link to nowhere", &|log| {
            std::fs::create_dir_all(log.parent().unwrap()).unwrap();
            symlink("/nowhere/at/all", log).unwrap();
        }),
        ("a device", &|log| {
            std::fs::create_dir_all(log.parent().unwrap()).unwrap();
            symlink("/dev/full", log).unwrap();
        }),
        ("its folder a file", &|log| std::fs::write(log.parent().unwrap(), "in the way").unwrap()),
    ];
    for (case, place) in cases {
        let sandbox = Sandbox::new();
        let mut transcript = Transcript::new(&sandbox, 1);
        transcript.prompt("Is anybody at the oars?").says("Four of us.").flush();
        place(&sandbox.at("log/hook.log"));
        if case != "its folder a file" {
            place(&sandbox.at("log/drain.log"));
        }
        let out = sandbox.hook_raw("stop", b"not json\n");
        out.assert_silent(case);
        assert_eq!(out.stderr.lines().count(), 1, "{case}: the line goes to stderr: {out}");
        sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent(case);
        leftover(&sandbox);
        assert_eq!(sandbox.drain_once()["observations"], 2, "{case}");
        assert!(!target.exists(), "{case}: a link was followed");
    }
}

/// Something that the drainer has to tell: an old file of a dead hook.
fn leftover(sandbox: &Sandbox) {
    let path = sandbox.at("spool/tmp/s.1.aa");
    std::fs::write(&path, "{").unwrap();
    let hour = Duration::from_secs(3600);
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(std::time::SystemTime::now() - hour).unwrap();
}

fn size_of_logs(sandbox: &Sandbox) -> u64 {
    let files = std::fs::read_dir(sandbox.at("log")).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn f64_a_log_of_any_size_is_brought_under_its_cap() {
    for size in [CAP + 1, 2 * CAP, 10 << 30] {
        let sandbox = Sandbox::new();
        let mut transcript = Transcript::new(&sandbox, 1);
        transcript.prompt("Is the anchor up?").says("Nearly.").flush();
        sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
        leftover(&sandbox);
        sparse(&sandbox.at("log/hook.log"), size);
        sparse(&sandbox.at("log/drain.log"), size);
        sandbox.hook_raw("stop", b"not json\n").assert_silent("a long log");
        assert_eq!(sandbox.drain_once()["observations"], 2);
        for log in ["log/hook.log", "log/drain.log"] {
            let text = std::fs::read_to_string(sandbox.at(log)).unwrap();
            // What the test made is open to others, and the drainer says so, too.
            let lines = text.lines().filter(|line| !line.contains("Modes were set right"));
            assert_eq!(lines.count(), 1, "{size}: a new log was begun: {text}");
        }
        assert!(size_of_logs(&sandbox) <= 2 * (2 * CAP + 4096), "{size}: {}", size_of_logs(&sandbox));
    }
}

/// Nor does stderr hold anybody up: a pipe that is full and that nobody reads.
#[test]
fn f64_a_full_stderr_loses_the_line_and_not_the_event() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.at("log"), "in the way").unwrap();
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let flags = rustix::fs::fcntl_getfl(&writer).unwrap();
    rustix::fs::fcntl_setfl(&writer, flags | rustix::fs::OFlags::NONBLOCK).unwrap();
    for block in [4096, 1] {
        while writer.write(&vec![b'.'; block]).is_ok() {}
    }
    rustix::fs::fcntl_setfl(&writer, flags).unwrap();
    let mut command = sandbox.command(&["hook", "claude", "stop"]);
    let mut hook = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(writer).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(b"not json\n").unwrap();
    let mut code = None;
    let ended = crate::support::within(Duration::from_secs(20), || {
        code = hook.try_wait().unwrap();
        code.is_some()
    });
    hook.kill().ok();
    drop(command);
    assert!(ended, "it waits for somebody to read its stderr");
    assert_eq!(code.unwrap().code(), Some(0));
    let mut said = Vec::new();
    reader.read_to_end(&mut said).unwrap();
    assert!(said.iter().all(|b| *b == b'.'), "there was no room for the line");
}

/// A log on a disk that became read-only; root ignores permissions, so it takes a mount.
#[test]
fn f64_a_read_only_log_folder_sends_the_line_to_stderr() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.at("log")).unwrap();
    if !is_root() {
        return;
    }
    let script = r#"
        mount --bind "$SINKER_HOME/log" "$SINKER_HOME/log"
        mount -o remount,ro,bind "$SINKER_HOME/log"
        exec "$SINKER" hook claude stop
    "#;
    let Some(command) = shell(&sandbox, &["unshare", "-m"], script) else { return };
    let out = to_end(command, b"not json\n");
    out.assert_silent("read-only log");
    assert_eq!(out.stderr.lines().count(), 1, "{out}");
}
