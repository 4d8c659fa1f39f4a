//! The assignors that are there for the consumer protocol whatever is loaded: `uniform` and `range`. Pure functions.
//!
//! Rule: each partition of a topic goes to exactly one of the members that subscribe to it, and the same question has always the
//! same answer. What a member has been assigned may be of topics that are gone, or have fewer partitions: that is passed over.

mod heterogeneous;
mod homogeneous;
mod owners;
mod range;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::TopicPartitions;
use crate::base::{MemberId, TopicId};

/// What an assignor is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupSpec {
    pub members: BTreeMap<MemberId, MemberSpec>,
    /// All existing topics that any member subscribes to.
    pub topics: BTreeMap<TopicId, TopicSpec>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberSpec {
    pub group_instance_id: Option<Arc<str>>,
    pub rack_id: Option<Arc<str>>,
    pub subscribed: BTreeSet<TopicId>,
    /// Its last target: what an assignor that is sticky starts from.
    pub assigned: TopicPartitions,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicSpec {
    pub partitions: i32,
}

/// What each member is to have; every member is in it.
pub type Assignments = BTreeMap<MemberId, TopicPartitions>;

impl GroupSpec {
    /// A member's topics that exist, in order, with their numbers of partitions.
    fn topics_of<'a>(
        &'a self,
        member: &'a MemberSpec,
    ) -> impl Iterator<Item = (TopicId, i32)> + 'a {
        let exists = |id: &TopicId| self.topics.get(id).map(|it| (*id, it.partitions));
        member.subscribed.iter().filter_map(exists)
    }

    fn is_homogeneous(&self) -> bool {
        let mut subscribed = self.members.values().map(|it| &it.subscribed);
        let first = subscribed.next();
        subscribed.all(|it| Some(it) == first)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    /// Equal shares of all partitions, and as much as can be stays where it is.
    Uniform,
    /// Equal shares of each topic, in the order of the members: partitions of one number come to one member where topics have
    /// equally many and all members read them.
    Range,
}

impl BuiltIn {
    const ALL: [Self; 2] = [Self::Uniform, Self::Range];

    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Range => "range",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    pub fn assign(self, group: &GroupSpec) -> Assignments {
        match self {
            Self::Range => range::assign(group),
            Self::Uniform if group.is_homogeneous() => homogeneous::assign(group),
            Self::Uniform => heterogeneous::assign(group),
        }
    }
}

#[cfg(test)]
mod tests;
