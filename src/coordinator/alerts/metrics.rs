//! What is counted of alerts, from what is logged of them.

use std::collections::HashMap;

use prometheus_client::metrics::{counter::Counter, family::Family, gauge::Gauge};

use crate::{
    alert::{AlertRecord, AlertState, Fingerprint},
    telemetry::Metrics,
};

type PluginLabel = [(&'static str, String); 1];
type Counters = Family<PluginLabel, Counter>;

#[derive(Clone, Default)]
pub(super) struct AlertMetrics {
    matches: Counters,
    fired: Counters,
    resolved: Counters,
    folded: Counters,
    firing: Family<PluginLabel, Gauge>,
}

impl AlertMetrics {
    pub(super) fn register(metrics: &Metrics) -> Self {
        let it = Self::default();
        metrics.register(|registry| {
            let help = "Matches that a plugin raised, evaluations after a crash included";
            registry.register("klamm_alert_matches", help, it.matches.clone());
            let help = "Matches above rate-limit-per-minute, counted in a plugin's summary alerts";
            registry.register("klamm_alert_matches_folded", help, it.folded.clone());
            let help = "Alerts of a plugin that began to fire";
            registry.register("klamm_alerts_fired", help, it.fired.clone());
            let help = "Alerts of a plugin that ended";
            registry.register("klamm_alerts_resolved", help, it.resolved.clone());
            let help = "Alerts of a plugin that fire now";
            registry.register("klamm_alerts_firing", help, it.firing.clone());
        });
        it
    }

    pub(super) fn matched(&self, plugin: &str, matches: usize) {
        if matches > 0 {
            self.matches.get_or_create(&label(plugin)).inc_by(matches as u64);
        }
    }
}

fn label(plugin: &str) -> PluginLabel {
    [("plugin", plugin.to_owned())]
}

/// What a loaded machine's log says of each alert; its part of the gauges goes with it.
pub(super) struct Ledger {
    metrics: AlertMetrics,
    known: HashMap<Fingerprint, Known>,
    /// What is replayed by a load happened before.
    is_loaded: bool,
}

struct Known {
    plugin: String,
    is_firing: bool,
    count: u64,
}

impl Ledger {
    pub(super) fn new(metrics: AlertMetrics) -> Self {
        Self { metrics, known: HashMap::new(), is_loaded: false }
    }

    pub(super) fn loaded(&mut self) {
        self.is_loaded = true;
    }

    /// Takes note of a logged record; `None` is a tombstone.
    pub(super) fn replayed(&mut self, fingerprint: &Fingerprint, record: Option<&AlertRecord>) {
        let before = self.known.remove(fingerprint);
        if let Some(before) = before.as_ref().filter(|it| it.is_firing) {
            self.metrics.firing.get_or_create(&label(&before.plugin)).dec();
        }
        let Some(record) = record else { return };
        let is_firing = record.state == AlertState::Firing;
        let label = label(&record.plugin);
        if is_firing {
            self.metrics.firing.get_or_create(&label).inc();
        }
        if self.is_loaded {
            self.count(&label, before.as_ref(), record);
        }
        let known = Known { plugin: record.plugin.clone(), is_firing, count: record.count };
        self.known.insert(fingerprint.clone(), known);
    }

    fn count(&self, label: &PluginLabel, before: Option<&Known>, record: &AlertRecord) {
        let fired = before.is_some_and(|it| it.is_firing);
        match record.state {
            AlertState::Firing if !fired => drop(self.metrics.fired.get_or_create(label).inc()),
            AlertState::Resolved if fired => drop(self.metrics.resolved.get_or_create(label).inc()),
            AlertState::Firing | AlertState::Resolved => {}
        }
        if record.is_summary() {
            let more = record.count.saturating_sub(before.map_or(0, |it| it.count));
            self.metrics.folded.get_or_create(label).inc_by(more);
        }
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        for known in self.known.values().filter(|it| it.is_firing) {
            self.metrics.firing.get_or_create(&label(&known.plugin)).dec();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::alert::Severity;

    fn alert(state: AlertState, count: u64, is_summary: bool) -> AlertRecord {
        let own = || Fingerprint("f".into());
        let fingerprint = if is_summary { Fingerprint::of_summary("p", "logs") } else { own() };
        AlertRecord {
            fingerprint,
            severity: Severity::Error,
            title: "t".into(),
            labels: BTreeMap::new(),
            topic: "logs".into(),
            topic_id: None,
            count,
            sources: Vec::new(),
            plugin: "p".into(),
            plugin_version: "1".into(),
            first_timestamp_ms: 0,
            last_timestamp_ms: 0,
            state,
            updated_ms: 0,
        }
    }

    #[test]
    fn what_fires_and_ends_is_counted_once_and_gauges_go_with_the_machine() {
        let metrics = AlertMetrics::default();
        let mut ledger = Ledger::new(metrics.clone());
        let fingerprint = |it: &str| Fingerprint(it.into());
        let firing = |count| alert(AlertState::Firing, count, false);
        ledger.replayed(&fingerprint("old"), Some(&firing(3)));
        ledger.loaded();
        ledger.replayed(&fingerprint("a"), Some(&firing(1)));
        ledger.replayed(&fingerprint("a"), Some(&firing(2)));
        ledger.replayed(&fingerprint("a"), Some(&alert(AlertState::Resolved, 2, false)));
        ledger.replayed(&fingerprint("a"), None);
        ledger.replayed(&fingerprint("s"), Some(&alert(AlertState::Firing, 5, true)));
        ledger.replayed(&fingerprint("s"), Some(&alert(AlertState::Firing, 9, true)));
        let of = |it: &Counters| it.get_or_create(&label("p")).get();
        assert_eq!((of(&metrics.fired), of(&metrics.resolved), of(&metrics.folded)), (2, 1, 9));
        assert_eq!(metrics.firing.get_or_create(&label("p")).get(), 2);
        drop(ledger);
        assert_eq!(metrics.firing.get_or_create(&label("p")).get(), 0);
    }
}
