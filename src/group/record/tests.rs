//! Golden bytes from the schemas, round trips, and hostile values.

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::base::{LeaderEpoch, MemberId, Offset, TimestampMs, TopicId};

fn commit(value: Option<OffsetCommit>) -> GroupRecord {
    GroupRecord::OffsetCommit {
        group_id: "g".into(),
        topic_partition: TopicPartition::new("t", 3),
        value,
    }
}

fn value() -> OffsetCommit {
    OffsetCommit {
        offset: Offset(7),
        leader_epoch: Some(LeaderEpoch(2)),
        metadata: "m".into(),
        commit_timestamp: TimestampMs(9),
        expire_timestamp: None,
        topic_id: None,
    }
}

#[test]
fn an_offset_is_stored_as_kafka_stores_it() {
    let raw = commit(Some(value())).encode();
    assert_eq!(&raw.key[..], b"\0\x01\0\x01g\0\x01t\0\0\0\x03");
    assert_eq!(
        &raw.value.unwrap()[..],
        b"\0\x04\0\0\0\0\0\0\0\x07\0\0\0\x02\x02m\0\0\0\0\0\0\0\x09\0"
    );
}

#[test]
fn an_offset_with_its_own_expiry_is_stored_in_version_one() {
    let with_expiry =
        OffsetCommit { expire_timestamp: Some(TimestampMs(11)), leader_epoch: None, ..value() };
    let raw = commit(Some(with_expiry.clone())).encode();
    assert_eq!(raw.value.as_ref().unwrap()[..2], [0, 1]);
    assert_eq!(round_trip(&raw), commit(Some(with_expiry)));
}

#[test]
fn old_versions_of_an_offset_are_read() {
    let key = commit(None).encode().key;
    // Version 0: offset, metadata, timestamp; version 2 is the same; version 3 has the epoch.
    for (bytes, epoch) in [
        (&b"\0\0\0\0\0\0\0\0\0\x07\0\x01m\0\0\0\0\0\0\0\x09"[..], None),
        (&b"\0\x02\0\0\0\0\0\0\0\x07\0\x01m\0\0\0\0\0\0\0\x09"[..], None),
        (&b"\0\x03\0\0\0\0\0\0\0\x07\0\0\0\x02\0\x01m\0\0\0\0\0\0\0\x09"[..], Some(LeaderEpoch(2))),
    ] {
        let want = OffsetCommit { leader_epoch: epoch, ..value() };
        assert_eq!(GroupRecord::decode(&key, Some(bytes)), Ok(Some(commit(Some(want)))));
    }
}

#[test]
fn a_flexible_generation_is_read() {
    let key = b"\0\x02\0\x01g";
    let value = b"\0\x04\x09consumer\0\0\0\x05\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x01\0";
    let want = GroupMetadata {
        protocol_type: "consumer".into(),
        generation_id: 5,
        ..GroupMetadata::default()
    };
    assert_eq!(
        GroupRecord::decode(key, Some(value)),
        Ok(Some(GroupRecord::GroupMetadata { group_id: "g".into(), value: Some(want) }))
    );
}

#[test]
fn tombstones_have_no_value_and_other_keys_are_skipped() {
    assert_eq!(round_trip(&commit(None).encode()), commit(None));
    assert_eq!(GroupRecord::decode(b"\0\x0a\0\x01g", Some(b"")), Ok(None));
}

#[test]
fn a_hostile_count_is_refused_before_anything_is_reserved() {
    let mut bytes = b"\0\x03\0\0\0\0\0\x05\xff\xff\xff\xff\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend_from_slice(&i32::MAX.to_be_bytes());
    assert_eq!(GroupRecord::decode(b"\0\x02\0\x01g", Some(&bytes)), Err(RecordError::Truncated));
}

fn round_trip(raw: &RawRecord) -> GroupRecord {
    GroupRecord::decode(&raw.key, raw.value.as_deref()).unwrap().unwrap()
}

fn any_member() -> impl Strategy<Value = MemberMetadata> {
    (".{0,9}", proptest::option::of(".{0,9}"), any::<Vec<u8>>(), any::<Vec<u8>>(), any::<i32>())
        .prop_map(|(id, instance, subscription, assignment, timeout)| MemberMetadata {
            member_id: MemberId(id.into()),
            group_instance_id: instance.map(Into::into),
            client_id: "c".into(),
            client_host: "/127.0.0.1".into(),
            rebalance_timeout_ms: timeout,
            session_timeout_ms: timeout,
            subscription: subscription.into(),
            assignment: assignment.into(),
        })
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        members in proptest::collection::vec(any_member(), 0..4),
        generation_id in 0..i32::MAX,
        since in proptest::option::of(0..i64::MAX),
        id in proptest::option::of(1u128..),
    ) {
        let metadata = GroupMetadata {
            protocol_type: "consumer".into(),
            generation_id,
            protocol: Some("range".into()),
            leader: members.first().map(|it| it.member_id.clone()),
            state_timestamp: since.map(TimestampMs),
            members,
        };
        let record = GroupRecord::GroupMetadata { group_id: "g".into(), value: Some(metadata) };
        prop_assert_eq!(round_trip(&record.encode()), record);
        let topic_id = id.map(|it| TopicId(Uuid::from_u128(it)));
        let record = commit(Some(OffsetCommit { topic_id, ..value() }));
        prop_assert_eq!(round_trip(&record.encode()), record);
    }

    #[test]
    fn no_bytes_panic(key in any::<Vec<u8>>(), kind in 0u8..3, value in any::<Vec<u8>>()) {
        let mut known = vec![0, kind, 0, 1, b'g', 0, 1, b't', 0, 0, 0, 1];
        let _ = GroupRecord::decode(&key, Some(&value));
        let _ = GroupRecord::decode(&known, Some(&value));
        for version in 0..5 {
            let mut versioned = vec![0, version];
            versioned.extend_from_slice(&value);
            let _ = GroupRecord::decode(&known, Some(&versioned));
        }
        known.truncate(value.len());
        let _ = GroupRecord::decode(&known, None);
    }
}
