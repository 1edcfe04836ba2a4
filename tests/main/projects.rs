//! Whose memory it is: renamed remotes, moved checkouts, links by hand, repositories of one name, parts of one repository, other hosts.

use crate::support::{Sandbox, Transcript, payload};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A checkout with a log of its own, and a remote or none.
fn checkout(sandbox: &Sandbox, name: &str, began: &str, remote: Option<&str>) -> PathBuf {
    let dir = sandbox.user().join("src").join(name);
    std::fs::create_dir_all(dir.join(".git/logs")).unwrap();
    std::fs::write(
        dir.join(".git/logs/HEAD"),
        format!("{} {} Ida <i@x> {began} +0000\tcommit (initial): begin\n", "0".repeat(40), "a".repeat(40)),
    )
    .unwrap();
    set_remote(&dir, remote);
    dir
}

fn set_remote(dir: &Path, remote: Option<&str>) {
    let config = remote.map(|url| format!("[remote \"origin\"]\n\turl = {url}\n")).unwrap_or_default();
    std::fs::write(dir.join(".git/config"), config).unwrap();
}

fn session(sandbox: &Sandbox, seed: u64, dir: &Path, said: &str) -> Transcript {
    let mut t = Transcript::new(sandbox, seed);
    let folder = sandbox.claude().join("projects").join(format!("-{seed}"));
    t.move_to(dir, &folder);
    t.prompt("What did we find?").says(said).flush();
    sandbox.drain_once();
    t
}

fn projects(sandbox: &Sandbox) -> Vec<Value> {
    let out = sandbox.sinker(&["project", "list", "--json"]);
    out.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of(sandbox: &Sandbox, t: &Transcript) -> String {
    let out = sandbox.sinker(&["sessions", "--all", "--json"]);
    let all = out.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let own = all.into_iter().find(|s| s["id"] == t.session.as_str()).unwrap();
    own["project"].as_str().unwrap().to_owned()
}

fn counts_match(sandbox: &Sandbox) {
    sandbox.verify();
    let status = sandbox.json(&["status"]);
    assert_eq!(status["store"]["documents"], status["index"]["documents"], "{status}");
}

/// What a hook in a directory is told for a prompt.
fn told(sandbox: &Sandbox, dir: &Path, prompt: &str) -> String {
    let now = Transcript::new(sandbox, 99);
    let mut event = payload("UserPromptSubmit", sandbox, &now);
    (event["prompt"], event["cwd"]) = (prompt.into(), dir.to_str().into());
    let env = [("CLAUDE_PROJECT_DIR", dir.to_str().unwrap())];
    let args = ["hook", "claude", "user-prompt-submit", "--only", "recall"];
    let out = sandbox.sinker_with(&args, format!("{event}\n").as_bytes(), &env).stdout;
    drop(std::fs::remove_dir_all(sandbox.at("state/shown")));
    out
}

#[test]
fn a_remote_that_comes_later_or_is_renamed_and_a_checkout_that_moves_stay_one_project() {
    let sandbox = Sandbox::unhurried("");
    let dir = checkout(&sandbox, "barge", "1700000001", None);
    let first = session(&sandbox, 1, &dir, "The bilge pump of the barge needs a fuse of 7 amperes.");
    let was = of(&sandbox, &first);
    set_remote(&dir, Some("git@git.example:yard/barge.git"));
    let second = session(&sandbox, 2, &dir, "The rudder of the barge has play.");
    assert_eq!(of(&sandbox, &first), of(&sandbox, &second));
    assert_ne!(of(&sandbox, &first), was);
    set_remote(&dir, Some("git@git.example:yard/lighter.git"));
    let third = session(&sandbox, 3, &dir, "The lighter was a barge.");
    let moved = sandbox.user().join("elsewhere/lighter");
    std::fs::create_dir_all(moved.parent().unwrap()).unwrap();
    std::fs::rename(&dir, &moved).unwrap();
    set_remote(&moved, None);
    let fourth = session(&sandbox, 4, &moved, "It lies elsewhere now.");
    let now = of(&sandbox, &fourth);
    for t in [&first, &second, &third] {
        assert_eq!(of(&sandbox, t), now);
    }
    assert_eq!(projects(&sandbox).len(), 1);
    assert!(told(&sandbox, &moved, "which fuse does the bilge pump of the barge need").contains("7 amperes"));
    counts_match(&sandbox);
}

#[test]
fn repositories_of_one_name_copies_and_what_was_cloned_anew_stay_apart() {
    let sandbox = Sandbox::unhurried("");
    let one = checkout(&sandbox, "a/barge", "1700000001", None);
    let other = checkout(&sandbox, "b/barge", "1700000002", None);
    // A copy beside its original, and another repository in the place of one.
    let copy = checkout(&sandbox, "c/barge", "1700000001", None);
    let t = [
        session(&sandbox, 1, &one, "One."),
        session(&sandbox, 2, &other, "Two."),
        session(&sandbox, 3, &copy, "Three."),
    ];
    std::fs::remove_dir_all(&one).unwrap();
    let anew = checkout(&sandbox, "a/barge", "1700000009", Some("git@git.example:other/thing.git"));
    let last = session(&sandbox, 4, &anew, "Four.");
    let mut all: Vec<String> = t.iter().chain([&last]).map(|t| of(&sandbox, t)).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 4, "{all:?}");
    assert!(told(&sandbox, &anew, "one two three").is_empty());
}

#[test]
fn a_person_links_projects_and_takes_it_back() {
    let sandbox = Sandbox::unhurried("");
    // Without a repository nothing tells that a folder moved.
    let [old, new] = ["old/skiff", "new/skiff"].map(|name| {
        let dir = sandbox.user().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    });
    let first = session(&sandbox, 1, &old, "The skiff is moored at the east pier.");
    sandbox.json(&["note", "The skiff leaks at the keel", "--project", old.to_str().unwrap()]);
    std::fs::remove_dir_all(&old).unwrap();
    let second = session(&sandbox, 2, &new, "It was painted.");
    let (was, now) = (of(&sandbox, &first), of(&sandbox, &second));
    assert_ne!(was, now);
    let listed = projects(&sandbox);
    assert!(listed.iter().any(|p| p["id"] == was.as_str() && p["gone"] == true), "{listed:?}");
    assert_eq!(told(&sandbox, &new, "where is the skiff moored, at which pier"), "");

    assert_eq!(sandbox.json(&["project", "link", &was, new.to_str().unwrap()])["sessions"], 2);
    assert_eq!(of(&sandbox, &first), now);
    assert!(told(&sandbox, &new, "where is the skiff moored, at which pier").contains("east pier"));
    let notes = sandbox.json(&["search", "leaks keel", "--kind", "note", "--project", &now]);
    assert_eq!(notes["hits"].as_array().unwrap().len(), 1);
    assert_eq!(projects(&sandbox)[0]["aliases"], json!([was]));
    // What comes under the old name later, comes to the new one.
    std::fs::create_dir_all(&old).unwrap();
    let late = session(&sandbox, 3, &old, "A late word.");
    assert_eq!(of(&sandbox, &late), now);
    assert!(told(&sandbox, &old, "where is the skiff moored, at which pier").contains("east pier"));
    counts_match(&sandbox);

    assert_eq!(sandbox.json(&["project", "unlink", &was])["sessions"], 3);
    assert_eq!(
        (of(&sandbox, &first), of(&sandbox, &second), of(&sandbox, &late)),
        (was.clone(), now.clone(), was.clone())
    );
    assert_eq!(told(&sandbox, &new, "where is the skiff moored, at which pier"), "");
    counts_match(&sandbox);
    for (args, code) in [
        (vec!["project", "unlink", was.as_str()], 3),
        (vec!["project", "link", now.as_str(), now.as_str()], 2),
        (vec!["project", "link", "nobody-0000000000"], 3),
    ] {
        assert_eq!(sandbox.sinker(&args).code, Some(code), "{args:?}");
    }
}

#[test]
fn the_settings_split_a_repository_into_projects() {
    let sandbox = Sandbox::unhurried("");
    let root = checkout(&sandbox, "fleet", "1700000001", Some("git@git.example:yard/fleet.git"));
    std::fs::create_dir_all(root.join(".sinker")).unwrap();
    std::fs::write(root.join(".sinker/settings.toml"), "[project]\nsplit = [\"boats/*\", \"docs\"]\n")
        .unwrap();
    let dirs =
        ["", "tools", "boats/tug", "boats/tug/src", "boats/ferry", "docs/guide"].map(|name| root.join(name));
    let mut ids = Vec::new();
    for (n, dir) in (1..).zip(&dirs) {
        std::fs::create_dir_all(dir).unwrap();
        ids.push(of(&sandbox, &session(&sandbox, n, dir, "Something.")));
    }
    assert_eq!(ids[0], ids[1], "what is no part belongs to the whole");
    assert_eq!(ids[2], ids[3]);
    assert!(
        ids[2].starts_with("tug-") && ids[4].starts_with("ferry-") && ids[5].starts_with("docs-"),
        "{ids:?}"
    );
    assert_eq!(projects(&sandbox).len(), 4);
    let checked = sandbox.sinker(&["config", "check"]);
    assert_eq!(checked.code, Some(0), "{checked}");
}

#[test]
fn what_another_host_wrote_is_told_only_on_request() {
    let sandbox = Sandbox::unhurried("");
    let t = session(&sandbox, 1, &sandbox.project(), "The galley stove burns paraffin from the green drum.");
    let file = sandbox.root().join("memory.jsonl");
    sandbox.sinker(&["export", file.to_str().unwrap()]);
    let theirs =
        std::fs::read_to_string(&file).unwrap().replace("\"host\":\"claude\"", "\"host\":\"otherhost\"");
    let theirs = theirs.replace(&t.session, "5e551000-0000-4000-8000-00000000beef");
    std::fs::write(&file, theirs).unwrap();
    let other = Sandbox::unhurried("");
    other.json(&["import", file.to_str().unwrap()]);
    let project = of(&sandbox, &t);
    let found = |host: &[&str]| {
        let out = other
            .sinker(&[&["search", "galley stove paraffin", "--project", &project, "--json"], host].concat());
        serde_json::from_str::<Value>(&out.stdout).unwrap_or_default()["hits"].as_array().map_or(0, Vec::len)
    };
    assert!(found(&["--host", "otherhost"]) > 0 && found(&[]) > 0);
    assert_eq!(found(&["--host", "claude"]), 0);
    // The project is known here by the id that it has there.
    let ask = |config: &str| {
        other.configure(&format!("[recall]\n{}{config}", crate::support::UNHURRIED));
        let map = format!("sinker-projects 1\n{project}\t{}\n", other.project().display());
        std::fs::write(other.at("state/projects"), map).unwrap();
        told(&other, &other.project(), "what does the galley stove burn, from which drum")
    };
    assert_eq!(ask(""), "");
    assert!(ask("all_hosts = true\n").contains("green drum"));
}
