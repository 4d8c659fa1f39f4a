//! Connections that are idle or stalled, in numbers: they hold up nobody, and take little memory.

use std::{io::Write as _, net::TcpStream};

use kafka_protocol::{
    messages::{
        FetchRequest,
        fetch_request::{FetchPartition, FetchTopic},
    },
    protocol::{Encodable as _, StrBytes},
};

use crate::support::{Broker, batch, frame_of};

const IDLE: usize = 200;
const STALLED: usize = 12;

/// What idle and stalled connections may cost together: less than the answers that are not taken.
const MEMORY_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Asks for a MiB, sixteen times.
fn untaken_fetches() -> Vec<u8> {
    let partition = FetchPartition::default().with_partition_max_bytes(1 << 20);
    let topic = FetchTopic::default()
        .with_topic(StrBytes::from_static_str("t").into())
        .with_partitions(vec![partition]);
    let mut body = bytes::BytesMut::new();
    let request = FetchRequest::default().with_max_bytes(1 << 20).with_topics(vec![topic]);
    request.encode(&mut body, 11).unwrap();
    frame_of(1, 11, 1, &body).repeat(16)
}

fn sent(broker: &Broker, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(broker.address()).unwrap();
    stream.write_all(bytes).unwrap();
    stream
}

#[test]
fn connections_that_are_idle_or_stalled_hold_up_nobody() {
    let broker = Broker::start();
    let mut client = broker.client();
    client.create_topic("t", 1, &[]);
    let large = "klamm ".repeat(150_000);
    client.must_produce("t", 0, batch(&[(None, Some(&large))]));
    let before = broker.peak_resident_bytes();

    let idle: Vec<_> = (0..IDLE).map(|_| sent(&broker, &[])).collect();
    // Half of a request of a MiB; answers that nobody takes.
    let half = [&(1_i32 << 20).to_be_bytes()[..], &vec![0; 500_000]].concat();
    let stalled: Vec<_> = (0..STALLED / 2)
        .flat_map(|_| [sent(&broker, &half), sent(&broker, &untaken_fetches())])
        .collect();
    let mut trickling = sent(&broker, &(100_i32).to_be_bytes());
    for _ in 0..50 {
        trickling.write_all(&[0]).unwrap();
        client.must_produce("t", 0, batch(&[(Some("k"), Some("v"))]));
    }

    assert_eq!(client.read("t", 0).len(), 51);
    let open = broker.metric("klamm_connections");
    assert!(open >= (IDLE + STALLED + 2) as f64, "{open}");
    let grown = broker.peak_resident_bytes() - before;
    assert!(grown < MEMORY_MAX_BYTES, "{grown} bytes");
    drop((idle, stalled));
}

#[test]
fn an_address_has_as_many_connections_as_it_may() {
    let mut broker = Broker::with(&[
        ("max.connections.per.ip", "5"),
        ("max.connections.per.ip.overrides", "127.0.0.1:3"),
    ]);
    broker.announce("its address has max.connections.per.ip");
    let mut kept = [broker.client(), broker.client(), broker.client()];
    for client in &mut kept {
        assert!(!client.has_partition("t", 0), "it is answered");
    }
    let refused = broker.client().receive_frame();
    assert!(refused.is_err(), "it is closed");
    broker.wait_for_log("refused a connection");
}
