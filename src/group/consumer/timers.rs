//! What a timer does when it fires. Its cause may be gone by then: each checks again.

use super::{ConsumerGroup, Soft, Step, member::Member};
use crate::{
    base::MemberId,
    group::{MemberState, TimerKind, session::Wake},
};

impl ConsumerGroup {
    pub(super) fn fire(&self, kind: &TimerKind, soft: &mut Soft, step: &mut Step<'_>) {
        match kind {
            TimerKind::Session(id) => self.session_timeout(id, soft, step),
            TimerKind::Revocation(id, epoch) if self.revokes(id, *epoch) => {
                self.fence(id, soft, step);
            }
            _ => {}
        }
    }

    /// Whether a timer's cause is still there.
    pub(in crate::group) fn awaits(&self, kind: &TimerKind) -> bool {
        match kind {
            TimerKind::Session(id) => self.members.contains_key(id),
            TimerKind::Revocation(id, epoch) => self.revokes(id, *epoch),
            _ => false,
        }
    }

    fn session_timeout(&self, id: &MemberId, soft: &mut Soft, step: &mut Step<'_>) {
        let Some(session) = soft.sessions.get_mut(id) else { return };
        match session.fire(step.now) {
            Wake::Stale => {}
            Wake::Until(deadline) => soft.keep_until(id, deadline, step),
            Wake::Expired => self.fence(id, soft, step),
        }
    }

    fn revokes(&self, id: &MemberId, epoch: i32) -> bool {
        self.members.get(id).is_some_and(|it| {
            it.current.state == MemberState::UnrevokedPartitions && it.current.member_epoch == epoch
        })
    }

    /// After a restart sessions begin anew, and so does the time to give partitions up.
    pub(super) fn arm_all(&self, soft: &mut Soft, session_timeout_ms: i32, step: &mut Step<'_>) {
        for (id, member) in &self.members {
            soft.touch(id, session_timeout_ms, step);
            arm_revocation(id, member, step);
        }
    }
}

/// A member that is asked to give partitions up has its rebalance timeout to do so.
pub(super) fn arm_revocation(id: &MemberId, member: &Member, step: &mut Step<'_>) {
    if member.current.state == MemberState::UnrevokedPartitions {
        let at = step.after(member.metadata.rebalance_timeout_ms);
        step.timer(at, TimerKind::Revocation(id.clone(), member.current.member_epoch));
    }
}
