//! One partition of this node: its log, who leads it, and how far it is committed.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};

use super::{
    ReplicaError, byte_rate::ByteRate, group_commit::Hidden, isr::Isr, purgatory::Purgatory,
};
use crate::{
    base::{BrokerId, LeaderEpoch, Offset, TopicId, TopicPartition},
    config::TopicConfig,
    log::{AppendContext, Appended, Log},
    telemetry::now,
    wire::record_batch::Batch,
};

/// What a producer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// 0: no answer.
    None,
    /// 1: stored by the leader, on disk where the topic asks for it.
    Leader,
    /// −1: stored by every replica in the ISR.
    All,
}

/// What the metadata image says of a partition.
#[derive(Clone, Debug)]
pub(super) struct Role {
    pub(super) leader: Option<BrokerId>,
    pub(super) leader_epoch: LeaderEpoch,
    pub(super) isr: Vec<BrokerId>,
    /// How many replicas are assigned, in sync or not.
    pub(super) replicas: usize,
    pub(super) config: Arc<TopicConfig>,
}

/// How far a partition is committed, and whether it still is what it was.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// Up to where this node has stored it for good.
    stored: Offset,
    high_watermark: Offset,
    leader_epoch: LeaderEpoch,
    gone: bool,
    /// What was appended last could not be brought to the disk.
    failed: bool,
}

impl Progress {
    fn has(&self, last_offset: Offset, acks: Acks) -> bool {
        match acks {
            Acks::None => true,
            Acks::Leader => self.stored > last_offset,
            Acks::All => self.high_watermark > last_offset,
        }
    }
}

/// A partition that this node has a replica of.
pub struct Partition {
    pub topic_partition: TopicPartition,
    pub topic_id: TopicId,
    log: Arc<Log>,
    node_id: BrokerId,
    role: ArcSwap<Role>,
    isr: Mutex<Isr>,
    progress: watch::Sender<Progress>,
    pub(super) purgatory: Purgatory,
    pub(super) me: Weak<Self>,
    /// Those of the log directory that may run at a time.
    fsyncs: ArcSwap<Semaphore>,
    pub(super) is_flushing: AtomicBool,
    hidden: Mutex<Hidden>,
    rate: Mutex<ByteRate>,
    /// Since this node opened it.
    produced_bytes: AtomicU64,
    fetched_bytes: AtomicU64,
}

impl Partition {
    pub(super) fn new(
        topic_partition: TopicPartition,
        topic_id: TopicId,
        log: Log,
        fsyncs: Arc<Semaphore>,
        node_id: BrokerId,
        role: Role,
    ) -> Arc<Self> {
        // Followers are heard of later; until then only what they are known to have is committed. Alone, that is all.
        let is_alone = role.isr == [node_id];
        let start = if is_alone { log.log_end_offset() } else { log.log_start_offset() };
        let leader_epoch = role.leader_epoch;
        let progress = Progress {
            stored: log.log_end_offset(),
            high_watermark: start,
            leader_epoch,
            gone: false,
            failed: false,
        };
        Arc::new_cyclic(|me| Self {
            topic_partition,
            topic_id,
            log: Arc::new(log),
            node_id,
            isr: Mutex::new(Isr::new(role.isr.clone(), start)),
            role: ArcSwap::from_pointee(role),
            progress: watch::Sender::new(progress),
            purgatory: Purgatory::default(),
            me: me.clone(),
            fsyncs: ArcSwap::from(fsyncs),
            is_flushing: AtomicBool::new(false),
            hidden: Mutex::default(),
            rate: Mutex::new(ByteRate::new(Instant::now())),
            produced_bytes: AtomicU64::new(0),
            fetched_bytes: AtomicU64::new(0),
        })
    }

    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    pub fn leader_epoch(&self) -> LeaderEpoch {
        self.role.load().leader_epoch
    }

    pub(super) fn is_leader(&self) -> bool {
        self.role.load().leader == Some(self.node_id)
    }

    /// The effective topic configs, as of the newest image.
    pub fn config(&self) -> Arc<TopicConfig> {
        Arc::clone(&self.role.load().config)
    }

    /// Offsets below it are committed: consumers see no others.
    pub fn high_watermark(&self) -> Offset {
        self.progress.borrow().high_watermark
    }

    /// Equal to the high watermark while no transaction is open.
    pub fn last_stable_offset(&self) -> Offset {
        self.high_watermark()
    }

    /// Appends validated batches as the leader, under this partition's epoch and timestamp type. It does not wait:
    /// the order of two appends is that of two calls. Wakes delayed fetches.
    ///
    /// With [`Acks::All`] it refuses when fewer replicas than `min.insync.replicas` are in sync.
    pub fn append(&self, batches: Vec<Batch>, acks: Acks) -> Result<Appended, ReplicaError> {
        let role = self.role.load();
        self.check_may_append(&role, acks)?;
        let bytes = batches.iter().map(|it| it.bytes.len()).sum();
        let context = AppendContext {
            leader_epoch: role.leader_epoch,
            now: now(),
            timestamp_type: role.config.timestamp_type,
        };
        let appended = self.log.append(batches, context)?;
        if !appended.duplicate {
            self.rate.lock().add(bytes, Instant::now());
            self.produced_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
            self.show(appended.last_offset + 1, bytes);
            self.flush_if_wanted();
        }
        Ok(appended)
    }

    /// Whether everything up to and including `last_offset` is committed as `acks` asks.
    pub fn is_committed(&self, last_offset: Offset, acks: Acks) -> bool {
        self.progress.borrow().has(last_offset, acks)
    }

    /// Waits until everything up to and including `last_offset` is committed as `acks` asks, and on disk where the topic does.
    ///
    /// # Errors
    ///
    /// [`ReplicaError::TimedOut`]; [`ReplicaError::NotLeader`] when leadership is lost; [`ReplicaError::Offline`] when the disk
    /// fails.
    pub async fn committed(
        &self,
        last_offset: Offset,
        acks: Acks,
        timeout: Duration,
    ) -> Result<(), ReplicaError> {
        if self.is_committed(last_offset, acks) {
            return Ok(());
        }
        let mut progress = self.progress.subscribe();
        let epoch = progress.borrow().leader_epoch;
        let is_over = |it: &Progress| {
            it.has(last_offset, acks) || it.gone || it.failed || it.leader_epoch != epoch
        };
        match tokio::time::timeout(timeout, progress.wait_for(is_over)).await {
            Ok(Ok(reached)) if reached.has(last_offset, acks) => Ok(()),
            Ok(Ok(reached)) if reached.failed => Err(ReplicaError::Offline),
            Ok(_) => Err(ReplicaError::NotLeader),
            Err(_) => Err(ReplicaError::TimedOut),
        }
    }

    /// Bytes appended a second, over the last minute or so.
    pub fn byte_rate(&self) -> f64 {
        self.rate.lock().per_second(Instant::now())
    }

    /// Takes note of bytes that a client is sent.
    pub fn fetched(&self, bytes: usize) {
        self.fetched_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes appended and bytes sent to clients, since this node opened the partition.
    pub(super) fn bytes(&self) -> (u64, u64) {
        let of = |it: &AtomicU64| it.load(Ordering::Relaxed);
        (of(&self.produced_bytes), of(&self.fetched_bytes))
    }

    /// Those of the log directory that the log lies in.
    pub(super) fn fsyncs(&self) -> Arc<Semaphore> {
        self.fsyncs.load_full()
    }

    pub(super) fn set_fsyncs(&self, fsyncs: &Arc<Semaphore>) {
        self.fsyncs.store(Arc::clone(fsyncs));
    }

    /// Takes over what a new image says.
    pub(super) fn set_role(&self, role: Role) {
        let leader_epoch = role.leader_epoch;
        let changed = self.leader_epoch() != leader_epoch;
        self.isr.lock().set_members(role.isr.clone());
        self.role.store(Arc::new(role));
        self.advance_stored();
        self.show_hidden();
        if changed {
            self.progress.send_modify(|it| it.leader_epoch = leader_epoch);
            self.purgatory.complete_all();
        }
    }

    /// The partition goes: whoever waits for it is told.
    pub(super) fn stop(&self) {
        let role = Role { leader: None, ..self.role.load().as_ref().clone() };
        self.role.store(Arc::new(role));
        self.progress.send_modify(|it| it.gone = true);
        self.purgatory.complete_all();
    }

    /// Its log's directory failed: whoever waits for it is told.
    pub(super) fn fail(&self) {
        self.progress.send_modify(|it| it.failed = true);
        self.purgatory.complete_all();
    }

    fn check_may_append(&self, role: &Role, acks: Acks) -> Result<(), ReplicaError> {
        if role.leader != Some(self.node_id) {
            return Err(ReplicaError::NotLeader);
        }
        // As in Kafka: more than there are cannot be asked for.
        let wanted = usize::try_from(role.config.min_insync_replicas).unwrap_or(0);
        let needed = wanted.min(role.replicas);
        if acks == Acks::All && self.isr.lock().size() < needed {
            return Err(ReplicaError::NotEnoughReplicas);
        }
        Ok(())
    }

    /// Bytes were appended that end at `end`: fetches that wait hear of them now or, if they do not count yet, when they do.
    fn show(&self, end: Offset, bytes: usize) {
        self.advance_stored();
        if self.high_watermark() >= end {
            self.purgatory.add(bytes);
            return;
        }
        self.hidden.lock().add(end, bytes);
        self.show_hidden();
    }

    /// Tells fetches that wait of what has come to count.
    pub(super) fn show_hidden(&self) {
        let bytes = self.hidden.lock().take(self.high_watermark());
        self.purgatory.add(bytes);
    }

    /// Takes note of how far this node's own log is stored.
    pub(super) fn advance_stored(&self) {
        let stored = self.log.stored_end();
        let high_watermark = self.isr.lock().advance(self.node_id, stored);
        self.progress.send_if_modified(|it| {
            let rises = it.high_watermark < high_watermark || it.stored < stored;
            it.high_watermark = it.high_watermark.max(high_watermark);
            it.stored = it.stored.max(stored);
            rises
        });
    }
}
