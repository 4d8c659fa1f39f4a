//! The assignors that are there for the consumer protocol whatever is loaded: `uniform` and `range`. Pure functions.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::TopicPartitions;
use crate::base::{MemberId, PluginName, TopicId};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    Uniform,
    Range,
}

impl BuiltIn {
    pub fn named(name: &PluginName) -> Option<Self> {
        match name.as_str() {
            "uniform" => Some(Self::Uniform),
            "range" => Some(Self::Range),
            _ => None,
        }
    }

    pub fn assign(self, spec: &GroupSpec) -> Assignments {
        let mut out: Assignments =
            spec.members.keys().map(|id| (id.clone(), TopicPartitions::default())).collect();
        for (&topic, it) in &spec.topics {
            for partition in 0..it.partitions {
                let id = spec
                    .members
                    .iter()
                    .filter(|m| m.1.subscribed.contains(&topic))
                    .map(|m| m.0)
                    .min_by_key(|id| out[*id].count())
                    .unwrap();
                let id = id.clone();
                out.get_mut(&id).unwrap().insert(topic, partition);
            }
        }
        out
    }
}
