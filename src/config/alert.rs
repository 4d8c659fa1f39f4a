//! What becomes of alerts: where they are sent, and the host's policy for those of a plugin.

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub struct AlertConfig {
    /// `[klamm.alert.sinks.NAME]`
    pub sinks: BTreeMap<String, SinkConfig>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SinkConfig {
    pub kind: SinkKind,
    /// Empty for `log`.
    pub url: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SinkKind {
    Alertmanager,
    Webhook,
    Log,
}

/// Most matches that an alert can be made to wait for: the times of all are kept.
pub const FOR_COUNT_MAX: u64 = 10_000;

/// The host's policy for a plugin's alerts: `[alert]` in its `NAME.toml`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AlertPolicy {
    /// Matches that make an alert fire, at most [`FOR_COUNT_MAX`] …
    pub for_count: u64,
    /// … when they come within so many milliseconds; 0: ever.
    pub within_ms: u64,
    /// An alert that ended fires again without `for-count` being reached anew when it comes back this soon.
    pub dedup_ms: u64,
    /// A firing alert without a match for so long is resolved.
    pub resolve_after_ms: u64,
    /// Alerts of this plugin that may begin to fire in a minute; those above are folded into one summary
    /// alert that tells how many. 0: without limit.
    pub rate_limit_per_minute: u32,
}

impl Default for AlertPolicy {
    fn default() -> Self {
        Self {
            for_count: 1,
            within_ms: 0,
            dedup_ms: 0,
            resolve_after_ms: 300_000,
            rate_limit_per_minute: 0,
        }
    }
}
