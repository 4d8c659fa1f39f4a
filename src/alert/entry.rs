//! One alert's life: counted, firing, quiet, resolved.

use std::collections::VecDeque;

use super::{AlertRecord, AlertState, Logged, Match, PendingAlert};
use crate::{
    base::TimestampMs,
    config::{AlertPolicy, FOR_COUNT_MAX},
};

/// Updates of one alert are at least so far apart.
const UPDATE_INTERVAL_MS: i64 = 1_000;

/// An alert with what its record does not tell.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) record: AlertRecord,
    /// When it is to be logged, if it has changed since it was.
    pub(super) due: Option<TimestampMs>,
    /// When it was logged last for consumers …
    published_at: Option<TimestampMs>,
    /// … and when matches that do not fire yet were.
    noted_at: Option<TimestampMs>,
    /// The broker's time of the last match.
    active_at: TimestampMs,
    resolved_at: Option<TimestampMs>,
    /// The broker's times of matches that do not fire yet.
    window: VecDeque<TimestampMs>,
}

impl Entry {
    pub(super) fn new(record: AlertRecord, now: TimestampMs) -> Self {
        Self {
            record,
            due: None,
            published_at: None,
            noted_at: None,
            active_at: now,
            resolved_at: None,
            window: VecDeque::new(),
        }
    }

    /// Takes over what was logged for consumers.
    pub(super) fn replay(&mut self, record: AlertRecord) {
        let ended = record.state == AlertState::Resolved;
        self.resolved_at = ended.then_some(TimestampMs(record.updated_ms));
        self.published_at = Some(TimestampMs(record.updated_ms));
        self.window.clear();
        self.record = record;
    }

    /// Takes over what was logged of matches that do not fire yet.
    pub(super) fn replay_pending(&mut self, pending: PendingAlert) {
        self.noted_at = Some(TimestampMs(pending.alert.updated_ms));
        self.window = pending.matched_at.into();
        self.record = pending.alert;
    }

    pub(super) fn is_firing(&self) -> bool {
        self.record.state == AlertState::Firing
    }

    /// Whether the match that comes now makes it fire.
    pub(super) fn would_fire(&mut self, policy: &AlertPolicy, now: TimestampMs) -> bool {
        if self.resolved_at.is_some_and(|it| now.since(it) < policy.dedup_ms) {
            return true;
        }
        let needed = usize::try_from(policy.for_count.clamp(1, FOR_COUNT_MAX)).unwrap_or(1);
        self.window.push_back(now);
        while self.window.len() > needed {
            self.window.pop_front();
        }
        let first = self.window.front().copied().unwrap_or(now);
        self.window.len() >= needed && is_within(policy, first, now)
    }

    pub(super) fn fire(&mut self) {
        if !self.is_firing() {
            // Consumers do not wait for what was due before.
            self.due = None;
        }
        self.record.state = AlertState::Firing;
        self.resolved_at = None;
        self.window.clear();
    }

    /// Counts a match, and says when it will be logged: at once, or a second after the last time.
    pub(super) fn count(&mut self, found: &Match, now: TimestampMs) -> TimestampMs {
        self.record.count(found);
        self.active_at = now;
        let last = if self.is_firing() { self.published_at } else { self.noted_at };
        let earliest = last.map_or(now, |it| TimestampMs(it.0 + UPDATE_INTERVAL_MS));
        *self.due.get_or_insert(earliest.max(now))
    }

    /// When it ends if nothing matches any more; `None` when it does not fire.
    pub(super) fn resolves_at(&self, policy: &AlertPolicy) -> Option<TimestampMs> {
        let quiet = i64::try_from(policy.resolve_after_ms).unwrap_or(i64::MAX);
        self.is_firing().then(|| TimestampMs(self.active_at.0.saturating_add(quiet)))
    }

    /// Ends it if it is time.
    pub(super) fn resolve(&mut self, policy: &AlertPolicy, now: TimestampMs) -> bool {
        let ends = self.resolves_at(policy).is_some_and(|at| at <= now);
        if ends {
            self.record.state = AlertState::Resolved;
            self.resolved_at = Some(now);
            self.window.clear();
            self.due = Some(now);
        }
        ends
    }

    /// What is to be logged now, if anything; `ended` when it has just stopped firing.
    pub(super) fn log(&mut self, ended: bool, now: TimestampMs) -> Option<Logged> {
        self.due.take_if(|at| *at <= now)?;
        self.record.updated(now);
        let alert = self.record.clone();
        if ended || self.is_firing() {
            self.published_at = Some(now);
            return Some(Logged::Alert(alert.fingerprint.clone(), Some(alert)));
        }
        self.noted_at = Some(now);
        let matched_at = self.window.iter().copied().collect();
        Some(Logged::Pending(PendingAlert { alert, matched_at }))
    }

    /// Whether forgetting it loses nothing but its count: it does not fire, and no match waits for others.
    pub(super) fn is_quiet(&self, policy: &AlertPolicy, now: TimestampMs) -> bool {
        let waits = self.window.back().is_some_and(|last| is_within(policy, *last, now));
        !self.is_firing() && self.due.is_none() && !waits
    }
}

fn is_within(policy: &AlertPolicy, then: TimestampMs, now: TimestampMs) -> bool {
    policy.within_ms == 0 || now.since(then) <= policy.within_ms
}
