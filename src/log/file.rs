//! The seam between the log and the disk: everything that touches a file goes through [`Disk`] and [`File`], so that
//! tests can make any of it fail.

use std::{
    fmt, fs,
    io::{self, IoSlice, IoSliceMut},
    num::NonZeroU64,
    os::{fd::BorrowedFd, unix::fs::FileExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use rustix::{
    fs::Advice,
    io::{Errno, ReadWriteFlags},
};

use super::{
    file_name,
    open_files::{Counted, OpenFiles},
};

/// Slices that one system call takes (`IOV_MAX` of Linux).
const SLICES_MAX: usize = 1024;

/// A small file that is larger than this is not one of ours.
const SMALL_FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A folder tree with files: the real one, or a double that fails on demand.
pub(crate) trait Disk: fmt::Debug + Send + Sync {
    /// Opens for reading and writing; makes the file if it is absent.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>>;
    /// Opens a file that was made before: one that is gone stays so.
    fn reopen(&self, path: &Path) -> io::Result<Arc<dyn File>>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Makes renames and new files in a folder durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Names of the entries of a folder that are valid UTF-8; the others cannot be ours.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;
    /// Where files are counted that may be closed while they are idle.
    fn open_files(&self) -> &Arc<OpenFiles>;

    /// The whole of a small file; `None` if it is absent.
    fn read_small(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        if !path.try_exists()? {
            return Ok(None);
        }
        let file = self.open(path)?;
        let len = file.len()?;
        if len > SMALL_FILE_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is too large"));
        }
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(Some(bytes))
    }

    /// Replaces a small file as a whole: a reader finds the old or the new content, never half of it.
    /// Without `durable` a power cut may leave it empty, for what can be rebuilt.
    fn replace(&self, path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
        let temporary = file_name::temporary(path);
        let write = || {
            let file = self.open(&temporary)?;
            file.truncate(0)?;
            file.write_all_at(&mut [IoSlice::new(bytes)], 0)?;
            if durable { file.sync() } else { Ok(()) }
        };
        write().inspect_err(|_| {
            // Half a file would take room on a disk that is full.
            let _ = self.remove(&temporary);
        })?;
        self.rename(&temporary, path)?;
        match path.parent() {
            Some(parent) if durable => self.sync_dir(parent),
            _ => Ok(()),
        }
    }
}

/// An open file. Shared: every access names its position.
pub(crate) trait File: fmt::Debug + Send + Sync {
    fn len(&self) -> io::Result<u64>;
    fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()>;
    /// Writes some of the slices and tells how many bytes.
    fn write_vectored_at(&self, slices: &[IoSlice<'_>], at: u64) -> io::Result<usize>;
    fn truncate(&self, len: u64) -> io::Result<()>;
    /// Takes room for so many bytes from the disk; what is beyond the end of the file reads as zeros.
    fn allocate(&self, bytes: u64) -> io::Result<()>;
    fn sync(&self) -> io::Result<()>;
    /// Sends up to `max` bytes to a socket without reading them, and tells how many: 0 at the end of the file.
    fn send_to(&self, socket: BorrowedFd<'_>, at: u64, max: usize) -> io::Result<usize>;
    /// Fills `bytes` if the page cache has them all; whether it did.
    fn read_cached_at(&self, bytes: &mut [u8], at: u64) -> io::Result<bool>;
    /// Has bytes read into the page cache soon, if the system likes to.
    fn prefetch(&self, at: u64, len: u64);

    /// Writes all, or fails with some of it written.
    fn write_all_at(&self, mut slices: &mut [IoSlice<'_>], mut at: u64) -> io::Result<()> {
        IoSlice::advance_slices(&mut slices, 0);
        while !slices.is_empty() {
            let now = slices.get(..SLICES_MAX).unwrap_or(slices);
            match self.write_vectored_at(now, at) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    at += written as u64;
                    IoSlice::advance_slices(&mut slices, written);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The machine's own disk.
#[derive(Debug)]
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        Ok(Arc::new(self.open_files().with_room(|| options.open(path))?))
    }

    fn reopen(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true);
        Ok(Arc::new(self.open_files().with_room(|| options.open(path))?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.open_files().with_room(|| fs::File::open(path))?.sync_all()
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in self.open_files().with_room(|| fs::read_dir(dir))? {
            names.extend(entry?.file_name().into_string().ok());
        }
        Ok(names)
    }

    fn open_files(&self) -> &Arc<OpenFiles> {
        OpenFiles::of_this_process()
    }
}

impl File for fs::File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        FileExt::read_exact_at(self, bytes, at)
    }

    fn write_vectored_at(&self, slices: &[IoSlice<'_>], at: u64) -> io::Result<usize> {
        Ok(rustix::io::pwritev(self, slices, at)?)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        match rustix::fs::fallocate(self, rustix::fs::FallocateFlags::empty(), 0, bytes) {
            // Not every file system can; as in Kafka the file is then only as long.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.set_len(bytes),
            other => Ok(other?),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn send_to(&self, socket: BorrowedFd<'_>, mut at: u64, max: usize) -> io::Result<usize> {
        Ok(rustix::fs::sendfile(socket, self, Some(&mut at), max)?)
    }

    fn read_cached_at(&self, bytes: &mut [u8], at: u64) -> io::Result<bool> {
        let wanted = bytes.len();
        let slices = &mut [IoSliceMut::new(bytes)];
        match rustix::io::preadv2(self, slices, at, ReadWriteFlags::NOWAIT) {
            Ok(read) => Ok(read == wanted),
            // Some file systems cannot tell.
            Err(Errno::AGAIN | Errno::OPNOTSUPP) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn prefetch(&self, at: u64, len: u64) {
        // A hint: without it the bytes are read when they are needed.
        let _ = rustix::fs::fadvise(self, at, NonZeroU64::new(len), Advice::WillNeed);
    }
}

/// A file that is opened when it is first used, and may be closed when it is idle: a node with thousands of partitions
/// holds open only what it works with. One that was taken away while it was closed is not made anew, empty, by whoever still
/// has it: reads would find nothing in it, and a folder that is being deleted would not become empty.
#[derive(Debug)]
pub(crate) struct LazyFile {
    disk: Arc<dyn Disk>,
    state: Arc<Mutex<LazyState>>,
}

#[derive(Debug)]
pub(super) struct LazyState {
    path: PathBuf,
    open: Option<OpenFile>,
    was_open: bool,
    /// Since [`OpenFiles`] has looked last.
    pub(super) used: bool,
    /// To [`OpenFiles`].
    pub(super) is_known: bool,
}

/// An open file, and its place among those that are counted.
#[derive(Debug)]
pub(super) struct OpenFile {
    file: Arc<dyn File>,
    _counted: Counted,
}

impl LazyState {
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Takes the file out to be closed, unless somebody works with it.
    pub(super) fn take_if_unheld(&mut self) -> Option<OpenFile> {
        self.open.take_if(|it| Arc::strong_count(&it.file) == 1)
    }
}

impl LazyFile {
    pub(crate) fn new(disk: &Arc<dyn Disk>, path: PathBuf) -> Self {
        let state = LazyState { path, open: None, was_open: false, used: false, is_known: false };
        Self { disk: Arc::clone(disk), state: Arc::new(Mutex::new(state)) }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.state.lock().path.clone()
    }

    pub(crate) fn get(&self) -> io::Result<Arc<dyn File>> {
        let mut state = self.state.lock();
        state.used = true;
        if let Some(open) = &state.open {
            return Ok(Arc::clone(&open.file));
        }
        let file = if state.was_open {
            self.disk.reopen(&state.path)?
        } else {
            self.disk.open(&state.path)?
        };
        state.was_open = true;
        let open_files = self.disk.open_files();
        state.open = Some(OpenFile { file: Arc::clone(&file), _counted: open_files.count() });
        if !std::mem::replace(&mut state.is_known, true) {
            open_files.note(&self.state);
        }
        drop(state);
        open_files.make_room();
        Ok(file)
    }

    /// Closes the file; running reads keep their handle.
    pub(crate) fn close(&self) {
        self.state.lock().open = None;
    }

    /// Renames the file; whoever opens it later finds it there.
    pub(crate) fn rename(&self, to: PathBuf) -> io::Result<()> {
        let mut state = self.state.lock();
        if state.path != to {
            self.disk.rename(&state.path, &to)?;
            state.path = to;
        }
        Ok(())
    }

    /// The folder of the file was renamed.
    pub(crate) fn moved_to(&self, dir: &Path) {
        let mut state = self.state.lock();
        if let Some(name) = state.path.file_name() {
            state.path = dir.join(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_gone_is_not_made_anew_by_whoever_has_had_it_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let file = LazyFile::new(&disk, path.clone());
        file.get().unwrap();
        assert!(path.exists(), "the first use makes it");
        file.close();
        fs::remove_file(&path).unwrap();
        assert_eq!(file.get().unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(!path.exists());
    }
}
