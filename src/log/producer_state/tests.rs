//! Sequences and epochs of producers: what follows, what is a duplicate, what is refused.

use super::*;
use crate::{base::LeaderEpoch, wire::record_batch::Attributes};

const NOW: TimestampMs = TimestampMs(1_000);

/// A batch of two records.
fn header(producer_id: i64, epoch: i16, base_sequence: i32) -> BatchHeader {
    BatchHeader {
        base_offset: Offset(0),
        batch_length: 49,
        partition_leader_epoch: LeaderEpoch(0),
        crc: 0,
        attributes: Attributes(0),
        last_offset_delta: 1,
        base_timestamp: NOW,
        max_timestamp: NOW,
        producer_id: Some(producer_id).filter(|&it| it >= 0).map(ProducerId),
        producer_epoch: ProducerEpoch(epoch),
        base_sequence,
        records_count: 2,
    }
}

/// States after batches of two records of producer 1, by (epoch, sequence).
fn after(producer_id: i64, batches: &[(i16, i32)]) -> ProducerStates {
    let mut states = ProducerStates::default();
    for (at, &(epoch, sequence)) in batches.iter().enumerate() {
        let base_offset = Offset(at as i64 * 2);
        states.note(
            &BatchHeader { base_offset, ..header(producer_id, epoch, sequence) },
            false,
            NOW,
        );
    }
    states
}

/// The verdict in short: `new`, `dup OFFSET`, `order` or `fenced`.
#[track_caller]
fn check(states: &ProducerStates, producer_id: i64, epoch: i16, sequence: i32, want: &str) {
    let got = match states.check(&header(producer_id, epoch, sequence)) {
        Ok(ProducerCheck::New) => "new".into(),
        Ok(ProducerCheck::Duplicate(stored)) => format!("dup {}", stored.base_offset.0),
        Err(LogError::OutOfOrderSequence { .. }) => "order".into(),
        Err(LogError::InvalidProducerEpoch { .. }) => "fenced".into(),
        Err(error) => error.to_string(),
    };
    assert_eq!(got, want, "epoch {epoch} sequence {sequence}");
}

#[test]
fn a_batch_follows_the_last_one_or_is_known_or_is_refused() {
    let states = after(1, &[(0, 0), (0, 2), (0, 4)]);
    for (sequence, want) in
        [(6, "new"), (4, "dup 4"), (0, "dup 0"), (5, "order"), (8, "order"), (1, "order")]
    {
        check(&states, 1, 0, sequence, want);
    }
}

#[test]
fn an_unknown_producer_may_begin_anywhere() {
    check(&ProducerStates::default(), 1, 3, 44, "new");
    check(&after(1, &[(0, 0)]), -1, -1, -1, "new");
}

#[test]
fn a_new_epoch_begins_at_zero_and_an_old_one_is_fenced() {
    let states = after(1, &[(3, 0), (3, 2)]);
    check(&states, 1, 4, 0, "new");
    check(&states, 1, 4, 4, "order");
    check(&states, 1, 2, 4, "fenced");
    let states = after(1, &[(3, 0), (4, 0)]);
    check(&states, 1, 4, 0, "dup 2");
    check(&states, 1, 3, 2, "fenced");
}

#[test]
fn sequences_wrap_around() {
    let states = after(1, &[(0, i32::MAX - 1)]);
    check(&states, 1, 0, 0, "new");
    let states = after(1, &[(0, i32::MAX)]);
    check(&states, 1, 0, 1, "new");
    check(&states, 1, 0, i32::MAX, "dup 0");
}

#[test]
fn only_the_newest_five_are_remembered() {
    let states = after(1, &[(0, 0), (0, 2), (0, 4), (0, 6), (0, 8), (0, 10)]);
    check(&states, 1, 0, 0, "order");
    check(&states, 1, 0, 2, "dup 2");
}

#[test]
fn a_marker_raises_the_epoch_and_counts_in_no_sequence() {
    let mut states = after(1, &[(0, 0)]);
    states.note(&header(1, 0, -1), false, NOW);
    check(&states, 1, 0, 2, "new");
    states.note(&header(1, 1, -1), false, NOW);
    check(&states, 1, 0, 2, "fenced");
    check(&states, 1, 1, 0, "new");
}

#[test]
fn a_part_is_known_by_its_sequence_and_nothing_must_follow() {
    let id = 1 << 62 | 5;
    let states = after(id, &[(0, 10), (0, 40), (0, 90)]);
    for (sequence, want) in
        [(91, "new"), (5_000, "new"), (90, "dup 4"), (40, "dup 2"), (10, "dup 0")]
    {
        check(&states, id, 0, sequence, want);
    }
    check(&states, id, 1, 90, "new");
    check(&states, id, -1, 95, "fenced");
}

#[test]
fn a_part_is_new_however_many_records_its_producer_sent_elsewhere_before() {
    let (id, last) = (1 << 62, 7);
    let states = after(id, &[(0, last)]);
    for gap in [2, 1 << 30, 2_013_265_920, 2_100_000_000, i32::MAX] {
        check(&states, id, 0, last.wrapping_add(gap) & i32::MAX, "new");
    }
    check(&states, id, 0, last, "dup 0");
}
