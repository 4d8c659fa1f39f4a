//! Replicas that move between log directories (KIP-113), whatever happens meanwhile.

use std::path::PathBuf;

use super::*;
use crate::{
    base::{ProducerEpoch, ProducerId},
    log::{Fault, Faults, FaultyDisk, LogDir},
    replica::moving::Step,
};
use rustix::io::Errno;

mod deletion;
mod failures;

/// Two directories, each on a disk of its own that fails on demand.
struct Roots([tempfile::TempDir; 2]);

/// A node over them, with one partition, `a-0`.
struct Node {
    replicas: Arc<ReplicaManager>,
    dirs: [Arc<LogDir>; 2],
}

/// Three records fill a segment.
const SMALL: &[(&str, &str)] = &[("internal.segment.bytes", "300")];
const ACKED: &[(&str, &str)] = &[("internal.segment.bytes", "300"), ("klamm.flush.mode", "ack")];

impl Roots {
    fn new() -> Self {
        Self([(); 2].map(|()| tempfile::tempdir().unwrap()))
    }

    fn path(&self, at: usize) -> PathBuf {
        self.0[at].path().to_owned()
    }

    fn node(&self, faults: [&Arc<Faults>; 2], configs: &[(&str, &str)]) -> Node {
        let mut config = Config::default();
        config.log.dirs = [0, 1].map(|it| self.path(it)).to_vec();
        let config = Arc::new(config);
        let open = |at: usize| {
            let disk = Arc::new(FaultyDisk(Arc::clone(faults[at])));
            Arc::new(LogDir::open_on(disk, &self.path(at), NODE).unwrap())
        };
        let dirs = [open(0), open(1)];
        let replicas = ReplicaManager::over(dirs.to_vec(), &config, &Metrics::default());
        replicas.claim("a cluster").unwrap();
        let node = Node { replicas, dirs };
        node.apply(configs);
        node
    }

    fn healthy(&self, configs: &[(&str, &str)]) -> Node {
        self.node([&Faults::none(), &Faults::none()], configs)
    }

    /// Folders of the partition in a directory, however they are called.
    fn folders(&self, at: usize) -> Vec<String> {
        let entries = self.path(at).read_dir().unwrap().map(Result::unwrap);
        let mut names: Vec<_> = entries
            .map(|it| it.file_name().into_string().unwrap())
            .filter(|it| it.starts_with("a-0"))
            .collect();
        names.sort();
        names
    }
}

fn key() -> TopicPartition {
    TopicPartition::new("a", 0)
}

/// A record that its timestamp tells from others, of an idempotent producer.
fn numbered(number: i32) -> Batch {
    let builder = BatchBuilder::new(TimestampMs(i64::from(number)), Compression::None);
    let mut builder = builder.producer(ProducerId(7), ProducerEpoch(0), number);
    builder.push(&RecordParts {
        offset_delta: 0,
        timestamp_delta: 0,
        key: None,
        value: Some(b"0123456789"),
        headers: Vec::new(),
    });
    builder.build().unwrap()
}

/// Numbers and offsets of all records.
fn stored(partition: &Partition) -> Vec<(i64, i64)> {
    let (log, mut found) = (partition.log(), Vec::new());
    let mut from = log.log_start_offset();
    while from < log.log_end_offset() {
        let fetched = log.read(from, log.log_end_offset(), usize::MAX, true).unwrap();
        found.extend(
            fetched.batches().map(|it| (it.header.max_timestamp.0, it.header.base_offset.0)),
        );
        from = fetched.next_offset;
    }
    found
}

impl Node {
    fn apply(&self, configs: &[(&str, &str)]) {
        let mut image = image(&[("a", 1, 1, 1)]);
        let own = configs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        image.configs.insert(ConfigResource::Topic("a".into()), Arc::new(own.collect()));
        self.replicas.apply(&Arc::new(image));
    }

    fn at(&self) -> Result<Arc<Partition>, ReplicaError> {
        self.replicas.leader(&key(), None)
    }

    fn move_to(&self, at: usize) -> Result<(), ReplicaError> {
        let path = std::path::absolute(&self.dirs[at].path).unwrap();
        self.replicas.alter_log_dir(&key(), &path)
    }

    /// Where it lies, and where it is on its way to.
    fn places(&self) -> (Vec<usize>, Vec<usize>) {
        let described = self.replicas.describe_dirs();
        let of = |is_future| {
            let has = |it: &DescribedDir| it.logs.iter().any(|it| it.is_future == is_future);
            (0..2).filter(|&at| has(&described[at])).collect()
        };
        (of(false), of(true))
    }

    fn append(&self, number: i32) -> bool {
        let Ok(partition) = self.at() else { return false };
        let appended = partition.append(vec![numbered(number)], Acks::Leader);
        appended.is_ok_and(|it| {
            let log = partition.log();
            assert_eq!(it.last_offset, Offset(i64::from(number)), "in order");
            !log.wants_flush() || log.commit().is_ok()
        })
    }

    /// Moves it step by step, appending from `number` on in between; how many are acknowledged then.
    fn move_while_appending(&self, at: usize, mut number: i32) -> i32 {
        if self.move_to(at).is_err() {
            return number;
        }
        let Some(it) = self.replicas.moves.claim() else { return number };
        let mut more = 3;
        loop {
            if more > 0 && self.append(number) {
                (more, number) = (more - 1, number + 1);
            }
            if matches!(self.replicas.step(&it, 1 << 20), Step::Over) {
                return number;
            }
        }
    }

    fn check(&self, acknowledged: i32) {
        let partition = self.at().unwrap();
        let stored = stored(&partition);
        let want: Vec<_> = (0..i64::from(acknowledged)).map(|it| (it, it)).collect();
        assert_eq!(stored[..want.len()], want, "nothing is lost");
        assert!(stored.len() <= want.len() + 1, "one may have been stored unacknowledged");
        let again = partition.append(vec![numbered(acknowledged - 1)], Acks::Leader).unwrap();
        assert!(again.duplicate, "a retry is known");
    }
}

/// A partition with some segments in the first directory.
fn written(node: &Node) -> i32 {
    if node.places().0 != [0] {
        node.move_to(0).unwrap();
        assert!(node.replicas.carry_out_move());
    }
    (0..8).for_each(|it| assert!(node.append(it)));
    8
}

#[test]
fn a_replica_moves_while_it_is_appended_to_and_read() {
    let roots = Roots::new();
    let node = roots.healthy(SMALL);
    let count = written(&node);
    let partition = node.at().unwrap();
    let slice = partition.log().slice(Offset(0), Offset(2), 1 << 20, true).unwrap().unwrap();
    node.move_to(1).unwrap();
    assert_eq!(node.places(), (vec![0], vec![1]));
    let count = node.move_while_appending(1, count);
    assert_eq!((count, node.places()), (11, (vec![1], vec![])));
    assert_eq!((roots.folders(0), roots.folders(1)), (vec![], vec!["a-0".to_owned()]));
    assert!(slice.read().is_ok(), "whoever reads the old files goes on");
    assert!(node.append(count));
    node.check(count + 1);
    assert!(!roots.path(1).join("a-0/klamm.moving").exists());
    drop((node, partition, slice));
    // A start that checks every batch, and one that believes them.
    for is_closed in [true, false] {
        let node = roots.healthy(SMALL);
        assert_eq!(node.places().0, [1]);
        node.check(count + 1);
        if is_closed {
            node.replicas.close();
        }
    }
}

#[test]
fn a_move_is_ended_by_one_to_where_the_replica_is_and_by_the_end_of_its_topic() {
    let roots = Roots::new();
    let node = roots.healthy(SMALL);
    let count = written(&node);
    let begin = || {
        node.move_to(1).unwrap();
        let it = node.replicas.moves.claim().unwrap();
        assert!(matches!(node.replicas.step(&it, 1), Step::Copied(_)));
        node.move_to(1).unwrap();
        assert_eq!((node.places(), roots.folders(1).len()), ((vec![0], vec![1]), 1));
        it
    };
    let it = begin();
    node.move_to(0).unwrap();
    assert_eq!((node.places(), roots.folders(1).len()), ((vec![0], vec![]), 0));
    assert!(matches!(node.replicas.step(&it, 1), Step::Over));
    node.check(count);

    let it = begin();
    node.replicas.apply(&Arc::new(image(&[])));
    assert!(matches!(node.replicas.step(&it, 1), Step::Over));
    assert_eq!((roots.folders(0), roots.folders(1)), (vec![], vec![]));
    assert!(matches!(node.move_to(1), Err(ReplicaError::UnknownTopicOrPartition)));
}

#[test]
fn a_move_that_a_stop_interrupts_goes_on_and_one_of_a_topic_that_is_gone_does_not() {
    let roots = Roots::new();
    let node = roots.healthy(SMALL);
    let count = written(&node);
    node.move_to(1).unwrap();
    node.replicas.stop_moves();
    assert!(node.replicas.carry_out_move());
    node.replicas.close();
    drop(node);
    let node = roots.healthy(SMALL);
    assert_eq!(node.places(), (vec![0], vec![1]));
    node.replicas.close();
    drop(node);

    let host = replicas_in(&[&roots.path(0), &roots.path(1)]);
    host.apply(&Arc::new(image(&[("a", 2, 1, 1)])));
    assert!(!roots.folders(1).iter().any(|it| it.ends_with("-future")), "another topic");
    drop(host);
    assert_eq!(count, 8);
}

#[test]
fn another_target_begins_the_move_anew() {
    let roots = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let host = replicas_in(&[roots[0].path(), roots[1].path(), roots[2].path()]);
    host.apply(&Arc::new(image(&[("a", 1, 1, 1)])));
    let lies_in = || {
        let has = |at: &usize| !host.describe_dirs()[*at].logs.is_empty();
        (0..3).filter(has).collect::<Vec<_>>()
    };
    for at in [1, 2] {
        host.alter_log_dir(&key(), roots[at].path()).unwrap();
        assert_eq!(lies_in(), [0, at]);
    }
    assert!(host.carry_out_move());
    assert_eq!((lies_in(), host.carry_out_move()), (vec![2], false));
}

#[test]
fn what_cannot_be_moved_is_refused_as_by_kafka() {
    let roots = Roots::new();
    let node = roots.healthy(&[]);
    let target = roots.path(1);
    let alter = |topic: &str, partition, path: &std::path::Path| {
        node.replicas.alter_log_dir(&TopicPartition::new(topic, partition), path)
    };
    let long = "a".repeat(214);
    assert!(matches!(alter(&long, 0, &target), Err(ReplicaError::NameTooLong)));
    let nowhere = target.join("nowhere");
    assert!(matches!(alter("a", 0, &nowhere), Err(ReplicaError::LogDirNotFound)));
    let unknown = ReplicaError::UnknownTopicOrPartition;
    for (topic, partition) in [("b", 0), ("a", 1), ("a", -1)] {
        let refused = alter(topic, partition, &target).unwrap_err();
        assert_eq!(refused.to_string(), unknown.to_string());
    }
    // What was asked for before it was there is made there.
    let mut more = image(&[("a", 1, 1, 2), ("b", 2, 1, 1)]);
    more.version = 2;
    node.replicas.apply(&Arc::new(more));
    for name in ["a-1", "b-0"] {
        assert!(target.join(name).exists(), "{name}");
    }
    node.dirs[1].health.take_offline(&LogError::Closed(target.clone()));
    assert!(matches!(alter("a", 0, &target), Err(ReplicaError::Offline)));
}

#[test]
fn damage_is_not_moved() {
    let roots = Roots::new();
    let node = roots.healthy(SMALL);
    written(&node);
    let segment = roots.path(0).join("a-0/00000000000000000000.log");
    let mut bytes = std::fs::read(&segment).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    node.move_to(1).unwrap();
    assert!(node.replicas.carry_out_move());
    assert_eq!((node.places(), roots.folders(1).len()), ((vec![0], vec![]), 0));
    assert!(node.append(8), "it goes on where it is");
}

#[test]
fn what_a_start_has_set_aside_stays_where_it_was() {
    let roots = Roots::new();
    let node = roots.healthy(SMALL);
    written(&node);
    let aside = "00000000000000000000.log.90.damaged";
    std::fs::write(roots.path(0).join("a-0").join(aside), b"x").unwrap();
    node.move_to(1).unwrap();
    assert!(node.replicas.carry_out_move());
    let [left] = &roots.folders(0)[..] else { panic!("{:?}", roots.folders(0)) };
    assert!(left.ends_with("-stray"), "{left}");
    let files = roots.path(0).join(left).read_dir().unwrap().map(Result::unwrap);
    assert_eq!(files.map(|it| it.file_name()).collect::<Vec<_>>(), [aside]);
}

#[test]
fn the_limit_on_moves_can_be_altered_while_they_run() {
    let roots = Roots::new();
    let node = roots.healthy(&[]);
    let mut image = image(&[("a", 1, 1, 1)]);
    image.replay(&MetadataRecord::Config {
        resource: ConfigResource::Broker(None),
        name: "replica.alter.log.dirs.io.max.bytes.per.second".into(),
        value: Some("7".into()),
    });
    node.replicas.apply(&Arc::new(image));
    let rate = node.replicas.moves.background.bytes_per_second();
    assert!((rate - 7.0).abs() < f64::EPSILON);
}
