//! The coordinator over a real metadata quorum and real logs, started again over the same files.

use std::{collections::BTreeMap, convert::Infallible, path::Path, sync::Arc, time::Duration};

use tokio::task::JoinHandle;

use super::GroupCoordinator;
use crate::{
    base::{BrokerId, GroupId, MemberId, Offset, TopicPartition},
    config::{Config, Pattern, Patterns},
    controller::{OFFSETS_TOPIC, Registration, register_broker},
    group::{
        CommitOffsets, GroupError, OffsetToCommit,
        classic::{HeartbeatRequest, JoinRequest, Joined, Protocol, State, SyncRequest, Synced},
    },
    plugin::{Folders, PluginHost, PluginUses},
    quorum::Quorum,
    replica::ReplicaManager,
    telemetry::Metrics,
};

/// Long enough that only a hang takes it.
const HANG: Duration = Duration::from_mins(2);

/// The rooms that a coordinator needs, as `broker` wires them.
struct Node {
    groups: Arc<GroupCoordinator>,
    quorum: Arc<Quorum>,
    replicas: Arc<ReplicaManager>,
    plugins: Arc<PluginHost>,
    publisher: JoinHandle<()>,
}

fn config(dir: &Path) -> Config {
    let mut config = Config::default();
    config.log.dirs = vec![dir.join("data")];
    config.plugin.dir = dir.join("plugins");
    config.group.offsets_topic_num_partitions = 3;
    config.group.initial_rebalance_delay_ms = 0;
    config
}

impl Node {
    async fn start(dir: &Path, config: Config) -> Self {
        let (config, metrics) = (Arc::new(config), Metrics::default());
        let replicas = ReplicaManager::start(&config, &metrics).unwrap();
        let quorum = Quorum::start(dir.join("metadata"), BrokerId(1)).await.unwrap();
        let me = Registration { broker_id: BrokerId(1), listeners: Vec::new(), rack: None };
        let registered =
            quorum.change(|image| Ok::<_, Infallible>(register_broker(image, me))).await;
        let Ok(_epoch) = registered.unwrap();
        let uses = PluginUses::default();
        let folders = Folders { cache: dir.join("cache"), versions: dir.join("versions") };
        let plugins = PluginHost::start(&config.plugin, &[], uses, folders, &metrics);
        let plugins = plugins.await.unwrap();
        let publisher = tokio::spawn(publish(quorum.clone(), replicas.clone()));
        let groups = GroupCoordinator::start(
            config,
            quorum.clone(),
            replicas.clone(),
            plugins.clone(),
            &metrics,
        );
        Self { groups, quorum, replicas, plugins, publisher }
    }

    async fn stop(self) {
        self.groups.shutdown().await;
        self.plugins.shutdown().await;
        self.publisher.abort();
        let _ = self.publisher.await;
        self.replicas.close();
        self.quorum.shutdown().await.unwrap();
    }

    /// Joins alone and leads.
    async fn join(&self, group: &str) -> Joined {
        retried(|| self.groups.join(join_request(group))).await.unwrap()
    }

    async fn sync(&self, group: &str, joined: &Joined, own: &'static [u8]) -> Synced {
        let request = SyncRequest {
            group_id: group.into(),
            member_id: joined.member_id.clone(),
            group_instance_id: None,
            generation_id: joined.generation_id,
            protocol_type: Some("consumer".into()),
            protocol_name: Some("range".into()),
            assignments: BTreeMap::from([(joined.member_id.clone(), own.into())]),
            assignor: None,
        };
        self.groups.sync(request).await.unwrap()
    }
}

async fn publish(quorum: Arc<Quorum>, replicas: Arc<ReplicaManager>) {
    let mut images = quorum.watch();
    loop {
        let image = images.borrow_and_update().clone();
        let replicas = replicas.clone();
        tokio::task::spawn_blocking(move || replicas.apply(&image)).await.unwrap();
        if images.changed().await.is_err() {
            return;
        }
    }
}

/// As a client does: tries again while the coordinator is loading.
async fn retried<T, F>(mut ask: impl FnMut() -> F) -> Result<T, GroupError>
where
    F: Future<Output = Result<T, GroupError>>,
{
    let asking = async {
        loop {
            match ask().await {
                Err(GroupError::CoordinatorLoadInProgress) => tokio::task::yield_now().await,
                result => return result,
            }
        }
    };
    tokio::time::timeout(HANG, asking).await.expect("the coordinator loads")
}

fn join_request(group: &str) -> JoinRequest {
    JoinRequest {
        group_id: group.into(),
        member_id: MemberId::from(""),
        group_instance_id: None,
        client_id: "c".into(),
        client_host: "/127.0.0.1".into(),
        session_timeout_ms: 300_000,
        rebalance_timeout_ms: 300_000,
        protocol_type: "consumer".into(),
        // A subscription to topic `t`, version 0.
        protocols: vec![Protocol {
            name: "range".into(),
            metadata: b"\0\0\0\0\0\x01\0\x01t\xff\xff\xff\xff"[..].into(),
        }],
        requires_known_member_id: false,
        supports_skip_assignment: false,
        new_member_id: "m".into(),
        assignor: None,
    }
}

fn offset(offset: i64) -> OffsetToCommit {
    OffsetToCommit {
        topic_partition: TopicPartition::new("t", 0),
        topic_id: None,
        offset: Offset(offset),
        leader_epoch: None,
        metadata: "".into(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_goes_on_after_a_restart_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let node = Node::start(dir.path(), config(dir.path())).await;
    let group = GroupId::from("g");
    let early = node.groups.join(join_request("g")).await;
    assert_eq!(early, Err(GroupError::CoordinatorNotAvailable), "nobody has looked for it yet");
    assert_eq!(node.groups.coordinator_of(&group).await.unwrap(), Some(BrokerId(1)));
    assert_eq!(node.quorum.image().topic(OFFSETS_TOPIC).unwrap().partitions.len(), 3);

    let joined = node.join("g").await;
    assert_eq!(&node.sync("g", &joined, b"mine").await.assignment[..], b"mine");
    let commit = CommitOffsets {
        group_id: group.clone(),
        member_id: joined.member_id.clone(),
        group_instance_id: None,
        generation_id: joined.generation_id,
        offsets: vec![offset(42)],
        retention_time_ms: None,
        tells_missing_group: true,
    };
    assert_eq!(node.groups.commit(commit).await, Ok(vec![Ok(())]));
    node.stop().await;

    let node = Node::start(dir.path(), config(dir.path())).await;
    let beat = HeartbeatRequest {
        group_id: group.clone(),
        member_id: joined.member_id.clone(),
        group_instance_id: None,
        generation_id: joined.generation_id,
    };
    assert_eq!(retried(|| node.groups.heartbeat(beat.clone())).await, Ok(()));
    let found = node.groups.committed(&group, &TopicPartition::new("t", 0)).await.unwrap();
    assert_eq!(found.unwrap().offset, Offset(42));
    let described = node.groups.describe(group.clone()).await.unwrap();
    assert_eq!(
        (described.state, &described.members[0].assignment[..]),
        (State::Stable, &b"mine"[..])
    );
    let listed = retried(|| node.groups.list()).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(node.groups.delete(group).await, Err(GroupError::NonEmptyGroup));
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transforms_find_their_progress_again() {
    let dir = tempfile::tempdir().unwrap();
    let group = GroupId::from("klamm.transform.t.mask");
    let partition = TopicPartition::new("t", 0);
    let node = Node::start(dir.path(), config(dir.path())).await;
    assert_eq!(node.groups.committed(&group, &partition).await, Ok(None));
    for at in 0..50 {
        node.groups.commit_offsets(&group, vec![offset(at)]).await.unwrap();
    }
    node.stop().await;

    let node = Node::start(dir.path(), config(dir.path())).await;
    let found = node.groups.committed(&group, &partition).await.unwrap();
    assert_eq!(found.unwrap().offset, Offset(49));
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_assignor_that_is_not_loaded_leaves_the_assignment_to_the_leader() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = config(dir.path());
    config.group_patterns = Patterns(vec![Pattern {
        pattern: "*".into(),
        settings: BTreeMap::from([("klamm.assignor".into(), "absent".into())]),
    }]);
    let node = Node::start(dir.path(), config).await;
    node.groups.coordinator_of(&"g".into()).await.unwrap();
    create_topic(&node).await;
    let joined = node.join("g").await;
    assert_eq!(&node.sync("g", &joined, b"mine").await.assignment[..], b"mine");
    node.stop().await;
}

/// `t`: without it there is nothing to ask a plugin about.
async fn create_topic(node: &Node) {
    use crate::{
        base::TopicId,
        controller::{LoadedPlugins, NewTopic, TopicDefaults, create_topics},
    };
    let topic = NewTopic {
        name: "t".into(),
        id: TopicId(uuid::Uuid::from_u128(7)),
        partitions: 1,
        replication_factor: 1,
        assignments: Vec::new(),
        configs: Vec::new(),
    };
    let defaults = TopicDefaults { partitions: 1, replication_factor: 1 };
    let plugins = LoadedPlugins::default();
    let created = node.quorum.change(|image| {
        Ok::<_, Infallible>(create_topics(image, defaults, &plugins, std::slice::from_ref(&topic)))
    });
    let Ok(results) = created.await.unwrap();
    for result in results {
        result.unwrap();
    }
}
