//! A disk whose process is killed after so many changes: what was done stays, and nothing more is done.

use std::{
    io::{self, IoSlice},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::log::file::{Disk, File, RealDisk};

/// Shared by the disk and its files.
#[derive(Debug)]
pub(super) struct Life(AtomicUsize);

#[derive(Debug)]
pub(super) struct MortalDisk(pub(super) Arc<Life>);

#[derive(Debug)]
struct MortalFile {
    file: Arc<dyn File>,
    life: Arc<Life>,
}

impl Life {
    pub(super) fn without_end() -> Arc<Self> {
        Arc::new(Self(AtomicUsize::new(usize::MAX)))
    }

    /// So many changes are left.
    pub(super) fn end_after(&self, changes: usize) {
        self.0.store(changes, Ordering::Relaxed);
    }

    fn step(&self) -> io::Result<()> {
        let left = self.0.load(Ordering::Relaxed);
        if left == 0 {
            return Err(io::Error::other("the process is no more"));
        }
        if left != usize::MAX {
            self.0.store(left - 1, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Disk for MortalDisk {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        if !path.exists() {
            self.0.step()?;
        }
        Ok(Arc::new(MortalFile { file: RealDisk.open(path)?, life: Arc::clone(&self.0) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.step()?;
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.step()?;
        RealDisk.remove(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.0.step()?;
        RealDisk.remove_dir_all(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.0.step()?;
        RealDisk.create_dir_all(path)
    }

    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        self.0.step()
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(dir)
    }
}

impl File for MortalFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, at)
    }

    fn write_vectored_at(&self, slices: &[IoSlice<'_>], at: u64) -> io::Result<usize> {
        self.life.step()?;
        self.file.write_vectored_at(slices, at)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.life.step()?;
        self.file.truncate(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.life.step()
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        self.life.step()?;
        self.file.allocate(bytes)
    }
}
