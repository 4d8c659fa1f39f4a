//! Routed batches of idempotent producers, cut short after any of their appends and sent again: each record is in its
//! target once, in the producer's order.

use std::time::Duration;

use proptest::{collection::vec, prelude::*};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::{
    edit::{Changed, Edit, Fate},
    forward::Forward,
    route::Route,
    *,
};
use crate::{
    base::{BrokerId, LeaderEpoch, ProducerEpoch, ProducerId, TimestampMs, TopicId},
    metadata::{ConfigResource, MetadataImage, PartitionImage, TopicImage},
    replica::{Acks, DeleteUpTo},
    wire::record_batch::{
        Batch, BatchBuilder, Compression, ControlType, DecodedBatch, RecordParts, control_batch,
        split,
    },
};

mod for_room;

const PARTITIONS: usize = 3;
const TOPIC: &str = "t";
const TIMEOUT: Duration = Duration::from_mins(2);

/// A node's replicas and what takes records, without hooks: those decided long ago.
struct Node {
    replicas: Arc<ReplicaManager>,
    plugins: Arc<PluginHost>,
    produce: Produce,
    dir: TempDir,
}

impl Node {
    fn start(plugins: &Arc<PluginHost>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let replicas = replicas(dir.path());
        let produce = produce(&replicas, plugins);
        Self { replicas, plugins: plugins.clone(), produce, dir }
    }

    /// All that is not on disk is forgotten. (Nothing is closed: the files are as a kill leaves them.)
    async fn crash(self) -> Self {
        let Self { replicas, plugins, produce, dir } = self;
        let old = Arc::downgrade(&replicas);
        drop((replicas, produce));
        while old.strong_count() > 0 {
            // Its lanes end.
            tokio::task::yield_now().await;
        }
        let replicas = self::replicas(dir.path());
        let produce = self::produce(&replicas, &plugins);
        Self { replicas, plugins, produce, dir }
    }

    fn partition(&self, index: i32) -> Arc<Partition> {
        self.replicas.leader(&TopicPartition::new(TOPIC, index), None).unwrap()
    }

    fn submission(batch: &Batch) -> Submission {
        Submission {
            topic_partition: TopicPartition::new(TOPIC, 0),
            topic_id: None,
            records: batch.bytes.clone(),
            acks: Acks::All,
            timeout: TIMEOUT,
            client_id: "".into(),
            connection_id: 1,
        }
    }

    async fn submit(&self, batch: &Batch) -> Result<Stored, ProduceError> {
        self.produce.submit(Self::submission(batch)).wait().await
    }

    /// Stores the route and so many of its parts, as a node does that is killed then. How many parts there are.
    async fn begin(&self, batch: &Batch, route: &Route, parts_stored: usize) -> usize {
        let decoded = batch.decode(usize::MAX).unwrap();
        let partition = self.partition(0);
        let forward = Forward {
            shared: &self.produce.shared,
            partition: &partition,
            batch,
            decoded: &decoded,
            route,
            raised: None,
            acks: Acks::All,
            timeout: TIMEOUT,
        };
        let parts = forward.split().unwrap();
        let record = control_batch(&batch.header, ControlType::Route, &route.encode());
        forward.check_can_be_finished(batch.header.producer_id.unwrap(), &record).unwrap();
        forward.append_control(record).await.unwrap();
        forward.send_all(&parts[..parts_stored.min(parts.len())]).await.unwrap();
        parts.len()
    }

    fn values(&self, index: i32) -> Vec<String> {
        let log = self.partition(index).log().clone();
        let read = log.read(log.log_start_offset(), log.log_end_offset(), 1 << 20, true);
        let batches = split(read.unwrap().records).unwrap();
        let data = batches.iter().filter(|it| !it.header.attributes.is_control());
        let values = |it: &Batch| {
            let decoded: DecodedBatch = it.decode(usize::MAX).unwrap();
            decoded
                .records()
                .map(|it| String::from_utf8(it.value().unwrap().to_vec()).unwrap())
                .collect::<Vec<_>>()
        };
        data.flat_map(values).collect()
    }
}

fn replicas(dir: &std::path::Path) -> Arc<ReplicaManager> {
    let mut config = Config::default();
    config.log.dirs = vec![dir.to_owned()];
    let replicas = ReplicaManager::start(&Arc::new(config), &Metrics::default()).unwrap();
    replicas.apply(&Arc::new(image()));
    replicas
}

fn image() -> MetadataImage {
    let partition = PartitionImage {
        leader: Some(BrokerId(1)),
        leader_epoch: LeaderEpoch(3),
        partition_epoch: 0,
        replicas: vec![BrokerId(1)],
        isr: vec![BrokerId(1)],
    };
    let topic = TopicImage {
        id: TopicId(Uuid::from_u128(1)),
        name: TOPIC.into(),
        partitions: vec![partition; PARTITIONS],
    };
    let mut image = MetadataImage::default();
    image.topics.insert(TOPIC.into(), Arc::new(topic));
    image
}

/// As after a start.
fn produce(replicas: &Arc<ReplicaManager>, plugins: &Arc<PluginHost>) -> Produce {
    let (intake, _) = AlertIntake::new();
    let (config, metrics) = (Config::default(), Metrics::default());
    let produce = Produce::new(&config, replicas.clone(), plugins.clone(), intake, None, &metrics);
    produce.resume();
    produce
}

/// A batch of producer 7 whose values are their sequence numbers.
fn batch(first: usize, records: usize) -> Batch {
    let builder = BatchBuilder::new(TimestampMs(1), Compression::Lz4);
    let mut builder = builder.producer(ProducerId(7), ProducerEpoch(0), first as i32);
    for delta in 0..records {
        let value = (first + delta).to_string();
        builder.push(&RecordParts {
            offset_delta: delta as i32,
            timestamp_delta: 0,
            key: None,
            value: Some(value.as_bytes()),
            headers: Vec::new(),
        });
    }
    builder.build().unwrap()
}

/// What one batch meets.
#[derive(Clone, Debug)]
struct Step {
    /// For each record: dropped (0), kept (1) or changed (2), and its target.
    records: Vec<(u8, u32)>,
    /// Appends that are made before the node is killed; one is the route record. Above all of them it is not killed.
    appends: usize,
    /// How often an old batch is sent again afterwards, and which one.
    again: Option<usize>,
}

fn step() -> impl Strategy<Value = Step> {
    let records = vec((0_u8..3, 0..PARTITIONS as u32), 1..5);
    let again = proptest::option::of(0_usize..5);
    (records, 1_usize..6, again).prop_map(|(records, appends, again)| Step {
        records,
        appends,
        again,
    })
}

fn route(step: &Step, first: usize) -> Route {
    let fate = |(at, (kind, _)): (usize, &(u8, u32))| match kind {
        0 => Fate::Dropped,
        1 => Fate::Kept,
        _ => Fate::Changed(Box::new(Changed {
            key: None,
            value: Some(format!("{} changed", first + at).into_bytes()),
            headers: None,
        })),
    };
    let edit = Edit(step.records.iter().enumerate().map(fate).collect());
    let left = step.records.iter().filter(|it| it.0 != 0);
    Route::new(edit, &left.map(|it| it.1).collect::<Vec<_>>())
}

/// Adds to each partition's expected values what the step leaves for it.
fn expect(want: &mut [Vec<String>], step: &Step, first: usize) {
    for (at, &(kind, target)) in step.records.iter().enumerate() {
        let value = match kind {
            0 => continue,
            1 => (first + at).to_string(),
            _ => format!("{} changed", first + at),
        };
        want[target as usize].push(value);
    }
}

/// Runs the steps, and after each of them compares what is stored with what should be.
async fn run(plugins: &Arc<PluginHost>, steps: &[Step]) {
    let mut node = Node::start(plugins);
    let (mut sent, mut first) = (Vec::<Batch>::new(), 0);
    let mut want = vec![Vec::new(); PARTITIONS];
    for step in steps {
        let batch = batch(first, step.records.len());
        let parts = node.begin(&batch, &route(step, first), step.appends - 1).await;
        expect(&mut want, step, first);
        first += step.records.len();
        if step.appends <= parts {
            node = node.crash().await;
            let next = self::batch(first, 1);
            let refused = node.submit(&next).await;
            assert!(matches!(refused, Err(ProduceError::Unfinished)), "{refused:?}");
        }
        sent.push(batch);
        let newest_five = &sent[sent.len().saturating_sub(5)..];
        if let Some(old) = step.again.and_then(|it| newest_five.get(it)) {
            node.submit(old).await.unwrap();
        }
        node.submit(sent.last().unwrap()).await.unwrap();
        assert_eq!(node.partition(0).log().unfinished_routes(), [], "nothing is left to remember");
        for (index, want) in (0..).zip(&want) {
            assert_eq!(&node.values(index), want, "partition {index}");
        }
    }
}

/// Runs `test` with a host without plugins.
fn with_host(test: impl FnOnce(&Runtime, &Arc<PluginHost>)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let cache = tempfile::tempdir().unwrap();
    let plugins =
        crate::config::PluginConfig { dir: cache.path().join("none"), ..Config::default().plugin };
    let metrics = Metrics::default();
    let uses = crate::plugin::PluginUses::default();
    let folders = crate::plugin::Folders {
        cache: cache.path().join("cache"),
        versions: cache.path().join("versions"),
    };
    let host = PluginHost::start(&plugins, &[], uses, folders, &metrics);
    let host = runtime.block_on(host).unwrap();
    test(&runtime, &host);
    runtime.block_on(host.shutdown());
}

/// Two records, one for each of two partitions.
fn two() -> Step {
    Step { records: vec![(1, 1), (1, 2)], appends: 2, again: None }
}

#[test]
fn an_unfinished_batch_is_finished_whatever_the_configs_say_by_then() {
    with_host(|runtime, plugins| {
        runtime.block_on(finish_under_a_smaller_limit(plugins));
    });
}

async fn finish_under_a_smaller_limit(plugins: &Arc<PluginHost>) {
    let node = Node::start(plugins);
    let batch = batch(0, 2);
    node.begin(&batch, &route(&two(), 0), 1).await;
    let node = node.crash().await;
    let mut image = image();
    let configs = [("max.message.bytes".to_owned(), "60".to_owned())].into();
    image.configs.insert(ConfigResource::Topic(TOPIC.into()), Arc::new(configs));
    node.replicas.apply(&Arc::new(image));

    node.submit(&batch).await.unwrap();
    assert_eq!((node.values(1), node.values(2)), (vec!["0".into()], vec!["1".into()]));
    let refused = node.submit(&self::batch(2, 2)).await;
    assert!(matches!(refused, Err(ProduceError::TooLarge { .. })), "{refused:?}");
}

#[test]
fn a_route_is_finished_though_its_record_was_deleted_on_request() {
    with_host(|runtime, plugins| {
        runtime.block_on(finish_what_is_deleted(plugins));
    });
}

async fn finish_what_is_deleted(plugins: &Arc<PluginHost>) {
    let node = Node::start(plugins);
    let batch = batch(0, 2);
    node.begin(&batch, &route(&two(), 0), 1).await;
    let all = [(TopicPartition::new(TOPIC, 0), DeleteUpTo::HighWatermark)];
    node.replicas.delete_records(&all).remove(0).unwrap();
    let node = node.crash().await;
    assert_eq!(node.partition(0).log().log_start_offset(), node.partition(0).high_watermark());

    node.submit(&batch).await.unwrap();
    assert_eq!((node.values(1), node.values(2)), (vec!["0".into()], vec!["1".into()]));
}

#[test]
fn a_batch_for_a_topic_of_another_id_is_not_stored() {
    with_host(|runtime, plugins| {
        runtime.block_on(send_to_another_id(plugins));
    });
}

async fn send_to_another_id(plugins: &Arc<PluginHost>) {
    let node = Node::start(plugins);
    let id = node.partition(0).topic_id;
    let with_id = |id| Submission { topic_id: Some(id), ..Node::submission(&batch(0, 1)) };
    let other = TopicId(Uuid::from_u128(id.0.as_u128() + 1));
    let refused = node.produce.submit(with_id(other)).wait().await;
    let is_told = matches!(refused, Err(ProduceError::Replica(ReplicaError::UnknownTopicId)));
    assert!(is_told, "{refused:?}");
    assert_eq!(node.values(0), Vec::<String>::new());
    node.produce.submit(with_id(id)).wait().await.unwrap();
}

#[test]
fn a_lane_stores_nothing_in_a_later_topic_of_the_name() {
    with_host(|runtime, plugins| {
        runtime.block_on(send_to_an_earlier_lane(plugins));
    });
}

async fn send_to_an_earlier_lane(plugins: &Arc<PluginHost>) {
    let node = Node::start(plugins);
    let topic_partition = TopicPartition::new(TOPIC, 0);
    let earlier = TopicId(Uuid::from_u128(7));
    let (jobs, waiting) = mpsc::channel(1);
    let lane = Lane::new(node.produce.shared.clone(), topic_partition, earlier);
    let lane = tokio::spawn(lane.run(waiting));
    let (reply, answer) = oneshot::channel();
    let submission = Node::submission(&batch(0, 1));
    jobs.send(Job { submission, reply, on_its_way: Arc::default() }).await.ok().unwrap();
    assert!(matches!(answer.await.unwrap(), Err(ProduceError::Replica(_))));
    drop(jobs);
    lane.await.unwrap();
    assert_eq!(node.values(0), Vec::<String>::new());
}

#[test]
fn every_record_is_in_its_target_once_and_in_order_whenever_the_node_is_killed() {
    let config = ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    with_host(|runtime, plugins| {
        let stored_once = |steps: Vec<Step>| {
            runtime.block_on(run(plugins, &steps));
            Ok(())
        };
        runner.run(&vec(step(), 1..8), stored_once).unwrap();
    });
}
