//! What a heartbeat must be, whatever its group is: Kafka's `throwIfConsumerGroupHeartbeatRequestIsInvalid`, in its order and words.

use std::collections::BTreeSet;

use kafka_protocol::messages::ConsumerGroupHeartbeatRequest;

use super::JOINING;
use crate::base::PluginName;

const LEAVING: i32 = -1;

/// Of a static member that will come back.
const LEAVING_FOR_A_WHILE: i32 = -2;

/// From here on clients make the ids of members.
const OWN_MEMBER_ID_SINCE: i16 = 1;

/// Bytes of what one member subscribes to: what it tells is stored in one record.
const SUBSCRIPTION_BYTES_MAX: usize = 512 * 1024;

pub(super) fn shape(
    request: &ConsumerGroupHeartbeatRequest,
    version: i16,
) -> Result<(), &'static str> {
    let epoch = request.member_epoch;
    let has_member_id = version >= OWN_MEMBER_ID_SINCE || epoch > JOINING || epoch == LEAVING;
    let is_empty = |it: &Option<_>| {
        it.as_ref().is_some_and(|it: &kafka_protocol::protocol::StrBytes| it.is_empty())
    };
    if has_member_id && request.member_id.is_empty() {
        return Err("MemberId can't be empty.");
    }
    if request.group_id.is_empty() {
        return Err("GroupId can't be empty.");
    }
    if is_empty(&request.instance_id) {
        return Err("InstanceId can't be empty.");
    }
    if is_empty(&request.rack_id) {
        return Err("RackId can't be empty.");
    }
    if subscription_bytes(request) > SUBSCRIPTION_BYTES_MAX {
        return Err("The subscription is too large to be stored.");
    }
    match epoch {
        JOINING => joining(request),
        LEAVING_FOR_A_WHILE if request.instance_id.is_none() => Err("InstanceId can't be null."),
        LEAVING_FOR_A_WHILE.. => Ok(()),
        _ => Err("MemberEpoch is invalid."),
    }
}

fn joining(request: &ConsumerGroupHeartbeatRequest) -> Result<(), &'static str> {
    if request.rebalance_timeout_ms == -1 {
        return Err("RebalanceTimeoutMs must be provided in first request.");
    }
    if !request.topic_partitions.as_ref().is_some_and(Vec::is_empty) {
        return Err("TopicPartitions must be empty when (re-)joining.");
    }
    if request.subscribed_topic_names.is_none() && request.subscribed_topic_regex.is_none() {
        return Err(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        );
    }
    Ok(())
}

fn subscription_bytes(request: &ConsumerGroupHeartbeatRequest) -> usize {
    let names = request.subscribed_topic_names.iter().flatten();
    let regex = request.subscribed_topic_regex.as_ref().map_or(0, |it| it.len());
    names.map(|it| it.len()).sum::<usize>() + regex
}

pub(super) fn assignor(name: &str, known: &BTreeSet<PluginName>) -> Result<(), String> {
    if known.contains(name) {
        return Ok(());
    }
    let known: Vec<&str> = known.iter().map(PluginName::as_str).collect();
    let known = known.join(", ");
    Err(format!("ServerAssignor {name} is not supported. Supported assignors: {known}."))
}
