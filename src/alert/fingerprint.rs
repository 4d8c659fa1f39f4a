//! What makes two matches one alert.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Match;

/// Covers plugin, topic and the plugin's own fingerprint: 32 hexadecimal digits. The key of `__klamm_alerts`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub String);

impl Fingerprint {
    pub fn of(found: &Match) -> Self {
        Self::new(found.plugin.as_str(), found.source.topic.as_str(), "match", &found.fingerprint)
    }

    /// That of the summary of what a plugin's limit folds, for one topic.
    pub fn of_summary(plugin: &str, topic: &str) -> Self {
        Self::new(plugin, topic, "folded", "")
    }

    fn new(plugin: &str, topic: &str, kind: &str, own: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [plugin, topic, kind, own] {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        let mut hex = String::new();
        for byte in hash.finalize().iter().take(16) {
            // Writing to a string does not fail.
            let _ = write!(hex, "{byte:02x}");
        }
        Self(hex)
    }
}
