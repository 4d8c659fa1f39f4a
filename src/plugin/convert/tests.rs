//! Cutting, columns, and answers that do not add up.

use proptest::prelude::*;

use super::*;
use crate::{
    base::{MemberId, TopicName},
    plugin::{
        bindings::{
            assignor::exports::klamm::plugin::assignor::{Assignment, TopicPartitionsResult},
            transform::exports::klamm::plugin::transform::{Alert, Output, Replacements, Severity},
        },
        failure::FailureKind,
        hook::{GroupSnapshot, PartitionerInput, RecordAction, Replacement, TransformInput},
        smoke::{self, KeyValue},
    },
};

fn all_needs() -> Needs {
    Needs { keys: true, values: true, headers: true, timestamps: true }
}

proptest! {
    #[test]
    fn calls_cover_a_batch_in_order_and_stay_within_their_limits(
        sizes in prop::collection::vec(prop_oneof![9 => 0_usize..200, 1 => 0_usize..400_000], 0..2_500)
    ) {
        let longest = vec![0; 400_000];
        let records: Vec<KeyValue<'_>> = sizes.iter().map(|&size| (None, Some(&longest[..size]))).collect();
        let calls = calls(&smoke::batch(&records));
        let mut next = 0;
        for call in &calls {
            prop_assert_eq!(call.start, next);
            let bytes: usize = sizes[call.clone()].iter().sum();
            prop_assert!(call.len() == 1 || bytes <= CALL_BYTES_MAX);
            prop_assert!((1..=CALL_RECORDS_MAX).contains(&call.len()));
            next = call.end;
        }
        prop_assert_eq!(next, sizes.len());
        // No cut without need: two neighbours never fit into one call.
        for pair in calls.windows(2) {
            let bytes: usize = sizes[pair[0].start..=pair[1].start].iter().sum();
            prop_assert!(pair[0].len() == CALL_RECORDS_MAX || bytes > CALL_BYTES_MAX);
        }
    }
}

fn three_records() -> DecodedBatch {
    smoke::batch(&[(Some(b"k0"), Some(b"v0")), (None, Some(b"")), (Some(b""), None)])
}

#[test]
fn a_partitioners_columns_tell_null_from_empty_and_leave_out_what_is_not_needed() {
    let batch = std::sync::Arc::new(three_records());
    let input = PartitionerInput {
        topic: "t".into(),
        partitions: 4,
        batch: batch.clone(),
        sequence: u32::MAX,
        seed: 9,
    };
    let columns = PlaceColumns::new(&batch, &(0..3), all_needs());
    let it = columns.batch(&input, &(0..3));
    assert_eq!((it.count, it.keys, it.key_lens), (3, &b"k0"[..], &[2, -1, 0][..]));
    assert_eq!((it.values, it.value_lens), (&b"v0"[..], &[2, 0, -1][..]));
    let columns = PlaceColumns::new(&batch, &(1..3), Needs { keys: true, ..Needs::default() });
    let it = columns.batch(&input, &(1..3));
    assert_eq!((it.count, it.keys, it.key_lens), (2, &b""[..], &[-1, 0][..]));
    assert!(it.values.is_empty() && it.value_lens.is_empty() && it.header_lens.is_empty());
    assert_eq!(it.sequence, 0, "it wraps");
}

#[test]
fn a_transforms_index_points_into_the_calls_own_data() {
    let input = TransformInput {
        partition: crate::base::TopicPartition::new("t", 3),
        batch: std::sync::Arc::new(smoke::batch(&[
            (Some(b"first"), None),
            (Some(b"kk"), Some(b"vvv")),
            (None, Some(b"")),
        ])),
        now: crate::base::TimestampMs(5),
    };
    let columns = ProcessColumns::new(&input.batch, &(1..3), all_needs());
    let it = columns.batch(&input, 2, b"state");
    assert_eq!(it.data, b"kkvvv");
    assert_eq!(it.index, [0, 2, 2, 3, 0, 0, -1, 0, 0, 0]);
    assert_eq!((it.header_counts, it.headers), (&[0, 0][..], &[][..]));
    assert_eq!((it.count, it.partition, it.state), (2, 3, &b"state"[..]));
}

fn output() -> Output {
    Output {
        actions: Vec::new(),
        replaced: Replacements { data: Vec::new(), lens: Vec::new(), header_lens: Vec::new() },
        reasons: Vec::new(),
        alerts: Vec::new(),
        state: Vec::new(),
    }
}

#[track_caller]
fn is_malformed<T: std::fmt::Debug>(result: Result<T, CallFailure>, want: &str) {
    let failure = result.expect_err(want);
    assert_eq!(failure.kind, FailureKind::Malformed);
    assert!(failure.reason.contains(want), "{failure} has no {want:?}");
}

#[test]
fn replaced_records_are_read_from_their_columns() {
    let answer = Output {
        actions: vec![2, 0, 3, 2, 1],
        replaced: Replacements {
            data: b"kvvhxnew".to_vec(),
            lens: vec![1, 2, 2, -1, 3, -1],
            header_lens: vec![1, 1, 0, -1],
        },
        reasons: vec!["too long".into()],
        state: vec![1],
        ..output()
    };
    let processed = processed(Ok(answer), 5).expect("it adds up");
    let first = Replacement {
        key: Some(b"k".to_vec()),
        value: Some(b"vv".to_vec()),
        headers: Some(vec![(b"h".to_vec(), Some(b"x".to_vec())), (Vec::new(), None)]),
    };
    let second = Replacement { key: None, value: Some(b"new".to_vec()), headers: None };
    assert_eq!(
        processed.actions,
        [
            RecordAction::Replace(Box::new(first)),
            RecordAction::Keep,
            RecordAction::Reject("too long".into()),
            RecordAction::Replace(Box::new(second)),
            RecordAction::Drop,
        ]
    );
    assert_eq!(processed.state, [1]);
}

#[test]
fn replacements_that_do_not_add_up_are_malformed() {
    let with = |data: &[u8], lens: &[i32], header_lens: &[i32]| {
        let replaced = Replacements {
            data: data.to_vec(),
            lens: lens.to_vec(),
            header_lens: header_lens.to_vec(),
        };
        processed(Ok(Output { actions: vec![2], replaced, ..output() }), 1)
    };
    is_malformed(with(b"", &[1, -1, -1], &[]), "beyond its replacement data");
    is_malformed(with(b"ab", &[1, -1, -1], &[]), "more replacement data");
    is_malformed(with(b"", &[-2, -1, -1], &[]), "the length -2");
    is_malformed(with(b"", &[i32::MAX, -1, -1], &[]), "beyond");
    is_malformed(with(b"", &[-1, -1, -2], &[]), "negative number of headers");
    is_malformed(with(b"", &[-1, -1, i32::MAX], &[]), "fewer header lengths");
    is_malformed(with(b"", &[-1, -1, 1], &[-1, -1]), "header without name");
    is_malformed(with(b"", &[-1, -1, 0], &[0]), "more replacement data");
    is_malformed(with(b"", &[-1, -1], &[]), "fewer replacements");
}

#[test]
fn alerts_are_bounded_and_long_fingerprints_stay_distinct() {
    let alert = |record, fingerprint: String| Alert {
        record,
        severity: Severity::Critical,
        title: "t".repeat(1 << 20),
        fingerprint,
        labels: (0..1000).map(|it| (format!("label-{it}"), "x".repeat(10_000))).collect(),
    };
    let long = |end: &str| format!("{}{end}", "f".repeat(10_000));
    let alerts =
        vec![alert(0, long("a")), alert(1, long("b")), alert(1, long("a")), alert(0, "s".into())];
    let processed = processed(Ok(Output { alerts, ..output() }), 2).expect("good");
    let prints: Vec<&str> = processed.alerts.iter().map(|it| it.fingerprint.as_str()).collect();
    assert!(prints[0] == prints[2] && prints[0] != prints[1] && prints[3] == "s");
    for alert in &processed.alerts {
        assert!(alert.fingerprint.len() <= 256 && alert.title.len() <= 1100);
        assert!(alert.labels.len() <= 64 && alert.labels.values().all(|it| it.len() <= 1100));
        assert_eq!(alert.severity, 3);
    }
    let stray = Output { alerts: vec![alert(2, "s".into())], ..output() };
    is_malformed(super::processed(Ok(stray), 2), "about record 2 of 2");
}

fn gives(member: &str, partitions: &[u32]) -> Assignment {
    let topic = smoke::group(1, 1).topics.remove(0).name.to_string();
    Assignment {
        member_id: member.into(),
        partitions: vec![TopicPartitionsResult { topic, partitions: partitions.to_vec() }],
    }
}

fn answer(
    assignments: Vec<Assignment>,
    snapshot: &GroupSnapshot,
) -> Result<super::super::hook::Assignments, CallFailure> {
    super::assignments(Ok(assignments), snapshot)
}

#[test]
fn an_assignment_names_every_member_and_sorts_its_partitions() {
    let snapshot = smoke::group(3, 3);
    let given =
        answer(vec![gives("member-0", &[2, 0]), gives("member-1", &[1])], &snapshot).expect("good");
    let partitions = |member: &str| -> Vec<i32> {
        given[&MemberId::from(member)].values().flatten().copied().collect()
    };
    assert_eq!(partitions("member-0"), [0, 2]);
    assert_eq!(partitions("member-1"), [1]);
    assert!(partitions("member-2").is_empty());
}

#[test]
fn what_is_no_assignment_of_the_snapshot_is_malformed() {
    let mut snapshot = smoke::group(2, 2);
    is_malformed(answer(vec![gives("member-0", &[0])], &snapshot), "left 1 partitions");
    is_malformed(
        answer(vec![gives("member-0", &[0, 1]), gives("member-1", &[1])], &snapshot),
        "given already",
    );
    is_malformed(answer(vec![gives("member-0", &[0, 0, 1])], &snapshot), "given already");
    is_malformed(answer(vec![gives("member-0", &[0, 1, 2])], &snapshot), "does not exist");
    is_malformed(answer(vec![gives("member-0", &[0, 1, u32::MAX])], &snapshot), "does not exist");
    is_malformed(answer(vec![gives("stranger", &[0, 1])], &snapshot), "unknown member");
    snapshot.members[1].topics = vec![TopicName::from("other")];
    is_malformed(answer(vec![gives("member-1", &[0, 1])], &snapshot), "does not subscribe");
}

#[test]
fn a_topic_that_nobody_subscribes_to_need_not_be_given() {
    let mut snapshot = smoke::group(1, 2);
    snapshot.members[0].topics.clear();
    assert!(answer(Vec::new(), &snapshot).is_ok());
}
