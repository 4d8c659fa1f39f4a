//! Any answer, in pieces, is the frame that the crate would have made of it with its records inside.

use kafka_protocol::{
    messages::{
        BrokerId,
        fetch_response::{
            AbortedTransaction, EpochEndOffset, FetchableTopicResponse, NodeEndpoint, PartitionData,
        },
    },
    protocol::StrBytes,
};
use proptest::{collection::vec, option, prelude::*};

use super::*;

/// A partition's records by their number, `None` for none; whether it diverged; its aborted transactions.
type Part = (Option<usize>, bool, Option<usize>);

fn partition(
    version: i16,
    index: usize,
    part: &Part,
    with: impl Fn(usize) -> Bytes,
) -> PartitionData {
    let &(records, diverged, aborted) = part;
    let diverging = EpochEndOffset::default().with_epoch(3).with_end_offset(9);
    let aborted = aborted.map(|it| vec![AbortedTransaction::default().with_first_offset(4); it]);
    let mut data = PartitionData::default()
        .with_partition_index(index as i32)
        .with_high_watermark(i64::MAX / 3)
        .with_aborted_transactions(aborted)
        .with_records(Some(records.map_or_else(Bytes::new, with)));
    // Who diverged gets no records.
    if diverged && records.is_none() && version >= FLEXIBLE_SINCE {
        data.diverging_epoch = diverging;
    }
    data
}

fn response(
    version: i16,
    topics: &[Vec<Part>],
    endpoints: usize,
    with: impl Fn(usize) -> Bytes,
) -> FetchResponse {
    let topic = |parts: &Vec<Part>| {
        let parts = parts.iter().enumerate();
        let topic = FetchableTopicResponse::default();
        let topic = if version < 13 {
            topic.with_topic(StrBytes::from("a topic".to_owned()).into())
        } else {
            topic
        };
        topic.with_partitions(parts.map(|(at, it)| partition(version, at, it, &with)).collect())
    };
    let endpoint = NodeEndpoint::default()
        .with_node_id(BrokerId(3))
        .with_host(StrBytes::from("host".to_owned()));
    let endpoints = if version >= 16 { vec![endpoint; endpoints] } else { Vec::new() };
    FetchResponse::default()
        .with_responses(topics.iter().map(topic).collect())
        .with_node_endpoints(endpoints)
}

fn records_of(length: usize) -> Bytes {
    (0..length).map(|it| (it * 7) as u8).collect()
}

proptest! {
    #[test]
    fn pieces_and_records_are_the_frame_of_the_crate(
        topics in vec(vec((option::of(1_usize..20_000), any::<bool>(), option::of(0_usize..3)), 0..5), 0..4),
        endpoints in 0_usize..3,
        correlation_id: i32,
    ) {
        let lengths: Vec<_> = topics.iter().flatten().filter_map(|it| it.0).collect();
        for version in 4..=18 {
            let header_version = i16::from(version >= FLEXIBLE_SINCE);
            let body = response(version, &topics, endpoints, |_| STAND_IN);
            let pieces =
                encode_around(correlation_id, header_version, &body, version, &lengths).unwrap();
            prop_assert_eq!(pieces.len(), lengths.len() + 1);

            let mut frame = pieces[0].to_vec();
            for (&length, piece) in lengths.iter().zip(&pieces[1..]) {
                frame.extend_from_slice(&records_of(length));
                frame.extend_from_slice(piece);
            }
            let whole = response(version, &topics, endpoints, records_of);
            let want = encode_response(correlation_id, header_version, &whole, version).unwrap();
            prop_assert!(want == frame, "version {}", version);
        }
    }
}

#[test]
fn as_many_records_as_stand_ins_or_no_frame() {
    let topics = [vec![(Some(1), false, None), (None, false, None)]];
    for version in [4, 18] {
        let body = response(version, &topics, 0, |_| STAND_IN);
        for (lengths, is_ok) in [(&[5][..], true), (&[], false), (&[5, 5], false)] {
            assert_eq!(encode_around(1, 0, &body, version, lengths).is_ok(), is_ok, "{version}");
        }
        assert!(encode_around(1, 0, &body, version, &[usize::MAX]).is_err());
    }
}

#[test]
fn an_answer_of_more_than_2_gib_is_no_frame() {
    let body = response(18, &[vec![(Some(1), false, None); 2]], 0, |_| STAND_IN);
    assert!(encode_around(1, 1, &body, 18, &[i32::MAX as usize / 2; 2]).is_err());
    assert!(encode_around(1, 1, &body, 18, &[i32::MAX as usize / 2, 1]).is_ok());
}
