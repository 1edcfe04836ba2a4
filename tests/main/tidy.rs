//! Rules about the code itself: who may use whom, how long a file may be, who may touch the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules that everything may use.
const BASE: &[&str] = &["config", "ledger", "fs", "clock", "step", "command", "work", "id", "log", "visible"];

/// Beyond [`BASE`], who may use whom: the edges of the design, section 5. A folder without a row is a new decision, to be made there first.
const EDGES: &[(&str, &[&str])] = &[
    // Of redaction only what tells a private span: recall must not ask by it.
    ("hook", &["spool", "recall", "vault", "redact"]),
    ("spool", &[]),
    ("transcript", &[]),
    ("redact", &[]),
    ("drain", &["spool", "transcript", "redact", "store", "index"]),
    ("store", &[]),
    ("index", &[]),
    ("recall", &["index"]),
    ("vault", &[]),
    // Of the store only its read-only `Reader`: a long text, a session's neighbours and what is not stored yet are not in the index.
    // `memory_save` writes as the command `note` does: through the drainer, or in its place.
    ("mcp", &["recall", "spool", "store", "drain"]),
    ("view", &["recall", "spool"]),
    ("hub", &[]),
    ("install", &[]),
    ("service", &["install"]),
    ("doctor", &["spool", "drain", "store", "index", "install", "service"]),
    ("docs", &[]),
    ("config", &[]),
    ("ledger", &[]),
    ("fs", &[]),
    ("clock", &[]),
    ("step", &[]),
    ("command", &[]),
    ("work", &[]),
    ("id", &[]),
    ("log", &[]),
    ("visible", &[]),
];

/// Uses everything but `hook`, which only `main.rs` enters.
const EDGE: &str = "cli";

const LONGEST: usize = 500;

/// In the first lines of a file, this says that it is one repeated shape and may be longer.
const TABLE: &str = "tidy: table";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Files below a folder, sorted, without what is built, downloaded or hidden.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let walk = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(|e| {
        let name = e.file_name().to_string_lossy();
        !(e.depth() > 0 && (name == "target" || name == ".git" || name == "node_modules"))
    });
    for entry in walk {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            found.push(entry.into_path());
        }
    }
    found
}

fn rust(folder: &str) -> Vec<(PathBuf, String)> {
    let is_rust = |p: &PathBuf| p.extension().is_some_and(|e| e == "rs");
    let read =
        |p: PathBuf| (p.strip_prefix(root()).unwrap().to_path_buf(), std::fs::read_to_string(&p).unwrap());
    files(&root().join(folder)).into_iter().filter(is_rust).map(read).collect()
}

/// The code of a file: no line comments, nothing behind its unit tests.
fn code(text: &str) -> String {
    let product = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let strip = |line: &str| match line.find("//") {
        Some(at) if !line[..at].ends_with(':') => line[..at].to_owned(),
        _ => line.to_owned(),
    };
    product.lines().map(strip).collect::<Vec<_>>().join("\n")
}

/// The first names behind `crate::` in a piece of code, groups taken apart.
fn uses(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        // `$crate::` and `other_crate::` name the same crate or another one.
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = code[at + "crate::".len()..].trim_start();
        match rest.strip_prefix('{') {
            None => drop(found.insert(name(rest))),
            Some(group) => {
                let mut depth = 0;
                let mut fresh = true;
                for (i, c) in group.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => fresh = true,
                        c if fresh && !c.is_whitespace() => {
                            found.insert(name(&group[i..]));
                            fresh = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    found.remove("");
    found
}

fn name(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// `src/drain/run.rs` and `src/drain.rs` are module `drain`.
fn module(path: &Path) -> String {
    let first = path.components().nth(1).unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn modules_use_only_what_the_design_allows() {
    let edges: BTreeMap<&str, &[&str]> = EDGES.iter().copied().collect();
    let mut wrong = Vec::new();
    for (path, text) in rust("src") {
        let from = module(&path);
        if from == "main" || from == "lib" {
            continue;
        }
        for to in uses(&code(&text)) {
            let allowed = to == from
                || BASE.contains(&to.as_str())
                || if from == EDGE {
                    to != "hook"
                } else {
                    edges.get(from.as_str()).is_some_and(|e| e.contains(&to.as_str()))
                };
            if !allowed {
                wrong.push(format!("{}: {from} -> {to}", path.display()));
            }
        }
        if from != EDGE && !edges.contains_key(from.as_str()) {
            wrong.push(format!("{}: module `{from}` has no row in EDGES", path.display()));
        }
    }
    assert!(wrong.is_empty(), "edges that the design does not allow:\n{}", wrong.join("\n"));
}

#[test]
fn the_edge_reader_sees_through_groups_and_comments() {
    let text = "use crate::{clock, fs::{self, Sync}, store};\n/// [`crate::hook`]\nfn f() { crate::id::hash(&[]) } // crate::cli\n";
    let found: Vec<String> = uses(&code(text)).into_iter().collect();
    assert_eq!(found, ["clock", "fs", "id", "store"]);
}

#[test]
fn files_are_short_enough_to_be_read() {
    let mut wrong = Vec::new();
    for folder in ["src", "tests"] {
        for (path, text) in rust(folder) {
            let lines = text.lines().count();
            let table =
                text.lines().take(12).any(|l| l.contains(TABLE)) && path != Path::new("tests/main/tidy.rs");
            if lines > LONGEST && !table {
                wrong.push(format!("{}: {lines} lines", path.display()));
            }
        }
    }
    for path in files(&root().join("scripts")) {
        let lines = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).lines().count();
        if lines > LONGEST {
            wrong.push(format!("{}: {lines} lines", path.display()));
        }
    }
    assert!(wrong.is_empty(), "longer than {LONGEST} lines:\n{}", wrong.join("\n"));
}

#[test]
fn only_fs_creates_renames_syncs_and_removes() {
    // `step.rs` writes the log of steps passed, in test builds only.
    let exempt = ["src/fs.rs", "src/step.rs"].map(Path::new);
    let calls = [
        "std::fs::write",
        "std::fs::rename",
        "std::fs::remove_",
        "std::fs::create_dir",
        "std::fs::hard_link",
        "std::fs::copy",
        "File::create",
        "DirBuilder",
        ".write(true)",
        ".append(true)",
        ".create(true)",
        ".create_new(true)",
        ".truncate(true)",
        ".sync_all(",
        ".sync_data(",
        "rustix::fs::unlink",
        "rustix::fs::rename",
        "rustix::fs::mkdir",
        "rustix::fs::link",
        "rustix::fs::fsync",
        "rustix::fs::open",
    ];
    // With the standard module imported whole, `fs::write` would no longer say whose it is.
    let imports = ["use std::fs;", "use std::fs::{self", "use std::{fs,", "use std::{fs}"];
    let mut wrong = Vec::new();
    for (path, text) in rust("src") {
        if exempt.contains(&path.as_path()) {
            continue;
        }
        for (n, line) in code(&text).lines().enumerate() {
            for word in calls.iter().chain(&imports) {
                if line.contains(word) {
                    wrong.push(format!("{}:{}: {word}", path.display(), n + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "use `crate::fs` instead:\n{}", wrong.join("\n"));
}

#[test]
fn nothing_names_a_developers_machine() {
    // Put together here, so that this file does not name them either. `/home/dev` is the fixtures' made-up user, `/home/a` nobody.
    let paths = [
        concat!("/wo", "rk/main"),
        concat!("/wo", "rk/shared"),
        concat!("/wo", "rk/.library"),
        concat!("/tm", "p/h/"),
        concat!("/tm", "p/w/"),
        concat!("/ro", "ot/"),
        concat!("/Use", "rs/"),
    ];
    let home = concat!("/ho", "me/");
    let mut wrong = Vec::new();
    for path in files(&root()) {
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let mut found: Vec<&str> = paths.iter().copied().filter(|p| text.contains(p)).collect();
        let someone = |at: usize| {
            let user = name(&text[at + home.len()..]);
            user.len() > 1 && !matches!(user.as_str(), "dev" | "ada" | "user")
        };
        if text.match_indices(home).any(|(at, _)| someone(at)) {
            found.push(home);
        }
        if !found.is_empty() {
            wrong.push(format!("{}: {}", path.strip_prefix(root()).unwrap().display(), found.join(", ")));
        }
    }
    assert!(wrong.is_empty(), "paths of somebody's machine:\n{}", wrong.join("\n"));
}

#[test]
fn the_top_level_holds_only_what_the_design_names() {
    let named = [
        "Cargo.toml",
        "Cargo.lock",
        "src",
        "spool-fixtures",
        "tests",
        "scripts",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        ".ci",
        ".github",
        ".gitignore",
        ".git",
        "clippy.toml",
        "rustfmt.toml",
        "deny.toml",
        "target",
        // Where proptest keeps what once failed.
        "proptest-regressions",
    ];
    let found =
        std::fs::read_dir(root()).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
    let more: Vec<String> = found.filter(|n| !named.contains(&n.as_str())).collect();
    assert!(more.is_empty(), "not named by the design: {more:?}");
}

/// Names of the tests that begin with the number of a fault, `f19_…`.
fn fault_tests(text: &str) -> BTreeSet<String> {
    let is_number = |name: &str| {
        let digits = name.strip_prefix('f').and_then(|rest| rest.split_once('_')).map_or("", |(d, _)| d);
        digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| is_number(word)).map(str::to_owned).collect()
}

#[test]
fn every_fault_has_a_test_and_the_page_lists_them() {
    let mut written = BTreeSet::new();
    for (_, text) in rust("src").into_iter().chain(rust("tests/main")) {
        for line in text.lines().filter(|line| line.trim_start().starts_with("fn f")) {
            written.extend(fault_tests(line));
        }
    }
    let page = std::fs::read_to_string(root().join("src/docs/faults.md")).unwrap();
    let listed = fault_tests(&page);
    assert_eq!(listed, written, "src/docs/faults.md is behind: scripts/list-faults");
    for row in 1..=64 {
        let number = format!("f{row:02}_");
        let covered = listed.iter().any(|name| name.contains(&number));
        assert!(covered && page.contains(&format!("| F{row:02} |")), "F{row:02} has no test");
    }
}
