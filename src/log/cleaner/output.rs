//! A segment that is written anew. Its files end in `.cleaned` until they are whole and on disk.

use std::{io::IoSlice, sync::Arc};

use super::super::{
    Log, LogError,
    file::{Disk, File},
    file_name,
    segment::Segment,
};
use crate::{
    base::TimestampMs,
    wire::record_batch::{Batch, BatchHeader},
};

pub(super) struct CleanedSegment {
    disk: Arc<dyn Disk>,
    segment: Segment,
    /// Open until it is whole: another topic may have the folder's name by then.
    _files: Vec<Arc<dyn File>>,
    index_interval_bytes: u32,
    /// When the segments that it is made from were last written to.
    modified: TimestampMs,
    /// What comes next in the file, at most about `buffer_bytes`.
    buffer: Vec<u8>,
    buffer_bytes: usize,
}

impl CleanedSegment {
    /// An empty segment, for what is left of `group`.
    pub(super) fn create(
        log: &Log,
        group: &[Arc<Segment>],
        buffer_bytes: usize,
    ) -> Result<Self, LogError> {
        let base_offset = group.first().expect("a group has a segment").base_offset;
        let modified = group.iter().map(|it| it.times().modified).max().unwrap_or_default();
        // Under the lock: a folder that is being deleted must not get files meanwhile, or it does not become empty.
        let set = log.segment_set.lock();
        log.check_open(&log.writer.lock())?;
        let segment = Segment::named(
            &log.home().disk,
            &log.path(),
            base_offset,
            modified,
            file_name::CLEANED,
        );
        let files = segment.clear().inspect_err(|_| {
            segment.remove(log.home().disk.as_ref());
        })?;
        drop(set);
        Ok(Self {
            disk: Arc::clone(&log.home().disk),
            segment,
            _files: files,
            index_interval_bytes: log.settings.load().index_interval_bytes,
            modified,
            buffer: Vec::new(),
            buffer_bytes,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.segment.size() == 0 && self.buffer.is_empty()
    }

    /// # Errors
    ///
    /// [`LogError::Undecodable`] where the segment would be larger than positions can tell: what is left of a batch may need a few
    /// bytes more than it did.
    pub(super) fn push(&mut self, batch: &Batch) -> Result<(), LogError> {
        if self.buffer.len() + batch.bytes.len() > self.buffer_bytes {
            self.flush()?;
        }
        let position = self.segment.size() + self.buffer.len() as u64;
        if i32::try_from(position + batch.bytes.len() as u64).is_err() {
            return Err(self.outgrown(&batch.header));
        }
        self.segment.note(&batch.header, position, self.index_interval_bytes, self.modified);
        self.buffer.extend_from_slice(&batch.bytes);
        Ok(())
    }

    /// Writes everything, and takes care that it is on disk.
    pub(super) fn finish(&mut self) -> Result<(), LogError> {
        self.flush()?;
        self.segment.seal()?;
        self.segment.sync()
    }

    pub(super) fn into_segment(self) -> Arc<Segment> {
        Arc::new(self.segment)
    }

    /// Removes the files; what cannot be removed is removed by the next start.
    pub(super) fn discard(self) {
        self.segment.remove(self.disk.as_ref());
    }

    fn flush(&mut self) -> Result<(), LogError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.segment.write(&mut [IoSlice::new(&self.buffer)]).map_err(|(failed, _)| failed)?;
        self.segment.set_size(self.segment.size() + self.buffer.len() as u64);
        self.buffer.clear();
        Ok(())
    }

    fn outgrown(&self, header: &BatchHeader) -> LogError {
        LogError::Undecodable {
            offset: header.base_offset,
            segment: self.segment.log.path(),
            reason: "the segment would outgrow its limit".into(),
        }
    }
}
