//! Features of the cluster and their finalized versions (KIP-584): what members of it have agreed to use.
//!
//! Rule: a feature stands here when what it stands for is served. A version that nobody has changed is the newest.

use std::collections::BTreeMap;

/// A feature with the versions that this node can work with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    pub name: &'static str,
    pub min: i16,
    pub max: i16,
}

/// 1 for groups of the consumer protocol (KIP-848).
pub const GROUP_VERSION: Feature = Feature { name: "group.version", min: 0, max: 1 };

/// What brokers do as a whole, by Kafka's number for 4.1-IV1. The metadata log is Klamm's own, and there is no older form to go
/// back to.
pub const METADATA_VERSION: Feature = Feature { name: "metadata.version", min: 27, max: 27 };

/// All of them, by name.
pub const FEATURES: [Feature; 2] = [GROUP_VERSION, METADATA_VERSION];

/// The finalized versions that have been changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureLevels(BTreeMap<String, i16>);

impl FeatureLevels {
    /// One that this node cannot work with, from the log of a newer node, counts as the nearest that it can.
    pub fn of(&self, feature: &Feature) -> i16 {
        let level = self.0.get(feature.name).copied();
        level.map_or(feature.max, |it| it.clamp(feature.min, feature.max))
    }

    pub fn serves_consumer_groups(&self) -> bool {
        self.of(&GROUP_VERSION) >= 1
    }

    pub(super) fn set(&mut self, name: &str, level: i16) {
        self.0.insert(name.to_owned(), level);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, i16)> {
        self.0.iter().map(|(name, &level)| (name, level))
    }
}
