//! The tables against the decoder and the encoder that they stand guard for.

use std::ops::RangeInclusive;

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::{
    messages as kafka,
    protocol::{Decodable, Encodable, Message},
};
use proptest::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{
    ApiKey, DecodeError, ELEMENTS_MAX, Kind, SHORT_BYTES_MAX, STRING_BYTES_MAX, Struct, check,
    frame_bytes_max, message,
};
use crate::wire::header::RequestHeader;

/// Every API that has a table, with the decoder's opinion of a body and the encoder's of a default one.
macro_rules! guarded {
    ($($key:ident $request:ident,)*) => {
        const GUARDED: &[ApiKey] = &[$(ApiKey::$key,)*];

        /// Bytes that the decoder of `kafka_protocol` takes.
        fn decoded_bytes(api_key: ApiKey, version: i16, body: &[u8]) -> Result<usize, String> {
            let mut rest = Bytes::copy_from_slice(body);
            match api_key {
                $(ApiKey::$key => kafka::$request::decode(&mut rest, version).map(drop),)*
                _ => unreachable!(),
            }
            .map_err(|error| error.to_string())?;
            Ok(body.len() - rest.len())
        }

        /// What the encoder makes of a body that the decoder takes.
        fn encoded_again(api_key: ApiKey, version: i16, body: &[u8]) -> Bytes {
            let (mut body, mut out) = (Bytes::copy_from_slice(body), BytesMut::new());
            match api_key {
                $(ApiKey::$key => kafka::$request::decode(&mut body, version)
                    .and_then(|it| it.encode(&mut out, version)),)*
                _ => unreachable!(),
            }
            .unwrap();
            out.freeze()
        }

        /// Versions of the message itself: the key's own range may be wider.
        fn versions(api_key: ApiKey) -> RangeInclusive<i16> {
            let range = match api_key {
                $(ApiKey::$key => <kafka::$request as Message>::VERSIONS,)*
                _ => unreachable!(),
            };
            range.min..=range.max
        }

        fn encoded_default(api_key: ApiKey, version: i16) -> Bytes {
            let mut out = BytesMut::new();
            match api_key {
                $(ApiKey::$key => kafka::$request::default().encode(&mut out, version),)*
                _ => unreachable!(),
            }
            .unwrap();
            out.freeze()
        }
    };
}

guarded! {
    Produce ProduceRequest,
    Fetch FetchRequest,
    ListOffsets ListOffsetsRequest,
    Metadata MetadataRequest,
    OffsetCommit OffsetCommitRequest,
    OffsetFetch OffsetFetchRequest,
    FindCoordinator FindCoordinatorRequest,
    JoinGroup JoinGroupRequest,
    Heartbeat HeartbeatRequest,
    LeaveGroup LeaveGroupRequest,
    SyncGroup SyncGroupRequest,
    DescribeGroups DescribeGroupsRequest,
    ConsumerGroupHeartbeat ConsumerGroupHeartbeatRequest,
    ConsumerGroupDescribe ConsumerGroupDescribeRequest,
    ListGroups ListGroupsRequest,
    ApiVersions ApiVersionsRequest,
    CreateTopics CreateTopicsRequest,
    DeleteTopics DeleteTopicsRequest,
    DeleteRecords DeleteRecordsRequest,
    OffsetForLeaderEpoch OffsetForLeaderEpochRequest,
    OffsetDelete OffsetDeleteRequest,
    ListPartitionReassignments ListPartitionReassignmentsRequest,
    AlterPartitionReassignments AlterPartitionReassignmentsRequest,
    ElectLeaders ElectLeadersRequest,
    AlterReplicaLogDirs AlterReplicaLogDirsRequest,
    DescribeLogDirs DescribeLogDirsRequest,
    DescribeProducers DescribeProducersRequest,
    DescribeTopicPartitions DescribeTopicPartitionsRequest,
    InitProducerId InitProducerIdRequest,
    DescribeConfigs DescribeConfigsRequest,
    AlterConfigs AlterConfigsRequest,
    CreatePartitions CreatePartitionsRequest,
    DeleteGroups DeleteGroupsRequest,
    IncrementalAlterConfigs IncrementalAlterConfigsRequest,
    DescribeCluster DescribeClusterRequest,
    DescribeClientQuotas DescribeClientQuotasRequest,
    AlterClientQuotas AlterClientQuotasRequest,
    GetTelemetrySubscriptions GetTelemetrySubscriptionsRequest,
    PushTelemetry PushTelemetryRequest,
    DescribeQuorum DescribeQuorumRequest,
    UpdateFeatures UpdateFeaturesRequest,
    ListConfigResources ListConfigResourcesRequest,
}

/// Writes a body at random, as a table describes it.
struct Writer {
    rng: StdRng,
    out: BytesMut,
    version: i16,
    flexible: bool,
}

impl Writer {
    fn body(api_key: ApiKey, version: i16, seed: u64) -> BytesMut {
        let message = message(api_key).unwrap();
        let rng = StdRng::seed_from_u64(seed);
        let flexible = version >= message.flexible_since;
        let mut writer = Self { rng, out: BytesMut::new(), version, flexible };
        writer.structure(&message.body);
        writer.out
    }

    fn structure(&mut self, of: &Struct) {
        let version = self.version;
        for field in of.fields.iter().filter(|field| field.is_in(version)) {
            self.value(&field.kind);
        }
        if self.flexible {
            self.tagged_fields(of);
        }
    }

    fn value(&mut self, kind: &Kind) {
        match kind {
            Kind::Fixed(bytes) => (0..*bytes).for_each(|_| self.out.put_u8(1)),
            Kind::String | Kind::Bytes => {
                let length = self.rng.random_range(0..200);
                self.length(kind, length);
                self.out.put_bytes(b'x', length);
            }
            Kind::Array(element) => {
                let count = self.rng.random_range(0..4);
                self.length(kind, count);
                (0..count).for_each(|_| self.value(element));
            }
            Kind::Struct(of) => self.structure(of),
            Kind::Nullable(of) => {
                self.out.put_u8(1);
                self.structure(of);
            }
        }
    }

    fn length(&mut self, kind: &Kind, length: usize) {
        match kind {
            _ if self.flexible => put_unsigned_varint(&mut self.out, length + 1),
            Kind::String => self.out.put_i16(length as i16),
            _ => self.out.put_i32(length as i32),
        }
    }

    fn tagged_fields(&mut self, of: &Struct) {
        let known: Vec<_> = of.tags.iter().filter(|(_, field)| field.is_in(self.version)).collect();
        let unknown = self.rng.random_range(0..3);
        put_unsigned_varint(&mut self.out, known.len() + unknown);
        for (tag, field) in known {
            let before = std::mem::take(&mut self.out);
            self.value(&field.kind);
            let value = std::mem::replace(&mut self.out, before);
            self.tag(*tag as usize, &value);
        }
        for tag in 0..unknown {
            self.tag(100 + tag, b"unknown");
        }
    }

    fn tag(&mut self, tag: usize, value: &[u8]) {
        put_unsigned_varint(&mut self.out, tag);
        put_unsigned_varint(&mut self.out, value.len());
        self.out.put_slice(value);
    }
}

fn put_unsigned_varint(out: &mut BytesMut, mut value: usize) {
    while value >= 0x80 {
        out.put_u8(value as u8 | 0x80);
        value >>= 7;
    }
    out.put_u8(value as u8);
}

fn each_version(mut visit: impl FnMut(ApiKey, i16)) {
    for &api_key in GUARDED {
        versions(api_key).for_each(|version| visit(api_key, version));
    }
}

#[test]
fn a_default_request_of_every_version_is_walked_to_its_end() {
    each_version(|api_key, version| {
        let body = encoded_default(api_key, version);
        assert_eq!(check(api_key, version, &body), Ok(body.len()), "{api_key:?} v{version}");
    });
}

/// What ten clients sent to a broker of ours, by `tests/clients/run --write-frames`: key, version, frame.
const FRAMES: [&str; 10] = [
    include_str!("../../../tests/clients/frames/aiokafka.hex"),
    include_str!("../../../tests/clients/frames/confluent-kafka.hex"),
    include_str!("../../../tests/clients/frames/franz-go.hex"),
    include_str!("../../../tests/clients/frames/java.hex"),
    include_str!("../../../tests/clients/frames/kafka-go.hex"),
    include_str!("../../../tests/clients/frames/kafka-python.hex"),
    include_str!("../../../tests/clients/frames/kafkajs.hex"),
    include_str!("../../../tests/clients/frames/kcat.hex"),
    include_str!("../../../tests/clients/frames/platformatic.hex"),
    include_str!("../../../tests/clients/frames/sarama.hex"),
];

fn bytes_of(hex: &str) -> Bytes {
    let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal digits");
    (0..hex.len()).step_by(2).map(digits).collect()
}

#[test]
fn real_clients_requests_pass_and_are_read_to_their_end() {
    let mut keys = std::collections::BTreeSet::new();
    for line in FRAMES.iter().flat_map(|it| it.lines()).filter(|it| !it.starts_with('#')) {
        let mut frame = bytes_of(line.rsplit(' ').next().unwrap());
        let RequestHeader { api_key, api_version, .. } = RequestHeader::parse(&mut frame).unwrap();
        assert!(line.starts_with(&format!("{} {api_version} ", api_key as i16)), "{line}");
        if api_key == ApiKey::ApiVersions && !versions(api_key).contains(&api_version) {
            // Franz-go asks for a version to come, and is told what there is without being read.
            continue;
        }
        assert_eq!(check(api_key, api_version, &frame), Ok(frame.len()), "{line}");
        assert_eq!(encoded_again(api_key, api_version, &frame), frame, "{line}");
        keys.insert(api_key as i16);
    }
    // The way of a producer and of a group's member at least.
    assert!(keys.is_superset(&[0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 18, 22].into()), "{keys:?}");
}

#[test]
fn only_requests_with_lists_or_bytes_may_be_long() {
    for long in [ApiKey::Produce, ApiKey::JoinGroup, ApiKey::Metadata, ApiKey::OffsetCommit] {
        assert_eq!(frame_bytes_max(long as i16), None, "{long:?}");
    }
    for short in [ApiKey::Heartbeat, ApiKey::ApiVersions, ApiKey::InitProducerId, ApiKey::Vote] {
        assert_eq!(frame_bytes_max(short as i16), Some(SHORT_BYTES_MAX), "{short:?}");
    }
    assert_eq!(frame_bytes_max(-1), Some(SHORT_BYTES_MAX));
}

#[test]
fn no_table_means_no_passage() {
    assert_eq!(check(ApiKey::Vote, 0, &[]), Err(DecodeError::UnknownApi(52)));
}

#[test]
fn every_body_cut_anywhere_is_refused() {
    each_version(|api_key, version| {
        let body = Writer::body(api_key, version, 1);
        for cut in 0..body.len() {
            assert!(check(api_key, version, &body[..cut]).is_err(), "{api_key:?} v{version} {cut}");
        }
    });
}

#[test]
fn an_array_count_beyond_the_bytes_left_is_refused() {
    // The twelve bytes that abort an unguarded broker: a null id, acks, a timeout, 2^30 topics.
    let produce = [0xff, 0xff, 0, 1, 0, 0, 0, 1, 0x40, 0, 0, 0];
    let refused = Err(DecodeError::Truncated { field: "topic_data" });
    assert_eq!(check(ApiKey::Produce, 3, &produce), refused);
    let metadata = [0x7f, 0xff, 0xff, 0xff];
    assert_eq!(
        check(ApiKey::Metadata, 0, &metadata),
        Err(DecodeError::Truncated { field: "topics" })
    );
    let compact = [0xff, 0xff, 0xff, 0xff, 0x0f];
    assert!(check(ApiKey::Metadata, 9, &compact).is_err());
    assert_eq!(
        check(ApiKey::Metadata, 0, &[0xff, 0xff, 0xff, 0xfe]),
        Err(DecodeError::BadLength { field: "topics", length: -2 })
    );
}

#[test]
fn a_text_that_no_classic_length_could_tell_is_refused() {
    let of_group = |length: usize| {
        let mut body = BytesMut::new();
        put_unsigned_varint(&mut body, length + 1);
        body.put_bytes(b'x', length);
        body.put_slice(&[0, 0, 0, 0, 1, 0, 0]);
        body
    };
    let allowed = of_group(STRING_BYTES_MAX);
    assert_eq!(check(ApiKey::Heartbeat, 4, &allowed), Ok(allowed.len()));
    assert_eq!(
        check(ApiKey::Heartbeat, 4, &of_group(STRING_BYTES_MAX + 1)),
        Err(DecodeError::BadLength { field: "group_id", length: 32_768 })
    );
}

#[test]
fn more_elements_than_allowed_are_refused_though_their_bytes_are_there() {
    let names = |count: usize| {
        let mut body = BytesMut::new();
        body.put_i32(count as i32);
        body.put_bytes(0, 2 * count);
        body
    };
    let allowed = names(ELEMENTS_MAX);
    assert_eq!(check(ApiKey::Metadata, 0, &allowed), Ok(allowed.len()));
    assert_eq!(
        check(ApiKey::Metadata, 0, &names(ELEMENTS_MAX + 1)),
        Err(DecodeError::TooManyElements { field: "topics", max: ELEMENTS_MAX })
    );
}

#[test]
fn a_known_tag_whose_size_lies_is_refused() {
    // Fetch v12: no topics, nothing forgotten, no rack, then tag 0 (the cluster's id) of a compact "ab".
    let fetch = |size: u8| {
        let mut body = BytesMut::new();
        body.put_bytes(0, 4 * 4 + 1 + 2 * 4);
        body.put_slice(&[1, 1, 1, 1, 0, size, 3, b'a', b'b']);
        body
    };
    assert!(check(ApiKey::Fetch, 12, &fetch(3)).is_ok());
    assert_eq!(
        check(ApiKey::Fetch, 12, &fetch(2)),
        Err(DecodeError::TagSize { field: "cluster_id", tag: 0, size: 2 })
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_a_table_describes_is_what_the_decoder_reads(seed: u64) {
        each_version(|api_key, version| {
            let body = Writer::body(api_key, version, seed);
            assert_eq!(check(api_key, version, &body), Ok(body.len()), "{api_key:?} v{version}");
            let decoded = decoded_bytes(api_key, version, &body);
            assert_eq!(decoded, Ok(body.len()), "{api_key:?} v{version}");
        });
    }

    #[test]
    fn what_passes_mutated_is_read_by_the_decoder_in_the_same_way_or_refused(
        seed: u64,
        at in any::<prop::sample::Index>(),
        byte: u8,
    ) {
        each_version(|api_key, version| {
            let mut body = Writer::body(api_key, version, seed);
            if body.is_empty() {
                return;
            }
            let at = at.index(body.len());
            body[at] = byte;
            if let Ok(walked) = check(api_key, version, &body)
                && let Ok(decoded) = decoded_bytes(api_key, version, &body)
            {
                assert_eq!(walked, decoded, "{api_key:?} v{version}");
            }
        });
    }
}
