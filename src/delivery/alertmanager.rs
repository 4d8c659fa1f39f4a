//! Prometheus Alertmanager's `/api/v2/alerts`.
//!
//! Alertmanager tells alerts apart by their labels and forgets one that it does not hear of again: so firing alerts are
//! sent again and again with an end in the future, and their end is told.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use serde::Serialize;

use super::http_post::{HttpPost, PostError, json};
use crate::{
    alert::{AlertRecord, AlertState, Fingerprint, Severity},
    base::TimestampMs,
};

/// How long an alert stays if it is not sent again: some reminders may be lost.
const LIFETIME_MS: i64 = 5 * 60 * 1_000;
/// Alerts of one post.
const POST_ALERTS_MAX: usize = 500;

type Labels = BTreeMap<String, String>;

/// One Alertmanager.
pub(super) struct Alertmanager {
    post: HttpPost,
    /// Alerts that fire there.
    firing: BTreeMap<Fingerprint, AlertRecord>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct PostedAlert {
    labels: Labels,
    annotations: Labels,
    starts_at: String,
    ends_at: String,
}

impl Alertmanager {
    /// `url` is Alertmanager's own, or that of its `/api/v2/alerts`.
    pub(super) fn new(url: &str) -> Self {
        let path = "/api/v2/alerts";
        let base = url.trim_end_matches('/');
        let url = if base.ends_with(path) { base.to_owned() } else { format!("{base}{path}") };
        Self { post: HttpPost::new(url), firing: BTreeMap::new() }
    }

    pub(super) fn recall(&mut self, update: &AlertRecord) {
        match update.state {
            AlertState::Firing => self.firing.insert(update.fingerprint.clone(), update.clone()),
            AlertState::Resolved => self.firing.remove(&update.fingerprint),
        };
    }

    pub(super) async fn deliver(
        &mut self,
        updates: &[AlertRecord],
        now: TimestampMs,
    ) -> Result<(), PostError> {
        let posts: Vec<PostedAlert> = updates.iter().flat_map(|it| self.posts(it, now)).collect();
        self.send(&posts).await?;
        for update in updates {
            self.recall(update);
        }
        Ok(())
    }

    pub(super) async fn remind(&mut self, now: TimestampMs) -> Result<(), PostError> {
        let posts: Vec<PostedAlert> = self.firing.values().map(|it| posted(it, now)).collect();
        self.send(&posts).await
    }

    /// The update, after the end of the alert under the labels that it had before, if they have changed.
    fn posts(&self, update: &AlertRecord, now: TimestampMs) -> Vec<PostedAlert> {
        let before = self.firing.get(&update.fingerprint).filter(|it| labels(it) != labels(update));
        let ended = before.map(|it| {
            let state = AlertState::Resolved;
            posted(&AlertRecord { state, ..it.clone() }, now)
        });
        ended.into_iter().chain([posted(update, now)]).collect()
    }

    /// One that is refused holds up no other.
    async fn send(&self, posts: &[PostedAlert]) -> Result<(), PostError> {
        let mut sent = Ok(());
        for chunk in posts.chunks(POST_ALERTS_MAX) {
            match self.post.post(json(chunk)).await {
                Err(error) if error.is_final() => sent = Err(error),
                result => result?,
            }
        }
        sent
    }
}

fn posted(alert: &AlertRecord, now: TimestampMs) -> PostedAlert {
    let ends_at = match alert.state {
        AlertState::Firing => TimestampMs(now.0 + LIFETIME_MS),
        AlertState::Resolved => now,
    };
    // Record timestamps may lie in the future; an alert that begins after it ends is refused.
    let starts_at = TimestampMs(alert.first_timestamp_ms.clamp(0, now.0));
    PostedAlert {
        labels: labels(alert),
        annotations: BTreeMap::from([
            ("summary".into(), alert.title.clone()),
            ("count".into(), alert.count.to_string()),
            ("sources".into(), String::from_utf8_lossy(&json(&alert.sources)).into_owned()),
        ]),
        starts_at: rfc3339(starts_at),
        ends_at: rfc3339(ends_at),
    }
}

/// The plugin's labels, and those that tell where the alert comes from.
fn labels(alert: &AlertRecord) -> Labels {
    let own = alert.labels.iter().map(|(name, value)| (label_name(name), value.clone()));
    let mut labels: Labels = own.filter(|(_, value)| !value.is_empty()).collect();
    let fixed = [
        ("alertname", alert.plugin.as_str()),
        ("fingerprint", alert.fingerprint.0.as_str()),
        ("plugin", alert.plugin.as_str()),
        ("severity", severity(alert.severity)),
        ("topic", alert.topic.as_str()),
    ];
    labels.extend(fixed.map(|(name, value)| (name.into(), value.into())));
    labels
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
        Severity::Critical => "critical",
    }
}

/// A label's name takes letters, digits and `_`, and begins with no digit.
fn label_name(name: &str) -> String {
    let allowed = |it: char| if it.is_ascii_alphanumeric() { it } else { '_' };
    let name: String = name.chars().map(allowed).collect();
    if name.starts_with(|it: char| it.is_ascii_digit()) || name.is_empty() {
        format!("_{name}")
    } else {
        name
    }
}

fn rfc3339(at: TimestampMs) -> String {
    let since = Duration::from_millis(u64::try_from(at.0).unwrap_or(0));
    humantime::format_rfc3339_millis(SystemTime::UNIX_EPOCH + since).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alert::AlertSource;

    fn alert(severity: Severity, state: AlertState) -> AlertRecord {
        AlertRecord {
            fingerprint: Fingerprint("f".into()),
            severity,
            title: "boom".into(),
            labels: BTreeMap::from([
                ("log.level".into(), "ERROR".into()),
                ("empty".into(), String::new()),
            ]),
            topic: "logs".into(),
            topic_id: None,
            count: 3,
            sources: vec![AlertSource {
                partition: 0,
                first_offset: Some(1),
                last_offset: Some(9),
                count: 3,
            }],
            plugin: "log-alert".into(),
            plugin_version: "1.0.0".into(),
            first_timestamp_ms: 1_000,
            last_timestamp_ms: 2_000,
            state,
            updated_ms: 3_000,
        }
    }

    #[test]
    fn a_firing_alert_ends_in_the_future_and_a_resolved_one_now() {
        let firing = posted(&alert(Severity::Error, AlertState::Firing), TimestampMs(60_000));
        assert_eq!(firing.starts_at, "1970-01-01T00:00:01.000Z");
        assert_eq!(firing.ends_at, "1970-01-01T00:06:00.000Z");
        let resolved = posted(&alert(Severity::Error, AlertState::Resolved), TimestampMs(60_000));
        assert_eq!(resolved.ends_at, "1970-01-01T00:01:00.000Z");
    }

    #[test]
    fn labels_have_names_that_alertmanager_takes_and_no_empty_values() {
        let labels = labels(&alert(Severity::Critical, AlertState::Firing));
        assert_eq!(labels["log_level"], "ERROR");
        assert_eq!(labels["severity"], "critical");
        assert!(!labels.contains_key("empty"));
    }

    #[test]
    fn an_alert_whose_severity_rises_ends_under_its_old_labels() {
        let mut sink = Alertmanager::new("http://127.0.0.1:9093/");
        sink.recall(&alert(Severity::Error, AlertState::Firing));
        let posts = sink.posts(&alert(Severity::Critical, AlertState::Firing), TimestampMs(5_000));
        let severities: Vec<&str> = posts.iter().map(|it| it.labels["severity"].as_str()).collect();
        assert_eq!(severities, ["error", "critical"]);
        assert_eq!(posts[0].ends_at, rfc3339(TimestampMs(5_000)));
    }
}
