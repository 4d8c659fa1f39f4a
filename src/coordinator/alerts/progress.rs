//! Where each plugin's evaluation of each partition stands, as committed offsets that any tool can show.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use tokio::sync::{Mutex, watch};

use super::AlertRooms;
use crate::{
    alert::{Progress, Watched},
    base::{GroupId, Offset, PluginName, TopicName},
    config::{TopicConfig, TopicConfigs},
    coordinator::GroupCoordinator,
    group::{GroupError, OffsetToCommit},
    metadata::ConfigResource,
    replica::ReplicaManager,
};

const PREFIX: &str = "klamm.transform.";

/// Between two commits.
const INTERVAL: Duration = Duration::from_secs(1);

/// The group whose offsets are a plugin's progress on a topic. It never expires.
fn group_of(topic: &TopicName, plugin: &PluginName) -> GroupId {
    GroupId::from(format!("{PREFIX}{topic}.{plugin}").as_str())
}

/// Stores progress, and is the only one that does.
pub(super) struct ProgressKeeper {
    groups: Arc<GroupCoordinator>,
    replicas: Arc<ReplicaManager>,
    /// What this process has stored of what the machine told. Held while storing.
    stored: Mutex<Progress>,
}

impl ProgressKeeper {
    pub(super) fn new(rooms: &AlertRooms) -> Arc<Self> {
        let (groups, replicas) = (rooms.groups.clone(), rooms.replicas.clone());
        Arc::new(Self { groups, replicas, stored: Mutex::default() })
    }

    /// Stores the newest progress again and again, until its sender is gone.
    pub(super) async fn run(self: Arc<Self>, mut newest: watch::Receiver<Progress>) {
        while newest.changed().await.is_ok() {
            // The next commit has it again; until then a crash only costs evaluating more.
            match self.store_newest(&newest).await {
                Ok(()) => {}
                Err(error) if error.is_of_the_coordinator() => {
                    tracing::debug!(%error, "the progress of transforms waits for its coordinator");
                }
                Err(error) => tracing::warn!(%error, "store the progress of transforms"),
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    async fn store_newest(&self, newest: &watch::Receiver<Progress>) -> Result<(), GroupError> {
        let mut stored = self.stored.lock().await;
        let newest = newest.borrow().clone();
        stored.retain(|it, _| newest.contains_key(it));
        let is_new = |it: &Watched, offset| stored.get(it) != Some(offset) && self.is_watched(it);
        let changed: Progress = newest
            .iter()
            .filter(|(watched, offset)| is_new(watched, offset))
            .map(|(watched, offset)| (watched.clone(), *offset))
            .collect();
        self.store(&changed).await?;
        stored.extend(changed);
        Ok(())
    }

    /// What is still on its way of a topic that is gone, or of a plugin that does not watch it any more, must not
    /// stand where the next one begins.
    fn is_watched(&self, watched: &Watched) -> bool {
        let partition = self.replicas.leader(&watched.source, None);
        partition.is_ok_and(|it| {
            it.topic_id == watched.topic_id && it.config().transforms.contains(&watched.plugin)
        })
    }

    /// Stores progress, a commit for each topic and plugin.
    async fn store(&self, progress: &Progress) -> Result<(), GroupError> {
        let mut by_group: BTreeMap<GroupId, Vec<OffsetToCommit>> = BTreeMap::new();
        for (watched, offset) in progress {
            let group = group_of(&watched.source.topic, &watched.plugin);
            by_group.entry(group).or_default().push(to_commit(watched, *offset));
        }
        for (group, offsets) in by_group {
            self.groups.commit_offsets(&group, offsets).await?;
        }
        Ok(())
    }

    /// Keeps that a plugin sees a source from an offset on, the source's end, unless it is kept already.
    pub(super) async fn begin(&self, watched: &Watched, from: Offset) -> Result<(), GroupError> {
        let _stored = self.stored.lock().await;
        match self.load(watched).await? {
            Some(kept) if kept <= from => Ok(()),
            _ => self.store(&Progress::from([(watched.clone(), from)])).await,
        }
    }

    /// The stored progress, if any.
    pub(super) async fn load(&self, watched: &Watched) -> Result<Option<Offset>, GroupError> {
        let group = group_of(&watched.source.topic, &watched.plugin);
        let committed = self.groups.committed(&group, &watched.source).await?;
        let is_meant = |id| id == watched.topic_id;
        Ok(committed.filter(|it| it.topic_id.is_none_or(is_meant)).map(|it| it.offset))
    }

    /// Forgets the progress of a plugin on a topic: what is stored until it watches it again is none of its business.
    pub(super) async fn forget(
        &self,
        topic: &TopicName,
        plugin: &PluginName,
    ) -> Result<(), GroupError> {
        let mut stored = self.stored.lock().await;
        stored.retain(|it, _| it.source.topic != *topic || it.plugin != *plugin);
        self.groups.delete_offsets(&group_of(topic, plugin)).await
    }

    /// Forgets the progress of all plugins that were taken from their topics in the node's file.
    pub(super) async fn forget_unwatched(&self, rooms: &AlertRooms) -> Result<(), GroupError> {
        let watching = watching(rooms);
        for group in self.groups.groups_named(PREFIX).await? {
            if !watching.contains(&group) {
                self.groups.delete_offsets(&group).await?;
            }
        }
        Ok(())
    }
}

/// The groups of all plugins on all topics of the cluster.
fn watching(rooms: &AlertRooms) -> BTreeSet<GroupId> {
    let image = rooms.quorum.image();
    let none = TopicConfigs::new();
    let groups = image.topics.keys().flat_map(|topic| {
        let own = image.configs.get(&ConfigResource::Topic(topic.clone()));
        let own = own.map_or(&none, |it| it);
        let transforms = TopicConfig::resolve(&rooms.config, topic, own).transforms;
        transforms.into_iter().map(|plugin| group_of(topic, &plugin)).collect::<Vec<_>>()
    });
    groups.collect()
}

fn to_commit(watched: &Watched, offset: Offset) -> OffsetToCommit {
    OffsetToCommit {
        topic_partition: watched.source.clone(),
        topic_id: Some(watched.topic_id),
        offset,
        leader_epoch: None,
        metadata: "".into(),
    }
}
