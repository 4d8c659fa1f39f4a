//! A node that may hold far fewer files open than its logs have: it serves them all, and connections that are more than it may
//! have wait.
//!
//! `KLAMM_OPEN_FILES_PARTITIONS=3000 cargo test --test it open_files -- --nocapture` is the long run.

use std::net::TcpStream;

use crate::support::{Broker, Client, batch, eventually};

const OPEN_FILES: u32 = 200;
/// What the limit leaves for connections.
const CONNECTIONS: usize = 50;
/// Of each partition: every record is in one of its own.
const SEGMENTS: i32 = 4;
const SMALL_SEGMENTS: [(&str, &str); 1] = [("internal.segment.bytes", "100")];

fn partitions() -> i32 {
    std::env::var("KLAMM_OPEN_FILES_PARTITIONS").map_or(150, |it| it.parse().expect("a number"))
}

fn produce(client: &mut Client, value: i32) {
    for partition in 0..partitions() {
        let value = format!("{partition}: {value}");
        client.must_produce("t", partition, batch(&[(Some("key"), Some(&value))]));
    }
}

fn check(client: &mut Client, values: i32) {
    for partition in 0..partitions() {
        let want: Vec<_> = (0..values).map(|it| format!("{partition}: {it}")).collect();
        assert_eq!(client.values("t", partition), want);
    }
}

fn check_limits(broker: &Broker) {
    let (open, max) = (broker.metric("klamm_open_files "), broker.metric("klamm_open_files_max "));
    let segments = broker.metric("klamm_segment_files_open ");
    println!("{open} of {max} open, {segments} of them segments'");
    assert!((max - f64::from(OPEN_FILES)).abs() < 0.5, "{max}");
    assert!(open > segments && open < max, "{open} of {max}");
    assert!(segments <= f64::from(OPEN_FILES / 4), "{segments}");
}

#[test]
fn a_node_serves_more_segments_than_it_may_hold_files_open() {
    let mut broker = Broker::with_open_files(OPEN_FILES, &[]);
    let mut client = broker.client();
    client.create_topic("t", partitions(), &SMALL_SEGMENTS);
    for value in 0..SEGMENTS {
        produce(&mut client, value);
    }
    check(&mut client, SEGMENTS);
    check_limits(&broker);
    assert!(broker.metric("klamm_segment_files_closed_for_room_total") > f64::from(SEGMENTS));

    broker.terminate_and_restart();
    check(&mut broker.client(), SEGMENTS);
    broker.kill_and_restart();
    let mut client = broker.client();
    produce(&mut client, SEGMENTS);
    check(&mut client, SEGMENTS + 1);
    check_limits(&broker);
}

#[test]
fn connections_beyond_what_the_limit_leaves_wait_and_the_others_are_served() {
    let mut broker = Broker::with_open_files(OPEN_FILES, &[]);
    broker.announce("all connections are taken");
    let mut client = broker.client();
    client.create_topic("t", partitions(), &SMALL_SEGMENTS);
    let idle: Vec<_> =
        (0..2 * CONNECTIONS).map(|_| TcpStream::connect(broker.address()).unwrap()).collect();
    broker.wait_for_log("all connections are taken");
    let mut waiting = broker.client();

    produce(&mut client, 0);
    check(&mut client, 1);

    let connected = broker.metric("klamm_connections ");
    assert!((connected - CONNECTIONS as f64).abs() < 0.5, "{connected}");
    check_limits(&broker);
    drop(idle);
    check(&mut waiting, 1);
    eventually("the others have left", || {
        (broker.metric("klamm_connections ") < 2.5).then_some(())
    });
}
