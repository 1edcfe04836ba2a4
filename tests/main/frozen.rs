//! What a released version left on disk opens for ever: `spool-fixtures/v<N>`, written once by `scripts/freeze`, never changed.

use crate::support::Sandbox;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Where the frozen files say that the transcripts lie.
const FROZEN_AT: &str = "/tmp/sinker-frozen/transcripts";
/// The session whose entry waits in the frozen spool.
const WAITING: &str = "f7cfeed5-905a-48db-aee7-bc2d865eba6b";

fn shipped() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("spool-fixtures")
}

/// Every frozen version, oldest first.
fn versions() -> Vec<PathBuf> {
    let found = std::fs::read_dir(shipped()).unwrap().map(|e| e.unwrap().path());
    let number = |path: &Path| path.file_name()?.to_str()?.strip_prefix('v')?.parse::<u32>().ok();
    let mut found: Vec<PathBuf> = found.filter(|path| number(path).is_some()).collect();
    found.sort_by_key(|path| number(path));
    found
}

/// A home as that version left it, beside the transcript that its waiting entry names.
fn home_of(version: &Path) -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    std::fs::remove_file(sandbox.at("secret")).unwrap();
    copy_private(&version.join("memory"), sandbox.home());
    let folder = sandbox.claude().join("projects/-home-dev-tide-clock");
    std::fs::create_dir_all(&folder).unwrap();
    let transcript = folder.join(format!("{WAITING}.jsonl"));
    let source = shipped().join(format!("demo/projects/-home-dev-tide-clock/{WAITING}.jsonl"));
    std::fs::copy(source, &transcript).unwrap();
    for name in sandbox.spool("new") {
        let path = sandbox.at("spool/new").join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        let here = sandbox.claude().join("projects");
        assert!(text.contains(FROZEN_AT), "{text}");
        std::fs::write(&path, text.replace(FROZEN_AT, here.to_str().unwrap())).unwrap();
    }
    (sandbox, transcript)
}

/// Modes are not part of a repository.
fn copy_private(from: &Path, to: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::create_dir_all(to).unwrap();
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o700)).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_private(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
            std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
}

fn records(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn f44_every_frozen_version_opens_and_goes_on() {
    let versions = versions();
    assert!(!versions.is_empty(), "no frozen version is shipped");
    for version in versions {
        let (sandbox, _transcript) = home_of(&version);
        let frozen = records(&std::fs::read_to_string(version.join("records.jsonl")).unwrap());
        let imported: Value =
            serde_json::from_slice(&std::fs::read(version.join("import.json")).unwrap()).unwrap();
        assert_eq!(frozen.len() as u64, imported["documents"].as_u64().unwrap(), "{}", version.display());

        // The next drainer stores what waits, and brings store and index to its own formats.
        let drained = sandbox.drain_once();
        assert_eq!((&drained["entries"], &drained["odd"]), (&Value::from(1), &Value::from(0)), "{drained}");
        assert!(drained["observations"].as_u64().unwrap() > 0, "{drained}");
        sandbox.verify();

        // Nothing of what was there is lost, and a text still has its id: its fields may have become more.
        let now = records(&sandbox.dump());
        for old in &frozen {
            let new = now.iter().find(|r| r["id"] == old["id"]).unwrap_or_else(|| panic!("{old} is gone"));
            for (field, value) in old.as_object().unwrap() {
                // What is drawn from records may be drawn better by now.
                let is_drawn = !["observation", "note"].contains(&old["kind"].as_str().unwrap());
                if is_drawn && ["text", "bytes", "revision", "time"].contains(&field.as_str()) {
                    continue;
                }
                assert_eq!(&new[field], value, "{field} of {old}");
            }
        }
        let waited = now.iter().filter(|r| r["session"] == WAITING).count();
        assert!(waited > 0 && now.len() >= frozen.len() + waited);
        let found = sandbox.json(&["search", "tide", "--all"]);
        assert!(!found["hits"].as_array().unwrap().is_empty(), "{found}");
    }
}

#[test]
fn a_frozen_index_of_the_current_format_answers_as_it_is() {
    let Some(newest) = versions().pop() else { panic!("no frozen version is shipped") };
    let (sandbox, _transcript) = home_of(&newest);
    let before = std::fs::read_to_string(sandbox.at("index/current")).unwrap();
    let frozen = records(&std::fs::read_to_string(newest.join("records.jsonl")).unwrap());
    let said = frozen.iter().find(|r| r["kind"] == "observation" && r["speaker"] == "user").unwrap();
    let found = sandbox.json(&["search", said["text"].as_str().unwrap(), "--all"]);
    assert!(found["hits"].as_array().unwrap().iter().any(|hit| hit["id"] == said["id"]), "{found}");
    sandbox.drain_once();
    assert_eq!(
        std::fs::read_to_string(sandbox.at("index/current")).unwrap(),
        before,
        "an index of this format is not rebuilt"
    );
}
