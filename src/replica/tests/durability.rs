//! What is acknowledged, and seen, before and after an fsync, and a log directory that fails beside one that does not.

use super::*;
use crate::log::{Fault, Faults, FaultyDisk, LogDir};
use rustix::io::Errno;

/// Two directories, of which the second is on a disk that fails on demand.
struct TwoDirs {
    _roots: [tempfile::TempDir; 2],
    replicas: Arc<ReplicaManager>,
    faults: Arc<Faults>,
}

impl TwoDirs {
    /// One topic each, `safe-0` in the first directory and `a-0` in the second.
    fn start(configs: &[(&str, &str)]) -> Self {
        let roots = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let faults = Faults::none();
        let mut config = Config::default();
        config.log.dirs = roots.iter().map(|it| it.path().to_owned()).collect();
        let config = Arc::new(config);
        let disk = Arc::new(FaultyDisk(Arc::clone(&faults)));
        let dirs = [
            LogDir::open(roots[0].path(), NODE).unwrap(),
            LogDir::open_on(disk, roots[1].path(), NODE).unwrap(),
        ];
        let dirs = dirs.into_iter().map(Arc::new).collect();
        let replicas = ReplicaManager::over(dirs, &config, &Metrics::default());
        replicas.claim("a cluster").unwrap();
        let it = Self { _roots: roots, replicas, faults };
        it.apply(&[("safe", 1, 1, 1)], configs);
        it.apply(&[("a", 2, 1, 1), ("safe", 1, 1, 1)], configs);
        it
    }

    fn apply(&self, topics: &[(&str, u128, i32, usize)], configs: &[(&str, &str)]) {
        let mut image = image(topics);
        let own = configs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        image.configs.insert(ConfigResource::Topic("a".into()), Arc::new(own.collect()));
        self.replicas.apply(&Arc::new(image));
    }

    fn at(&self, topic: &str) -> Result<Arc<Partition>, ReplicaError> {
        self.replicas.leader(&TopicPartition::new(topic, 0), None)
    }

    fn fsyncs(&self) -> usize {
        self.faults
            .take_synced()
            .iter()
            .filter(|it| it.extension().is_some_and(|it| it == "log"))
            .count()
    }
}

const ACK: &[(&str, &str)] = &[("klamm.flush.mode", "ack")];
const LONG: Duration = Duration::from_mins(5);

fn append(partition: &Partition) -> Offset {
    partition.append(vec![batch(1)], Acks::Leader).unwrap().last_offset
}

#[tokio::test]
async fn one_fsync_serves_all_appends_that_came_before_it_and_nobody_sees_them_earlier() {
    let node = TwoDirs::start(ACK);
    let partition = node.at("a").unwrap();
    node.fsyncs();
    node.faults.hold_fsyncs(true);
    let mut last = append(&partition);
    node.faults.fsync_began().await;
    for _ in 0..20 {
        last = append(&partition);
    }
    assert_eq!((partition.high_watermark(), last), (Offset(0), Offset(20)));
    let mut fetch = std::pin::pin!(node.replicas.fetch(params(1, 300_000, vec![ask("a", 0, 0)])));
    assert!(fetch.as_mut().now_or_never().is_none(), "nothing to see yet");
    let waiting = [Acks::Leader, Acks::All].map(|acks| partition.committed(last, acks, LONG));
    let mut waiting = std::pin::pin!(futures_util::future::try_join_all(waiting));
    assert!(waiting.as_mut().now_or_never().is_none());
    partition.committed(last, Acks::None, LONG).await.unwrap();

    node.faults.hold_fsyncs(false);
    waiting.await.unwrap();
    assert_eq!(partition.high_watermark(), Offset(21));
    assert!(records(&fetch.await)[0] > 0, "whoever waits to read is woken");
    assert_eq!(node.fsyncs(), 2, "the one under way, and one for all others");
}

#[tokio::test]
async fn a_failed_fsync_is_told_to_all_who_wait_and_the_other_directory_goes_on() {
    let node = TwoDirs::start(ACK);
    let partition = node.at("a").unwrap();
    node.faults.hold_fsyncs(true);
    let last = append(&partition);
    let waiting = [Acks::Leader, Acks::All].map(|acks| partition.committed(last, acks, LONG));
    node.faults.fail_fsync();
    node.faults.hold_fsyncs(false);
    for result in futures_util::future::join_all(waiting).await {
        assert!(matches!(result, Err(ReplicaError::Offline)), "{result:?}");
    }
    assert_eq!(partition.high_watermark(), Offset(0), "what may be lost is shown to nobody");
    assert!(matches!(node.at("a"), Err(ReplicaError::Offline)));
    assert!(node.replicas.is_offline(&TopicPartition::new("a", 0)));
    append(&node.at("safe").unwrap());
    // What is made now is made where it can be.
    node.apply(&[("a", 2, 1, 1), ("new", 3, 1, 2), ("safe", 1, 1, 1)], ACK);
    append(&node.at("new").unwrap());
    assert_eq!(node.replicas.first_dir_offline().now_or_never(), None);
}

#[tokio::test]
async fn with_a_count_the_append_that_completes_it_waits_for_its_fsync() {
    let node = TwoDirs::start(&[("flush.messages", "3")]);
    let partition = node.at("a").unwrap();
    node.fsyncs();
    for seen in 1..=2 {
        append(&partition);
        assert_eq!(partition.high_watermark(), Offset(seen));
    }
    assert_eq!(node.fsyncs(), 0);
    node.faults.hold_fsyncs(true);
    let third = append(&partition);
    assert_eq!(partition.high_watermark(), Offset(2));
    node.faults.hold_fsyncs(false);
    partition.committed(third, Acks::Leader, LONG).await.unwrap();
    assert_eq!(node.fsyncs(), 1);
    append(&partition);
    assert_eq!(partition.high_watermark(), Offset(4), "the count begins anew");
}

#[tokio::test]
async fn a_topic_that_stops_asking_for_fsyncs_shows_what_waited() {
    let node = TwoDirs::start(ACK);
    let partition = node.at("a").unwrap();
    let last = append(&partition);
    partition.committed(last, Acks::All, LONG).await.unwrap();
    node.apply(&[("a", 2, 1, 1), ("safe", 1, 1, 1)], &[]);
    append(&partition);
    assert_eq!(partition.high_watermark(), Offset(2));
}

#[test]
fn every_failure_of_the_disk_takes_its_directory_offline_and_no_other() {
    for errno in [Errno::IO, Errno::NOSPC] {
        let node = TwoDirs::start(&[]);
        let partition = node.at("a").unwrap();
        append(&partition);
        node.faults.fail_next(Fault::Refused(errno));
        let refused = partition.append(vec![batch(1)], Acks::All);
        assert!(matches!(refused, Err(ReplicaError::Log(LogError::Storage { .. }))));
        assert!(matches!(node.at("a"), Err(ReplicaError::Offline)));
        assert!(node.at("safe").is_ok());
    }
}

#[test]
fn logs_are_flushed_by_the_clock_where_the_topic_says_so() {
    let node = TwoDirs::start(&[("flush.ms", "0")]);
    append(&node.at("a").unwrap());
    append(&node.at("safe").unwrap());
    node.replicas.flush_due();
    let points = |topic| node.at(topic).unwrap().log().recovery_point();
    assert_eq!((points("a"), points("safe")), (Offset(1), Offset(0)));
    node.fsyncs();
    node.replicas.flush_due();
    assert_eq!(node.fsyncs(), 0, "there is nothing to flush");
}

#[test]
fn a_directory_that_cannot_be_used_at_a_start_is_offline_and_what_may_lie_there_is_not_made_anew() {
    let roots = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [one, two, three] = [0, 1, 2].map(|at: usize| roots[at].path().join("data"));
    let host = replicas_in(&[&one, &two]);
    let topics = [("a", 1, 1, 4)];
    host.apply(&Arc::new(image(&topics)));
    let lies_in_two: Vec<i32> = (0..4).filter(|it| two.join(format!("a-{it}")).exists()).collect();
    assert_eq!(lies_in_two.len(), 2);
    host.close();
    drop(host);
    std::fs::rename(&two, &three).unwrap();
    std::fs::write(&two, b"no folder").unwrap();

    let host = replicas_in(&[&one, &two]);
    host.apply(&Arc::new(image(&topics)));
    let at = |topic, partition| host.leader(&TopicPartition::new(topic, partition), None);
    for partition in 0..4 {
        let is_offline = matches!(at("a", partition), Err(ReplicaError::Offline));
        assert_eq!(is_offline, lies_in_two.contains(&partition), "{partition}");
    }
    let mut more = image(&[("a", 1, 1, 5), ("b", 2, 1, 1)]);
    more.version = 2;
    host.apply(&Arc::new(more));
    assert!(at("a", 4).is_ok() && at("b", 0).is_ok(), "what is new is made where it can be");
    host.close();
    drop(host);

    std::fs::remove_file(&two).unwrap();
    std::fs::rename(&three, &two).unwrap();
    let host = replicas_in(&[&one, &two]);
    host.apply(&Arc::new(image(&[("a", 1, 1, 5), ("b", 2, 1, 1)])));
    assert_eq!(host.partitions().len(), 6);
    assert!(!host.has_offline());
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_are_made_and_deleted_while_retention_waits_for_the_disk() {
    let rolled: &[_] = &[("internal.segment.bytes", "100"), ("retention.ms", "-1")];
    let dirs = Arc::new(TwoDirs::start(rolled));
    let partition = dirs.at("a").unwrap();
    for _ in 0..3 {
        append(&partition);
    }
    dirs.faults.hold_fsyncs(true);
    let retaining = Arc::clone(&dirs.replicas);
    let retained = tokio::task::spawn_blocking(move || retaining.retain());
    dirs.faults.fsync_began().await;

    let changing = Arc::clone(&dirs);
    let changed = tokio::task::spawn_blocking(move || {
        changing.apply(&[("a", 2, 1, 1), ("new", 3, 1, 1)], rolled);
    });
    let changed = tokio::time::timeout(LONG, changed).await;
    let is_stuck = !retained.is_finished();
    dirs.faults.hold_fsyncs(false);

    assert!(is_stuck, "retention waits");
    changed.expect("and nobody else").unwrap();
    retained.await.unwrap();
    assert!(dirs.at("new").is_ok());
    assert!(matches!(dirs.at("safe"), Err(ReplicaError::UnknownTopicOrPartition)));
}
