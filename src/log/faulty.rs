//! A disk that fails on demand, over the real one. Every operation is counted, so that each in turn can be the one that fails.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    io::{self, IoSlice},
    os::fd::BorrowedFd,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use rustix::io::Errno;
use tokio::sync::Notify;

use super::file::{Disk, File, RealDisk};

/// How one operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is refused.
    Refused(Errno),
    /// Of a write, half is done, and the disk takes nothing more of it. Any other operation is refused.
    Short,
    /// The process ends in it, half of a write being done: nothing that comes later reaches the disk.
    Crash,
}

/// What fails; shared by the disk and its files.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Bytes that may be written to `.log` files before the disk is full; `usize::MAX` for no end.
    room: AtomicUsize,
    /// A single write takes at most this many bytes (0: any number).
    short_write: AtomicUsize,
    fsync_fails: AtomicBool,
    truncate_fails: AtomicBool,
    /// No file can be opened any more.
    out_of_files: AtomicBool,
    /// Files open now, and most at a time.
    open: AtomicUsize,
    most_open: AtomicUsize,
    /// Bytes read.
    read: AtomicUsize,
    /// An fsync of a `.log` waits until this is false; the other tells of one that has begun.
    held: Mutex<bool>,
    released: Condvar,
    fsync_began: Notify,
    /// What was fsynced.
    synced: Mutex<Vec<PathBuf>>,
    /// Operations so far, and which of them fails.
    operations: AtomicUsize,
    planned: Mutex<Option<(usize, Fault)>>,
    /// What a power cut would leave.
    durable: Mutex<Durable>,
}

/// Bytes of each `.log` that were fsynced, and files whose folder was not fsynced since they were made.
#[derive(Debug, Default)]
struct Durable {
    lengths: BTreeMap<PathBuf, u64>,
    nameless: BTreeSet<PathBuf>,
}

impl Durable {
    /// What is known of a file, or of all in a folder, is known of its new name.
    fn rename(&mut self, from: &Path, to: &Path) {
        let renamed = |path: &PathBuf| {
            let rest = path.strip_prefix(from).ok()?;
            Some(if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) })
        };
        let moved = |path: PathBuf| renamed(&path).unwrap_or(path);
        self.lengths =
            std::mem::take(&mut self.lengths).into_iter().map(|(it, at)| (moved(it), at)).collect();
        self.nameless = std::mem::take(&mut self.nameless).into_iter().map(moved).collect();
    }
}

impl Faults {
    pub(crate) fn none() -> Arc<Self> {
        Arc::new(Self { room: AtomicUsize::new(usize::MAX), ..Self::default() })
    }

    /// The operation of this number, from 0, fails.
    pub(crate) fn at(operation: usize, fault: Fault) -> Arc<Self> {
        let faults = Self::none();
        *faults.planned.lock().unwrap() = Some((operation, fault));
        faults
    }

    /// So does the next one.
    pub(crate) fn fail_next(&self, fault: Fault) {
        self.fail_after(0, fault);
    }

    /// So does the one after so many more.
    pub(crate) fn fail_after(&self, operations: usize, fault: Fault) {
        *self.planned.lock().unwrap() = Some((self.operations() + operations, fault));
    }

    pub(crate) fn fail_no_more(&self) {
        *self.planned.lock().unwrap() = None;
    }

    /// Whether fsyncs of records stand still.
    pub(crate) fn hold_fsyncs(&self, are_held: bool) {
        *self.held.lock().unwrap() = are_held;
        self.released.notify_all();
    }

    /// Waits until an fsync of records has begun.
    pub(crate) async fn fsync_began(&self) {
        self.fsync_began.notified().await;
    }

    pub(crate) fn operations(&self) -> usize {
        self.operations.load(Ordering::Relaxed)
    }

    pub(crate) fn fill_disk_after(&self, bytes: usize) {
        self.room.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn shorten_writes_to(&self, bytes: usize) {
        self.short_write.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn fail_fsync(&self) {
        self.fsync_fails.store(true, Ordering::Relaxed);
    }

    pub(crate) fn run_out_of_files(&self, is_out: bool) {
        self.out_of_files.store(is_out, Ordering::Relaxed);
    }

    /// Most files that were open at a time since the last call.
    pub(crate) fn take_most_open(&self) -> usize {
        self.most_open.swap(self.open.load(Ordering::Relaxed), Ordering::Relaxed)
    }

    /// Bytes that were read since the last call.
    pub(crate) fn take_read(&self) -> usize {
        self.read.swap(0, Ordering::Relaxed)
    }

    /// What was fsynced since the last call.
    pub(crate) fn take_synced(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.synced.lock().unwrap())
    }

    pub(crate) fn fail_truncate(&self) {
        self.truncate_fails.store(true, Ordering::Relaxed);
    }

    /// Takes from the disk what no fsync has brought there: records, and segments whose names it does not know.
    pub(crate) fn cut_the_power(&self) {
        let durable = self.durable.lock().unwrap();
        for (path, &length) in &durable.lengths {
            let Ok(file) = std::fs::OpenOptions::new().write(true).open(path) else { continue };
            if durable.nameless.contains(path) {
                std::fs::remove_file(path).unwrap();
            } else if file.metadata().unwrap().len() > length {
                file.set_len(length).unwrap();
            }
        }
    }

    /// Counts an operation. `Ok(true)`: it is to be half done.
    fn step(&self) -> io::Result<bool> {
        let operation = self.operations.fetch_add(1, Ordering::Relaxed);
        match *self.planned.lock().unwrap() {
            Some((at, fault)) if at == operation => match fault {
                Fault::Refused(errno) => Err(errno.into()),
                Fault::Short | Fault::Crash => Ok(true),
            },
            Some((at, Fault::Crash)) if at < operation => Err(Errno::IO.into()),
            _ => Ok(false),
        }
    }

    /// Counts an operation that is done as a whole or not at all.
    fn whole_step(&self) -> io::Result<()> {
        if self.step()? { Err(Errno::NOSPC.into()) } else { Ok(()) }
    }

    /// What is left of a write that was cut short is refused.
    fn refuse_the_rest(&self) {
        let mut planned = self.planned.lock().unwrap();
        if let Some((at, Fault::Short)) = *planned {
            *planned = Some((at + 1, Fault::Refused(Errno::NOSPC)));
        }
    }
}

#[derive(Debug)]
pub(crate) struct FaultyDisk(pub(crate) Arc<Faults>);

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
    if fails.load(Ordering::Relaxed) { Err(Errno::IO.into()) } else { Ok(()) }
}

impl FaultyDisk {
    fn check_files(&self) -> io::Result<()> {
        let is_out = self.0.out_of_files.load(Ordering::Relaxed);
        if is_out { Err(Errno::MFILE.into()) } else { Ok(()) }
    }

    fn over(&self, file: Arc<dyn File>, path: &Path) -> FaultyFile {
        let now = self.0.open.fetch_add(1, Ordering::Relaxed) + 1;
        self.0.most_open.fetch_max(now, Ordering::Relaxed);
        let is_log = path.extension().is_some_and(|it| it == "log");
        FaultyFile { file, faults: Arc::clone(&self.0), path: path.to_owned(), is_log }
    }
}

impl Drop for FaultyFile {
    fn drop(&mut self) {
        self.faults.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Disk for FaultyDisk {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.check_files()?;
        self.0.whole_step()?;
        let is_new = !path.exists();
        let file = self.over(RealDisk.open(path)?, path);
        if file.is_log {
            let mut durable = self.0.durable.lock().unwrap();
            durable.lengths.entry(path.to_owned()).or_insert(file.file.len()?);
            if is_new {
                durable.nameless.insert(path.to_owned());
            }
        }
        Ok(Arc::new(file))
    }

    fn reopen(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.check_files()?;
        self.0.whole_step()?;
        Ok(Arc::new(self.over(RealDisk.reopen(path)?, path)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.whole_step()?;
        RealDisk.rename(from, to)?;
        self.0.durable.lock().unwrap().rename(from, to);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.whole_step()?;
        RealDisk.remove(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.0.whole_step()?;
        RealDisk.remove_dir_all(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.0.whole_step()?;
        RealDisk.create_dir_all(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.check_files()?;
        self.0.whole_step()?;
        failing(&self.0.fsync_fails)?;
        self.0.durable.lock().unwrap().nameless.retain(|it| it.parent() != Some(path));
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.0.whole_step()?;
        RealDisk.list(dir)
    }
}

impl FaultyFile {
    /// Writes at most so many bytes.
    fn write_some(&self, slices: &[IoSlice<'_>], limit: usize, at: u64) -> io::Result<usize> {
        let bytes: Vec<u8> = slices.iter().flat_map(|it| it.iter().copied()).take(limit).collect();
        self.file.write_vectored_at(&[IoSlice::new(&bytes)], at)
    }
}

impl File for FaultyFile {
    fn len(&self) -> io::Result<u64> {
        self.faults.whole_step()?;
        self.file.len()
    }

    fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.faults.whole_step()?;
        self.faults.read.fetch_add(bytes.len(), Ordering::Relaxed);
        self.file.read_exact_at(bytes, at)
    }

    fn write_vectored_at(&self, slices: &[IoSlice<'_>], at: u64) -> io::Result<usize> {
        if self.faults.step()? {
            self.faults.refuse_the_rest();
            let half = slices.iter().map(|it| it.len()).sum::<usize>() / 2;
            return self.write_some(slices, half, at);
        }
        if !self.is_log {
            return self.file.write_vectored_at(slices, at);
        }
        let room = self.faults.room.load(Ordering::Relaxed);
        let limit = match self.faults.short_write.load(Ordering::Relaxed) {
            0 => room,
            short => room.min(short),
        };
        if limit == 0 {
            return Err(Errno::NOSPC.into());
        }
        let written = self.write_some(slices, limit, at)?;
        if room != usize::MAX {
            self.faults.room.store(room - written, Ordering::Relaxed);
        }
        Ok(written)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.faults.whole_step()?;
        failing(&self.faults.truncate_fails)?;
        self.file.truncate(len)
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        self.faults.whole_step()?;
        self.file.allocate(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.faults.whole_step()?;
        if self.is_log {
            self.faults.fsync_began.notify_one();
            let held = self.faults.held.lock().unwrap();
            drop(self.faults.released.wait_while(held, |it| *it).unwrap());
        }
        failing(&self.faults.fsync_fails)?;
        self.faults.synced.lock().unwrap().push(self.path.clone());
        if self.is_log {
            let length = self.file.len()?;
            self.faults.durable.lock().unwrap().lengths.insert(self.path.clone(), length);
        }
        Ok(())
    }

    fn send_to(&self, socket: BorrowedFd<'_>, at: u64, max: usize) -> io::Result<usize> {
        self.faults.whole_step()?;
        self.file.send_to(socket, at, max)
    }

    fn read_cached_at(&self, bytes: &mut [u8], at: u64) -> io::Result<bool> {
        self.file.read_cached_at(bytes, at)
    }

    fn prefetch(&self, at: u64, len: u64) {
        self.file.prefetch(at, len);
    }
}
