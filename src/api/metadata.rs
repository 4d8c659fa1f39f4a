//! `Metadata` (key 3), versions 0 to 13.
//!
//! | version | adds                                                       | source   |
//! |---------|------------------------------------------------------------|----------|
//! | 1       | null for all topics (an empty list meant that before)      | KIP-4    |
//! | 2       | cluster id                                                 | KIP-78   |
//! | 4       | whether unknown topics may be created                      | KIP-4    |
//! | 7       | leader epochs                                              | KIP-320  |
//! | 8       | authorized operations; those of the cluster until 10       | KIP-430  |
//! | 9       | flexible encoding                                          | KIP-482  |
//! | 12      | topics by id                                               | KIP-516  |
//! | 13      | an error for the whole answer, which Klamm never needs     | KIP-1102 |
//!
//! Unknown topics are created (`auto.create.topics.enable`) before the answer, which then has their partitions: Kafka answers
//! `LEADER_NOT_AVAILABLE` first and lets the client ask again. Brokers are named by the listener that the caller came in by.

mod auto_creation;

use std::{collections::BTreeSet, ops::RangeInclusive};

use kafka_protocol::{
    messages::{
        MetadataRequest, MetadataResponse,
        metadata_request::MetadataRequestTopic,
        metadata_response::{
            MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
        },
    },
    protocol::StrBytes,
};
use uuid::Uuid;

use self::auto_creation::{Failures, create_missing};
use super::{
    Context, Rooms, authorized_operations, internal_topic::is_internal,
    metadata_change::MetadataChange, reachable::is_reachable,
};
use crate::{
    base::{BrokerId, ErrorCode, TopicId, TopicName, TopicPartition},
    controller::validate_topic_name,
    metadata::{BrokerImage, MetadataImage, PartitionImage, TopicImage},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=13;

/// How long a topic that is created on the way may take to get its partitions.
const CREATION_TIMEOUT_MS: i32 = 10_000;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: MetadataRequest,
) -> MetadataResponse {
    let change = MetadataChange::new(rooms, false, CREATION_TIMEOUT_MS);
    let mut response = answer(&change, context, &request).await;
    if rooms.replicas.may_have_offline() {
        let is_offline = |partition: &TopicPartition| rooms.replicas.is_offline(partition);
        tell_offline(&mut response, change.config.node.id, context.api_version, is_offline);
    }
    response
}

/// A topic that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    Name(TopicName),
    Id(TopicId),
    /// Both or neither, or an id in a version without them.
    Malformed(Option<TopicName>, TopicId),
}

async fn answer(
    change: &MetadataChange<'_>,
    context: &Context,
    request: &MetadataRequest,
) -> MetadataResponse {
    let version = context.api_version;
    let asked = asked(version, request);
    let may_create =
        request.allow_auto_topic_creation && change.config.node.auto_create_topics_enable;
    let failures = match &asked {
        Some(asked) if may_create => create_missing(change, context, asked).await,
        _ => Failures::default(),
    };
    let image = change.quorum.image();
    let answering = Answering { image: &image, context, request, failures: &failures };
    let topics = match &asked {
        None => image.topics.values().map(|it| answering.topic(it)).collect(),
        Some(asked) => asked.iter().map(|it| answering.asked(it)).collect(),
    };
    answering.response(change.config.node.id, topics)
}

/// `None` for all topics.
fn asked(version: i16, request: &MetadataRequest) -> Option<Vec<Asked>> {
    let topics = request.topics.as_ref()?;
    if version == 0 && topics.is_empty() {
        return None;
    }
    let mut seen = BTreeSet::new();
    let asked = topics.iter().map(|it| asked_topic(version, it));
    Some(asked.filter(|it| seen.insert(it.clone())).collect())
}

fn asked_topic(version: i16, topic: &MetadataRequestTopic) -> Asked {
    let name = topic.name.as_ref().map(|it| TopicName::from(&*it.0));
    let id = TopicId(topic.topic_id);
    match (name, id.0.is_nil()) {
        (Some(name), true) => Asked::Name(name),
        // The id wins, as in Kafka.
        (_, false) if version >= 12 => Asked::Id(id),
        (name, _) => Asked::Malformed(name, id),
    }
}

/// What every part of an answer depends on.
struct Answering<'a> {
    image: &'a MetadataImage,
    context: &'a Context,
    request: &'a MetadataRequest,
    failures: &'a Failures,
}

impl Answering<'_> {
    fn response(
        &self,
        controller: BrokerId,
        topics: Vec<MetadataResponseTopic>,
    ) -> MetadataResponse {
        let brokers = self.image.active_brokers().filter_map(|(id, it)| self.broker(id, it));
        let cluster_id = StrBytes::from_string(self.image.cluster_id.to_string());
        let response = MetadataResponse::default()
            .with_brokers(brokers.collect())
            .with_cluster_id(Some(cluster_id))
            .with_controller_id(controller.0.into())
            .with_topics(topics);
        let wants_operations = self.request.include_cluster_authorized_operations
            && (8..=10).contains(&self.context.api_version);
        if wants_operations {
            return response.with_cluster_authorized_operations(authorized_operations::CLUSTER);
        }
        response
    }

    /// `None` when the broker has no listener of the caller's name.
    fn broker(&self, id: BrokerId, broker: &BrokerImage) -> Option<MetadataResponseBroker> {
        let listener = broker.listener(&self.context.listener)?;
        Some(
            MetadataResponseBroker::default()
                .with_node_id(id.0.into())
                .with_host(StrBytes::from_string(listener.host.clone()))
                .with_port(listener.port.into())
                .with_rack(broker.rack.clone().map(StrBytes::from_string)),
        )
    }

    fn asked(&self, asked: &Asked) -> MetadataResponseTopic {
        match asked {
            Asked::Name(name) => match self.image.topics.get(name) {
                Some(topic) => self.topic(topic),
                None => self.unknown(Some(name), TopicId(Uuid::nil()), self.why_unknown(name)),
            },
            Asked::Id(id) => match self.image.topic_by_id(*id) {
                Some(topic) => self.topic(topic),
                None => self.unknown(None, *id, ErrorCode::UnknownTopicId),
            },
            Asked::Malformed(name, id) => {
                self.unknown(name.as_ref(), *id, ErrorCode::InvalidRequest)
            }
        }
    }

    fn why_unknown(&self, name: &TopicName) -> ErrorCode {
        if validate_topic_name(name.as_str()).is_err() {
            return ErrorCode::InvalidTopicException;
        }
        self.failures.get(name).copied().unwrap_or(ErrorCode::UnknownTopicOrPartition)
    }

    fn unknown(
        &self,
        name: Option<&TopicName>,
        id: TopicId,
        code: ErrorCode,
    ) -> MetadataResponseTopic {
        let name = name.map(|it| StrBytes::from_string(it.to_string()).into());
        // Versions before 12 have no null here.
        let name = name.or_else(|| (self.context.api_version < 12).then(Default::default));
        self.with_id(MetadataResponseTopic::default().with_name(name), id)
            .with_error_code(code.code())
    }

    fn topic(&self, topic: &TopicImage) -> MetadataResponseTopic {
        let name = StrBytes::from_string(topic.name.to_string());
        let partitions = (0..).zip(&topic.partitions).map(|(index, it)| self.partition(index, it));
        let response = MetadataResponseTopic::default()
            .with_name(Some(name.into()))
            .with_is_internal(is_internal(&topic.name))
            .with_partitions(partitions.collect());
        let response = self.with_id(response, topic.id);
        let wants_operations =
            self.request.include_topic_authorized_operations && self.context.api_version >= 8;
        if wants_operations {
            return response.with_topic_authorized_operations(authorized_operations::TOPIC);
        }
        response
    }

    fn with_id(&self, topic: MetadataResponseTopic, id: TopicId) -> MetadataResponseTopic {
        if self.context.api_version >= 10 { topic.with_topic_id(id.0) } else { topic }
    }

    fn partition(&self, index: i32, partition: &PartitionImage) -> MetadataResponsePartition {
        let ids = |ids: &[BrokerId]| ids.iter().map(|it| it.0.into()).collect();
        let offline: Vec<BrokerId> =
            partition.replicas.iter().filter(|it| !self.is_reachable(**it)).copied().collect();
        let (error, leader) = match self.leader(partition) {
            Ok(leader) => (ErrorCode::None, leader.0),
            Err(error) => (error, -1),
        };
        let response = MetadataResponsePartition::default()
            .with_error_code(error.code())
            .with_partition_index(index)
            .with_leader_id(leader.into())
            .with_replica_nodes(ids(&partition.replicas))
            .with_isr_nodes(ids(&partition.isr));
        let response = match self.context.api_version {
            5.. => response.with_offline_replicas(ids(&offline)),
            _ => response,
        };
        match self.context.api_version {
            7.. => response.with_leader_epoch(partition.leader_epoch.0),
            _ => response,
        }
    }

    /// Who leads, if the caller can reach it.
    fn leader(&self, partition: &PartitionImage) -> Result<BrokerId, ErrorCode> {
        let leader = partition.leader.ok_or(ErrorCode::LeaderNotAvailable)?;
        if self.is_reachable(leader) {
            return Ok(leader);
        }
        let is_known = self.image.brokers.contains_key(&leader);
        Err(if is_known && self.context.api_version >= 6 {
            ErrorCode::ListenerNotFound
        } else {
            ErrorCode::LeaderNotAvailable
        })
    }

    /// Whether the caller can be told an address of the broker.
    fn is_reachable(&self, id: BrokerId) -> bool {
        is_reachable(self.image, &self.context.listener, id)
    }
}

/// A partition in a log directory that failed has no leader, and its replica here is offline (KIP-112).
fn tell_offline(
    response: &mut MetadataResponse,
    node: BrokerId,
    version: i16,
    is_offline: impl Fn(&TopicPartition) -> bool,
) {
    for topic in &mut response.topics {
        let Some(name) = topic.name.as_ref().map(|it| TopicName::from(&*it.0)) else { continue };
        for partition in &mut topic.partitions {
            let key = TopicPartition { topic: name.clone(), partition: partition.partition_index };
            if is_offline(&key) {
                partition.error_code = ErrorCode::LeaderNotAvailable.code();
                partition.leader_id = (-1).into();
                if version >= 5 {
                    partition.offline_replicas = vec![node.0.into()];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
