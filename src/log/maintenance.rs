//! What a log does besides appends and reads: retention, closing, deletion. Called off the request path.

use std::sync::{Arc, atomic::Ordering};

use super::{
    Log, LogError, file_name,
    log::{Deleted, State, Writer},
    log_start::below_start,
    retention::{SegmentSpan, deletable},
    roll::age_max_ms,
    routes::free_of_routes,
    segment::Segment,
};
use crate::base::{Offset, TimestampMs};

/// Segments that are renamed before the log is seen without them: each is open until then.
const DELETED_AT_ONCE: usize = 32;

impl Log {
    /// Deletes segments that lie below the log's start or that retention by time or size no longer keeps, and rolls one that is too old; returns how
    /// many. Also forgets silent producers, and flushes what was rolled.
    pub fn retain(&self, now: TimestampMs) -> Result<usize, LogError> {
        let _set = self.segment_set.lock();
        // What fails here is tried again, and has left nothing in doubt: a full disk gets room from what goes next.
        let deleted =
            self.apply_retention(now).map_err(|it| self.home().health.failed_this_time(it))?;
        self.flush_sealed().map_err(|it| self.home().health.failed(it))?;
        Ok(deleted)
    }

    fn apply_retention(&self, now: TimestampMs) -> Result<usize, LogError> {
        let (due, rolled, leaving) = {
            let mut writer = self.writer.lock();
            self.check_open(&writer)?;
            let mut rolled = self.roll_if_old(&mut writer, now);
            let expiration_ms = self.settings.load().producer_id_expiration_ms;
            writer.producers.expire(now, expiration_ms);
            let mut leaving = self.leaving(&writer, now);
            if leaving.len() == self.segments.load().len() {
                // The log goes on in a new one, or the last one stays.
                rolled = rolled.and_then(|()| self.roll(&mut writer, now).map(drop));
                leaving.truncate(leaving.len() - usize::from(rolled.is_err()));
            }
            let due = writer.deleted.extract_if(.., |it| it.0 <= now).collect();
            (due, rolled, leaving)
        };
        // Large files take their time to go: appends go on meanwhile.
        self.purge(due)?;
        self.delete_segments(&leaving, now)?;
        rolled.map(|()| leaving.len())
    }

    /// Everything in segments before this offset is on disk: after a crash, recovery begins here.
    pub fn recovery_point(&self) -> Offset {
        self.writer.lock().recovery_point
    }

    /// fsyncs everything, and writes the producer snapshot at the end. The log takes no more appends.
    pub fn close(&self) -> Result<(), LogError> {
        let _set = self.segment_set.lock();
        let mut writer = self.writer.lock();
        self.check_open(&writer)?;
        writer.state = State::Closed;
        self.store_all(&mut writer).map_err(|it| self.home().health.failed(it))?;
        // There may be more logs than files that may be open.
        for segment in self.segments.load().iter() {
            segment.close_files();
        }
        Ok(())
    }

    fn store_all(&self, writer: &mut Writer) -> Result<(), LogError> {
        self.active().seal()?;
        self.flush_at_close(writer)?;
        self.write_snapshot(writer, true)
    }

    /// Renames the folder out of the way (`….-delete`) and removes it.
    pub fn delete(&self) -> Result<(), LogError> {
        self.remove_folder().map_err(|it| self.home().health.failed(it))
    }

    fn remove_folder(&self) -> Result<(), LogError> {
        let _set = self.segment_set.lock();
        let renamed = {
            let mut writer = self.writer.lock();
            writer.state = State::Closed;
            let mut dir = self.dir.lock();
            let name = dir.file_name().unwrap_or_default().to_string_lossy();
            let renamed = dir.with_file_name(file_name::out_of_the_way(&name, file_name::DELETE));
            self.home().disk.rename(&dir, &renamed).map_err(LogError::storage("rename", &dir))?;
            dir.clone_from(&renamed);
            renamed
        };
        // Who still reads must not open what a topic of the same name makes in its place.
        for segment in self.segments.load().iter() {
            segment.moved_to(&renamed);
        }
        self.home().disk.remove_dir_all(&renamed).map_err(LogError::storage("remove", &renamed))
    }

    /// Removes files whose `file.delete.delay.ms` is over; what cannot be removed waits for the next time.
    fn purge(&self, due: Vec<Deleted>) -> Result<(), LogError> {
        let mut failure = None;
        for deleted in due {
            let removed = deleted.1.iter().try_for_each(|path| {
                self.home().disk.remove(path).map_err(LogError::storage("remove", path))
            });
            if let Err(error) = removed {
                self.writer.lock().deleted.push(deleted);
                failure = Some(error);
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// `segment.ms` by the clock: records' timestamps alone would never roll a log that nobody appends to.
    fn roll_if_old(&self, writer: &mut Writer, now: TimestampMs) -> Result<(), LogError> {
        let active = self.active();
        let age_ms = now.since(active.times().created);
        if active.size() > 0 && age_ms > age_max_ms(&active, &self.settings.load()) {
            self.roll(writer, now)?;
        }
        Ok(())
    }

    /// The segments that are not kept any more, from the front.
    fn leaving(&self, writer: &Writer, now: TimestampMs) -> Vec<Arc<Segment>> {
        let segments = self.segments.load();
        let spans = segments.iter().map(|it| span(it));
        let count = deletable(spans, &self.settings.load(), now)
            .max(below_start(&segments, self.log_start_offset()))
            .min(free_of_routes(&segments, &writer.producers, now));
        segments.get(..count).unwrap_or_default().to_vec()
    }

    /// Takes segments out of the log, from the front. Appends go on meanwhile.
    fn delete_segments(&self, leaving: &[Arc<Segment>], now: TimestampMs) -> Result<(), LogError> {
        if leaving.is_empty() {
            return Ok(());
        }
        if self.segments.load().len() == leaving.len() + 1 {
            // The one that is left alone tells the log's end: it must not vanish in a power cut that keeps the renames.
            self.sync_folder()?;
        }
        leaving.chunks(DELETED_AT_ONCE).try_for_each(|it| self.take_out(it, now))?;
        // The first segment may begin before the start: recovery begins there, with what was known of producers.
        let first = self.segments.load().first().map(|it| it.base_offset);
        self.remove_snapshots_before(first.unwrap_or_else(|| self.log_start_offset()))
    }

    /// Takes the first segments out of the log; what cannot be renamed stays in it. Their new names are on disk before the
    /// log begins later: where it begins is then not written down any more, and what was deleted on request must not be back.
    fn take_out(&self, segments: &[Arc<Segment>], now: TimestampMs) -> Result<(), LogError> {
        let mut files = Vec::with_capacity(segments.len());
        let renamed = segments.iter().try_for_each(|it| {
            files.push(it.mark_deleted()?);
            Ok(())
        });
        self.sync_folder()?;
        let (due, count) = (self.deletion_due(now), files.len());
        let mut writer = self.writer.lock();
        writer.deleted.extend(files.into_iter().map(|it| (due, it)));
        let kept = self.segments.load().get(count..).unwrap_or_default().to_vec();
        let log_start = kept.first().map_or(self.log_end_offset(), |it| it.base_offset);
        // In this order: a reader that does not find a segment finds that the log begins later.
        self.start.fetch_max(log_start.0, Ordering::AcqRel);
        self.segments.store(Arc::new(kept));
        writer.epochs.truncate_to(self.log_start_offset());
        drop(writer);
        segments.iter().take(count).for_each(Segment::close_if_unread);
        renamed
    }

    /// Removes at once what waits for `file.delete.delay.ms`, on a disk that is full; whether there was anything.
    pub(super) fn remove_deleted(&self) -> Result<bool, LogError> {
        let _set = self.segment_set.lock();
        let deleted = std::mem::take(&mut self.writer.lock().deleted);
        let has_some = !deleted.is_empty();
        self.purge(deleted).map(|()| has_some)
    }

    /// When files that are renamed now may go.
    pub(super) fn deletion_due(&self, now: TimestampMs) -> TimestampMs {
        let delay_ms = i64::try_from(self.settings.load().file_delete_delay_ms).unwrap_or(i64::MAX);
        TimestampMs(now.0.saturating_add(delay_ms))
    }

    fn remove_snapshots_before(&self, first: Offset) -> Result<(), LogError> {
        let dir = self.path();
        let names = self.home().disk.list(&dir).map_err(LogError::storage("list", &dir))?;
        for name in names {
            if file_name::offset(&name, file_name::SNAPSHOT).is_some_and(|it| it < first) {
                let path = dir.join(name);
                self.home().disk.remove(&path).map_err(LogError::storage("remove", &path))?;
            }
        }
        Ok(())
    }
}

pub(super) fn span(segment: &Segment) -> SegmentSpan {
    let times = segment.times();
    let stamped = times.largest.map(|it| it.timestamp).filter(|it| it.0 >= 0);
    SegmentSpan { size: segment.size(), youngest: stamped.unwrap_or(times.modified) }
}
