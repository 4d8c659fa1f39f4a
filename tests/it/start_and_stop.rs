//! A node's life as its operator sees it: ready, stopped, killed, started again.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
};

use kafka_protocol::messages::{ApiVersionsRequest, MetadataRequest};

use crate::support::Broker;

/// The status line of a GET.
fn get(broker: &Broker, path: &str) -> String {
    let mut stream = TcpStream::connect(broker.http_address()).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: klamm\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response.lines().next().unwrap_or_default().to_owned()
}

#[track_caller]
fn assert_serves(broker: &Broker) {
    let response = broker.client().call(0, &ApiVersionsRequest::default());
    assert_eq!(response.error_code, 0);
}

#[test]
fn a_ready_node_serves_on_the_addresses_that_it_tells() {
    let broker = Broker::start();
    assert!(get(&broker, "/health/live").contains(" 200 "));
    assert!(get(&broker, "/health/ready").contains(" 200 "));
    let metadata = broker.client().call(9, &MetadataRequest::default().with_topics(None));
    assert_eq!(metadata.brokers.len(), 1);
    assert_eq!(metadata.brokers[0].port, i32::from(broker.address().port()));
}

#[test]
fn a_node_stops_cleanly_with_clients_still_connected_and_starts_again_on_its_data() {
    let mut broker = Broker::start();
    let idle = broker.client();
    assert!(broker.data_dir().is_dir());
    broker.terminate_and_restart();
    drop(idle);
    assert_serves(&broker);
    broker.terminate_and_restart_with("num.partitions", "3");
    assert_serves(&broker);
    assert!(broker.terminate().success());
}

#[test]
fn a_stop_does_not_wait_for_clients_that_never_finish() {
    let mut broker = Broker::start();
    let dawdlers = [
        (broker.http_address(), b"".as_slice()),
        (broker.http_address(), b"GET /metrics HTT"),
        (broker.http_address(), b"GET /metrics HTTP/1.1\r\nHost: klamm\r\n\r\n"),
        (broker.address(), b""),
        (broker.address(), b"\0\0\0"),
        (broker.address(), b"\0\0\x01\0half a request"),
    ];
    let dawdlers = dawdlers.map(|(address, bytes)| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    });
    assert!(broker.terminate().success());
    drop(dawdlers);
}

#[test]
fn a_killed_node_starts_again_on_its_data() {
    let mut broker = Broker::with(&[("auto.create.topics.enable", "false")]);
    let cluster = |broker: &Broker| {
        broker.client().call(9, &MetadataRequest::default().with_topics(None)).cluster_id
    };
    let before = cluster(&broker);
    broker.kill_and_restart();
    assert_eq!(cluster(&broker), before);
}

#[test]
fn a_file_that_is_no_plugin_is_told_and_stops_nobody() {
    let mut broker = Broker::start();
    broker.announce("scribble");
    fs::write(broker.plugin_dir().join("scribble.wasm"), "no component").unwrap();
    broker.wait_for_log("scribble");
    assert_serves(&broker);
}
