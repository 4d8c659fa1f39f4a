//! A partition's log: segments in order, appended at the end, read anywhere, deleted from the front.
//!
//! An append holds the writer's lock for as long as it writes. Readers take no lock for I/O: they see the segments and
//! the log's end as published, and both are published only when they are whole.

use std::{
    io::IoSlice,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use arc_swap::ArcSwap;
use parking_lot::{Mutex, RwLock};

use super::{
    ActiveProducer, LogError, LogSettings, ProducerCheck, StoredBatch,
    cleaner::CleanedState,
    file::{Disk, RealDisk},
    flush::FlushState,
    health::Health,
    home::Home,
    leader_epochs::LeaderEpochs,
    marks::Marks,
    producer_state::{ProducerStates, is_route},
    recovery::{Loader, Opening, Recovery},
    segment::Segment,
    stamp::{Stamped, stamp},
};
use crate::{
    base::{LeaderEpoch, Offset, Pace, TimestampMs},
    wire::record_batch::{Batch, BatchHeader, TimestampType},
};

/// What an append is done under.
#[derive(Clone, Copy, Debug)]
pub struct AppendContext {
    pub leader_epoch: LeaderEpoch,
    pub now: TimestampMs,
    /// `LogAppendTime` stamps the batch with `now`; its CRC is then computed anew.
    pub timestamp_type: TimestampType,
}

/// Where batches were stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    pub base_offset: Offset,
    /// Of the last batch, inclusive.
    pub last_offset: Offset,
    /// `None` for `CreateTime`.
    pub log_append_time: Option<TimestampMs>,
    pub log_start_offset: Offset,
    /// The producer had sent it before, and the offsets are those of the stored copy: nothing was written.
    pub duplicate: bool,
}

/// One partition's log. Shared: an append holds its lock for as long as it writes, reads take none of it for I/O.
#[derive(Debug)]
pub struct Log {
    pub(super) home: ArcSwap<Home>,
    pub(super) dir: Mutex<PathBuf>,
    /// Held for reading by whoever fsyncs segments while appends go on, and for writing, behind `segment_set` and before the writer's
    /// lock, while they become those of another directory.
    pub(super) relocation: RwLock<()>,
    pub(super) settings: ArcSwap<LogSettings>,
    /// By base offset; the last is the active one. Never empty.
    pub(super) segments: ArcSwap<Vec<Arc<Segment>>>,
    pub(super) start: AtomicI64,
    /// Stored after the segments that it covers, and loaded before them.
    pub(super) end: AtomicI64,
    pub(super) writer: Mutex<Writer>,
    pub(super) flushed: FlushState,
    /// Held, before the other locks, by whoever takes segments out of the log or files out of its folder: retention, the
    /// cleaner for its swap, whoever moves, closes or deletes the log.
    pub(super) segment_set: Mutex<()>,
    pub(super) cleaned: CleanedState,
    /// Where readers are. Held for a look-up, never while a file is read.
    pub(super) marks: Mutex<Marks>,
    /// What opening it took.
    pub(super) recovery: Recovery,
    /// Of the line that tells of damage met by readers.
    pub(super) damage: Pace,
}

/// What only an append, or maintenance, works with.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) producers: ProducerStates,
    pub(super) epochs: LeaderEpochs,
    pub(super) state: State,
    /// Everything in segments before this offset is on disk for sure, and so are the epochs of its records.
    pub(super) recovery_point: Offset,
    pub(super) deleted: Vec<Deleted>,
}

/// The files of a segment that were renamed, and when they may go.
pub(super) type Deleted = (TimestampMs, Vec<PathBuf>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Open,
    /// Closed or deleted.
    Closed,
    /// A failure left what cannot be built upon.
    Offline,
}

impl Log {
    /// Opens the log in `dir` (made if absent, its parent synced), checking every batch in it.
    pub fn open(dir: PathBuf, settings: LogSettings, now: TimestampMs) -> Result<Self, LogError> {
        let opening = Opening::default();
        Self::open_on(Arc::new(RealDisk), dir, Arc::default(), settings, opening, now)
    }

    pub(super) fn open_on(
        disk: Arc<dyn Disk>,
        dir: PathBuf,
        health: Arc<Health>,
        settings: LogSettings,
        opening: Opening,
        now: TimestampMs,
    ) -> Result<Self, LogError> {
        create(disk.as_ref(), &dir)?;
        let found = Loader { disk: &disk, dir: &dir, settings: &settings, now, opening }.load()?;
        let recovery_point = opening.recovery_point.min(found.log_end);
        let synced = if opening.clean { found.log_end } else { recovery_point };
        let must_sync = settings.flush_messages == 1 && synced < found.log_end;
        let log = Self {
            home: ArcSwap::from_pointee(Home { disk, health }),
            dir: Mutex::new(dir),
            relocation: RwLock::default(),
            settings: ArcSwap::from_pointee(settings),
            segments: ArcSwap::from_pointee(found.segments),
            start: AtomicI64::new(found.log_start.0),
            end: AtomicI64::new(found.log_end.0),
            writer: Mutex::new(Writer {
                producers: found.producers,
                epochs: found.epochs,
                state: State::Open,
                recovery_point,
                deleted: Vec::new(),
            }),
            flushed: FlushState::new(synced, now),
            segment_set: Mutex::default(),
            cleaned: CleanedState::default(),
            marks: Mutex::default(),
            recovery: found.recovery,
            damage: Pace::default(),
        };
        // What a killed process left in the page cache is about to be shown to consumers.
        if must_sync {
            log.flush(now)?;
        }
        Ok(log)
    }

    /// Appends batches that were validated, giving them offsets and the leader's epoch in place; all or
    /// none of them. Checks the producer's epoch and sequence; a duplicate (when it is the only batch) writes nothing.
    pub fn append(
        &self,
        batches: Vec<Batch>,
        context: AppendContext,
    ) -> Result<Appended, LogError> {
        assert!(!batches.is_empty(), "an append has a batch");
        let mut writer = self.writer.lock();
        self.check_open(&writer)?;
        if let [only] = batches.as_slice()
            && let ProducerCheck::Duplicate(stored) = writer.producers.check(&only.header)?
        {
            return Ok(self.duplicate(&stored, context.timestamp_type));
        }
        let stamped = self.stamp_all(&batches, &context);
        let producers = follow(&writer.producers, &batches, &stamped, context.now)?;
        self.write(&mut writer, &stamped, &context)
            .map_err(|it| self.home().health.append_failed(it, context.now))?;
        writer.producers.0.extend(producers.0);
        Ok(self.publish(&stamped, &context))
    }

    /// What an append of this batch would say of its producer.
    pub fn check_producer(&self, header: &BatchHeader) -> Result<ProducerCheck, LogError> {
        self.writer.lock().producers.check(header)
    }

    /// The producers that the log remembers, by id.
    pub fn active_producers(&self) -> Vec<ActiveProducer> {
        self.writer.lock().producers.active()
    }

    /// What an append answers for a batch that is stored already.
    pub fn duplicate(&self, stored: &StoredBatch, timestamp_type: TimestampType) -> Appended {
        Appended {
            base_offset: stored.base_offset,
            last_offset: stored.last_offset,
            log_append_time: append_time(timestamp_type, stored.timestamp),
            log_start_offset: self.log_start_offset(),
            duplicate: true,
        }
    }

    /// The last epoch at or below `epoch`, and the offset after its last record (KIP-101); `None` for none.
    pub fn end_offset_for_epoch(&self, epoch: LeaderEpoch) -> Option<(LeaderEpoch, Offset)> {
        self.writer.lock().epochs.end_offset_for(epoch, self.log_end_offset())
    }

    pub fn latest_epoch(&self) -> Option<LeaderEpoch> {
        self.writer.lock().epochs.latest()
    }

    /// Of the first record that the log holds.
    pub fn earliest_epoch(&self) -> Option<LeaderEpoch> {
        self.writer.lock().epochs.earliest()
    }

    /// The offset that the next record gets.
    pub fn log_end_offset(&self) -> Offset {
        Offset(self.end.load(Ordering::Acquire))
    }

    /// Whether its directory is in use.
    pub fn is_online(&self) -> bool {
        self.home().health.is_online()
    }

    /// What opening it took, after a stop that was not clean.
    pub fn recovery(&self) -> Recovery {
        self.recovery
    }

    /// Bytes of all segments.
    pub fn size_bytes(&self) -> u64 {
        self.segments.load().iter().map(|it| it.size()).sum()
    }

    pub fn set_settings(&self, settings: LogSettings) {
        self.settings.store(Arc::new(settings));
    }

    pub(super) fn active(&self) -> Arc<Segment> {
        Arc::clone(self.segments.load().last().expect("a log has a segment"))
    }

    pub(super) fn path(&self) -> PathBuf {
        self.dir.lock().clone()
    }

    /// Closed or deleted.
    pub(super) fn is_closed(&self) -> bool {
        self.writer.lock().state == State::Closed
    }

    pub(super) fn check_open(&self, writer: &Writer) -> Result<(), LogError> {
        match writer.state {
            State::Open if self.home().health.is_online() => Ok(()),
            State::Closed => Err(LogError::Closed(self.path())),
            State::Open | State::Offline => Err(LogError::Offline(self.path())),
        }
    }

    fn stamp_all(&self, batches: &[Batch], context: &AppendContext) -> Vec<Stamped> {
        let mut next = self.log_end_offset();
        let mut stamped = Vec::with_capacity(batches.len());
        for batch in batches {
            let it = stamp(batch, next, context);
            next = it.header.last_offset() + 1;
            stamped.push(it);
        }
        stamped
    }

    /// Writes at the end of the active segment, rolling before if it is time to. Readers see nothing of it yet.
    fn write(
        &self,
        writer: &mut Writer,
        stamped: &[Stamped],
        context: &AppendContext,
    ) -> Result<(), LogError> {
        let segment = self.segment_for(writer, stamped, context.now)?;
        writer.epochs.note(context.leader_epoch, self.log_end_offset());
        let mut slices: Vec<_> = stamped
            .iter()
            .flat_map(|it| [IoSlice::new(&it.head), IoSlice::new(&it.rest)])
            .collect();
        segment.write(&mut slices).map_err(|(failed, cut)| {
            if let Some(error) = cut {
                tracing::error!(dir = %self.path().display(), %error, "took a log offline: a failed append could not be undone");
                writer.state = State::Offline;
            }
            failed
        })?;
        let interval = self.settings.load().index_interval_bytes;
        let mut position = segment.size();
        for it in stamped {
            segment.note(&it.header, position, interval, context.now);
            position += it.header.size_bytes() as u64;
        }
        segment.set_size(position);
        Ok(())
    }

    /// Lets readers see what was written.
    fn publish(&self, stamped: &[Stamped], context: &AppendContext) -> Appended {
        let first = stamped.first().expect("an append has a batch");
        let last_offset = stamped.last().unwrap_or(first).header.last_offset();
        let end = last_offset + 1;
        let active = self.active();
        self.marks.lock().set_end(&active, end, active.size());
        self.flushed.note_append(end, self.settings.load().flush_messages);
        self.end.store(end.0, Ordering::Release);
        Appended {
            base_offset: first.header.base_offset,
            last_offset,
            log_append_time: append_time(context.timestamp_type, context.now),
            log_start_offset: self.log_start_offset(),
            duplicate: false,
        }
    }
}

fn append_time(timestamp_type: TimestampType, stored: TimestampMs) -> Option<TimestampMs> {
    (timestamp_type == TimestampType::LogAppendTime).then_some(stored)
}

/// Makes the folder, durably, if it is absent.
fn create(disk: &dyn Disk, dir: &Path) -> Result<(), LogError> {
    if dir.exists() {
        return Ok(());
    }
    disk.create_dir_all(dir).map_err(LogError::storage("create", dir))?;
    match dir.parent() {
        Some(parent) => disk.sync_dir(parent).map_err(LogError::storage("fsync", parent)),
        None => Ok(()),
    }
}

/// The entries of the producers of these batches as they will be; each batch must follow the one before.
fn follow(
    known: &ProducerStates,
    batches: &[Batch],
    stamped: &[Stamped],
    now: TimestampMs,
) -> Result<ProducerStates, LogError> {
    let mut changed = ProducerStates::default();
    for (batch, stamped) in batches.iter().zip(stamped) {
        let Some(id) = batch.header.producer_id else { continue };
        if !changed.0.contains_key(&id)
            && let Some(entry) = known.0.get(&id)
        {
            changed.0.insert(id, entry.clone());
        }
        if let ProducerCheck::Duplicate(stored) = changed.check(&batch.header)? {
            return Err(LogError::OutOfOrderSequence {
                producer_id: id.0,
                last: stored.last_sequence,
                got: batch.header.base_sequence,
            });
        }
        changed.note(&stamped.header, is_route(batch), now);
    }
    Ok(changed)
}
