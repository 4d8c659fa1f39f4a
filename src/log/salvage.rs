//! What lies behind a damaged batch. Whole batches there are kept, in a segment of their own behind a gap in the offsets; what
//! may hold others is set aside for a person.
//!
//! Rule: a batch is looked for only where one was written: where the damaged one says that it ends, and where the index has an
//! entry. A search byte by byte would find what a producer put into a record's value.

use std::{
    io::{self, IoSlice},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    LogError,
    cursor::{Located, SCAN_WINDOW_BYTES},
    file::{Disk, File},
    file_name,
    offset_index::OffsetPosition,
    segment::Segment,
};
use crate::{
    base::Offset,
    wire::record_batch::{BatchHeader, HEADER_BYTES},
};

/// A place in a segment where no good batch begins.
pub(super) struct Damage<'a> {
    pub(super) segment: &'a Segment,
    pub(super) position: u64,
    /// The offset after the last good record.
    pub(super) expected: Offset,
    /// Where the next segment begins.
    pub(super) next_base: Option<Offset>,
    /// Those of the segment's offset index, as it was found.
    pub(super) entries: &'a [OffsetPosition],
}

impl Damage<'_> {
    /// The first whole batch behind it.
    pub(super) fn next_good(&self) -> Result<Option<Located>, LogError> {
        let header = self.header()?;
        let claimed_end = BatchHeader::parse(&header).ok().map(|it| it.size_bytes() as u64);
        let indexed = self.entries.iter().map(|it| it.position).filter(|it| *it > self.position);
        for position in claimed_end.map(|it| self.position + it).into_iter().chain(indexed) {
            if let Some(found) = self.good_at(position)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Whether it is what a crash leaves: a batch that was not written to its end, or zeros that the file system put there. The
    /// index then knows of nothing behind it in the file.
    pub(super) fn is_torn(&self) -> Result<bool, LogError> {
        let header = self.header()?;
        let left = self.segment.size() - self.position;
        let unfinished = BatchHeader::parse(&header).is_ok_and(|it| it.size_bytes() as u64 > left);
        let looks_torn =
            unfinished || left < HEADER_BYTES as u64 || header.iter().all(|&it| it == 0);
        let is_behind =
            |it: &OffsetPosition| it.position > self.position && it.position < self.segment.size();
        Ok(looks_torn && !self.entries.iter().any(is_behind))
    }

    /// Whether it is room that a preallocated segment has not used yet.
    pub(super) fn is_unused(&self) -> Result<bool, LogError> {
        let is_last =
            self.next_base.is_none() && self.entries.iter().all(|it| it.position < self.position);
        Ok(is_last && self.header()?.iter().all(|&it| it == 0))
    }

    /// As much of a header as there is.
    fn header(&self) -> Result<Vec<u8>, LogError> {
        let left = usize::try_from(self.segment.size() - self.position).unwrap_or(usize::MAX);
        let mut bytes = vec![0; left.min(HEADER_BYTES)];
        let read =
            self.segment.log.get().and_then(|it| it.read_exact_at(&mut bytes, self.position));
        read.map_err(LogError::storage("read", &self.segment.log.path()))?;
        Ok(bytes)
    }

    fn good_at(&self, position: u64) -> Result<Option<Located>, LogError> {
        let mut cursor = self.segment.cursor_from(position, self.expected, SCAN_WINDOW_BYTES)?;
        let is_before =
            |it: &Located| self.next_base.is_none_or(|next| it.header.last_offset() < next);
        Ok(cursor.next_whole()?.filter(is_before))
    }
}

/// Copies a part of a segment that is about to be cut off, for a person to look at.
pub(super) fn set_aside(
    disk: &dyn Disk,
    segment: &Segment,
    part: Range<u64>,
) -> Result<PathBuf, LogError> {
    let aside = file_name::damaged(&segment.log.path(), part.start);
    copy(disk, segment, part, &aside).map_err(LogError::storage("set aside as", &aside))?;
    Ok(aside)
}

/// Makes a segment of what follows a good batch, that one included. After a crash in between, both hold it, and the new one
/// is believed.
pub(super) fn split_off(
    disk: &dyn Disk,
    dir: &Path,
    segment: &Segment,
    first: &Located,
) -> Result<(), LogError> {
    let path = dir.join(file_name::of(first.header.base_offset, file_name::LOG));
    let temporary = file_name::temporary(&path);
    copy(disk, segment, first.position..segment.size(), &temporary)
        .and_then(|()| disk.rename(&temporary, &path))
        .and_then(|()| disk.sync_dir(dir))
        .map_err(LogError::storage("write", &path))
}

fn copy(disk: &dyn Disk, segment: &Segment, part: Range<u64>, to: &Path) -> io::Result<()> {
    let (from, to): (Arc<dyn File>, _) = (segment.log.get()?, disk.open(to)?);
    to.truncate(0)?;
    let mut window = vec![0; SCAN_WINDOW_BYTES];
    for at in part.clone().step_by(SCAN_WINDOW_BYTES) {
        window.truncate(usize::try_from(part.end - at).unwrap_or(usize::MAX));
        from.read_exact_at(&mut window, at)?;
        to.write_all_at(&mut [IoSlice::new(&window)], at - part.start)?;
    }
    to.sync()
}
