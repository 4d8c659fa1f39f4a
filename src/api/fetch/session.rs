//! One fetch session (KIP-227): what a consumer fetches, so that it need not say it again, and what it was told, so that
//! it is told only what changed. Pure.

use std::collections::{BTreeMap, HashMap};

use kafka_protocol::messages::{FetchRequest, fetch_response::PartitionData};

use super::request::{Asked, TOPIC_IDS_SINCE, Target, Topic, targets};
use crate::base::{ErrorCode, TimestampMs};

/// Ends a session, or is a request without one.
pub(super) const FINAL_EPOCH: i32 = -1;

/// Begins a session.
pub(super) const INITIAL_EPOCH: i32 = 0;

/// What a request says of its session.
#[derive(Clone, Debug)]
pub(super) struct SessionRequest {
    /// 0: none.
    pub(super) session_id: i32,
    pub(super) session_epoch: i32,
    pub(super) uses_topic_ids: bool,
    pub(super) partitions: Vec<(Target, Asked)>,
    pub(super) forgotten: Vec<Target>,
}

impl SessionRequest {
    pub(super) fn of(request: &FetchRequest, version: i16) -> Self {
        let forgotten = request.forgotten_topics_data.iter().flat_map(|it| {
            let topic = Topic::new(&it.topic, it.topic_id, version);
            it.partitions.iter().map(move |&partition| Target { topic: topic.clone(), partition })
        });
        Self {
            session_id: request.session_id,
            session_epoch: request.session_epoch,
            uses_topic_ids: version >= TOPIC_IDS_SINCE,
            partitions: targets(&request.topics, version),
            forgotten: forgotten.collect(),
        }
    }

    /// Names all its partitions, whatever session there was.
    pub(super) fn is_full(&self) -> bool {
        self.session_epoch == INITIAL_EPOCH || self.session_epoch == FINAL_EPOCH
    }
}

#[derive(Clone, Copy, Debug)]
struct Cached {
    asked: Asked,
    /// Place in the order of service.
    place: u64,
    /// As last told; −1 before.
    high_watermark: i64,
    log_start_offset: i64,
}

/// A consumer's session.
#[derive(Debug)]
pub(super) struct Session {
    /// Of the request that is expected next.
    pub(super) epoch: i32,
    uses_topic_ids: bool,
    partitions: HashMap<Target, Cached>,
    order: BTreeMap<u64, Target>,
    next_place: u64,
    pub(super) created: TimestampMs,
    pub(super) used: TimestampMs,
}

impl Session {
    pub(super) fn new(
        uses_topic_ids: bool,
        partitions: &[(Target, Asked)],
        now: TimestampMs,
    ) -> Self {
        let mut session = Self {
            epoch: 1,
            uses_topic_ids,
            partitions: HashMap::new(),
            order: BTreeMap::new(),
            next_place: 0,
            created: now,
            used: now,
        };
        for (target, asked) in partitions {
            session.set(target, *asked);
        }
        session
    }

    pub(super) fn len(&self) -> usize {
        self.partitions.len()
    }

    /// Takes over an incremental request, and moves on to the next epoch.
    ///
    /// # Errors
    ///
    /// `INVALID_FETCH_SESSION_EPOCH` for a repeated or lost request, `FETCH_SESSION_TOPIC_ID_ERROR` when it names
    /// topics otherwise than the session began. The client begins a new session.
    pub(super) fn update(
        &mut self,
        request: &SessionRequest,
        now: TimestampMs,
    ) -> Result<(), ErrorCode> {
        if request.session_epoch != self.epoch {
            return Err(ErrorCode::InvalidFetchSessionEpoch);
        }
        if request.uses_topic_ids != self.uses_topic_ids {
            return Err(ErrorCode::FetchSessionTopicIdError);
        }
        for (target, asked) in &request.partitions {
            self.set(target, *asked);
        }
        for target in &request.forgotten {
            if let Some(cached) = self.partitions.remove(target) {
                self.order.remove(&cached.place);
            }
        }
        self.epoch = next_epoch(self.epoch);
        self.used = now;
        Ok(())
    }

    /// Everything that is fetched now, in the order of service.
    pub(super) fn partitions(&self) -> Vec<(Target, Asked)> {
        let asked = |it: &Target| self.partitions.get(it).map(|cached| (it.clone(), cached.asked));
        self.order.values().filter_map(asked).collect()
    }

    /// Notes an answer; whether it says anything new to the client. A partition that gave records goes to the end of the
    /// order, so that none starves.
    pub(super) fn note(&mut self, target: &Target, data: &PartitionData) -> bool {
        let Some(cached) = self.partitions.get_mut(target) else { return true };
        let has_records = data.records.as_ref().is_some_and(|it| !it.is_empty());
        let diverged = data.diverging_epoch.epoch >= 0;
        let moved = cached.high_watermark != data.high_watermark
            || cached.log_start_offset != data.log_start_offset;
        cached.high_watermark = data.high_watermark;
        cached.log_start_offset = data.log_start_offset;
        let failed = data.error_code != 0;
        if failed {
            // The next good answer is news, whatever it says.
            cached.high_watermark = -1;
        }
        if has_records {
            self.order.remove(&cached.place);
            cached.place = self.next_place;
            self.order.insert(self.next_place, target.clone());
            self.next_place += 1;
        }
        has_records || moved || failed || diverged
    }

    fn set(&mut self, target: &Target, asked: Asked) {
        if let Some(cached) = self.partitions.get_mut(target) {
            cached.asked = asked;
            return;
        }
        let place = self.next_place;
        self.next_place += 1;
        self.order.insert(place, target.clone());
        let cached = Cached { asked, place, high_watermark: -1, log_start_offset: -1 };
        self.partitions.insert(target.clone(), cached);
    }
}

/// Epochs wrap around past 0, which begins a session.
pub(super) fn next_epoch(epoch: i32) -> i32 {
    if epoch == i32::MAX { 1 } else { epoch + 1 }
}
