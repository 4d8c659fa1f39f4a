//! What is checked of a batch before anything else looks at it. Pure.

use bytes::Bytes;

use super::{ProduceError, timestamps::check_timestamps};
use crate::{
    base::TimestampMs,
    config::TopicConfig,
    log::is_derived,
    wire::record_batch::{Batch, split},
};

/// The one batch of a partition's produce data, checked as a leader checks a client's batch.
pub(crate) fn admit(records: Bytes) -> Result<Batch, ProduceError> {
    let mut batches = split(records)?;
    let (Some(batch), true) = (batches.pop(), batches.is_empty()) else {
        return Err(ProduceError::NotOneBatch);
    };
    may_come_from_a_client(&batch)?;
    batch.validate()?;
    Ok(batch)
}

/// What the topic's configs say of it. Not asked of a batch that is stored already: configs may have changed since, and
/// time has gone on.
pub(crate) fn fits(
    batch: &Batch,
    config: &TopicConfig,
    now: TimestampMs,
) -> Result<(), ProduceError> {
    let (size, max) = (batch.bytes.len(), config.max_message_bytes);
    if size > max {
        return Err(ProduceError::TooLarge { size, max });
    }
    check_timestamps(batch, config, now)
}

/// The same of what hooks made of a batch: in the topic's codec it may be no larger than any other batch, as in Kafka. In its own
/// codec it may outgrow the limit, which the producer has kept to, but not what one answer to a fetch carries: clients could not
/// read that.
pub(crate) fn fits_rebuilt(
    rebuilt: &Batch,
    received: &Batch,
    config: &TopicConfig,
    answer_bytes_max: usize,
) -> Result<(), ProduceError> {
    let has_codec =
        rebuilt.header.attributes.compression()? == received.header.attributes.compression()?;
    let grown_max = if has_codec { answer_bytes_max } else { 0 };
    let (size, max) = (rebuilt.bytes.len(), config.max_message_bytes.max(grown_max));
    if size > max { Err(ProduceError::TooLarge { size, max }) } else { Ok(()) }
}

fn may_come_from_a_client(batch: &Batch) -> Result<(), ProduceError> {
    if batch.header.attributes.is_control() {
        return Err(ProduceError::InvalidRequest("clients may not write control batches"));
    }
    if batch.header.base_offset.0 != 0 {
        return Err(ProduceError::InvalidRequest("a producer's batch begins at offset 0"));
    }
    if batch.header.attributes.is_transactional() {
        return Err(ProduceError::Transactional);
    }
    match batch.header.producer_id {
        Some(id) if is_derived(id) => {
            Err(ProduceError::InvalidRequest("the producer id was never given to a client"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::{ProducerEpoch, ProducerId},
        config::{Config, TopicConfigs},
        wire::record_batch::{BatchBuilder, Compression, ControlType, RecordParts, control_batch},
    };

    const NOW: TimestampMs = TimestampMs(1_000_000_000);

    fn batch(producer_id: i64, made_at: i64) -> Batch {
        let builder = BatchBuilder::new(TimestampMs(made_at), Compression::None);
        let mut builder = builder.producer(ProducerId(producer_id), ProducerEpoch(0), 0);
        builder.push(&RecordParts {
            offset_delta: 0,
            timestamp_delta: 0,
            key: None,
            value: Some(b"value"),
            headers: Vec::new(),
        });
        builder.build().unwrap()
    }

    fn config() -> TopicConfig {
        TopicConfig::resolve(&Config::default(), &"t".into(), &TopicConfigs::new())
    }

    #[track_caller]
    fn refused(bytes: Bytes, want: &str) {
        let error = admit(bytes).expect_err(want).to_string();
        assert!(error.contains(want), "{error}");
    }

    #[test]
    fn one_good_batch_of_a_client_is_taken() {
        assert!(admit(batch(7, NOW.0).bytes).is_ok());
    }

    #[test]
    fn what_no_client_may_send_is_refused() {
        let good = batch(7, NOW.0);
        let two = [&good.bytes[..], &good.bytes[..]].concat();
        refused(two.into(), "exactly one batch");
        refused(Bytes::new(), "exactly one batch");
        let control = control_batch(&good.header, ControlType::Route, b"");
        refused(control.bytes, "control batches");
        let mut elsewhere = good.bytes.to_vec();
        elsewhere[7] = 1;
        refused(elsewhere.into(), "begins at offset 0");
        refused(batch(1 << 62 | 7, NOW.0).bytes, "never given to a client");
        let mut torn = good.bytes.to_vec();
        *torn.last_mut().unwrap() ^= 1;
        refused(torn.into(), "CRC");
    }

    #[test]
    fn what_hooks_make_of_a_batch_can_be_read_and_in_the_topics_codec_is_as_small_as_any() {
        let of = |value: &[u8], codec| {
            let mut builder = BatchBuilder::new(NOW, codec);
            builder.push(&RecordParts {
                offset_delta: 0,
                timestamp_delta: 0,
                key: None,
                value: Some(value),
                headers: Vec::new(),
            });
            builder.build().unwrap()
        };
        let config = TopicConfig { max_message_bytes: 1_000, ..config() };
        let received = of(&[b'x'; 500], Compression::None);
        for (value_bytes, codec, answer_bytes_max, fits) in [
            (500, Compression::None, 900, true),
            (5_000, Compression::None, 10_000, true),
            (5_000, Compression::None, 5_000, false),
            (5_000, Compression::Lz4, 10_000, true),
            (5_000, Compression::Gzip, 10_000, true),
        ] {
            let rebuilt = of(&vec![b'x'; value_bytes], codec);
            let fitted = fits_rebuilt(&rebuilt, &received, &config, answer_bytes_max);
            assert_eq!(fitted.is_ok(), fits, "{value_bytes} bytes, {codec:?}");
        }
        let small = of(&[b'x'; 5_000], Compression::Lz4);
        let anew = of(&[b'x'; 5_000], Compression::None);
        let refused = fits_rebuilt(&anew, &small, &config, 10_000);
        assert!(matches!(refused, Err(ProduceError::TooLarge { max: 1_000, .. })));
    }

    #[test]
    fn the_size_is_held_against_the_topics_configs() {
        let small = TopicConfig { max_message_bytes: 60, ..config() };
        let error = fits(&batch(7, NOW.0), &small, NOW).unwrap_err().to_string();
        assert!(error.contains("max.message.bytes is 60"), "{error}");
    }
}
