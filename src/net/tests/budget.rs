//! What clients leave undone takes no share of the common budget for long.

use super::*;

#[tokio::test]
async fn a_body_that_never_comes_gives_its_share_of_the_budget_back() {
    let node = Node::with(|it| {
        it.inflight_max_bytes = 100;
        it.body = Duration::from_millis(50);
    })
    .await;
    let mut hoarder = node.connect().await;
    hoarder.0.write_i32(100).await.unwrap();
    node.assert_serves_others().await;
    hoarder.assert_closed().await;
}

#[tokio::test]
async fn announced_lengths_take_nothing_from_others() {
    let node = Node::with(|it| it.inflight_max_bytes = 1 << 20).await;
    let mut hoarders = Vec::new();
    for _ in 0..20 {
        let mut hoarder = node.connect().await;
        hoarder.0.write_i32(1 << 20).await.unwrap();
        hoarder.0.write_u8(ask::ECHO).await.unwrap();
        hoarders.push(hoarder);
    }
    node.assert_serves_others().await;
}

/// Four requests of 1 MiB, of each of which half arrives.
async fn stall(node: &Node) -> Vec<Peer> {
    let mut stalled = Vec::new();
    for _ in 0..4 {
        let mut half = node.connect().await;
        half.0.write_i32(1 << 20).await.unwrap();
        half.0.write_all(&vec![ask::ECHO; 500 << 10]).await.unwrap();
        stalled.push(half);
    }
    stalled
}

#[tokio::test]
async fn large_requests_that_stall_hold_up_no_small_ones() {
    let node = Node::with(|it| it.inflight_max_bytes = 1 << 20).await;
    let _stalled = stall(&node).await;
    node.assert_serves_others().await;
}

#[tokio::test]
async fn half_read_requests_that_stall_make_room_for_one_that_waits() {
    let node = Node::with(|it| {
        it.inflight_max_bytes = 1 << 20;
        it.body = 10 * HANG;
        it.lag = Duration::from_millis(50);
    })
    .await;
    let _stalled = stall(&node).await;
    let mut good = node.connect().await;
    let large = vec![ask::ECHO; 500 << 10];
    good.send(&large).await;
    good.assert_answer(&large).await;
    assert!(node.metrics.encode().contains("klamm_connections_closed_total{reason=\"stalled\"}"));
}

#[tokio::test]
async fn a_slow_request_that_nobody_waits_for_is_answered() {
    let node = Node::with(|it| {
        it.inflight_max_bytes = 1 << 20;
        it.body = 10 * HANG;
        it.lag = Duration::from_millis(1);
    })
    .await;
    let mut slow = node.connect().await;
    let large = vec![ask::ECHO; 400 << 10];
    let framed = framed(&large);
    for part in framed.chunks(40 << 10) {
        slow.0.write_all(part).await.unwrap();
        for _ in 0..10 {
            node.assert_serves_others().await;
        }
    }
    slow.assert_answer(&large).await;
}

#[tokio::test]
async fn half_read_requests_that_fill_the_budget_all_end() {
    let node = Node::with(|it| it.inflight_max_bytes = 1 << 20).await;
    let large = vec![ask::ECHO; 900 << 10];
    let mut halves = Vec::new();
    for _ in 0..4 {
        let mut half = node.connect().await;
        half.0.write_i32(large.len() as i32).await.unwrap();
        half.0.write_all(&large[..500 << 10]).await.unwrap();
        halves.push(half);
    }
    let rest = halves.into_iter().map(|mut half| {
        let large = &large;
        async move {
            half.0.write_all(&large[500 << 10..]).await.unwrap();
            half.assert_answer(large).await;
        }
    });
    timeout(HANG, futures_util::future::join_all(rest)).await.unwrap();
    node.assert_serves_others().await;
    assert!(node.metrics.encode().contains("klamm_request_inflight_bytes 0"));
}

#[tokio::test]
async fn requests_wait_for_the_budget_and_a_larger_one_than_all_of_it_is_served() {
    let node = Node::with(|it| it.inflight_max_bytes = 100).await;
    let mut first = node.connect().await;
    let mut second = node.connect().await;
    let large = [ask::PIPELINED; 300];
    first.send(&large).await;
    node.until_begun(1).await;
    assert!(node.metrics.encode().contains("klamm_request_inflight_bytes 300"));
    second.send(b"echo").await;
    node.gate.add_permits(1);
    first.assert_answer(&large).await;
    second.assert_answer(b"echo").await;
    assert!(node.begun()[0].len() == 300 && node.begun()[1] == "echo");
}

#[tokio::test]
async fn requests_that_wait_and_need_their_bytes_no_more_hold_up_nobody() {
    let node = Node::with(|it| it.inflight_max_bytes = 100).await;
    let mut members = Vec::new();
    for _ in 0..20 {
        let mut member = node.connect().await;
        member.send(&[ask::WAITING; 90]).await;
        members.push(member);
    }
    node.until_begun(20).await;
    assert!(node.metrics.encode().contains("klamm_request_inflight_bytes 0"));
    node.assert_serves_others().await;
    node.gate.add_permits(20);
    for member in &mut members {
        member.assert_answer(&[ask::WAITING; 90]).await;
    }
}

/// A request of 600 KiB of which all but the end arrives.
async fn hoard(node: &Node) -> JoinHandle<Peer> {
    let mut peer = node.connect().await;
    tokio::spawn(async move {
        let large = framed(&vec![ask::ECHO; 600 << 10]);
        // The connection is closed at some point.
        let _ = peer.0.write_all(&large[..500 << 10]).await;
        peer
    })
}

#[tokio::test]
async fn among_many_that_stall_a_client_that_gets_on_is_served_long_before_they_are_through() {
    const HOARDERS: usize = 60;
    let node = Node::with(|it| {
        it.inflight_max_bytes = 8 << 20;
        it.body = 10 * HANG;
        it.lag = Duration::from_millis(200);
    })
    .await;
    let mut good = node.connect().await;
    let large = vec![ask::ECHO; 900 << 10];
    for _ in 0..3 {
        good.send(&large).await;
        good.assert_answer(&large).await;
    }
    let mut hoarders = Vec::new();
    for _ in 0..HOARDERS {
        hoarders.push(hoard(&node).await);
    }
    until_short(&node, 3 << 20).await;
    good.send(&large).await;
    good.assert_answer(&large).await;
    let closed = stalled(&node);
    assert!(closed < HOARDERS / 2, "{closed} of {HOARDERS} are closed");
    // A newcomer, of which nobody knows that it is a good one, waits its turn.
    let mut newcomer = node.connect().await;
    newcomer.send(&large).await;
    newcomer.assert_answer(&large).await;
}

/// Waits until half-read requests hold so many bytes.
async fn until_short(node: &Node, bytes: usize) {
    let held = async {
        while number(node, "klamm_request_inflight_bytes ") < bytes {
            tokio::task::yield_now().await;
        }
    };
    timeout(HANG, held).await.unwrap();
}

/// Connections that were closed because their requests did not arrive.
fn stalled(node: &Node) -> usize {
    number(node, "klamm_connections_closed_total{reason=\"stalled\"} ")
}

fn number(node: &Node, series: &str) -> usize {
    let metrics = node.metrics.encode();
    let line = metrics.lines().find_map(|it| it.strip_prefix(series));
    line.map_or(0, |it| it.parse().unwrap())
}
