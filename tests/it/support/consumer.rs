//! Reads a partition from its start, record by record, and says what a consumer would see of each.

use kafka_protocol::{
    messages::{
        FetchRequest,
        fetch_request::{FetchPartition, FetchTopic},
        fetch_response::PartitionData,
    },
    protocol::StrBytes,
};
use klamm::wire::record_batch::{DecodedBatch, RecordView, split};

use super::Client;

/// Most that a record may expand to here.
const DECOMPRESSED_MAX_BYTES: usize = 64 * 1024 * 1024;

/// A record as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) offset: i64,
    pub(crate) timestamp_ms: i64,
    pub(crate) key: Option<String>,
    pub(crate) value: Option<String>,
    pub(crate) headers: Vec<(String, Option<String>)>,
}

impl Client {
    /// All records of a partition that a consumer is shown; control batches are skipped.
    #[track_caller]
    pub(crate) fn read(&mut self, topic: &str, partition: i32) -> Vec<Stored> {
        let batches = self.read_batches(topic, partition);
        let data = batches.iter().filter(|it| !it.header.attributes.is_control());
        data.flat_map(|batch| batch.records().map(|it| stored(batch, it)).collect::<Vec<_>>())
            .collect()
    }

    /// The values of a partition's records, with `-` for null.
    #[track_caller]
    pub(crate) fn values(&mut self, topic: &str, partition: i32) -> Vec<String> {
        let text = |it: Stored| it.value.unwrap_or_else(|| "-".into());
        self.read(topic, partition).into_iter().map(text).collect()
    }

    /// Whether the partition can be read.
    pub(crate) fn has_partition(&mut self, topic: &str, partition: i32) -> bool {
        self.fetch(topic, partition, 0).error_code == 0
    }

    /// All batches of a partition, control batches too.
    #[track_caller]
    pub(crate) fn read_batches(&mut self, topic: &str, partition: i32) -> Vec<DecodedBatch> {
        let mut batches = Vec::new();
        let mut offset = 0;
        loop {
            let fetched = self.fetch(topic, partition, offset);
            assert_eq!(fetched.error_code, 0);
            let records = fetched.records.clone().unwrap_or_default();
            for batch in split(records).expect("whole batches") {
                offset = batch.header.last_offset().0 + 1;
                batches.push(batch.decode(DECOMPRESSED_MAX_BYTES).expect("a good batch"));
            }
            if offset >= fetched.high_watermark {
                return batches;
            }
        }
    }

    #[track_caller]
    fn fetch(&mut self, topic: &str, partition: i32, offset: i64) -> PartitionData {
        let wanted = FetchPartition::default()
            .with_partition(partition)
            .with_fetch_offset(offset)
            .with_partition_max_bytes(1 << 20);
        let name = StrBytes::from_string(topic.to_owned());
        let topic = FetchTopic::default().with_topic(name.into()).with_partitions(vec![wanted]);
        let request = FetchRequest::default().with_max_bytes(1 << 20).with_topics(vec![topic]);
        let mut response = self.call(11, &request);
        response.responses.remove(0).partitions.remove(0)
    }
}

fn stored(batch: &DecodedBatch, record: RecordView<'_>) -> Stored {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Stored {
        offset: batch.header.base_offset.0 + i64::from(record.offset_delta()),
        timestamp_ms: batch.header.base_timestamp.0 + record.timestamp_delta(),
        key: record.key().map(text),
        value: record.value().map(text),
        headers: record.headers().map(|it| (text(it.name), it.value.map(text))).collect(),
    }
}
