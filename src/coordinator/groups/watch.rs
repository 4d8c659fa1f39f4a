//! Follows the metadata image and the plugins, and tells the shards what concerns them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Weak},
};

use super::{GroupCoordinator, assign::effective_assignor, event::GroupEvent};
use crate::{
    base::{GroupId, PluginName, TopicId, TopicName},
    metadata::{ConfigResource, MetadataImage, TopicImage},
    plugin::{HookKind, PluginHost},
};

/// Assignors that are loaded, with their files' SHA-256.
type Versions = BTreeMap<PluginName, Option<String>>;

/// Runs until the coordinator, the quorum or the plugin host is gone.
pub(super) fn run(coordinator: &Arc<GroupCoordinator>) -> impl Future<Output = ()> + use<> {
    let mut images = coordinator.desk.quorum.watch();
    let mut reloads = coordinator.desk.plugins.watch();
    let plugins = Arc::downgrade(&coordinator.desk.plugins);
    let coordinator: Weak<GroupCoordinator> = Arc::downgrade(coordinator);
    async move {
        let mut image = images.borrow_and_update().clone();
        let mut versions = plugins.upgrade().map(|it| assignors(&it)).unwrap_or_default();
        loop {
            tokio::select! {
                changed = images.changed() => {
                    let Some(coordinator) = changed.ok().and_then(|()| coordinator.upgrade()) else { return };
                    let newer = images.borrow_and_update().clone();
                    coordinator.image_changed(&image, &newer).await;
                    image = newer;
                }
                changed = reloads.changed() => {
                    let Some(coordinator) = changed.ok().and_then(|()| coordinator.upgrade()) else { return };
                    let newer = assignors(&coordinator.desk.plugins);
                    coordinator.plugins_changed(&versions, &newer).await;
                    versions = newer;
                }
            }
        }
    }
}

impl GroupCoordinator {
    async fn image_changed(&self, before: &MetadataImage, after: &MetadataImage) {
        self.reconcile(after);
        let deleted = deleted_topics(before, after);
        if !deleted.is_empty() {
            let deleted = Arc::new(deleted);
            self.tell_all(|| GroupEvent::TopicsDeleted(deleted.clone())).await;
        }
        if topics_changed(before, after) {
            self.tell_all(|| GroupEvent::TopicsChanged).await;
        }
        for group_id in changed_group_configs(before, after) {
            let assignor = |image| effective_assignor(&self.desk.config, image, &group_id);
            if assignor(before) == assignor(after) {
                continue;
            }
            if let Ok(shard) = self.shard_of(&group_id) {
                let _ = shard.send(GroupEvent::AssignorChanged(group_id)).await;
            }
        }
    }

    async fn plugins_changed(&self, before: &Versions, after: &Versions) {
        let names = before.keys().chain(after.keys());
        let changed: BTreeSet<PluginName> =
            names.filter(|name| before.get(*name) != after.get(*name)).cloned().collect();
        if !changed.is_empty() {
            let changed = Arc::new(changed);
            self.tell_all(|| GroupEvent::PluginsReloaded(changed.clone())).await;
        }
    }

    async fn tell_all(&self, event: impl Fn() -> GroupEvent) {
        for shard in self.all_shards() {
            // A shard that closes meanwhile is another node's, or gone.
            let _ = shard.send(event()).await;
        }
    }
}

fn assignors(plugins: &PluginHost) -> Versions {
    let status = plugins.status().into_iter();
    let assignors = status.filter(|it| it.hook == Some(HookKind::Assignor));
    assignors.map(|it| (it.name.as_str().into(), it.sha256)).collect()
}

/// Whether a topic has other partitions, or these other racks. A new leader or a config is nothing to a group.
fn topics_changed(before: &MetadataImage, after: &MetadataImage) -> bool {
    let is_as_before = |topic: &Arc<TopicImage>| {
        let known = before.topic(topic.name.as_str());
        known.is_some_and(|it| it.id == topic.id && same_replicas(it, topic))
    };
    let same_topics = before.topics.len() == after.topics.len();
    !(same_topics && same_racks(before, after) && after.topics.values().all(is_as_before))
}

fn same_replicas(one: &Arc<TopicImage>, other: &Arc<TopicImage>) -> bool {
    let [ours, theirs] = [one, other].map(|it| it.partitions.iter().map(|it| &it.replicas));
    Arc::ptr_eq(one, other) || ours.eq(theirs)
}

fn same_racks(before: &MetadataImage, after: &MetadataImage) -> bool {
    let racks = |image: &MetadataImage| {
        image.brokers.iter().map(|(&id, it)| (id, it.rack.clone())).collect::<Vec<_>>()
    };
    racks(before) == racks(after)
}

fn deleted_topics(before: &MetadataImage, after: &MetadataImage) -> BTreeMap<TopicName, TopicId> {
    let gone = before.topic_names.iter().filter(|(id, _)| !after.topic_names.contains_key(id));
    gone.map(|(id, name)| (name.clone(), *id)).collect()
}

fn changed_group_configs(before: &MetadataImage, after: &MetadataImage) -> BTreeSet<GroupId> {
    let resources = before.configs.keys().chain(after.configs.keys());
    let changed = resources.filter(|it| before.configs.get(*it) != after.configs.get(*it));
    changed
        .filter_map(|it| match it {
            ConfigResource::Group(id) => Some(id.clone()),
            ConfigResource::Topic(_)
            | ConfigResource::Broker(_)
            | ConfigResource::ClientMetrics(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{
        base::{BrokerId, LeaderEpoch},
        metadata::MetadataRecord,
    };

    const ID: TopicId = TopicId(Uuid::from_u128(1));

    fn broker(rack: &str) -> MetadataRecord {
        MetadataRecord::RegisterBroker {
            broker_id: BrokerId(1),
            epoch: 7,
            listeners: Vec::new(),
            rack: Some(rack.into()),
        }
    }

    fn partition(index: i32, epoch: i32) -> MetadataRecord {
        MetadataRecord::Partition {
            topic_id: ID,
            partition: index,
            leader: Some(BrokerId(1)),
            leader_epoch: LeaderEpoch(epoch),
            partition_epoch: epoch,
            replicas: vec![BrokerId(1)],
            isr: vec![BrokerId(1)],
        }
    }

    #[test]
    fn groups_are_told_of_topics_partitions_and_racks_and_of_nothing_else() {
        let mut image = MetadataImage::default();
        let topic = |topic_id, name: &str| MetadataRecord::Topic { topic_id, name: name.into() };
        let retention = MetadataRecord::Config {
            resource: ConfigResource::Topic("t".into()),
            name: "retention.ms".into(),
            value: Some("5".into()),
        };
        let steps = [
            (broker("a"), true),
            (topic(ID, "t"), true),
            (partition(0, 1), true),
            (partition(0, 2), false),
            (retention, false),
            (broker("a"), false),
            (broker("b"), true),
            (partition(1, 1), true),
            (topic(TopicId(Uuid::from_u128(2)), "other"), true),
            (MetadataRecord::RemoveTopic { topic_id: ID }, true),
        ];
        for (record, told) in steps {
            let before = image.clone();
            image.replay(&record);
            assert_eq!(topics_changed(&before, &image), told, "{record:?}");
        }
        let before = image.clone();
        let again = topic(TopicId(Uuid::from_u128(3)), "other");
        image.replay_all(&[
            MetadataRecord::RemoveTopic { topic_id: TopicId(Uuid::from_u128(2)) },
            again,
        ]);
        assert!(topics_changed(&before, &image), "a topic that is made again is another");
    }
}
