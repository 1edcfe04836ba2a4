//! The reader stage: a file from its cursor to its end, parsed and redacted, in parcels of bounded size.

mod take;

use super::DrainError;
use super::account::{Lines, Sessions};
use super::apart::{self, Tried};
use super::chains::Chains;
use super::gate::Gate;
use super::machine::Job;
use super::progress::Progress;
use super::suspects::{Caution, REFUSED, Suspects};
use super::sweep::{SETTLE_MS, untouched_ms};
use crate::config::{Home, Passed, Project};
use crate::redact::{Redactor, Report};
use crate::spool::{Entry, Odd};
use crate::store::{self, FileState};
use crate::transcript::{Cursor, Line, Mark, Parsed, Reader, Verdict};
use crate::{id, step};
use crossbeam_channel::{Receiver, SendError, Sender, bounded};
use std::collections::BTreeSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
pub(super) use take::{Held, examine};

/// A file to read.
pub(super) struct Task {
    /// What asked for it; its path names the task.
    pub job: Job,
    /// Where the file lies now: the host moves transcripts.
    pub path: PathBuf,
    /// How far it is stored.
    pub state: FileState,
    /// The entries that are done with it.
    pub entries: Vec<(PathBuf, Entry)>,
    /// The project of its sessions, where a person named one.
    pub given: Option<Project>,
    /// What is known against the file.
    pub caution: Caution,
}

/// What goes to the writer. A task gives any number of batches, then one end.
pub(super) enum Parcel {
    /// Rows and the cursor that covers them.
    Batch(Box<Batch>),
    /// The task is at its end.
    End(Box<Task>, End),
}

/// A stretch of a file.
#[derive(Default)]
pub(super) struct Batch {
    /// The task's name: the path that was asked for.
    pub name: PathBuf,
    /// The file.
    pub path: PathBuf,
    /// The project of its sessions, where a person named one.
    pub given: Option<Project>,
    /// The file is read again from the start: its account begins anew.
    pub restart: bool,
    /// What it held.
    pub rows: Vec<Row>,
    /// The sessions met.
    pub sessions: Sessions,
    /// Its lines.
    pub lines: Lines,
    /// Records that nobody said, and long lines: position, kind, size, sha256.
    pub silent: Vec<(u64, &'static str, u64, String)>,
    /// Titles of whichever session holds a record: its uuid, the title.
    pub summaries: Vec<(String, String)>,
    /// What was redacted.
    pub report: Report,
    /// Lines that could not be used.
    pub odd: Vec<(String, Odd)>,
    /// The state once these rows are stored.
    pub state: FileState,
}

/// A row of a batch, with its session's id.
pub(super) struct Row {
    pub session: String,
    pub what: What,
}

/// What a row is.
pub(super) enum What {
    Said(Box<store::Observation>),
    Output(Box<store::Output>),
    Boundary {
        id: String,
        at_ms: i64,
        at: u64,
        time: Option<String>,
    },
    /// A prompt that is wholly private, by the host's id.
    Private {
        prompt: String,
    },
    Title {
        title: String,
        by_person: bool,
        place: (i64, u64),
    },
}

/// How a task ended.
pub(super) enum End {
    /// The file was read to its end.
    Read,
    /// Nothing of it is to be stored; its size.
    Passed(Passed, u64),
    /// There is no such file.
    Absent,
    /// It is nothing that can be read, and trying again would not help.
    Odd(String),
    /// Trying again may help.
    Failed(String),
    /// A signal came: what was sent holds.
    Halted,
}

/// A batch is sent when it has this many bytes of lines, or rows.
const BATCH_BYTES: u64 = 4 * 1024 * 1024;
const BATCH_ROWS: usize = 2_000;
/// More odd lines of one file than this are only counted.
const ODD_REPORTS: usize = 50;

/// Works until the channel of tasks is closed. A task that panics is odd, and its neighbours go on.
pub(super) fn run(
    tasks: Receiver<Task>,
    parcels: Sender<Parcel>,
    redactor: Redactor,
    halt: Arc<AtomicBool>,
    progress: Arc<Progress>,
    home: Home,
    suspects: Arc<Mutex<Suspects>>,
) {
    let suspects = || suspects.lock().unwrap_or_else(PoisonError::into_inner);
    for task in tasks {
        // What waits in the channel when a signal comes is left to the next drainer.
        if halt.load(Ordering::Relaxed) {
            if parcels.send(Parcel::End(Box::new(task), End::Halted)).is_err() {
                return;
            }
            continue;
        }
        let refused = match task.caution {
            Caution::Plain | Caution::Last => None,
            Caution::Refused => Some(End::Odd(REFUSED.to_owned())),
            Caution::Apart => match apart::try_apart(&home, &task.path, task.job.last_line, &halt) {
                Tried::Survived => None,
                Tried::Fatal => {
                    suspects().convict(&task.path);
                    Some(End::Odd(REFUSED.to_owned()))
                }
                Tried::Unknown(why) => Some(End::Failed(why)),
                Tried::Halted => Some(End::Halted),
            },
        };
        if let Some(end) = refused {
            if parcels.send(Parcel::End(Box::new(task), end)).is_err() {
                return;
            }
            continue;
        }
        suspects().begin(&task.path, task.state.offset);
        progress.reads(true);
        let read = catch_unwind(AssertUnwindSafe(|| {
            Stretch::new(&task, &parcels, &redactor, &progress, &home).read(&halt)
        }));
        progress.reads(false);
        suspects().end();
        if matches!(read, Ok(Ok(End::Read))) {
            suspects().acquit(&task.path);
        }
        let end = match read {
            Ok(Ok(end)) => end,
            // The writer is gone: the process ends.
            Ok(Err(Fault::Closed)) => return,
            Ok(Err(Fault::Io(error))) => failed(&error),
            Err(_) => End::Odd("reading it ended in a panic".to_owned()),
        };
        if parcels.send(Parcel::End(Box::new(task), end)).is_err() {
            return;
        }
    }
}

/// Reads a task to its end and throws away what it gave. Errors: no thread can be had.
pub(super) fn discard(
    task: &Task,
    redactor: &Redactor,
    progress: &Progress,
    home: &Home,
) -> Result<(), DrainError> {
    let (parcels, thrown) = bounded(2);
    let sink = std::thread::Builder::new().spawn(move || thrown.iter().for_each(drop));
    let sink = sink.map_err(|e| DrainError::Start(e.to_string()))?;
    // What cannot be read will be told by the drainer itself.
    drop(Stretch::new(task, &parcels, redactor, progress, home).read(&AtomicBool::new(false)));
    drop(parcels);
    drop(sink.join());
    Ok(())
}

fn failed(error: &io::Error) -> End {
    // ELOOP: the last part of the path is a link.
    let link = Some(rustix::io::Errno::LOOP.raw_os_error());
    let never = error.kind() == io::ErrorKind::InvalidInput || error.raw_os_error() == link;
    match error.kind() {
        io::ErrorKind::NotFound => End::Absent,
        _ if never => End::Odd("it is not a regular file".to_owned()),
        _ => End::Failed(error.to_string()),
    }
}

enum Fault {
    Io(io::Error),
    Closed,
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Io(error)
    }
}

impl<T> From<SendError<T>> for Fault {
    fn from(_: SendError<T>) -> Self {
        Fault::Closed
    }
}

/// One file while it is read.
struct Stretch<'a> {
    task: &'a Task,
    parcels: &'a Sender<Parcel>,
    redactor: &'a Redactor,
    progress: &'a Progress,
    batch: Batch,
    state: FileState,
    file_mark: String,
    /// Start and end of the last complete line.
    last: (u64, u64),
    /// Where this reading began.
    began: u64,
    chains: Chains,
    gate: Gate,
    bytes: u64,
    /// Size of what results say that lie in files of their own.
    beside: u64,
    odd: usize,
}

impl<'a> Stretch<'a> {
    fn new(
        task: &'a Task,
        parcels: &'a Sender<Parcel>,
        redactor: &'a Redactor,
        progress: &'a Progress,
        home: &Home,
    ) -> Self {
        Self {
            task,
            parcels,
            redactor,
            progress,
            batch: Batch::default(),
            state: task.state.clone(),
            file_mark: String::new(),
            last: (0, 0),
            began: 0,
            chains: Chains::default(),
            gate: Gate::new(home),
            bytes: 0,
            beside: 0,
            odd: 0,
        }
    }

    fn read(mut self, halt: &AtomicBool) -> Result<End, Fault> {
        // What only events tell of an excluded project is not stored either, whether there is a file or not.
        let told = self.task.entries.iter().filter_map(|(_, e)| e.project_dir.as_ref().or(e.cwd.as_ref()));
        let told = told.collect::<BTreeSet<_>>().into_iter().find_map(|dir| self.gate.passes(dir));
        if let (Some(why), false) = (told, self.task.path.exists()) {
            return Ok(End::Passed(why, 0));
        }
        let mut reader = Reader::open(&self.task.path, 0)?;
        let meta = reader.file().metadata()?;
        if let Some(why) = told.or_else(|| self.gate.passes_file(&self.task.path)) {
            return Ok(End::Passed(why, meta.len()));
        }
        self.file_mark = file_mark(&reader)?;
        self.begin();
        if cursor(&self.state).check(reader.file())? == Verdict::Restart {
            self.state = FileState::default();
            self.batch.restart = true;
        }
        reader.seek(self.state.offset);
        self.began = self.state.offset;
        // A last line without a newline was stored before: it is counted already.
        let counted = self.state.settled > self.state.offset && !self.state.passed;
        let counted = counted.then_some(self.state.offset);
        let take_last = self.task.job.last_line || untouched_ms(&meta) > SETTLE_MS;
        self.state.settled = self.state.offset;
        while let Some(line) = reader.next_line()? {
            self.state.size = self.state.size.max(line.to);
            if !line.complete {
                // Half written, or whole and only waiting for its newline: stored when nobody will add to it. The
                // cursor stays before it in any case.
                if take_last && self.line(&reader, &line)? {
                    self.forget_count(counted == Some(line.from));
                    self.state.settled = line.to;
                }
                break;
            }
            self.line(&reader, &line)?;
            self.forget_count(counted == Some(line.from));
            if self.state.offset == 0 {
                let head = Mark::head_of(reader.file(), line.to)?;
                (self.state.head_len, self.state.head_hash) = (head.len, head.hash);
            }
            self.state.offset = line.to;
            self.state.settled = line.to;
            self.last = (line.from, line.to);
            self.bytes += line.to - line.from;
            if self.bytes + self.beside >= BATCH_BYTES || self.batch.rows.len() >= BATCH_ROWS {
                self.send(&reader)?;
                if halt.load(Ordering::Relaxed) {
                    return Ok(End::Halted);
                }
            }
        }
        // The size is what was read, not what the file has become since: whoever looks next sees the difference.
        self.state.size = self.state.size.max(self.state.settled).min(meta.len().max(self.state.settled));
        self.send(&reader)?;
        Ok(End::Read)
    }

    /// Takes a line; false for one without a newline that is no record yet. One that ends in a panic is odd, and its neighbours go on.
    fn line(&mut self, reader: &Reader, line: &Line) -> Result<bool, Fault> {
        let taken = catch_unwind(AssertUnwindSafe(|| {
            let (look, held) = examine(reader, line)?;
            step::poison("read::line", held.bytes());
            if !line.complete && matches!(look.parsed, Parsed::Odd(_)) {
                return Ok(false);
            }
            self.take(look, &held, line).map(|()| true)
        }));
        match taken {
            Ok(done) => Ok(done?),
            Err(_) if !line.complete => Ok(false),
            Err(_) => {
                self.panicked(line.from, line.to);
                Ok(true)
            }
        }
    }

    /// Takes the count of the batch's first line back.
    fn forget_count(&mut self, again: bool) {
        if again {
            self.batch.lines = Lines::default();
            self.batch.report = Report::default();
            self.batch.silent.clear();
        }
    }

    fn begin(&mut self) {
        self.batch = Batch {
            name: self.task.job.path.clone(),
            path: self.task.path.clone(),
            given: self.task.given.clone(),
            ..Batch::default()
        };
    }

    fn send(&mut self, reader: &Reader) -> Result<(), Fault> {
        let (from, to) = self.last;
        if to > from {
            let tail = Mark::tail_of(reader.file(), from, to)?;
            (self.state.tail_len, self.state.tail_hash) = (tail.len, tail.hash);
        }
        self.batch.state = self.state.clone();
        let batch = std::mem::take(&mut self.batch);
        self.begin();
        self.progress.read(std::mem::take(&mut self.bytes));
        self.beside = 0;
        // A writer that is slow must not make the reader look stuck.
        self.progress.reads(false);
        let sent = self.parcels.send(Parcel::Batch(Box::new(batch)));
        self.progress.reads(true);
        Ok(sent?)
    }
}

fn cursor(state: &FileState) -> Cursor {
    Cursor {
        offset: state.offset,
        head: Mark { len: state.head_len, hash: state.head_hash.clone() },
        tail: Mark { len: state.tail_len, hash: state.tail_hash.clone() },
    }
}

/// Names a file by its first line: a moved or copied file has the same name, so a record without a uuid stays one record.
fn file_mark(reader: &Reader) -> io::Result<String> {
    use std::os::unix::fs::FileExt;
    let mut bytes = vec![0; 4096];
    let n = reader.file().read_at(&mut bytes, 0)?;
    bytes.truncate(n);
    let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    Ok(id::short(&id::sha256(line), 32).to_owned())
}
