//! A member of a consumer group (KIP-848) that does what clients do: it beats, gives up at once what it loses, and tells what it owns.

use std::collections::BTreeSet;

use kafka_protocol::{
    messages::{
        ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
        consumer_group_heartbeat_request::TopicPartitions,
    },
    protocol::StrBytes,
};
use klamm::base::ErrorCode;
use uuid::Uuid;

use crate::support::{Broker, Client, eventually};

pub(super) fn text(it: &str) -> StrBytes {
    StrBytes::from_string(it.to_owned())
}

/// A topic's id and a partition.
pub(super) type Partition = (Uuid, i32);

/// What a member says of itself when it joins.
#[derive(Clone, Default)]
pub(super) struct Wish {
    pub(super) topics: Option<Vec<&'static str>>,
    pub(super) regex: Option<&'static str>,
    pub(super) assignor: Option<&'static str>,
    pub(super) instance: Option<&'static str>,
}

impl Wish {
    pub(super) fn topic(topic: &'static str) -> Self {
        Self { topics: Some(vec![topic]), ..Self::default() }
    }

    pub(super) fn regex(regex: &'static str) -> Self {
        Self { regex: Some(regex), ..Self::default() }
    }

    pub(super) fn assigned_by(self, assignor: &'static str) -> Self {
        Self { assignor: Some(assignor), ..self }
    }

    pub(super) fn instance(self, instance: &'static str) -> Self {
        Self { instance: Some(instance), ..self }
    }
}

pub(super) struct Member {
    client: Client,
    group: String,
    pub(super) id: String,
    pub(super) wish: Wish,
    pub(super) epoch: i32,
    pub(super) owned: BTreeSet<Partition>,
    /// What it owns has changed since it told.
    must_tell: bool,
}

impl Member {
    pub(super) fn new(broker: &Broker, group: &str, wish: Wish) -> Self {
        let mut client = broker.client();
        client.wait_for_coordinator(group);
        Self {
            client,
            group: group.to_owned(),
            id: Uuid::new_v4().to_string(),
            wish,
            epoch: 0,
            owned: BTreeSet::new(),
            must_tell: true,
        }
    }

    /// Joined.
    #[track_caller]
    pub(super) fn joined(broker: &Broker, group: &str, wish: Wish) -> Self {
        let mut member = Self::new(broker, group, wish);
        member.beat();
        member
    }

    /// The connection of another life of the broker.
    pub(super) fn reconnect(&mut self, broker: &Broker) {
        self.client = broker.client();
        self.client.wait_for_coordinator(&self.group);
    }

    pub(super) fn partitions(&self) -> Vec<i32> {
        self.owned.iter().map(|it| it.1).collect()
    }

    fn request(&self) -> ConsumerGroupHeartbeatRequest {
        let request = ConsumerGroupHeartbeatRequest::default()
            .with_group_id(text(&self.group).into())
            .with_member_id(text(&self.id))
            .with_member_epoch(self.epoch)
            .with_instance_id(self.wish.instance.map(text))
            .with_rebalance_timeout_ms(-1)
            .with_topic_partitions(self.must_tell.then(|| told(&self.owned)));
        if self.epoch != 0 {
            return request;
        }
        let topics = self.wish.topics.iter().flatten().map(|it| text(it).into());
        request
            .with_rebalance_timeout_ms(300_000)
            .with_subscribed_topic_names(self.wish.topics.as_ref().map(|_| topics.collect()))
            .with_subscribed_topic_regex(self.wish.regex.map(text))
            .with_server_assignor(self.wish.assignor.map(text))
            .with_topic_partitions(Some(Vec::new()))
    }

    /// One heartbeat, whatever comes of it.
    pub(super) fn try_beat(&mut self) -> ConsumerGroupHeartbeatResponse {
        let response = self.client.call(1, &self.request());
        if response.error_code != 0 {
            return response;
        }
        self.epoch = response.member_epoch;
        self.must_tell = false;
        if let Some(assignment) = &response.assignment {
            let topics = assignment.topic_partitions.iter();
            self.owned = topics
                .flat_map(|it| it.partitions.iter().map(|&partition| (it.topic_id, partition)))
                .collect();
            self.must_tell = true;
        }
        response
    }

    #[track_caller]
    pub(super) fn beat(&mut self) -> ConsumerGroupHeartbeatResponse {
        let response = self.try_beat();
        assert_eq!(response.error_code, 0, "{:?}", response.error_message);
        assert_eq!(response.member_id.as_deref(), Some(&*self.id));
        response
    }

    #[track_caller]
    pub(super) fn refused(&mut self) -> ErrorCode {
        let response = self.try_beat();
        assert!(response.error_message.is_some(), "it is said why");
        ErrorCode::from_code(response.error_code)
    }

    /// As one who still believes itself to be of `epoch`.
    #[track_caller]
    pub(super) fn refused_as_member(&mut self, epoch: i32) -> ErrorCode {
        self.epoch = epoch;
        self.refused()
    }

    /// For good, or (a static member) for a while.
    #[track_caller]
    pub(super) fn leave(&mut self, epoch: i32) {
        self.epoch = epoch;
        self.must_tell = false;
        let response = self.beat();
        assert_eq!(response.member_epoch, epoch);
        self.epoch = 0;
        self.owned.clear();
    }
}

fn told(owned: &BTreeSet<Partition>) -> Vec<TopicPartitions> {
    let topics: BTreeSet<Uuid> = owned.iter().map(|it| it.0).collect();
    let of_topic = |topic: Uuid| {
        let partitions = owned.iter().filter(|it| it.0 == topic).map(|it| it.1);
        TopicPartitions::default().with_topic_id(topic).with_partitions(partitions.collect())
    };
    topics.into_iter().map(of_topic).collect()
}

/// Nobody owns what another one owns.
#[track_caller]
pub(super) fn assert_disjoint(members: &[Member]) {
    let count: usize = members.iter().map(|it| it.owned.len()).sum();
    let all: BTreeSet<&Partition> = members.iter().flat_map(|it| &it.owned).collect();
    let owned: Vec<_> = members.iter().map(Member::partitions).collect();
    assert_eq!(count, all.len(), "a partition has two owners: {owned:?}");
}

/// All beat, one after another, until they own `count` partitions together and a whole round changes nothing. At no moment do two own
/// the same.
#[track_caller]
pub(super) fn settle(members: &mut [Member], count: usize) {
    eventually(&format!("{count} partitions are owned"), || {
        let mut is_still = true;
        for at in 0..members.len() {
            let (epoch, owned) = (members[at].epoch, members[at].owned.clone());
            members[at].beat();
            assert_disjoint(members);
            is_still &= members[at].epoch == epoch && members[at].owned == owned;
        }
        let epochs: BTreeSet<i32> = members.iter().map(|it| it.epoch).collect();
        let owned: usize = members.iter().map(|it| it.owned.len()).sum();
        (is_still && epochs.len() == 1 && owned == count).then_some(())
    });
}
