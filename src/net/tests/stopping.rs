//! A node that stops lets its clients finish, for a while.

use super::*;

#[tokio::test]
async fn a_muted_client_does_not_hold_up_a_stop() {
    let node = Node::with(|it| it.stop_grace = 10 * HANG).await;
    let mut muted = node.connect().await;
    muted.send(b"p").await;
    muted.send(b"mute").await;
    node.until_begun(2).await;
    node.stop.cancel();
    node.gate.add_permits(1);
    for answer in [b"p".as_slice(), b"mute"] {
        muted.assert_answer(answer).await;
    }
    muted.assert_closed().await;
    timeout(HANG, node.serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_stop_lets_running_requests_finish_and_closes_the_rest() {
    let node = Node::start().await;
    let mut idle = node.connect().await;
    let mut running = node.connect().await;
    running.send(b"x").await;
    node.until_begun(1).await;
    node.stop.cancel();
    idle.assert_closed().await;
    node.gate.add_permits(1);
    running.assert_answer(b"x").await;
    running.assert_closed().await;
    timeout(HANG, node.serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_request_that_does_not_finish_is_cut_off_after_the_grace() {
    let node = Node::with(|it| it.stop_grace = Duration::from_millis(20)).await;
    let mut peer = node.connect().await;
    peer.send(b"x").await;
    node.until_begun(1).await;
    node.stop.cancel();
    peer.assert_closed().await;
    timeout(HANG, node.serving).await.unwrap().unwrap();
    assert!(node.metrics.encode().contains("klamm_connections_closed_total{reason=\"stopped\"} 1"));
}
