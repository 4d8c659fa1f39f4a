//! `.snapshot`: the producers' state at the offset in the file's name. First Kafka's format, then Klamm's own part,
//! which Kafka's tools skip although their CRC covers it.
//!
//! | field                | type  | bytes | since | meaning                                               |
//! |----------------------|-------|------:|-------|-------------------------------------------------------|
//! | version              | i16   |     2 | Kafka | 1                                                     |
//! | crc                  | u32   |     4 | Kafka | CRC-32C of everything after it                        |
//! | count                | i32   |     4 | Kafka | producers                                             |
//! | *a producer:*        |       |    46 | Kafka |                                                       |
//! | producerId           | i64   |     8 | Kafka |                                                       |
//! | epoch                | i16   |     2 | Kafka |                                                       |
//! | lastSequence         | i32   |     4 | Kafka | −1 for none                                           |
//! | lastOffset           | i64   |     8 | Kafka | −1 for none                                           |
//! | offsetDelta          | i32   |     4 | Kafka | of the last batch                                     |
//! | timestamp            | i64   |     8 | Kafka | when something of the producer was last stored        |
//! | coordinatorEpoch     | i32   |     4 | Kafka | −1                                                    |
//! | currentTxnFirstOffset| i64   |     8 | Kafka | −1                                                    |
//! | mark                 | bytes |     4 | 1     | `KLMM`                                                |
//! | version              | i16   |     2 | 1     | 2                                                     |
//! | *for each producer, in the same order:* | | | |                                                        |
//! | batches              | i8    |     1 | 1     | at most 5, the oldest first                           |
//! | *a batch:* baseSequence, lastSequence | i32, i32 | 8 | 1 |                                               |
//! | baseOffset, lastOffset, timestamp | i64 × 3 | 24 | 1 |                                                   |
//! | unfinishedRoute      | i8    |     1 | 2     | 1 for a route record whose parts may not all be stored |

use bytes::{Buf, BufMut};

use super::producer_state::{BATCHES_KEPT, ProducerEntry, ProducerStates, StoredBatch};
use crate::base::{Offset, ProducerEpoch, ProducerId, TimestampMs};

const VERSION: i16 = 1;
const CRC_END: usize = 6;
const MARK: &[u8; 4] = b"KLMM";
const OWN_VERSION: i16 = 2;

pub(super) fn encode(states: &ProducerStates) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_i16(VERSION);
    out.put_u32(0);
    out.put_i32(states.0.len() as i32);
    for (id, entry) in &states.0 {
        put_producer(&mut out, *id, entry);
    }
    out.put_slice(MARK);
    out.put_i16(OWN_VERSION);
    for entry in states.0.values() {
        put_batches(&mut out, entry);
    }
    let (head, rest) = out.split_at_mut(CRC_END);
    let crc = crc32c::crc32c(rest);
    if let Some(field) = head.get_mut(2..) {
        field.copy_from_slice(&crc.to_be_bytes());
    }
    out
}

fn put_producer(out: &mut Vec<u8>, id: ProducerId, entry: &ProducerEntry) {
    let last = entry.batches.back();
    out.put_i64(id.0);
    out.put_i16(entry.epoch.0);
    out.put_i32(last.map_or(-1, |it| it.last_sequence));
    out.put_i64(last.map_or(-1, |it| it.last_offset.0));
    out.put_i32(last.map_or(0, |it| (it.last_offset - it.base_offset) as i32));
    out.put_i64(entry.seen.0);
    out.put_i32(-1);
    out.put_i64(-1);
}

fn put_batches(out: &mut Vec<u8>, entry: &ProducerEntry) {
    out.put_i8(entry.batches.len() as i8);
    for batch in &entry.batches {
        out.put_i32(batch.base_sequence);
        out.put_i32(batch.last_sequence);
        out.put_i64(batch.base_offset.0);
        out.put_i64(batch.last_offset.0);
        out.put_i64(batch.timestamp.0);
        out.put_i8(batch.unfinished_route.into());
    }
}

/// `None` for a file that is no whole snapshot: it is then as if it did not exist.
pub(super) fn decode(bytes: &[u8]) -> Option<ProducerStates> {
    let mut input = bytes;
    let is_ours = input.try_get_i16().ok()? == VERSION;
    let crc = input.try_get_u32().ok()?;
    if !is_ours || crc32c::crc32c(input) != crc {
        return None;
    }
    let count = usize::try_from(input.try_get_i32().ok()?).ok()?;
    let mut producers = Vec::new();
    for _ in 0..count {
        producers.push(get_producer(&mut input)?);
    }
    if input.starts_with(MARK) {
        input.advance(MARK.len());
        get_own_part(&mut input, &mut producers)?;
    }
    Some(ProducerStates(producers.into_iter().collect()))
}

fn get_producer(input: &mut &[u8]) -> Option<(ProducerId, ProducerEntry)> {
    let id = ProducerId(input.try_get_i64().ok()?);
    let epoch = ProducerEpoch(input.try_get_i16().ok()?);
    let last_sequence = input.try_get_i32().ok()?;
    let last_offset = input.try_get_i64().ok()?;
    let offset_delta = input.try_get_i32().ok()?;
    let seen = TimestampMs(input.try_get_i64().ok()?);
    let (_coordinator_epoch, _txn) = (input.try_get_i32().ok()?, input.try_get_i64().ok()?);
    let mut entry = ProducerEntry { epoch, seen, batches: [].into() };
    if last_sequence >= 0 {
        entry.push(StoredBatch {
            base_sequence: last_sequence.wrapping_sub(offset_delta) & i32::MAX,
            last_sequence,
            base_offset: Offset(last_offset.saturating_sub(i64::from(offset_delta))),
            last_offset: Offset(last_offset),
            timestamp: seen,
            unfinished_route: false,
        });
    }
    Some((id, entry))
}

fn get_own_part(input: &mut &[u8], producers: &mut [(ProducerId, ProducerEntry)]) -> Option<()> {
    if input.try_get_i16().ok()? != OWN_VERSION {
        return None;
    }
    for (_, entry) in producers {
        entry.batches.clear();
        let count = usize::try_from(input.try_get_i8().ok()?).ok()?;
        for _ in 0..count.min(BATCHES_KEPT) {
            entry.push(get_batch(input)?);
        }
    }
    Some(())
}

fn get_batch(input: &mut &[u8]) -> Option<StoredBatch> {
    Some(StoredBatch {
        base_sequence: input.try_get_i32().ok()?,
        last_sequence: input.try_get_i32().ok()?,
        base_offset: Offset(input.try_get_i64().ok()?),
        last_offset: Offset(input.try_get_i64().ok()?),
        timestamp: TimestampMs(input.try_get_i64().ok()?),
        unfinished_route: input.try_get_i8().ok()? != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states() -> ProducerStates {
        let batch = |sequence, unfinished_route| StoredBatch {
            base_sequence: sequence,
            last_sequence: sequence + 2,
            base_offset: Offset(100),
            last_offset: Offset(102),
            timestamp: TimestampMs(7),
            unfinished_route,
        };
        let entry = ProducerEntry {
            epoch: ProducerEpoch(3),
            seen: TimestampMs(9),
            batches: [batch(0, false), batch(3, true)].into(),
        };
        ProducerStates([(ProducerId(1 << 62 | 5), entry)].into())
    }

    #[test]
    fn a_snapshot_keeps_every_batch_and_whether_it_is_an_unfinished_route() {
        assert_eq!(decode(&encode(&states())), Some(states()));
    }

    #[test]
    fn a_damaged_or_cut_snapshot_is_none() {
        let whole = encode(&states());
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            assert_eq!(decode(&flipped), None, "bit of byte {at}");
            assert_eq!(decode(&whole[..at]), None, "cut at {at}");
        }
    }

    #[test]
    fn kafkas_own_snapshot_gives_the_last_batch() {
        let mut file = vec![0, 1, 0, 0, 0, 0, 0, 0, 0, 1];
        put_producer(&mut file, ProducerId(4), states().0.values().next().unwrap());
        let crc = crc32c::crc32c(&file[CRC_END..]);
        file[2..CRC_END].copy_from_slice(&crc.to_be_bytes());

        let decoded = decode(&file).unwrap();

        let batches = &decoded.0[&ProducerId(4)].batches;
        assert_eq!(batches.len(), 1);
        assert_eq!((batches[0].base_sequence, batches[0].last_sequence), (3, 5));
    }
}
