//! Golden bytes, as `GroupCoordinatorRecordHelpers` and `GroupCoordinatorRecordSerde` of Kafka 4.1.2 write them; round trips, and
//! hostile values.

use std::collections::BTreeSet;

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::{
    base::{TimestampMs, TopicId},
    group::{
        consumer::TopicPartitions,
        record::{GroupRecord, RawRecord},
    },
};

fn partitions(of: &[i32]) -> TopicPartitions {
    let topic = TopicId(Uuid::from_u64_pair(1, 2));
    TopicPartitions([(topic, of.iter().copied().collect())].into())
}

fn names(of: &[&str]) -> BTreeSet<TopicName> {
    of.iter().map(|&it| it.into()).collect()
}

fn member() -> ConsumerMemberMetadata {
    ConsumerMemberMetadata {
        group_instance_id: None,
        rack_id: None,
        client_id: "c".into(),
        client_host: "/h".into(),
        subscribed_topic_names: names(&["t"]),
        subscribed_topic_regex: None,
        rebalance_timeout_ms: 5_000,
        server_assignor: None,
        classic: None,
    }
}

fn of_member(value: Option<ConsumerMemberMetadata>) -> GroupRecord {
    GroupRecord::ConsumerMember { group_id: "g".into(), member_id: "m".into(), value }
}

fn current(value: Option<CurrentAssignment>) -> GroupRecord {
    GroupRecord::ConsumerCurrent { group_id: "g".into(), member_id: "m".into(), value }
}

fn hex(text: &str) -> Vec<u8> {
    let digit = |it: usize| u8::from_str_radix(&text[it..it + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digit).collect()
}

/// Both ways.
#[track_caller]
fn check(record: GroupRecord, key: &str, value: Option<&str>) {
    let golden = RawRecord { key: hex(key).into(), value: value.map(|it| hex(it).into()) };
    assert_eq!(record.encode(), golden);
    assert_eq!(GroupRecord::decode(&golden.key, golden.value.as_deref()), Ok(Some(record)));
}

#[test]
fn a_groups_epoch_is_stored_as_kafka_stores_it() {
    let group = |epoch: Option<(i32, i64)>| GroupRecord::ConsumerGroup {
        group_id: "g".into(),
        value: epoch.map(|(epoch, metadata_hash)| ConsumerGroupMetadata { epoch, metadata_hash }),
    };
    check(group(Some((7, 0))), "0003000167", Some("00000000000700"));
    check(group(Some((7, -2))), "0003000167", Some("000000000007010008fffffffffffffffe"));
    check(group(None), "0003000167", None);
}

#[test]
fn a_member_is_stored_as_kafka_stores_it() {
    let of_all = ConsumerMemberMetadata {
        group_instance_id: Some("i".into()),
        rack_id: Some("r".into()),
        subscribed_topic_names: names(&["u", "t"]),
        subscribed_topic_regex: Some("t.*".into()),
        server_assignor: Some("range".into()),
        ..member()
    };
    check(
        of_member(Some(of_all)),
        "000500016700016d",
        Some("0000026902720263032f68030274027504742e2a000013880672616e676501000100"),
    );
    check(of_member(None), "000500016700016d", None);
}

/// Kafka writes null, and does not write the default: a struct with nothing in it.
#[test]
fn a_member_of_the_consumer_protocol_says_that_it_is_no_classic_one() {
    let stored = |classic| of_member(Some(ConsumerMemberMetadata { classic, ..member() }));
    let key = "000500016700016d";
    check(stored(None), key, Some("000000000263032f6802027401000013880001000100"));
    let nothing = ClassicMemberMetadata::default();
    check(stored(Some(nothing)), key, Some("000000000263032f6802027401000013880000"));
}

#[test]
fn a_classic_member_is_stored_as_kafka_stores_it() {
    let classic = ClassicMemberMetadata {
        session_timeout_ms: 4_500,
        protocols: vec![("range".into(), vec![1, 2].into())],
    };
    check(
        of_member(Some(ConsumerMemberMetadata { classic: Some(classic), ..member() })),
        "000500016700016d",
        Some("000000000263032f680202740100001388000100110100001194020672616e67650301020000"),
    );
}

#[test]
fn a_targets_epoch_and_its_members_are_stored_as_kafka_stores_them() {
    let epoch =
        |assignment_epoch| GroupRecord::ConsumerTarget { group_id: "g".into(), assignment_epoch };
    check(epoch(Some(6)), "0006000167", Some("00000000000600"));
    check(epoch(None), "0006000167", None);
    let target = |value| GroupRecord::ConsumerTargetMember {
        group_id: "g".into(),
        member_id: "m".into(),
        value,
    };
    check(
        target(Some(partitions(&[0, 3]))),
        "000700016700016d",
        Some("000002000000000000000100000000000000020300000000000000030000"),
    );
    check(target(None), "000700016700016d", None);
}

#[test]
fn a_current_assignment_is_stored_as_kafka_stores_it() {
    let moving = CurrentAssignment {
        member_epoch: 9,
        previous_member_epoch: 8,
        state: MemberState::UnrevokedPartitions,
        assigned: partitions(&[0, 3]),
        pending_revocation: partitions(&[5]),
    };
    check(
        current(Some(moving)),
        "000800016700016d",
        Some(
            "0000000000090000000801020000000000000001000000000000000203000000000000000300020000000000000001000000000000000202000000050000",
        ),
    );
    let new = CurrentAssignment {
        member_epoch: 0,
        previous_member_epoch: -1,
        state: MemberState::Stable,
        assigned: TopicPartitions::default(),
        pending_revocation: TopicPartitions::default(),
    };
    check(current(Some(new)), "000800016700016d", Some("000000000000ffffffff00010100"));
    check(current(None), "000800016700016d", None);
}

#[test]
fn what_a_regular_expression_matched_is_stored_as_kafka_stores_it() {
    let regex =
        |value| GroupRecord::ConsumerRegex { group_id: "g".into(), regex: "t.*".into(), value };
    let topics = names(&["t", "u"]);
    check(
        regex(Some(ResolvedRegex { topics, version: 11, timestamp: TimestampMs(12) })),
        "00100001670003742e2a",
        Some("00000302740275000000000000000b000000000000000c00"),
    );
    check(regex(None), "00100001670003742e2a", None);
}

#[test]
fn tagged_fields_of_later_versions_are_passed_over() {
    // Tag 5 with two bytes, behind the hash.
    let value = hex("00000000000702000800000000000000030502abcd");
    let Ok(Some(GroupRecord::ConsumerGroup { value: Some(read), .. })) =
        GroupRecord::decode(&hex("0003000167"), Some(&value))
    else {
        panic!("it is a group");
    };
    assert_eq!(read, ConsumerGroupMetadata { epoch: 7, metadata_hash: 3 });
}

#[test]
fn a_state_of_a_later_version_is_unknown_and_a_value_of_one_an_error() {
    let key = hex("000800016700016d");
    let Ok(Some(GroupRecord::ConsumerCurrent { value: Some(read), .. })) =
        GroupRecord::decode(&key, Some(&hex("000000000000ffffffff09010100")))
    else {
        panic!("it is a member's");
    };
    assert_eq!(read.state, MemberState::Unknown);
    let later = GroupRecord::decode(&key, Some(&hex("0001")));
    assert_eq!(later, Err(RecordError::UnknownValueVersion(1)));
}

#[test]
fn partitions_that_an_old_kafka_noted_of_topics_are_skipped() {
    assert_eq!(GroupRecord::decode(&hex("0004000167"), Some(&hex("00000100"))), Ok(None));
}

#[test]
fn a_hostile_count_is_refused_before_anything_is_reserved() {
    // A regular expression with 2^32 - 2 topics.
    let value = hex("0000ffffffff0f0000");
    let read = GroupRecord::decode(&hex("00100001670003742e2a"), Some(&value));
    assert_eq!(read, Err(RecordError::Truncated));
}

fn any_partitions() -> impl Strategy<Value = TopicPartitions> {
    let of_topic = proptest::collection::btree_set(any::<i32>(), 1..5);
    let topic = any::<u128>().prop_map(|it| TopicId(Uuid::from_u128(it)));
    proptest::collection::btree_map(topic, of_topic, 0..4).prop_map(TopicPartitions)
}

fn any_classic() -> impl Strategy<Value = ClassicMemberMetadata> {
    let protocol = (".{0,9}", any::<Vec<u8>>());
    (any::<i32>(), proptest::collection::vec(protocol, 0..4)).prop_map(|(timeout, protocols)| {
        let protocols = protocols.into_iter().map(|(name, it)| (name.into(), it.into())).collect();
        ClassicMemberMetadata { session_timeout_ms: timeout, protocols }
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        assigned in any_partitions(),
        pending_revocation in any_partitions(),
        classic in proptest::option::of(any_classic()),
        topics in proptest::collection::btree_set(".{0,200}", 0..4),
        text in proptest::option::of(".{0,200}"),
        number: i32,
    ) {
        let value = CurrentAssignment {
            member_epoch: number,
            previous_member_epoch: number,
            state: MemberState::UnreleasedPartitions,
            assigned,
            pending_revocation,
        };
        let of_current = current(Some(value));
        let of_member = of_member(Some(ConsumerMemberMetadata {
            group_instance_id: text.as_deref().map(Into::into),
            subscribed_topic_names: topics.iter().map(|it| it.as_str().into()).collect(),
            server_assignor: text.as_deref().map(Into::into),
            classic,
            ..member()
        }));
        for record in [of_current, of_member] {
            let raw = record.encode();
            let read = GroupRecord::decode(&raw.key, raw.value.as_deref());
            prop_assert_eq!(read, Ok(Some(record)));
        }
    }

    #[test]
    fn no_bytes_panic(kind in 3u8..17, key in any::<Vec<u8>>(), value in any::<Vec<u8>>()) {
        let mut whole = vec![0, kind, 0, 1, b'g', 0, 1, b'm'];
        let mut versioned = vec![0, 0];
        versioned.extend_from_slice(&value);
        let _ = GroupRecord::decode(&whole, Some(&versioned));
        whole.truncate(4);
        whole.extend_from_slice(&key);
        let _ = GroupRecord::decode(&whole, Some(&versioned));
    }

    #[test]
    fn a_value_cut_short_is_an_error(cut in 0usize..1_000) {
        let mut assigned = partitions(&[1, 2]);
        assigned.0.insert(TopicId(Uuid::from_u128(9)), [7].into());
        let value = CurrentAssignment {
            member_epoch: 1,
            previous_member_epoch: 0,
            state: MemberState::Stable,
            pending_revocation: assigned.clone(),
            assigned,
        };
        let raw = current(Some(value)).encode();
        let value = raw.value.unwrap();
        let short = &value[..cut % value.len()];
        prop_assert_eq!(GroupRecord::decode(&raw.key, Some(short)), Err(RecordError::Truncated));
    }
}
