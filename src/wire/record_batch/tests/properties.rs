//! Any records against the `kafka_protocol` codec, and any change of a batch against ours.

use bytes::BytesMut;
use kafka_protocol::records::{
    Compression as TheirCompression, Record, RecordBatchDecoder, RecordBatchEncoder,
    RecordEncodeOptions, TimestampType as TheirTimestampType,
};
use proptest::prelude::*;

use super::*;
use crate::base::{LeaderEpoch, Offset};

#[derive(Clone, Debug)]
struct Sample {
    timestamp_delta: i64,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<(String, Option<Vec<u8>>)>,
}

fn sample() -> impl Strategy<Value = Sample> {
    let bytes = || proptest::option::of(proptest::collection::vec(any::<u8>(), 0..200));
    let headers = proptest::collection::btree_map("[a-z]{0,3}", bytes(), 0..4);
    (-1_000_000..1_000_000_i64, bytes(), bytes(), headers).prop_map(
        |(timestamp_delta, key, value, headers)| Sample {
            timestamp_delta,
            key,
            value,
            headers: headers.into_iter().collect(),
        },
    )
}

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    proptest::collection::vec(sample(), 1..30)
}

const BASE_TIMESTAMP: i64 = 1_700_000_000_000;

fn ours(samples: &[Sample], codec: Compression) -> Batch {
    let mut builder = BatchBuilder::new(TimestampMs(BASE_TIMESTAMP), codec);
    for (index, sample) in samples.iter().enumerate() {
        builder.push(&RecordParts {
            headers: sample
                .headers
                .iter()
                .map(|(name, value)| Header { name: name.as_bytes(), value: value.as_deref() })
                .collect(),
            ..record(
                index as i32,
                sample.timestamp_delta,
                sample.key.as_deref(),
                sample.value.as_deref(),
            )
        });
    }
    builder.build().unwrap()
}

fn theirs(samples: &[Sample]) -> Vec<Record> {
    let owned = |it: &Option<Vec<u8>>| it.clone().map(Bytes::from);
    samples
        .iter()
        .enumerate()
        .map(|(index, sample)| Record {
            transactional: false,
            control: false,
            delete_horizon: false,
            partition_leader_epoch: -1,
            producer_id: -1,
            producer_epoch: -1,
            timestamp_type: TheirTimestampType::Creation,
            offset: index as i64,
            sequence: index as i32 - 1,
            timestamp: BASE_TIMESTAMP + sample.timestamp_delta,
            key: owned(&sample.key),
            value: owned(&sample.value),
            headers: sample
                .headers
                .iter()
                .map(|(name, value)| (name.clone().into(), owned(value)))
                .collect(),
        })
        .collect()
}

proptest! {
    #[test]
    fn the_codec_of_kafka_protocol_reads_what_we_build(samples in samples(), codec in 0..5_usize) {
        let batch = ours(&samples, Compression::ALL[codec]);
        prop_assert_eq!(batch.validate(), Ok(()));
        let unpack = |from: &mut Bytes, _: TheirCompression| {
            Ok(Bytes::from(decompress(Compression::ALL[codec], from, MAX_BYTES)?))
        };
        let read = RecordBatchDecoder::decode_with_custom_compression(
            &mut batch.bytes.clone(),
            Some(unpack),
        ).unwrap();
        prop_assert_eq!(read.records, theirs(&samples));
    }

    #[test]
    fn we_read_what_the_codec_of_kafka_protocol_builds(samples in samples()) {
        let mut out = BytesMut::new();
        let options = RecordEncodeOptions { version: 2, compression: TheirCompression::None };
        RecordBatchEncoder::encode(&mut out, &theirs(&samples), &options).unwrap();
        let batch = split(out.freeze()).unwrap().remove(0);
        let decoded = batch.decode(MAX_BYTES).unwrap();
        prop_assert_eq!(decoded.len(), samples.len());
        for (record, sample) in decoded.records().zip(&samples) {
            prop_assert_eq!(record.key(), sample.key.as_deref());
            prop_assert_eq!(record.value(), sample.value.as_deref());
            prop_assert_eq!(
                decoded.header.base_timestamp.0 + record.timestamp_delta(),
                BASE_TIMESTAMP + sample.timestamp_delta
            );
            let headers: Vec<_> = record
                .headers()
                .map(|it| (String::from_utf8(it.name.into()).unwrap(), it.value.map(<[u8]>::to_vec)))
                .collect();
            prop_assert_eq!(&headers, &sample.headers);
        }
    }

    #[test]
    fn rebuilding_every_record_changes_no_byte(samples in samples()) {
        let batch = ours(&samples, Compression::None);
        let decoded = batch.decode(MAX_BYTES).unwrap();
        let mut builder = BatchBuilder::rebuild(&batch.header, Compression::None);
        for record in decoded.records() {
            builder.push(&record.into());
        }
        prop_assert_eq!(builder.size_bytes(), batch.bytes.len());
        prop_assert_eq!(builder.build().unwrap().bytes, batch.bytes);
    }

    #[test]
    fn mutated_batches_never_panic(
        samples in samples(),
        codec in 0..5_usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = ours(&samples, Compression::ALL[codec]).bytes.to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let cut = if cut.index(2) == 0 { bytes.len() } else { cut.index(bytes.len()) };
        bytes.truncate(cut);
        for batch in split(bytes.into()).unwrap_or_default() {
            let _ = batch.validate();
            let _ = batch.control();
            if let Ok(decoded) = batch.decode(MAX_BYTES) {
                prop_assert!(decoded.data.len() <= MAX_BYTES);
                for record in decoded.records() {
                    prop_assert!(record.headers().count() <= decoded.data.len());
                }
            }
        }
    }

    #[test]
    fn header_fields_survive_encoding(
        offset in 0..i64::MAX, epoch: i32, length in 49..i32::MAX, crc: u32, id in -1..i64::MAX, sequence: i32,
    ) {
        let header = BatchHeader {
            base_offset: Offset(offset),
            batch_length: length,
            partition_leader_epoch: LeaderEpoch(epoch),
            crc,
            producer_id: Some(id).filter(|&it| it >= 0).map(ProducerId),
            base_sequence: sequence,
            ..simple(1).header
        };
        prop_assert_eq!(BatchHeader::parse(&header.encode()), Ok(header));
    }
}
