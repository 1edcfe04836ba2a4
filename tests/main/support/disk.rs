//! A disk as a power cut may leave it: from a record of operations, the states that are legal.
//!
//! The model: what was written to a file and not synced may be there, lost, cut or zero. A name that was made, renamed or removed may be
//! as before until its directory is synced; of two operations on the same name or file the later one is never there without the
//! earlier. A transaction that the database answered is there (`synchronous=FULL`); one that it was about to answer may be.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A generator of numbers with a seed: a state can be made again.
pub struct Seed(u64);

impl Seed {
    /// Any number is a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end.max(1)
    }
}

/// What was done to the files below one folder, in order, by any number of processes.
pub struct Record {
    home: PathBuf,
    base: BTreeMap<PathBuf, Vec<u8>>,
    base_dirs: BTreeSet<PathBuf>,
    done: Vec<Done>,
}

/// One operation; paths are below the folder.
#[derive(Debug, Clone)]
pub struct Done {
    /// `create`, `write`, `sync`, `replace`, `rename`, `link`, `remove`, `remove-tree`, `make-dir`, `sync-dir`, `commit`.
    pub did: String,
    /// What it was done to.
    pub path: PathBuf,
    /// The new name of a rename or link; else the same.
    pub to: PathBuf,
    /// What a write left; for a commit, the database and its log.
    content: Vec<Vec<u8>>,
}

impl Record {
    /// Begins with what is below `home` now: all of it is on disk.
    pub fn begin(home: &Path) -> Self {
        let (mut base, mut base_dirs) = (BTreeMap::new(), BTreeSet::new());
        for entry in walkdir::WalkDir::new(home) {
            let entry = entry.unwrap();
            let path = entry.path().strip_prefix(home).unwrap().to_path_buf();
            if entry.file_type().is_dir() {
                base_dirs.insert(path);
            } else {
                base.insert(path, std::fs::read(entry.path()).unwrap());
            }
        }
        Self { home: home.to_path_buf(), base, base_dirs, done: Vec::new() }
    }

    /// Adds what a process wrote down under `STEP_RECORD`. Returns how many operations there are now.
    pub fn add(&mut self, dir: &Path) -> usize {
        let log = std::fs::read_to_string(dir.join("log")).unwrap_or_default();
        for (n, line) in (1..).zip(log.lines()) {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!((line["n"].as_u64(), line["lost"].as_bool()), (Some(n), Some(false)), "{line}");
            let path = |name: &str| {
                Path::new(line[name].as_str().unwrap()).strip_prefix(&self.home).map(Path::to_path_buf)
            };
            // What lies outside of the folder is not ours to model.
            let (Ok(path), Ok(to)) = (path("path"), path("to")) else { continue };
            let did = line["did"].as_str().unwrap().to_owned();
            let parts: &[&str] = match did.as_str() {
                "commit" => &["", "-wal"],
                "write" | "replace" => &[""],
                _ => &[],
            };
            let read = |end: &&str| std::fs::read(dir.join(format!("{n:06}{end}"))).unwrap_or_default();
            self.done.push(Done { did, path, to, content: parts.iter().map(read).collect() });
        }
        self.done.len()
    }

    /// The operations.
    pub fn done(&self) -> &[Done] {
        &self.done
    }

    /// Makes in `into`, an empty folder, a state that a power cut after the first `cut` operations may leave. Returns what was not
    /// there of them.
    pub fn cut(&self, cut: usize, seed: &mut Seed, into: &Path) -> Vec<String> {
        let done = &self.done[..cut];
        let undone = self.undone(done, seed);
        let mut disk = Disk { names: BTreeMap::new(), files: Vec::new(), dirs: self.base_dirs.clone() };
        for (path, bytes) in &self.base {
            disk.put(path, bytes.clone());
        }
        let mut told = Vec::new();
        // The inode of each name as the processes saw it: a sync reaches the file whatever became of its name.
        for (i, op) in done.iter().enumerate() {
            if undone.contains(&i) {
                told.push(format!("{i} {} {}: not there", op.did, op.path.display()));
            } else {
                disk.apply(op, || self.data(done, i, seed, &mut told));
            }
        }
        if let Some(next) = self.done[cut..].iter().find(|op| op.did != "commit" || seed.below(2) == 0)
            && next.did == "commit"
        {
            told.push("a commit that was not answered: there".to_owned());
            disk.apply(next, Vec::new);
        }
        disk.write(into);
        told
    }

    /// Names that are as they were: a choice among the operations that no sync of a directory made sure.
    fn undone(&self, done: &[Done], seed: &mut Seed) -> BTreeSet<usize> {
        let is_name = |op: &Done| !matches!(op.did.as_str(), "write" | "sync" | "sync-dir" | "commit");
        let mut sure: BTreeSet<usize> = BTreeSet::new();
        for (i, op) in done.iter().enumerate().filter(|(_, op)| is_name(op)) {
            let dir = op.to.parent().unwrap_or(Path::new(""));
            if done[i..].iter().any(|later| later.did == "sync-dir" && later.path == dir) {
                sure.insert(i);
            }
        }
        // What is sure makes sure what it stands on; but the name of a folder lies in the folder above, and is synced there.
        for i in (0..done.len()).rev() {
            if sure.contains(&i) {
                let stands = |e: &usize| {
                    is_name(&done[*e]) && done[*e].did != "make-dir" && touches(&done[*e], &done[i])
                };
                sure.extend((0..i).filter(stands));
            }
        }
        let mut undone = BTreeSet::new();
        // Some cuts lose much, some little.
        let odds = 1 + seed.below(6);
        for (i, op) in done.iter().enumerate().filter(|(i, op)| is_name(op) && !sure.contains(i)) {
            let falls = undone.iter().any(|e: &usize| touches(&done[*e], op));
            if falls || seed.below(odds) == 0 {
                undone.insert(i);
            }
        }
        undone
    }

    /// What a file holds that was written by operation `i`.
    fn data(&self, done: &[Done], i: usize, seed: &mut Seed, told: &mut Vec<String>) -> Vec<u8> {
        let op = &done[i];
        let bytes = op.content.first().cloned().unwrap_or_default();
        let synced =
            op.did == "replace" || done[i..].iter().any(|later| later.did == "sync" && later.path == op.path);
        let (what, left) = match if synced { 0 } else { seed.below(4) } {
            0 => return bytes,
            1 => ("lost", Vec::new()),
            2 => ("cut", bytes[..seed.below(bytes.len())].to_vec()),
            _ => ("zero", vec![0; bytes.len()]),
        };
        told.push(format!("{i} write {}: {what}", op.path.display()));
        left
    }
}

/// Do two operations share a name, or a folder with what is in it?
fn touches(a: &Done, b: &Done) -> bool {
    let inside = |x: &Path, y: &Path| x == y || y.starts_with(x) || x.starts_with(y);
    let names = |op: &Done| [op.path.clone(), op.to.clone()];
    names(a).iter().any(|x| names(b).iter().any(|y| inside(x, y)))
}

/// Names, and the files they name.
struct Disk {
    names: BTreeMap<PathBuf, usize>,
    files: Vec<Vec<u8>>,
    dirs: BTreeSet<PathBuf>,
}

impl Disk {
    fn put(&mut self, path: &Path, bytes: Vec<u8>) {
        self.files.push(bytes);
        self.names.insert(path.to_path_buf(), self.files.len() - 1);
    }

    fn apply(&mut self, op: &Done, data: impl FnOnce() -> Vec<u8>) {
        match op.did.as_str() {
            "create" => self.put(&op.path, Vec::new()),
            // The name may be gone from this disk; then nobody sees what was written.
            "write" => {
                let bytes = data();
                if let Some(file) = self.names.get(&op.path) {
                    self.files[*file] = bytes;
                }
            }
            "replace" => {
                let bytes = data();
                self.put(&op.path, bytes);
            }
            "rename" => {
                if let Some(file) = self.names.remove(&op.path) {
                    self.names.insert(op.to.clone(), file);
                }
            }
            "link" => {
                if let Some(file) = self.names.get(&op.path).copied() {
                    self.names.insert(op.to.clone(), file);
                }
            }
            "remove" => drop(self.names.remove(&op.path)),
            "remove-tree" => {
                self.names.retain(|name, _| !name.starts_with(&op.path));
                self.dirs.retain(|name| !name.starts_with(&op.path));
            }
            "make-dir" => drop(self.dirs.insert(op.path.clone())),
            "commit" => {
                for (end, bytes) in ["", "-wal"].iter().zip(&op.content) {
                    self.put(Path::new(&format!("{}{end}", op.path.display())), bytes.clone());
                }
                // Its shared memory is of no worth after a start.
                self.names.remove(Path::new(&format!("{}-shm", op.path.display())));
            }
            _ => {}
        }
    }

    fn write(&self, into: &Path) {
        use std::os::unix::fs::DirBuilderExt as _;
        let make = |dir: &Path| {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(into.join(dir)).unwrap();
        };
        for dir in &self.dirs {
            make(dir);
        }
        for (name, file) in &self.names {
            // A file whose folder is not there is not there either.
            let parent = name.parent().unwrap();
            if self.dirs.contains(parent) {
                std::fs::write(into.join(name), &self.files[*file]).unwrap();
            }
        }
    }
}
