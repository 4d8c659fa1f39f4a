//! Partitions by topic id, as heartbeats and records of the consumer protocol tell them.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::TopicId;

/// Sorted; no topic without partitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicPartitions(pub BTreeMap<TopicId, BTreeSet<i32>>);
