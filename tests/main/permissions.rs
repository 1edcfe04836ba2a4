//! Who may read and write what is remembered: modes whatever the mask, and no trust in what another user may have put there.

use crate::support::{Sandbox, Transcript, fifo, is_root, payload, run_to_end};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn session(sandbox: &Sandbox, seed: u64) -> Transcript {
    let mut transcript = Transcript::new(sandbox, seed);
    transcript
        .prompt("Which port does the harbour gate listen on?")
        .says("The harbour gate listens on 7431.")
        .flush();
    transcript
}

/// Everything below a home with a mode that is not ours, as `0644 store.db`.
fn wide(home: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(home).into_iter().map(Result::unwrap) {
        let meta = entry.path().symlink_metadata().unwrap();
        let wanted = if meta.is_dir() { 0o700 } else { 0o600 };
        if meta.mode() & 0o7777 != wanted {
            found.push(format!("{:04o} {}", meta.mode() & 0o7777, entry.path().display()));
        }
    }
    found
}

/// A command of this world under a mask.
fn masked(sandbox: &Sandbox, mask: &str, args: &[&str], stdin: &[u8]) {
    let plain = sandbox.command(args);
    let mut command = Command::new("sh");
    command.args(["-c", "umask $0; exec \"$@\"", mask]).arg(plain.get_program()).args(args).env_clear();
    command.current_dir(sandbox.project());
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let out = run_to_end(command, stdin);
    assert_eq!(out.code, Some(0), "{mask} {args:?}: {out}");
}

#[test]
fn modes_are_the_same_under_every_mask() {
    let world = Sandbox::new();
    let transcript = session(&world, 1);
    for mask in ["0777", "0000"] {
        let sandbox = world.sibling();
        std::fs::remove_dir_all(sandbox.home()).unwrap();
        let start = payload("SessionStart.startup", &sandbox, &transcript).to_string();
        let prompt = payload("UserPromptSubmit", &sandbox, &transcript).to_string();
        masked(&sandbox, mask, &["hook", "claude", "session-start"], start.as_bytes());
        masked(&sandbox, mask, &["hook", "claude", "stop"], prompt.as_bytes());
        masked(&sandbox, mask, &["drain", "--once"], b"");
        masked(&sandbox, mask, &["hook", "claude", "user-prompt-submit"], prompt.as_bytes());
        masked(&sandbox, mask, &["search", "harbour gate"], b"");
        masked(&sandbox, mask, &["install"], b"");
        masked(&sandbox, mask, &["drain", "--once"], b"");
        assert!(sandbox.at("store.db").is_file() && sandbox.at("install").is_dir());
        assert_eq!(wide(sandbox.home()), [""; 0], "{mask}");
    }
}

#[test]
fn a_mode_that_is_too_wide_is_narrowed_and_said() {
    let sandbox = Sandbox::new();
    let transcript = session(&sandbox, 1);
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    sandbox.drain_once();
    for entry in walkdir::WalkDir::new(sandbox.home()).into_iter().map(Result::unwrap) {
        set_mode(entry.path(), if entry.file_type().is_dir() { 0o755 } else { 0o644 });
    }
    let modes = |sandbox: &Sandbox| sandbox.lines_of(&["doctor", "modes"]).remove(0);
    let found = modes(&sandbox);
    assert_eq!(found["ok"], false, "{found}");
    sandbox.drain_once();
    assert_eq!(wide(sandbox.home()), [""; 0]);
    assert!(sandbox.log().contains("Modes were set right"), "{}", sandbox.log());
    assert_eq!(modes(&sandbox)["ok"], true);
}

/// What is wrong with a home that worked before; `out` is a folder outside of it.
type Harm = fn(&Sandbox, &Path);

fn put_link(sandbox: &Sandbox, name: &str, out: &Path) {
    let (place, target) = (sandbox.at(name), out.join("kept"));
    if place.exists() {
        std::fs::rename(&place, &target).unwrap();
    } else {
        std::fs::write(&target, "").unwrap();
    }
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    symlink(&target, &place).unwrap();
}

/// Every file below a folder with its bytes, and the names of all else.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found: Vec<_> = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .map(|path| (path.clone(), std::fs::read(&path).unwrap_or_default()))
        .collect();
    found.sort();
    found
}

#[test]
fn what_is_not_ours_alone_is_neither_followed_nor_used() {
    let world = Sandbox::new();
    let transcript = session(&world, 1);
    world.hook("stop", &payload("Stop", &world, &transcript)).assert_silent("stop");
    world.drain_once();
    let root = is_root();
    let cases: &[(&str, bool, &str, Harm)] = &[
        ("a link for the store", false, "symbolic link", |s, out| put_link(s, "store.db", out)),
        ("a link for its log", false, "symbolic link", |s, out| put_link(s, "store.db-wal", out)),
        ("a link for the secret", false, "symbolic link", |s, out| put_link(s, "secret", out)),
        ("a link for the spool", false, "symbolic link", |s, out| put_link(s, "spool", out)),
        ("a link for a folder of the spool", false, "symbolic link", |s, out| put_link(s, "spool/new", out)),
        ("a link for the state", false, "symbolic link", |s, out| put_link(s, "state", out)),
        ("a link for what was shown", false, "symbolic link", |s, out| put_link(s, "state/shown", out)),
        ("a link for the figures", false, "symbolic link", |s, out| put_link(s, "state/status", out)),
        ("a link for the log folder", false, "symbolic link", |s, out| put_link(s, "log", out)),
        ("a link for the index", false, "symbolic link", |s, out| put_link(s, "index", out)),
        ("a link for its name", false, "symbolic link", |s, out| put_link(s, "index/current", out)),
        ("a link for the lock", false, "symbolic link", |s, out| put_link(s, "drain.lock", out)),
        ("a link among its segments", false, "symbolic link", |s, out| {
            let current = std::fs::read_to_string(s.at("index/current")).unwrap();
            put_link(s, &format!("index/{}/meta.json", current.lines().next_back().unwrap().trim()), out);
        }),
        ("a pipe for the secret", false, "not a regular file", |s, _| {
            std::fs::remove_file(s.at("secret")).unwrap();
            fifo(&s.at("secret"));
        }),
        ("a file for the spool", false, "not a directory", |s, _| {
            std::fs::remove_dir_all(s.at("spool")).unwrap();
            std::fs::write(s.at("spool"), "").unwrap();
        }),
        ("a link that leads nowhere", false, "symbolic link", |s, out| {
            std::fs::rename(s.home(), out.join("kept")).unwrap();
            symlink(out.join("nowhere"), s.home()).unwrap();
        }),
        ("a parent that everybody may write to", false, "everybody may write", |s, _| {
            set_mode(s.home().parent().unwrap(), 0o777);
        }),
        ("another user's directory", true, "another user", |s, _| chown(s.home())),
        ("another user's store", true, "another user", |s, _| chown(&s.at("store.db"))),
        ("another user's secret", true, "another user", |s, _| chown(&s.at("secret"))),
        ("another user's folder in the spool", true, "another user", |s, _| chown(&s.at("spool/new"))),
    ];
    for (case, needs_root, why, harm) in cases {
        if *needs_root && !root {
            continue;
        }
        let sandbox = world.copy();
        let out = sandbox.root().join("outside");
        std::fs::create_dir(&out).unwrap();
        harm(&sandbox, &out);
        let before = contents(&out);
        for (event, name) in [
            ("session-start", "SessionStart.startup"),
            ("user-prompt-submit", "UserPromptSubmit"),
            ("stop", "Stop"),
        ] {
            let asked = payload(name, &sandbox, &transcript);
            let said = sandbox.hook(event, &asked);
            // A file in the place of a folder is the user's own mistake: the start of a session says what is in the way.
            let told = *case == "a file for the spool" && event == "session-start";
            if told {
                assert!(
                    said.code == Some(0) && said.stdout.contains("nothing can be remembered"),
                    "{case}: {said}"
                );
            } else {
                said.assert_silent(case);
            }
            // The hook's folders are what it looks at; files it opens follow no link.
            assert_eq!(said.stderr, "", "{case} {event}: {said}");
        }
        assert_eq!(contents(&out), before, "{case}: a hook went out of the data directory");
        for args in [
            &["drain", "--once"][..],
            &["status"],
            &["search", "harbour"],
            &["import"],
            &["index", "rebuild"],
        ] {
            let said = sandbox.sinker(args);
            assert_eq!(said.code, Some(4), "{case} {args:?}: {said}");
            assert!(said.stderr.contains(why) && said.stderr.contains("hint: "), "{case} {args:?}: {said}");
        }
        assert_eq!(contents(&out), before, "{case}: something was written outside of the data directory");
        let found = sandbox.lines_of(&["doctor", "folders"]).remove(0);
        assert!(found["ok"] == false && found["detail"].as_str().unwrap().contains(why), "{case}: {found}");
        set_mode(sandbox.root(), 0o700);
        if sandbox.home().is_symlink() {
            std::fs::remove_file(sandbox.home()).unwrap();
        }
        std::fs::remove_dir_all(&out).unwrap();
    }
}

fn chown(path: &Path) {
    std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
}

#[test]
fn a_data_directory_that_the_user_keeps_elsewhere_is_found_through_a_link_of_theirs() {
    let sandbox = Sandbox::new();
    let transcript = session(&sandbox, 1);
    let kept = sandbox.root().join("dotfiles");
    std::fs::rename(sandbox.home(), &kept).unwrap();
    symlink(&kept, sandbox.home()).unwrap();
    sandbox.hook("stop", &payload("Stop", &sandbox, &transcript)).assert_silent("stop");
    assert_eq!(sandbox.drain_once()["observations"], 2);
    assert!(kept.join("store.db").is_file() && sandbox.home().is_symlink());
    if is_root() {
        std::os::unix::fs::lchown(sandbox.home(), Some(65534), Some(65534)).unwrap();
        assert_eq!(sandbox.sinker(&["status"]).code, Some(4));
    }
}
