//! Clients that leave while their requests wait, and those that only look like it.

use std::net::Shutdown;

use socket2::SockRef;

use super::*;

/// Waits until the node has no connection.
async fn until_all_are_gone(node: &Node) {
    let gone = async {
        while !node.metrics.encode().contains("klamm_connections 0") {
            tokio::task::yield_now().await;
        }
    };
    timeout(HANG, gone).await.unwrap();
}

#[tokio::test]
async fn a_connection_that_is_reset_while_its_request_waits_is_over() {
    let node = Node::start().await;
    for requests in [vec!["p"], vec!["x"], vec!["p", "x"], vec!["x", "more that is not read"]] {
        let mut peer = node.connect().await;
        let begun = node.begun().len();
        for request in &requests {
            peer.send(request.as_bytes()).await;
        }
        let waiting = requests.iter().filter(|it| it.len() == 1).count();
        node.until_begun(begun + waiting).await;
        // What is closed without lingering is reset.
        SockRef::from(&peer.0).set_linger(Some(Duration::ZERO)).unwrap();
        drop(peer);
        until_all_are_gone(&node).await;
        assert_eq!(node.begun().len(), begun + waiting, "{requests:?}");
    }
    assert!(node.metrics.encode().contains("klamm_request_inflight_bytes 0"));
    assert!(node.metrics.encode().contains("klamm_connections_closed_total{reason=\"io\"} 4"));
}

#[tokio::test]
async fn a_client_that_stops_sending_while_its_requests_wait_gets_all_answers() {
    let node = Node::start().await;
    let mut peer = node.connect().await;
    for request in ["p", "x", "echo"] {
        peer.send(request.as_bytes()).await;
    }
    SockRef::from(&peer.0).shutdown(Shutdown::Write).unwrap();
    node.until_begun(2).await;
    node.assert_serves_others().await;
    node.gate.add_permits(2);
    for answer in [b"p".as_slice(), b"x", b"echo"] {
        peer.assert_answer(answer).await;
    }
    peer.assert_closed().await;
    until_all_are_gone(&node).await;
}

#[tokio::test]
async fn who_has_said_all_is_not_kept_waiting() {
    let node = Node::start().await;
    let mut peer = node.connect().await;
    peer.send(&[ask::LONG_POLL]).await;
    node.until_begun(1).await;
    node.assert_serves_others().await;
    SockRef::from(&peer.0).shutdown(Shutdown::Write).unwrap();
    peer.assert_answer(&[ask::LONG_POLL]).await;
    peer.assert_closed().await;
}

#[tokio::test]
async fn a_client_that_stops_sending_still_gets_its_answers() {
    let node = Node::start().await;
    let mut peer = node.connect().await;
    peer.send(b"p").await;
    peer.0.shutdown().await.unwrap();
    node.until_begun(1).await;
    node.gate.add_permits(1);
    peer.assert_answer(b"p").await;
    peer.assert_closed().await;
}
