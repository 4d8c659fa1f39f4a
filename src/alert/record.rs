//! An alert as `__klamm_alerts` holds it: JSON, under its fingerprint.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Fingerprint, Match, Severity};
use crate::base::{Offset, TimestampMs, TopicId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlertState {
    Firing,
    Resolved,
}

/// The matching records of one partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertSource {
    pub partition: i32,
    /// `None` while every matching record was dropped.
    pub first_offset: Option<i64>,
    pub last_offset: Option<i64>,
    pub count: u64,
}

/// An alert with its newest counts (design part 4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertRecord {
    pub fingerprint: Fingerprint,
    pub severity: Severity,
    pub title: String,
    pub labels: BTreeMap<String, String>,
    pub topic: String,
    /// Which topic of that name; `None` in records of versions that did not tell.
    #[serde(default)]
    pub topic_id: Option<TopicId>,
    /// Matching records in all, also from before it was last resolved.
    pub count: u64,
    /// By partition.
    pub sources: Vec<AlertSource>,
    pub plugin: String,
    pub plugin_version: String,
    /// Of the matching records themselves.
    pub first_timestamp_ms: i64,
    pub last_timestamp_ms: i64,
    pub state: AlertState,
    /// When the broker wrote this.
    #[serde(default)]
    pub updated_ms: i64,
}

impl AlertRecord {
    /// Whether it stands for the alerts of a plugin that its rate limit holds back.
    pub fn is_summary(&self) -> bool {
        self.fingerprint == Fingerprint::of_summary(&self.plugin, &self.topic)
    }

    /// An alert that counts nothing yet.
    pub(super) fn new(fingerprint: Fingerprint, topic_id: TopicId, first: &Match) -> Self {
        Self {
            fingerprint,
            severity: first.severity,
            title: first.title.clone(),
            labels: first.labels.clone(),
            topic: first.source.topic.to_string(),
            topic_id: Some(topic_id),
            count: 0,
            sources: Vec::new(),
            plugin: first.plugin.to_string(),
            plugin_version: first.plugin_version.clone(),
            first_timestamp_ms: first.timestamp.0,
            last_timestamp_ms: first.timestamp.0,
            state: AlertState::Resolved,
            updated_ms: 0,
        }
    }

    /// Counts for this topic from here on: what another one of the name held is gone, and its offsets begin anew.
    pub(super) fn adopt(&mut self, topic_id: TopicId, first: &Match) {
        if self.topic_id.is_some_and(|it| it != topic_id) {
            self.count = 0;
            self.sources.clear();
            self.first_timestamp_ms = first.timestamp.0;
            self.last_timestamp_ms = first.timestamp.0;
        }
        self.topic_id = Some(topic_id);
    }

    pub(super) fn updated(&mut self, now: TimestampMs) {
        self.updated_ms = now.0;
    }

    /// Whether this record of the source has been counted: its offset is not above the last one counted.
    pub(super) fn has_counted(&self, found: &Match) -> bool {
        let Some(Offset(offset)) = found.offset else { return false };
        let source = self.sources.iter().find(|it| it.partition == found.source.partition);
        source.and_then(|it| it.last_offset).is_some_and(|last| offset <= last)
    }

    pub(super) fn count(&mut self, found: &Match) {
        self.count += 1;
        self.severity = self.severity.max(found.severity);
        self.plugin_version.clone_from(&found.plugin_version);
        self.first_timestamp_ms = self.first_timestamp_ms.min(found.timestamp.0);
        self.last_timestamp_ms = self.last_timestamp_ms.max(found.timestamp.0);
        let source = self.source(found.source.partition);
        source.count += 1;
        if let Some(Offset(offset)) = found.offset {
            source.first_offset.get_or_insert(offset);
            source.last_offset = Some(offset);
        }
    }

    fn source(&mut self, partition: i32) -> &mut AlertSource {
        let at = match self.sources.binary_search_by_key(&partition, |it| it.partition) {
            Ok(at) => at,
            Err(at) => {
                let (first_offset, last_offset) = (None, None);
                self.sources
                    .insert(at, AlertSource { partition, first_offset, last_offset, count: 0 });
                at
            }
        };
        self.sources.get_mut(at).expect("it was found or inserted")
    }
}
