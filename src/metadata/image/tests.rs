//! Replay builds the image; a snapshot's records build it again.

use uuid::Uuid;

use super::*;
use crate::metadata::QuotaEntityType;

fn topic_id(number: u128) -> TopicId {
    TopicId(Uuid::from_u128(number))
}

fn partition(topic: u128, partition: i32, leader: i32) -> MetadataRecord {
    MetadataRecord::Partition {
        topic_id: topic_id(topic),
        partition,
        leader: Some(BrokerId(leader)),
        leader_epoch: LeaderEpoch(3),
        partition_epoch: 4,
        replicas: vec![BrokerId(leader), BrokerId(9)],
        isr: vec![BrokerId(leader)],
    }
}

fn topic(id: u128, name: &str) -> MetadataRecord {
    MetadataRecord::Topic { topic_id: topic_id(id), name: name.into() }
}

fn config(topic: &str, name: &str, value: Option<&str>) -> MetadataRecord {
    MetadataRecord::Config {
        resource: ConfigResource::Topic(topic.into()),
        name: name.into(),
        value: value.map(Into::into),
    }
}

fn image(records: &[MetadataRecord]) -> MetadataImage {
    let mut image = MetadataImage::default();
    image.replay_all(records);
    image
}

fn everything() -> Vec<MetadataRecord> {
    vec![
        MetadataRecord::Cluster { cluster_id: "c".into() },
        MetadataRecord::RegisterBroker {
            broker_id: BrokerId(1),
            epoch: 7,
            listeners: vec![("PLAINTEXT".into(), "h".into(), 9092)],
            rack: Some("r".into()),
        },
        MetadataRecord::FenceBroker { broker_id: BrokerId(1), fenced: true },
        topic(1, "a"),
        config("a", "retention.ms", Some("5")),
        partition(1, 0, 1),
        partition(1, 1, 2),
        topic(2, "b"),
        partition(2, 0, 1),
        MetadataRecord::Config {
            resource: ConfigResource::Group("g".into()),
            name: "klamm.assignor".into(),
            value: Some("sticky".into()),
        },
        MetadataRecord::FeatureLevel { name: "group.version".into(), level: 0 },
        MetadataRecord::ClientQuota {
            entity: [(QuotaEntityType::ClientId, Some("app".into()))].into(),
            key: "producer_byte_rate".into(),
            value: Some(QuotaValue(1024.0)),
        },
        MetadataRecord::ProducerIds { next_producer_id: 2000 },
    ]
}

#[test]
fn each_record_changes_what_it_names() {
    let image = image(&everything());

    assert_eq!(&*image.cluster_id, "c");
    assert!(image.brokers[&BrokerId(1)].fenced);
    assert_eq!(image.brokers[&BrokerId(1)].listener("PLAINTEXT").map(|it| it.port), Some(9092));
    assert_eq!(image.partition("a", 1).and_then(|it| it.leader), Some(BrokerId(2)));
    assert_eq!(image.topic_by_id(topic_id(2)).map(|it| it.name.as_str()), Some("b"));
    assert_eq!(image.topic_configs(&"a".into()).map(|it| it["retention.ms"].as_str()), Some("5"));
    assert_eq!(image.group_configs(&"g".into()).map(|it| it.len()), Some(1));
    assert_eq!(image.next_producer_id, 2000);
}

#[test]
fn the_records_of_a_snapshot_lead_to_the_same_image() {
    let before = image(&everything());
    assert_eq!(image(&before.to_records()), before);
}

#[test]
fn a_removed_topic_takes_its_partitions_and_configs_along() {
    let mut image = image(&everything());
    image.replay(&MetadataRecord::RemoveTopic { topic_id: topic_id(1) });

    assert_eq!(image.topic("a"), None);
    assert_eq!(image.topic_by_id(topic_id(1)), None);
    assert_eq!(image.topic_configs(&"a".into()), None);
    image.replay(&topic(3, "a"));
    assert!(image.topic("a").is_some_and(|it| it.partitions.is_empty()));
}

#[test]
fn a_registration_ends_a_fence() {
    let mut image = image(&everything());
    image.replay(&everything()[1]);
    assert_eq!(image.active_brokers().count(), 1);
}

#[test]
fn an_override_that_is_removed_leaves_nothing() {
    let mut image = image(&everything());
    image.replay(&config("a", "retention.ms", None));
    assert_eq!(image.topic_configs(&"a".into()), None);
}

#[test]
fn records_that_no_controller_writes_change_nothing() {
    let before = image(&everything());
    for record in [
        partition(1, 5, 1),
        partition(1, -1, 1),
        partition(77, 0, 1),
        MetadataRecord::RemoveTopic { topic_id: topic_id(77) },
        MetadataRecord::FenceBroker { broker_id: BrokerId(77), fenced: true },
    ] {
        let mut after = before.clone();
        after.replay(&record);
        assert_eq!(after, before, "{record:?}");
    }
}

#[test]
fn the_delta_names_what_changed_and_what_is_gone() {
    let old = image(&everything());
    let names = |topics: &[Arc<TopicImage>]| -> Vec<String> {
        topics.iter().map(|it| it.name.to_string()).collect()
    };
    let after = |records: &[MetadataRecord]| {
        let mut new = old.clone();
        new.replay_all(records);
        let delta = new.topics_since(&old);
        (names(&delta.changed), names(&delta.removed))
    };
    let of = |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };

    assert_eq!(after(&[]), (of(&[]), of(&[])));
    assert_eq!(after(&[config("b", "retention.ms", Some("1"))]), (of(&["b"]), of(&[])));
    assert_eq!(after(&[partition(1, 0, 2)]), (of(&["a"]), of(&[])));
    let remove = MetadataRecord::RemoveTopic { topic_id: topic_id(1) };
    assert_eq!(after(std::slice::from_ref(&remove)), (of(&[]), of(&["a"])));
    assert_eq!(after(&[remove, topic(3, "a")]), (of(&["a"]), of(&["a"])));
}
