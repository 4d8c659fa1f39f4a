//! What a node does when its disk, or the system, refuses it something.

use std::{fs, process::Command};

use kafka_protocol::messages::MetadataRequest;

use crate::support::{Broker, Session, eventually};

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
