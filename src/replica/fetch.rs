//! Reading partitions, with the wait for more (KIP-74, long poll).

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::time::Instant;

use super::{Partition, ReadShare, ReplicaError, ReplicaManager, purgatory::DelayedFetch};
use crate::{
    base::{LeaderEpoch, Offset, TopicPartition},
    log::LogError,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
}

/// One partition to read.
#[derive(Clone, Debug)]
pub struct FetchPartition {
    pub topic_partition: TopicPartition,
    pub fetch_offset: Offset,
    pub max_bytes: usize,
    /// `None` when the client does not know it.
    pub current_leader_epoch: Option<LeaderEpoch>,
    /// Epoch of the last record that the reader has; where that ended elsewhere the reader diverged (KIP-595).
    pub last_fetched_epoch: Option<LeaderEpoch>,
}

/// One fetch over some partitions.
#[derive(Clone, Debug)]
pub struct FetchParams {
    pub max_wait: Duration,
    pub min_bytes: usize,
    pub max_bytes: usize,
    pub isolation: Isolation,
    pub partitions: Vec<FetchPartition>,
}

/// One partition's answer, in the order of the request.
pub struct FetchedPartition {
    pub topic_partition: TopicPartition,
    pub result: Result<FetchedData, ReplicaError>,
    /// Of all partitions together, to be held as long as their records or a copy of them are.
    pub share: Arc<ReadShare>,
}

pub struct FetchedData {
    pub partition: Arc<Partition>,
    pub high_watermark: Offset,
    pub last_stable_offset: Offset,
    pub log_start_offset: Offset,
    /// Where the epoch that the reader named last ended, if it has read beyond that; `records` are then empty.
    pub diverging_epoch: Option<(LeaderEpoch, Offset)>,
    /// Whole batches as stored; empty when there is nothing new.
    pub records: Bytes,
}

impl ReplicaManager {
    /// Reads, and waits in the purgatory up to `max_wait` while less than `min_bytes` are there and no partition has an error.
    pub async fn fetch(self: &Arc<Self>, params: FetchParams) -> Vec<FetchedPartition> {
        let deadline = Instant::now() + params.max_wait;
        let params = Arc::new(params);
        let mut round = self.read(&params).await;
        while !round.is_enough(&params) && Instant::now() < deadline {
            let delayed = DelayedFetch::new(params.min_bytes);
            let _registered = self.delay(&params, &delayed);
            // Read again: what came before the registration wakes nobody.
            round = self.read(&params).await;
            if round.is_enough(&params) {
                break;
            }
            delayed.add(round.bytes);
            if tokio::time::timeout_at(deadline, delayed.completed()).await.is_ok() {
                round = self.read(&params).await;
            } else {
                break;
            }
        }
        round.answers
    }

    fn delay(&self, params: &FetchParams, delayed: &Arc<DelayedFetch>) -> Vec<Registered> {
        let partitions = params.partitions.iter().filter_map(|it| self.find(&it.topic_partition));
        partitions
            .map(|it| Registered { key: it.purgatory.delay(delayed), partition: it })
            .collect()
    }

    /// Reads every partition once. Disk is read off the runtime's workers; where there is nothing to read, nothing is.
    async fn read(self: &Arc<Self>, params: &Arc<FetchParams>) -> Round {
        let has_news = |it: &FetchPartition| {
            self.find(&it.topic_partition).is_some_and(|at| at.high_watermark() > it.fetch_offset)
        };
        if !params.partitions.iter().any(has_news) {
            return self.read_now(params, self.read_budget.take(0));
        }
        let wanted =
            params.partitions.iter().fold(0, |sum: usize, it| sum.saturating_add(it.max_bytes));
        let share = self.read_budget.take(wanted.min(params.max_bytes));
        let (replicas, params) = (Arc::clone(self), Arc::clone(params));
        match tokio::task::spawn_blocking(move || replicas.read_now(&params, share)).await {
            Ok(round) => round,
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        }
    }

    fn read_now(&self, params: &FetchParams, mut share: ReadShare) -> Round {
        let max_bytes = params.max_bytes.min(share.bytes());
        let mut results = Vec::with_capacity(params.partitions.len());
        let mut bytes = 0;
        for asked in &params.partitions {
            let max_bytes = asked.max_bytes.min(max_bytes.saturating_sub(bytes));
            let result = self.read_partition(params.isolation, asked, max_bytes, bytes == 0);
            bytes += result.as_ref().map_or(0, |it| it.records.len());
            results.push((asked, result));
        }
        share.shrink(bytes);
        let (share, mut round) = (Arc::new(share), Round::default());
        for (asked, result) in results {
            round.push(asked, result, &share);
        }
        round
    }

    fn read_partition(
        &self,
        isolation: Isolation,
        asked: &FetchPartition,
        max_bytes: usize,
        at_least_one: bool,
    ) -> Result<FetchedData, ReplicaError> {
        let partition = self.leader(&asked.topic_partition, asked.current_leader_epoch)?;
        // In this order: what is stable is below what is committed.
        let last_stable_offset = partition.last_stable_offset();
        let high_watermark = partition.high_watermark();
        let ceiling = match isolation {
            Isolation::ReadUncommitted => high_watermark,
            Isolation::ReadCommitted => last_stable_offset,
        };
        let log = Arc::clone(partition.log());
        let diverging_epoch = diverging(&partition, asked)?;
        let records = match diverging_epoch {
            Some(_) => Bytes::new(),
            None => log.read(asked.fetch_offset, ceiling, max_bytes, at_least_one)?.records,
        };
        let log_start_offset = log.log_start_offset();
        Ok(FetchedData {
            partition,
            high_watermark,
            last_stable_offset,
            log_start_offset,
            diverging_epoch,
            records,
        })
    }
}

/// As Kafka's `Partition.readRecords`.
fn diverging(
    partition: &Partition,
    asked: &FetchPartition,
) -> Result<Option<(LeaderEpoch, Offset)>, ReplicaError> {
    let Some(last_fetched) = asked.last_fetched_epoch else { return Ok(None) };
    let log = partition.log();
    let Some((epoch, end)) = log.end_offset_for_epoch(last_fetched) else {
        return Err(ReplicaError::Log(LogError::OffsetOutOfRange {
            asked: asked.fetch_offset,
            log_start: log.log_start_offset(),
            log_end: log.log_end_offset(),
        }));
    };
    Ok((epoch < last_fetched || end < asked.fetch_offset).then_some((epoch, end)))
}

/// What one pass over the partitions gave.
#[derive(Default)]
struct Round {
    answers: Vec<FetchedPartition>,
    bytes: usize,
    /// A partition has something to say that cannot wait.
    is_urgent: bool,
}

impl Round {
    fn push(
        &mut self,
        asked: &FetchPartition,
        result: Result<FetchedData, ReplicaError>,
        share: &Arc<ReadShare>,
    ) {
        match &result {
            Ok(data) => {
                self.bytes += data.records.len();
                self.is_urgent |= data.diverging_epoch.is_some();
            }
            Err(_) => self.is_urgent = true,
        }
        let topic_partition = asked.topic_partition.clone();
        self.answers.push(FetchedPartition { topic_partition, result, share: Arc::clone(share) });
    }

    fn is_enough(&self, params: &FetchParams) -> bool {
        self.is_urgent || self.bytes >= params.min_bytes || self.answers.is_empty()
    }
}

/// A fetch's place in one partition's purgatory, left when this is dropped.
struct Registered {
    partition: Arc<Partition>,
    key: u64,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.partition.purgatory.remove(self.key);
    }
}
