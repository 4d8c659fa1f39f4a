//! Sorted entries of a fixed size in a file, searched by position. What it says is a hint to where a scan begins; an
//! entry that could not be written costs a longer scan, never a record.

use std::{
    io::{self, IoSlice},
    sync::atomic::{AtomicU64, Ordering},
};

use parking_lot::Mutex;

use super::file::LazyFile;

/// A search reads its last so many entries at once.
const WINDOW_ENTRIES: u64 = 512;

/// A file of entries of `N` bytes. One writer, any number of readers.
#[derive(Debug)]
pub(super) struct IndexFile<const N: usize> {
    file: LazyFile,
    /// Entries that readers may see.
    entries: AtomicU64,
    /// The last of them, if this has written it.
    newest: Mutex<Option<[u8; N]>>,
}

impl<const N: usize> IndexFile<N> {
    /// An index with no entries yet known; [`IndexFile::load`] looks at the file.
    pub(super) fn new(file: LazyFile) -> Self {
        Self { file, entries: AtomicU64::new(0), newest: Mutex::new(None) }
    }

    pub(super) fn file(&self) -> &LazyFile {
        &self.file
    }

    pub(super) fn entries(&self) -> u64 {
        self.entries.load(Ordering::Acquire)
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.entries() * N as u64
    }

    /// Takes over what the file holds. `false` if it is no whole number of entries.
    pub(super) fn load(&self) -> io::Result<bool> {
        if !self.file.path().exists() {
            return Ok(true);
        }
        let len = self.file.get()?.len()?;
        *self.newest.lock() = None;
        self.entries.store(len / N as u64, Ordering::Release);
        Ok(len % N as u64 == 0)
    }

    pub(super) fn append(&self, entry: [u8; N]) -> io::Result<()> {
        let entries = self.entries();
        self.file.get()?.write_all_at(&mut [IoSlice::new(&entry)], entries * N as u64)?;
        *self.newest.lock() = Some(entry);
        self.entries.store(entries + 1, Ordering::Release);
        Ok(())
    }

    /// Forgets all entries. They stay in the file until others are written over them or [`IndexFile::cut`] is called.
    pub(super) fn forget(&self) {
        *self.newest.lock() = None;
        self.entries.store(0, Ordering::Release);
    }

    /// Cuts what a failed append may have left behind the last entry. No append may be under way.
    pub(super) fn cut(&self) -> io::Result<()> {
        if self.entries() == 0 && !self.file.path().exists() {
            return Ok(());
        }
        self.file.get()?.truncate(self.entries() * N as u64)
    }

    /// fsyncs what was written.
    pub(super) fn sync(&self) -> io::Result<()> {
        if self.entries() == 0 && !self.file.path().exists() {
            return Ok(());
        }
        self.file.get()?.sync()
    }

    pub(super) fn last(&self) -> io::Result<Option<[u8; N]>> {
        let newest = *self.newest.lock();
        match (newest, self.entries().checked_sub(1)) {
            (None, Some(last)) => self.entry(last).map(Some),
            (newest, _) => Ok(newest),
        }
    }

    /// The last entry for which `holds` is true, given that it is true for a first part of the entries only.
    pub(super) fn find_last(
        &self,
        holds: impl Fn(&[u8; N]) -> bool,
    ) -> io::Result<Option<[u8; N]>> {
        let (mut low, mut high) = (0, self.entries());
        while high - low > WINDOW_ENTRIES {
            let middle = low + (high - low) / 2;
            if holds(&self.entry(middle)?) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let window = self.window(low, high - low)?;
        Ok(window.into_iter().take_while(holds).last())
    }

    /// All entries, for a walk that is about to build them anew.
    pub(super) fn all(&self) -> io::Result<Vec<[u8; N]>> {
        self.window(0, self.entries())
    }

    pub(super) fn first(&self) -> io::Result<Option<[u8; N]>> {
        if self.entries() == 0 { Ok(None) } else { self.entry(0).map(Some) }
    }

    fn entry(&self, at: u64) -> io::Result<[u8; N]> {
        let mut entry = [0; N];
        self.file.get()?.read_exact_at(&mut entry, at * N as u64)?;
        Ok(entry)
    }

    fn window(&self, from: u64, count: u64) -> io::Result<Vec<[u8; N]>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut bytes = vec![0; count as usize * N];
        self.file.get()?.read_exact_at(&mut bytes, from * N as u64)?;
        Ok(bytes.as_chunks::<N>().0.to_vec())
    }
}
