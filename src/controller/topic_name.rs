//! What a topic may be called.

use std::collections::BTreeMap;

use super::ControllerError;
use crate::{base::TopicName, metadata::MetadataImage};

/// Checks a name as Kafka's `Topic.validate`.
pub fn validate_topic_name(name: &str) -> Result<(), ControllerError> {
    TopicName::validate(name).map_err(ControllerError::InvalidTopic)
}

/// Names with `.` or `_`, of which two must not differ in these alone: their metrics would have one name.
pub(super) struct CollidingNames {
    by_unified: BTreeMap<String, TopicName>,
}

impl CollidingNames {
    pub(super) fn new(image: &MetadataImage) -> Self {
        let mut names = Self { by_unified: BTreeMap::new() };
        image.topics.keys().for_each(|it| names.add(it));
        names
    }

    pub(super) fn add(&mut self, name: &TopicName) {
        if let Some(unified) = unified(name) {
            self.by_unified.insert(unified, name.clone());
        }
    }

    /// A topic that `name` collides with.
    pub(super) fn find(&self, name: &TopicName) -> Option<&TopicName> {
        self.by_unified.get(&unified(name)?)
    }
}

fn unified(name: &TopicName) -> Option<String> {
    name.as_str().contains(['.', '_']).then(|| name.as_str().replace('.', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_as_in_kafka() {
        let longest = "a".repeat(249);
        for good in ["a", "A-1._", "__consumer_offsets", "...", longest.as_str()] {
            assert_eq!(validate_topic_name(good), Ok(()), "{good}");
        }
        let too_long = "a".repeat(250);
        for (bad, reason) in [
            ("", "the empty string"),
            (".", "'.' is not allowed"),
            ("..", "'..' is not allowed"),
            ("a/b", "contains one or more characters"),
            ("ä", "contains one or more characters"),
            (too_long.as_str(), "longer than the max allowed length 249"),
        ] {
            let error = validate_topic_name(bad).unwrap_err().to_string();
            assert!(
                error.starts_with("Topic name is invalid: ") && error.contains(reason),
                "{error}"
            );
        }
    }
}
