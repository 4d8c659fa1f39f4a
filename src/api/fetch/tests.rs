//! Answers at every version.

use std::net::IpAddr;

use bytes::{Bytes, BytesMut};
use kafka_protocol::{
    messages::{FetchResponse, fetch_response::PartitionData},
    protocol::{Decodable, Encodable},
};

use super::{
    VERSIONS, answer,
    request::{TOPIC_IDS_SINCE, Target, Topic},
};
use crate::{
    api::Context,
    base::{BrokerId, ErrorCode, LeaderEpoch, TopicId},
    config::Listener,
    metadata::{BrokerImage, MetadataImage, PartitionImage, TopicImage},
    replica::Isolation,
};

fn context(api_version: i16) -> Context {
    Context {
        api_version,
        throttle: None,
        details: std::sync::Arc::default(),
        client_id: "c".into(),
        client_host: IpAddr::from([127, 0, 0, 1]),
        connection_id: 1,
        listener: "PLAINTEXT".into(),
    }
}

fn image() -> MetadataImage {
    let mut image = MetadataImage::default();
    let id = TopicId(uuid::Uuid::from_u128(4));
    let partition = PartitionImage {
        leader: Some(BrokerId(2)),
        leader_epoch: LeaderEpoch(8),
        partition_epoch: 0,
        replicas: vec![BrokerId(2)],
        isr: vec![BrokerId(2)],
    };
    let topic = TopicImage { id, name: "a".into(), partitions: vec![partition; 3] };
    image.topics.insert("a".into(), topic.into());
    image.topic_names.insert(id, "a".into());
    let listener = Listener { name: "PLAINTEXT".into(), host: "h".into(), port: 99 };
    let broker = BrokerImage { epoch: 1, listeners: vec![listener], rack: None, fenced: false };
    image.brokers.insert(BrokerId(2), broker);
    image
}

fn answers(version: i16) -> Vec<(Target, PartitionData)> {
    let topic = Topic::new("a", uuid::Uuid::from_u128(4), version);
    let target = |partition| Target { topic: topic.clone(), partition };
    let good = PartitionData::default()
        .with_partition_index(0)
        .with_high_watermark(7)
        .with_log_start_offset(2)
        .with_records(Some(Bytes::from_static(b"records")));
    let failed = |partition, error| {
        answer::partition(&target(partition), Err(error), Isolation::ReadCommitted, &mut Vec::new())
    };
    vec![
        (target(0), good),
        (target(1), failed(1, ErrorCode::NotLeaderOrFollower)),
        (target(2), failed(2, ErrorCode::OffsetOutOfRange)),
    ]
}

#[test]
fn an_answer_reads_back_at_every_version() {
    for version in VERSIONS {
        let session_id = if version >= 7 { 9 } else { 0 };
        let response = answer::response(session_id, answers(version), &image(), &context(version));
        let mut bytes = BytesMut::new();
        response.encode(&mut bytes, version).unwrap();
        let decoded = FetchResponse::decode(&mut bytes.freeze(), version).unwrap();

        assert_eq!(decoded.session_id, session_id);
        assert_eq!(decoded.responses.len(), 1, "neighbours share their topic's entry");
        let topic = &decoded.responses[0];
        assert_eq!(topic.topic.is_empty(), version >= TOPIC_IDS_SINCE, "version {version}");
        let codes: Vec<_> = topic.partitions.iter().map(|it| it.error_code).collect();
        assert_eq!(codes, [0, 6, 1]);
        assert_eq!(topic.partitions[0].records.as_deref(), Some(&b"records"[..]));
        let leader = &topic.partitions[1].current_leader;
        let endpoint = decoded.node_endpoints.first().map(|it| (it.node_id.0, it.port));
        if version >= 16 {
            assert_eq!((leader.leader_id.0, leader.leader_epoch), (2, 8));
            assert_eq!(endpoint, Some((2, 99)));
        } else {
            assert_eq!((leader.leader_id.0, endpoint), (-1, None));
        }
    }
}
