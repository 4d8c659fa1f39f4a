//! Asks assignor plugins on behalf of consumer groups (KIP-848). These know topics by id, and plugins by name.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::mpsc;

use super::{
    assign::{AssignorDesk, send},
    event::GroupEvent,
};
use crate::{
    base::{TopicId, TopicName},
    group::{
        Shard, classic,
        consumer::{
            ConsumerAnswer, ConsumerAsk, TopicPartitions,
            assignor::{Assignments, MemberSpec},
        },
    },
    metadata::{MetadataImage, TopicImage},
    plugin::hook::{GroupSnapshot, MemberSnapshot, TopicSnapshot},
};

/// Names of the topics in question that are still there.
type Names = BTreeMap<TopicId, TopicName>;

impl AssignorDesk {
    /// Takes the snapshot now, so that it is of one moment with the question; the answer comes as an event.
    pub(super) fn ask_for_consumers(
        &self,
        ask: ConsumerAsk,
        shard: &Shard,
        events: mpsc::WeakSender<GroupEvent>,
    ) {
        let image = self.quorum.image();
        let topics: Vec<&Arc<TopicImage>> =
            ask.spec.topics.keys().filter_map(|&id| image.topic_by_id(id)).collect();
        let names: Names = topics.iter().map(|it| (it.id, it.name.clone())).collect();
        let snapshot = GroupSnapshot {
            group_id: ask.group_id.clone(),
            members: members(&ask, &names),
            topics: self.topics(&ask, &topics, &image, shard),
        };
        let asked = self.asked(ask.assignor.clone(), snapshot);
        tokio::spawn(async move {
            let result = asked.await.map(|it| by_id(it, &names));
            send(GroupEvent::ConsumerAssigned(answer(&ask, result)), events).await;
        });
    }

    /// Sorted by name, with as many partitions as the group knows of: one that a topic has grown by since is of the next question.
    fn topics(
        &self,
        ask: &ConsumerAsk,
        topics: &[&Arc<TopicImage>],
        image: &MetadataImage,
        shard: &Shard,
    ) -> Vec<TopicSnapshot> {
        let topic = |topic: &&Arc<TopicImage>| {
            let mut snapshot = self.topic(&ask.group_id, topic, image, shard);
            let known = ask.spec.topics.get(&topic.id).map_or(0, |it| it.partitions);
            snapshot.partitions.truncate(usize::try_from(known).unwrap_or(0));
            snapshot
        };
        let mut snapshots: Vec<_> = topics.iter().map(topic).collect();
        snapshots.sort_by(|one, other| one.name.cmp(&other.name));
        snapshots
    }
}

fn members(ask: &ConsumerAsk, names: &Names) -> Vec<MemberSnapshot> {
    let member = |(id, it): (_, &MemberSpec)| MemberSnapshot {
        member_id: Clone::clone(id),
        instance_id: it.group_instance_id.as_deref().map(str::to_owned),
        rack: it.rack_id.as_deref().map(str::to_owned),
        client_id: ask.client_ids.get(id).map(ToString::to_string).unwrap_or_default(),
        topics: sorted(it.subscribed.iter().filter_map(|id| names.get(id).cloned()).collect()),
        // What clients of this protocol have no way to tell.
        user_data: Vec::new(),
        owned: by_name(&it.assigned, names),
    };
    ask.spec.members.iter().map(member).collect()
}

fn sorted(mut names: Vec<TopicName>) -> Vec<TopicName> {
    names.sort();
    names
}

fn by_name(partitions: &TopicPartitions, names: &Names) -> BTreeMap<TopicName, Vec<i32>> {
    let topics = partitions.0.iter();
    topics
        .filter_map(|(id, them)| Some((names.get(id)?.clone(), them.iter().copied().collect())))
        .collect()
}

fn by_id(assignments: classic::Assignments, names: &Names) -> Assignments {
    let ids: BTreeMap<&TopicName, TopicId> = names.iter().map(|(&id, name)| (name, id)).collect();
    let of_member = |topics: BTreeMap<TopicName, Vec<i32>>| {
        let topics = topics.into_iter().filter(|it| !it.1.is_empty());
        let topics =
            topics.filter_map(|(name, them)| Some((*ids.get(&name)?, them.into_iter().collect())));
        TopicPartitions(topics.collect())
    };
    assignments.into_iter().map(|(id, topics)| (id, of_member(topics))).collect()
}

fn answer(ask: &ConsumerAsk, result: Result<Assignments, String>) -> ConsumerAnswer {
    ConsumerAnswer {
        group_id: ask.group_id.clone(),
        group_epoch: ask.group_epoch,
        question: ask.question,
        assignor: ask.assignor.clone(),
        result,
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn id(number: u128) -> TopicId {
        TopicId(Uuid::from_u128(number))
    }

    #[test]
    fn what_a_plugin_assigns_by_name_comes_back_by_id_and_without_topics_that_have_nothing() {
        let names = Names::from([(id(1), "b".into()), (id(2), "a".into())]);
        let told = TopicPartitions([(id(1), [2, 0].into()), (id(9), [0].into())].into());
        let back = by_name(&told, &names);
        assert_eq!(back, [("b".into(), vec![0, 2])].into(), "a topic that is gone has no name");
        let assigned = [("b".into(), vec![2, 0]), ("a".into(), vec![])].into();
        let back = by_id([("m".into(), assigned)].into(), &names);
        assert_eq!(back, [("m".into(), TopicPartitions([(id(1), [0, 2].into())].into()))].into());
    }
}
