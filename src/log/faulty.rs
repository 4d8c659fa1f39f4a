//! A disk that fails on demand, over the real one.

use std::{
    fmt,
    io::{self, IoSlice},
    os::fd::BorrowedFd,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use super::file::{Disk, File, RealDisk};

/// What fails; shared by the disk and its files.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// Bytes that may be written to `.log` files before the disk is full; `usize::MAX` for no end.
    room: AtomicUsize,
    /// A single write takes at most this many bytes (0: any number).
    short_write: AtomicUsize,
    fsync_fails: AtomicBool,
    truncate_fails: AtomicBool,
    /// No file can be opened any more.
    out_of_files: AtomicBool,
    /// Bytes read.
    read: AtomicUsize,
    /// What was fsynced.
    synced: Mutex<Vec<PathBuf>>,
}

impl Faults {
    pub(super) fn none() -> Arc<Self> {
        Arc::new(Self { room: AtomicUsize::new(usize::MAX), ..Self::default() })
    }

    pub(super) fn fill_disk_after(&self, bytes: usize) {
        self.room.store(bytes, Ordering::Relaxed);
    }

    pub(super) fn shorten_writes_to(&self, bytes: usize) {
        self.short_write.store(bytes, Ordering::Relaxed);
    }

    pub(super) fn fail_fsync(&self) {
        self.fsync_fails.store(true, Ordering::Relaxed);
    }

    pub(super) fn run_out_of_files(&self, is_out: bool) {
        self.out_of_files.store(is_out, Ordering::Relaxed);
    }

    /// Bytes that were read since the last call.
    pub(super) fn take_read(&self) -> usize {
        self.read.swap(0, Ordering::Relaxed)
    }

    /// What was fsynced since the last call.
    pub(super) fn take_synced(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.synced.lock().unwrap())
    }

    pub(super) fn fail_truncate(&self) {
        self.truncate_fails.store(true, Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub(super) struct FaultyDisk(pub(super) Arc<Faults>);

struct FaultyFile {
    file: Arc<dyn File>,
    faults: Arc<Faults>,
    path: PathBuf,
    is_log: bool,
}

impl fmt::Debug for FaultyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FaultyFile")
    }
}

fn failing(fails: &AtomicBool) -> io::Result<()> {
    if fails.load(Ordering::Relaxed) { Err(io::Error::other("as ordered")) } else { Ok(()) }
}

impl FaultyDisk {
    fn check_files(&self) -> io::Result<()> {
        let is_out = self.0.out_of_files.load(Ordering::Relaxed);
        if is_out { Err(rustix::io::Errno::MFILE.into()) } else { Ok(()) }
    }
}

impl Disk for FaultyDisk {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.check_files()?;
        Ok(Arc::new(FaultyFile {
            file: RealDisk.open(path)?,
            faults: Arc::clone(&self.0),
            path: path.to_owned(),
            is_log: path.extension().is_some_and(|it| it == "log"),
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_dir_all(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_dir_all(path)
    }

    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        self.check_files()?;
        failing(&self.0.fsync_fails)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(dir)
    }
}

impl File for FaultyFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.faults.read.fetch_add(bytes.len(), Ordering::Relaxed);
        self.file.read_exact_at(bytes, at)
    }

    fn write_vectored_at(&self, slices: &[IoSlice<'_>], at: u64) -> io::Result<usize> {
        if !self.is_log {
            return self.file.write_vectored_at(slices, at);
        }
        let room = self.faults.room.load(Ordering::Relaxed);
        let limit = match self.faults.short_write.load(Ordering::Relaxed) {
            0 => room,
            short => room.min(short),
        };
        if limit == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let bytes: Vec<u8> = slices.iter().flat_map(|it| it.iter().copied()).take(limit).collect();
        let written = self.file.write_vectored_at(&[IoSlice::new(&bytes)], at)?;
        if room != usize::MAX {
            self.faults.room.store(room - written, Ordering::Relaxed);
        }
        Ok(written)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        failing(&self.faults.truncate_fails)?;
        self.file.truncate(len)
    }

    fn sync(&self) -> io::Result<()> {
        failing(&self.faults.fsync_fails)?;
        self.faults.synced.lock().unwrap().push(self.path.clone());
        Ok(())
    }

    fn send_to(&self, socket: BorrowedFd<'_>, at: u64, max: usize) -> io::Result<usize> {
        self.file.send_to(socket, at, max)
    }

    fn read_cached_at(&self, bytes: &mut [u8], at: u64) -> io::Result<bool> {
        self.file.read_cached_at(bytes, at)
    }

    fn prefetch(&self, at: u64, len: u64) {
        self.file.prefetch(at, len);
    }
}
