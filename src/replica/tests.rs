//! A partition as producers and consumers meet it.

use std::{sync::Arc, time::Duration};

use futures_util::FutureExt as _;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    base::{BrokerId, LeaderEpoch, Offset, TimestampMs, TopicId, TopicName, TopicPartition},
    config::Config,
    log::LogError,
    metadata::{ConfigResource, MetadataImage, MetadataRecord, PartitionImage, TopicImage},
    telemetry::Metrics,
    wire::record_batch::{Batch, BatchBuilder, Compression, RecordParts},
};

mod deletion;
mod durability;
mod fetch;
mod moving;
mod restarts;
mod waiting;

const NODE: BrokerId = BrokerId(1);

/// A node with one log directory.
struct Host {
    root: tempfile::TempDir,
    replicas: Arc<ReplicaManager>,
}

impl Host {
    fn start() -> Self {
        let root = tempfile::tempdir().unwrap();
        let replicas = replicas(root.path());
        Self { root, replicas }
    }

    fn restart(self) -> Self {
        let Self { root, replicas: old } = self;
        drop(old);
        let replicas = replicas(root.path());
        Self { root, replicas }
    }

    fn apply(&self, image: MetadataImage) {
        self.replicas.apply(&Arc::new(image));
    }

    fn partition(&self, topic: &str, partition: i32) -> Arc<Partition> {
        self.replicas.leader(&TopicPartition::new(topic, partition), None).unwrap()
    }

    fn folders(&self) -> Vec<String> {
        let entries = self.root.path().read_dir().unwrap().map(Result::unwrap);
        let mut names: Vec<_> = entries
            .filter(|it| it.path().is_dir())
            .map(|it| it.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn replicas(root: &std::path::Path) -> Arc<ReplicaManager> {
    replicas_in(&[root])
}

fn replicas_in(dirs: &[&std::path::Path]) -> Arc<ReplicaManager> {
    let mut config = Config::default();
    config.log.dirs = dirs.iter().map(|&it| it.to_owned()).collect();
    let replicas = ReplicaManager::start(&Arc::new(config), &Metrics::default()).unwrap();
    replicas.claim("a cluster").unwrap();
    replicas
}

#[test]
fn what_is_altered_of_a_nodes_settings_reaches_the_partitions_that_are_there_and_those_to_come() {
    let host = Host::start();
    let mut image = image(&[("old", 1, 1, 1)]);
    host.apply(image.clone());
    let retention = |topic| host.partition(topic, 0).config().retention_ms;
    let default = retention("old");
    let mut alter = |resource, name: &str, value: Option<&str>| {
        image.replay(&MetadataRecord::Config {
            resource,
            name: name.into(),
            value: value.map(str::to_owned),
        });
        host.apply(image.clone());
    };
    alter(ConfigResource::Broker(None), "log.retention.ms", Some("7"));
    assert_eq!(retention("old"), 7);
    alter(ConfigResource::Broker(Some(NODE)), "log.retention.ms", Some("8"));
    assert_eq!(retention("old"), 8);
    alter(ConfigResource::Topic("old".into()), "retention.ms", Some("9"));
    assert_eq!(retention("old"), 9);
    alter(ConfigResource::Topic("old".into()), "retention.ms", None);
    alter(ConfigResource::Broker(Some(BrokerId(2))), "log.retention.ms", Some("1"));
    assert_eq!(retention("old"), 8);
    alter(ConfigResource::Broker(Some(NODE)), "log.retention.ms", None);
    assert_eq!(retention("old"), 7);
    alter(ConfigResource::Broker(None), "log.retention.ms", None);
    assert_eq!(retention("old"), default);
    let backoff = || host.replicas.cleaner_backoff().as_millis();
    assert_eq!(backoff(), 15_000);
    alter(ConfigResource::Broker(None), "log.cleaner.backoff.ms", Some("77"));
    assert_eq!(backoff(), 77);
    let rate = || host.replicas.cleaning.cleaner().bytes_per_second();
    alter(ConfigResource::Broker(Some(NODE)), "log.cleaner.io.max.bytes.per.second", Some("8.5"));
    assert_eq!(rate().to_bits(), 8.5_f64.to_bits());
    alter(ConfigResource::Broker(Some(NODE)), "log.cleaner.io.max.bytes.per.second", None);
    assert_eq!(rate().to_bits(), f64::MAX.to_bits());
    let threads = host.replicas.cleaner_threads();
    alter(ConfigResource::Broker(None), "log.cleaner.dedupe.buffer.size", Some("4000000"));
    alter(ConfigResource::Broker(None), "log.cleaner.io.buffer.size", Some("40000"));
    alter(ConfigResource::Broker(None), "log.cleaner.threads", Some("4"));
    assert_eq!(*threads.borrow(), 4);
    let sizes = host.replicas.cleaning.cleaner().sizes();
    assert_eq!((sizes.map_bytes_max, sizes.buffer_bytes), (1_000_000, 10_000));
}

/// Topics with their id, leader and partition count.
fn image(topics: &[(&str, u128, i32, usize)]) -> MetadataImage {
    let mut image = MetadataImage::default();
    for &(name, id, leader, partitions) in topics {
        let partition = PartitionImage {
            leader: Some(BrokerId(leader)),
            leader_epoch: LeaderEpoch(3),
            partition_epoch: 0,
            replicas: vec![NODE],
            isr: vec![NODE],
        };
        let topic = TopicImage {
            id: TopicId(uuid::Uuid::from_u128(id)),
            name: name.into(),
            partitions: vec![partition; partitions],
        };
        image.topic_names.insert(topic.id, name.into());
        image.topics.insert(name.into(), Arc::new(topic));
    }
    image.version = 1;
    image
}

fn batch(records: i32) -> Batch {
    let mut builder = BatchBuilder::new(TimestampMs(5), Compression::None);
    for offset_delta in 0..records {
        builder.push(&RecordParts {
            offset_delta,
            timestamp_delta: 0,
            key: None,
            value: Some(b"0123456789"),
            headers: Vec::new(),
        });
    }
    builder.build().unwrap()
}

fn ask(topic: &str, partition: i32, offset: i64) -> FetchPartition {
    FetchPartition {
        topic_partition: TopicPartition::new(topic, partition),
        topic_id: None,
        fetch_offset: Offset(offset),
        max_bytes: 1 << 20,
        current_leader_epoch: None,
        last_fetched_epoch: None,
    }
}

fn params(min_bytes: usize, max_wait_ms: u64, partitions: Vec<FetchPartition>) -> FetchParams {
    FetchParams {
        max_wait: Duration::from_millis(max_wait_ms),
        min_bytes,
        max_bytes: 1 << 20,
        isolation: Isolation::ReadUncommitted,
        partitions,
        hurry: CancellationToken::new(),
    }
}

fn records(answers: &[FetchedPartition]) -> Vec<usize> {
    answers.iter().map(|it| it.result.as_ref().map_or(0, FetchedData::bytes)).collect()
}

#[test]
fn partitions_are_made_kept_changed_and_deleted_as_the_image_says() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 2), ("b", 2, 1, 1)]));
    assert_eq!(host.folders(), ["a-0", "a-1", "b-0"]);
    let appended = host.partition("a", 1).append(vec![batch(2)], Acks::All).unwrap();
    assert_eq!(appended.last_offset, Offset(1));

    let mut changed = image(&[("a", 1, 1, 3)]);
    let own = [("retention.ms".to_owned(), "77".to_owned())].into();
    changed.configs.insert(ConfigResource::Topic("a".into()), Arc::new(own));
    host.apply(changed);

    assert_eq!(host.folders(), ["a-0", "a-1", "a-2"]);
    assert_eq!(host.partition("a", 1).log().log_end_offset(), Offset(2));
    assert_eq!(host.partition("a", 1).config().retention_ms, 77);
    let gone = host.replicas.leader(&TopicPartition::new("b", 0), None);
    assert!(matches!(gone, Err(ReplicaError::UnknownTopicOrPartition)));
}

#[test]
fn callers_are_fenced_by_epoch_and_leadership() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 1), ("b", 2, 5, 1)]));
    let leader = |topic, epoch: Option<i32>| {
        let key = TopicPartition::new(topic, 0);
        host.replicas.leader(&key, epoch.map(LeaderEpoch)).map(|_| ())
    };
    assert!(leader("a", None).is_ok());
    assert!(leader("a", Some(3)).is_ok());
    assert!(matches!(leader("a", Some(2)), Err(ReplicaError::FencedLeaderEpoch)));
    assert!(matches!(leader("a", Some(4)), Err(ReplicaError::UnknownLeaderEpoch)));
    assert!(matches!(leader("b", None), Err(ReplicaError::NotLeader)));
    assert!(matches!(leader("c", None), Err(ReplicaError::UnknownTopicOrPartition)));
}

#[tokio::test]
async fn a_partition_whose_log_cannot_be_opened_is_offline_until_it_can() {
    let host = Host::start();
    // Where the folder should be there is a file.
    let folder = host.root.path().join("a-0");
    std::fs::write(&folder, b"").unwrap();
    host.apply(image(&[("a", 1, 1, 2)]));
    let at = |partition| host.replicas.leader(&TopicPartition::new("a", partition), None);
    assert!(matches!(at(0), Err(ReplicaError::Offline)));
    assert!(at(1).is_ok());
    assert!(matches!(at(2), Err(ReplicaError::UnknownTopicOrPartition)));
    let answers = host.replicas.fetch(params(1, 60_000, vec![ask("a", 0, 0)])).await;
    assert!(matches!(answers[0].result, Err(ReplicaError::Offline)));

    std::fs::remove_file(&folder).unwrap();
    host.apply(image(&[("a", 1, 1, 2)]));
    assert!(at(0).is_ok());
}

#[test]
fn a_log_that_could_not_be_opened_is_not_believed_by_the_next_start() {
    let host = Host::start();
    std::fs::write(host.root.path().join("a-0"), b"").unwrap();
    host.apply(image(&[("a", 1, 1, 2)]));
    assert!(host.replicas.has_offline());
    std::fs::remove_file(host.root.path().join("a-0")).unwrap();
    std::fs::create_dir(host.root.path().join("a-0")).unwrap();
    host.replicas.close();
    assert!(!host.root.path().join(".kafka_cleanshutdown").exists());
}

#[test]
fn acks_all_needs_enough_replicas_in_sync() {
    let host = Host::start();
    let mut strict = image(&[("a", 1, 1, 1), ("alone", 2, 1, 1)]);
    let mut two_replicas = strict.topics[&TopicName::from("a")].as_ref().clone();
    two_replicas.partitions[0].replicas.push(BrokerId(2));
    strict.topics.insert("a".into(), Arc::new(two_replicas));
    let own = [("min.insync.replicas".to_owned(), "2".to_owned())].into();
    let own = Arc::new(own);
    for topic in ["a", "alone"] {
        strict.configs.insert(ConfigResource::Topic(TopicName::from(topic)), Arc::clone(&own));
    }
    host.apply(strict);
    let partition = host.partition("a", 0);
    let refused = partition.append(vec![batch(1)], Acks::All);
    assert!(matches!(refused, Err(ReplicaError::NotEnoughReplicas)));
    assert!(partition.append(vec![batch(1)], Acks::Leader).is_ok());
    let alone = host.partition("alone", 0);
    assert!(
        alone.append(vec![batch(1)], Acks::All).is_ok(),
        "more than it has cannot be asked for"
    );
}

#[tokio::test]
async fn what_is_committed_is_told_at_once_and_what_is_not_times_out() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 1)]));
    let partition = host.partition("a", 0);
    let appended = partition.append(vec![batch(2)], Acks::All).unwrap();
    let wait = Duration::from_millis(1);
    assert!(partition.committed(appended.last_offset, Acks::All, wait).await.is_ok());
    let never = partition.committed(Offset(2), Acks::All, wait).await;
    assert!(matches!(never, Err(ReplicaError::TimedOut)));
    assert!(partition.committed(Offset(2), Acks::None, wait).await.is_ok());
    let waiting = partition.committed(Offset(2), Acks::All, Duration::from_mins(1));
    let (result, ()) = tokio::join!(waiting, async { partition.stop() });
    assert!(matches!(result, Err(ReplicaError::NotLeader)));
}

#[test]
fn idle_partitions_hold_no_file_open() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 100)]));
    assert_eq!(host.replicas.partitions().len(), 100);
    // Other tests run in this process too, over folders of their own.
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap();
    let open = descriptors.filter_map(|it| std::fs::read_link(it.unwrap().path()).ok());
    let root = host.root.path().canonicalize().unwrap();
    let in_a_folder =
        |it: &std::path::PathBuf| it.parent().is_some_and(|it| it != root && it.starts_with(&root));
    assert_eq!(open.filter(in_a_folder).count(), 0);
}
