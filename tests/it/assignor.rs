//! The assignor hook in classic groups: the broker's plugin assigns, whatever the leader of the group answers.

use std::{collections::BTreeSet, fs};

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use kafka_protocol::{
    messages::{
        ConsumerProtocolAssignment, ConsumerProtocolSubscription, DescribeGroupsRequest,
        HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest, SyncGroupRequest,
        SyncGroupResponse, consumer_protocol_subscription::TopicPartition as Owned,
        join_group_request::JoinGroupRequestProtocol, leave_group_request::MemberIdentity,
        sync_group_request::SyncGroupRequestAssignment,
    },
    protocol::{Decodable, Encodable, StrBytes},
};

use crate::support::{Broker, Client, Sent, eventually};

const GROUP: &str = "billing";
const COOPERATIVE: &str = "cooperative-sticky";

fn text(it: &str) -> StrBytes {
    StrBytes::from_string(it.to_owned())
}

/// One consumer of the topic `t`.
struct Member {
    client: Client,
    protocol: &'static str,
    protocol_type: &'static str,
    id: String,
    generation: i32,
    leads: bool,
    /// What it was given last.
    owned: BTreeSet<i32>,
    joined: Option<JoinGroupResponse>,
}

impl Member {
    fn new(broker: &Broker, protocol: &'static str) -> Self {
        Self {
            client: broker.client(),
            protocol,
            protocol_type: "consumer",
            id: String::new(),
            generation: -1,
            leads: false,
            owned: BTreeSet::new(),
            joined: None,
        }
    }

    /// To `t`, as the Java client sends it: an eager member has given everything up, a cooperative one tells what it owns.
    fn subscription(&self) -> Bytes {
        let version = if self.protocol == COOPERATIVE { 2 } else { 1 };
        let mut subscription = ConsumerProtocolSubscription::default().with_topics(vec![text("t")]);
        if self.protocol == COOPERATIVE {
            let owned = Owned::default()
                .with_topic(text("t").into())
                .with_partitions(self.owned.iter().copied().collect());
            subscription.owned_partitions = vec![owned];
            subscription.generation_id = self.generation;
        }
        let mut out = BytesMut::new();
        out.put_i16(version);
        subscription.encode(&mut out, version).unwrap();
        out.freeze()
    }

    fn send_join(&mut self) -> Sent<JoinGroupRequest> {
        let protocol = JoinGroupRequestProtocol::default()
            .with_name(text(self.protocol))
            .with_metadata(self.subscription());
        let request = JoinGroupRequest::default()
            .with_group_id(text(GROUP).into())
            .with_session_timeout_ms(300_000)
            .with_rebalance_timeout_ms(300_000)
            .with_member_id(text(&self.id))
            .with_protocol_type(text(self.protocol_type))
            .with_protocols(vec![protocol]);
        self.client.send(3, &request)
    }

    #[track_caller]
    fn receive_join(&mut self, sent: Sent<JoinGroupRequest>) {
        let response = self.client.receive(sent);
        assert_eq!(response.error_code, 0);
        self.id = response.member_id.to_string();
        self.generation = response.generation_id;
        self.leads = response.leader == response.member_id;
        self.joined = Some(response);
    }

    /// The leader answers that it takes partition 7 alone.
    fn send_sync(&mut self) -> Sent<SyncGroupRequest> {
        let mut request = SyncGroupRequest::default()
            .with_group_id(text(GROUP).into())
            .with_generation_id(self.generation)
            .with_member_id(text(&self.id));
        if self.leads {
            let own = SyncGroupRequestAssignment::default()
                .with_member_id(text(&self.id))
                .with_assignment(assignment_of_leader());
            request.assignments = vec![own];
        }
        self.client.send(2, &request)
    }

    #[track_caller]
    fn receive_sync(&mut self, sent: Sent<SyncGroupRequest>) {
        let response: SyncGroupResponse = self.client.receive(sent);
        assert_eq!(response.error_code, 0);
        self.owned = partitions(response.assignment);
    }

    /// Waits until the coordinator asks it to join again.
    #[track_caller]
    fn wait_for_rebalance(&mut self) {
        const REBALANCE_IN_PROGRESS: i16 = 27;
        let request = HeartbeatRequest::default()
            .with_group_id(text(GROUP).into())
            .with_generation_id(self.generation)
            .with_member_id(text(&self.id));
        eventually("the group rebalances", || {
            let code = self.client.call(3, &request).error_code;
            (code == REBALANCE_IN_PROGRESS).then_some(())
        });
    }

    #[track_caller]
    fn leave(mut self) {
        let identity = MemberIdentity::default().with_member_id(text(&self.id));
        let request = LeaveGroupRequest::default()
            .with_group_id(text(GROUP).into())
            .with_members(vec![identity]);
        assert_eq!(self.client.call(3, &request).error_code, 0);
    }
}

fn assignment_of_leader() -> Bytes {
    use kafka_protocol::messages::consumer_protocol_assignment::TopicPartition;
    let own = TopicPartition::default().with_topic(text("t").into()).with_partitions(vec![7]);
    let assignment = ConsumerProtocolAssignment::default().with_assigned_partitions(vec![own]);
    let mut out = BytesMut::new();
    out.put_i16(0);
    assignment.encode(&mut out, 0).unwrap();
    out.freeze()
}

fn partitions(mut assignment: Bytes) -> BTreeSet<i32> {
    if assignment.is_empty() {
        return BTreeSet::new();
    }
    let version = assignment.get_i16();
    let decoded = ConsumerProtocolAssignment::decode(&mut assignment, version).unwrap();
    decoded.assigned_partitions.into_iter().flat_map(|it| it.partitions).collect()
}

/// All join, then all sync: one rebalance of a group that is waiting for it.
#[track_caller]
fn rebalance(members: &mut [Member]) {
    let joining: Vec<_> = members.iter_mut().map(Member::send_join).collect();
    for (member, sent) in members.iter_mut().zip(joining) {
        member.receive_join(sent);
    }
    sync(members);
}

#[track_caller]
fn sync(members: &mut [Member]) {
    let syncing: Vec<_> = members.iter_mut().map(Member::send_sync).collect();
    for (member, sent) in members.iter_mut().zip(syncing) {
        member.receive_sync(sent);
    }
}

/// A group of three under an assignor, which have joined one after the other; sorted by member id.
fn group(broker: &Broker, assignor: &str, protocol: &'static str) -> Vec<Member> {
    let mut client = broker.client();
    client.create_topic("t", 12, &[]);
    client.set_group_config(GROUP, "klamm.assignor", assignor);
    client.wait_for_coordinator(GROUP);
    let mut members = Vec::new();
    for _ in 0..3 {
        let member = Member::new(broker, protocol);
        join(&mut members, member);
    }
    members.sort_by(|a, b| a.id.cmp(&b.id));
    members
}

/// A rebalance for one more member: the others join again once they are told of it, whenever that is.
#[track_caller]
fn join(members: &mut Vec<Member>, mut newcomer: Member) {
    let joining = newcomer.send_join();
    members.iter_mut().for_each(Member::wait_for_rebalance);
    let again: Vec<_> = members.iter_mut().map(Member::send_join).collect();
    newcomer.receive_join(joining);
    for (member, sent) in members.iter_mut().zip(again) {
        member.receive_join(sent);
    }
    members.push(newcomer);
    sync(members);
}

fn start() -> Broker {
    // The first member does not wait for others.
    Broker::with(&[("group.initial.rebalance.delay.ms", "0")])
}

fn owned(members: &[Member]) -> Vec<BTreeSet<i32>> {
    members.iter().map(|it| it.owned.clone()).collect()
}

#[track_caller]
fn assert_all_of_12(owned: &[BTreeSet<i32>]) {
    let all: Vec<i32> = owned.iter().flatten().copied().collect();
    assert_eq!(all.len(), 12, "{owned:?}");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), (0..12).collect(), "{owned:?}");
}

fn every(step: usize, from: i32) -> BTreeSet<i32> {
    (from..12).step_by(step).collect()
}

#[test]
fn range_gives_each_member_a_stretch_and_shares_again_when_one_leaves() {
    let broker = start();
    let mut members = group(&broker, "range", "range");
    let stretch = |from: i32, to: i32| (from..to).collect::<BTreeSet<_>>();
    assert_eq!(owned(&members), [stretch(0, 4), stretch(4, 8), stretch(8, 12)]);
    members.remove(1).leave();
    rebalance(&mut members);
    assert_eq!(owned(&members), [stretch(0, 6), stretch(6, 12)]);
}

#[test]
fn roundrobin_deals_partitions_like_cards() {
    let broker = start();
    let mut members = group(&broker, "roundrobin", "roundrobin");
    assert_eq!(owned(&members), [every(3, 0), every(3, 1), every(3, 2)]);
    members.remove(0).leave();
    rebalance(&mut members);
    assert_eq!(owned(&members), [every(2, 0), every(2, 1)]);
}

#[test]
fn sticky_leaves_members_what_they_had() {
    let broker = start();
    let mut members = group(&broker, "sticky", "range");
    let before = owned(&members);
    assert_all_of_12(&before);
    assert!(before.iter().all(|it| it.len() == 4), "{before:?}");
    members.remove(1).leave();
    rebalance(&mut members);
    let after = owned(&members);
    assert_all_of_12(&after);
    assert!(after[0].is_superset(&before[0]) && after[1].is_superset(&before[2]), "{after:?}");
    assert!(after.iter().all(|it| it.len() == 6), "{after:?}");
}

#[test]
fn without_a_plugin_the_leaders_answer_stands() {
    let broker = start();
    let mut members = group(&broker, "", "range");
    let given: Vec<_> = owned(&members).into_iter().filter(|it| !it.is_empty()).collect();
    assert_eq!(given, [BTreeSet::from([7])]);
    assert!(members.iter_mut().any(|it| it.leads && it.owned.contains(&7)));
}

#[test]
fn a_group_of_another_protocol_is_left_alone() {
    let broker = start();
    let members = group(&broker, "sticky", "stream");
    let given: Vec<_> = owned(&members).into_iter().filter(|it| !it.is_empty()).collect();
    assert_eq!(given, [BTreeSet::from([7])]);
}

#[test]
fn a_custom_assignor_takes_effect_at_the_next_rebalance() {
    let broker = start();
    let mut members = group(&broker, "range", "range");
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/examples/assignor-by-lag/assignor-by-lag.wasm");
    broker.load_plugin("by-lag", &fs::read(path).unwrap());
    let mut client = broker.client();
    // All lag is in one partition: who gets it gets little else.
    let session = crate::support::Session::new(&mut client);
    client.must_produce("t", 3, session.batch(0, &[(None, Some("a")); 500]));
    client.set_group_config(GROUP, "klamm.assignor", "by-lag");
    members[0].wait_for_rebalance();
    rebalance(&mut members);
    let after = owned(&members);
    assert_all_of_12(&after);
    let loaded = after.iter().find(|it| it.contains(&3)).unwrap();
    assert_eq!(loaded.len(), 1, "{after:?}");
}

/// One rebalance of cooperative members, which keep what they own meanwhile: nobody may be given what another one owns.
/// Whether somebody has to give something up, and to join again for that.
#[track_caller]
fn cooperate(members: &mut [Member], joining: Vec<Sent<JoinGroupRequest>>) -> bool {
    let owned = owned(members);
    for (member, sent) in members.iter_mut().zip(joining) {
        member.receive_join(sent);
    }
    let generations: BTreeSet<i32> = members.iter().map(|it| it.generation).collect();
    assert_eq!(generations.len(), 1, "all are in one generation");
    let syncing: Vec<_> = members.iter_mut().map(Member::send_sync).collect();
    for (member, sent) in members.iter_mut().zip(syncing) {
        member.receive_sync(sent);
    }
    let mut revokes = false;
    for (at, member) in members.iter().enumerate() {
        for (other, owned) in owned.iter().enumerate().filter(|it| it.0 != at) {
            let twice: Vec<_> = member.owned.intersection(owned).collect();
            assert!(twice.is_empty(), "{twice:?} of {other} are given to {at} as well");
        }
        revokes |= !owned[at].is_subset(&member.owned);
    }
    revokes
}

/// Rebalances until nobody gives anything up any more; how often that took.
#[track_caller]
fn converge(members: &mut [Member], first: Vec<Sent<JoinGroupRequest>>) -> usize {
    let mut joining = first;
    for rounds in 1..10 {
        if !cooperate(members, joining) {
            return rounds;
        }
        joining = members.iter_mut().map(Member::send_join).collect();
    }
    panic!("the members never agree: {:?}", owned(members))
}

/// Waits until the coordinator knows of that many members, also of those that still wait to join.
#[track_caller]
fn wait_for_members(client: &mut Client, count: usize) {
    let request = DescribeGroupsRequest::default().with_groups(vec![text(GROUP).into()]);
    eventually("all are known", || {
        (client.call(4, &request).groups[0].members.len() == count).then_some(())
    });
}

#[test]
fn cooperative_members_give_up_first_and_nobody_owns_a_partition_twice() {
    let broker = start();
    let mut client = broker.client();
    client.create_topic("t", 12, &[]);
    client.set_group_config(GROUP, "klamm.assignor", "sticky");
    client.wait_for_coordinator(GROUP);
    let mut members = vec![Member::new(&broker, COOPERATIVE)];
    let joining = members.iter_mut().map(Member::send_join).collect();
    assert_eq!(converge(&mut members, joining), 1);
    assert_eq!(members[0].owned.len(), 12);

    members.extend((0..2).map(|_| Member::new(&broker, COOPERATIVE)));
    let newcomers: Vec<_> = members[1..].iter_mut().map(Member::send_join).collect();
    wait_for_members(&mut client, 3);
    members[0].wait_for_rebalance();
    let mut joining = vec![members[0].send_join()];
    joining.extend(newcomers);
    let kept = members[0].owned.clone();
    assert_eq!(converge(&mut members, joining), 2, "one to give up, one to take");
    let before = owned(&members);
    assert_all_of_12(&before);
    assert!(before.iter().all(|it| it.len() == 4), "{before:?}");
    assert!(before[0].is_subset(&kept));

    members.remove(1).leave();
    members[0].wait_for_rebalance();
    let joining = members.iter_mut().map(Member::send_join).collect();
    assert_eq!(converge(&mut members, joining), 1, "nobody has to give anything up");
    let after = owned(&members);
    assert_all_of_12(&after);
    assert!(after.iter().all(|it| it.len() == 6), "{after:?}");
    assert!(after[0].is_superset(&before[0]) && after[1].is_superset(&before[2]), "{after:?}");
}
