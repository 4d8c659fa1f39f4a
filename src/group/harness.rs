//! Drives a shard in tests as the runtime does: records are replayed at once, timers fire when time passes.

use std::collections::{BTreeMap, BTreeSet};

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::{
    messages::{
        ConsumerProtocolSubscription, consumer_protocol_subscription::TopicPartition as Owned,
    },
    protocol::{Encodable, StrBytes},
};

use super::{
    Answer, Ask, AskReason, Effects, GroupError, GroupRecord, Shard, Ticket, TimerKey,
    classic::{
        Assignments, AssignorAnswer, HeartbeatRequest, JoinRequest, Joined, LeavingMember,
        Protocol, State, SyncRequest, Synced, TargetInputs,
    },
    consumer::{ConsumerAsk, ConsumerHeartbeat, ConsumerHeartbeatRequest},
};
use crate::{
    base::{GroupId, LeaderEpoch, MemberId, TimestampMs, TopicId, TopicName},
    config::{Config, GroupConfig, group::ConsumerTimes},
    machine::Machine,
    metadata::{MetadataImage, PartitionImage, TopicImage},
};

pub(super) const SESSION_MS: i64 = 10_000;
pub(super) const REBALANCE_MS: i64 = 60_000;
pub(super) const TIMES: ConsumerTimes =
    ConsumerTimes { session_timeout_ms: 45_000, heartbeat_interval_ms: 5_000 };
pub(super) const INITIAL_DELAY_MS: i64 = 3_000;

pub(super) fn settings() -> GroupConfig {
    Config::default().group
}

const PARTITION: PartitionImage = PartitionImage {
    leader: None,
    leader_epoch: LeaderEpoch(0),
    partition_epoch: 0,
    replicas: Vec::new(),
    isr: Vec::new(),
};

pub(super) struct Harness {
    pub(super) settings: GroupConfig,
    pub(super) shard: Shard,
    pub(super) log: Vec<GroupRecord>,
    pub(super) image: MetadataImage,
    pub(super) now: TimestampMs,
    pub(super) asks: Vec<Ask>,
    pub(super) consumer_asks: Vec<ConsumerAsk>,
    /// The effective `klamm.assignor`.
    pub(super) assignor: Option<&'static str>,
    timers: BTreeSet<(TimestampMs, TimerKey)>,
    answers: BTreeMap<Ticket, Answer>,
    tickets: u64,
}

impl Harness {
    pub(super) fn new(settings: GroupConfig) -> Self {
        Self {
            shard: Shard::new(settings.clone()),
            settings,
            log: Vec::new(),
            image: MetadataImage::default(),
            now: TimestampMs(1_000_000),
            asks: Vec::new(),
            consumer_asks: Vec::new(),
            assignor: None,
            timers: BTreeSet::new(),
            answers: BTreeMap::new(),
            tickets: 0,
        }
    }

    pub(super) fn absorb(&mut self, effects: Effects) {
        for record in effects.records {
            let raw = record.encode();
            let read = GroupRecord::decode(&raw.key, raw.value.as_deref()).unwrap().unwrap();
            assert_eq!(read, record);
            self.shard.replay(record.clone());
            self.log.push(record);
        }
        self.timers.extend(effects.timers);
        self.asks.extend(effects.asks);
        self.consumer_asks.extend(effects.consumer_asks);
        for (ticket, answer) in effects.answers {
            assert!(self.answers.insert(ticket, answer).is_none(), "{ticket:?} is answered once");
        }
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    pub(super) fn join(&mut self, mut request: JoinRequest) -> Ticket {
        request.assignor = self.assignor.map(Into::into);
        let ticket = self.ticket();
        let effects = self.shard.join(request, ticket, self.now);
        self.absorb(effects);
        ticket
    }

    pub(super) fn sync(&mut self, request: SyncRequest) -> Ticket {
        let ticket = self.ticket();
        let effects = self.shard.sync(request, ticket, self.now);
        self.absorb(effects);
        ticket
    }

    /// `None` while the join waits.
    pub(super) fn joined(&mut self, ticket: Ticket) -> Option<Result<Joined, GroupError>> {
        match self.answers.remove(&ticket)? {
            Answer::Join(result) => Some(result),
            Answer::Sync(_) => panic!("a join is answered by a join"),
        }
    }

    pub(super) fn synced(&mut self, ticket: Ticket) -> Option<Result<Synced, GroupError>> {
        match self.answers.remove(&ticket)? {
            Answer::Sync(result) => Some(result),
            Answer::Join(_) => panic!("a sync is answered by a sync"),
        }
    }

    pub(super) fn heartbeat(&mut self, id: &str, generation_id: i32) -> Result<(), GroupError> {
        let request = HeartbeatRequest {
            group_id: "g".into(),
            member_id: id.into(),
            group_instance_id: None,
            generation_id,
        };
        let (effects, result) = self.shard.heartbeat(&request, self.now);
        self.absorb(effects);
        result
    }

    pub(super) fn consume(
        &mut self,
        request: &ConsumerHeartbeatRequest,
    ) -> Result<ConsumerHeartbeat, GroupError> {
        let (effects, result) = self.shard.consumer_heartbeat(request, &self.image, self.now);
        assert!(result.is_ok() || effects == Effects::default(), "an error changes nothing");
        self.absorb(effects);
        result
    }

    /// A topic comes, goes with `None`, or has another number of partitions.
    pub(super) fn topic(&mut self, id: TopicId, name: &str, partitions: Option<usize>) {
        let name = TopicName::from(name);
        self.image.topics.remove(&name);
        self.image.topic_names.remove(&id);
        if let Some(count) = partitions {
            let topic = TopicImage { id, name: name.clone(), partitions: vec![PARTITION; count] };
            self.image.topics.insert(name.clone(), topic.into());
            self.image.topic_names.insert(id, name);
        }
        self.image.version += 1;
        self.shard.metadata_changed();
    }

    pub(super) fn leave(&mut self, ids: &[&str]) -> Vec<Result<(), GroupError>> {
        let leaving: Vec<_> = ids
            .iter()
            .map(|&id| LeavingMember { member_id: id.into(), group_instance_id: None })
            .collect();
        let (effects, result) = self.shard.leave(&"g".into(), &leaving, self.now);
        self.absorb(effects);
        result.unwrap()
    }

    /// Lets time pass; each timer fires at its own time.
    pub(super) fn advance(&mut self, ms: i64) {
        let end = TimestampMs(self.now.0 + ms);
        while let Some((at, _)) = self.timers.first().filter(|it| it.0 <= end) {
            self.now = (*at).max(self.now);
            let (_, key) = self.timers.pop_first().unwrap();
            let effects = if key.kind == super::TimerKind::Probe {
                let assignor = self.assignor.map(Into::into);
                self.shard.assignor_changed(&key.group_id, assignor, self.now)
            } else {
                self.shard.fire(&key, self.now)
            };
            self.absorb(effects);
        }
        self.now = end;
    }

    /// Loads the shard anew from what was logged, as after a crash.
    pub(super) fn reload(&mut self) {
        self.shard = Shard::new(self.settings.clone());
        for record in &self.log {
            self.shard.replay(record.clone());
        }
        self.timers.clear();
        self.consumer_asks.clear();
        let effects = self.shard.loaded(&|_| TIMES, self.now);
        self.absorb(effects);
    }

    /// A replay of the log yields what is stored.
    pub(super) fn assert_replayable(&self) {
        let mut again = Shard::new(self.settings.clone());
        for record in &self.log {
            again.replay(record.clone());
        }
        assert_eq!(again.stored_state(), self.shard.stored_state());
    }

    pub(super) fn state(&self) -> State {
        self.shard.group("g").map_or(State::Dead, super::classic::ClassicGroup::state)
    }

    pub(super) fn generation(&self) -> i32 {
        self.shard.group("g").map_or(-1, super::classic::ClassicGroup::generation_id)
    }

    /// All of `requests` join a group that is empty or rebalances; their answers.
    pub(super) fn join_all(&mut self, requests: Vec<JoinRequest>) -> Vec<Joined> {
        let tickets: Vec<_> = requests.into_iter().map(|it| self.join(it)).collect();
        if self.state() == State::PreparingRebalance {
            self.advance(REBALANCE_MS.min(INITIAL_DELAY_MS * 2));
        }
        tickets.into_iter().map(|it| self.joined(it).unwrap().unwrap()).collect()
    }

    /// Everyone syncs; the leader brings `assignments` of its own. Answered at once unless a plugin is asked.
    pub(super) fn sync_all(
        &mut self,
        joined: &[Joined],
        assignments: &[(&str, &[u8])],
    ) -> Vec<Ticket> {
        let mut tickets = Vec::new();
        for it in joined {
            let mut request = sync(it.member_id.as_str(), it.generation_id);
            request.assignor = self.assignor.map(Into::into);
            if it.leader == it.member_id {
                request.assignments = assignments
                    .iter()
                    .map(|&(id, bytes)| (id.into(), Bytes::copy_from_slice(bytes)))
                    .collect();
            }
            tickets.push(self.sync(request));
        }
        tickets
    }

    /// A stable group of these members, each with its own id as its assignment.
    pub(super) fn stable(&mut self, ids: &[&str]) -> Vec<Joined> {
        let joined = self.join_all(ids.iter().map(|&id| new_member(id)).collect());
        let own: Vec<(&str, &[u8])> = ids.iter().map(|&id| (id, id.as_bytes())).collect();
        for ticket in self.sync_all(&joined, &own) {
            self.synced(ticket).unwrap().unwrap();
        }
        assert_eq!(self.state(), State::Stable);
        joined
    }

    /// What a plugin would be told and has answered, for the newest question.
    pub(super) fn answer(&mut self, partitions: i32, result: Result<Assignments, String>) {
        let ask = self.asks.pop().expect("a plugin was asked");
        let inputs = inputs(&ask, partitions);
        self.answer_ask(&ask, inputs, result);
    }

    pub(super) fn answer_ask(
        &mut self,
        ask: &Ask,
        inputs: TargetInputs,
        result: Result<Assignments, String>,
    ) {
        let answer = AssignorAnswer {
            group_id: ask.group_id.clone(),
            generation_id: ask.generation_id,
            question: ask.question,
            reason: ask.reason,
            inputs,
            result,
        };
        let effects = self.shard.assigned(answer, self.now);
        self.absorb(effects);
    }

    pub(super) fn assignor_changed(&mut self) {
        let assignor = self.assignor.map(Into::into);
        let effects = self.shard.assignor_changed(&GroupId::from("g"), assignor, self.now);
        self.absorb(effects);
    }

    pub(super) fn last_reason(&self) -> Option<AskReason> {
        self.asks.last().map(|it| it.reason)
    }
}

pub(super) fn inputs(ask: &Ask, partitions: i32) -> TargetInputs {
    TargetInputs {
        assignor: ask.assignor.clone(),
        sha256: "1".into(),
        subscriptions: ask
            .members
            .iter()
            .map(|it| (it.member_id.clone(), it.topics.clone()))
            .collect(),
        partitions: BTreeMap::from([("t".into(), partitions)]),
    }
}

/// Partitions of topic `t` for each member.
pub(super) fn assignments(of: &[(&str, &[i32])]) -> Assignments {
    of.iter()
        .map(|&(id, partitions)| {
            let topics = (!partitions.is_empty()).then(|| ("t".into(), partitions.to_vec()));
            (MemberId::from(id), topics.into_iter().collect())
        })
        .collect()
}

/// A member whose id will be `id`, joining for the first time with a version that needs no id before.
pub(super) fn new_member(id: &str) -> JoinRequest {
    JoinRequest {
        group_id: "g".into(),
        member_id: "".into(),
        group_instance_id: None,
        client_id: "c".into(),
        client_host: "/127.0.0.1".into(),
        session_timeout_ms: SESSION_MS as i32,
        rebalance_timeout_ms: REBALANCE_MS as i32,
        protocol_type: "consumer".into(),
        protocols: vec![protocol("range", subscription(&["t"], &[], -1))],
        requires_known_member_id: false,
        supports_skip_assignment: false,
        new_member_id: id.into(),
        assignor: None,
    }
}

/// The member of that id joins again.
pub(super) fn rejoin(id: &str) -> JoinRequest {
    JoinRequest { member_id: id.into(), ..new_member("unused") }
}

pub(super) fn protocol(name: &str, metadata: Bytes) -> Protocol {
    Protocol { name: name.into(), metadata }
}

/// A version 2 subscription to topics, owning partitions of topic `t`.
pub(super) fn subscription(topics: &[&str], owned: &[i32], generation_id: i32) -> Bytes {
    let topics = topics.iter().map(|&it| StrBytes::from_string(it.to_owned()));
    let owned = Owned::default()
        .with_topic(StrBytes::from_static_str("t").into())
        .with_partitions(owned.to_vec());
    let message = ConsumerProtocolSubscription::default()
        .with_topics(topics.collect())
        .with_owned_partitions(vec![owned])
        .with_generation_id(generation_id);
    let mut bytes = BytesMut::new();
    bytes.put_i16(2);
    message.encode(&mut bytes, 2).unwrap();
    bytes.freeze()
}

pub(super) fn sync(id: &str, generation_id: i32) -> SyncRequest {
    SyncRequest {
        group_id: "g".into(),
        member_id: id.into(),
        group_instance_id: None,
        generation_id,
        protocol_type: None,
        protocol_name: None,
        assignments: BTreeMap::new(),
        assignor: None,
    }
}
