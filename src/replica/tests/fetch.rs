//! What a fetch brings, and when.

use super::*;

#[tokio::test]
async fn the_budget_of_a_fetch_is_shared_and_gives_at_least_one_batch() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 3)]));
    for partition in 1..3 {
        host.partition("a", partition).append(vec![batch(2)], Acks::All).unwrap();
        host.partition("a", partition).append(vec![batch(2)], Acks::All).unwrap();
    }
    let size = batch(2).bytes.len();
    for (max_bytes, want) in [
        (1, [0, size, 0]),
        (size, [0, size, 0]),
        (3 * size, [0, 2 * size, size]),
        (9 * size, [0, 2 * size, 2 * size]),
    ] {
        let partitions = (0..3).map(|it| ask("a", it, 0)).collect();
        let answers = FetchParams { max_bytes, ..params(1, 0, partitions) };
        assert_eq!(records(&host.replicas.fetch(answers).await), want, "{max_bytes}");
    }
}

#[tokio::test]
async fn while_slow_readers_hold_all_files_an_answer_has_the_records_of_one_partition() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 3)]));
    for partition in 0..3 {
        host.partition("a", partition).append(vec![batch(2)], Acks::All).unwrap();
    }
    let size = batch(2).bytes.len();
    let ask_all = || params(1, 0, (0..3).map(|it| ask("a", it, 0)).collect());
    assert_eq!(records(&host.replicas.fetch(ask_all()).await), [size; 3]);
    host.replicas.held_open.take_all();
    assert_eq!(records(&host.replicas.fetch(ask_all()).await), [size, 0, 0]);
}

#[tokio::test]
async fn a_reader_in_a_hurry_gets_what_is_there_and_waits_no_longer() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 2)]));
    let (full, empty) = (host.partition("a", 0), host.partition("a", 1));
    full.append(vec![batch(2)], Acks::All).unwrap();
    let wanted = params(1 << 20, 3_600_000, vec![ask("a", 0, 0), ask("a", 1, 0)]);
    let hurry = wanted.hurry.clone();
    let mut fetch = std::pin::pin!(host.replicas.fetch(wanted.clone()));
    assert!(fetch.as_mut().now_or_never().is_none());
    hurry.cancel();
    let want = [batch(2).bytes.len(), 0];
    let patience = Duration::from_mins(2);
    let hurried = tokio::time::timeout(patience, fetch).await.unwrap();
    assert_eq!(records(&hurried), want);
    assert_eq!((full.purgatory.len(), empty.purgatory.len()), (0, 0));
    let again = tokio::time::timeout(patience, host.replicas.fetch(wanted)).await.unwrap();
    assert_eq!(records(&again), want);
}

#[tokio::test]
async fn a_fetch_waits_for_enough_bytes_of_its_own_partitions() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 2)]));
    let (own, other) = (host.partition("a", 0), host.partition("a", 1));
    let size = batch(2).bytes.len();
    let wanted = params(2 * size, 60_000, vec![ask("a", 0, 0)]);
    let mut fetch = std::pin::pin!(host.replicas.fetch(wanted));

    assert!(fetch.as_mut().now_or_never().is_none());
    assert_eq!((own.purgatory.len(), other.purgatory.len()), (1, 0));
    other.append(vec![batch(9)], Acks::All).unwrap();
    own.append(vec![batch(2)], Acks::All).unwrap();
    assert!(fetch.as_mut().now_or_never().is_none(), "half of it");
    own.append(vec![batch(2)], Acks::All).unwrap();

    assert_eq!(records(&fetch.await), [2 * size]);
    assert_eq!(own.purgatory.len(), 0, "nothing is left behind");
}

#[tokio::test]
async fn a_fetch_ends_with_its_time_or_its_partition() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 1)]));
    let partition = host.partition("a", 0);
    partition.append(vec![batch(1)], Acks::All).unwrap();
    let size = batch(1).bytes.len();
    let late = host.replicas.fetch(params(1 << 20, 20, vec![ask("a", 0, 0)])).await;
    assert_eq!(records(&late), [size], "less than asked for, when the time is over");
    let waiting = host.replicas.fetch(params(1 << 20, 60_000, vec![ask("a", 0, 1)]));
    let (gone, ()) = tokio::join!(waiting, async { host.apply(image(&[])) });
    assert!(matches!(gone[0].result, Err(ReplicaError::UnknownTopicOrPartition)));
}

#[tokio::test]
async fn an_error_does_not_wait() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 1)]));
    let fetch = params(1, 60_000, vec![ask("a", 0, 0), ask("a", 0, 7), ask("x", 0, 0)]);
    let answers = host.replicas.fetch(fetch).now_or_never().expect("it does not wait");
    assert!(answers[0].result.is_ok());
    let out_of_range = answers[1].result.as_ref().err().unwrap();
    assert!(matches!(out_of_range, ReplicaError::Log(LogError::OffsetOutOfRange { .. })));
    assert!(matches!(answers[2].result, Err(ReplicaError::UnknownTopicOrPartition)));
}

#[tokio::test]
async fn a_reader_that_diverged_is_told_where() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 1)]));
    host.partition("a", 0).append(vec![batch(2)], Acks::All).unwrap();
    let mut next = image(&[("a", 1, 1, 1)]);
    let mut topic = next.topics["a"].as_ref().clone();
    topic.partitions[0].leader_epoch = LeaderEpoch(5);
    next.topics.insert("a".into(), Arc::new(topic));
    host.apply(next);
    host.partition("a", 0).append(vec![batch(2)], Acks::All).unwrap();
    let asked = FetchPartition { last_fetched_epoch: Some(LeaderEpoch(4)), ..ask("a", 0, 3) };
    let answers = host.replicas.fetch(params(1, 0, vec![asked])).await;
    let data = answers[0].result.as_ref().ok().unwrap();
    assert_eq!(data.diverging_epoch, Some((LeaderEpoch(3), Offset(2))));
    assert_eq!(data.bytes(), 0);
}
