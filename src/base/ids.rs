//! Names and numbers of things. The texts are shared (`Arc<str>`), never slices of a request: a small
//! string kept from a request would keep its whole frame.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// `node.id` of a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BrokerId(pub i32);

/// Identifies a topic over its whole life: a topic made again under its old name has another (KIP-516).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TopicId(pub Uuid);

/// Identifies a producer session, for recognising what it sends twice (KIP-98). −1 on the wire is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProducerId(pub i64);

/// Fences older sessions of a producer id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProducerEpoch(pub i16);

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Arc<str>);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name! {
    /// Name of a topic.
    TopicName
}
name! {
    /// `group.id` of a consumer group.
    GroupId
}
name! {
    /// Identifies a member of a group, as the coordinator chose it.
    MemberId
}
name! {
    /// Name of a plugin: its file's, without `.wasm`.
    PluginName
}

/// Longer names would make folder names (`topic-12345.<uuid>-delete`) that file systems refuse.
const TOPIC_NAME_BYTES_MAX: usize = 249;

impl TopicName {
    /// Checks a name as Kafka's `Topic.validate`; the error says what is wrong with it.
    pub fn validate(name: &str) -> Result<(), String> {
        let is_legal = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'_' | b'-');
        let reason = if name.is_empty() {
            "the empty string is not allowed".into()
        } else if matches!(name, "." | "..") {
            format!("'{name}' is not allowed")
        } else if name.len() > TOPIC_NAME_BYTES_MAX {
            format!(
                "the length of '{name}' is longer than the max allowed length {TOPIC_NAME_BYTES_MAX}"
            )
        } else if !name.bytes().all(is_legal) {
            format!(
                "'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
            )
        } else {
            return Ok(());
        };
        Err(format!("Topic name is invalid: {reason}"))
    }

    /// Hooks never apply to internal topics: those whose names begin with two underscores.
    pub fn is_internal(&self) -> bool {
        self.0.starts_with("__")
    }
}

/// One partition of one topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TopicPartition {
    pub topic: TopicName,
    /// Index of the partition, from 0.
    pub partition: i32,
}

impl TopicPartition {
    pub fn new(topic: impl Into<TopicName>, partition: i32) -> Self {
        Self { topic: topic.into(), partition }
    }
}

/// As Kafka names folders and log lines: `topic-0`.
impl fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_two_underscores_are_internal() {
        assert!(TopicName::from("__consumer_offsets").is_internal());
        assert!(!TopicName::from("_mine").is_internal());
    }
}
