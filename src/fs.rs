//! Every durable file operation: private modes, atomic replacement, syncs, and a kill point at each.
//!
//! Nothing else in the crate creates, renames, syncs or unlinks (SQLite and Tantivy do their own).
//! It follows no symbolic link at the last part of a name it opens for writing.

mod system;

pub use system::{free_bytes, grants_every_lock, network};

use crate::clock;
use crate::step::{Did, did, step};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// How much must be on the platter before a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// The kernel's time will do: a lost file costs only time.
    No,
    /// File and directory are synced.
    Yes,
}

/// A failed operation with its path; `source` is the system's own word.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} {}: {source}", path.display())]
pub struct FsError {
    /// The operation, as a verb: `create`, `write`, `sync`, `rename`, `remove`.
    pub what: &'static str,
    /// The path it was tried on.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl FsError {
    /// True when the system said that the name does not exist.
    pub fn is_missing(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}

trait At<T> {
    fn at(self, what: &'static str, path: &Path) -> Result<T, FsError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, what: &'static str, path: &Path) -> Result<T, FsError> {
        self.map_err(|source| FsError { what, path: path.to_path_buf(), source })
    }
}

/// Writes `bytes` as `tmp`, then renames it to `to`: readers of `to` see the old file, or the whole new one.
///
/// Mode 0600. `tmp` must lie on the same file system and must not exist. With [`Sync::Yes`] the file is synced before the rename and
/// the directory of `to` after it. Errors: any of the steps; `tmp` is then removed as far as possible.
pub fn publish(tmp: &Path, to: &Path, bytes: &[u8], sync: Sync) -> Result<(), FsError> {
    let written = write_new(tmp, bytes, OURS, sync);
    let done = written.and_then(|()| rename(tmp, to));
    if let Err(error) = done {
        // Nobody reads tmp; what stays of it is swept by age.
        #[allow(clippy::disallowed_methods, reason = "clean-up of a failed step is not a step")]
        drop(std::fs::remove_file(tmp));
        return Err(error);
    }
    match (sync, to.parent()) {
        (Sync::Yes, Some(dir)) => sync_dir(dir),
        _ => Ok(()),
    }
}

fn write_new(path: &Path, bytes: &[u8], mode: u32, sync: Sync) -> Result<(), FsError> {
    let mut file = create(path, mode)?;
    step("fs::write").and_then(|()| file.write_all(bytes)).at("write", path)?;
    did(Did::Write(path));
    if sync == Sync::Yes {
        step("fs::sync").and_then(|()| file.sync_data()).at("sync", path)?;
        did(Did::Sync(path));
    }
    Ok(())
}

/// Replaces `path` by a file with `bytes`, through a neighbour named `.<name>.<pid>.tmp`.
///
/// Errors: as [`publish`].
pub fn replace(path: &Path, bytes: &[u8], sync: Sync) -> Result<(), FsError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let tmp = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    match publish(&tmp, path, bytes, sync) {
        // A process with our pid died here before; its leftover is worthless.
        Err(error) if error.source.kind() == io::ErrorKind::AlreadyExists => {
            remove(&tmp)?;
            publish(&tmp, path, bytes, sync)
        }
        done => done,
    }
}

/// The mode and the owner that a file of the user's gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dress {
    /// Those of the file that it replaces; the owner (user, group) where the system allows it.
    Kept {
        /// Its permission bits.
        mode: u32,
        /// Its user and group.
        owner: (u32, u32),
    },
    /// There is none to replace: this mode, less the process's mask.
    New(u32),
}

/// The mode of a file of ours.
const OURS: u32 = 0o600;

/// Replaces a file of the user's through `tmp`, a neighbour of it that must not exist.
///
/// `Ok(false)`: `as_before`, asked at the last moment, said that the file is no longer what the bytes were made from; nothing was changed.
/// Synced. Errors: any step; `tmp` is then removed as far as possible.
pub fn replace_if(
    path: &Path,
    tmp: &Path,
    bytes: &[u8],
    dress: Dress,
    as_before: impl FnOnce() -> bool,
) -> Result<bool, FsError> {
    let written = match dress {
        // The system takes the mask off when it creates the file; a mode that is set afterwards would go past it.
        Dress::New(mode) => write_new(tmp, bytes, mode, Sync::Yes),
        Dress::Kept { mode, owner } => {
            write_new(tmp, bytes, OURS, Sync::Yes).and_then(|()| keep_dress(tmp, mode, owner))
        }
    };
    let done = written.and_then(|()| if as_before() { rename(tmp, path).map(|()| true) } else { Ok(false) });
    if !matches!(done, Ok(true)) {
        #[allow(clippy::disallowed_methods, reason = "clean-up of a failed step is not a step")]
        drop(std::fs::remove_file(tmp));
        return done;
    }
    path.parent().map_or(Ok(()), sync_dir).map(|()| true)
}

/// Gives a file its mode and, as far as we may, its owner.
fn keep_dress(path: &Path, mode: u32, (user, group): (u32, u32)) -> Result<(), FsError> {
    use std::os::unix::fs::MetadataExt as _;
    let own = path.symlink_metadata().at("look at", path)?;
    if (own.uid(), own.gid()) != (user, group) {
        // Only root may give files away; a user keeps what is theirs.
        std::os::unix::fs::lchown(path, Some(user), Some(group)).ok();
    }
    step("fs::mode")
        .and_then(|()| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)))
        .at("set the mode of", path)
}

/// Creates a file that must not exist yet (`O_EXCL`), mode 0600. Errors: `AlreadyExists` and the rest.
pub fn create_new(path: &Path) -> Result<File, FsError> {
    create(path, OURS)
}

fn create(path: &Path, mode: u32) -> Result<File, FsError> {
    let file = step("fs::create")
        .and_then(|()| OpenOptions::new().write(true).create_new(true).mode(mode).open(path))
        .at("create", path)?;
    if mode == OURS {
        settle_mode(&file, path)?;
    }
    did(Did::Create(path));
    Ok(file)
}

/// The process's mask is [`private_umask`]'s.
static MASKED: AtomicBool = AtomicBool::new(false);

/// From now on nothing that this process makes is open to others, or closed to its owner, whatever mask it was started with. For processes
/// that write nothing of the user's: files there get the user's mask.
pub fn private_umask() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    MASKED.store(true, Ordering::Relaxed);
}

/// Gives a file that was just made the mode that the mask may have taken from it.
fn settle_mode(file: &File, path: &Path) -> Result<(), FsError> {
    if MASKED.load(Ordering::Relaxed) {
        return Ok(());
    }
    file.set_permissions(std::fs::Permissions::from_mode(OURS)).at("set the mode of", path)
}

/// Opens a file for appending, creating it with mode 0600; never follows a symbolic link, never waits for a FIFO's reader.
pub fn append_to(path: &Path) -> Result<File, FsError> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    let file =
        options.append(true).create(true).mode(OURS).custom_flags(flags).open(path).at("open", path)?;
    settle_mode(&file, path).map(|()| file)
}

/// Appends bytes in one write and returns once they and the file's name are on disk. Errors: any step; what was written may stay.
pub fn append_synced(path: &Path, bytes: &[u8]) -> Result<(), FsError> {
    use std::io::Write as _;
    let mut file = append_to(path)?;
    step("fs::append").and_then(|()| file.write_all(bytes)).at("write", path)?;
    did(Did::Write(path));
    sync(&file, path)?;
    path.parent().map_or(Ok(()), sync_dir)
}

/// Returns once what was written to an open file is on disk. `path` is its name, for the error.
pub fn sync(file: &File, path: &Path) -> Result<(), FsError> {
    step("fs::sync").and_then(|()| file.sync_all()).at("sync", path)?;
    did(Did::Sync(path));
    Ok(())
}

/// Opens a file that is written in place (what carries a lock, what is as short-lived as a process), creating it with mode 0600.
pub fn open_in_place(path: &Path) -> Result<File, FsError> {
    let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(OURS).custom_flags(flags);
    let file = options.open(path).at("open", path)?;
    settle_mode(&file, path).map(|()| file)
}

/// Renames within one file system; an existing target is replaced.
#[allow(clippy::disallowed_methods, reason = "this is the one place that renames")]
pub fn rename(from: &Path, to: &Path) -> Result<(), FsError> {
    step("fs::rename").and_then(|()| std::fs::rename(from, to)).at("rename", from)?;
    did(Did::Rename(from, to));
    Ok(())
}

/// Removes a file; one that is already gone is fine.
#[allow(clippy::disallowed_methods, reason = "this is the one place that removes")]
pub fn remove(path: &Path) -> Result<(), FsError> {
    match step("fs::remove").and_then(|()| std::fs::remove_file(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done.map(|()| did(Did::Remove(path))).at("remove", path),
    }
}

/// Removes a directory with all that is in it; one that is already gone is fine. Follows no symbolic link.
pub fn remove_tree(path: &Path) -> Result<(), FsError> {
    match step("fs::remove_tree").and_then(|()| std::fs::remove_dir_all(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done.map(|()| did(Did::RemoveTree(path))).at("remove", path),
    }
}

/// Age of a file by its modification time, below zero for one from the future; `None` when it does not exist. Units: milliseconds.
pub fn age_ms(path: &Path) -> Option<i64> {
    let time = path.symlink_metadata().and_then(|meta| meta.modified()).ok()?;
    Some(clock::wall().0.saturating_sub(clock::from_system(time).0))
}

/// Removes files of a folder whose name `is_leftover` knows and that nobody touched for `age_ms`; returns how many.
///
/// A file from the future is young. Errors: the folder cannot be listed, or a file not removed.
pub fn remove_leftovers(dir: &Path, age_ms: i64, is_leftover: impl Fn(&str) -> bool) -> Result<u64, FsError> {
    let mut removed = 0;
    for file in std::fs::read_dir(dir).at("list", dir)? {
        let file = file.at("list", dir)?;
        let Ok(meta) = file.metadata() else { continue };
        let time = meta.modified().map_or(i64::MAX, |t| clock::from_system(t).0);
        let old = clock::wall().0.saturating_sub(time) > age_ms;
        if old && meta.is_file() && is_leftover(&file.file_name().to_string_lossy()) {
            remove(&file.path())?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// The name is that of a neighbour through which [`replace`] works; one that stays was left by a process that died.
pub fn is_replacement(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".tmp")
}

/// Makes a directory and its missing parents, mode 0700 each; one that exists is left as it is.
pub fn make_private_dir(path: &Path) -> Result<(), FsError> {
    make_dirs(path, PRIVATE)
}

/// Makes what is missing of a path, and syncs the name of each: what lies in the last one is as sure as the first.
fn make_dirs(path: &Path, mode: u32) -> Result<(), FsError> {
    let is_missing = |dir: &&Path| !dir.as_os_str().is_empty() && !dir.is_dir();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if mode == PRIVATE {
        missing.iter().rev().try_for_each(|dir| make_one(dir))?;
    } else {
        DirBuilder::new().recursive(true).mode(mode).create(path).at("create directory", path)?;
    }
    for dir in missing.iter().rev() {
        did(Did::MakeDir(dir));
        sync_name(dir)?;
    }
    Ok(())
}

/// The mode of a directory of ours.
const PRIVATE: u32 = 0o700;

/// Makes one directory, mode 0700 whatever the mask; one that somebody made in between is left as it is.
fn make_one(dir: &Path) -> Result<(), FsError> {
    match DirBuilder::new().mode(PRIVATE).create(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => return Ok(()),
        made => made.at("create directory", dir)?,
    }
    if MASKED.load(Ordering::Relaxed) {
        return Ok(());
    }
    // A mask that takes the owner's rights, too, would keep us from what comes below.
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(PRIVATE)).at("set the mode of", dir)
}

/// Takes everybody else's rights off a file or a directory of ours, and gives the owner theirs; true when something was changed. A link, what
/// is not there and what belongs to somebody else are left alone. Errors: the system's.
pub fn keep_private(path: &Path) -> Result<bool, FsError> {
    use std::os::unix::fs::MetadataExt as _;
    let meta = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        meta => meta.at("look at", path)?,
    };
    let wanted = if meta.is_dir() { 0o700 } else { 0o600 };
    let plain = meta.is_dir() || meta.is_file();
    if !plain || meta.uid() != rustix::process::geteuid().as_raw() || meta.mode() & 0o777 == wanted {
        return Ok(false);
    }
    step("fs::keep_private")
        .and_then(|()| std::fs::set_permissions(path, std::fs::Permissions::from_mode(wanted)))
        .at("set the mode of", path)?;
    Ok(true)
}

/// Makes a directory like [`make_private_dir`], but one that a power cut may take away again: what is in it promises nothing.
pub fn make_passing_dir(path: &Path) -> Result<(), FsError> {
    let is_missing = |dir: &&Path| !dir.as_os_str().is_empty() && !dir.is_dir();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    missing.iter().rev().try_for_each(|dir| make_one(dir))
}

/// Makes a directory and its missing parents with this mode, less the process's mask; one that exists is left as it is.
///
/// For folders of the user's; ours are made by [`make_private_dir`].
pub fn make_dir(path: &Path, mode: u32) -> Result<(), FsError> {
    if path.is_dir() {
        return Ok(());
    }
    step("fs::make_dir").at("create directory", path)?;
    make_dirs(path, mode)
}

/// Removes a directory if it is empty; `Ok(false)` when it is not. One that is already gone is fine.
pub fn remove_empty_dir(path: &Path) -> Result<bool, FsError> {
    match step("fs::remove_dir").and_then(|()| std::fs::remove_dir(path)) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        done => done.map(|()| did(Did::RemoveTree(path))).map(|()| true).at("remove", path),
    }
}

/// Syncs the folder that a new directory lies in: a synced file in a directory that a power cut takes away is no promise kept.
fn sync_name(dir: &Path) -> Result<(), FsError> {
    // The parent of a single name is where the process is.
    let parent = dir.parent().map(|dir| if dir.as_os_str().is_empty() { Path::new(".") } else { dir });
    match parent.map_or(Ok(()), sync_dir) {
        // A folder that may be written but not listed cannot be opened to be synced.
        Err(error) if error.source.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}

/// Syncs a directory, so that names in it survive a power cut.
pub fn sync_dir(path: &Path) -> Result<(), FsError> {
    step("fs::sync_dir").and_then(|()| File::open(path)).and_then(|dir| dir.sync_all()).at("sync", path)?;
    did(Did::SyncDir(path));
    Ok(())
}

/// Sets a file's modification time to now: the heartbeat's beat.
pub fn touch(path: &Path) -> Result<(), FsError> {
    let file = OpenOptions::new().write(true).open(path).at("open", path)?;
    file.set_modified(clock_now()).at("touch", path)
}

#[allow(clippy::disallowed_methods, reason = "a file time is compared with the kernel's clock")]
fn clock_now() -> std::time::SystemTime {
    std::time::SystemTime::now()
}

/// Opens a regular file for reading; `Ok(None)` when it does not exist.
///
/// Errors: `InvalidData` when it is not a regular file; never follows a symbolic link, never opens a FIFO or a device.
pub fn open_plain(path: &Path) -> Result<Option<File>, FsError> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let opened =
        OpenOptions::new().read(true).custom_flags(i32::try_from(flags.bits()).unwrap_or(0)).open(path);
    let file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.at("open", path)?,
    };
    if !file.metadata().at("read", path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file")).at("read", path);
    }
    Ok(Some(file))
}

/// Reads at most `limit` bytes of a regular file; `Ok(None)` when it does not exist.
///
/// Errors: `InvalidData` when it is longer than `limit` or not a regular file; never opens a FIFO or a device.
pub fn read_small(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, FsError> {
    use std::io::Read as _;
    let Some(file) = open_plain(path)? else { return Ok(None) };
    if file.metadata().at("read", path)?.len() > limit {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is too large")).at("read", path);
    }
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).at("read", path)?;
    Ok(Some(bytes))
}

/// Where what is written goes nowhere. Errors: the system's.
pub fn nowhere() -> io::Result<std::fs::File> {
    std::fs::OpenOptions::new().write(true).open("/dev/null")
}

/// Reads the beginning of a small or large file. Errors: as for [`read_small`], and that there is none.
pub fn read_head(path: &Path, limit: u64) -> Result<Vec<u8>, FsError> {
    use std::io::Read as _;
    let Some(file) = open_plain(path)? else {
        return Err(io::Error::from(io::ErrorKind::NotFound)).at("read", path);
    };
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).at("read", path)?;
    Ok(bytes)
}

/// Publishes `bytes` as `to` unless that name exists already; then it stays as it is. Synced, mode 0600.
///
/// Errors: any step but "exists"; `tmp` is removed in every case.
pub fn publish_once(tmp: &Path, to: &Path, bytes: &[u8]) -> Result<(), FsError> {
    write_new(tmp, bytes, OURS, Sync::Yes)?;
    let linked =
        step("fs::link").and_then(|()| std::fs::hard_link(tmp, to)).map(|()| did(Did::Link(tmp, to)));
    remove(tmp)?;
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked.at("link", to),
    }?;
    to.parent().map_or(Ok(()), sync_dir)
}
/// Opens a regular file for reading, by the names that lead to it from a folder; none of them may be a link.
///
/// Errors: the system's; `InvalidInput` when it is not a regular file.
pub fn open_beneath(folder: &Path, names: &[&str]) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut at = rustix::fs::open(folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for (n, name) in names.iter().enumerate() {
        if name.contains('/') {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let kind = if n + 1 < names.len() { OFlags::DIRECTORY } else { OFlags::empty() };
        at = rustix::fs::openat(&at, *name, flags | kind, Mode::empty())?;
    }
    let file = File::from(at);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(file)
}

/// Overwrites the first bytes of a file that is there and long enough, in one write, without making or moving anything: what still works on a
/// full disk. The rest is filled with spaces. Errors: it is shorter than `bytes`, or the system's.
pub fn overwrite(path: &Path, bytes: &[u8]) -> Result<(), FsError> {
    let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut file = OpenOptions::new().write(true).custom_flags(flags).open(path).at("open", path)?;
    let size = usize::try_from(file.metadata().at("read", path)?.len()).unwrap_or(0);
    if size < bytes.len() {
        return Err(io::Error::new(io::ErrorKind::StorageFull, "it is too short")).at("overwrite", path);
    }
    let mut padded = bytes.to_vec();
    padded.resize(size, b' ');
    file.write_all(&padded).at("overwrite", path)
}

/// Tells if so little of the disk is left that the next batch of a drainer does not fit.
pub fn is_full(path: &Path) -> bool {
    /// Units: bytes.
    const LITTLE: u64 = 1024 * 1024;
    free_bytes(path).is_some_and(|free| free < LITTLE)
}
