//! Offsets of consumer groups: who may commit and read them, and how long they are kept.

use super::*;
use crate::{
    base::{Offset, TimestampMs, TopicPartition},
    group::{
        CommitOffsets, FetchOffsets,
        GroupError::{
            self, StaleMemberEpoch, SubscribedToTopic, UnknownMemberId, UnsupportedVersion,
        },
        OffsetToCommit,
    },
};

fn commit(member_id: &str, generation_id: i32, topic: &str) -> CommitOffsets {
    let offset = OffsetToCommit {
        topic_partition: TopicPartition::new(topic, 0),
        topic_id: None,
        offset: Offset(7),
        leader_epoch: None,
        metadata: "".into(),
    };
    CommitOffsets {
        group_id: "g".into(),
        member_id: member_id.into(),
        group_instance_id: None,
        generation_id,
        offsets: vec![offset],
        retention_time_ms: None,
        tells_missing_group: true,
    }
}

fn try_commit(it: &mut Harness, request: &CommitOffsets) -> Result<(), GroupError> {
    let (effects, result) = it.shard.commit(request, it.now);
    it.absorb(effects);
    result.map(drop)
}

fn fetch(it: &Harness, member_id: Option<&str>, member_epoch: i32) -> Result<(), GroupError> {
    let member_id = member_id.map(Into::into);
    let request = FetchOffsets { group_id: "g".into(), member_id, member_epoch, partitions: None };
    it.shard.fetch(request).map(drop)
}

#[test]
fn a_member_commits_and_reads_in_its_epoch() {
    let mut it = harness(1);
    it.consume(&join("a")).unwrap();
    for (member, epoch, want) in [
        ("a", 1, Ok(())),
        ("a", 0, Err(StaleMemberEpoch)),
        ("a", 2, Err(StaleMemberEpoch)),
        ("a", -1, Err(StaleMemberEpoch)),
        ("b", 1, Err(UnknownMemberId)),
        ("", -1, Err(UnknownMemberId)),
    ] {
        assert_eq!(try_commit(&mut it, &commit(member, epoch, "t")), want, "{member} {epoch}");
        if !member.is_empty() {
            assert_eq!(fetch(&it, Some(member), epoch), want, "{member} {epoch}");
        }
    }
    assert_eq!(fetch(&it, None, -1), Ok(()));
    let old = CommitOffsets { tells_missing_group: false, ..commit("a", 1, "t") };
    assert!(matches!(try_commit(&mut it, &old), Err(UnsupportedVersion(_))));
}

#[test]
fn an_operator_commits_to_an_empty_group() {
    let mut it = harness(1);
    it.consume(&join("a")).unwrap();
    it.consume(&beat("a", -1)).unwrap();
    assert_eq!(try_commit(&mut it, &commit("", -1, "t")), Ok(()));
}

#[test]
fn offsets_of_topics_that_members_read_stay() {
    let mut it = harness(1);
    it.consume(&join("a")).unwrap();
    try_commit(&mut it, &commit("a", 1, "t")).unwrap();
    try_commit(&mut it, &commit("a", 1, "old")).unwrap();
    let partitions = ["t", "old"].map(|it| TopicPartition::new(it, 0));
    let (effects, results) = it.shard.delete_offsets(&"g".into(), &partitions);
    assert_eq!(results, Ok(vec![Err(SubscribedToTopic), Ok(())]));
    assert_eq!(effects.records.len(), 1);
    let retention_ms = it.settings.offsets_retention_minutes * 60_000;
    let effects = it.shard.expire(TimestampMs(it.now.0 + retention_ms));
    it.absorb(effects);
    let found = |it: &Harness, topic| {
        it.shard.committed(&"g".into(), &TopicPartition::new(topic, 0)).is_some()
    };
    assert!(found(&it, "t"));
    assert!(!found(&it, "old"));
    it.consume(&beat("a", -1)).unwrap();
    let effects = it.shard.expire(TimestampMs(it.now.0 + retention_ms));
    it.absorb(effects);
    assert!(!found(&it, "t"));
    assert!(it.shard.list().is_empty());
}
