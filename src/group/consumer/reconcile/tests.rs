//! The steps of Kafka's `CurrentAssignmentBuilderTest`.

use uuid::Uuid;

use super::*;
use crate::group::MemberState::{Stable, UnreleasedPartitions, UnrevokedPartitions};

const T: TopicId = TopicId(Uuid::from_u128(1));

fn of(partitions: &[i32]) -> TopicPartitions {
    partitions.iter().map(|&it| (T, it)).collect()
}

fn current(
    epoch: i32,
    state: MemberState,
    assigned: &[i32],
    pending_revocation: &[i32],
) -> CurrentAssignment {
    CurrentAssignment {
        member_epoch: epoch,
        previous_member_epoch: epoch,
        state,
        assigned: of(assigned),
        pending_revocation: of(pending_revocation),
    }
}

struct Case<'a> {
    before: CurrentAssignment,
    assignment_epoch: i32,
    target: &'a [i32],
    /// Held by others.
    held: &'a [i32],
    owned: Option<&'a [i32]>,
}

#[track_caller]
fn check(case: &Case<'_>, want: CurrentAssignment) {
    let before = case.before.clone();
    let epoch = before.member_epoch;
    let member = Member { current: before.clone(), ..Member::new() };
    let goal = Goal {
        assignment_epoch: case.assignment_epoch,
        target: &of(case.target),
        is_owned: &|_, partition| case.held.contains(&partition),
    };
    let owned = case.owned.map(of);
    let want = if want == before {
        want
    } else {
        CurrentAssignment { previous_member_epoch: epoch, ..want }
    };
    assert_eq!(reconcile(&member, &goal, owned.as_ref()), want);
}

/// In epoch 10 with partitions 1 to 3, going for a target of epoch 11.
fn stable<'a>(target: &'a [i32], held: &'a [i32]) -> Case<'a> {
    let before = current(10, Stable, &[1, 2, 3], &[]);
    Case { before, assignment_epoch: 11, target, held, owned: None }
}

/// Asked in epoch 10 to give up partition 1 of 1 to 3.
fn revoking<'a>(target: &'a [i32], owned: Option<&'a [i32]>) -> Case<'a> {
    let before = current(10, UnrevokedPartitions, &[2, 3], &[1]);
    Case { before, assignment_epoch: 12, target, held: &[1], owned }
}

#[test]
fn from_stable() {
    let same = Case { assignment_epoch: 10, ..stable(&[9], &[]) };
    check(&same, current(10, Stable, &[1, 2, 3], &[]));
    check(&stable(&[1, 2, 3], &[1, 2, 3]), current(11, Stable, &[1, 2, 3], &[]));
    check(&stable(&[1, 2, 3, 4], &[]), current(11, Stable, &[1, 2, 3, 4], &[]));
    let waits = current(11, UnreleasedPartitions, &[1, 2, 3, 4], &[]);
    check(&stable(&[1, 2, 3, 4, 5], &[5]), waits);
    check(&stable(&[1, 2, 3, 5], &[5]), current(11, UnreleasedPartitions, &[1, 2, 3], &[]));
    check(&stable(&[2, 3, 4], &[]), current(10, UnrevokedPartitions, &[2, 3], &[1]));
}

#[test]
fn who_owns_nothing_of_what_it_must_give_up_need_not_be_asked() {
    let case = Case { owned: Some(&[2, 3]), ..stable(&[2, 3, 4], &[]) };
    check(&case, current(11, Stable, &[2, 3, 4], &[]));
}

#[test]
fn from_unrevoked_partitions() {
    let waits = current(10, UnrevokedPartitions, &[2, 3], &[1]);
    check(&revoking(&[2, 3], None), waits.clone());
    check(&revoking(&[2, 3], Some(&[1, 2, 3])), waits);
    check(&revoking(&[2, 3], Some(&[2, 3])), current(12, Stable, &[2, 3], &[]));
    // The target is a newer one by now: more to give up, one epoch on.
    check(&revoking(&[3], Some(&[2, 3])), current(11, UnrevokedPartitions, &[3], &[2]));
    check(&revoking(&[2, 3, 4], Some(&[2, 3])), current(12, Stable, &[2, 3, 4], &[]));
    // It gets back what it has just given up with its next heartbeat.
    let back = current(12, UnreleasedPartitions, &[2, 3], &[]);
    check(&revoking(&[1, 2, 3], Some(&[2, 3])), back);
}

#[test]
fn from_unreleased_partitions() {
    let waiting = |target, held| Case {
        before: current(11, UnreleasedPartitions, &[2, 3], &[]),
        assignment_epoch: 11,
        target,
        held,
        owned: None,
    };
    check(&waiting(&[2, 3, 4, 5], &[4, 5]), current(11, UnreleasedPartitions, &[2, 3], &[]));
    check(&waiting(&[2, 3, 4, 5], &[5]), current(11, UnreleasedPartitions, &[2, 3, 4], &[]));
    check(&waiting(&[2, 3, 4, 5], &[]), current(11, Stable, &[2, 3, 4, 5], &[]));
    let newer = Case { assignment_epoch: 12, ..waiting(&[2], &[]) };
    check(&newer, current(11, UnrevokedPartitions, &[2], &[3]));
}

#[test]
fn a_member_in_a_state_of_a_newer_version_begins_anew() {
    let case = Case {
        before: current(10, MemberState::Unknown, &[2], &[3]),
        owned: Some(&[]),
        ..stable(&[2, 4], &[])
    };
    check(&case, current(11, Stable, &[2, 4], &[]));
}
