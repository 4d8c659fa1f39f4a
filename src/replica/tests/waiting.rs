//! Readers that wait while things change around them.

use super::*;

/// A reader that means the topic of this id.
fn ask_for(id: u128, offset: i64) -> FetchPartition {
    FetchPartition { topic_id: Some(TopicId(uuid::Uuid::from_u128(id))), ..ask("a", 0, offset) }
}

fn is_told_of_another(answers: &[FetchedPartition]) -> bool {
    matches!(answers[0].result, Err(ReplicaError::InconsistentTopicId))
}

#[tokio::test]
async fn whatever_is_wrong_with_a_topic_made_anew_a_reader_of_the_old_one_is_told_that_it_is_another()
 {
    let host = Host::start();
    host.apply(image(&[("a", 2, 1, 1)]));
    host.partition("a", 0).append(vec![batch(2)], Acks::All).unwrap();
    let fenced = FetchPartition { current_leader_epoch: Some(LeaderEpoch(1)), ..ask_for(1, 0) };
    let diverged = FetchPartition { last_fetched_epoch: Some(LeaderEpoch(1)), ..ask_for(1, 0) };
    for asked in [ask_for(1, 0), ask_for(1, 99), fenced, diverged] {
        let answers = host.replicas.fetch(params(1, 0, vec![asked.clone()])).await;
        assert!(is_told_of_another(&answers), "{asked:?}");
    }
    let size = batch(2).bytes.len();
    assert_eq!(records(&host.replicas.fetch(params(1, 0, vec![ask_for(2, 0)])).await), [size]);
}

#[tokio::test]
async fn a_reader_whose_topic_is_made_anew_while_it_waits_does_not_begin_anew_with_it() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 1)]));
    host.partition("a", 0).append(vec![batch(5)], Acks::All).unwrap();
    let waiting = host.replicas.fetch(params(1, 60_000, vec![ask_for(1, 5)]));
    let make_anew = async { host.apply(image(&[("a", 2, 1, 1)])) };
    let (answers, ()) = tokio::join!(waiting, make_anew);
    assert!(is_told_of_another(&answers));
}

#[tokio::test]
async fn a_reader_that_waits_for_more_holds_no_file_open() {
    let host = Host::start();
    host.apply(image(&[("a", 1, 1, 1)]));
    let partition = host.partition("a", 0);
    partition.append(vec![batch(2)], Acks::All).unwrap();
    let size = batch(2).bytes.len();
    let room = || host.replicas.held_open.room();
    let before = room();
    let wanted = params(2 * size, 60_000, vec![ask("a", 0, 0)]);
    let mut fetch = std::pin::pin!(host.replicas.fetch(wanted));
    // The disk may have to be waited for first.
    while partition.purgatory.len() == 0 {
        assert!(fetch.as_mut().now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    assert_eq!(room(), before);
    partition.append(vec![batch(2)], Acks::All).unwrap();
    let answers = fetch.await;
    assert_eq!((records(&answers), room()), (vec![2 * size], before - 1));
}
