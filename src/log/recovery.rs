//! From files to state. A log that was closed cleanly is believed as far as it is plausible; of any other, every batch
//! from the recovery point on is checked, and what follows the first bad one of a segment is cut off.
//!
//! Rule: what was acknowledged and is whole stays. What follows damage is kept behind a gap in the offsets, as compaction
//! leaves one, and an offset that was given out is not given to another record. All of it is told.

use std::{collections::VecDeque, io::IoSlice, path::Path, sync::Arc};

use super::{
    AppendContext, LogError, LogSettings,
    adopt::adopt,
    cleaner::complete_swaps,
    cursor::SCAN_WINDOW_BYTES,
    file::Disk,
    file_name,
    leader_epochs::LeaderEpochs,
    left_overs,
    offset_index::OffsetPosition,
    producer_recovery::ProducerRecovery,
    producer_state::ProducerStates,
    salvage::{Damage, set_aside, split_off},
    segment::Segment,
    stamp::{Stamped, stamp},
};
use crate::{
    base::{Offset, TimestampMs},
    wire::record_batch::{TimestampType, placeholder},
};

/// What is known of a log before it is opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Opening {
    /// It was closed, and its directory has the clean-shutdown marker.
    pub(crate) clean: bool,
    /// Everything in segments before this offset is on disk for sure.
    pub(crate) recovery_point: Offset,
    /// Up to where records were deleted on request; 0 if the segments tell where the log begins.
    pub(crate) log_start: Offset,
}

/// What opening a log took, after a stop that was not clean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Segments of which every batch was checked.
    pub segments: usize,
    pub bytes_checked: u64,
    /// Bytes cut off at the ends of segments, torn or damaged.
    pub bytes_cut: u64,
}

/// A log's state as found.
#[derive(Debug)]
pub(super) struct Loaded {
    /// At least one; the last is the active one.
    pub(super) segments: Vec<Arc<Segment>>,
    pub(super) producers: ProducerStates,
    pub(super) epochs: LeaderEpochs,
    pub(super) log_start: Offset,
    pub(super) log_end: Offset,
    pub(super) recovery: Recovery,
}

/// Reads one partition's folder.
pub(super) struct Loader<'a> {
    pub(super) disk: &'a Arc<dyn Disk>,
    pub(super) dir: &'a Path,
    pub(super) settings: &'a LogSettings,
    pub(super) now: TimestampMs,
    pub(super) opening: Opening,
}

/// Segments as they are loaded, and what is learned on the way.
struct Found {
    segments: Vec<Arc<Segment>>,
    /// Whether the batches need not tell them.
    epochs_known: bool,
    epochs: LeaderEpochs,
    /// The offset after the last record.
    end: Offset,
    /// No offset below it may be given out again, as far as anything tells.
    given_out: Offset,
    recovery: Recovery,
}

impl Loader<'_> {
    pub(super) fn load(&self) -> Result<Loaded, LogError> {
        let list = || self.disk.list(self.dir).map_err(LogError::storage("list", self.dir));
        let names = list()?;
        let names = if complete_swaps(self.disk, self.dir, &names)? { list()? } else { names };
        let snapshots = offsets(&names, file_name::SNAPSHOT);
        let orphans_end = left_overs::clear(self.disk, self.dir, &names)?;
        let newest_snapshot = snapshots.last().copied().unwrap_or_default();
        let mut epochs = LeaderEpochs::empty(self.disk, self.dir);
        let mut found = Found {
            segments: Vec::new(),
            epochs_known: epochs.load()?,
            epochs,
            end: Offset(0),
            given_out: self.given_out_at_least(newest_snapshot.max(orphans_end)),
            recovery: Recovery::default(),
        };
        self.load_segments(offsets(&names, file_name::LOG).into(), &mut found)?;
        let producers = ProducerRecovery {
            disk: self.disk.as_ref(),
            dir: self.dir,
            snapshots: &snapshots,
            segments: &found.segments,
            end: found.end,
        };
        let producers = producers.load(self.now, self.settings.producer_id_expiration_ms)?;
        self.add_active(&mut found)?;
        let Found { segments, mut epochs, end, recovery, .. } = found;
        let first = segments.first().map_or(Offset(0), |it| it.base_offset);
        let log_start = first.max(self.opening.log_start);
        // An empty log keeps the epoch that it had last: who has read it to its end is not told that it diverged.
        epochs.truncate_from(if log_start < end { end } else { end + 1 });
        epochs.truncate_to(log_start);
        epochs.store()?;
        for segment in &segments {
            segment.close_files();
        }
        Ok(Loaded { segments, producers, epochs, log_start, log_end: end, recovery })
    }

    /// No offset below it may be given out again, as far as what is known before a segment is read.
    fn given_out_at_least(&self, found: Offset) -> Offset {
        let Opening { recovery_point, log_start, .. } = self.opening;
        found.max(recovery_point).max(log_start)
    }

    fn segment(&self, base: Offset) -> Arc<Segment> {
        Arc::new(Segment::new(self.disk, self.dir, base, self.now))
    }

    fn load_segments(
        &self,
        mut bases: VecDeque<Offset>,
        found: &mut Found,
    ) -> Result<(), LogError> {
        let mut split_off = None;
        while let Some(base) = bases.pop_front() {
            let segment = self.segment(base);
            let next_base = bases.front().copied();
            let need_not_check =
                found.epochs_known && self.believes(next_base) && split_off != Some(base);
            let adopted = if need_not_check { adopt(&segment)? } else { None };
            // A kill may have left in two segments what was behind damage: the second one is believed.
            let is_before_next = |end: &Offset| next_base.is_none_or(|it| *end <= it);
            if let Some(end) = adopted.filter(is_before_next) {
                found.end = end;
            } else {
                split_off = self.recover(&segment, next_base, found)?;
                if let Some(base) = split_off {
                    bases.push_front(base);
                }
            }
            match bases.front() {
                Some(&next_base) => tell_gap(&segment, found.end, next_base),
                // The active segment rolls by the age of its first batch.
                None => drop(segment.first_timestamp()?),
            }
            // A node may have more segments than it may hold files open.
            segment.close_files();
            found.segments.push(segment);
        }
        Ok(())
    }

    /// Whether a segment that ends at `next_base` (`None`: the last one) need not be checked.
    fn believes(&self, next_base: Option<Offset>) -> bool {
        self.opening.clean || next_base.is_some_and(|end| end <= self.opening.recovery_point)
    }

    /// A log has a segment to append to, at an offset that nobody has.
    fn add_active(&self, found: &mut Found) -> Result<(), LogError> {
        let (end, given_out) = (found.end, found.given_out);
        if end < given_out {
            if self.opening.log_start < given_out {
                tracing::error!(
                    dir = %self.dir.display(), from = end.0, to = given_out.0,
                    "records at the end of a log are missing: the next one gets the offset behind them"
                );
            }
            self.end_at(given_out, found)?;
            found.end = given_out;
        } else if found.segments.is_empty() {
            let segment = self.segment(Offset(0));
            if let Some(bytes) = self.settings.preallocated_bytes() {
                segment.create(Some(bytes))?;
            }
            found.segments.push(segment);
        }
        Ok(())
    }

    /// Lets the log end with something that is there: consumers would wait at a gap for what never comes.
    fn end_at(&self, end: Offset, found: &mut Found) -> Result<(), LogError> {
        let Some(last) = found.segments.last().cloned() else {
            // It begins there too.
            let segment = self.segment(end);
            segment.create(None)?;
            found.segments.push(segment);
            return Ok(());
        };
        let offset = Offset(end.0 - 1);
        let segment = if last.reaches(offset) { last } else { self.segment(offset) };
        let context = AppendContext {
            leader_epoch: found.epochs.latest().unwrap_or_default(),
            now: self.now,
            timestamp_type: TimestampType::CreateTime,
        };
        let Stamped { header, head, rest } = stamp(&placeholder(), offset, &context);
        let position = segment.size();
        segment
            .write(&mut [IoSlice::new(&head), IoSlice::new(&rest)])
            .map_err(|(failed, _)| failed)?;
        segment.note(&header, position, self.settings.index_interval_bytes, self.now);
        segment.set_size(position + header.size_bytes() as u64);
        if found.segments.last().is_some_and(|it| it.base_offset < segment.base_offset) {
            found.segments.push(segment);
        }
        Ok(())
    }

    /// Checks every batch, cuts the file before the first bad one, and builds the indexes anew. Returns the base offset of the
    /// segment that was made of what is good behind it.
    fn recover(
        &self,
        segment: &Segment,
        next_base: Option<Offset>,
        found: &mut Found,
    ) -> Result<Option<Offset>, LogError> {
        let path = segment.log.path();
        let file = segment.log.get().map_err(LogError::storage("open", &path))?;
        let size = file.len().map_err(LogError::storage("read", &path))?;
        segment.set_size(size);
        let entries = take_entries(segment)?;
        let position = self.scan(segment, next_base, found)?;
        if let Some(last) = entries.last().filter(|it| it.position >= position) {
            found.given_out = found.given_out.max(last.last_offset + 1);
        }
        found.recovery.segments += 1;
        found.recovery.bytes_checked += position;
        let mut split_off = None;
        if position < size {
            let damage =
                Damage { segment, position, expected: found.end, next_base, entries: &entries };
            split_off = self.save_rest(&damage, size, found)?;
            segment.set_size(position);
            file.truncate(position).map_err(LogError::storage("truncate", &path))?;
        }
        // Last: the old entries tell a start that comes after a kill in here where good batches are.
        segment.cut_indexes()?;
        if next_base.is_some() {
            segment.seal()?;
        }
        Ok(split_off)
    }

    /// Saves what is about to be cut off, unless it is what a crash leaves.
    fn save_rest(
        &self,
        damage: &Damage<'_>,
        size: u64,
        found: &mut Found,
    ) -> Result<Option<Offset>, LogError> {
        let (segment, position) = (damage.segment, damage.position);
        let path = segment.log.path();
        let good = damage.next_good()?;
        if good.is_none() && self.settings.preallocate && damage.is_unused()? {
            return Ok(None);
        }
        if good.is_none() && damage.is_torn()? {
            tracing::warn!(segment = %path.display(), size, end = position, "cut a torn tail off a segment");
            found.recovery.bytes_cut += size - position;
            return Ok(None);
        }
        let end = good.as_ref().map_or(size, |it| it.position);
        found.recovery.bytes_cut += end - position;
        let aside = set_aside(self.disk.as_ref(), segment, position..end)?;
        tracing::error!(
            segment = %path.display(), from = position, to = end, aside = %aside.display(),
            "a segment is damaged: what cannot be read is set aside"
        );
        let Some(good) = good else { return Ok(None) };
        split_off(self.disk.as_ref(), self.dir, segment, &good)?;
        Ok(Some(good.header.base_offset))
    }

    /// Returns where the last good batch ends.
    fn scan(
        &self,
        segment: &Segment,
        next_base: Option<Offset>,
        found: &mut Found,
    ) -> Result<u64, LogError> {
        let mut cursor = segment.cursor(0, SCAN_WINDOW_BYTES)?;
        found.end = segment.base_offset;
        let mut position = 0;
        while let Some(located) = cursor.next_whole()? {
            let header = &located.header;
            let last_offset = header.last_offset();
            if next_base.is_some_and(|next| last_offset >= next) || !segment.reaches(last_offset) {
                break;
            }
            found.epochs.note(header.partition_leader_epoch, header.base_offset);
            segment.note(header, located.position, self.settings.index_interval_bytes, self.now);
            found.end = last_offset + 1;
            position = located.end();
        }
        Ok(position)
    }
}

/// The entries of the offset index, which is about to be built anew over them, like the other.
fn take_entries(segment: &Segment) -> Result<Vec<OffsetPosition>, LogError> {
    segment.set_largest(None);
    let take = || {
        segment.offset_index.entries.load()?;
        let entries = segment.offset_index.all()?;
        segment.offset_index.entries.forget();
        segment.time_index.entries.forget();
        Ok(entries)
    };
    take().map_err(LogError::storage("read the indexes of", &segment.log.path()))
}

/// Records before the next segment that are not there. Only damage or a hand in the folder does that.
fn tell_gap(segment: &Segment, end: Offset, next_base: Offset) {
    if end < next_base {
        tracing::error!(
            segment = %segment.log.path().display(), from = end.0, to = next_base.0,
            "records are missing from here to the next segment"
        );
    }
}

/// The offsets in the names with this suffix, rising.
fn offsets(names: &[String], suffix: &str) -> Vec<Offset> {
    let mut offsets: Vec<_> = names.iter().filter_map(|it| file_name::offset(it, suffix)).collect();
    offsets.sort_unstable();
    offsets
}
