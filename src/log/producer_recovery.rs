//! What a log remembers of its producers, after a start: the newest whole snapshot, and the batches behind it.

use std::{path::Path, sync::Arc};

use super::{
    LogError,
    cursor::SCAN_WINDOW_BYTES,
    file::Disk,
    file_name, producer_snapshot,
    producer_state::{ProducerStates, is_route},
    segment::Segment,
};
use crate::base::{Offset, TimestampMs};

/// Where the state comes from.
pub(super) struct ProducerRecovery<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) dir: &'a Path,
    /// Those whose snapshots are there, rising.
    pub(super) snapshots: &'a [Offset],
    pub(super) segments: &'a [Arc<Segment>],
    /// The offset after the last record that is there.
    pub(super) end: Offset,
}

impl ProducerRecovery<'_> {
    /// Snapshots beyond the end are of what was cut, and removed.
    pub(super) fn load(
        &self,
        now: TimestampMs,
        expiration_ms: i64,
    ) -> Result<ProducerStates, LogError> {
        let log_start = self.segments.first().map_or(self.end, |it| it.base_offset);
        let (mut producers, mut from) = (ProducerStates::default(), log_start);
        for &offset in self.snapshots.iter().rev() {
            if offset > self.end {
                let path = self.path(offset);
                self.disk.remove(&path).map_err(LogError::storage("remove", &path))?;
            } else if let Some(found) = self.read_snapshot(offset)? {
                (producers, from) = (found, offset);
                break;
            }
        }
        self.remove_surplus(from)?;
        producers.expire(now, expiration_ms);
        for (at, segment) in self.segments.iter().enumerate() {
            if self.segments.get(at + 1).is_none_or(|next| next.base_offset > from) {
                told(replay(segment, from, &mut producers, now))?;
                segment.close_files();
            }
        }
        Ok(producers)
    }

    /// Of the snapshots before the one in use, those that segments begin with stay: retention takes them. Others are of
    /// earlier stops.
    fn remove_surplus(&self, used: Offset) -> Result<(), LogError> {
        let begins_segment = |it: &Offset| self.segments.iter().any(|at| at.base_offset == *it);
        let mut surplus = self.snapshots.iter().filter(|it| **it < used && !begins_segment(it));
        surplus.try_for_each(|it| {
            let path = self.path(*it);
            self.disk.remove(&path).map_err(LogError::storage("remove", &path))
        })
    }

    fn read_snapshot(&self, offset: Offset) -> Result<Option<ProducerStates>, LogError> {
        let path = self.path(offset);
        let bytes = self.disk.read_small(&path).map_err(LogError::storage("read", &path))?;
        Ok(bytes.and_then(|it| producer_snapshot::decode(&it)))
    }

    fn path(&self, offset: Offset) -> std::path::PathBuf {
        self.dir.join(file_name::of(offset, file_name::SNAPSHOT))
    }
}

/// Damage in a segment that was believed hides what producers sent behind it, up to the next segment. To refuse the whole
/// partition for that would hide every record instead.
fn told(replayed: Result<(), LogError>) -> Result<(), LogError> {
    match replayed {
        Err(LogError::CorruptBatch { offset, segment: path }) => {
            tracing::error!(
                segment = %path.display(), offset = offset.0,
                "a damaged batch hides what producers sent behind it: a retry of theirs may be stored twice, or refused"
            );
            Ok(())
        }
        other => other,
    }
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
