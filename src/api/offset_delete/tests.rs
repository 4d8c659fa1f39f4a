//! What becomes of an answer of the coordinator, and of partitions that it is not asked about.

use kafka_protocol::messages::{TopicName, offset_delete_request::OffsetDeleteRequestPartition};

use super::*;
use crate::{
    api::test_node::{encodes, one_topic},
    group::GroupError,
};

/// Of `t`, which has two partitions, and of a topic that does not exist.
fn codes(deleted: Result<Vec<Result<(), GroupError>>, ErrorCode>) -> (i16, Vec<Vec<(i32, i16)>>) {
    let image = one_topic("t", 2);
    let asked: Vec<_> = [("t", &[0, 1, 2][..]), ("none", &[0])]
        .into_iter()
        .map(|(name, partitions)| {
            let partition =
                |&it: &i32| OffsetDeleteRequestPartition::default().with_partition_index(it);
            OffsetDeleteRequestTopic::default()
                .with_name(TopicName(name.into()))
                .with_partitions(partitions.iter().map(partition).collect())
        })
        .collect();
    let known = (0..2).map(|it| TopicPartition::new("t", it)).collect();
    let response = answer(&image, asked, known, deleted);
    encodes(&response, 0);
    let of = |it: &OffsetDeleteResponseTopic| {
        it.partitions.iter().map(|it| (it.partition_index, it.error_code)).collect()
    };
    (response.error_code, response.topics.iter().map(of).collect())
}

#[test]
fn each_partition_has_its_own_result() {
    let deleted = Ok(vec![Ok(()), Err(GroupError::SubscribedToTopic)]);
    assert_eq!(codes(deleted), (0, vec![vec![(0, 0), (1, 86), (2, 3)], vec![(0, 3)]]));
}

#[test]
fn a_group_that_is_refused_has_one_code_beside_what_does_not_exist() {
    let refused = Err(ErrorCode::GroupIdNotFound);
    assert_eq!(codes(refused), (69, vec![vec![(2, 3)], vec![(0, 3)]]));
}
