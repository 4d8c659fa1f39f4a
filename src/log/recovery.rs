//! From files to state. A log that was closed cleanly is believed as far as it is plausible; of any other, every batch
//! from the recovery point on is checked, and what follows the first bad one of a segment is cut off.
//!
//! Rule: what was acknowledged and is whole stays. Segments behind a damaged one are kept, which leaves a gap in the
//! offsets as compaction does, and what is cut off and may hold good batches is set aside. Both are told.

use std::{
    io::IoSlice,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    LogError, LogSettings,
    cursor::SCAN_WINDOW_BYTES,
    file::{Disk, File},
    file_name,
    leader_epochs::LeaderEpochs,
    left_overs,
    offset_index::OffsetPosition,
    producer_snapshot,
    producer_state::{ProducerStates, is_route},
    segment::Segment,
};
use crate::{
    base::{Offset, TimestampMs},
    wire::record_batch::{BatchHeader, HEADER_BYTES},
};

/// What is known of a log before it is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// It was closed, and its directory has the clean-shutdown marker.
    pub(crate) clean: bool,
    /// Everything in segments before this offset is on disk for sure.
    pub(crate) recovery_point: Offset,
}

/// A log's state as found.
#[derive(Debug)]
pub(super) struct Loaded {
    /// At least one; the last is the active one.
    pub(super) segments: Vec<Arc<Segment>>,
    pub(super) producers: ProducerStates,
    pub(super) epochs: LeaderEpochs,
    pub(super) log_end: Offset,
}

/// Reads one partition's folder.
pub(super) struct Loader<'a> {
    pub(super) disk: &'a Arc<dyn Disk>,
    pub(super) dir: &'a Path,
    pub(super) settings: &'a LogSettings,
    pub(super) now: TimestampMs,
    pub(super) opening: Opening,
}

impl Loader<'_> {
    pub(super) fn load(&self) -> Result<Loaded, LogError> {
        let names = self.disk.list(self.dir).map_err(LogError::storage("list", self.dir))?;
        left_overs::clear(self.disk.as_ref(), self.dir, &names)?;
        let mut epochs = LeaderEpochs::empty(self.disk, self.dir);
        let epochs_known = epochs.load()?;
        let segments =
            self.load_segments(&offsets(&names, file_name::LOG), epochs_known, &mut epochs)?;
        let log_end = match segments.last() {
            Some(active) => end_of(active)?,
            None => Offset(0),
        };
        epochs.truncate_from(log_end);
        epochs.store()?;
        let producers =
            self.load_producers(&offsets(&names, file_name::SNAPSHOT), &segments, log_end)?;
        // A node may have more segments than it may hold files open.
        for segment in &segments {
            segment.close_files();
        }
        Ok(Loaded { segments, producers, epochs, log_end })
    }

    fn remove(&self, path: &Path) -> Result<(), LogError> {
        self.disk.remove(path).map_err(LogError::storage("remove", path))
    }

    fn load_segments(
        &self,
        bases: &[Offset],
        epochs_known: bool,
        epochs: &mut LeaderEpochs,
    ) -> Result<Vec<Arc<Segment>>, LogError> {
        let mut segments = Vec::new();
        for (at, &base) in bases.iter().enumerate() {
            let segment = Arc::new(Segment::new(self.disk, self.dir, base, self.now));
            let next_base = bases.get(at + 1).copied();
            let believed = epochs_known && self.believes(next_base) && adopt(&segment)?;
            if !believed {
                self.recover(&segment, next_base, epochs)?;
            }
            if let Some(next_base) = next_base {
                tell_gap(&segment, next_base)?;
            }
            segments.push(segment);
        }
        if segments.is_empty() {
            segments.push(Arc::new(Segment::new(self.disk, self.dir, Offset(0), self.now)));
        }
        Ok(segments)
    }

    /// Whether a segment that ends at `next_base` (`None`: the last one) need not be checked.
    fn believes(&self, next_base: Option<Offset>) -> bool {
        self.opening.clean || next_base.is_some_and(|end| end <= self.opening.recovery_point)
    }

    /// Checks every batch, cuts the file before the first bad one, and builds the indexes anew.
    fn recover(
        &self,
        segment: &Segment,
        next_base: Option<Offset>,
        epochs: &mut LeaderEpochs,
    ) -> Result<(), LogError> {
        let path = segment.log.path();
        let file = segment.log.get().map_err(LogError::storage("open", &path))?;
        let size = file.len().map_err(LogError::storage("read", &path))?;
        segment.set_size(size);
        clear_indexes(segment)?;
        let end = self.scan(segment, next_base, epochs)?;
        if next_base.is_some() {
            segment.seal()?;
        }
        if end == size {
            return Ok(());
        }
        if is_torn(segment, end)? {
            tracing::warn!(segment = %path.display(), size, end, "cut a torn tail off a segment");
        } else {
            let aside = self.set_aside(&file, &path, end..size)?;
            tracing::error!(
                segment = %path.display(), size, end, aside = %aside.display(),
                "a segment is damaged: what follows the damage is set aside"
            );
        }
        segment.set_size(end);
        file.truncate(end).map_err(LogError::storage("truncate", &path))
    }

    /// Copies what is about to be cut off, for a person to look at.
    fn set_aside(
        &self,
        segment: &Arc<dyn File>,
        path: &Path,
        cut: Range<u64>,
    ) -> Result<PathBuf, LogError> {
        let aside = file_name::damaged(path, cut.start);
        let copy = || {
            let file = self.disk.open(&aside)?;
            file.truncate(0)?;
            let mut window = vec![0; SCAN_WINDOW_BYTES];
            for at in cut.clone().step_by(SCAN_WINDOW_BYTES) {
                window.truncate(usize::try_from(cut.end - at).unwrap_or(usize::MAX));
                segment.read_exact_at(&mut window, at)?;
                file.write_all_at(&mut [IoSlice::new(&window)], at - cut.start)?;
            }
            file.sync()
        };
        copy().map_err(LogError::storage("set aside as", &aside))?;
        Ok(aside)
    }

    /// Returns where the last good batch ends.
    fn scan(
        &self,
        segment: &Segment,
        next_base: Option<Offset>,
        epochs: &mut LeaderEpochs,
    ) -> Result<u64, LogError> {
        let mut cursor = segment.cursor(0, SCAN_WINDOW_BYTES)?;
        let mut end = 0;
        loop {
            let found = cursor.next().and_then(|it| match it {
                Some(located) => cursor.verify(&located).map(|()| Some(located)),
                None => Ok(None),
            });
            let located = match found {
                Ok(Some(located)) => located,
                Ok(None) | Err(LogError::CorruptBatch { .. }) => return Ok(end),
                Err(error) => return Err(error),
            };
            let header = &located.header;
            let last_offset = header.last_offset();
            if next_base.is_some_and(|next| last_offset >= next) || !segment.reaches(last_offset) {
                return Ok(end);
            }
            epochs.note(header.partition_leader_epoch, header.base_offset);
            segment.note(header, located.position, self.settings.index_interval_bytes, self.now);
            end = located.end();
        }
    }

    fn path(&self, offset: Offset, suffix: &str) -> PathBuf {
        self.dir.join(file_name::of(offset, suffix))
    }

    /// The newest whole snapshot, and what follows it replayed. Snapshots beyond the log's end are of what was cut.
    fn load_producers(
        &self,
        snapshots: &[Offset],
        segments: &[Arc<Segment>],
        log_end: Offset,
    ) -> Result<ProducerStates, LogError> {
        let log_start = segments.first().map_or(log_end, |it| it.base_offset);
        let (mut producers, mut from) = (ProducerStates::default(), log_start);
        for &offset in snapshots.iter().rev() {
            if offset > log_end {
                self.remove(&self.path(offset, file_name::SNAPSHOT))?;
            } else if let Some(found) = self.read_snapshot(offset)? {
                (producers, from) = (found, offset);
                break;
            }
        }
        producers.expire(self.now, self.settings.producer_id_expiration_ms);
        for (at, segment) in segments.iter().enumerate() {
            if segments.get(at + 1).is_none_or(|next| next.base_offset > from) {
                replay(segment, from, &mut producers, self.now)?;
            }
        }
        Ok(producers)
    }

    fn read_snapshot(&self, offset: Offset) -> Result<Option<ProducerStates>, LogError> {
        let path = self.path(offset, file_name::SNAPSHOT);
        let bytes = self.disk.read_small(&path).map_err(LogError::storage("read", &path))?;
        Ok(bytes.and_then(|it| producer_snapshot::decode(&it)))
    }
}

/// Takes a segment over as its files say. `false` if they do not fit together.
fn adopt(segment: &Segment) -> Result<bool, LogError> {
    let path = segment.log.path();
    let size =
        segment.log.get().and_then(|it| it.len()).map_err(LogError::storage("open", &path))?;
    segment.set_size(size);
    let plausible = adopt_indexes(segment).map_err(LogError::storage("read", &path))?;
    if plausible && indexes_fit(segment)? {
        adopt_first_time(segment)?;
        return Ok(true);
    }
    tracing::warn!(
        segment = %path.display(),
        "the files of a segment do not fit together: checking it and building its indexes anew"
    );
    Ok(false)
}

/// Whether the last entry of each index speaks of a batch that is there, and what follows ends with the file. The
/// entries before rise up to it, and are confirmed when they are used.
fn indexes_fit(segment: &Segment) -> Result<bool, LogError> {
    let fit = || match (last_indexed(segment)?, segment.times().largest) {
        (Some(last), _) if !segment.confirms(last)? => Ok(false),
        (_, Some(largest)) => {
            Ok(segment.confirms_time(largest)? && is_tail_older(segment, largest.timestamp)?)
        }
        // It has no records.
        (_, None) => Ok(true),
    };
    match fit() {
        Err(LogError::CorruptBatch { .. }) => Ok(false),
        other => other,
    }
}

/// Walks from the last indexed batch to the segment's end.
fn is_tail_older(segment: &Segment, largest: TimestampMs) -> Result<bool, LogError> {
    let position = last_indexed(segment)?.map_or(0, |it| it.position);
    let mut cursor = segment.cursor(position, SCAN_WINDOW_BYTES)?;
    while let Some(located) = cursor.next()? {
        if located.header.max_timestamp > largest {
            return Ok(false);
        }
    }
    Ok(true)
}

fn last_indexed(segment: &Segment) -> Result<Option<OffsetPosition>, LogError> {
    let path = segment.offset_index.entries.file().path();
    segment.offset_index.last().map_err(LogError::storage("read", &path))
}

fn adopt_indexes(segment: &Segment) -> std::io::Result<bool> {
    let whole = segment.offset_index.entries.load()? && segment.time_index.entries.load()?;
    let largest = segment.time_index.last()?;
    segment.set_largest(largest);
    let size = segment.size();
    let rises = segment.offset_index.is_plausible(size)? && segment.time_index.is_plausible()?;
    // A sealed or closed segment with records always has an entry in its time index.
    Ok(whole && rises && (largest.is_some() == (size > 0)))
}

/// The active segment rolls by the age of its first batch.
fn adopt_first_time(segment: &Segment) -> Result<(), LogError> {
    match segment.locate(segment.base_offset) {
        Ok(Some(first)) => segment.set_first(first.header.max_timestamp),
        // Whoever reads a damaged one is told.
        Ok(None) | Err(LogError::CorruptBatch { .. }) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Whether what begins at `end` is what a crash leaves: a batch that was not written to its end, or zeros that the
/// file system put there.
fn is_torn(segment: &Segment, end: u64) -> Result<bool, LogError> {
    let path = segment.log.path();
    let failed = LogError::storage("read", &path);
    let read = || {
        let file = segment.log.get()?;
        let left = usize::try_from(file.len()? - end).unwrap_or(usize::MAX);
        let mut bytes = vec![0; left.min(HEADER_BYTES)];
        file.read_exact_at(&mut bytes, end)?;
        Ok((left, bytes))
    };
    let (left, bytes) = read().map_err(failed)?;
    let unfinished = BatchHeader::parse(&bytes).is_ok_and(|it| it.size_bytes() > left);
    Ok(unfinished || left < HEADER_BYTES || bytes.iter().all(|&it| it == 0))
}

/// Records before the next segment that are not there. Only damage or a hand in the folder does that.
fn tell_gap(segment: &Segment, next_base: Offset) -> Result<(), LogError> {
    let end = end_of(segment)?;
    if end < next_base {
        tracing::error!(
            segment = %segment.log.path().display(), from = end.0, to = next_base.0,
            "records are missing from here to the next segment"
        );
    }
    Ok(())
}

fn clear_indexes(segment: &Segment) -> Result<(), LogError> {
    segment.set_largest(None);
    let cleared = segment.offset_index.entries.clear();
    cleared
        .and_then(|()| segment.time_index.entries.clear())
        .map_err(LogError::storage("truncate the indexes of", &segment.log.path()))
}

/// Notes the producers of a segment's batches from `from` on. They count as seen now: too late is harmless.
fn replay(
    segment: &Segment,
    from: Offset,
    producers: &mut ProducerStates,
    now: TimestampMs,
) -> Result<(), LogError> {
    let Some(first) = segment.locate(from.max(segment.base_offset))? else { return Ok(()) };
    let mut cursor = segment.cursor(first.position, SCAN_WINDOW_BYTES)?;
    while let Some(located) = cursor.next()? {
        let header = &located.header;
        if header.base_offset < from || header.producer_id.is_none() {
            continue;
        }
        let is_control = header.attributes.is_control();
        let is_route = is_control && is_route(&cursor.read(&located)?);
        producers.note(header, is_route, now);
    }
    Ok(())
}

/// The offset after a segment's last record.
fn end_of(segment: &Segment) -> Result<Offset, LogError> {
    if segment.size() == 0 {
        return Ok(segment.base_offset);
    }
    let position = last_indexed(segment)?.map_or(0, |it| it.position);
    let mut cursor = segment.cursor(position, SCAN_WINDOW_BYTES)?;
    let mut end = segment.base_offset;
    while let Some(located) = cursor.next()? {
        end = located.header.last_offset() + 1;
    }
    Ok(end)
}

/// The offsets in the names with this suffix, rising.
fn offsets(names: &[String], suffix: &str) -> Vec<Offset> {
    let mut offsets: Vec<_> = names.iter().filter_map(|it| file_name::offset(it, suffix)).collect();
    offsets.sort_unstable();
    offsets
}
