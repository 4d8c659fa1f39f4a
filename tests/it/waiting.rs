//! Requests that wait on purpose, for records or for other members, keep nothing from those that do not.

use bytes::Bytes;
use kafka_protocol::{
    messages::{
        DescribeGroupsRequest, FetchRequest, FindCoordinatorRequest, JoinGroupRequest, TopicName,
        fetch_request::{FetchPartition, FetchTopic},
        join_group_request::JoinGroupRequestProtocol,
    },
    protocol::StrBytes,
};

use crate::support::{Broker, Client, eventually};

/// Longer than any test.
const LONG_MS: i32 = 600_000;

/// Of a member that brings a lot.
fn join(group: &'static str) -> JoinGroupRequest {
    let protocol = JoinGroupRequestProtocol::default()
        .with_name(StrBytes::from_static_str("range"))
        .with_metadata(Bytes::from(vec![0; 50_000]));
    JoinGroupRequest::default()
        .with_group_id(StrBytes::from_static_str(group).into())
        .with_session_timeout_ms(LONG_MS)
        .with_rebalance_timeout_ms(LONG_MS)
        .with_protocol_type(StrBytes::from_static_str("consumer"))
        .with_protocols(vec![protocol])
}

fn fetch(topic: &'static str) -> FetchRequest {
    let partition = FetchPartition::default().with_partition_max_bytes(1_000);
    let topic = FetchTopic::default()
        .with_topic(TopicName(StrBytes::from_static_str(topic)))
        .with_partitions(vec![partition]);
    let request = FetchRequest::default().with_max_bytes(1_000).with_topics(vec![topic]);
    // Five minutes is the longest that a fetch waits.
    request.with_max_wait_ms(LONG_MS).with_min_bytes(1)
}

fn begun(broker: &Broker, api: &str) -> f64 {
    broker.metric(&format!("klamm_requests_total{{api=\"{api}\"}}"))
}

/// The first member of a group, which does not wait.
#[track_caller]
fn lead(client: &mut Client) {
    eventually("the group has a leader", || {
        client.call(3, &FindCoordinatorRequest::default().with_key("group".into()));
        (client.call(3, &join("group")).error_code == 0).then_some(())
    });
}

#[test]
fn what_waits_gives_back_its_share_of_the_memory_for_requests() {
    let broker = Broker::with(&[("group.initial.rebalance.delay.ms", "0")]);
    let mut leader = broker.client();
    leader.create_topic("t", 1, &[]);
    lead(&mut leader);
    let (joins, fetches) = (begun(&broker, "JoinGroup"), begun(&broker, "Fetch"));
    let mut waiting: Vec<_> = (0..10).map(|_| broker.client()).collect();
    for (at, client) in waiting.iter_mut().enumerate() {
        // No answer comes: the leader does not join again, and nobody writes.
        if at % 2 == 0 {
            let _unanswered = client.send(3, &join("group"));
        } else {
            let _unanswered = client.send(11, &fetch("t"));
        }
    }
    eventually("all wait", || {
        let all =
            begun(&broker, "JoinGroup") >= joins + 5.0 && begun(&broker, "Fetch") >= fetches + 5.0;
        all.then_some(())
    });
    eventually("nothing is held", || {
        (broker.metric("klamm_request_inflight_bytes") < 1.0).then_some(())
    });
}

#[test]
fn the_connection_of_a_client_that_is_gone_goes_at_once_and_its_member_stays_as_in_kafka() {
    let broker = Broker::with(&[("group.initial.rebalance.delay.ms", "0")]);
    let mut leader = broker.client();
    lead(&mut leader);
    let connections = broker.metric("klamm_connections");
    let joins = begun(&broker, "JoinGroup");
    let mut waiting: Vec<_> = (0..5).map(|_| broker.client()).collect();
    for client in &mut waiting {
        // No answer comes: the leader does not join again.
        let _unanswered = client.send(3, &join("group"));
    }
    eventually("all wait", || (begun(&broker, "JoinGroup") >= joins + 5.0).then_some(()));
    waiting.into_iter().for_each(Client::reset);
    eventually("their connections are gone", || {
        (broker.metric("klamm_connections") <= connections).then_some(())
    });
    let request = DescribeGroupsRequest::default()
        .with_groups(vec![StrBytes::from_static_str("group").into()]);
    let described = leader.call(3, &request);
    assert_eq!(described.groups[0].members.len(), 6);
}

#[test]
fn a_fetch_that_waits_is_answered_once_its_client_has_said_all() {
    let broker = Broker::start();
    let mut client = broker.client();
    client.create_topic("t", 1, &[]);
    let fetches = begun(&broker, "Fetch");
    let sent = client.send(11, &fetch("t"));
    eventually("it waits", || (begun(&broker, "Fetch") > fetches).then_some(()));
    client.say_no_more();
    let response = client.receive(sent);
    let partition = &response.responses[0].partitions[0];
    assert_eq!((partition.error_code, partition.records.as_ref().map(Bytes::len)), (0, Some(0)));
    assert!(client.receive_frame().is_err(), "the connection is over");
}
