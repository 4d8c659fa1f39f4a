//! A producer that decides everything itself: ids, sequence numbers, partitions, retries.

use bytes::Bytes;
use kafka_protocol::{
    messages::{
        InitProducerIdRequest, ProduceRequest,
        produce_request::{PartitionProduceData, TopicProduceData},
        produce_response::PartitionProduceResponse,
    },
    protocol::StrBytes,
};
use klamm::{
    base::{ProducerEpoch, ProducerId, TimestampMs},
    wire::record_batch::{Batch, BatchBuilder, Compression, Header, RecordParts},
};

use super::{Client, Sent};

/// Of all records that tests make, plus their index.
pub(crate) const TIMESTAMP_MS: i64 = 1_764_400_000_000;

/// How long a request may wait for its partitions; no test waits for it.
const TIMEOUT_MS: i32 = 30_000;

/// The version whose answers name records, and topics by name.
const VERSION: i16 = 12;

/// A record as a test writes it: `None` is null.
pub(crate) type KeyValue<'a> = (Option<&'a str>, Option<&'a str>);

/// One idempotent producer's session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    pub(crate) producer_id: i64,
    pub(crate) epoch: i16,
}

impl Session {
    /// A new producer id.
    #[track_caller]
    pub(crate) fn new(client: &mut Client) -> Self {
        let request = InitProducerIdRequest::default()
            .with_transactional_id(None)
            .with_producer_id((-1).into())
            .with_producer_epoch(-1);
        let response = client.call(4, &request);
        assert_eq!(response.error_code, 0);
        Self { producer_id: response.producer_id.0, epoch: response.producer_epoch }
    }

    /// A batch of this session whose first record has number `sequence`; made a second after the number before.
    pub(crate) fn batch(self, sequence: i32, records: &[KeyValue<'_>]) -> Bytes {
        let epoch = ProducerEpoch(self.epoch);
        let made_at = TimestampMs(TIMESTAMP_MS + 1_000 * i64::from(sequence));
        let builder = BatchBuilder::new(made_at, Compression::None);
        filled(builder.producer(ProducerId(self.producer_id), epoch, sequence), records)
    }
}

/// A batch of a producer without an id.
pub(crate) fn batch(records: &[KeyValue<'_>]) -> Bytes {
    compressed(Compression::None, records)
}

pub(crate) fn compressed(codec: Compression, records: &[KeyValue<'_>]) -> Bytes {
    filled(builder(codec), records)
}

/// One record with headers.
pub(crate) fn with_headers(value: &str, headers: &[(&str, Option<&str>)]) -> Bytes {
    let mut builder = builder(Compression::None);
    builder.push(&RecordParts {
        headers: headers
            .iter()
            .map(|(name, value)| Header { name: name.as_bytes(), value: value.map(str::as_bytes) })
            .collect(),
        ..parts(0, &(None, Some(value)))
    });
    finished(builder)
}

fn builder(codec: Compression) -> BatchBuilder {
    BatchBuilder::new(TimestampMs(TIMESTAMP_MS), codec)
}

fn filled(mut builder: BatchBuilder, records: &[KeyValue<'_>]) -> Bytes {
    for (index, record) in (0..).zip(records) {
        builder.push(&parts(index, record));
    }
    finished(builder)
}

fn parts<'a>(index: i32, (key, value): &KeyValue<'a>) -> RecordParts<'a> {
    RecordParts {
        offset_delta: index,
        timestamp_delta: index.into(),
        key: key.map(str::as_bytes),
        value: value.map(str::as_bytes),
        headers: Vec::new(),
    }
}

fn finished(builder: BatchBuilder) -> Bytes {
    let batch: Option<Batch> = builder.build();
    batch.expect("a test sends records").bytes
}

impl Client {
    /// Produces one batch with acks=all.
    #[track_caller]
    pub(crate) fn produce(
        &mut self,
        topic: &str,
        partition: i32,
        batch: Bytes,
    ) -> PartitionProduceResponse {
        let sent = self.send_produce(topic, partition, batch);
        self.receive_produced(sent)
    }

    /// Produces, and takes no error for an answer; the base offset.
    #[track_caller]
    pub(crate) fn must_produce(&mut self, topic: &str, partition: i32, batch: Bytes) -> i64 {
        let response = self.produce(topic, partition, batch);
        assert_eq!(response.error_code, 0, "{:?}", response.error_message);
        response.base_offset
    }

    /// Produces to a broker that may die; whether the batch was acknowledged.
    pub(crate) fn try_produce(&mut self, topic: &str, partition: i32, batch: Bytes) -> bool {
        let Some(mut response) = self.try_call(VERSION, &produce_request(topic, partition, batch))
        else {
            return false;
        };
        let response = response.responses.remove(0).partition_responses.remove(0);
        response.error_code == 0
    }

    /// Sends a batch without waiting for the answer.
    #[track_caller]
    pub(crate) fn send_produce(
        &mut self,
        topic: &str,
        partition: i32,
        batch: Bytes,
    ) -> Sent<ProduceRequest> {
        self.send(VERSION, &produce_request(topic, partition, batch))
    }

    #[track_caller]
    pub(crate) fn receive_produced(
        &mut self,
        sent: Sent<ProduceRequest>,
    ) -> PartitionProduceResponse {
        let mut response = self.receive(sent);
        response.responses.remove(0).partition_responses.remove(0)
    }
}

pub(crate) fn produce_request(topic: &str, partition: i32, batch: Bytes) -> ProduceRequest {
    let data = PartitionProduceData::default().with_index(partition).with_records(Some(batch));
    let name = StrBytes::from_string(topic.to_owned());
    let topic = TopicProduceData::default().with_name(name.into()).with_partition_data(vec![data]);
    ProduceRequest::default().with_acks(-1).with_timeout_ms(TIMEOUT_MS).with_topic_data(vec![topic])
}
