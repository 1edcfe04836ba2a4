//! What the user is told at the start of a session, the checks at setup, and the care of the data directory.

use crate::support::{Sandbox, Transcript, payload};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn world() -> (Sandbox, Transcript) {
    let sandbox = Sandbox::unhurried("");
    let mut past = Transcript::new(&sandbox, 1);
    past.prompt("Why does the buoy drift?").says("The chain is measured in feet.").flush();
    sandbox.drain_once();
    let now = Transcript::new(&sandbox, 9);
    (sandbox, now)
}

fn start(home: &Sandbox, now: &Transcript, source: &str, env: &[(&str, &str)]) -> Value {
    let mut event = payload("SessionStart.startup", home, now);
    event["source"] = source.into();
    let project = home.project();
    let env = [&[("CLAUDE_PROJECT_DIR", project.to_str().unwrap())], env].concat();
    let args = ["hook", "claude", "session-start", "--only", "recall"];
    let out = home.sinker_with(&args, format!("{event}\n").as_bytes(), &env);
    assert_eq!((out.code, out.stderr.as_str()), (Some(0), ""), "{out}");
    if out.stdout.is_empty() { Value::Null } else { serde_json::from_str(&out.stdout).unwrap() }
}

fn word(reply: &Value) -> String {
    let word = reply["systemMessage"].as_str().unwrap_or_default().to_owned();
    assert!(word.is_empty() || (word.starts_with("sinker: ") && !word.contains('\n')), "{word}");
    assert!(word.is_empty() || word.ends_with("; run `sinker doctor`"), "{word}");
    word
}

fn age(path: &Path, hours: u64) {
    let old = SystemTime::now() - Duration::from_secs(hours * 3_600 + 60);
    std::fs::File::options().append(true).open(path).unwrap().set_modified(old).unwrap();
}

/// Spools events that nobody drains.
fn spool(home: &Sandbox, seeds: &[u64]) {
    for seed in seeds {
        let mut transcript = Transcript::new(home, *seed);
        transcript.prompt("Who drains this?").flush();
        home.hook("stop", &payload("Stop", home, &transcript)).assert_silent("stop");
    }
}

fn change_status(home: &Sandbox, changes: &Value) {
    let path = home.at("state/status");
    let mut status: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for (name, value) in changes.as_object().unwrap() {
        status[name] = value.clone();
    }
    std::fs::write(&path, status.to_string()).unwrap();
    if changes.get("old").is_some() {
        age(&path, 5);
    }
}

#[test]
fn what_waits_for_long_is_told_once_a_day_beside_a_context_that_stays_the_same() {
    let (home, now) = world();
    let plain = start(&home.copy(), &now, "startup", &[]);
    assert_eq!(word(&plain), "");
    let context = plain["hookSpecificOutput"]["additionalContext"].clone();
    assert!(context.as_str().unwrap().contains("buoy"), "{plain}");
    spool(&home, &[3, 4]);
    assert_eq!(word(&start(&home.copy(), &now, "startup", &[])), "", "what is young is on its way");
    for name in home.spool("new") {
        age(&home.at("spool/new").join(name), 3);
    }
    let told = start(&home, &now, "startup", &[]);
    assert_eq!(word(&told), "sinker: 2 events of 2 sessions waiting since 3 h; run `sinker doctor`");
    assert_eq!(told["hookSpecificOutput"]["additionalContext"], context);
    let again = start(&home, &now, "startup", &[]);
    assert_eq!(again, plain, "once a day, and the same context");
    // Tomorrow again, also where recall itself says nothing.
    for source in ["resume", "fork"] {
        let copy = home.copy();
        for name in copy.spool("new") {
            age(&copy.at("spool/new").join(name), 3);
        }
        let tomorrow = start(&copy, &now, source, &[("SINKER_NOW", "+86400")]);
        assert!(word(&tomorrow).contains("waiting since 3 h"), "{tomorrow}");
        assert_eq!(tomorrow.as_object().unwrap().len(), 1, "{source}: {tomorrow}");
    }
    // Never on the way of capture.
    let event = payload("SessionStart.startup", &home, &now);
    let args = ["hook", "claude", "session-start", "--only", "capture"];
    let text = format!("{event}\n");
    home.sinker_with(&args, text.as_bytes(), &[("SINKER_NOW", "+864000")]).assert_silent("capture");
}

#[test]
fn it_is_told_where_no_drainer_ever_ran_and_where_one_died_with_entries_in_hand() {
    let (home, now) = (Sandbox::new(), Transcript::new(&Sandbox::new(), 9));
    spool(&home, &[3]);
    let name = home.spool("new").pop().unwrap();
    age(&home.at("spool/new").join(&name), 72);
    std::fs::rename(home.at("spool/new").join(&name), home.at("spool/cur").join(&name)).unwrap();
    let told = word(&start(&home, &now, "startup", &[]));
    assert_eq!(told, "sinker: 1 event of 1 session waiting since 3 days; run `sinker doctor`");
}

#[test]
fn each_kind_of_trouble_has_its_words_and_all_is_silent_when_all_is_well() {
    let (first, now) = world();
    let cases = [
        (json!({"last_error": "the store is damaged"}), "the store is damaged"),
        (json!({"lost_ranges": 2}), "2 ranges of transcripts lost"),
        (json!({"index_seq": 0, "old": true}), "the index is behind the store since 5 h"),
        (
            json!({"behind": [{"path": "/a", "cursor": 0, "size": 9_000_000}], "old": true}),
            "9 MiB of 1 transcript not stored",
        ),
        (json!({"version": "99.0.0"}), "the data is kept by Sinker 99.0.0"),
        (json!({"v": 2}), "the data is kept by"),
        (json!({"behind": [{"path": "/a", "cursor": 10, "size": 90}], "old": true}), ""),
        (json!({"index_seq": 0}), ""),
        (json!({"last_error": null}), ""),
    ];
    for (changes, expected) in cases {
        let home = first.copy();
        change_status(&home, &changes);
        let told = word(&start(&home, &now, "resume", &[]));
        assert!(
            if expected.is_empty() { told.is_empty() } else { told.contains(expected) },
            "{changes}: {told}"
        );
        assert_eq!(word(&start(&home, &now, "resume", &[])), "", "{changes}: once");
    }
    let home = first.copy();
    std::fs::remove_file(home.at("index/current")).unwrap();
    assert!(word(&start(&home, &now, "resume", &[])).contains("the index is gone"));
    let home = first.copy();
    std::fs::write(home.at("state/status"), "nonsense").unwrap();
    assert_eq!(start(&home, &now, "resume", &[]), Value::Null);
}

#[test]
fn what_grows_is_told_when_it_has_grown_and_new_trouble_on_the_same_day() {
    let (home, now) = world();
    let odd = |n: u32| {
        std::fs::write(home.at(&format!("spool/odd/x{n}")), "junk").unwrap();
        std::fs::write(home.at(&format!("spool/odd/x{n}.why")), "{}").unwrap();
    };
    odd(1);
    odd(2);
    assert!(word(&start(&home, &now, "resume", &[])).contains("2 things set aside"));
    let tomorrow = [("SINKER_NOW", "+86400")];
    assert_eq!(word(&start(&home, &now, "resume", &tomorrow)), "", "nothing new");
    odd(3);
    assert!(word(&start(&home, &now, "resume", &tomorrow)).contains("1 thing set aside"));
    change_status(&home, &json!({"last_error": "the disk of /x is full"}));
    assert!(word(&start(&home, &now, "resume", &tomorrow)).contains("the disk of /x is full"));
    assert_eq!(word(&start(&home, &now, "resume", &tomorrow)), "");
}

/// F24: a spool of any length costs a bounded look.
#[test]
fn f24_a_long_spool_is_told_without_being_listed_whole() {
    let (home, now) = world();
    let old = SystemTime::now() - Duration::from_secs(5 * 3_600);
    for n in 0..3_000 {
        let path = home.at(&format!("spool/new/s{}.{n:016x}.stop.json", n % 7));
        let file = std::fs::File::create(path).unwrap();
        file.set_modified(old).unwrap();
    }
    let told = word(&start(&home, &now, "resume", &[]));
    assert!(told.contains("over 1000 events of 7 sessions waiting since 5 h"), "{told}");
}

fn setup(home: &Sandbox, args: &[&str]) -> String {
    let event = payload("Setup.init", home, &Transcript::new(home, 9));
    let args = [&["hook", "claude", "setup"], args].concat();
    let out = home.sinker_with(&args, format!("{event}\n").as_bytes(), &[]);
    assert_eq!((out.code, out.stderr.as_str()), (Some(0), ""), "{out}");
    out.stdout
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn setup_makes_what_is_missing_and_says_nothing_unless_it_cannot() {
    let home = Sandbox::new();
    std::fs::remove_dir_all(home.home()).unwrap();
    assert_eq!(setup(&home, &["--only", "capture"]), "");
    assert!(!home.home().exists(), "capture has no part in it");
    assert_eq!(setup(&home, &[]), "");
    for dir in ["", "spool/tmp", "spool/new", "spool/cur", "spool/odd", "state", "log"] {
        assert_eq!(mode(&home.at(dir)), 0o700, "{dir}");
    }
    assert_eq!(mode(&home.at("secret")), 0o600);
    assert!(home.spool("tmp").is_empty() && home.spool("new").is_empty());
    assert_eq!(setup(&home, &[]), "");
    // In a way that holds for root, too: a file is in the way.
    let broken = home.sibling();
    std::fs::write(broken.at("spool"), "in the way").unwrap();
    let reply: Value = serde_json::from_str(&setup(&broken, &[])).unwrap();
    assert_eq!(reply.as_object().unwrap().len(), 1, "{reply}");
    assert!(word(&reply).contains("nothing can be remembered") && word(&reply).contains("spool"), "{reply}");
}

/// F07: a home that cannot be written is told to the user, beside whatever recall has to say.
#[test]
fn f07_a_session_start_repairs_its_home_and_tells_what_it_cannot_repair() {
    let (home, now) = world();
    std::fs::remove_dir_all(home.at("spool")).unwrap();
    let open = |path: &str, mode| {
        std::fs::set_permissions(home.at(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open("", 0o755);
    open("state", 0o777);
    open("secret", 0o644);
    open("store.db", 0o664);
    assert_eq!(word(&start(&home, &now, "startup", &[])), "");
    for (path, expected) in
        [("", 0o700), ("state", 0o700), ("spool/new", 0o700), ("secret", 0o600), ("store.db", 0o600)]
    {
        assert_eq!(mode(&home.at(path)), expected, "{path}");
    }
    // A link leads out of what is ours.
    let outside = home.root().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::set_permissions(&outside, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_dir_all(home.at("state/launches")).ok();
    std::os::unix::fs::symlink(&outside, home.at("state/launches")).unwrap();
    start(&home, &now, "resume", &[]);
    assert_eq!(mode(&outside), 0o755);
    // With a link in it the home is refused, and hooks are silent; without it the next mistake is told.
    std::fs::remove_file(home.at("state/launches")).unwrap();
    std::fs::remove_dir_all(home.at("spool")).unwrap();
    std::fs::write(home.at("spool"), "in the way").unwrap();
    let told = start(&home, &now, "startup", &[]);
    assert!(word(&told).contains("nothing can be remembered"), "{told}");
}
