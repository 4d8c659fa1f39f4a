//! Where each plugin's evaluation of each partition stands, as committed offsets that any tool can show.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::sync::watch;

use crate::{
    alert::Progress,
    base::{GroupId, Offset, PluginName, TopicName, TopicPartition},
    coordinator::GroupCoordinator,
    group::{GroupError, OffsetToCommit},
};

/// The group whose offsets are a plugin's progress on a topic. It never expires.
pub(super) fn group_of(topic: &TopicName, plugin: &PluginName) -> GroupId {
    GroupId::from(format!("klamm.transform.{topic}.{plugin}").as_str())
}

/// Between two commits.
const INTERVAL: Duration = Duration::from_secs(1);

/// Stores the newest progress again and again, until its sender is gone.
pub(super) async fn keep(groups: Arc<GroupCoordinator>, mut newest: watch::Receiver<Progress>) {
    let mut stored = Progress::new();
    while newest.changed().await.is_ok() {
        let mut progress = newest.borrow_and_update().clone();
        progress.retain(|key, offset| stored.get(key) != Some(offset));
        match store(&groups, progress.clone()).await {
            Ok(()) => stored.extend(progress),
            // The next commit has it again; until then a crash only costs evaluating more.
            Err(error) => tracing::warn!(%error, "store the progress of transforms"),
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Stores progress, a commit for each topic and plugin.
async fn store(groups: &GroupCoordinator, progress: Progress) -> Result<(), GroupError> {
    let mut by_group: BTreeMap<GroupId, Vec<OffsetToCommit>> = BTreeMap::new();
    for ((source, plugin), offset) in progress {
        let group = group_of(&source.topic, &plugin);
        by_group.entry(group).or_default().push(to_commit(source, offset));
    }
    for (group, offsets) in by_group {
        groups.commit_offsets(&group, offsets).await?;
    }
    Ok(())
}

fn to_commit(topic_partition: TopicPartition, offset: Offset) -> OffsetToCommit {
    let (topic_id, leader_epoch) = (None, None);
    OffsetToCommit { topic_partition, topic_id, offset, leader_epoch, metadata: "".into() }
}

/// Keeps that a plugin sees a source from an offset on, the source's end, unless it is kept already. Progress beyond the
/// end is that of an earlier topic of the name.
pub(super) async fn begin(
    groups: &GroupCoordinator,
    source: &TopicPartition,
    plugin: &PluginName,
    from: Offset,
) -> Result<(), GroupError> {
    match load(groups, source, plugin).await? {
        Some(kept) if kept <= from => Ok(()),
        _ => store(groups, Progress::from([((source.clone(), plugin.clone()), from)])).await,
    }
}

/// The stored progress, if any.
pub(super) async fn load(
    groups: &GroupCoordinator,
    source: &TopicPartition,
    plugin: &PluginName,
) -> Result<Option<Offset>, GroupError> {
    let group = group_of(&source.topic, plugin);
    Ok(groups.committed(&group, source).await?.map(|it| it.offset))
}
