//! Consumer groups, driven by members that behave as real clients do.

mod client;
mod errors;
mod heartbeats;
mod offsets;
mod plugins;
mod random;
mod topics;
mod types;

use std::sync::Arc;

use uuid::Uuid;

use self::client::Client;
use super::{
    Assignors, ConsumerGroupState, ConsumerHeartbeatRequest, DescribedConsumerGroup, TopicFilter,
    TopicPartitions,
};
use crate::{
    base::TopicId,
    group::harness::{Harness, TIMES, settings},
};

const T: TopicId = TopicId(Uuid::from_u128(1));
const U: TopicId = TopicId(Uuid::from_u128(2));

/// With topic `t` of that many partitions.
fn harness(partitions: usize) -> Harness {
    let mut it = Harness::new(settings());
    it.topic(T, "t", Some(partitions));
    it
}

/// Partitions of topic `t`.
fn of_t(partitions: impl IntoIterator<Item = i32>) -> TopicPartitions {
    partitions.into_iter().map(|it| (T, it)).collect()
}

/// The first heartbeat of a member that reads `t`.
fn join(id: &str) -> ConsumerHeartbeatRequest {
    ConsumerHeartbeatRequest {
        group_id: "g".into(),
        member_id: id.into(),
        member_epoch: 0,
        group_instance_id: None,
        rack_id: None,
        rebalance_timeout_ms: Some(10_000),
        subscribed_topic_names: Some(["t".into()].into()),
        subscribed_topic_regex: None,
        server_assignor: None,
        topic_partitions: Some(TopicPartitions::default()),
        client_id: "c".into(),
        client_host: "/127.0.0.1".into(),
        api_version: 1,
        assignors: Assignors::default(),
        times: TIMES,
        may_describe: TopicFilter::all(),
    }
}

/// One that tells nothing but that the member lives.
fn beat(id: &str, member_epoch: i32) -> ConsumerHeartbeatRequest {
    ConsumerHeartbeatRequest {
        member_epoch,
        rebalance_timeout_ms: None,
        subscribed_topic_names: None,
        topic_partitions: None,
        ..join(id)
    }
}

/// One that tells what the member owns of `t`.
fn owning(
    id: &str,
    member_epoch: i32,
    partitions: impl IntoIterator<Item = i32>,
) -> ConsumerHeartbeatRequest {
    let topic_partitions = Some(of_t(partitions));
    ConsumerHeartbeatRequest { topic_partitions, ..beat(id, member_epoch) }
}

fn with_instance(request: ConsumerHeartbeatRequest, instance: &str) -> ConsumerHeartbeatRequest {
    ConsumerHeartbeatRequest { group_instance_id: Some(Arc::from(instance)), ..request }
}

fn described(it: &Harness) -> DescribedConsumerGroup {
    it.shard.describe_consumer(&"g".into()).unwrap()
}

fn state(it: &Harness) -> ConsumerGroupState {
    described(it).state
}
