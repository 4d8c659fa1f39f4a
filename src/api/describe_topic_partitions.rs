//! `DescribeTopicPartitions` (key 75), version 0 (KIP-966).
//!
//! The partitions of topics, page by page: an answer that is full says where the next one begins.

use std::{collections::BTreeSet, ops::RangeInclusive};

use kafka_protocol::messages::{
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, TopicName as WireName,
    describe_topic_partitions_request::Cursor as From,
    describe_topic_partitions_response::{
        Cursor, DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
    },
};

use super::{
    Context, Rooms, authorized_operations, group_text,
    internal_topic::is_internal,
    reachable::{is_reachable, reachable_leader},
};
use crate::{
    base::{BrokerId, ErrorCode, TopicName},
    controller::validate_topic_name,
    metadata::{MetadataImage, PartitionImage, TopicImage},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=0;

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: DescribeTopicPartitionsRequest,
) -> DescribeTopicPartitionsResponse {
    let limit = rooms.config.node.max_request_partition_size_limit;
    answer(&rooms.quorum.image(), context, &request, limit)
}

fn answer(
    image: &MetadataImage,
    context: &Context,
    request: &DescribeTopicPartitionsRequest,
    limit: usize,
) -> DescribeTopicPartitionsResponse {
    let Ok(topics) = topics(image, request) else { return refused(request) };
    let wanted = usize::try_from(request.response_partition_limit).unwrap_or(0);
    let mut page = Page {
        image,
        context,
        remaining: wanted.min(limit).max(1),
        topics: Vec::new(),
        next: None,
    };
    for name in topics {
        let first = match &request.cursor {
            Some(it) if **it.topic_name == *name.as_str() => {
                usize::try_from(it.partition_index).unwrap_or(0)
            }
            _ => 0,
        };
        page.add(&name, first, !request.topics.is_empty());
        if page.next.is_some() {
            break;
        }
    }
    DescribeTopicPartitionsResponse::default().with_topics(page.topics).with_next_cursor(page.next)
}

/// The topics from the cursor on, sorted; all that exist if none is named.
fn topics(
    image: &MetadataImage,
    request: &DescribeTopicPartitionsRequest,
) -> Result<BTreeSet<TopicName>, ErrorCode> {
    let cursor = request.cursor.as_ref();
    if cursor.is_some_and(|it| it.partition_index < 0) {
        return Err(ErrorCode::InvalidRequest);
    }
    let is_left = |it: &TopicName| cursor.is_none_or(|from| it.as_str() >= &**from.topic_name);
    if request.topics.is_empty() {
        return Ok(image.topics.keys().filter(|it| is_left(it)).cloned().collect());
    }
    let names = request.topics.iter().map(|it| TopicName::from(&**it.name));
    let names: BTreeSet<_> = names.filter(is_left).collect();
    let names_it = |from: &From| names.contains(&TopicName::from(&**from.topic_name));
    if cursor.is_none_or(names_it) { Ok(names) } else { Err(ErrorCode::InvalidRequest) }
}

/// There is no code for the whole.
fn refused(request: &DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse {
    let topics = request.topics.iter().map(|it| {
        DescribeTopicPartitionsResponseTopic::default()
            .with_name(Some(it.name.clone()))
            .with_error_code(ErrorCode::InvalidRequest.code())
    });
    DescribeTopicPartitionsResponse::default().with_topics(topics.collect()).with_next_cursor(None)
}

/// An answer in the making.
struct Page<'a> {
    image: &'a MetadataImage,
    context: &'a Context,
    /// Partitions that still fit.
    remaining: usize,
    topics: Vec<DescribeTopicPartitionsResponseTopic>,
    next: Option<Cursor>,
}

impl Page<'_> {
    fn add(&mut self, name: &TopicName, first: usize, tells_missing: bool) {
        if self.remaining == 0 {
            self.next = Some(cursor(name, 0));
            return;
        }
        match self.image.topics.get(name) {
            Some(topic) => self.add_topic(topic, first),
            None if tells_missing => self.topics.push(missing(name)),
            None => {}
        }
    }

    fn add_topic(&mut self, topic: &TopicImage, first: usize) {
        let all = topic.partitions.iter().enumerate().skip(first);
        let partitions: Vec<_> =
            all.take(self.remaining).map(|(index, it)| self.partition(index, it)).collect();
        let end = first.saturating_add(partitions.len());
        if end < topic.partitions.len() {
            self.next = Some(cursor(&topic.name, end));
        }
        self.remaining -= partitions.len();
        self.topics.push(
            named(&topic.name, ErrorCode::None)
                .with_topic_id(topic.id.0)
                .with_partitions(partitions),
        );
    }

    fn partition(
        &self,
        index: usize,
        partition: &PartitionImage,
    ) -> DescribeTopicPartitionsResponsePartition {
        let ids = |ids: &[BrokerId]| ids.iter().map(|it| it.0.into()).collect();
        let listener = &self.context.listener;
        let is_offline = |it: &&BrokerId| !is_reachable(self.image, listener, **it);
        let offline: Vec<_> = partition.replicas.iter().filter(is_offline).copied().collect();
        let leader = reachable_leader(self.image, listener, partition);
        DescribeTopicPartitionsResponsePartition::default()
            .with_partition_index(index as i32)
            .with_leader_id(leader.map_or(-1, |it| it.0).into())
            .with_leader_epoch(partition.leader_epoch.0)
            .with_replica_nodes(ids(&partition.replicas))
            .with_isr_nodes(ids(&partition.isr))
            .with_eligible_leader_replicas(Some(Vec::new()))
            .with_last_known_elr(Some(Vec::new()))
            .with_offline_replicas(ids(&offline))
    }
}

fn cursor(topic: &TopicName, partition: usize) -> Cursor {
    Cursor::default().with_topic_name(wire(topic)).with_partition_index(partition as i32)
}

fn missing(name: &TopicName) -> DescribeTopicPartitionsResponseTopic {
    let is_name = validate_topic_name(name.as_str()).is_ok();
    named(
        name,
        if is_name { ErrorCode::UnknownTopicOrPartition } else { ErrorCode::InvalidTopicException },
    )
}

fn named(name: &TopicName, code: ErrorCode) -> DescribeTopicPartitionsResponseTopic {
    DescribeTopicPartitionsResponseTopic::default()
        .with_error_code(code.code())
        .with_name(Some(wire(name)))
        .with_is_internal(is_internal(name))
        .with_topic_authorized_operations(authorized_operations::TOPIC)
}

fn wire(name: &TopicName) -> WireName {
    group_text::wire(name.as_str()).into()
}

#[cfg(test)]
mod tests;
