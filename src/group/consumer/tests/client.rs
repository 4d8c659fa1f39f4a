//! A member as clients are: it tells what has changed, does what it is told when it comes to it, and joins again when it is
//! fenced.

use super::{ConsumerHeartbeatRequest, Harness, TopicPartitions, beat, join, with_instance};
use crate::group::{GroupError, consumer::ConsumerHeartbeat};

#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) instance: Option<String>,
    pub(super) epoch: i32,
    /// What it believes that it owns.
    pub(super) owned: TopicPartitions,
    /// What it was told to own, and has not come to.
    told: Option<TopicPartitions>,
    /// What the coordinator knows that it owns; `None` if an answer was lost, so that it has to tell everything.
    acknowledged: Option<TopicPartitions>,
}

impl Client {
    pub(super) fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            instance: None,
            epoch: 0,
            owned: TopicPartitions::default(),
            told: None,
            acknowledged: None,
        }
    }

    /// Its next heartbeat.
    pub(super) fn request(&self) -> ConsumerHeartbeatRequest {
        let request = if self.epoch == 0 || self.acknowledged.is_none() {
            ConsumerHeartbeatRequest { member_epoch: self.epoch, ..join(&self.id) }
        } else {
            beat(&self.id, self.epoch)
        };
        let must_tell = self.acknowledged.as_ref() != Some(&self.owned);
        let topic_partitions = must_tell.then(|| self.owned.clone());
        let request = ConsumerHeartbeatRequest { topic_partitions, ..request };
        match &self.instance {
            Some(instance) => with_instance(request, instance),
            None => request,
        }
    }

    pub(super) fn beat(&mut self, it: &mut Harness) {
        let request = self.request();
        let answer = it.consume(&request);
        self.take(&request, answer);
    }

    /// The coordinator takes the heartbeat, and its answer is lost.
    pub(super) fn beat_in_vain(&mut self, it: &mut Harness) {
        let _ = it.consume(&self.request());
        self.acknowledged = None;
    }

    pub(super) fn take(
        &mut self,
        request: &ConsumerHeartbeatRequest,
        answer: Result<ConsumerHeartbeat, GroupError>,
    ) {
        match answer {
            Ok(answer) => {
                self.epoch = answer.member_epoch;
                self.told = answer.assignment.or(self.told.take());
                if request.topic_partitions.is_some() {
                    self.acknowledged.clone_from(&request.topic_partitions);
                }
            }
            Err(GroupError::UnknownMemberId | GroupError::FencedMemberEpoch) => self.begin_anew(),
            // It tries again.
            Err(GroupError::UnreleasedInstanceId) => {}
            Err(error) => panic!("{} is told {error} for {request:?}", self.id),
        }
    }

    fn begin_anew(&mut self) {
        *self = Self { instance: self.instance.clone(), ..Self::new(&self.id) };
    }

    /// It gives up and takes what it was told to.
    pub(super) fn obey(&mut self) {
        if let Some(told) = self.told.take() {
            self.owned = told;
        }
    }

    /// Its process ends without a word; a new one begins.
    pub(super) fn crash(&mut self, new_id: &str) {
        *self = Self { instance: self.instance.clone(), ..Self::new(new_id) };
    }

    /// It leaves; a static member does so for a while.
    pub(super) fn leave(&mut self, it: &mut Harness) {
        let member_epoch = if self.instance.is_some() { -2 } else { -1 };
        let request = ConsumerHeartbeatRequest { member_epoch, ..self.request() };
        let _ = it.consume(&request);
        self.begin_anew();
    }
}
