//! All alerts of one partition of `__klamm_alerts`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{AlertRecord, Evaluated, Fingerprint, Logged, Match, Watched, entry::Entry};
use crate::{
    base::{Offset, PluginName, TimestampMs, TopicId, TopicName},
    config::AlertPolicy,
};

/// Alerts that are kept. Above, quiet ones are forgotten; if all are needed, new ones are folded.
const ALERTS_MAX: usize = 50_000;

/// Between two looks for alerts to forget.
const FORGET_INTERVAL_MS: u64 = 1_000;

/// The window of `rate-limit-per-minute`.
const RATE_WINDOW_MS: u64 = 60_000;

/// How far sources have been evaluated with all that was found logged.
pub type Progress = BTreeMap<Watched, Offset>;

/// `[alert]` of a plugin, by its name.
type Policies<'a> = &'a dyn Fn(&str) -> AlertPolicy;

/// The machine. What has not been logged is soft: after a restart it is evaluated again from the last [`Progress`].
#[derive(Default)]
pub struct Alerts {
    entries: BTreeMap<Fingerprint, Entry>,
    /// When each entry wants attention: to be logged, or to be resolved.
    deadlines: BTreeSet<(TimestampMs, Fingerprint)>,
    deadline_of: BTreeMap<Fingerprint, TimestampMs>,
    /// By when everything that was counted so far is logged.
    all_logged_by: TimestampMs,
    /// When alerts of a plugin began to fire, within the last minute.
    began: BTreeMap<PluginName, VecDeque<TimestampMs>>,
    forgot_at: Option<TimestampMs>,
    evaluated: Progress,
    /// A copy of `evaluated` that is safe once everything due by then is logged.
    pending: Option<(TimestampMs, Progress)>,
}

impl Alerts {
    /// Applies a logged record.
    pub fn replay(&mut self, logged: Logged, now: TimestampMs) {
        match logged {
            Logged::Alert(fingerprint, None) => {
                self.entries.remove(&fingerprint);
                self.set_deadline(&fingerprint, None);
            }
            Logged::Alert(_, Some(alert)) => self.entry(&alert, now).replay(alert),
            Logged::Pending(pending) => self.entry(&pending.alert, now).replay_pending(pending),
        }
    }

    fn entry(&mut self, alert: &AlertRecord, now: TimestampMs) -> &mut Entry {
        let fingerprint = alert.fingerprint.clone();
        self.entries.entry(fingerprint).or_insert_with(|| Entry::new(alert.clone(), now))
    }

    /// Begins to watch the alerts that fire, after a load.
    pub fn loaded(&mut self, policy: Policies<'_>) {
        for fingerprint in self.entries.keys().cloned().collect::<Vec<_>>() {
            self.reschedule(&fingerprint, policy);
        }
    }

    /// Counts what a plugin found. Records that were counted before are passed over.
    pub fn count(&mut self, evaluated: Evaluated, now: TimestampMs, policy: Policies<'_>) {
        let mut matches = evaluated.matches.unwrap_or_default();
        matches.sort_by_key(|it| it.offset);
        for found in &matches {
            self.count_one(evaluated.watched.topic_id, found, now, policy);
        }
        let to = self.evaluated.entry(evaluated.watched).or_insert(evaluated.to);
        *to = evaluated.to.max(*to);
        if self.pending.is_none() {
            self.pending = Some((self.all_logged_by.max(now), self.evaluated.clone()));
        }
    }

    fn count_one(
        &mut self,
        topic_id: TopicId,
        found: &Match,
        now: TimestampMs,
        policy: Policies<'_>,
    ) {
        let own = Fingerprint::of(found);
        for fingerprint in [&own, &summary_of(found)] {
            if let Some(entry) = self.entries.get_mut(fingerprint) {
                entry.record.adopt(topic_id, found);
            }
        }
        if self.has_counted(&own, found) {
            return;
        }
        let policy_of_plugin = policy(found.plugin.as_str());
        let fingerprint = if self.may_count(&own, topic_id, found, &policy_of_plugin, now) {
            own
        } else {
            self.folded(topic_id, found, now)
        };
        if let Some(entry) = self.entries.get_mut(&fingerprint) {
            self.all_logged_by = self.all_logged_by.max(entry.count(found, now));
        }
        self.reschedule(&fingerprint, policy);
    }

    /// In its own alert, or in the summary that it was folded into while its own did not fire.
    fn has_counted(&self, own: &Fingerprint, found: &Match) -> bool {
        let counted = |entry: &Entry| entry.record.has_counted(found);
        let own = self.entries.get(own);
        let folded = || self.entries.get(&summary_of(found)).is_some_and(counted);
        own.is_some_and(counted) || !own.is_some_and(Entry::is_firing) && folded()
    }

    /// Whether the match counts in its own alert, which begins to fire if it should; `false`: fold it.
    fn may_count(
        &mut self,
        own: &Fingerprint,
        topic_id: TopicId,
        found: &Match,
        policy: &AlertPolicy,
        now: TimestampMs,
    ) -> bool {
        if !self.entries.contains_key(own) {
            if self.entries.len() >= ALERTS_MAX {
                return false;
            }
            let record = AlertRecord::new(own.clone(), topic_id, found);
            self.entries.insert(own.clone(), Entry::new(record, now));
        }
        let Some(entry) = self.entries.get_mut(own) else { return false };
        if entry.is_firing() || !entry.would_fire(policy, now) {
            return true;
        }
        if !may_begin(self.began.entry(found.plugin.clone()).or_default(), policy, now) {
            return false;
        }
        entry.fire();
        true
    }

    /// The plugin's summary alert for the topic, firing.
    fn folded(&mut self, topic_id: TopicId, found: &Match, now: TimestampMs) -> Fingerprint {
        let fingerprint = summary_of(found);
        let entry = self.entries.entry(fingerprint.clone()).or_insert_with(|| {
            let mut record = AlertRecord::new(fingerprint.clone(), topic_id, found);
            record.title = format!("more alerts of {} than its limit lets through", found.plugin);
            record.labels = BTreeMap::from([("folded".into(), "true".into())]);
            Entry::new(record, now)
        });
        entry.fire();
        fingerprint
    }

    /// What is to be logged now: changed alerts, and alerts that have ended; then tombstones of forgotten ones.
    pub fn tick(&mut self, now: TimestampMs, policy: Policies<'_>) -> Vec<Logged> {
        let mut records = Vec::new();
        while let Some((_, fingerprint)) =
            self.deadlines.first().filter(|(at, _)| *at <= now).cloned()
        {
            if let Some(entry) = self.entries.get_mut(&fingerprint) {
                let ended = entry.resolve(&policy(&entry.record.plugin), now);
                records.extend(entry.log(ended, now));
            }
            self.reschedule(&fingerprint, policy);
        }
        self.forget_quiet(now, policy, &mut records);
        records
    }

    /// The progress that is safe to store once what [`Alerts::tick`] returned at `now` is committed.
    pub fn take_progress(&mut self, now: TimestampMs) -> Option<Progress> {
        let (_, progress) = self.pending.take_if(|(at, _)| *at <= now)?;
        if progress != self.evaluated {
            self.pending = Some((self.all_logged_by.max(now), self.evaluated.clone()));
        }
        Some(progress)
    }

    /// Forgets how far a plugin has come on a topic: it does not watch it any more.
    pub fn forget_progress(&mut self, topic: &TopicName, plugin: &PluginName) {
        let kept = |it: &Watched| it.source.topic != *topic || it.plugin != *plugin;
        self.evaluated.retain(|it, _| kept(it));
        if let Some((_, progress)) = &mut self.pending {
            progress.retain(|it, _| kept(it));
        }
    }

    /// When [`Alerts::tick`] has something to do next.
    pub fn next_deadline(&self) -> Option<TimestampMs> {
        let entry = self.deadlines.first().map(|(at, _)| *at);
        let progress = self.pending.as_ref().map(|(at, _)| *at);
        entry.into_iter().chain(progress).min()
    }

    fn reschedule(&mut self, fingerprint: &Fingerprint, policy: Policies<'_>) {
        let deadline = self.entries.get(fingerprint).and_then(|entry| {
            let resolves_at = entry.resolves_at(&policy(&entry.record.plugin));
            entry.due.into_iter().chain(resolves_at).min()
        });
        self.set_deadline(fingerprint, deadline);
    }

    fn set_deadline(&mut self, fingerprint: &Fingerprint, deadline: Option<TimestampMs>) {
        let before = match deadline {
            Some(at) => self.deadline_of.insert(fingerprint.clone(), at),
            None => self.deadline_of.remove(fingerprint),
        };
        if let Some(before) = before {
            self.deadlines.remove(&(before, fingerprint.clone()));
        }
        if let Some(at) = deadline {
            self.deadlines.insert((at, fingerprint.clone()));
        }
    }

    /// Forgets quiet alerts while there are too many.
    fn forget_quiet(&mut self, now: TimestampMs, policy: Policies<'_>, records: &mut Vec<Logged>) {
        let recent = self.forgot_at.is_some_and(|it| now.since(it) < FORGET_INTERVAL_MS);
        if self.entries.len() < ALERTS_MAX || recent {
            return;
        }
        self.forgot_at = Some(now);
        let surplus = self.entries.len() - (ALERTS_MAX - ALERTS_MAX / 10);
        let quiet = |entry: &Entry| entry.is_quiet(&policy(&entry.record.plugin), now);
        let forgotten = self.entries.iter().filter(|(_, it)| quiet(it)).take(surplus);
        records.extend(forgotten.map(|(fingerprint, _)| Logged::Alert(fingerprint.clone(), None)));
    }
}

/// What a match is folded into.
fn summary_of(found: &Match) -> Fingerprint {
    Fingerprint::of_summary(found.plugin.as_str(), found.source.topic.as_str())
}

/// Whether one more alert may begin to fire; notes it if so.
fn may_begin(began: &mut VecDeque<TimestampMs>, policy: &AlertPolicy, now: TimestampMs) -> bool {
    let limit = policy.rate_limit_per_minute as usize;
    if limit == 0 {
        return true;
    }
    while began.front().is_some_and(|it| now.since(*it) >= RATE_WINDOW_MS) {
        began.pop_front();
    }
    let may = began.len() < limit;
    if may {
        began.push_back(now);
    }
    may
}

#[cfg(test)]
mod tests;
