//! What is not to be stored, asked for each transcript and record: excluded projects, switched-off ones, tools and files left out.
//!
//! The same answer for an event, a sweep and an import (D5): it hangs on the directories that records name, on the calls that results answer,
//! and on the settings as they are when the file is read.

use super::read::{Held, examine};
use crate::config::{Capture, Home, Passed, Project, Secret, Settings, Withheld};
use crate::id;
use crate::transcript::{Block, Line, MAX_LINE_BYTES, Parsed, RawLine, Reader};
use std::collections::HashMap;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A transcript says within so many lines where it was begun.
const HEAD_LINES: usize = 64;
/// More calls than this are not kept in mind. Units: 16 bytes each.
const MAX_CALLS: usize = 200_000;
/// So far back from where a stretch begins its calls are looked for; one that is not there is looked for in the whole file, once.
const WINDOWS: [u64; 3] = [256 << 10, 1 << 20, 4 << 20];

/// Rules of one directory.
#[derive(Clone)]
struct Rules {
    capture: Rc<Capture>,
    passed: Option<Passed>,
}

/// The rules while one file is read.
pub(super) struct Gate {
    home: Home,
    secret: Option<Secret>,
    known: HashMap<PathBuf, Rules>,
    calls: HashMap<u64, Option<Withheld>>,
    looked: bool,
}

impl Gate {
    /// Begins with a file: settings may have changed since the one before.
    pub(super) fn new(home: &Home) -> Self {
        Self { home: home.clone(), secret: None, known: HashMap::new(), calls: HashMap::new(), looked: false }
    }

    fn rules(&mut self, directory: &Path) -> Rules {
        if let Some(known) = self.known.get(directory) {
            return known.clone();
        }
        let capture = Rc::new(Capture::of(&Settings::read(Some(directory))));
        let (home, kept) = (&self.home, &mut self.secret);
        let passed = capture.passes(directory, || {
            *kept = kept.take().or_else(|| Secret::read(home).ok().flatten());
            kept.clone()
        });
        let rules = Rules { capture, passed };
        // A file that names ever new directories must not fill the memory.
        if self.known.len() >= 1_000 {
            self.known.clear();
        }
        self.known.insert(directory.to_path_buf(), rules.clone());
        rules
    }

    /// Nothing of what is said in this directory is to be stored.
    pub(super) fn passes(&mut self, directory: &Path) -> Option<Passed> {
        self.rules(directory).passed
    }

    /// Nothing of a project is to be stored: by its directory, its id or its name.
    pub(super) fn passes_project(&mut self, project: &Project) -> bool {
        let Rules { capture, passed } = self.rules(&project.root);
        passed.is_some() || capture.names(&project.id) || capture.names(&project.name)
    }

    /// Nothing of a transcript is to be stored: by where it was begun, or its session's own transcript was; one that does not say, by the
    /// folder that keeps it.
    pub(super) fn passes_file(&mut self, path: &Path) -> Option<Passed> {
        let above = path.ancestors().find(|path| path.file_name().is_some_and(|name| name == "subagents"));
        let parent = above.and_then(Path::parent).map(|folder| folder.with_extension("jsonl"));
        let own = begun(path).unwrap_or_else(|| path.parent().unwrap_or(path).to_path_buf());
        let dirs = [Some(own), parent.as_deref().and_then(begun)];
        dirs.into_iter().flatten().find_map(|dir| self.passes(&dir))
    }

    /// Takes out of an observation's blocks what is not to be stored. `before`: where the stretch that is read now begins. Returns why, for
    /// each that was taken out.
    pub(super) fn withhold(
        &mut self,
        blocks: &mut [Block],
        cwd: Option<&str>,
        (path, before): (&Path, u64),
    ) -> io::Result<Vec<Withheld>> {
        let mut reasons = Vec::new();
        let capture = self.rules(Path::new(cwd.unwrap_or("/"))).capture;
        for block in blocks {
            let why = match block {
                Block::ToolUse { id, .. } => {
                    let id = id.clone();
                    self.call(&capture, &id, block, cwd)
                }
                Block::ToolResult { id, .. } => {
                    let id = id.clone();
                    self.verdict(&capture, &id, path, before, cwd)?
                }
                _ => None,
            };
            if let Some(why) = why {
                leave_out(block, why);
                reasons.push(why);
            }
        }
        Ok(reasons)
    }

    fn call(&mut self, capture: &Capture, id: &str, block: &Block, cwd: Option<&str>) -> Option<Withheld> {
        let Block::ToolUse { name, input, file, command, .. } = block else { return None };
        let mut files: Vec<&str> = file.as_deref().into_iter().collect();
        let keys = ["path: ", "file_path: ", "notebook_path: ", "glob: "];
        files.extend(input.lines().filter_map(|line| keys.iter().find_map(|key| line.strip_prefix(key))));
        let why = capture.withholds(name, &files, command.as_deref(), Path::new(cwd.unwrap_or("/")));
        if self.calls.len() < MAX_CALLS {
            self.calls.insert(key(id), why);
        }
        why
    }

    /// Of a result: what was decided of its call. One whose call is nowhere in the file is kept.
    fn verdict(
        &mut self,
        capture: &Capture,
        id: &str,
        path: &Path,
        before: u64,
        cwd: Option<&str>,
    ) -> io::Result<Option<Withheld>> {
        if let Some(known) = self.calls.get(&key(id)) {
            return Ok(*known);
        }
        if before == 0 || self.looked || id.is_empty() {
            return Ok(None);
        }
        let reader = Reader::open(path, 0)?;
        for window in WINDOWS {
            let from = before.saturating_sub(window);
            if let Some(line) = find(&reader, from, before, id)? {
                self.take(capture, &reader, &line, cwd)?;
                if let Some(known) = self.calls.get(&key(id)) {
                    return Ok(*known);
                }
            }
            if from == 0 {
                break;
            }
        }
        self.looked = true;
        let mut reader = reader;
        reader.seek(0);
        while let Some(line) = reader.next_line()? {
            if line.from >= before || !line.complete {
                break;
            }
            self.take(capture, &reader, &line, cwd)?;
        }
        Ok(self.calls.get(&key(id)).copied().flatten())
    }

    /// Notes the calls of a line that was read earlier.
    fn take(&mut self, capture: &Capture, reader: &Reader, line: &Line, cwd: Option<&str>) -> io::Result<()> {
        if let (look, Held::Whole(_) | Held::Long(..)) = examine(reader, line)?
            && let Parsed::Said(context, observation) = look.parsed
        {
            let own = context.cwd.as_deref().or(cwd);
            for block in &observation.blocks {
                if let Block::ToolUse { id, .. } = block {
                    self.call(capture, id, block, own);
                }
            }
        }
        Ok(())
    }
}

/// The directory that a transcript's first record names.
fn begun(path: &Path) -> Option<PathBuf> {
    let mut reader = Reader::open(path, 0).ok()?;
    for _ in 0..HEAD_LINES {
        let line = reader.next_line().ok()??;
        let (look, _) = examine(&reader, &line).ok()?;
        let context = match look.parsed {
            Parsed::Said(context, _)
            | Parsed::Silent(context, _)
            | Parsed::Boundary(context, _)
            | Parsed::Title(context, ..) => context,
            _ => continue,
        };
        if let Some(cwd) = context.cwd {
            return Some(PathBuf::from(cwd));
        }
    }
    None
}

/// The last line between two positions that holds a call with this id.
fn find(reader: &Reader, from: u64, before: u64, id: &str) -> io::Result<Option<Line>> {
    let mut bytes = vec![0; usize::try_from(before - from).unwrap_or(0)];
    reader.file().read_exact_at(&mut bytes, from)?;
    let mut end = bytes.len();
    while let Some(at) = memchr::memmem::rfind(bytes.get(..end).unwrap_or_default(), id.as_bytes()) {
        let start = memchr::memrchr(b'\n', bytes.get(..at).unwrap_or_default()).map_or(0, |n| n + 1);
        if start == 0 && from > 0 {
            return Ok(None);
        }
        let rest = bytes.get(start..).unwrap_or_default();
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let text = rest.get(..length).unwrap_or_default();
        if memchr::memmem::find(text, b"tool_use\"").is_some() {
            let begins = from + start as u64;
            let content = if length > MAX_LINE_BYTES {
                RawLine::Long(length as u64)
            } else {
                RawLine::Whole(text.to_vec())
            };
            return Ok(Some(Line { from: begins, to: begins + length as u64 + 1, complete: true, content }));
        }
        end = start;
    }
    Ok(None)
}

/// Puts a placeholder with the size in the place of what a call was given or gave back. Its name and the file's stay.
fn leave_out(block: &mut Block, why: Withheld) {
    match block {
        Block::ToolUse { input, file, command, .. } => {
            let named = file.as_ref().filter(|_| why == Withheld::File);
            let head = named.map(|file| format!("file_path: {file}\n")).unwrap_or_default();
            *input = format!("{head}{}", why.placeholder(input.len()));
            *command = None;
            if why == Withheld::Tool {
                *file = None;
            }
        }
        Block::ToolResult { text, .. } => *text = why.placeholder(text.len()),
        _ => {}
    }
}

fn key(id: &str) -> u64 {
    u64::from_str_radix(id::short(&id::hash(&[id.as_bytes()]), 16), 16).unwrap_or(0)
}
