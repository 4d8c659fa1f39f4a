//! The partitions of a node over restarts, and what a crash or a lost folder leaves of them.

use super::*;

#[test]
fn records_survive_a_restart_and_a_topic_made_anew_begins_empty() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 1)]));
    host.partition("a", 0).append(vec![batch(2)], Acks::All).unwrap();
    let host = host.restart();
    host.apply(image(&[("a", 1, 1, 1)]));
    assert_eq!(host.partition("a", 0).high_watermark(), Offset(2));
    host.replicas.close();
    assert!(host.root.path().join(".kafka_cleanshutdown").exists());
    let host = host.restart();
    host.apply(image(&[("a", 1, 1, 1)]));
    assert_eq!(host.partition("a", 0).high_watermark(), Offset(2));

    host.apply(image(&[("a", 9, 1, 1)]));
    assert_eq!(host.partition("a", 0).log().log_end_offset(), Offset(0));
    assert_eq!(host.partition("a", 0).topic_id, TopicId(uuid::Uuid::from_u128(9)));
}

/// Stopped cleanly with three records in `a-0`.
fn stopped_with_records() -> Host {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 1)]));
    host.partition("a", 0).append(vec![batch(3)], Acks::All).unwrap();
    host.replicas.close();
    host
}

#[test]
fn a_log_whose_folder_was_lost_or_emptied_goes_on_behind_what_it_had() {
    for is_emptied in [false, true] {
        let mut host = stopped_with_records();
        let folder = host.root.path().join("a-0");
        std::fs::remove_dir_all(&folder).unwrap();
        if is_emptied {
            std::fs::create_dir(&folder).unwrap();
        }
        // The second time after what is as good as a kill.
        for _ in 0..2 {
            host = host.restart();
            host.apply(image(&[("a", 1, 1, 1)]));
            let log = host.partition("a", 0).log().clone();
            assert_eq!((log.log_start_offset(), log.log_end_offset()), (Offset(3), Offset(3)));
        }
    }
}

#[test]
fn a_lost_folder_is_made_again_in_the_directory_that_knows_of_it() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let topics = image(&[("a", 1, 1, 2)]);
    let start = || {
        let replicas = replicas_in(&[one.path(), two.path()]);
        replicas.apply(&Arc::new(topics.clone()));
        replicas
    };
    let log_end = |replicas: &ReplicaManager, partition| {
        let key = TopicPartition::new("a", partition);
        replicas.leader(&key, None).unwrap().log().log_end_offset()
    };
    let replicas = start();
    for partition in [0, 1] {
        let key = TopicPartition::new("a", partition);
        let partition = replicas.leader(&key, None).unwrap();
        partition.append(vec![batch(3)], Acks::All).unwrap();
    }
    replicas.close();
    drop(replicas);
    let folder = two.path().join("a-1");
    std::fs::remove_dir_all(&folder).unwrap();
    let replicas = start();
    assert!(folder.exists());
    assert_eq!([0, 1].map(|it| log_end(&replicas, it)), [Offset(3); 2]);
}

#[test]
fn a_topic_made_anew_around_a_crash_begins_at_its_beginning() {
    let begins_empty = |host: Host| {
        let host = host.restart();
        host.apply(image(&[("a", 9, 1, 1)]));
        assert_eq!(host.partition("a", 0).log().log_end_offset(), Offset(0));
    };
    // Nothing of it was applied before the crash.
    begins_empty(stopped_with_records());
    // The old one's folder was deleted, the new one's not made.
    let host = stopped_with_records().restart();
    host.apply(image(&[("a", 1, 1, 1)]));
    host.apply(image(&[]));
    begins_empty(host);
    // The old one was deleted by hand, or in a crash, and the new one is made later.
    let host = stopped_with_records();
    std::fs::remove_dir_all(host.root.path().join("a-0")).unwrap();
    let host = host.restart();
    host.apply(image(&[]));
    host.apply(image(&[("a", 9, 1, 1)]));
    assert_eq!(host.partition("a", 0).log().log_end_offset(), Offset(0));
}

#[test]
fn what_is_left_of_a_topic_that_was_deleted_in_a_crash_is_put_aside() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 1), ("b", 2, 1, 1)]));
    host.partition("a", 0).append(vec![batch(2)], Acks::All).unwrap();
    std::fs::create_dir(host.root.path().join("of-3")).unwrap();
    let host = host.restart();
    host.apply(image(&[("b", 2, 1, 1)]));
    let folders = host.folders();
    assert_eq!(folders.len(), 3, "{folders:?}");
    assert!(folders[0].starts_with("a-0.") && folders[0].ends_with("-stray"), "{folders:?}");
    assert_eq!(folders[1..], ["b-0", "of-3"]);
    // Only a start looks for them.
    host.apply(image(&[("a", 3, 1, 1)]));
    assert_eq!(host.partition("a", 0).log().log_end_offset(), Offset(0));
}
