//! One step of a member from what it has towards its target (Kafka's `CurrentAssignmentBuilder`).
//!
//! A member first gives up what is not its target's, and stays in its epoch until it says so; then it gets the target's
//! epoch, and of its target whatever nobody else holds.
//!
//! ```text
//!            new target, must give up              has given up
//!   Stable ───────────────────────▶ UnrevokedPartitions ──────┐
//!     ▲ │                                                     ▼
//!     │ └──── new target ─────────────────────▶  is all of it free?
//!     │                                           │ yes       │ no
//!     └───────────────────────────────────────────┘           ▼
//!       all of it is free by now                    UnreleasedPartitions
//! ```

use super::{TopicPartitions, member::Member};
use crate::{
    base::TopicId,
    group::{CurrentAssignment, MemberState},
};

/// What a member is to have.
pub(super) struct Goal<'a> {
    pub(super) assignment_epoch: i32,
    pub(super) target: &'a TopicPartitions,
    /// Whether anybody holds a partition.
    pub(super) is_owned: &'a dyn Fn(TopicId, i32) -> bool,
}

/// What the member has after this step; `owned` is what it says that it owns, if it does.
pub(super) fn reconcile(
    member: &Member,
    goal: &Goal<'_>,
    owned: Option<&TopicPartitions>,
) -> CurrentAssignment {
    let current = &member.current;
    match current.state {
        MemberState::Stable if current.member_epoch == goal.assignment_epoch => current.clone(),
        MemberState::UnrevokedPartitions if holds(owned, &current.pending_revocation) => {
            current.clone()
        }
        MemberState::UnrevokedPartitions => next(current, current.member_epoch + 1, goal, owned),
        MemberState::Stable | MemberState::UnreleasedPartitions => {
            next(current, current.member_epoch, goal, owned)
        }
        // It has given everything up: the heartbeat was refused otherwise.
        MemberState::Unknown => next(current, goal.assignment_epoch, goal, owned),
    }
}

/// A member that does not tell may hold everything.
fn holds(owned: Option<&TopicPartitions>, partitions: &TopicPartitions) -> bool {
    owned.is_none_or(|it| it.intersects(partitions))
}

fn next(
    current: &CurrentAssignment,
    member_epoch: i32,
    goal: &Goal<'_>,
    owned: Option<&TopicPartitions>,
) -> CurrentAssignment {
    let (mut assigned, revoked) = current.assigned.split(|t, p| goal.target.contains(t, p));
    if !revoked.is_empty() && holds(owned, &revoked) {
        return moved(current, member_epoch, MemberState::UnrevokedPartitions, assigned, revoked);
    }
    let (_, missing) = goal.target.split(|t, p| assigned.contains(t, p));
    let (unreleased, free) = missing.split(goal.is_owned);
    assigned.extend(free.iter());
    let state =
        if unreleased.is_empty() { MemberState::Stable } else { MemberState::UnreleasedPartitions };
    moved(current, goal.assignment_epoch, state, assigned, TopicPartitions::default())
}

fn moved(
    current: &CurrentAssignment,
    member_epoch: i32,
    state: MemberState,
    assigned: TopicPartitions,
    pending_revocation: TopicPartitions,
) -> CurrentAssignment {
    CurrentAssignment {
        member_epoch,
        previous_member_epoch: current.member_epoch,
        state,
        assigned,
        pending_revocation,
    }
}

#[cfg(test)]
mod tests;
