//! Whole batches by where they lie in their file, to be read later, or sent without being read.
//!
//! Rule: a slice costs no memory and does not wait for the disk to be made. It holds its file open, so that neither
//! retention nor deletion takes away what is on its way to a reader. A file that has become shorter than the slice is an
//! error, and nothing stands in for what is missing. A disk that fails under a slice takes its directory offline.

use std::{io, os::fd::BorrowedFd, sync::Arc};

use bytes::Bytes;
use rustix::io::Errno;

use super::{
    LogError,
    file::File,
    health::{Health, is_of_the_device},
    segment::Segment,
};

/// What the page cache is asked about at a time: as far apart as the system reads ahead by default.
const SAMPLE_BYTES: usize = 128 * 1024;

/// How far apart bytes are read to have all between them loaded.
const TOUCH_BYTES: usize = 16 * 1024;

/// What a reader finds loaded that comes back for more.
const AHEAD_BYTES: u64 = 4 * 1024 * 1024;

#[derive(Clone, Debug)]
pub struct LogSlice {
    file: Arc<dyn File>,
    position: u64,
    len: usize,
    segment: Arc<Segment>,
    health: Arc<Health>,
}

impl LogSlice {
    pub(super) fn new(
        segment: &Arc<Segment>,
        health: &Arc<Health>,
        file: Arc<dyn File>,
        position: u64,
        len: usize,
    ) -> Self {
        let (segment, health) = (Arc::clone(segment), Arc::clone(health));
        Self { file, position, len, segment, health }
    }

    /// Bytes, of which there is at least one batch.
    #[expect(clippy::len_without_is_empty, reason = "a slice is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// All of it, in memory.
    pub fn read(&self) -> io::Result<Bytes> {
        let mut bytes = vec![0; self.len];
        self.read_at(0, &mut bytes)?;
        Ok(bytes.into())
    }

    /// Fills `bytes` from `skip` bytes into the slice, which must hold as many.
    pub fn read_at(&self, skip: usize, bytes: &mut [u8]) -> io::Result<()> {
        self.told("read", self.file.read_exact_at(bytes, self.position + skip as u64))
    }

    /// Sends up to `max` bytes from `skip` bytes into the slice by sendfile(2), and tells how many: 0 where the file has
    /// become shorter. On a socket that does not block it waits for the disk alone: see [`LogSlice::is_cached`].
    pub fn send_to(&self, socket: BorrowedFd<'_>, skip: usize, max: usize) -> io::Result<usize> {
        let sent = self.file.send_to(socket, self.position + skip as u64, max.min(self.len - skip));
        self.told("send", sent)
    }

    /// Whether `len` bytes from `skip` on are in the page cache, as far as samples tell. A wrong yes costs a wait for the
    /// disk, a wrong no the way to a thread that may wait.
    pub fn is_cached(&self, skip: usize, len: usize) -> bool {
        let end = (skip + len).min(self.len);
        // Where more follows, the next look begins there.
        let last = end.checked_sub(1).filter(|_| end == self.len);
        let mut samples = (skip..end).step_by(SAMPLE_BYTES).chain(last);
        samples.all(|it| {
            let cached = self.file.read_cached_at(&mut [0], self.position + it as u64);
            cached.unwrap_or(false)
        })
    }

    /// Has all of it read into the page cache soon.
    pub fn prefetch(&self) {
        self.file.prefetch(self.position, self.len as u64);
    }

    /// Waits until `len` bytes from `skip` on are in the page cache, and asks for what lies behind: who reads what is not
    /// there most often reads on.
    pub fn load(&self, skip: usize, len: usize) -> io::Result<()> {
        let end = (skip + len).min(self.len);
        self.file.prefetch(self.position + skip as u64, AHEAD_BYTES);
        let touched = (skip..end).step_by(TOUCH_BYTES).chain(end.checked_sub(1));
        for skip in touched {
            self.read_at(skip, &mut [0])?;
        }
        Ok(())
    }

    /// Failures of the device alone: sendfile(2) fails for its socket too.
    fn told<T>(&self, action: &'static str, done: io::Result<T>) -> io::Result<T> {
        done.inspect_err(|error| {
            if let Some(errno) = Errno::from_io_error(error).filter(|_| is_of_the_device(error)) {
                let failure = LogError::storage(action, &self.segment.log.path())(errno.into());
                self.health.take_offline(&failure);
            }
        })
    }
}
