//! What was produced comes back byte for byte, whichever way it takes: small records in the frame, large ones from the
//! page cache, at every version.

use bytes::Bytes;
use kafka_protocol::{
    messages::{
        FetchRequest, FetchResponse, MetadataRequest,
        fetch_request::{FetchPartition, FetchTopic},
        metadata_request::MetadataRequestTopic,
    },
    protocol::StrBytes,
};

use crate::support::{Broker, Client, batch};

/// From this version on, topics are named by id.
const TOPIC_IDS_SINCE: i16 = 13;

/// Of the value of each batch of a partition: below and above what is copied, and above what is sent at a time.
const SIZES: [&[usize]; 4] = [&[10, 100, 1_000], &[15_000, 40_000, 5], &[900_000, 700_000], &[]];

fn topic_id(client: &mut Client, name: &'static str) -> uuid::Uuid {
    let topic =
        MetadataRequestTopic::default().with_name(Some(StrBytes::from_static_str(name).into()));
    let request = MetadataRequest::default().with_topics(Some(vec![topic]));
    client.call(12, &request).topics.remove(0).topic_id
}

fn fetch(client: &mut Client, name: &'static str, version: i16, max_bytes: i32) -> FetchResponse {
    let partition = |index: usize| {
        FetchPartition::default().with_partition(index as i32).with_partition_max_bytes(max_bytes)
    };
    let topic = FetchTopic::default().with_partitions((0..SIZES.len()).map(partition).collect());
    let topic = if version < TOPIC_IDS_SINCE {
        topic.with_topic(StrBytes::from_static_str(name).into())
    } else {
        topic.with_topic_id(topic_id(client, name))
    };
    let request = FetchRequest::default().with_max_bytes(50 << 20).with_topics(vec![topic]);
    client.call(version, &request)
}

/// As stored: with offsets, and the leader's epoch.
fn stored(batch: &Bytes, base_offset: usize, stored_there: &[u8]) -> Vec<u8> {
    let mut bytes = batch.to_vec();
    bytes[..8].copy_from_slice(&(base_offset as i64).to_be_bytes());
    bytes[12..16].copy_from_slice(&stored_there[12..16]);
    bytes
}

#[test]
fn what_was_produced_comes_back_byte_for_byte_at_every_version() {
    let broker = Broker::start();
    let mut client = broker.client();
    client.create_topic("t", SIZES.len() as i32, &[]);
    let batches = SIZES.map(|sizes| {
        let values = sizes.iter().map(|&size| "klamm ".repeat(size / 6 + 1));
        values.map(|it| batch(&[(None, Some(&it))])).collect::<Vec<_>>()
    });
    for (partition, batches) in (0..).zip(&batches) {
        for batch in batches {
            client.must_produce("t", partition, batch.clone());
        }
    }
    for version in 4..=18 {
        let whole = fetch(&mut client, "t", version, 10 << 20);
        for (batches, data) in batches.iter().zip(&whole.responses[0].partitions) {
            let records = data.records.clone().unwrap_or_default();
            let mut rest = &records[..];
            for (base_offset, batch) in batches.iter().enumerate() {
                assert!(rest.starts_with(&stored(batch, base_offset, rest)), "version {version}");
                rest = &rest[batch.len()..];
            }
            assert!(rest.is_empty());
        }
        let first = fetch(&mut client, "t", version, 1);
        let lengths = first.responses[0]
            .partitions
            .iter()
            .map(|it| it.records.as_ref().map_or(0, Bytes::len));
        let first_whole = batches[0][0].len();
        assert_eq!(lengths.collect::<Vec<_>>(), [first_whole, 0, 0, 0], "one batch, whole");
    }
}
