//! The world `assignor-plugin`, exported for an [`Assignor`].

use super::bindings::assignor::exports::klamm::plugin::{assignor, plugin};
use super::{NOT_CONFIGURED, describe, report_panics};
use crate::assignor::{Assignment, Assignor, Group, Member, Partition, Topic, TopicPartitions};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

pub struct AssignorGuest<T>(PhantomData<T>);

thread_local! {
    static INSTANCE: RefCell<Option<Box<dyn Assignor>>> = const { RefCell::new(None) };
}

impl<T: Assignor + 'static> plugin::Guest for AssignorGuest<T> {
    fn describe() -> plugin::Description {
        describe!(assignor, T::describe())
    }

    fn configure(settings: String) -> Result<(), String> {
        report_panics();
        INSTANCE.set(Some(Box::new(T::configure(&settings)?)));
        Ok(())
    }
}

impl<T: Assignor + 'static> assignor::Guest for AssignorGuest<T> {
    fn assign(group: assignor::Group) -> Result<Vec<assignor::Assignment>, String> {
        INSTANCE.with_borrow_mut(|instance| {
            let instance = instance.as_mut().ok_or(NOT_CONFIGURED)?;
            // The instance ends with this call: to free a hundred thousand names before it does would only take time.
            let group = ManuallyDrop::new(read_group(group));
            let assignments = instance.assign(&group)?;
            Ok(assignments.into_iter().map(write_assignment).collect())
        })
    }
}

fn read_group(group: assignor::Group) -> Group {
    Group {
        id: group.id,
        members: group.members.into_iter().map(read_member).collect(),
        topics: group.topics.into_iter().map(read_topic).collect(),
    }
}

fn read_member(member: assignor::Member) -> Member {
    let assignor::Member { id, instance_id, rack, client_id, topics, user_data, owned } = member;
    let owned = owned.into_iter().map(read_partitions).collect();
    Member { id, instance_id, rack, client_id, topics, user_data, owned }
}

fn read_partitions(owned: assignor::TopicPartitions) -> TopicPartitions {
    TopicPartitions { topic: owned.topic, partitions: owned.partitions }
}

fn read_topic(topic: assignor::Topic) -> Topic {
    Topic {
        name: topic.name,
        partitions: topic.partitions.into_iter().map(read_partition).collect(),
    }
}

fn read_partition(partition: assignor::Partition) -> Partition {
    let assignor::Partition { index, leader, racks, lag, log_end_offset, byte_rate } = partition;
    Partition { index, leader, racks, lag, log_end_offset, byte_rate }
}

fn write_assignment(assignment: Assignment) -> assignor::Assignment {
    assignor::Assignment {
        member_id: assignment.member_id,
        partitions: assignment.partitions.into_iter().map(write_partitions).collect(),
    }
}

fn write_partitions(given: TopicPartitions) -> assignor::TopicPartitions {
    assignor::TopicPartitions { topic: given.topic, partitions: given.partitions }
}
