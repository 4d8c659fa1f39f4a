//! `ConsumerGroupHeartbeat` (key 68), versions 0 to 1 (KIP-848).
//!
//! A member of a consumer group joins, shows that it lives, tells what changed, and learns what it is assigned.
//!
//! | version | adds                                                               | source   |
//! |---------|--------------------------------------------------------------------|----------|
//! | 0       | the member's id is made here                                       | KIP-848  |
//! | 1       | subscription by regular expression; the member's id is its own     | KIP-1082 |

mod reason;

use std::{collections::BTreeSet, ops::RangeInclusive, sync::Arc};

use kafka_protocol::messages::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
    consumer_group_heartbeat_request::TopicPartitions as Owned,
    consumer_group_heartbeat_response::{Assignment, TopicPartitions as Assigned},
};
use reason::reason;
use uuid::Uuid;

use super::{Context, Rooms, consumer_protocol, group_text, refusal::sentence};
use crate::{
    base::{ErrorCode, MemberId, PluginName, TopicId, TopicName, kafka_uuid},
    config::group::ConsumerTimes,
    group::consumer::{
        Assignors, ConsumerHeartbeat, ConsumerHeartbeatRequest, TopicFilter, TopicPartitions,
    },
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=1;

/// What a member that joins tells: it is not an epoch that any has.
const JOINING: i32 = 0;

/// From here on clients make the ids of members.
const OWN_MEMBER_ID_SINCE: i16 = 1;

/// Bytes of what one member subscribes to: what it tells is stored in one record.
const SUBSCRIPTION_BYTES_MAX: usize = 512 * 1024;

/// Why a heartbeat is refused; the message is for people, and missing where the code says it all.
type Refused = (ErrorCode, Option<String>);

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: ConsumerGroupHeartbeatRequest,
) -> ConsumerGroupHeartbeatResponse {
    match beat(rooms, context, &request).await {
        Ok(beaten) => answer(beaten),
        Err((code, message)) => ConsumerGroupHeartbeatResponse::default()
            .with_error_code(code.code())
            .with_error_message(message.map(sentence)),
    }
}

async fn beat(
    rooms: &Rooms,
    context: &Context,
    request: &ConsumerGroupHeartbeatRequest,
) -> Result<ConsumerHeartbeat, Refused> {
    if !consumer_protocol::is_served(rooms) {
        return Err((ErrorCode::UnsupportedVersion, None));
    }
    if subscription_bytes(request) > SUBSCRIPTION_BYTES_MAX {
        let reason = "The subscription is too large to be stored.";
        return Err((ErrorCode::InvalidRequest, Some(reason.into())));
    }
    let read = read(context, request).map_err(|code| (code, None))?;
    rooms.groups.consumer_heartbeat(read).await.map_err(|error| {
        let max_size = rooms.config.group.consumer.max_size;
        let reason = reason(&error, request, max_size, || consumer_protocol::assignors(rooms));
        (error.into(), reason)
    })
}

fn subscription_bytes(request: &ConsumerGroupHeartbeatRequest) -> usize {
    let names = request.subscribed_topic_names.iter().flatten();
    let regex = request.subscribed_topic_regex.as_ref().map_or(0, |it| it.len());
    names.map(|it| it.len()).sum::<usize>() + regex
}

fn read(
    context: &Context,
    request: &ConsumerGroupHeartbeatRequest,
) -> Result<ConsumerHeartbeatRequest, ErrorCode> {
    let names = request.subscribed_topic_names.as_ref();
    let names = names.map(|it| it.iter().map(|it| group_text::copy(it).map(TopicName)).collect());
    let assignor = group_text::copy_nullable(request.server_assignor.as_ref())?;
    Ok(ConsumerHeartbeatRequest {
        group_id: group_text::group_id(&request.group_id)?,
        member_id: member_id(context.api_version, request)?,
        member_epoch: request.member_epoch,
        group_instance_id: group_text::copy_nullable(request.instance_id.as_ref())?,
        rack_id: group_text::copy_nullable(request.rack_id.as_ref())?,
        rebalance_timeout_ms: Some(request.rebalance_timeout_ms).filter(|&it| it != -1),
        subscribed_topic_names: names.transpose()?,
        subscribed_topic_regex: group_text::copy_nullable(request.subscribed_topic_regex.as_ref())?,
        server_assignor: assignor.map(PluginName),
        topic_partitions: request.topic_partitions.as_deref().map(owned),
        client_id: Arc::clone(&context.client_id),
        client_host: format!("/{}", context.client_host).into(),
        api_version: context.api_version,
        assignors: Assignors::default(),
        times: ConsumerTimes::default(),
        may_describe: TopicFilter::all(),
    })
}

/// The member's own, or a new one for who joins without and may.
fn member_id(version: i16, request: &ConsumerGroupHeartbeatRequest) -> Result<MemberId, ErrorCode> {
    let joins = request.member_epoch == JOINING && version < OWN_MEMBER_ID_SINCE;
    if joins && request.member_id.is_empty() {
        return Ok(MemberId(kafka_uuid::encode(Uuid::new_v4()).into()));
    }
    group_text::copy(&request.member_id).map(MemberId)
}

fn owned(topics: &[Owned]) -> TopicPartitions {
    let of_topic = |it: &Owned| {
        let topic = TopicId(it.topic_id);
        it.partitions.clone().into_iter().map(move |partition| (topic, partition))
    };
    topics.iter().flat_map(of_topic).collect()
}

fn answer(beaten: ConsumerHeartbeat) -> ConsumerGroupHeartbeatResponse {
    ConsumerGroupHeartbeatResponse::default()
        .with_member_id(Some(group_text::wire(beaten.member_id.as_str())))
        .with_member_epoch(beaten.member_epoch)
        .with_heartbeat_interval_ms(beaten.heartbeat_interval_ms)
        .with_assignment(beaten.assignment.map(assignment))
}

fn assignment(partitions: TopicPartitions) -> Assignment {
    let of_topic = |(topic, partitions): (TopicId, BTreeSet<i32>)| {
        Assigned::default().with_topic_id(topic.0).with_partitions(partitions.into_iter().collect())
    };
    let topics = partitions.0.into_iter().map(of_topic);
    Assignment::default().with_topic_partitions(topics.collect())
}

#[cfg(test)]
mod tests;
