//! Connections that are too many, or come too often.

use super::*;
use crate::metadata::{MetadataRecord, QuotaEntityType, QuotaValue};

#[tokio::test]
async fn a_connection_too_many_waits_until_another_ends() {
    let node = Node::with_net(|it| it.max_connections = 1).await;
    let mut first = node.connect().await;
    first.send(b"echo 1").await;
    first.assert_answer(b"echo 1").await;
    let mut second = node.connect().await;
    second.send(b"echo 2").await;
    assert_eq!(node.begun().len(), 1);
    drop(first);
    second.assert_answer(b"echo 2").await;
}

#[tokio::test]
async fn a_connection_too_many_of_one_address_is_closed_at_once() {
    let node = Node::with_net(|it| it.max_connections_per_ip = 2).await;
    let mut kept = [node.connect().await, node.connect().await];
    for peer in &mut kept {
        peer.send(b"echo").await;
        peer.assert_answer(b"echo").await;
    }
    node.connect().await.assert_closed().await;
    assert!(node.metrics.encode().contains("klamm_connections_refused_total 1"));
    let [first, _second] = kept;
    drop(first);
    let served_again = async {
        loop {
            let mut peer = node.connect().await;
            if peer.0.write_all(&framed(b"echo")).await.is_ok() && peer.receive().await.is_some() {
                return;
            }
        }
    };
    timeout(HANG, served_again).await.unwrap();
}

#[tokio::test]
async fn a_connection_that_was_silent_for_longest_leaves_when_there_may_be_fewer() {
    let node = Node::start().await;
    let mut silent = node.connect().await;
    silent.send(b"echo").await;
    silent.assert_answer(b"echo").await;
    let mut busy = node.connect().await;
    busy.send(b"p").await;
    node.until_begun(2).await;
    let mut third = node.connect().await;
    third.send(b"echo").await;
    third.assert_answer(b"echo").await;
    node.alter(|it| it.max_connections = 1);
    silent.assert_closed().await;
    // What was begun is answered.
    node.gate.add_permits(1);
    busy.assert_answer(b"p").await;
    busy.assert_closed().await;
    third.send(b"echo").await;
    third.assert_answer(b"echo").await;
    let mut fourth = node.connect().await;
    fourth.send(b"echo 4").await;
    node.alter(|it| it.max_connections = 2);
    fourth.assert_answer(b"echo 4").await;
    assert!(node.metrics.encode().contains("klamm_connections_closed_total{reason=\"excess\"} 2"));
}

fn quota_of_ip(value: f64) -> MetadataImage {
    let mut image = MetadataImage::default();
    image.replay(&MetadataRecord::ClientQuota {
        entity: [(QuotaEntityType::Ip, Some("127.0.0.1".into()))].into(),
        key: "connection_creation_rate".into(),
        value: Some(QuotaValue(value)),
    });
    image
}

#[tokio::test]
async fn an_address_that_connects_too_often_is_closed_later_and_holds_up_nobody() {
    let node = Node::start().await;
    // The first is too many in the time that is looked at.
    node.quotas.apply(&NetConfig::default(), &quota_of_ip(0.05));
    let mut refused = node.connect().await;
    refused.send(b"echo").await;
    let since = std::time::Instant::now();
    refused.assert_closed().await;
    assert!(since.elapsed() > Duration::from_millis(500), "{:?}", since.elapsed());
    let throttled = "klamm_connections_throttled_total{of=\"ip\"} 1";
    assert!(node.metrics.encode().contains(throttled), "{}", node.metrics.encode());
    // The limit is lifted.
    node.quotas.apply(&NetConfig::default(), &MetadataImage::default());
    node.assert_serves_others().await;
}

#[tokio::test]
async fn connections_above_the_rate_of_all_wait_on_their_listener() {
    let node = Node::with_net(|it| it.max_connection_creation_rate = 0).await;
    let since = std::time::Instant::now();
    node.assert_serves_others().await;
    assert!(since.elapsed() > Duration::from_millis(500), "{:?}", since.elapsed());
    let throttled = "klamm_connections_throttled_total{of=\"broker\"} 1";
    assert!(node.metrics.encode().contains(throttled), "{}", node.metrics.encode());
}

#[tokio::test]
async fn a_listener_that_waits_does_not_hold_up_a_stop() {
    let node = Node::with_net(|it| it.max_connections = 1).await;
    let mut first = node.connect().await;
    first.send(b"echo").await;
    first.assert_answer(b"echo").await;
    let mut waiting = node.connect().await;
    node.stop.cancel();
    waiting.assert_closed().await;
    timeout(HANG, node.serving).await.unwrap().unwrap();
}
