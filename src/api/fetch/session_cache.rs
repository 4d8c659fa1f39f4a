//! The fetch sessions of this node (KIP-227), bounded: a client that gets none fetches as before there were any.

use std::collections::HashMap;

use kafka_protocol::messages::fetch_response::PartitionData;
use parking_lot::Mutex;

use super::{
    request::{Asked, Target},
    session::{FINAL_EPOCH, Session, SessionRequest},
};
use crate::base::{ErrorCode, TimestampMs};

/// `min.incremental.fetch.session.eviction.ms`: a session is safe from others for so long after its last use.
const EVICTION_MS: u64 = 120_000;

/// Larger sessions are not kept.
const SESSION_PARTITIONS_MAX: usize = 10_000;

/// Of all sessions together, which bounds their memory: a partition takes some 200 bytes.
const PARTITIONS_MAX: usize = 500_000;

/// What one request fetches, and what its session makes of the answers.
#[derive(Debug)]
pub(super) struct SessionFetch {
    pub(super) partitions: Vec<(Target, Asked)>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sessionless,
    /// The answer begins a session.
    Full {
        uses_topic_ids: bool,
    },
    /// The answer tells what changed. `epoch` is that of the request after this one.
    Incremental {
        session_id: i32,
        epoch: i32,
    },
}

/// All sessions.
#[derive(Debug)]
pub struct FetchSessions {
    slots: usize,
    partitions_max: usize,
    sessions: Mutex<HashMap<i32, Session>>,
}

#[cfg(test)]
impl Default for FetchSessions {
    fn default() -> Self {
        Self::new(1_000)
    }
}

impl FetchSessions {
    /// `slots`: `max.incremental.fetch.session.cache.slots`
    pub fn new(slots: usize) -> Self {
        Self { slots, partitions_max: PARTITIONS_MAX, sessions: Mutex::default() }
    }

    /// Finds out what a request fetches.
    ///
    /// # Errors
    ///
    /// The codes of KIP-227, for the whole answer.
    pub(super) fn begin(
        &self,
        request: SessionRequest,
        now: TimestampMs,
    ) -> Result<SessionFetch, ErrorCode> {
        let mut sessions = self.sessions.lock();
        if request.is_full() {
            sessions.remove(&request.session_id);
            let kind = match request.session_epoch {
                FINAL_EPOCH => Kind::Sessionless,
                _ => Kind::Full { uses_topic_ids: request.uses_topic_ids },
            };
            return Ok(SessionFetch { partitions: request.partitions, kind });
        }
        let id = request.session_id;
        let session = sessions.get_mut(&id).ok_or(ErrorCode::FetchSessionIdNotFound)?;
        session.update(&request, now)?;
        let fetch = SessionFetch {
            partitions: session.partitions(),
            kind: Kind::Incremental { session_id: id, epoch: session.epoch },
        };
        match session.len() {
            0 => {
                sessions.remove(&id);
                Ok(SessionFetch { kind: Kind::Sessionless, ..fetch })
            }
            1..=SESSION_PARTITIONS_MAX
                if request.partitions.is_empty()
                    || partitions(&sessions) <= self.partitions_max =>
            {
                Ok(fetch)
            }
            _ => {
                sessions.remove(&id);
                Err(ErrorCode::FetchSessionIdNotFound)
            }
        }
    }

    /// Returns the session id for the answer (0: none), and what of it the client needs to be told.
    pub(super) fn finish(
        &self,
        fetch: &SessionFetch,
        answers: Vec<(Target, PartitionData)>,
        now: TimestampMs,
    ) -> Result<(i32, Vec<(Target, PartitionData)>), ErrorCode> {
        match fetch.kind {
            Kind::Sessionless => Ok((0, answers)),
            Kind::Full { uses_topic_ids } => {
                let mut session = Session::new(uses_topic_ids, &fetch.partitions, now);
                for (target, data) in &answers {
                    session.note(target, data);
                }
                Ok((self.insert(session, now), answers))
            }
            Kind::Incremental { session_id, epoch } => {
                let answers = self.changed(session_id, epoch, answers)?;
                Ok((session_id, answers))
            }
        }
    }

    /// The session id and the error of an answer that tells nothing, as Kafka's `getThrottledResponse` has them. A session goes on
    /// as if its client had not asked, and none is begun.
    pub(super) fn throttled(&self, fetch: &SessionFetch) -> (i32, ErrorCode) {
        let Kind::Incremental { session_id, epoch } = fetch.kind else {
            return (0, ErrorCode::None);
        };
        let sessions = self.sessions.lock();
        match sessions.get(&session_id) {
            Some(session) if session.epoch == epoch => (session_id, ErrorCode::None),
            Some(_) => (session_id, ErrorCode::InvalidFetchSessionEpoch),
            None => (0, ErrorCode::FetchSessionIdNotFound),
        }
    }

    fn changed(
        &self,
        session_id: i32,
        epoch: i32,
        answers: Vec<(Target, PartitionData)>,
    ) -> Result<Vec<(Target, PartitionData)>, ErrorCode> {
        let mut sessions = self.sessions.lock();
        let session = sessions.get_mut(&session_id).ok_or(ErrorCode::FetchSessionIdNotFound)?;
        if session.epoch != epoch {
            return Err(ErrorCode::InvalidFetchSessionEpoch);
        }
        Ok(answers.into_iter().filter(|(target, data)| session.note(target, data)).collect())
    }

    /// Keeps a session, if there is room or one may go for it. Returns its id, 0 if it is not kept.
    fn insert(&self, session: Session, now: TimestampMs) -> i32 {
        let mut sessions = self.sessions.lock();
        let fits = (1..=SESSION_PARTITIONS_MAX).contains(&session.len());
        if !fits || !self.make_room(&mut sessions, session.len(), now) {
            return 0;
        }
        let id = loop {
            let id = rand::random_range(1..=i32::MAX);
            if !sessions.contains_key(&id) {
                break id;
            }
        };
        sessions.insert(id, session);
        id
    }

    /// Whether a session of `size` partitions may be kept; others may go for it.
    fn make_room(
        &self,
        sessions: &mut HashMap<i32, Session>,
        size: usize,
        now: TimestampMs,
    ) -> bool {
        while sessions.len() >= self.slots || partitions(sessions) + size > self.partitions_max {
            if !evict(sessions, size, now) {
                return false;
            }
        }
        true
    }
}

fn partitions(sessions: &HashMap<i32, Session>) -> usize {
    sessions.values().map(Session::len).sum()
}

/// Makes room as Kafka does: the session that was idle the longest, if that is long enough; else the smallest old one
/// that is smaller than the new one.
fn evict(sessions: &mut HashMap<i32, Session>, size: usize, now: TimestampMs) -> bool {
    let idle = sessions.iter().min_by_key(|(_, it)| it.used);
    let idle = idle.filter(|(_, it)| now.since(it.used) > EVICTION_MS);
    let is_smaller = |it: &Session| now.since(it.created) > EVICTION_MS && it.len() < size;
    let smallest =
        || sessions.iter().filter(|(_, it)| is_smaller(it)).min_by_key(|(_, it)| it.len());
    let victim = idle.or_else(smallest).map(|(&id, _)| id);
    victim.and_then(|id| sessions.remove(&id)).is_some()
}

#[cfg(test)]
mod tests;
