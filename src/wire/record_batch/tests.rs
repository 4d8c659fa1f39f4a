//! Record batches against bytes of a real client, and against hostile bytes.

use bytes::Bytes;

use super::*;
use crate::base::{ProducerEpoch, ProducerId, TimestampMs};

mod codecs;
mod properties;

const MAX_BYTES: usize = 1 << 20;

/// The same three records by kafka-python 3.0.12, with each codec.
const BY_KAFKA_PYTHON: [&str; 5] = [
    "0000000000000000000000b400000000023c61984c0000000000020000018bcfe568000000018bcfe56801000000000000000700010000000500000003d801000000026bc80176767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676767676001a00020201000402680278026e010c000104000100",
    "00000000000000000000006700000000021dcc3b060001000000020000018bcfe568000000018bcfe568010000000000000007000100000005000000031f8b0800e06d0c6b02ffbbc1c8c0c0c0947d82b18c0e80418a8189899181852983a982298f91878191858191010065eb776d83000000",
    "00000000000000000000006f00000000026f94fa2b0002000000020000018bcfe568000000018bcfe5680100000000000000070001000000050000000382534e415050590000000001000000010000002a830124d801000000026bc80176fe01008a010054001a00020201000402680278026e010c000104000100",
    "00000000000000000000006e0000000002c7f86c350003000000020000018bcfe568000000018bcfe5680100000000000000070001000000050000000304224d18684083000000000000008a26000000afd801000000026bc80176010050f007001a00020201000402680278026e010c00010400010000000000",
    "000000000000000000000061000000000256921def0004000000020000018bcfe568000000018bcfe5680100000000000000070001000000050000000328b52ffd20833d01000402d801000000026bc80176001a00020201000402680278026e010c0001040001000100200548",
];

fn hex(text: &str) -> Bytes {
    let digits: Vec<u8> = text.chars().map(|it| it.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// The records of [`BY_KAFKA_PYTHON`], built by us.
fn three_records(compression: Compression) -> Batch {
    let mut builder = BatchBuilder::new(TimestampMs(1_700_000_000_000), compression).producer(
        ProducerId(7),
        ProducerEpoch(1),
        5,
    );
    let header = |name, value| Header { name, value };
    builder.push(&record(0, 0, Some(b"k"), Some(&[b'v'; 100])));
    builder.push(&RecordParts {
        headers: vec![header(b"h", Some(b"x".as_slice())), header(b"n", None)],
        ..record(1, 1, None, Some(b""))
    });
    builder.push(&record(2, -1, Some(b""), None));
    builder.build().unwrap()
}

fn record<'a>(
    offset_delta: i32,
    timestamp_delta: i64,
    key: Option<&'a [u8]>,
    value: Option<&'a [u8]>,
) -> RecordParts<'a> {
    RecordParts { offset_delta, timestamp_delta, key, value, headers: Vec::new() }
}

/// `count` records of a few bytes.
fn simple(count: i32) -> Batch {
    let mut builder = BatchBuilder::new(TimestampMs(1_000), Compression::None);
    for delta in 0..count {
        builder.push(&record(delta, 0, None, Some(b"value")));
    }
    builder.build().unwrap()
}

/// The batch with other bytes and a CRC that is right again.
fn tampered(batch: &Batch, change: impl FnOnce(&mut Vec<u8>)) -> Batch {
    let mut bytes = batch.bytes.to_vec();
    change(&mut bytes);
    let length = bytes.len() as i32 - 12;
    bytes[8..12].copy_from_slice(&length.to_be_bytes());
    let crc = crc32c::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    Batch { header: BatchHeader::parse(&bytes).unwrap(), bytes: bytes.into() }
}

fn with_records(count: i32, records: &[u8]) -> Batch {
    tampered(&simple(1), |bytes| {
        bytes.truncate(HEADER_BYTES);
        bytes[57..61].copy_from_slice(&count.to_be_bytes());
        bytes[23..27].copy_from_slice(&count.wrapping_sub(1).to_be_bytes());
        bytes.extend_from_slice(records);
    })
}

#[test]
fn an_uncompressed_batch_is_built_byte_for_byte_as_a_client_builds_it() {
    let theirs = hex(BY_KAFKA_PYTHON[0]);
    let ours = three_records(Compression::None);
    // The client leaves its leader epoch 0 where Java writes −1; it lies outside the CRC.
    assert_eq!(ours.bytes[..12], theirs[..12]);
    assert_eq!(ours.bytes[16..], theirs[16..]);
}

#[test]
fn batches_of_a_client_in_every_codec_are_valid_and_hold_the_same_records() {
    let expected = three_records(Compression::None).decode(MAX_BYTES).unwrap();
    for (text, codec) in BY_KAFKA_PYTHON.into_iter().zip(Compression::ALL) {
        let batch = split(hex(text)).unwrap().remove(0);
        batch.validate().unwrap();
        assert_eq!(batch.header.attributes.compression(), Ok(codec));
        assert_eq!(batch.header.last_sequence(), 7);
        let decoded = batch.decode(MAX_BYTES).unwrap();
        assert_eq!(decoded.data, expected.data, "{codec:?}");
        assert_eq!(decoded.records, expected.records, "{codec:?}");
    }
}

#[test]
fn fields_and_headers_are_borrowed_from_the_batch_as_they_were_sent() {
    let batch = three_records(Compression::Zstd).decode(MAX_BYTES).unwrap();
    let second = batch.record(1).unwrap();
    assert_eq!((second.key(), second.value()), (None, Some(b"".as_slice())));
    assert_eq!(second.timestamp_delta(), 1);
    let headers: Vec<_> = second.headers().map(|it| (it.name, it.value)).collect();
    assert_eq!(headers, [(b"h".as_slice(), Some(b"x".as_slice())), (b"n", None)]);
    assert_eq!(batch.record(2).unwrap().key_range().map(|it| it.len()), Some(0));
    assert_eq!(batch.records().len(), 3);
}

#[test]
fn several_batches_are_split_without_copying() {
    let (one, two) = (simple(1), three_records(Compression::Lz4));
    let both: Bytes = [one.bytes.clone(), two.bytes.clone()].concat().into();
    let batches = split(both.clone()).unwrap();
    assert_eq!(batches.iter().map(|it| it.header.records_count).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(batches[1].bytes.as_ptr(), both[one.bytes.len()..].as_ptr());

    for cut in 1..both.len() {
        let whole = split(both.slice(..cut));
        assert_eq!(whole.is_ok(), cut == one.bytes.len(), "cut at {cut}");
    }
    assert!(split(Bytes::new()).unwrap().is_empty());
}

#[test]
fn an_old_message_set_is_told_from_a_truncated_batch() {
    let mut old = vec![0; 30];
    old[16] = 1;
    assert_eq!(split(old.into()).unwrap_err(), BatchError::UnsupportedMagic(1));
    let mut short = simple(1).bytes.to_vec();
    short[8..12].copy_from_slice(&48_i32.to_be_bytes());
    assert_eq!(split(short.into()).unwrap_err(), BatchError::BadLength(48));
}

#[test]
fn a_flipped_bit_anywhere_under_the_crc_is_noticed() {
    let batch = three_records(Compression::None);
    for at in 21..batch.bytes.len() {
        let mut bytes = batch.bytes.to_vec();
        bytes[at] ^= 1;
        let flipped = Batch { header: batch.header.clone(), bytes: bytes.into() };
        assert_eq!(flipped.check_crc(), Err(BatchError::CrcMismatch));
    }
}

#[test]
fn counts_deltas_and_producer_fields_that_disagree_are_refused() {
    #[track_caller]
    fn refused(change: impl FnOnce(&mut Vec<u8>)) {
        let batch = tampered(&three_records(Compression::None), change);
        let outcome = batch.validate();
        assert!(matches!(outcome, Err(BatchError::BadHeader(_))), "{outcome:?}");
    }
    refused(|it| it[57..61].copy_from_slice(&0_i32.to_be_bytes()));
    refused(|it| it[57..61].copy_from_slice(&(-1_i32).to_be_bytes()));
    refused(|it| it[57..61].copy_from_slice(&i32::MAX.to_be_bytes()));
    refused(|it| it[57..61].copy_from_slice(&i32::MIN.to_be_bytes()));
    refused(|it| it[23..27].copy_from_slice(&3_i32.to_be_bytes()));
    refused(|it| it[23..27].copy_from_slice(&(-1_i32).to_be_bytes()));
    // A producer id without a sequence or an epoch, a transaction without a producer id.
    refused(|it| it[53..57].copy_from_slice(&(-1_i32).to_be_bytes()));
    refused(|it| it[51..53].copy_from_slice(&(-1_i16).to_be_bytes()));
    refused(|it| {
        it[43..51].copy_from_slice(&(-1_i64).to_be_bytes());
        it[22] |= 0x10;
    });
    refused(|it| it.push(0));
}

#[test]
fn an_unknown_codec_is_refused_and_a_compressed_batch_is_not_opened() {
    let batch = tampered(&simple(1), |it| it[22] = 7);
    assert_eq!(batch.validate(), Err(BatchError::UnknownCompression(7)));
    let garbage = tampered(&simple(1), |it| it[22] = 4);
    assert_eq!(garbage.validate(), Ok(()));
    assert!(matches!(garbage.decode(MAX_BYTES), Err(BatchError::Compression(_))));
}

#[test]
fn hostile_records_are_refused_without_a_large_allocation() {
    #[track_caller]
    fn refused(count: i32, records: &[u8]) {
        let batch = with_records(count, records);
        assert!(batch.validate().is_err());
        assert!(batch.decode(MAX_BYTES).is_err());
    }
    let plain = [12, 0, 0, 0, 1, 1, 0];
    assert_eq!(with_records(1, &plain).validate(), Ok(()));
    // More records than bytes; bytes after the records.
    refused(i32::MAX, &plain);
    refused(2, &plain);
    refused(1, &[plain, plain].concat());
    // Lengths: of the record (negative, too long, too short, endless), of key, value and headers.
    refused(1, &[1, 0, 0, 0, 1, 1, 0]);
    refused(1, &[14, 0, 0, 0, 1, 1, 0]);
    refused(1, &[10, 0, 0, 0, 1, 1, 0]);
    refused(1, &[0x80; 7]);
    refused(1, &[20, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0x0f, 1, 0]);
    refused(1, &[12, 0, 0, 0, 3, 1, 0]);
    refused(1, &[12, 0, 0, 0, 1, 3, 0]);
    // Header counts: negative, `i32::MAX`; a header without a name.
    refused(1, &[12, 0, 0, 0, 1, 1, 1]);
    refused(1, &[20, 0, 0, 0, 1, 1, 0xfe, 0xff, 0xff, 0xff, 0x0f]);
    refused(1, &[16, 0, 0, 0, 1, 1, 2, 1, 1]);
    // Offset deltas: of the wrong place, `i32::MAX`, negative.
    refused(1, &[12, 0, 0, 2, 1, 1, 0]);
    refused(1, &[20, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0x0f, 1, 1, 0]);
    refused(1, &[12, 0, 0, 1, 1, 1, 0]);
    refused(2, &[plain, plain].concat());
    // A timestamp delta beyond the end of time.
    refused(1, &[&[30, 0, 0xfe], &[0xff; 8][..], &[0x01, 0, 1, 1, 0]].concat());
}

#[test]
fn a_filtered_batch_keeps_its_place_and_its_sequences() {
    let original = three_records(Compression::Snappy);
    let decoded = original.decode(MAX_BYTES).unwrap();
    let mut builder = BatchBuilder::rebuild(&original.header, Compression::Snappy);
    builder.push(&decoded.record(1).unwrap().into());
    let filtered = builder.build().unwrap();

    filtered.check_crc().unwrap();
    assert_eq!(filtered.header.records_count, 1);
    assert_eq!(filtered.header.last_offset_delta, 2);
    assert_eq!(filtered.header.base_sequence, 5);
    assert_eq!(filtered.header.producer_id, Some(ProducerId(7)));
    assert_eq!(filtered.header.max_timestamp, TimestampMs(1_700_000_000_001));
    let record = filtered.decode(MAX_BYTES).unwrap();
    assert_eq!(record.record(0).unwrap().offset_delta(), 1);
}

fn recompressed(batch: &Batch, codec: Compression) -> Result<Batch, BatchError> {
    batch.records(MAX_BYTES)?.compressed(codec.into())
}

#[test]
fn a_codec_tries_as_hard_as_its_level_says() {
    let plain: Vec<u8> = (0_u32..40_000).flat_map(|it| (it * it % 1_009).to_le_bytes()).collect();
    for (codec, levels) in [(Compression::Gzip, [1, 9]), (Compression::Zstd, [-100, 19])] {
        let at = |level| compress(Codec::at(codec, level), &plain);
        let [fast, small] = levels.map(|it| at(Some(it)).len());
        assert!(small < fast, "{codec:?}: {small} and {fast}");
        for level in [None, Some(levels[0]), Some(levels[1])] {
            assert_eq!(decompress(codec, &at(level), MAX_BYTES).unwrap(), plain);
        }
        assert_eq!(at(None), compress(codec, &plain));
    }
    for level in 1..=22 {
        assert_eq!(Codec::at(Compression::Zstd, Some(level)).is_slow(), level > 9);
    }
}

#[test]
fn a_batch_in_another_codec_differs_in_its_codec_alone() {
    let plain = three_records(Compression::None);
    for from in Compression::ALL {
        for to in Compression::ALL {
            let again = recompressed(&three_records(from), to).unwrap();
            again.validate().unwrap();
            assert_eq!(again.header.attributes.compression(), Ok(to));
            let back = recompressed(&again, Compression::None).unwrap();
            assert_eq!(back.bytes, plain.bytes, "{from:?} to {to:?}");
        }
    }
    let refused = three_records(Compression::Gzip).records(3).unwrap_err();
    assert_eq!(refused, BatchError::Compression(CompressionError::TooLarge(3)));
}

#[test]
fn a_batch_that_is_no_good_inside_is_not_compressed_anew() {
    let mut builder = BatchBuilder::new(TimestampMs(0), Compression::Lz4).last_offset_delta(1);
    for _ in 0..2 {
        builder.push(&record(0, 0, None, None));
    }
    let batch = builder.build().unwrap();
    assert_eq!(batch.validate(), Ok(()), "nobody has looked inside yet");
    let refused = recompressed(&batch, Compression::None).unwrap_err();
    assert!(matches!(refused, BatchError::BadRecord { index: 1, .. }), "{refused}");
}

#[test]
fn nothing_pushed_is_no_batch() {
    assert!(BatchBuilder::new(TimestampMs(0), Compression::None).build().is_none());
}

#[test]
fn a_control_batch_stands_in_for_the_original_and_says_what_it_is() {
    let original = three_records(Compression::Gzip).header;
    for kind in [
        ControlType::Abort,
        ControlType::Commit,
        ControlType::Empty,
        ControlType::Route,
        ControlType::PendingAlert,
    ] {
        let batch = control_batch(&original, kind, b"where to");
        let again = split(batch.bytes.clone()).unwrap().remove(0);
        again.check_crc().unwrap();
        assert_eq!(again.header, batch.header);
        assert_eq!(again.header.last_sequence(), original.last_sequence());
        assert_eq!(again.header.max_timestamp, original.max_timestamp);
        assert_eq!(again.header.last_offset_delta, 2);
        assert_eq!(again.control(), Some((kind, Bytes::from_static(b"where to"))));
    }
    assert_eq!(three_records(Compression::None).control(), None);
    let unknown = tampered(&control_batch(&original, ControlType::Empty, b""), |it| {
        it[HEADER_BYTES + 9] = 0x77;
    });
    assert_eq!(unknown.control(), None);
}
