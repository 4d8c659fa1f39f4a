//! What a restart may forget of a consumer group: sessions begin anew then, and plugins are asked again.

use std::{collections::BTreeMap, sync::Arc};

use super::{Step, assignor::GroupSpec};
use crate::{
    base::{MemberId, TimestampMs},
    group::{AskReason, TimerKind, session::Session},
};

/// Topics may come and go quickly, and all of them are matched each time. As Kafka's.
const MATCH_INTERVAL_MS: u64 = 10_000;

#[derive(Debug, Default)]
pub(in crate::group) struct Soft {
    pub(super) sessions: BTreeMap<MemberId, Session>,
    /// The members' topics are those that the group's hash was made of.
    pub(super) has_seen_topics: bool,
    /// … and what their regular expressions match is what they match now.
    pub(super) has_matched: bool,
    pub(super) last_match: Option<TimestampMs>,
    /// Number of the newest question to a plugin.
    pub(super) questions: u64,
    pub(super) open: Option<OpenQuestion>,
    /// The assignor may say something else by now.
    pub(super) must_probe: bool,
    pub(super) last_probe: Option<TimestampMs>,
}

/// A question that is not answered yet.
#[derive(Clone, Debug)]
pub(super) struct OpenQuestion {
    pub(super) number: u64,
    pub(super) group_epoch: i32,
    pub(super) reason: AskReason,
    pub(super) spec: Arc<GroupSpec>,
    /// The group has changed since: the answer will be dropped.
    pub(super) is_outdated: bool,
}

impl Soft {
    pub(super) fn outdate(&mut self) {
        if let Some(open) = &mut self.open {
            open.is_outdated = true;
        }
    }

    /// Whether the regular expressions have to be matched again.
    pub(super) fn take_matching(&mut self, step: &Step<'_>) -> bool {
        let interval = step.settings.consumer.regex_refresh_interval_ms.unsigned_abs();
        let is_due = self.last_match.is_none_or(|it| {
            let age = step.now.since(it);
            age >= interval.into() || (!self.has_matched && age >= MATCH_INTERVAL_MS)
        });
        if !is_due {
            return false;
        }
        self.has_matched = true;
        self.last_match = Some(step.now);
        true
    }

    /// Whether it is time to ask what the assignor would say now: once after each change of it, and at most once in
    /// `klamm.assignor.rebalance.interval.ms`.
    pub(super) fn take_probe(&mut self, step: &Step<'_>) -> bool {
        let interval = step.settings.assignor_rebalance_interval_ms;
        let too_soon = self.last_probe.is_some_and(|last| step.now.since(last) < interval);
        if !self.must_probe || too_soon || self.open.is_some() {
            return false;
        }
        self.must_probe = false;
        self.last_probe = Some(step.now);
        true
    }

    /// The member has shown that it lives.
    pub(super) fn touch(
        &mut self,
        member_id: &MemberId,
        session_timeout_ms: i32,
        step: &mut Step<'_>,
    ) {
        self.keep_until(member_id, step.after(session_timeout_ms), step);
    }

    pub(super) fn keep_until(
        &mut self,
        member_id: &MemberId,
        deadline: TimestampMs,
        step: &mut Step<'_>,
    ) {
        let session = self.sessions.entry(member_id.clone()).or_default();
        if let Some(at) = session.keep_until(deadline) {
            step.timer(at, TimerKind::Session(member_id.clone()));
        }
    }

    /// The member is gone. Its topics may be nobody's any more.
    pub(super) fn forget(&mut self, member_id: &MemberId) {
        self.sessions.remove(member_id);
        self.has_seen_topics = false;
    }

    /// Topics have changed, anybody's.
    pub(super) fn metadata_changed(&mut self) {
        self.has_seen_topics = false;
        self.has_matched = false;
    }
}
