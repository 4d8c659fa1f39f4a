//! Reading partitions, with the wait for more (KIP-74, long poll).

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::{
    Partition, Records, ReplicaError, ReplicaManager, off_workers, purgatory::DelayedFetch,
};
use crate::{
    base::{LeaderEpoch, Offset, TopicId, TopicPartition},
    log::{LogError, LogSlice, NotAtHand},
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
    /// The topic that is meant, which may have been made anew under its name; `None` for whichever has the name.
    pub topic_id: Option<TopicId>,
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
    /// Ends the wait before its time, with what is there.
    pub hurry: CancellationToken,
}

/// One partition's answer, in the order of the request.
pub struct FetchedPartition {
    pub topic_partition: TopicPartition,
    pub result: Result<FetchedData, ReplicaError>,
}

pub struct FetchedData {
    pub partition: Arc<Partition>,
    pub high_watermark: Offset,
    pub last_stable_offset: Offset,
    pub log_start_offset: Offset,
    /// Where the epoch that the reader named last ended, if it has read beyond that; there are no `records` then.
    pub diverging_epoch: Option<(LeaderEpoch, Offset)>,
    /// Whole batches as stored.
    pub records: Option<Records>,
}

impl FetchedData {
    /// Bytes of records.
    pub fn bytes(&self) -> usize {
        self.records.as_ref().map_or(0, |it| it.slice.len())
    }
}

/// A partition as it stands when it is read.
struct View {
    partition: Arc<Partition>,
    fetch_offset: Offset,
    max_bytes: usize,
    high_watermark: Offset,
    last_stable_offset: Offset,
    /// What is read ends below.
    ceiling: Offset,
    diverging_epoch: Option<(LeaderEpoch, Offset)>,
}

/// What lies in the logs for each view.
type Found = Vec<Result<Option<Records>, ReplicaError>>;

impl ReplicaManager {
    /// Reads, and waits in the purgatory up to `max_wait` while less than `min_bytes` are there and no partition has an error.
    pub async fn fetch(self: &Arc<Self>, params: FetchParams) -> Vec<FetchedPartition> {
        let deadline = Instant::now() + params.max_wait;
        let params = Arc::new(params);
        let mut round = self.read(&params).await;
        let is_over = || params.hurry.is_cancelled() || Instant::now() >= deadline;
        while !round.is_enough(&params) && !is_over() {
            let delayed = DelayedFetch::new(params.min_bytes);
            let _registered = round.delay(&delayed);
            // What came before the registration wakes nobody.
            if round.is_over() {
                round = self.read(&params).await;
                if round.is_enough(&params) {
                    break;
                }
            }
            delayed.add(round.bytes);
            let has_something = round.bytes > 0;
            round.let_go();
            let completed = params.hurry.run_until_cancelled(delayed.completed());
            let waited = timeout_at(deadline, completed).await;
            if waited != Ok(Some(())) && !has_something {
                break;
            }
            round = self.read(&params).await;
        }
        round.answers
    }

    /// Looks at every partition once. What one must wait for the disk to find is looked for off the runtime's workers.
    async fn read(self: &Arc<Self>, params: &Arc<FetchParams>) -> Round {
        let views = params.partitions.iter().map(|it| self.view(params.isolation, it)).collect();
        if let Ok(found) = self.at_hand(&views, params.max_bytes) {
            return Round::new(params, views, found);
        }
        let (replicas, max_bytes) = (Arc::clone(self), params.max_bytes);
        let search = move || {
            let found = replicas.on_disk(&views, max_bytes);
            (views, found)
        };
        let (views, found) = off_workers(search).await;
        Round::new(params, views, found)
    }

    fn view(&self, isolation: Isolation, asked: &FetchPartition) -> Result<View, ReplicaError> {
        let partition = self.asked_leader(asked)?;
        // In this order: what is stable is below what is committed.
        let last_stable_offset = partition.last_stable_offset();
        let high_watermark = partition.high_watermark();
        let ceiling = match isolation {
            Isolation::ReadUncommitted => high_watermark,
            Isolation::ReadCommitted => last_stable_offset,
        };
        let diverging_epoch = diverging(&partition, asked)?;
        if diverging_epoch.is_none() {
            partition.log().check_offset(asked.fetch_offset)?;
        }
        Ok(View {
            diverging_epoch,
            partition,
            fetch_offset: asked.fetch_offset,
            max_bytes: asked.max_bytes,
            high_watermark,
            last_stable_offset,
            ceiling,
        })
    }

    /// The partition, if it is of the topic that is meant: what else is wrong with another one's is not told.
    fn asked_leader(&self, asked: &FetchPartition) -> Result<Arc<Partition>, ReplicaError> {
        let found = self.leader(&asked.topic_partition, asked.current_leader_epoch);
        let topic_id = match &found {
            Ok(partition) => Some(partition.topic_id),
            Err(_) => self.topic_id(&asked.topic_partition),
        };
        match asked.topic_id.zip(topic_id) {
            Some((asked, found)) if asked != found => Err(ReplicaError::InconsistentTopicId),
            _ => found,
        }
    }

    /// What readers find that follow their logs.
    fn at_hand(&self, views: &Views, max_bytes: usize) -> Result<Found, NotAtHand> {
        let found = self.gather(views, max_bytes, |view, max_bytes, _| {
            view.partition.log().slice_at_hand(view.fetch_offset, view.ceiling, max_bytes)
        });
        found.into_iter().map(|it| it.map(Ok)).collect()
    }

    fn on_disk(&self, views: &Views, max_bytes: usize) -> Found {
        let found = self.gather(views, max_bytes, |view, max_bytes, is_first| {
            view.partition.log().slice(view.fetch_offset, view.ceiling, max_bytes, is_first)
        });
        found.into_iter().map(|it| it.map_err(ReplicaError::from)).collect()
    }

    /// Slices in the order of the request, all together within its bytes; the first may be larger.
    fn gather<E>(
        &self,
        views: &Views,
        max_bytes: usize,
        locate: impl Fn(&View, usize, bool) -> Result<Option<LogSlice>, E>,
    ) -> Vec<Result<Option<Records>, E>> {
        let mut bytes = 0;
        let mut hold = |view: &View| {
            let max_bytes = view.max_bytes.min(max_bytes.saturating_sub(bytes));
            let slice = locate(view, max_bytes, bytes == 0)?;
            let records = slice.and_then(|it| self.held_open.hold(it, bytes == 0));
            bytes += records.as_ref().map_or(0, |it| it.slice.len());
            Ok(records)
        };
        let readable = |it: &View| it.diverging_epoch.is_none();
        let views = views.iter().map(|it| it.as_ref().ok().filter(|it| readable(it)));
        views.map(|it| it.map_or(Ok(None), &mut hold)).collect()
    }
}

type Views = Vec<Result<View, ReplicaError>>;

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

impl View {
    fn with(self, records: Option<Records>) -> FetchedData {
        FetchedData {
            log_start_offset: self.partition.log().log_start_offset(),
            partition: self.partition,
            high_watermark: self.high_watermark,
            last_stable_offset: self.last_stable_offset,
            diverging_epoch: self.diverging_epoch,
            records,
        }
    }
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
    fn new(params: &FetchParams, views: Views, found: Found) -> Self {
        let mut round = Self::default();
        for ((asked, view), records) in params.partitions.iter().zip(views).zip(found) {
            let result = view.and_then(|view| Ok(view.with(records?)));
            match &result {
                Ok(data) => {
                    round.bytes += data.bytes();
                    round.is_urgent |= data.diverging_epoch.is_some();
                }
                Err(_) => round.is_urgent = true,
            }
            let topic_partition = asked.topic_partition.clone();
            round.answers.push(FetchedPartition { topic_partition, result });
        }
        round
    }

    /// Takes a place in the purgatory of each partition.
    fn delay(&self, delayed: &Arc<DelayedFetch>) -> Vec<Registered> {
        let register = |it: &FetchedData| {
            let key = it.partition.purgatory.delay(delayed);
            Registered { key, partition: Arc::clone(&it.partition) }
        };
        self.data().map(register).collect()
    }

    /// Whether a partition is not any more as it was found.
    fn is_over(&self) -> bool {
        self.data().any(|it| {
            it.partition.high_watermark() > it.high_watermark || !it.partition.is_leader()
        })
    }

    /// Who waits holds no file open: what is there is looked up again when the wait is over.
    fn let_go(&mut self) {
        let data = self.answers.iter_mut().filter_map(|it| it.result.as_mut().ok());
        data.for_each(|it| it.records = None);
    }

    fn data(&self) -> impl Iterator<Item = &FetchedData> {
        self.answers.iter().filter_map(|it| it.result.as_ref().ok())
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
