//! Bounds what decoding a request body may allocate, by a walk over its lengths before it is decoded.
//!
//! The decoder of `kafka_protocol` reserves room for an array as soon as it has read its count: twelve bytes make it ask
//! for 200 GB, and a failed allocation aborts the process. The walk costs a few nanoseconds an element, allocates nothing,
//! and refuses a count that the bytes left cannot hold. A body of empty elements is well-formed and yet grows fortyfold
//! in memory, so their number has a limit too.
//!
//! Rule: what passes here is read by the decoder in the same way, or refused by it: the walk is as strict or stricter.

mod group_requests;
mod partition_requests;
mod requests;
mod schema;
mod settings_requests;

use kafka_protocol::messages::ApiKey;
use schema::{Field, Kind, Message, Struct};

use super::{DecodeError, reader::Reader};

/// Array elements and tagged fields that one request may hold. The largest decoded element is under 128 bytes and the map
/// of a single tag under 512, so a request costs at most some 80 MiB besides its frame; an honest one that names every
/// partition of a large cluster stays under it.
pub const ELEMENTS_MAX: usize = 250_000;

/// The longest text, as in Kafka: compact lengths could tell of longer ones, which no older version could answer with.
const STRING_BYTES_MAX: usize = i16::MAX as usize;

/// Bytes of a request, its header included, that holds numbers and texts alone: room for eight texts as long as classic
/// lengths allow.
const SHORT_BYTES_MAX: usize = 256 * 1024;

/// The longest frame of an API whose requests are short whatever they ask for; `None` where only the limit of all frames
/// counts. What is not served is not worth reading either.
pub fn frame_bytes_max(api_key: i16) -> Option<usize> {
    let served = ApiKey::try_from(api_key).ok().and_then(message);
    let is_long = |it: &Message| {
        it.body.fields.iter().any(|it| !matches!(it.kind, Kind::Fixed(_) | Kind::String))
    };
    (!served.is_some_and(is_long)).then_some(SHORT_BYTES_MAX)
}

/// Walks the body of a request and returns its length; the frame may be longer, which Kafka ignores.
///
/// # Errors
///
/// Every variant of [`DecodeError`] but those of frames and headers; [`DecodeError::UnknownApi`] where no table is kept
/// for the API, because it is not served.
pub fn check(api_key: ApiKey, version: i16, body: &[u8]) -> Result<usize, DecodeError> {
    let message = message(api_key).ok_or(DecodeError::UnknownApi(api_key as i16))?;
    let mut walk = Walk {
        reader: Reader::new(body),
        version,
        flexible: version >= message.flexible_since,
        elements: 0,
    };
    walk.structure(&message.body)?;
    Ok(walk.reader.position())
}

fn message(api_key: ApiKey) -> Option<&'static Message> {
    let message: &'static Message = match api_key {
        ApiKey::Produce => &requests::PRODUCE,
        ApiKey::Fetch => &requests::FETCH,
        ApiKey::ListOffsets => &requests::LIST_OFFSETS,
        ApiKey::Metadata => &requests::METADATA,
        ApiKey::OffsetCommit => &group_requests::OFFSET_COMMIT,
        ApiKey::OffsetFetch => &group_requests::OFFSET_FETCH,
        ApiKey::FindCoordinator => &requests::FIND_COORDINATOR,
        ApiKey::JoinGroup => &group_requests::JOIN_GROUP,
        ApiKey::Heartbeat => &group_requests::HEARTBEAT,
        ApiKey::LeaveGroup => &group_requests::LEAVE_GROUP,
        ApiKey::SyncGroup => &group_requests::SYNC_GROUP,
        ApiKey::DescribeGroups => &group_requests::DESCRIBE_GROUPS,
        ApiKey::ListGroups => &group_requests::LIST_GROUPS,
        ApiKey::ApiVersions => &requests::API_VERSIONS,
        ApiKey::CreateTopics => &requests::CREATE_TOPICS,
        ApiKey::DeleteTopics => &requests::DELETE_TOPICS,
        ApiKey::InitProducerId => &requests::INIT_PRODUCER_ID,
        ApiKey::DescribeConfigs => &requests::DESCRIBE_CONFIGS,
        ApiKey::AlterConfigs => &requests::ALTER_CONFIGS,
        ApiKey::CreatePartitions => &requests::CREATE_PARTITIONS,
        ApiKey::DeleteGroups => &group_requests::DELETE_GROUPS,
        ApiKey::IncrementalAlterConfigs => &requests::INCREMENTAL_ALTER_CONFIGS,
        ApiKey::DescribeCluster => &requests::DESCRIBE_CLUSTER,
        ApiKey::DescribeClientQuotas => &settings_requests::DESCRIBE_CLIENT_QUOTAS,
        ApiKey::AlterClientQuotas => &settings_requests::ALTER_CLIENT_QUOTAS,
        ApiKey::GetTelemetrySubscriptions => &settings_requests::GET_TELEMETRY_SUBSCRIPTIONS,
        ApiKey::PushTelemetry => &settings_requests::PUSH_TELEMETRY,
        ApiKey::DescribeQuorum => &settings_requests::DESCRIBE_QUORUM,
        ApiKey::UpdateFeatures => &settings_requests::UPDATE_FEATURES,
        ApiKey::ConsumerGroupHeartbeat => &group_requests::CONSUMER_GROUP_HEARTBEAT,
        ApiKey::ConsumerGroupDescribe => &group_requests::CONSUMER_GROUP_DESCRIBE,
        ApiKey::DeleteRecords => &partition_requests::DELETE_RECORDS,
        ApiKey::OffsetForLeaderEpoch => &partition_requests::OFFSET_FOR_LEADER_EPOCH,
        ApiKey::OffsetDelete => &partition_requests::OFFSET_DELETE,
        ApiKey::ListPartitionReassignments => &partition_requests::LIST_PARTITION_REASSIGNMENTS,
        ApiKey::AlterPartitionReassignments => &partition_requests::ALTER_PARTITION_REASSIGNMENTS,
        ApiKey::ElectLeaders => &partition_requests::ELECT_LEADERS,
        ApiKey::AlterReplicaLogDirs => &partition_requests::ALTER_REPLICA_LOG_DIRS,
        ApiKey::DescribeLogDirs => &partition_requests::DESCRIBE_LOG_DIRS,
        ApiKey::DescribeProducers => &partition_requests::DESCRIBE_PRODUCERS,
        ApiKey::DescribeTopicPartitions => &partition_requests::DESCRIBE_TOPIC_PARTITIONS,
        ApiKey::ListConfigResources => &settings_requests::LIST_CONFIG_RESOURCES,
        _ => return None,
    };
    Some(message)
}

struct Walk<'a> {
    reader: Reader<'a>,
    version: i16,
    flexible: bool,
    /// Counted so far.
    elements: usize,
}

impl Walk<'_> {
    fn structure(&mut self, of: &'static Struct) -> Result<(), DecodeError> {
        for field in of.fields {
            if field.is_in(self.version) {
                self.value(field.name, &field.kind)?;
            }
        }
        if self.flexible { self.tagged_fields(of) } else { Ok(()) }
    }

    fn value(&mut self, field: &'static str, kind: &'static Kind) -> Result<(), DecodeError> {
        match kind {
            Kind::Fixed(bytes) => self.skip(field, *bytes),
            Kind::String | Kind::Bytes => {
                let length = self.length(field, kind)?;
                self.skip(field, length)
            }
            Kind::Array(element) => {
                let count = self.length(field, kind)?;
                self.count(field, count)?;
                (0..count).try_for_each(|_| self.value(field, element))
            }
            Kind::Struct(of) => self.structure(of),
            Kind::Nullable(of) => self.nullable(field, of),
        }
    }

    fn nullable(&mut self, field: &'static str, of: &'static Struct) -> Result<(), DecodeError> {
        let is_there = self.reader.take(1).ok_or(DecodeError::Truncated { field })?;
        if is_there == [1] { self.structure(of) } else { Ok(()) }
    }

    /// The length before a string, bytes or an array; 0 for null.
    fn length(&mut self, field: &'static str, kind: &'static Kind) -> Result<usize, DecodeError> {
        let length = match kind {
            // Compact lengths are written plus one, so that 0 is null.
            _ if self.flexible => self.reader.unsigned_varint().map(|it| i64::from(it) - 1),
            Kind::String => self.reader.i16().map(i64::from),
            _ => self.reader.i32().map(i64::from),
        };
        match length.ok_or(DecodeError::Truncated { field })? {
            -1 => Ok(0),
            length if matches!(kind, Kind::String) && length > STRING_BYTES_MAX as i64 => {
                Err(DecodeError::BadLength { field, length })
            }
            length => usize::try_from(length).map_err(|_| DecodeError::BadLength { field, length }),
        }
    }

    /// Counts elements that take a byte each at least.
    fn count(&mut self, field: &'static str, count: usize) -> Result<(), DecodeError> {
        if count > self.reader.remaining() {
            return Err(DecodeError::Truncated { field });
        }
        self.elements += count;
        if self.elements > ELEMENTS_MAX {
            return Err(DecodeError::TooManyElements { field, max: ELEMENTS_MAX });
        }
        Ok(())
    }

    fn skip(&mut self, field: &'static str, bytes: usize) -> Result<(), DecodeError> {
        self.reader.take(bytes).map(drop).ok_or(DecodeError::Truncated { field })
    }

    fn tagged_fields(&mut self, of: &'static Struct) -> Result<(), DecodeError> {
        let count = self.tag_varint()?;
        self.count(TAGS, count as usize)?;
        for _ in 0..count {
            let (tag, size) = (self.tag_varint()?, self.tag_varint()?);
            match of.tags.iter().find(|(known, field)| *known == tag && field.is_in(self.version)) {
                Some((_, field)) => self.known_tag(tag, size, field)?,
                None => self.skip(TAGS, size as usize)?,
            }
        }
        Ok(())
    }

    /// The decoder reads a tag that it knows by its type and ignores the size: the two must agree, or the walk and the
    /// decoder would part ways here.
    fn known_tag(&mut self, tag: u32, size: u32, field: &'static Field) -> Result<(), DecodeError> {
        let start = self.reader.position();
        self.value(field.name, &field.kind)?;
        if self.reader.position() - start == size as usize {
            Ok(())
        } else {
            Err(DecodeError::TagSize { field: field.name, tag, size })
        }
    }

    fn tag_varint(&mut self) -> Result<u32, DecodeError> {
        self.reader.unsigned_varint().ok_or(DecodeError::Truncated { field: TAGS })
    }
}

/// How errors name tagged fields.
const TAGS: &str = "tagged fields";

#[cfg(test)]
mod tests;
