//! A batch whose records are looked at on its way in: of a compacted topic, for their keys, and in a codec that is not the
//! topic's, to be compressed anew.
//!
//! Rule: a batch is expanded once, and not to please a check: any other compressed batch is believed what its header says. Of one
//! that is expanded the records count, as in Kafka, and what is stored tells their largest timestamp.

use super::{
    ProduceError,
    expansion::Expansion,
    keys::Keyless,
    long_work::long_work,
    timestamps::{Times, is_stamped_here},
};
use crate::{
    base::{TimestampMs, TopicPartition},
    config::TopicConfig,
    wire::record_batch::{Batch, BatchError, Codec, Records},
};

/// Where a batch is going, and when.
#[derive(Clone, Copy)]
pub(crate) struct Inspection<'a> {
    pub(crate) partition: &'a TopicPartition,
    pub(crate) config: &'a TopicConfig,
    pub(crate) now: TimestampMs,
}

/// What the records of a batch are.
struct Seen<'a> {
    keyless: Keyless,
    times: Times<'a>,
}

impl Inspection<'_> {
    /// The batch as it is to be stored; as received wherever that will do.
    pub(crate) async fn of(
        &self,
        batch: Batch,
        expansion: &Expansion,
    ) -> Result<Batch, ProduceError> {
        let codec = codec(&batch, self.config)?;
        let has_codec = codec.compression == batch.header.attributes.compression()?;
        if has_codec && !self.config.cleanup_policy.compact {
            return Ok(batch);
        }
        let look = |bytes_max| {
            let records = batch.records(bytes_max)?;
            let seen = self.look_at(&batch, &records)?;
            let stays = has_codec && self.is_told(&batch, &seen);
            let made_anew = (!stays && seen.is_good()).then(|| compressed(&records, codec));
            Ok((seen, made_anew.transpose()?))
        };
        let (seen, made_anew) = expansion.of(&batch, look).await?;
        seen.keyless.refuse(self.partition)?;
        seen.times.refuse()?;
        let Some(made_anew) = made_anew else { return Ok(batch) };
        // As in Kafka, what is stored has to fit too.
        let (size, max) = (made_anew.bytes.len(), self.config.max_message_bytes);
        if size > max { Err(ProduceError::TooLarge { size, max }) } else { Ok(made_anew) }
    }

    fn look_at(&self, batch: &Batch, records: &Records) -> Result<Seen<'_>, BatchError> {
        let times = Times::new(batch.header.base_timestamp, self.config, self.now);
        let mut seen = Seen { keyless: Keyless::default(), times };
        records.for_each(|record| {
            if self.config.cleanup_policy.compact && record.key().is_none() {
                seen.keyless.note(record.index);
            }
            seen.times.note(record.index, record.timestamp_delta());
        })?;
        Ok(seen)
    }

    /// Whether the header tells the largest timestamp, or will be told it.
    fn is_told(&self, batch: &Batch, seen: &Seen<'_>) -> bool {
        is_stamped_here(self.config) || seen.times.largest() == batch.header.max_timestamp
    }
}

impl Seen<'_> {
    fn is_good(&self) -> bool {
        self.keyless.is_empty() && self.times.are_near()
    }
}

fn compressed(records: &Records, codec: Codec) -> Result<Batch, BatchError> {
    // However little it is.
    let bytes = if codec.is_slow() { usize::MAX } else { 0 };
    long_work(bytes, || records.compressed(codec))
}

/// The codec of a rebuilt batch: its own, unless `compression.type` says otherwise.
pub(crate) fn codec(batch: &Batch, config: &TopicConfig) -> Result<Codec, ProduceError> {
    let own = batch.header.attributes.compression()?;
    Ok(config.codec(config.compression_type.unwrap_or(own)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{Config, TopicConfigs},
        wire::record_batch::{BatchBuilder, Compression, RecordParts},
    };

    const NOW: i64 = 1_000_000_000;

    fn batch(codec: Compression, value: &[u8], timestamps: &[i64]) -> Batch {
        let mut builder = BatchBuilder::new(TimestampMs(NOW), codec);
        for (offset_delta, at) in (0..).zip(timestamps) {
            builder.push(&RecordParts {
                offset_delta,
                timestamp_delta: at - NOW,
                key: Some(b"key"),
                value: Some(value),
                headers: Vec::new(),
            });
        }
        builder.build().unwrap()
    }

    fn config(own: &[(&str, &str)]) -> TopicConfig {
        let own: TopicConfigs = own.iter().map(|&(it, value)| (it.into(), value.into())).collect();
        TopicConfig::resolve(&Config::default(), &"t".into(), &own)
    }

    async fn inspected(batch: &Batch, config: &TopicConfig) -> Result<Batch, ProduceError> {
        let partition = TopicPartition::new("t", 0);
        let inspection = Inspection { partition: &partition, config, now: TimestampMs(NOW) };
        inspection.of(batch.clone(), &Expansion::new(1 << 20)).await
    }

    #[tokio::test]
    async fn a_batch_fits_its_topic_in_the_topics_codec_too() {
        let batch = batch(Compression::Zstd, &[b'x'; 5_000], &[NOW]);
        for (codec, max, fits) in
            [("uncompressed", "6000", true), ("uncompressed", "4000", false), ("lz4", "4000", true)]
        {
            let config = config(&[("compression.type", codec), ("max.message.bytes", max)]);
            match inspected(&batch, &config).await {
                Ok(it) => assert!(fits && it.header.attributes.compression().is_ok()),
                Err(ProduceError::TooLarge { .. }) => assert!(!fits),
                Err(other) => panic!("{other}"),
            }
        }
    }

    #[tokio::test]
    async fn a_topics_codec_takes_the_place_of_the_producers() {
        let sent = batch(Compression::Gzip, b"value", &[NOW]);
        for (asked, codec) in [
            ("producer", Compression::Gzip),
            ("gzip", Compression::Gzip),
            ("zstd", Compression::Zstd),
            ("lz4", Compression::Lz4),
            ("snappy", Compression::Snappy),
            ("uncompressed", Compression::None),
        ] {
            let stored = inspected(&sent, &config(&[("compression.type", asked)])).await.unwrap();
            assert_eq!(stored.header.attributes.compression(), Ok(codec), "{asked}");
            assert_eq!(stored.bytes == sent.bytes, codec == Compression::Gzip, "{asked}");
        }
    }

    #[tokio::test]
    async fn what_is_compressed_anew_is_as_small_as_its_level_makes_it() {
        let value: Vec<u8> =
            (0_u32..20_000).flat_map(|it| (it * it % 1_009).to_le_bytes()).collect();
        let sent = batch(Compression::None, &value, &[NOW]);
        for (codec, name, [fast, small]) in [
            ("gzip", "compression.gzip.level", ["1", "9"]),
            ("zstd", "compression.zstd.level", ["-100", "19"]),
        ] {
            let size = async |level| {
                let config = config(&[("compression.type", codec), (name, level)]);
                inspected(&sent, &config).await.unwrap().bytes.len()
            };
            assert!(size(small).await < size(fast).await, "{codec}");
        }
    }

    /// A batch whose header hides when its records were made.
    fn lying(codec: Compression, made_at: i64) -> Batch {
        let honest = batch(codec, b"value", &[NOW, made_at, NOW]);
        let told = batch(codec, b"value", &[NOW, NOW, NOW]).header;
        let mut bytes = honest.bytes.to_vec();
        bytes[35..43].copy_from_slice(&told.max_timestamp.0.to_be_bytes());
        let crc = crc32c::crc32c(&bytes[21..]);
        bytes[17..21].copy_from_slice(&crc.to_be_bytes());
        let batch = crate::wire::record_batch::split(bytes.into()).unwrap().remove(0);
        batch.validate().unwrap();
        batch
    }

    #[tokio::test]
    async fn of_an_expanded_batch_the_records_times_count_and_not_the_headers() {
        let limits = [
            ("message.timestamp.before.max.ms", "1000"),
            ("message.timestamp.after.max.ms", "1000"),
        ];
        let compacted = ("cleanup.policy", "compact");
        let recompressed = ("compression.type", "zstd");
        for how in [compacted, recompressed] {
            let config = config(&[limits[0], limits[1], how]);
            for made_at in [5, NOW + 1_001] {
                let refused =
                    inspected(&lying(Compression::Lz4, made_at), &config).await.unwrap_err();
                let ProduceError::InvalidTimestamp { timestamp, records } = refused else {
                    panic!("{refused}")
                };
                assert_eq!((timestamp, records.len(), records[0].index), (made_at, 1, 1));
            }
            let stored = inspected(&lying(Compression::Lz4, NOW + 7), &config).await.unwrap();
            assert_eq!(stored.header.max_timestamp, TimestampMs(NOW + 7), "the log goes by it");
            stored.validate().unwrap();
        }
        let untouched = lying(Compression::Lz4, NOW + 1_001);
        let stored = inspected(&untouched, &config(&limits)).await.unwrap();
        assert_eq!(stored.bytes, untouched.bytes, "nobody looks into it");
    }
}
