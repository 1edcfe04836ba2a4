//! How Tantivy sees its directory: ours, not its own, for readers and for the writer.
//!
//! Tantivy's directory takes a blocking lock file when a reader opens, which a reader must neither wait for nor create (D9), and makes
//! files with the process's umask. Locks are granted here without touching the disk: the drain lock keeps writers
//! apart, and a reader that loses a file to the clean-up opens again.

use crate::fs;
use crate::step::{Did, did, step};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};

/// The name of Tantivy's list of segments.
pub(super) const META: &str = "meta.json";

fn granted() -> DirectoryLock {
    DirectoryLock::from(Box::new(()))
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "a reader writes nothing")
}

/// A directory that is only read: no lock, no write, no watch.
#[derive(Debug, Clone)]
pub(super) struct ReadDirectory {
    inner: MmapDirectory,
    /// The meta file as it was first read. Tantivy asks for it again and again, and all answers must be of one commit.
    meta: Arc<OnceLock<Vec<u8>>>,
    /// The list of files that a writer manages; of use only to the check of their sums.
    managed: bool,
}

impl ReadDirectory {
    /// Opens it for searching.
    pub(super) fn open(path: &Path) -> Result<Self, tantivy::TantivyError> {
        Ok(Self { inner: MmapDirectory::open(path)?, meta: Arc::default(), managed: false })
    }
}

impl Directory for ReadDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_path_buf() })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_path_buf() })
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        if !self.managed && path == Path::new(".managed.json") {
            // A reader deletes nothing, so it need not know: one read less for each hook.
            return Err(OpenReadError::FileDoesNotExist(path.to_path_buf()));
        }
        if path != Path::new(META) {
            return self.inner.atomic_read(path);
        }
        if let Some(meta) = self.meta.get() {
            return Ok(meta.clone());
        }
        let meta = self.inner.atomic_read(path)?;
        Ok(self.meta.get_or_init(|| meta).clone())
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Err(read_only())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(granted())
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// A file being written, whose last write and sync are a step.
struct Stepped(Box<dyn TerminatingWrite + Send + Sync>);

impl Write for Stepped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for Stepped {
    fn terminate_ref(&mut self, token: AntiCallToken) -> io::Result<()> {
        step("index::sync")?;
        self.0.terminate_ref(token)
    }
}

/// The writer's directory: files of mode 0600, a kill point at each durable step.
#[derive(Debug, Clone)]
pub(super) struct WriteDirectory {
    inner: MmapDirectory,
    root: PathBuf,
}

impl WriteDirectory {
    /// Opens a directory that exists.
    pub(super) fn open(path: &Path) -> Result<Self, tantivy::TantivyError> {
        Ok(Self { inner: MmapDirectory::open(path)?, root: path.to_path_buf() })
    }
}

impl Directory for WriteDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let failed =
            |e: io::Error| DeleteError::IoError { io_error: Arc::new(e), filepath: path.to_path_buf() };
        step("index::remove").map_err(failed)?;
        self.inner.delete(path)?;
        did(Did::Remove(&self.root.join(path)));
        Ok(())
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let failed =
            |e: io::Error| OpenWriteError::IoError { io_error: Arc::new(e), filepath: path.to_path_buf() };
        step("index::create").map_err(failed)?;
        let file = match self.inner.open_write(path) {
            // 1. A commit writes `….42.del`. 2. The process dies before the meta file that names it. 3. The next one counts
            // on from the commit before and comes to 42 again. No meta file names what is about to be written, so
            // what lies there is an orphan.
            Err(OpenWriteError::FileAlreadyExists(_)) => {
                fs::remove(&self.root.join(path)).map_err(|e| failed(e.source))?;
                self.inner.open_write(path)
            }
            opened => opened,
        }?;
        // Still empty: nobody can have read anything of it.
        let full = self.root.join(path);
        std::fs::set_permissions(&full, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        did(Did::Create(&full));
        let inner = file.into_inner().map_err(|e| failed(e.into_error()))?;
        Ok(recorded(WritePtr::new(Box::new(Stepped(inner))), full))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.inner.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        step("index::replace")?;
        self.inner.atomic_write(path, data)?;
        did(Did::Replace(&self.root.join(path)));
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        step("index::sync_dir")?;
        self.inner.sync_directory()?;
        did(Did::SyncDir(&self.root));
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(granted())
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// Tells the recorder what a file held when it was whole and synced.
struct Recorded {
    inner: WritePtr,
    path: PathBuf,
}

/// Only with kill points is there a recorder: without them the file is as it was.
fn recorded(file: WritePtr, path: PathBuf) -> WritePtr {
    if cfg!(feature = "failpoints") {
        WritePtr::with_capacity(0, Box::new(Recorded { inner: file, path }))
    } else {
        file
    }
}

impl Write for Recorded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl TerminatingWrite for Recorded {
    fn terminate_ref(&mut self, token: AntiCallToken) -> io::Result<()> {
        self.inner.terminate_ref(token)?;
        did(Did::Write(&self.path));
        did(Did::Sync(&self.path));
        Ok(())
    }
}
