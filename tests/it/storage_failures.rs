//! What a node does when its disk, or the system, refuses it something.

use std::{fs, path::Path, process::Command};

use kafka_protocol::messages::{BrokerId, MetadataRequest};

use crate::support::{Broker, Session, eventually};

const LEADER_NOT_AVAILABLE: i16 = 5;
const KAFKA_STORAGE_ERROR: i16 = 56;

fn topics(broker: &Broker) -> usize {
    broker.client().call(9, &MetadataRequest::default().with_topics(None)).topics.len()
}

#[test]
fn a_node_whose_metadata_log_cannot_be_written_ends_and_a_start_with_room_has_everything() {
    let mut broker = Broker::start();
    let mut client = broker.client();
    client.create_topic("t", 1, &[]);
    let session = Session::new(&mut client);
    client.must_produce("t", 0, session.batch(0, &[(None, Some("a"))]));
    let metadata_log = broker.data_dir().join("__cluster_metadata-0/quorum.log");
    // Half an entry fits: its torn rest is cut off by the next start.
    broker.limit_file_size(fs::metadata(&metadata_log).unwrap().len() + 20);
    broker.announce("this node cannot go on and stops: the metadata log has failed");
    broker.announce("the metadata log has failed");
    broker.announce("could not close a log");
    broker.announce("recovery will have to check more");

    let refused = client.try_create_topic("refused", 1, &[]);

    assert!(refused.as_ref().is_none_or(|it| it.error_code != 0), "{refused:?}");
    assert_eq!(broker.end().code(), Some(1));
    broker.kill_and_restart();
    assert_eq!(topics(&broker), 1);
    let mut client = broker.client();
    assert_eq!(client.values("t", 0), ["a"]);
    client.create_topic("another", 1, &[]);
}

#[test]
fn a_node_that_may_open_too_few_files_says_so_and_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let start = "ulimit -n 24; exec \"$0\" serve --set log.dirs=data --set listeners=PLAINTEXT://127.0.0.1:0";
    let ended = Command::new("sh")
        .args(["-c", start, env!("CARGO_BIN_EXE_klamm")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(told.contains("may hold 24 files open, and needs at least"), "{told}");
}

#[test]
fn a_node_without_its_metadata_log_does_not_make_a_new_one_beside_its_records() {
    let mut broker = Broker::start();
    broker.client().create_topic("t", 1, &[]);
    assert!(broker.terminate().success());
    let data = broker.data_dir();
    fs::remove_dir_all(data.join("__cluster_metadata-0")).unwrap();

    let dirs = format!("log.dirs={}", data.display());
    let ended = Command::new(env!("CARGO_BIN_EXE_klamm"))
        .args(["serve", "--set", &dirs, "--set", "listeners=PLAINTEXT://127.0.0.1:0"])
        .args(["--set", "klamm.http.listen=127.0.0.1:0"])
        .output()
        .unwrap();

    assert_eq!(ended.status.code(), Some(1));
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(told.contains("__cluster_metadata-0 is missing, though"), "{told}");
    assert!(!data.join("__cluster_metadata-0").exists());
}

#[test]
fn a_topic_with_the_longest_name_is_deleted_and_made_again() {
    let broker = Broker::start();
    let mut client = broker.client();
    let name = "n".repeat(249);
    for _ in 0..2 {
        client.create_topic(&name, 1, &[]);
        client.delete_topic(&name);
    }
    eventually("its folders are gone", || {
        let left = fs::read_dir(broker.data_dir()).unwrap().map(|it| it.unwrap().file_name());
        (!left.into_iter().any(|it| it.to_str().unwrap().starts_with('n'))).then_some(())
    });
}

/// Where partition 0 of a topic lies.
fn is_in(dir: &Path, topic: &str) -> bool {
    dir.join(format!("{topic}-0")).exists()
}

#[test]
fn a_log_directory_that_fails_goes_offline_alone_and_has_everything_after_a_restart() {
    // Nothing is written to the second one but by its topics.
    let settings =
        [("log.dirs", "data,more"), ("log.flush.offset.checkpoint.interval.ms", "3600000")];
    let mut broker = Broker::with(&settings);
    let more = broker.data_dir().with_file_name("more");
    let mut client = broker.client();
    for topic in ["one", "two"] {
        client.create_topic(topic, 1, &[]);
    }
    let topics = ["one", "two"];
    let fails = *topics.iter().find(|it| is_in(&more, it)).expect("they are spread");
    let goes_on = *topics.iter().find(|it| !is_in(&more, it)).expect("they are spread");
    let session = Session::new(&mut client);
    let large = "v".repeat(100_000);
    client.must_produce(fails, 0, session.batch(0, &[(None, Some(&large))]));
    broker.announce("took a log directory offline");
    broker.limit_file_size(100_000);

    let refused = client.produce(fails, 0, session.batch(1, &[(None, Some("lost"))]));
    assert_eq!(refused.error_code, KAFKA_STORAGE_ERROR);
    let refused = client.produce(fails, 0, session.batch(1, &[(None, Some("lost"))]));
    assert_eq!(refused.error_code, KAFKA_STORAGE_ERROR);
    assert!(!client.has_partition(fails, 0));
    assert!(broker.metric("klamm_partitions_offline") > 0.5);
    let described = client.call(9, &MetadataRequest::default().with_topics(None));
    let of = |topic: &str| {
        let topic =
            described.topics.iter().find(|it| it.name.as_ref().is_some_and(|it| it.0 == *topic));
        topic.expect("it exists").partitions[0].clone()
    };
    assert_eq!((of(fails).error_code, of(fails).leader_id.0), (LEADER_NOT_AVAILABLE, -1));
    assert_eq!(of(fails).offline_replicas, [BrokerId(1)]);
    assert_eq!((of(goes_on).error_code, of(goes_on).leader_id.0), (0, 1));
    assert!(broker.get("/metrics").contains("klamm_partitions_offline 1\n"));
    client.must_produce(goes_on, 0, session.batch(0, &[(None, Some("a"))]));
    client.create_topic("three", 1, &[]);
    assert!(!is_in(&more, "three"), "what is new is made where it can be");

    assert!(broker.terminate().success());
    broker.start_again();
    let mut client = broker.client();
    assert_eq!(client.values(fails, 0), [large.as_str()]);
    assert_eq!(client.values(goes_on, 0), ["a"]);
    client.must_produce(fails, 0, session.batch(1, &[(None, Some("found"))]));
}

#[test]
fn a_node_starts_without_a_log_directory_that_cannot_be_used_but_not_without_the_first() {
    let mut broker = Broker::with(&[("log.dirs", "data,more")]);
    assert!(broker.terminate().success());
    let more = broker.data_dir().with_file_name("more");
    fs::write(more.join("meta.properties"), "no properties").unwrap();
    broker.announce("took a log directory offline");
    broker.start_again();
    let mut client = broker.client();
    client.create_topic("t", 2, &[]);
    assert!(broker.terminate().success());

    let first = format!("log.dirs={}", more.display());
    let ended = Command::new(env!("CARGO_BIN_EXE_klamm"))
        .args(["serve", "--set", &first, "--set", "listeners=PLAINTEXT://127.0.0.1:0"])
        .args(["--set", "klamm.http.listen=127.0.0.1:0"])
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("it is damaged"), "it says why");
}

#[test]
fn with_flush_mode_ack_producers_groups_and_consumers_work_as_ever() {
    let broker = Broker::with(&[("klamm.flush.mode", "ack")]);
    let mut client = broker.client();
    client.create_topic("t", 2, &[]);
    let session = Session::new(&mut client);
    // Many at a time: an fsync serves those that came before it began.
    let sent: Vec<_> = (0..20)
        .map(|at| client.send_produce("t", 0, session.batch(at, &[(None, Some("a"))])))
        .collect();
    for it in sent {
        assert_eq!(client.receive_produced(it).error_code, 0);
    }
    assert_eq!(client.values("t", 0).len(), 20);
}
