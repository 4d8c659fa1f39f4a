//! Static membership (KIP-345): a process that comes back under its `group.instance.id` takes the place of
//! its former self, and the former self is fenced.

use super::{ClassicGroup, JoinRequest, Joined, State, Step};
use crate::{
    base::MemberId,
    group::{GroupError, Ticket, session::Session},
};

impl ClassicGroup {
    pub(super) fn replace_static(
        &mut self,
        old_id: &MemberId,
        request: JoinRequest,
        ticket: Ticket,
        step: &mut Step<'_>,
    ) {
        let new_id = request.new_member_id.clone();
        let old_leader = self.leader.clone();
        let skip_assignment = request.supports_skip_assignment;
        self.rename_member(old_id, &new_id, step);
        self.update_member(&new_id, request, ticket, step);
        self.touch(&new_id, step);
        if self.state == State::Stable && self.select_protocol() == self.protocol {
            self.take_place(&new_id, old_leader, skip_assignment, step);
        } else {
            self.rebalance_or_complete(step);
        }
    }

    fn rename_member(&mut self, old_id: &MemberId, new_id: &MemberId, step: &mut Step<'_>) {
        let Some(mut member) = self.members.remove(old_id) else { return };
        Self::dismiss(&member, &GroupError::FencedInstanceId, step);
        member.id = new_id.clone();
        member.awaiting_join = None;
        member.awaiting_sync = None;
        member.session = Session::default();
        if self.pending_sync.remove(old_id) {
            self.pending_sync.insert(new_id.clone());
        }
        if self.is_leader(old_id) {
            self.leader = Some(new_id.clone());
        }
        self.insert(member);
    }

    /// The generation goes on as it is; only the new id is stored.
    fn take_place(
        &mut self,
        id: &MemberId,
        old_leader: Option<MemberId>,
        supports_skip_assignment: bool,
        step: &mut Step<'_>,
    ) {
        let record = self.record();
        step.effects.records.push(record);
        let joined = if supports_skip_assignment {
            // KIP-814: it learns that it leads, and that there is nothing to do.
            Joined { skip_assignment: self.is_leader(id), ..self.joined(id) }
        } else {
            // It must not assign, so it is told of a leader that is not itself.
            let leader = old_leader.unwrap_or_else(|| id.clone());
            Joined { leader, members: Vec::new(), ..self.joined(id) }
        };
        if let Some(member) = self.members.get_mut(id)
            && let Some(ticket) = member.awaiting_join.take()
        {
            step.effects.join(ticket, Ok(joined));
        }
    }
}
