//! The batch that a producer sends again and again, encoded once.

use anyhow::Result;
use bytes::{BufMut, Bytes, BytesMut};
use clap::ValueEnum;
use kafka_protocol::{
    indexmap::IndexMap,
    protocol::buf::ByteBuf as _,
    records::{
        Compression, NO_PARTITION_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE,
        Record, RecordBatchEncoder, RecordEncodeOptions, TimestampType,
    },
};
use std::{
    io::Write as _,
    time::{SystemTime, UNIX_EPOCH},
};

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Codec {
    None,
    Lz4,
    Zstd,
}

impl From<Codec> for Compression {
    fn from(codec: Codec) -> Self {
        match codec {
            Codec::None => Self::None,
            Codec::Lz4 => Self::Lz4,
            Codec::Zstd => Self::Zstd,
        }
    }
}

/// `records` records of `record_bytes` each, without keys.
pub(crate) fn encode(records: u32, record_bytes: usize, codec: Codec) -> Result<Bytes> {
    let timestamp = now_ms()?;
    let mut letters = Letters(0x9e37_79b9_7f4a_7c15);
    let records: Vec<_> = (0..records)
        .map(|index| record(i64::from(index), timestamp, letters.take(record_bytes)))
        .collect();
    let options = RecordEncodeOptions { version: 2, compression: codec.into() };
    let mut batch = BytesMut::new();
    RecordBatchEncoder::encode_with_custom_compression(
        &mut batch,
        &records,
        &options,
        Some(compress),
    )?;
    Ok(batch.freeze())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the clock of the machine is what producers stamp records with"
)]
fn now_ms() -> Result<i64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as i64)
}

fn record(index: i64, timestamp: i64, value: Bytes) -> Record {
    Record {
        transactional: false,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: NO_PARTITION_LEADER_EPOCH,
        producer_id: NO_PRODUCER_ID,
        producer_epoch: NO_PRODUCER_EPOCH,
        timestamp_type: TimestampType::Creation,
        offset: index,
        // The encoder puts records into one batch while their offsets and sequences rise together.
        sequence: NO_SEQUENCE.wrapping_add(index as i32),
        timestamp,
        key: None,
        value: Some(value),
        headers: IndexMap::new(),
    }
}

fn compress(records: &mut BytesMut, batch: &mut BytesMut, codec: Compression) -> Result<()> {
    let records = records.get_bytes(records.len());
    match codec {
        Compression::Lz4 => {
            let mut frame = lz4_flex::frame::FrameEncoder::new(batch.writer());
            frame.write_all(&records)?;
            frame.finish()?;
        }
        Compression::Zstd => batch.put_slice(&zstd::bulk::compress(&records, 3)?),
        _ => batch.put_slice(&records),
    }
    Ok(())
}

/// Capital letters by xorshift, like the payloads of Kafka's own `ProducerPerformance`.
struct Letters(u64);

impl Letters {
    fn take(&mut self, bytes: usize) -> Bytes {
        (0..bytes).map(|_| self.next()).collect()
    }

    fn next(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        b'A' + (self.0 % 26) as u8
    }
}
