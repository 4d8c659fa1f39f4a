//! Elections on one node, where nobody else can be elected.

use kafka_protocol::messages::TopicName;

use super::*;
use crate::api::test_node::{encodes, one_topic};

/// The code of the whole, and of each partition.
fn codes(election_type: i8, partitions: Option<&[i32]>) -> (i16, Vec<(i32, i16)>) {
    let topics = partitions.map(|it| {
        let topic = TopicPartitions::default().with_topic(TopicName("t".into()));
        vec![topic.with_partitions(it.to_vec())]
    });
    let request = ElectLeadersRequest::default()
        .with_election_type(election_type)
        .with_topic_partitions(topics);
    let response = answer(&one_topic("t", 2), request);
    let first = i16::from(response.error_code != 0);
    (first..=*VERSIONS.end()).for_each(|version| encodes(&response, version));
    let results = response.replica_election_results.iter().flat_map(|it| &it.partition_result);
    (response.error_code, results.map(|it| (it.partition_id, it.error_code)).collect())
}

#[test]
fn a_partition_that_has_its_leader_needs_no_election() {
    for election_type in [0, 1] {
        assert_eq!(codes(election_type, Some(&[1, 2])), (0, vec![(1, 84), (2, 3)]));
    }
}

#[test]
fn of_all_partitions_those_without_need_are_left_out() {
    assert_eq!(codes(0, None), (0, vec![]));
}

#[test]
fn an_election_of_no_known_kind_is_refused_as_a_whole_and_in_each_part() {
    assert_eq!(codes(2, Some(&[0])), (42, vec![(0, 42)]));
    assert_eq!(codes(-1, None), (42, vec![]));
}
