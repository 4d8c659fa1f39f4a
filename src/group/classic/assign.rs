//! Where a plugin assigns instead of the group's leader. The group asks through its effects and waits; the answer
//! comes back as an event, and one that comes too late is discarded and is no failure.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;

use super::{
    Assignments, AssignorAnswer, ClassicGroup, State, Step, Subscribed, Target, claims,
    subscription::{decode_assignment, encode_assignment},
    target::normal,
};
use crate::{
    base::{MemberId, PluginName, TimestampMs},
    config::GroupConfig,
    group::{Ask, AskReason, TimerKind, keep::keep},
};

/// How long a cooperative group that withheld something waits for the rejoin of those who give it up. A
/// member that takes longer only meets a rebalance that it would have begun itself.
const FOLLOW_UP_MS: i64 = 5_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Assigning {
    /// Number of the newest question.
    question: u64,
    open: Option<Open>,
    /// What a cooperative group works towards.
    target: Option<Arc<Target>>,
    /// The plugin that assigned this generation; `None` if its leader did.
    assignor: Option<PluginName>,
    /// The `klamm.assignor` that was in effect then.
    in_effect: InEffect,
    last_probe: Option<TimestampMs>,
    /// The newest timer for a question that the rate limit held back.
    probe_at: Option<TimestampMs>,
}

#[derive(Clone, Debug, Default)]
enum InEffect {
    /// After a restart.
    #[default]
    Unknown,
    None,
    Plugin(PluginName),
}

/// A question that is not answered yet.
#[derive(Clone, Debug)]
enum Open {
    /// With the leader's own assignment, in case the plugin fails and there is nothing to keep.
    Assign {
        leaders_own: BTreeMap<MemberId, Bytes>,
    },
    Probe,
}

impl Assigning {
    pub(super) fn abandon(&mut self) {
        self.open = None;
    }

    pub(super) fn new_generation(&mut self) {
        self.open = None;
        self.assignor = None;
    }

    pub(super) fn forget(&mut self) {
        self.target = None;
    }
}

impl ClassicGroup {
    /// The leader has synced: its assignment is taken, or the plugin is asked for a better one.
    pub(super) fn lead(
        &mut self,
        leaders_own: BTreeMap<MemberId, Bytes>,
        assignor: Option<PluginName>,
        step: &mut Step<'_>,
    ) {
        if let Some(Open::Assign { leaders_own: own }) = &mut self.assigning.open {
            // The leader tries again while the plugin thinks.
            *own = leaders_own;
            return;
        }
        self.assigning.in_effect = assignor.clone().map_or(InEffect::None, InEffect::Plugin);
        match assignor.and_then(|it| Some((it, self.subscribed(step.settings)?))) {
            Some((assignor, members)) => {
                self.assigning.open = Some(Open::Assign { leaders_own });
                self.ask(AskReason::Assign, assignor, members, step);
            }
            None => self.finish(leaders_own, step),
        }
    }

    /// Whether the group's assignor has changed since this generation was assigned.
    pub(super) fn has_other_assignor(&self, assignor: Option<&PluginName>) -> bool {
        match &self.assigning.in_effect {
            InEffect::Unknown => false,
            InEffect::None => assignor.is_some(),
            InEffect::Plugin(plugin) => assignor != Some(plugin),
        }
    }

    /// The members' subscriptions if a plugin may answer for them: never of another type than `consumer`, never
    /// for a protocol that is not listed, never when one of them cannot be read.
    fn subscribed(&self, settings: &GroupConfig) -> Option<Vec<Subscribed>> {
        let protocol = self.protocol.as_deref().filter(|_| self.uses_consumer_protocol())?;
        if protocol == "stream" || !settings.assignor_protocols.iter().any(|it| it == protocol) {
            return None;
        }
        self.members.values().map(|it| Subscribed::decode(it, protocol)).collect()
    }

    /// Told by the protocol's name, or by members that own something while they join: eager ones have
    /// given everything up.
    fn is_cooperative(&self, members: &[Subscribed]) -> bool {
        self.protocol.as_deref() == Some("cooperative-sticky")
            || members.iter().any(|it| !it.owned.is_empty())
    }

    fn ask(
        &mut self,
        reason: AskReason,
        assignor: PluginName,
        mut members: Vec<Subscribed>,
        step: &mut Step<'_>,
    ) {
        let cooperative = self.is_cooperative(&members);
        if !cooperative || reason == AskReason::Probe {
            let mut given = self.given();
            for member in &mut members {
                member.owned = given.remove(&member.member_id).unwrap_or_default();
            }
        }
        self.assigning.question += 1;
        step.effects.asks.push(Ask {
            group_id: self.id.clone(),
            generation_id: self.generation_id,
            question: self.assigning.question,
            reason,
            assignor,
            members: Arc::new(members),
            target: self.assigning.target.clone().filter(|_| cooperative),
        });
    }

    /// What the coordinator gave the present members last, so far as it can be read.
    fn given(&self) -> Assignments {
        let given = self.members.values().filter_map(|it| {
            let topics = decode_assignment(it.assignment.clone())?;
            (!topics.is_empty()).then(|| (it.id.clone(), topics))
        });
        given.collect()
    }

    /// The plugin has answered, or failed to.
    pub fn assigned(&mut self, answer: AssignorAnswer, step: &mut Step<'_>) {
        let newest = answer.question == self.assigning.question
            && answer.generation_id == self.generation_id
            && answer.inputs.subscriptions.keys().eq(self.members.keys());
        let Some(open) = self.assigning.open.take_if(|_| newest) else { return };
        match open {
            Open::Assign { leaders_own } if self.state == State::CompletingRebalance => {
                self.assign(answer, leaders_own, step);
            }
            Open::Probe if self.state == State::Stable => self.compare(answer, step),
            Open::Assign { .. } | Open::Probe => {}
        }
    }

    fn assign(
        &mut self,
        answer: AssignorAnswer,
        leaders_own: BTreeMap<MemberId, Bytes>,
        step: &mut Step<'_>,
    ) {
        let assignments = answer.result.ok().or_else(|| self.kept(&answer.inputs));
        let members = self.subscribed(step.settings);
        let (Some(assignments), Some(members)) = (assignments, members) else {
            self.finish(leaders_own, step);
            return;
        };
        self.assigning.assignor = Some(answer.inputs.assignor.clone());
        let given = self.give(Target { inputs: answer.inputs, assignments }, &members, step);
        let empty = BTreeMap::new();
        let encoded = members.iter().map(|it| {
            let topics = given.get(&it.member_id).unwrap_or(&empty);
            (it.member_id.clone(), encode_assignment(it.version, topics))
        });
        self.finish(encoded.collect(), step);
    }

    /// `None` when the group has had no assignment yet: its leader's own is better than an even spread.
    fn kept(&self, inputs: &super::TargetInputs) -> Option<Assignments> {
        let given = self.given();
        let last = match &self.assigning.target {
            Some(target) => &target.assignments,
            None => &given,
        };
        (!normal(last).is_empty()).then(|| keep(last, &inputs.subscriptions, &inputs.partitions))
    }

    /// What the members get of a target in this generation.
    fn give(&mut self, target: Target, members: &[Subscribed], step: &mut Step<'_>) -> Assignments {
        if !self.is_cooperative(members) {
            self.assigning.target = None;
            return target.assignments;
        }
        let given = claims::withhold(&target.assignments, members);
        if normal(&given) != normal(&target.assignments) {
            let at = step.after(FOLLOW_UP_MS);
            step.effects.timer(at, &self.id, TimerKind::FollowUp(self.generation_id));
        }
        self.assigning.target = Some(Arc::new(target));
        given
    }

    /// The group's assignor, its plugin or its topics have changed: asks what it would say now, at most once in
    /// `klamm.assignor.rebalance.interval.ms`.
    pub fn assignor_changed(&mut self, assignor: Option<PluginName>, step: &mut Step<'_>) {
        if !matches!(self.state, State::Stable | State::CompletingRebalance) {
            return;
        }
        let interval = step.settings.assignor_rebalance_interval_ms;
        let last = self.assigning.last_probe;
        let too_soon = last.is_some_and(|last| step.now.since(last) < interval);
        if too_soon || self.state != State::Stable {
            let from = last.filter(|_| too_soon).unwrap_or(step.now);
            self.arm_probe(TimestampMs(from.0.saturating_add(interval as i64)), step);
            return;
        }
        self.probe(assignor, step);
    }

    fn arm_probe(&mut self, at: TimestampMs, step: &mut Step<'_>) {
        if self.assigning.probe_at.is_none_or(|armed| armed <= step.now) {
            self.assigning.probe_at = Some(at);
            step.effects.timer(at, &self.id, TimerKind::Probe);
        }
    }

    fn probe(&mut self, assignor: Option<PluginName>, step: &mut Step<'_>) {
        let Some(members) = self.subscribed(step.settings) else { return };
        match assignor {
            Some(assignor) => {
                self.assigning.last_probe = Some(step.now);
                self.assigning.open = Some(Open::Probe);
                self.ask(AskReason::Probe, assignor, members, step);
            }
            // The leader assigns again: what it would say, only it knows.
            None if self.assigning.assignor.is_some() => {
                self.assigning.last_probe = Some(step.now);
                self.assigning.target = None;
                self.prepare_rebalance(step);
            }
            None => {}
        }
    }

    /// A failed plugin changes nothing, nor does one that says what is so already.
    fn compare(&mut self, answer: AssignorAnswer, step: &mut Step<'_>) {
        let Ok(assignments) = answer.result else { return };
        let now = match &self.assigning.target {
            Some(target) => normal(&target.assignments),
            None => self.given(),
        };
        let same = normal(&assignments) == now;
        if let Some(target) = &mut self.assigning.target {
            // The question is answered for these inputs: the follow-up need not ask again.
            *target = Arc::new(Target { inputs: answer.inputs, assignments });
        }
        if !same {
            self.prepare_rebalance(step);
        }
    }
}
