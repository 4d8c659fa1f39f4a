//! A fetch request in the broker's words.

use std::time::Duration;

use kafka_protocol::messages::{
    FetchRequest,
    fetch_request::{FetchPartition as WirePartition, FetchTopic},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    base::{ErrorCode, LeaderEpoch, Offset, TopicId, TopicName, TopicPartition},
    metadata::MetadataImage,
    replica::{FetchParams, FetchPartition, Isolation},
};

/// Longest that a fetch waits, whatever it asks for. Clients give up after 30 to 60 seconds by default.
const WAIT_MAX: Duration = Duration::from_mins(5);

/// `fetch.max.bytes` of a broker: more is never read for one request.
const FETCH_BYTES_MAX: usize = 55 * 1024 * 1024;

/// From this version on, topics are named by id.
pub(super) const TOPIC_IDS_SINCE: i16 = 13;

/// How a request names a topic.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Topic {
    Name(TopicName),
    Id(TopicId),
}

/// A partition as the request names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Target {
    pub(super) topic: Topic,
    pub(super) partition: i32,
}

/// What is asked of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) fetch_offset: Offset,
    pub(super) max_bytes: usize,
    pub(super) current_leader_epoch: Option<LeaderEpoch>,
    pub(super) last_fetched_epoch: Option<LeaderEpoch>,
}

/// What holds for the whole request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    max_wait: Duration,
    min_bytes: usize,
    max_bytes: usize,
    pub(super) isolation: Isolation,
}

impl Limits {
    /// These, with no more than so many bytes.
    pub(super) fn at_most(self, bytes: usize) -> Self {
        Self { max_bytes: self.max_bytes.min(bytes), min_bytes: self.min_bytes.min(bytes), ..self }
    }

    pub(super) fn with(
        self,
        partitions: Vec<FetchPartition>,
        hurry: CancellationToken,
    ) -> FetchParams {
        let Self { max_wait, min_bytes, max_bytes, isolation } = self;
        FetchParams { max_wait, min_bytes, max_bytes, isolation, partitions, hurry }
    }
}

pub(super) fn limits(request: &FetchRequest) -> Limits {
    let max_bytes = size(request.max_bytes).min(FETCH_BYTES_MAX);
    Limits {
        max_wait: Duration::from_millis(u64::try_from(request.max_wait_ms).unwrap_or(0))
            .min(WAIT_MAX),
        min_bytes: size(request.min_bytes).min(max_bytes),
        max_bytes,
        isolation: match request.isolation_level {
            1 => Isolation::ReadCommitted,
            _ => Isolation::ReadUncommitted,
        },
    }
}

impl Topic {
    pub(super) fn new(name: &str, id: Uuid, version: i16) -> Self {
        if version >= TOPIC_IDS_SINCE { Self::Id(TopicId(id)) } else { Self::Name(name.into()) }
    }
}

impl Target {
    /// `None` where the request names the topic.
    pub(super) fn topic_id(&self) -> Option<TopicId> {
        match &self.topic {
            Topic::Name(_) => None,
            Topic::Id(id) => Some(*id),
        }
    }

    /// What the target is called now.
    pub(super) fn topic_partition(
        &self,
        image: &MetadataImage,
    ) -> Result<TopicPartition, ErrorCode> {
        let topic = match &self.topic {
            Topic::Name(name) => name.clone(),
            Topic::Id(id) => image.topic_names.get(id).cloned().ok_or(ErrorCode::UnknownTopicId)?,
        };
        Ok(TopicPartition { topic, partition: self.partition })
    }
}

/// The partitions of a request's topics, in its order.
pub(super) fn targets(topics: &[FetchTopic], version: i16) -> Vec<(Target, Asked)> {
    let of_topic = |it: &FetchTopic| {
        let topic = Topic::new(&it.topic, it.topic_id, version);
        let target = move |partition| Target { topic: topic.clone(), partition };
        it.partitions.iter().map(|it| (target(it.partition), asked(it))).collect::<Vec<_>>()
    };
    topics.iter().flat_map(of_topic).collect()
}

fn asked(partition: &WirePartition) -> Asked {
    Asked {
        fetch_offset: Offset(partition.fetch_offset),
        max_bytes: size(partition.partition_max_bytes),
        current_leader_epoch: epoch(partition.current_leader_epoch),
        last_fetched_epoch: epoch(partition.last_fetched_epoch),
    }
}

/// −1 is unknown.
fn epoch(epoch: i32) -> Option<LeaderEpoch> {
    (epoch >= 0).then_some(LeaderEpoch(epoch))
}

fn size(bytes: i32) -> usize {
    usize::try_from(bytes).unwrap_or(0)
}
