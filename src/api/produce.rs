//! `Produce` (key 0), versions 3 to 13; 0 to 2 are announced and refused, as Kafka does (KAFKA-18659).
//!
//! Stores a record batch in each partition named, and answers when it is committed as `acks` asks.
//!
//! | version | adds                                       | source  |
//! |---------|--------------------------------------------|---------|
//! | 3       | record batches of format 2, the only ones  | KIP-98  |
//! | 5       | the log start offset in the answer         | KIP-107 |
//! | 7       | zstd                                       | KIP-110 |
//! | 8       | the records that refuse a batch            | KIP-467 |
//! | 9       | flexible encoding                          | KIP-482 |
//! | 10      | the current leader in an answer            | KIP-951 |
//! | 13      | topics by id                               | KIP-516 |
//!
//! With `acks=0` there is no answer; a failure closes the connection, which makes the producer ask for metadata anew.
//!
//! Not served: transactional batches (`INVALID_TXN_STATE`); the current leader beside an error, while one node leads all.

use std::{ops::RangeInclusive, sync::Arc, time::Duration};

use kafka_protocol::{
    messages::{
        ProduceRequest, ProduceResponse, TopicName as WireTopicName,
        produce_request::{PartitionProduceData, TopicProduceData},
        produce_response::{
            BatchIndexAndErrorMessage, PartitionProduceResponse, TopicProduceResponse,
        },
    },
    protocol::StrBytes,
};

use super::{CloseReason, Context, Rooms, refusal::sentence};
use crate::{
    base::{ErrorCode, Offset, TopicId, TopicName, TopicPartition},
    log::LogError,
    produce::{ProduceError, Soon, Stored, Submission},
    replica::{Acks, ReplicaError},
    wire::record_batch::{BatchError, BatchHeader, Compression},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 3..=13;

/// The first version whose answers tell where the log begins.
const LOG_START_SINCE: i16 = 5;

/// The first version whose answers name records and carry a message.
const RECORD_ERRORS_SINCE: i16 = 8;

/// The first version whose batches may be compressed by zstd.
const ZSTD_SINCE: i16 = 7;

/// Fixes the order of the batches by the call itself. The answer, `None` for acks 0, is known when they are committed.
///
/// # Errors
///
/// A partition failed, and there is no answer to tell it in.
pub fn handle(
    rooms: &Arc<Rooms>,
    context: &Context,
    request: ProduceRequest,
) -> Soon<Result<Option<ProduceResponse>, CloseReason>> {
    debug_assert!(VERSIONS.contains(&context.api_version));
    let asked = Asked {
        rooms: rooms.clone(),
        context,
        acks: acks(request.acks),
        timeout_ms: request.timeout_ms,
    };
    let named = request.topic_data.into_iter().filter(|it| !it.partition_data.is_empty());
    let topics = Soon::all(named.map(|topic| asked.topic(topic)).collect());
    let answers = request.acks != 0;
    // Counted as it comes: a client that is above its quota is not read any further while this is stored.
    let throttle_time_ms = context.throttle.as_ref().map_or(0, |it| it.produced());
    topics.map(move |responses| {
        let response = ProduceResponse::default()
            .with_responses(responses)
            .with_throttle_time_ms(throttle_time_ms);
        if answers { Ok(Some(response)) } else { unanswered(&response).map(|()| None) }
    })
}

/// What becomes of a request that must not be answered, as in Kafka's `handleProduceRequest`.
fn unanswered(response: &ProduceResponse) -> Result<(), CloseReason> {
    let mut partitions = response.responses.iter().flat_map(|it| &it.partition_responses);
    match partitions.find(|it| it.error_code != 0) {
        Some(failed) => Err(CloseReason::Unanswered(ErrorCode::from_code(failed.error_code))),
        None => Ok(()),
    }
}

fn acks(acks: i16) -> Result<Acks, ErrorCode> {
    match acks {
        0 => Ok(Acks::None),
        1 => Ok(Acks::Leader),
        -1 => Ok(Acks::All),
        _ => Err(ErrorCode::InvalidRequiredAcks),
    }
}

/// A topic as the request names it.
#[derive(Clone)]
struct Named {
    name: TopicName,
    id: Option<TopicId>,
}

/// What all partitions of a request share.
struct Asked<'a> {
    rooms: Arc<Rooms>,
    context: &'a Context,
    acks: Result<Acks, ErrorCode>,
    timeout_ms: i32,
}

impl Asked<'_> {
    fn topic(&self, topic: TopicProduceData) -> Soon<TopicProduceResponse> {
        let named = self.named(&topic);
        let data = topic.partition_data.into_iter();
        let partitions = Soon::all(data.map(|it| self.partition(&named, it)).collect());
        let response = TopicProduceResponse::default();
        let response = if self.context.api_version >= 13 {
            response.with_topic_id(topic.topic_id)
        } else {
            response.with_name(WireTopicName(StrBytes::from_string(topic.name.to_string())))
        };
        partitions.map(|it| response.with_partition_responses(it))
    }

    fn named(&self, topic: &TopicProduceData) -> Result<Named, ErrorCode> {
        if self.context.api_version < 13 {
            return Ok(Named { name: TopicName::from(topic.name.as_str()), id: None });
        }
        let image = self.rooms.quorum.image();
        let found = image.topic_by_id(TopicId(topic.topic_id)).ok_or(ErrorCode::UnknownTopicId)?;
        Ok(Named { name: found.name.clone(), id: Some(found.id) })
    }

    fn partition(
        &self,
        topic: &Result<Named, ErrorCode>,
        data: PartitionProduceData,
    ) -> Soon<PartitionProduceResponse> {
        let (index, version) = (data.index, self.context.api_version);
        let submission = match self.submission(topic, data) {
            Ok(submission) => submission,
            Err(code) => return Soon::Now(refused(index, code)),
        };
        let (rooms, asked) = (Arc::clone(&self.rooms), submission.topic_partition.clone());
        let log_start = move || {
            let partition = rooms.replicas.leader(&asked, None).ok()?;
            Some(partition.log().log_start_offset())
        };
        let stored = self.rooms.produce.submit(submission);
        stored.map(move |result| answer(index, version, result, log_start))
    }

    fn submission(
        &self,
        topic: &Result<Named, ErrorCode>,
        data: PartitionProduceData,
    ) -> Result<Submission, ErrorCode> {
        let Named { name, id: topic_id } = topic.clone()?;
        let topic_partition = TopicPartition { topic: name, partition: data.index };
        let acks = self.acks.map_err(|code| self.unless_unknown(&topic_partition, code))?;
        let records = data.records.ok_or(ErrorCode::InvalidRecord)?;
        if self.context.api_version < ZSTD_SINCE && is_zstd(&records) {
            return Err(ErrorCode::UnsupportedCompressionType);
        }
        Ok(Submission {
            topic_partition,
            topic_id,
            records,
            acks,
            timeout: Duration::from_millis(u64::try_from(self.timeout_ms).unwrap_or(0)),
            client_id: self.context.client_id.clone(),
            connection_id: self.context.connection_id,
        })
    }

    /// Kafka looks for the partition before it looks at what is asked of it.
    fn unless_unknown(&self, it: &TopicPartition, code: ErrorCode) -> ErrorCode {
        let image = self.rooms.quorum.image();
        let known = image.partition(it.topic.as_str(), it.partition).is_some();
        if known { code } else { ErrorCode::UnknownTopicOrPartition }
    }
}

fn is_zstd(records: &[u8]) -> bool {
    let header = BatchHeader::parse(records);
    header.is_ok_and(|it| it.attributes.compression() == Ok(Compression::Zstd))
}

fn refused(index: i32, code: ErrorCode) -> PartitionProduceResponse {
    PartitionProduceResponse::default()
        .with_index(index)
        .with_error_code(code.code())
        .with_base_offset(-1)
}

fn answer(
    index: i32,
    version: i16,
    result: Result<Stored, ProduceError>,
    log_start: impl FnOnce() -> Option<Offset>,
) -> PartitionProduceResponse {
    match result {
        Ok(stored) => accepted(index, version, stored),
        Err(error) => {
            let start = if tells_log_start(&error) { log_start() } else { None };
            with_log_start(explained(index, version, error), version, start)
        }
    }
}

/// As Kafka, which tells where the log begins beside what was found wrong on the way into the log.
fn tells_log_start(error: &ProduceError) -> bool {
    matches!(
        error,
        ProduceError::InvalidRequest(_)
            | ProduceError::InvalidTimestamp { .. }
            | ProduceError::Refused { .. }
            | ProduceError::Batch(
                BatchError::BadRecord { .. }
                    | BatchError::BadHeader(_)
                    | BatchError::UnknownCompression(_),
            )
            | ProduceError::Replica(ReplicaError::Log(
                LogError::OutOfOrderSequence { .. } | LogError::InvalidProducerEpoch { .. },
            ))
    )
}

fn with_log_start(
    response: PartitionProduceResponse,
    version: i16,
    start: Option<Offset>,
) -> PartitionProduceResponse {
    match start {
        Some(start) if version >= LOG_START_SINCE => response.with_log_start_offset(start.0),
        _ => response,
    }
}

fn accepted(index: i32, version: i16, stored: Stored) -> PartitionProduceResponse {
    let response = PartitionProduceResponse::default()
        .with_index(index)
        .with_base_offset(stored.base_offset.0)
        .with_log_append_time_ms(stored.log_append_time.map_or(-1, |it| it.0));
    with_log_start(response, version, Some(stored.log_start_offset))
}

fn explained(index: i32, version: i16, error: ProduceError) -> PartitionProduceResponse {
    if version < RECORD_ERRORS_SINCE {
        return refused(index, ErrorCode::from(error));
    }
    let message = sentence(error.to_string());
    let records = match &error {
        ProduceError::Refused { records, .. } | ProduceError::InvalidTimestamp { records, .. } => {
            records
                .iter()
                .map(|record| {
                    BatchIndexAndErrorMessage::default()
                        .with_batch_index(record.index)
                        .with_batch_index_error_message(Some(sentence(&*record.reason)))
                })
                .collect()
        }
        _ => Vec::new(),
    };
    refused(index, ErrorCode::from(error))
        .with_error_message(Some(message))
        .with_record_errors(records)
}

#[cfg(test)]
mod tests {
    use kafka_protocol::protocol::Encodable as _;

    use super::*;
    use crate::{
        base::TimestampMs,
        produce::RefusedRecord,
        wire::record_batch::{BatchBuilder, RecordParts},
    };

    #[test]
    fn every_answer_can_be_encoded_at_every_version() {
        let stored =
            Stored { base_offset: Offset(4), log_append_time: None, log_start_offset: Offset(2) };
        let refused = || ProduceError::Refused {
            message: "no".into(),
            records: vec![RefusedRecord { index: 3, reason: "bad".into() }],
        };
        for version in VERSIONS {
            for result in [Ok(stored), Err(refused()), Err(ProduceError::Unfinished)] {
                let topic = TopicProduceResponse::default().with_partition_responses(vec![answer(
                    0,
                    version,
                    result,
                    || Some(Offset(2)),
                )]);
                let response = ProduceResponse::default().with_responses(vec![topic]);
                response.encode(&mut bytes::BytesMut::new(), version).unwrap();
            }
        }
    }

    #[test]
    fn where_the_log_begins_is_told_beside_what_was_found_on_the_way_into_it() {
        let far = ProduceError::InvalidTimestamp { timestamp: 5, records: Vec::new() };
        let old = ProduceError::Batch(BatchError::UnsupportedMagic(1));
        for (error, want) in [
            (far, 2),
            (ProduceError::InvalidRequest("control"), 2),
            (ProduceError::NotOneBatch, -1),
            (old, -1),
            (ProduceError::Batch(BatchError::CrcMismatch), -1),
            (ProduceError::Replica(ReplicaError::NotLeader), -1),
        ] {
            let text = error.to_string();
            let told = answer(0, 8, Err(error), || Some(Offset(2)));
            assert_eq!(told.log_start_offset, want, "{text}");
        }
    }

    #[test]
    fn what_is_compressed_by_zstd_is_seen_by_its_header() {
        for (codec, want) in [(Compression::Zstd, true), (Compression::Lz4, false)] {
            let mut builder = BatchBuilder::new(TimestampMs(0), codec);
            builder.push(&RecordParts {
                offset_delta: 0,
                timestamp_delta: 0,
                key: None,
                value: None,
                headers: Vec::new(),
            });
            assert_eq!(is_zstd(&builder.build().unwrap().bytes), want, "{codec:?}");
        }
        assert!(!is_zstd(b"no batch"));
    }

    #[test]
    fn a_failure_that_cannot_be_told_closes_the_connection() {
        let respond = |codes: &[i16]| {
            let partition = |&code: &i16| PartitionProduceResponse::default().with_error_code(code);
            let topic = |code| {
                TopicProduceResponse::default().with_partition_responses(vec![partition(code)])
            };
            ProduceResponse::default().with_responses(codes.iter().map(topic).collect())
        };
        assert_eq!(unanswered(&respond(&[0, 0])), Ok(()));
        let closing = unanswered(&respond(&[0, 10])).unwrap_err();
        assert_eq!(closing, CloseReason::Unanswered(ErrorCode::MessageTooLarge));
        assert!(!closing.is_bug());
    }

    #[test]
    fn a_plugins_failure_is_retriable_and_its_decision_is_not() {
        let failed = ProduceError::HookFailed("trap".into());
        assert_eq!(ErrorCode::from(failed), ErrorCode::NotEnoughReplicas);
        let refused = ProduceError::Refused { message: String::new(), records: Vec::new() };
        assert_eq!(ErrorCode::from(refused), ErrorCode::InvalidRecord);
    }
}
