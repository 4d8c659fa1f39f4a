//! What differs between two images. Topics are shared between images, so that an unchanged one costs one
//! comparison of addresses.

use std::sync::Arc;

use super::{MetadataImage, TopicImage};
use crate::base::TopicName;

/// Topics that a room has to look at again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicsDelta {
    /// New, or with changed partitions or configs; sorted by name.
    pub changed: Vec<Arc<TopicImage>>,
    /// As they were. A topic that was made again under its name is in both lists.
    pub removed: Vec<Arc<TopicImage>>,
}

impl MetadataImage {
    /// What has happened to topics since `old`.
    pub fn topics_since(&self, old: &Self) -> TopicsDelta {
        let is_changed = |topic: &&Arc<TopicImage>| {
            old.topic(topic.name.as_str()).is_none_or(|before| !Arc::ptr_eq(before, topic))
                || !same_configs(self, old, &topic.name)
        };
        TopicsDelta {
            changed: self.topics.values().filter(is_changed).cloned().collect(),
            removed: old
                .topics
                .values()
                .filter(|topic| self.topic_by_id(topic.id).is_none())
                .cloned()
                .collect(),
        }
    }
}

fn same_configs(new: &MetadataImage, old: &MetadataImage, topic: &TopicName) -> bool {
    match (new.topic_configs(topic), old.topic_configs(topic)) {
        (Some(new), Some(old)) => Arc::ptr_eq(new, old),
        (None, None) => true,
        _ => false,
    }
}
