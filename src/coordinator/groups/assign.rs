//! Asks assignor plugins on behalf of groups, off the request path, with what no client knows: lag, log ends, byte rates.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::mpsc;

use super::{event::GroupEvent, loaded_assignors::LoadedAssignors};
use crate::{
    base::{GroupId, PluginName, TopicName, TopicPartition},
    config::{Config, group::ConsumerTimes, group_assignor},
    group::{
        Ask, Shard,
        classic::{Assignments, AssignorAnswer, Subscribed, TargetInputs},
        consumer::Assignors,
    },
    metadata::{ConfigResource, MetadataImage, PartitionImage, TopicImage},
    plugin::{
        PluginHost,
        hook::{GroupSnapshot, MemberSnapshot, PartitionSnapshot, TopicSnapshot},
    },
    quorum::Quorum,
    replica::ReplicaManager,
};

/// What is needed to ask. Cheap to clone.
#[derive(Clone)]
pub(super) struct AssignorDesk {
    pub(super) config: Arc<Config>,
    pub(super) quorum: Arc<Quorum>,
    pub(super) replicas: Arc<ReplicaManager>,
    pub(super) plugins: Arc<PluginHost>,
    loaded: Arc<LoadedAssignors>,
}

/// The `klamm.assignor` of a group: its own config, or that of a pattern.
pub(super) fn effective_assignor(
    config: &Config,
    image: &MetadataImage,
    group_id: &GroupId,
) -> Option<PluginName> {
    let own = image.configs.get(&ConfigResource::Group(group_id.clone()));
    group_assignor(own.map(AsRef::as_ref), &config.group_patterns, group_id.as_str())
}

impl AssignorDesk {
    pub(super) fn new(
        config: Arc<Config>,
        quorum: Arc<Quorum>,
        replicas: Arc<ReplicaManager>,
        plugins: Arc<PluginHost>,
    ) -> Self {
        let loaded = Arc::new(LoadedAssignors::follow(&plugins));
        Self { config, quorum, replicas, plugins, loaded }
    }

    pub(super) fn assignors_of(&self, group_id: &GroupId) -> Assignors {
        Assignors {
            configured: self.assignor_of(group_id),
            loaded: self.loaded.names(&self.plugins),
        }
    }

    pub(super) fn assignor_of(&self, group_id: &GroupId) -> Option<PluginName> {
        effective_assignor(&self.config, &self.quorum.image(), group_id)
    }

    /// What members of a consumer group go by.
    pub(super) fn times_of(&self, group_id: &GroupId) -> ConsumerTimes {
        let image = self.quorum.image();
        let own = image.group_configs(group_id).map(AsRef::as_ref);
        let (patterns, node) = (&self.config.group_patterns, &self.config.group.consumer);
        ConsumerTimes::of_group(group_id.as_str(), own, patterns, node)
    }

    /// Takes the snapshot now, so that it is of one moment with the question; the answer comes as an event.
    pub(super) fn ask(&self, ask: Ask, shard: &Shard, events: mpsc::WeakSender<GroupEvent>) {
        let image = self.quorum.image();
        let topics = subscribed_topics(&image, &ask.members);
        let inputs = self.inputs(&ask, &topics);
        if let Some(target) = ask.target.as_ref().filter(|it| it.inputs == inputs) {
            let result = Ok(target.assignments.clone());
            tokio::spawn(deliver(answer(&ask, inputs, result), events));
            return;
        }
        let snapshot = self.snapshot(&ask, &image, &topics, shard);
        let asked = self.asked(ask.assignor.clone(), snapshot);
        tokio::spawn(async move { deliver(answer(&ask, inputs, asked.await), events).await });
    }

    pub(super) fn asked(
        &self,
        assignor: PluginName,
        snapshot: GroupSnapshot,
    ) -> impl Future<Output = Result<Assignments, String>> + use<> {
        let group = snapshot.group_id.clone();
        let asked = tokio::spawn(call(self.plugins.clone(), assignor.clone(), snapshot));
        async move {
            // A group must not wait for ever because something panicked.
            let result = asked.await.unwrap_or_else(|error| Err(error.to_string()));
            if let Err(reason) = &result {
                tracing::warn!(%group, %assignor, reason, "a group keeps its assignment");
            }
            result
        }
    }

    fn inputs(&self, ask: &Ask, topics: &[Arc<TopicImage>]) -> TargetInputs {
        let version = self.plugins.status().into_iter().find(|it| it.name == *ask.assignor.0);
        let subscriptions = ask.members.iter().map(|it| (it.member_id.clone(), it.topics.clone()));
        let partitions = topics.iter().map(|it| (it.name.clone(), it.partitions.len() as i32));
        TargetInputs {
            assignor: ask.assignor.clone(),
            sha256: version.and_then(|it| it.sha256).unwrap_or_default().into(),
            subscriptions: subscriptions.collect(),
            partitions: partitions.collect(),
        }
    }

    fn snapshot(
        &self,
        ask: &Ask,
        image: &MetadataImage,
        topics: &[Arc<TopicImage>],
        shard: &Shard,
    ) -> GroupSnapshot {
        let topics = topics.iter().map(|it| self.topic(&ask.group_id, it, image, shard));
        GroupSnapshot {
            group_id: ask.group_id.clone(),
            members: ask.members.iter().map(member).collect(),
            topics: topics.collect(),
        }
    }

    pub(super) fn topic(
        &self,
        group_id: &GroupId,
        topic: &TopicImage,
        image: &MetadataImage,
        shard: &Shard,
    ) -> TopicSnapshot {
        let partition = |(index, partition): (i32, &PartitionImage)| {
            let at = TopicPartition { topic: topic.name.clone(), partition: index };
            let committed = shard.committed(group_id, &at).map(|it| it.offset.0);
            self.partition(&at, partition, image, committed)
        };
        let partitions = (0..).zip(&topic.partitions).map(partition).collect();
        TopicSnapshot { name: topic.name.clone(), partitions }
    }

    fn partition(
        &self,
        at: &TopicPartition,
        partition: &PartitionImage,
        image: &MetadataImage,
        committed: Option<i64>,
    ) -> PartitionSnapshot {
        let local = self.replicas.leader(at, None).ok();
        let log_end_offset = local.as_ref().map_or(-1, |it| it.log().log_end_offset().0);
        let racks = partition.replicas.iter();
        let racks = racks.filter_map(|id| image.brokers.get(id)?.rack.clone());
        PartitionSnapshot {
            index: at.partition,
            leader: partition.leader.map_or(-1, |it| it.0),
            racks: racks.collect(),
            lag: lag(log_end_offset, committed),
            log_end_offset,
            byte_rate: local.map_or(0.0, |it| it.byte_rate()),
        }
    }
}

/// −1 without a committed offset, or when the end is another broker's to know.
fn lag(log_end_offset: i64, committed: Option<i64>) -> i64 {
    match committed {
        Some(committed) if log_end_offset >= 0 => (log_end_offset - committed).max(0),
        _ => -1,
    }
}

/// Sorted by name, each once; those that do not exist are nobody's.
fn subscribed_topics(image: &MetadataImage, members: &[Subscribed]) -> Vec<Arc<TopicImage>> {
    let names = members.iter().flat_map(|it| &it.topics);
    let topics: BTreeMap<&TopicName, &Arc<TopicImage>> =
        names.filter_map(|name| Some((name, image.topic(name.as_str())?))).collect();
    topics.into_values().cloned().collect()
}

fn member(it: &Subscribed) -> MemberSnapshot {
    MemberSnapshot {
        member_id: it.member_id.clone(),
        instance_id: it.group_instance_id.clone(),
        rack: it.rack.clone(),
        client_id: it.client_id.clone(),
        topics: it.topics.clone(),
        user_data: it.user_data.clone(),
        owned: it.owned.clone(),
    }
}

async fn call(
    plugins: Arc<PluginHost>,
    name: PluginName,
    snapshot: GroupSnapshot,
) -> Result<Assignments, String> {
    if snapshot.topics.is_empty() {
        let nothing = snapshot.members.into_iter().map(|it| (it.member_id, BTreeMap::new()));
        return Ok(nothing.collect());
    }
    let assignor = plugins.assignor(&name).ok_or("no such assignor is loaded")?;
    assignor.assign(snapshot).await.map_err(|failure| failure.to_string())
}

fn answer(ask: &Ask, inputs: TargetInputs, result: Result<Assignments, String>) -> AssignorAnswer {
    AssignorAnswer {
        group_id: ask.group_id.clone(),
        generation_id: ask.generation_id,
        question: ask.question,
        reason: ask.reason,
        inputs,
        result,
    }
}

async fn deliver(answer: AssignorAnswer, events: mpsc::WeakSender<GroupEvent>) {
    send(GroupEvent::Assigned(answer), events).await;
}

pub(super) async fn send(event: GroupEvent, events: mpsc::WeakSender<GroupEvent>) {
    if let Some(events) = events.upgrade() {
        // The coordinator may have given the partition up meanwhile.
        let _ = events.send(event).await;
    }
}
