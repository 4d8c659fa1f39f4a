//! Records deleted on request stay deleted, and a topic made anew is not affected by what the old one had deleted.

use super::*;

fn delete(host: &Host, partition: i32, up_to: DeleteUpTo) -> Result<Offset, ReplicaError> {
    let asked = [(TopicPartition::new("a", partition), up_to)];
    host.replicas.delete_records(&asked).remove(0)
}

fn with_records() -> Host {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 2)]));
    for partition in 0..2 {
        host.partition("a", partition).append(vec![batch(4)], Acks::All).unwrap();
    }
    host
}

fn starts(host: &Host) -> [i64; 2] {
    [0, 1].map(|it| host.partition("a", it).log().log_start_offset().0)
}

#[test]
fn what_is_deleted_stays_so_over_a_kill_and_a_stop() {
    let mut host = with_records();
    assert_eq!(delete(&host, 0, DeleteUpTo::Offset(Offset(3))).unwrap(), Offset(3));
    assert_eq!(delete(&host, 1, DeleteUpTo::HighWatermark).unwrap(), Offset(4));
    assert_eq!(delete(&host, 0, DeleteUpTo::Offset(Offset(1))).unwrap(), Offset(3), "no rise");
    for is_stopped in [false, true, false] {
        if is_stopped {
            host.replicas.close();
        }
        host = host.restart();
        host.apply(image(&[("a", 1, 1, 2)]));
        assert_eq!(starts(&host), [3, 4]);
    }
}

#[test]
fn nothing_is_deleted_beyond_what_is_committed_or_where_nobody_leads() {
    let host = with_records();
    let error = delete(&host, 0, DeleteUpTo::Offset(Offset(5))).unwrap_err();
    assert!(matches!(error, ReplicaError::Log(LogError::OffsetOutOfRange { .. })), "{error}");
    let error = delete(&host, 2, DeleteUpTo::HighWatermark).unwrap_err();
    assert!(matches!(error, ReplicaError::UnknownTopicOrPartition), "{error}");
    assert_eq!(starts(&host), [0, 0]);
}

#[test]
fn a_start_that_cannot_be_written_down_is_no_success() {
    let host = with_records();
    let in_the_way = host.root.path().join("log-start-offset-checkpoint");
    std::fs::create_dir_all(in_the_way.join("x")).unwrap();
    let error = delete(&host, 0, DeleteUpTo::HighWatermark).unwrap_err();
    assert!(matches!(error, ReplicaError::NotPersisted), "{error}");
    std::fs::remove_dir_all(in_the_way).unwrap();
    assert_eq!(delete(&host, 0, DeleteUpTo::HighWatermark).unwrap(), Offset(4));
}

#[test]
fn a_topic_made_anew_begins_at_0_also_after_a_kill() {
    let host = with_records();
    delete(&host, 0, DeleteUpTo::HighWatermark).unwrap();
    host.apply(image(&[("a", 9, 1, 2)]));
    assert_eq!(starts(&host), [0, 0]);
    let host = host.restart();
    host.apply(image(&[("a", 9, 1, 2)]));
    assert_eq!(starts(&host), [0, 0]);

    // Made anew while the node was down: it finds the other topic's folder.
    host.partition("a", 0).append(vec![batch(4)], Acks::All).unwrap();
    delete(&host, 0, DeleteUpTo::HighWatermark).unwrap();
    let host = host.restart();
    host.apply(image(&[("a", 10, 1, 2)]));
    assert_eq!(starts(&host), [0, 0]);
}
