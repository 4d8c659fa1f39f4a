//! What goes while a replica moves: deleted records, and what retention and the cleaner take.

use super::*;

#[test]
fn records_that_are_deleted_while_they_move_stay_deleted_after_a_kill() {
    let roots = Roots::new();
    let node = roots.healthy(SMALL);
    written(&node);
    node.move_to(1).unwrap();
    let it = node.replicas.moves.claim().unwrap();
    assert!(matches!(node.replicas.step(&it, 1), Step::Copied(_)));
    let deleted = node.replicas.delete_records(&[(key(), DeleteUpTo::Offset(Offset(4)))]);
    assert!(matches!(deleted[..], [Ok(Offset(4))]));
    while !matches!(node.replicas.step(&it, 1 << 20), Step::Over) {}
    drop((node, it));
    let node = roots.healthy(SMALL);
    assert_eq!(node.places().0, [1]);
    let left: Vec<_> = (4..8).map(|it| (it, it)).collect();
    assert_eq!(stored(&node.at().unwrap()), left);
}

#[test]
fn records_that_were_deleted_before_a_move_stay_so_after_a_kill_at_any_moment() {
    for operation in 0.. {
        let roots = Roots::new();
        let faults = Faults::none();
        let node = roots.node([&faults, &faults], SMALL);
        let count = written(&node);
        let deleted = node.replicas.delete_records(&[(key(), DeleteUpTo::Offset(Offset(4)))]);
        assert!(matches!(deleted[..], [Ok(Offset(4))]));
        let planned = faults.operations() + operation;
        faults.fail_after(operation, Fault::Crash);
        node.move_while_appending(1, count);
        let came_so_far = faults.operations() > planned;
        drop(node);

        let node = roots.healthy(SMALL);
        let first = stored(&node.at().unwrap()).first().copied();
        assert_eq!(first, Some((4, 4)), "operation {operation}");
        if !came_so_far {
            assert!(operation > 20, "{operation} operations");
            return;
        }
    }
}

/// Of a key, as only the newest of which stays.
fn keyed(number: i32) -> Batch {
    let mut builder = BatchBuilder::new(TimestampMs(i64::from(number)), Compression::None);
    builder.push(&RecordParts {
        offset_delta: 0,
        timestamp_delta: 0,
        key: Some(b"key"),
        value: Some(b"0123456789"),
        headers: Vec::new(),
    });
    builder.build().unwrap()
}

#[test]
fn what_retention_and_the_cleaner_take_away_meanwhile_is_not_moved() {
    let retained: &[_] =
        &[("internal.segment.bytes", "300"), ("retention.bytes", "300"), ("retention.ms", "-1")];
    let compacted: &[_] = &[
        ("internal.segment.bytes", "300"),
        ("cleanup.policy", "compact"),
        ("min.cleanable.dirty.ratio", "0.0"),
    ];
    for configs in [retained, compacted] {
        let roots = Roots::new();
        let node = roots.healthy(configs);
        let partition = node.at().unwrap();
        for number in 0..12 {
            partition.append(vec![keyed(number)], Acks::Leader).unwrap();
        }
        node.move_to(1).unwrap();
        let it = node.replicas.moves.claim().unwrap();
        for _ in 0..3 {
            assert!(matches!(node.replicas.step(&it, 1), Step::Copied(_)));
        }
        node.replicas.retain();
        node.replicas.clean();
        let left = stored(&partition);
        assert!((1..8).contains(&left.len()), "{left:?}");
        while !matches!(node.replicas.step(&it, 1 << 20), Step::Over) {}
        assert_eq!((node.places().0, stored(&partition)), (vec![1], left.clone()));
        let files = roots.path(1).join("a-0").read_dir().unwrap().map(Result::unwrap);
        let logs = files.filter(|it| it.path().extension().is_some_and(|it| it == "log")).count();
        drop((node, it, partition));
        let node = roots.healthy(configs);
        let partition = node.at().unwrap();
        assert_eq!(stored(&partition), left);
        assert!(logs <= left.len(), "{logs} files");
    }
}

#[test]
fn a_log_is_not_compacted_while_it_is_copied() {
    let roots = Roots::new();
    let node = roots.healthy(&[("cleanup.policy", "compact")]);
    let partition = node.at().unwrap();
    let pause = partition.log().pause_cleaning(Duration::ZERO);
    assert!(pause.is_some() && partition.log().is_left_alone(TimestampMs(i64::MAX)));
    assert!(partition.log().pause_cleaning(Duration::ZERO).is_none());
}
