//! The targets of an epoch: made at once by an assignor that is built in, or asked of a plugin.
//!
//! While a plugin thinks, heartbeats answer from the targets that there are. One question is open at a time; an answer that
//! comes for an older epoch is dropped, and the next heartbeat asks again.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    ConsumerAnswer, ConsumerAsk, ConsumerGroup, Soft, Step, TopicPartitions,
    assignor::{Assignments, BuiltIn, GroupSpec, MemberSpec, TopicSpec},
    group::preferred,
    heartbeat::Draft,
    member::Member,
    soft::OpenQuestion,
};
use crate::{
    base::{PluginName, TopicId, TopicName},
    group::{AskReason, keep::keep},
    metadata::MetadataImage,
};

enum Assignor {
    BuiltIn(BuiltIn),
    Plugin(PluginName),
}

impl Draft<'_> {
    /// Sees to the targets of the group's epoch, or to a reason to doubt them.
    pub(super) fn assign(&mut self, soft: &mut Soft, step: &mut Step<'_>) {
        let reason = if self.epoch > self.assignment_epoch {
            AskReason::Assign
        } else if soft.take_probe(step) {
            AskReason::Probe
        } else {
            return;
        };
        match (self.assignor(step), reason) {
            (Assignor::BuiltIn(assignor), AskReason::Assign) => {
                let assignments = assignor.assign(&self.spec());
                self.store(&assignments, step);
                soft.outdate();
            }
            (Assignor::BuiltIn(assignor), AskReason::Probe) => {
                let assignments = assignor.assign(&self.spec());
                if self.differs(&assignments) {
                    self.epoch += 1;
                    step.store_group(self.epoch, self.metadata_hash);
                    self.store(&assignments, step);
                }
            }
            (Assignor::Plugin(name), _) => self.ask(name, reason, soft, step),
        }
    }

    /// `klamm.assignor` of the group, else what most members choose, else the default.
    fn assignor(&self, step: &Step<'_>) -> Assignor {
        let configured = self.request.assignors.configured.as_ref();
        let chosen = configured.or_else(|| preferred(self.members().map(|it| it.1)));
        let Some(name) = chosen.or(step.settings.consumer.assignors.first()) else {
            return Assignor::BuiltIn(BuiltIn::Uniform);
        };
        BuiltIn::named(name.as_str())
            .map_or_else(|| Assignor::Plugin(name.clone()), Assignor::BuiltIn)
    }

    fn ask(
        &mut self,
        assignor: PluginName,
        reason: AskReason,
        soft: &mut Soft,
        step: &mut Step<'_>,
    ) {
        if self.assignment_epoch == 0 {
            self.begin_without_targets(step);
        }
        if soft.open.is_some() {
            return;
        }
        soft.questions += 1;
        let spec = Arc::new(self.spec());
        let client_ids = self.members().map(|it| (it.0.clone(), it.1.metadata.client_id.clone()));
        step.effects.consumer_asks.push(ConsumerAsk {
            group_id: step.group_id.clone(),
            group_epoch: self.epoch,
            question: soft.questions,
            assignor,
            spec: spec.clone(),
            client_ids: client_ids.collect(),
        });
        soft.open = Some(OpenQuestion {
            number: soft.questions,
            group_epoch: self.epoch,
            reason,
            spec,
            is_outdated: false,
        });
    }

    /// The group's first epoch gives nobody anything, and the one after it waits for the plugin: a member that were told
    /// epoch 0 would be joining for ever.
    fn begin_without_targets(&mut self, step: &mut Step<'_>) {
        step.store_target_epoch(Some(self.epoch));
        self.assignment_epoch = self.epoch;
        self.epoch += 1;
        step.store_group(self.epoch, self.metadata_hash);
    }

    fn store(&mut self, assignments: &Assignments, step: &mut Step<'_>) {
        self.group.store_targets(assignments, self.epoch, step);
        self.target = assignments.get(&self.request.member_id).cloned().unwrap_or_default();
        self.assignment_epoch = self.epoch;
    }

    fn differs(&self, assignments: &Assignments) -> bool {
        assignments.iter().any(|(id, it)| *it != self.target_of(id))
    }

    fn spec(&self) -> GroupSpec {
        let mut topics = BTreeMap::new();
        let members = self.members().map(|(id, member)| {
            let subscribed = existing(member.topics(&self.regexes), self.image);
            topics.extend(subscribed.clone());
            (id.clone(), member_spec(member, &subscribed, self.target_of(id)))
        });
        GroupSpec { members: members.collect(), topics }
    }
}

fn existing<'a>(
    names: impl Iterator<Item = &'a TopicName>,
    image: &MetadataImage,
) -> BTreeMap<TopicId, TopicSpec> {
    let topics = names.filter_map(|name| image.topic(name.as_str()));
    topics.map(|it| (it.id, TopicSpec { partitions: it.partitions.len() as i32 })).collect()
}

fn member_spec(
    member: &Member,
    subscribed: &BTreeMap<TopicId, TopicSpec>,
    assigned: TopicPartitions,
) -> MemberSpec {
    MemberSpec {
        group_instance_id: member.metadata.group_instance_id.clone(),
        rack_id: member.metadata.rack_id.clone(),
        subscribed: subscribed.keys().copied().collect(),
        assigned,
    }
}

impl ConsumerGroup {
    /// Only what has changed is written.
    fn store_targets(&self, assignments: &Assignments, epoch: i32, step: &mut Step<'_>) {
        for (id, target) in assignments {
            if self.targets.get(id) != Some(target) {
                step.store_target(id, Some(target.clone()));
            }
        }
        step.store_target_epoch(Some(epoch));
    }

    /// A plugin has answered, or failed to. One that fails leaves the members what they had, as far as that still fits.
    pub(super) fn assigned(&self, answer: ConsumerAnswer, soft: &mut Soft, step: &mut Step<'_>) {
        let Some(open) = soft.open.take_if(|it| it.number == answer.question) else { return };
        if open.is_outdated || open.group_epoch != self.epoch {
            return;
        }
        match (open.reason, answer.result) {
            (AskReason::Assign, Ok(assignments)) => {
                self.store_targets(&assignments, self.epoch, step);
            }
            (AskReason::Assign, Err(_)) => self.store_targets(&kept(&open.spec), self.epoch, step),
            (AskReason::Probe, Ok(assignments)) => self.compare(&assignments, step),
            (AskReason::Probe, Err(_)) => {}
        }
    }

    /// An answer that says what is so already changes nothing.
    fn compare(&self, assignments: &Assignments, step: &mut Step<'_>) {
        if assignments.iter().any(|(id, it)| *it != self.target(id)) {
            step.store_group(self.epoch + 1, self.metadata_hash);
            self.store_targets(assignments, self.epoch + 1, step);
        }
    }
}

/// The last targets cut to present members and subscriptions, the rest spread evenly (`on-failure = "keep"`).
fn kept(spec: &GroupSpec) -> Assignments {
    let last = spec.members.iter().map(|(id, it)| {
        let topics = it.assigned.0.iter().map(|(&id, it)| (id, it.iter().copied().collect()));
        (id.clone(), topics.collect())
    });
    let subscriptions = spec.members.iter();
    let subscriptions =
        subscriptions.map(|(id, it)| (id.clone(), it.subscribed.iter().copied().collect()));
    let partitions = spec.topics.iter().map(|(&id, it)| (id, it.partitions)).collect();
    keep(&last.collect(), &subscriptions.collect(), &partitions)
        .into_iter()
        .map(|(id, topics)| {
            let partitions =
                topics.into_iter().flat_map(|(id, it)| it.into_iter().map(move |p| (id, p)));
            (id, partitions.collect())
        })
        .collect()
}
