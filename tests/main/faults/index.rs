//! Faults of the index, F47 to F52: damage in every file, old states, readers and a writer at once.

use super::drained::{change, drained};
use crate::support::{Sandbox, Transcript, eventually, payload};
use serde_json::Value;
use sinker::config::Home;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn generation(sandbox: &Sandbox) -> PathBuf {
    let name = std::fs::read_to_string(sandbox.at("index/current")).unwrap();
    sandbox.at("index").join(name.trim())
}

fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|n| !n.ends_with(".lock")).collect();
    names.sort();
    names
}

/// The recall hook for a prompt that the drained home can answer; asserts what it owes the host in any case.
fn recall(sandbox: &Sandbox, transcript: &Transcript) -> String {
    let mut asked = payload("UserPromptSubmit", sandbox, transcript);
    asked["prompt"] = "Why does the buoy drift, what was the root cause?".into();
    let out = sandbox.sinker_with(
        &["hook", "claude", "user-prompt-submit", "--only", "recall"],
        format!("{asked}\n").as_bytes(),
        &[("CLAUDE_PROJECT_DIR", sandbox.project().to_str().unwrap())],
    );
    assert_eq!(out.code, Some(0), "{out}");
    assert_eq!(out.stderr, "", "{out}");
    if !out.stdout.is_empty() {
        serde_json::from_str::<Value>(&out.stdout).expect("one whole reply");
    }
    out.stdout
}

/// The kill loops of `crash.rs` end the process at every step; this is the list of those that publishing has.
#[cfg(feature = "failpoints")]
#[test]
fn f47_each_durable_step_of_publishing_can_be_killed() {
    let (home, mut transcripts, _) = drained();
    transcripts[0].prompt("One more?").says("One more.").flush();
    let log = home.root().join("steps.log");
    let env = [("STEP_LOG", log.to_str().unwrap())];
    assert_eq!(home.sinker_with(&["drain", "--once"], b"", &env).code, Some(0));
    assert_eq!(home.sinker_with(&["index", "rebuild"], b"", &env).code, Some(0));
    let log = std::fs::read_to_string(log).unwrap();
    let at = |name: &str| {
        log.lines().position(|l| l.ends_with(name)).unwrap_or_else(|| panic!("no {name}:\n{log}"))
    };
    let stored = at("store::committed");
    for step in [
        "create",
        "sync",
        "replace",
        "sync_dir",
        "commit",
        "prepared",
        "committed",
        "begin",
        "publish",
        "published",
    ] {
        assert!(at(&format!(" index::{step}")) > stored, "{step}");
    }
}

/// What Tantivy's own replacing leaves of a killed process is swept at the next start.
#[test]
fn f47_leftovers_of_a_killed_commit_are_swept() {
    let (home, _, expected) = drained();
    let leftover = generation(&home).join(".tmpA1b2C3");
    std::fs::write(&leftover, b"half").unwrap();
    std::fs::create_dir(home.at("index/g000900")).unwrap();
    home.drain_once();
    assert!(!leftover.exists() && !home.at("index/g000900").exists());
    assert_eq!(home.dump(), expected);
    home.verify();
}

/// A power cut can bring the meta file of an older commit back; what it names may be there or not.
#[test]
fn f48_an_old_meta_file_is_caught_up() {
    let (home, mut transcripts, _) = drained();
    let folder = generation(&home);
    let mut states: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for n in 0..6 {
        states.push((
            std::fs::read(folder.join("meta.json")).unwrap(),
            std::fs::read(folder.join(".managed.json")).unwrap(),
        ));
        transcripts[0].prompt(&format!("Is buoy {n} green?")).says("It is.").flush();
        home.drain_once();
    }
    let expected = home.dump();
    for (n, (meta, managed)) in states.iter().enumerate() {
        for with_list in [false, true] {
            let home = home.copy();
            std::fs::write(generation(&home).join("meta.json"), meta).unwrap();
            if with_list {
                std::fs::write(generation(&home).join(".managed.json"), managed).unwrap();
            }
            recall(&home, &transcripts[1]);
            home.drain_once();
            assert_eq!(home.dump(), expected, "meta {n}");
            home.verify();
            assert_eq!(home.sinker(&["search", "buoy 5 green", "--json"]).code, Some(0), "meta {n}");
        }
    }
}

/// Each file, each damage: recall never fails outwardly, `verify` names the file, `rebuild` mends.
#[test]
fn f49_damage_in_each_file_is_named_and_mended() {
    let (start, transcripts, expected) = drained();
    let answer = recall(&start.copy(), &transcripts[1]);
    assert!(answer.contains("feet"), "{answer}");
    let damages: [(&str, fn(&Path)); 4] = [
        ("deleted", |path| std::fs::remove_file(path).unwrap()),
        ("cut in half", |path| change(path, |bytes| bytes.truncate(bytes.len() / 2))),
        ("emptied", |path| std::fs::write(path, b"").unwrap()),
        ("one byte flipped", |path| {
            change(path, |bytes| {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 0x10;
            })
        }),
    ];
    let mut names = files(&generation(&start));
    names.push("../current".to_owned());
    assert!(names.len() > 8, "{names:?}");
    for name in &names {
        for (case, damage) in damages {
            let case = format!("{name} {case}");
            let home = start.copy();
            damage(&generation(&home).join(name));
            recall(&home, &transcripts[1]);
            let search = home.sinker(&["search", "buoy", "--json"]);
            assert!(matches!(search.code, Some(0 | 1 | 3)), "{case}: {search}");
            let verify = home.sinker(&["index", "verify", "--json"]);
            let report: Value = serde_json::from_str(verify.stdout.trim()).unwrap();
            if report["ok"] == true {
                // Only bytes that mean nothing may go unnoticed.
                assert!(
                    name.ends_with(".json") && recall(&home, &transcripts[1]) == answer,
                    "{case}: {report}"
                );
                continue;
            }
            assert_eq!(verify.code, Some(1), "{case}: {verify}");
            let short = name.trim_start_matches("../");
            let named = report["bad_files"].as_array().unwrap().iter().any(|f| f == short);
            let counted = report["missing"].as_u64() > Some(0);
            assert!(named || (short == "meta.json" || short == "current") && counted, "{case}: {report}");
            let rebuilt = home.json(&["index", "rebuild"]);
            assert!(rebuilt["documents"].as_u64() > Some(0), "{case}: {rebuilt}");
            home.verify();
            assert_eq!(home.dump(), expected, "{case}");
            assert_eq!(recall(&home, &transcripts[1]), answer, "{case}");
        }
    }
}

/// Whoever meets damage leaves a note, and the next drainer looks and mends without being asked.
#[test]
fn f49_the_next_drainer_mends_what_somebody_met() {
    let (start, transcripts, expected) = drained();
    for name in files(&generation(&start)) {
        let home = start.copy();
        change(&generation(&home).join(&name), |bytes| {
            let from = bytes.len() / 3;
            bytes.iter_mut().skip(from).take(200).for_each(|b| *b ^= 0x55);
        });
        std::fs::write(home.at("state/suspect-index"), b"").unwrap();
        let drainer = home.start(&["drain"]);
        eventually(&format!("{name} is mended"), || {
            home.sinker(&["index", "verify"]).code == Some(0) && !home.at("state/suspect-index").exists()
        });
        drop(drainer);
        assert_eq!(home.dump(), expected, "{name}");
        assert!(recall(&home, &transcripts[1]).contains("feet"), "{name}");
    }
}

/// A file that goes from under a running drainer: the hook that misses it is told nothing, tells the drainer, and the next one is answered.
#[test]
fn f49_a_running_drainer_rebuilds_what_a_hook_could_not_read() {
    let (home, transcripts, expected) = drained();
    let drainer = home.start(&["drain"]);
    eventually("it runs", || home.at("state/heartbeat").exists());
    let folder = generation(&home);
    for name in files(&folder).iter().filter(|n| n.ends_with(".term") || n.ends_with(".store")) {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    assert_eq!(recall(&home, &transcripts[1]), "", "no context");
    assert!(home.at("state/suspect-index").exists() || generation(&home) != folder);
    eventually("it is answered again", || recall(&home, &transcripts[1]).contains("feet"));
    drop(drainer);
    home.drain_once();
    home.verify();
    assert_eq!(home.dump(), expected);
}

#[test]
fn f49_an_index_of_another_schema_or_an_older_format_is_rebuilt() {
    let (start, transcripts, expected) = drained();
    for (from, to) in [(r#"\"format\":2"#, r#"\"format\":0"#), (r#""name":"prose""#, r#""name":"prosa""#)] {
        let home = start.copy();
        let folder = generation(&home);
        change(&folder.join("meta.json"), |bytes| {
            let text = String::from_utf8(bytes.clone()).unwrap();
            // Some writers put a space behind the colon.
            let (from, to) =
                if text.contains(from) { (from.to_owned(), to) } else { (from.replace(':', ": "), to) };
            assert!(text.contains(&from), "{from} in {text}");
            *bytes = text.replace(&from, to).into_bytes();
        });
        assert_eq!(recall(&home, &transcripts[1]), "", "no context meanwhile");
        home.drain_once();
        assert_ne!(generation(&home), folder);
        home.verify();
        assert_eq!(home.dump(), expected);
        assert!(recall(&home, &transcripts[1]).contains("feet"));
    }
}

/// Sixteen readers while a drainer commits, merges, removes files and rebuilds: none fails, each sees one whole state.
#[test]
fn f50_readers_beside_a_writer_see_one_whole_state_each() {
    let (home, mut transcripts, _) = drained();
    let drainer = home.start(&["drain"]);
    eventually("it runs", || home.at("state/heartbeat").exists());
    let done = AtomicBool::new(false);
    let reads = AtomicU64::new(0);
    let read = || {
        let at = Home::at(home.home());
        let mut last = 0;
        while !done.load(Ordering::Relaxed) {
            let reader = sinker::index::Reader::open(&at).expect("no error").expect("an index");
            assert!(reader.seq() >= last || reader.seq() == 0, "time runs forward");
            last = reader.seq();
            let searcher = reader.searcher();
            let mut held = 0;
            for (ord, segment) in (0..).zip(searcher.segment_readers()) {
                for doc in segment.doc_ids_alive() {
                    let stored = reader.stored(tantivy::DocAddress::new(ord, doc)).expect("whole");
                    assert!(!stored.id.is_empty());
                    held += 1;
                }
            }
            assert_eq!(held, reader.documents());
            reads.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(read)).collect();
        for n in 0..24 {
            transcripts[0].prompt(&format!("Is mast {n} lit?")).says("It is lit.").flush();
            home.hook("stop", &payload("Stop", &home, &transcripts[0])).assert_silent("stop");
            eventually("it is published", || {
                home.sinker(&["search", &format!("mast {n}"), "--json"]).code == Some(0)
            });
            if n % 8 == 7 {
                home.json(&["index", "rebuild"]);
            }
        }
        done.store(true, Ordering::Relaxed);
        for thread in threads {
            thread.join().expect("a reader failed");
        }
    });
    assert!(reads.load(Ordering::Relaxed) > 100);
    drop(drainer);
    home.drain_once();
    home.verify();
}

/// Tantivy's own readers hold its lock files while they open, and can be stopped there for ever: ours neither take nor wait for them.
#[test]
fn f51_lock_files_that_somebody_holds_hold_up_nobody() {
    let (home, mut transcripts, _) = drained();
    let hold = |name: &str| {
        let path = generation(&home).join(name);
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.lock().unwrap();
        file
    };
    let _held = [hold(".tantivy-meta.lock"), hold(".tantivy-writer.lock")];
    assert!(recall(&home, &transcripts[1]).contains("feet"));
    transcripts[0].prompt("Is the lock held?").says("It is.").flush();
    home.drain_once();
    home.verify();
    assert_eq!(home.sinker(&["search", "lock held", "--json"]).code, Some(0));
}

/// F51: a reader that is stopped in the middle of its search holds nothing that anybody waits for.
#[test]
fn f51_a_stopped_reader_holds_up_nobody() {
    let (home, mut transcripts, _) = drained();
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let reader = home.start(&["search", "buoy", "--all", "--explain"]);
            reader.signal(rustix::process::Signal::STOP);
            reader
        })
        .collect();
    transcripts[0].prompt("Who is stopped?").says("Eight readers.").flush();
    home.drain_once();
    home.json(&["index", "rebuild"]);
    home.verify();
    assert!(recall(&home, &transcripts[1]).contains("feet"));
    drop(readers);
}

/// F52: an index that cannot be written answers all the same, and the drainer says what it cannot write.
#[test]
fn f52_an_index_that_is_read_only_still_answers() {
    let (home, mut transcripts, _) = drained();
    let index = home.at("index");
    let readonly = |args: &[&str], stdin: &[u8]| {
        let script = "mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\" && exec \"$@\"";
        let plain = home.command(args);
        let mut command = std::process::Command::new("unshare");
        command.args(["-m", "sh", "-c", script]).arg(&index).arg(env!("CARGO_BIN_EXE_sinker")).args(args);
        command.env_clear().current_dir(home.project());
        command.envs(plain.get_envs().filter_map(|(k, v)| Some((k, v?))));
        command.env("CLAUDE_PROJECT_DIR", home.project());
        let mut child = crate::support::Running::start(command);
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin).ok();
        child.finish(std::time::Duration::from_secs(60))
    };
    let tried = readonly(&["config", "show"], b"");
    if tried.code != Some(0) {
        eprintln!("skipped: needs root");
        return;
    }
    let mut asked = payload("UserPromptSubmit", &home, &transcripts[1]);
    asked["prompt"] = "Why does the buoy drift, what was the root cause?".into();
    let line = format!("{asked}\n");
    let out = readonly(&["hook", "claude", "user-prompt-submit", "--only", "recall"], line.as_bytes());
    assert!(out.code == Some(0) && out.stdout.contains("feet"), "{out}");
    let out = readonly(&["search", "buoy", "--json"], b"");
    assert_eq!(out.code, Some(0), "{out}");
    transcripts[0].prompt("Can you write?").says("Not here.").flush();
    let out = readonly(&["drain", "--once"], b"");
    assert_eq!(out.code, Some(1), "{out}");
    assert!(out.stderr.contains("index") && out.stderr.contains("hint:"), "{out}");
    // The store is not the index: what was said is stored, and found as soon as the index can be written.
    assert!(home.dump().contains("Not here."));
    home.drain_once();
    home.verify();
}
