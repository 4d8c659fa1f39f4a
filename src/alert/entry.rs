//! One alert's life: counted, firing, quiet, resolved.

use std::collections::VecDeque;

use super::{AlertRecord, AlertState, Match};
use crate::{base::TimestampMs, config::AlertPolicy};

/// Updates of one alert are at least so far apart.
const UPDATE_INTERVAL_MS: i64 = 1_000;

/// Times of matches that are kept to find `for-count` of them within `within-ms`.
const WINDOW_MAX: usize = 10_000;

/// An alert with what is not logged of it. After a restart a count that had not begun to fire begins anew.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) record: AlertRecord,
    /// When the record is to be logged, if it has changed since it was.
    pub(super) due: Option<TimestampMs>,
    /// When it was logged last.
    logged_at: Option<TimestampMs>,
    /// The broker's time of the last match.
    active_at: TimestampMs,
    resolved_at: Option<TimestampMs>,
    /// The broker's times of matches that do not fire yet.
    window: VecDeque<TimestampMs>,
}

impl Entry {
    pub(super) fn new(record: AlertRecord, now: TimestampMs) -> Self {
        let window = VecDeque::new();
        Self { record, due: None, logged_at: None, active_at: now, resolved_at: None, window }
    }

    pub(super) fn is_firing(&self) -> bool {
        self.record.state == AlertState::Firing
    }

    /// Whether the match that comes now makes it fire.
    pub(super) fn would_fire(&mut self, policy: &AlertPolicy, now: TimestampMs) -> bool {
        if self.resolved_at.is_some_and(|it| now.since(it) < policy.dedup_ms) {
            return true;
        }
        let needed = usize::try_from(policy.for_count.max(1)).unwrap_or(usize::MAX).min(WINDOW_MAX);
        self.window.push_back(now);
        while self.window.len() > needed {
            self.window.pop_front();
        }
        let first = self.window.front().copied().unwrap_or(now);
        self.window.len() >= needed
            && (policy.within_ms == 0 || now.since(first) <= policy.within_ms)
    }

    pub(super) fn fire(&mut self) {
        self.record.state = AlertState::Firing;
        self.resolved_at = None;
        self.window.clear();
    }

    /// Counts a match; a firing alert is then due, at once or a second after it was logged.
    pub(super) fn count(&mut self, found: &Match, now: TimestampMs) {
        self.record.count(found);
        self.active_at = now;
        if self.is_firing() {
            self.make_due(now);
        }
    }

    pub(super) fn make_due(&mut self, now: TimestampMs) {
        let earliest = self.logged_at.map_or(now, |it| TimestampMs(it.0 + UPDATE_INTERVAL_MS));
        self.due.get_or_insert(earliest.max(now));
    }

    /// When it ends if nothing matches any more; `None` when it does not fire.
    pub(super) fn resolves_at(&self, policy: &AlertPolicy) -> Option<TimestampMs> {
        let quiet = i64::try_from(policy.resolve_after_ms).unwrap_or(i64::MAX);
        self.is_firing().then(|| TimestampMs(self.active_at.0.saturating_add(quiet)))
    }

    pub(super) fn resolve(&mut self, now: TimestampMs) {
        self.record.state = AlertState::Resolved;
        self.resolved_at = Some(now);
        self.window.clear();
        self.due = Some(now);
    }

    pub(super) fn logged(&mut self, now: TimestampMs) {
        self.due = None;
        self.logged_at = Some(now);
    }
}
