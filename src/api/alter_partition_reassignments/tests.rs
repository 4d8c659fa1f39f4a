//! Each partition has a code of its own, and the answer says by which rule.

use kafka_protocol::messages::{
    TopicName, alter_partition_reassignments_request::ReassignableTopic,
};

use super::*;
use crate::api::test_node::{encodes, one_topic};

fn codes(partitions: &[(i32, Option<&[i32]>)], may_change_count: bool) -> Vec<i16> {
    let partitions = partitions.iter().map(|&(index, replicas)| {
        let replicas = replicas.map(|it| it.iter().map(|&id| WireId(id)).collect());
        ReassignablePartition::default().with_partition_index(index).with_replicas(replicas)
    });
    let topic = ReassignableTopic::default()
        .with_name(TopicName("t".into()))
        .with_partitions(partitions.collect());
    let request = AlterPartitionReassignmentsRequest::default()
        .with_allow_replication_factor_change(may_change_count)
        .with_topics(vec![topic]);
    let response = answer(&one_topic("t", 2), request);
    assert_eq!(response.allow_replication_factor_change, may_change_count);
    let first = i16::from(!may_change_count);
    (first..=*VERSIONS.end()).for_each(|version| encodes(&response, version));
    response.responses[0].partitions.iter().map(|it| it.error_code).collect()
}

#[test]
fn a_partition_stays_where_it_is() {
    let asked = [(0, Some(&[1][..])), (0, None), (1, Some(&[7])), (1, Some(&[])), (2, None)];
    assert_eq!(codes(&asked, true), [0, 85, 39, 39, 3]);
}

#[test]
fn the_number_of_replicas_stays_if_the_client_says_so() {
    assert_eq!(codes(&[(0, Some(&[1, 7]))], false), [38]);
    assert_eq!(codes(&[(0, Some(&[1, 7]))], true), [39]);
}
