//! Pages over an image of three topics.

use kafka_protocol::messages::describe_topic_partitions_request::TopicRequest;

use super::*;
use crate::api::test_node::{add_topic, encodes, one_topic};

/// Topics `a`, `b` and `c` of two, three and one partitions.
fn image() -> MetadataImage {
    let mut image = one_topic("a", 2);
    add_topic(&mut image, "b", 3);
    add_topic(&mut image, "c", 1);
    image
}

fn request(
    topics: &[&str],
    limit: i32,
    from: Option<(&str, i32)>,
) -> DescribeTopicPartitionsRequest {
    let name = |it: &str| WireName(it.to_owned().into());
    let cursor = from
        .map(|(topic, at)| From::default().with_topic_name(name(topic)).with_partition_index(at));
    let topics = topics.iter().map(|it| TopicRequest::default().with_name(name(it)));
    DescribeTopicPartitionsRequest::default()
        .with_topics(topics.collect())
        .with_response_partition_limit(limit)
        .with_cursor(cursor)
}

/// Topics with their error and partitions, and where the next page begins.
type Told = (Vec<(String, i16, Vec<i32>)>, Option<(String, i32)>);

fn told(request: &DescribeTopicPartitionsRequest) -> Told {
    let response = answer(&image(), &Context::of_version(0), request, 5);
    encodes(&response, 0);
    let topics = response.topics.iter().map(|it| {
        let partitions = it.partitions.iter().map(|it| it.partition_index).collect();
        (it.name.as_ref().unwrap().to_string(), it.error_code, partitions)
    });
    let next = response.next_cursor.map(|it| (it.topic_name.to_string(), it.partition_index));
    (topics.collect(), next)
}

fn all(topics: &[(&str, i16, &[i32])], next: Option<(&str, i32)>) -> Told {
    let topics = topics.iter().map(|(name, code, it)| ((*name).to_owned(), *code, it.to_vec()));
    (topics.collect(), next.map(|(name, at)| (name.to_owned(), at)))
}

#[test]
fn pages_follow_each_other_over_all_topics() {
    let page = |from| told(&request(&[], 2, from));
    assert_eq!(page(None), all(&[("a", 0, &[0, 1])], Some(("b", 0))));
    assert_eq!(page(Some(("b", 0))), all(&[("b", 0, &[0, 1])], Some(("b", 2))));
    assert_eq!(page(Some(("b", 2))), all(&[("b", 0, &[2]), ("c", 0, &[0])], None));
}

#[test]
fn a_limit_that_makes_no_sense_is_one_partition_and_a_large_one_is_ours() {
    assert_eq!(told(&request(&["c", "a"], 0, None)), all(&[("a", 0, &[0])], Some(("a", 1))));
    assert_eq!(told(&request(&["c", "a"], -9, None)), all(&[("a", 0, &[0])], Some(("a", 1))));
    let most = all(&[("a", 0, &[0, 1]), ("b", 0, &[0, 1, 2])], Some(("c", 0)));
    assert_eq!(told(&request(&[], i32::MAX, None)), most);
}

#[test]
fn a_topic_that_is_missing_is_told_when_it_was_asked_for() {
    let asked = request(&["a", "b!", "none"], 9, None);
    assert_eq!(told(&asked), all(&[("a", 0, &[0, 1]), ("b!", 17, &[]), ("none", 3, &[])], None));
    assert_eq!(
        told(&request(&["b"], 9, Some(("b", 3)))),
        all(&[("b", 0, &[])], None),
        "behind the last"
    );
    // A topic that a page ended before may be gone by the next one.
    assert_eq!(told(&request(&[], 9, Some(("bb", 1)))), all(&[("c", 0, &[0])], None));
}

#[test]
fn a_cursor_that_fits_no_request_is_refused() {
    for (topics, from) in [(&["a"][..], ("b", 0)), (&["a"], ("a", -1))] {
        assert_eq!(told(&request(topics, 9, Some(from))), all(&[("a", 42, &[])], None));
    }
    assert_eq!(told(&request(&[], 9, Some(("a", -1)))), all(&[], None));
}

#[test]
fn a_partition_tells_its_leader_and_that_nobody_else_is_eligible() {
    let response = answer(&image(), &Context::of_version(0), &request(&["c"], 9, None), 5);
    let partition = &response.topics[0].partitions[0];
    assert_eq!((partition.leader_id.0, partition.leader_epoch), (1, 4));
    assert_eq!(partition.eligible_leader_replicas.as_deref(), Some(&[][..]));
    assert!(partition.offline_replicas.is_empty());
}
