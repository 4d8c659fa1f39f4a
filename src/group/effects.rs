//! What an event leads to, besides the answer to the one who sent it.

use std::sync::Arc;

use super::{
    GroupError, GroupRecord,
    classic::{Joined, Subscribed, Synced, Target},
    consumer::ConsumerAsk,
};
use crate::base::{GroupId, MemberId, PluginName, TimestampMs};

/// Stands for a request that is answered later: the runtime keeps who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// The late answer of a join or sync.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Join(Result<Joined, GroupError>),
    Sync(Result<Synced, GroupError>),
}

/// A moment at which a group wants to be woken. A timer that fires after its cause is gone does nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimerKey {
    pub group_id: GroupId,
    pub kind: TimerKind,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimerKind {
    /// A member's session, or that of an id that was given out and has not joined yet.
    Session(MemberId),
    /// The end of a join phase, by the number of the phase.
    Join(u64),
    /// Members of this generation that have sent no SyncGroup are removed.
    Sync(i32),
    /// A cooperative generation withheld something and nobody has joined again since.
    FollowUp(i32),
    /// A member of a consumer group has been asked to give partitions up while in this epoch.
    Revocation(MemberId, i32),
    /// The assignor or its plugin changed a while ago, and the rate limit held back the question.
    Probe,
}

/// Why a plugin is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskReason {
    /// The generation waits for its assignment.
    Assign,
    /// Something changed outside the group: it rebalances only if the answer differs.
    Probe,
}

/// A question to an assignor plugin. The answer comes back as an event with the same generation and
/// question number; a later question makes it stale.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub group_id: GroupId,
    pub generation_id: i32,
    pub question: u64,
    pub reason: AskReason,
    pub assignor: PluginName,
    pub members: Arc<Vec<Subscribed>>,
    /// A target that is reused while its inputs hold.
    pub target: Option<Arc<Target>>,
}

/// What an event leads to. Records are written as one batch; answers leave once they are committed.
#[derive(Debug, Default, PartialEq)]
#[must_use]
pub struct Effects {
    pub records: Vec<GroupRecord>,
    pub answers: Vec<(Ticket, Answer)>,
    pub timers: Vec<(TimestampMs, TimerKey)>,
    pub asks: Vec<Ask>,
    pub consumer_asks: Vec<ConsumerAsk>,
}

impl Effects {
    pub(super) fn join(&mut self, ticket: Ticket, answer: Result<Joined, GroupError>) {
        self.answers.push((ticket, Answer::Join(answer)));
    }

    pub(super) fn sync(&mut self, ticket: Ticket, answer: Result<Synced, GroupError>) {
        self.answers.push((ticket, Answer::Sync(answer)));
    }

    pub(super) fn timer(&mut self, at: TimestampMs, group_id: &GroupId, kind: TimerKind) {
        self.timers.push((at, TimerKey { group_id: group_id.clone(), kind }));
    }
}
