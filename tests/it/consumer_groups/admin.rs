//! What operators see of consumer groups, and do with them.

use kafka_protocol::messages::{
    ConsumerGroupDescribeRequest, DeleteGroupsRequest, DescribeGroupsRequest, HeartbeatRequest,
    JoinGroupRequest, LeaveGroupRequest, ListGroupsRequest,
    consumer_group_describe_response::DescribedGroup, join_group_request::JoinGroupRequestProtocol,
    leave_group_request::MemberIdentity,
};
use klamm::base::ErrorCode;

use super::{
    GROUP, Member, Wish,
    commits::{commit, committed},
    settle, start, text,
};
use crate::support::Client;

pub(super) fn describe(client: &mut Client, group: &str) -> DescribedGroup {
    let request = ConsumerGroupDescribeRequest::default().with_group_ids(vec![text(group).into()]);
    let mut described = client.call(1, &request).groups.remove(0);
    described.members.sort_by(|one, other| one.member_id.cmp(&other.member_id));
    described
}

#[test]
fn a_description_tells_epochs_members_and_assignments() {
    let (broker, mut client) = start();
    let wish = Wish::topic("t").instance("one").assigned_by("range");
    let mut members = [Member::joined(&broker, GROUP, wish)];
    settle(&mut members, 6);
    let group = describe(&mut client, GROUP);
    assert_eq!(
        (group.error_code, &*group.group_state, &*group.assignor_name),
        (0, "Stable", "range")
    );
    assert_eq!((group.group_epoch, group.assignment_epoch), (members[0].epoch, members[0].epoch));
    let member = &group.members[0];
    assert_eq!((&*member.member_id, member.member_epoch), (&*members[0].id, members[0].epoch));
    assert_eq!((member.instance_id.as_deref(), &*member.client_id), (Some("one"), "it"));
    assert_eq!((&*member.client_host, member.member_type), ("/127.0.0.1", 1));
    assert_eq!(member.subscribed_topic_names, [text("t")]);
    for assignment in [&member.assignment, &member.target_assignment] {
        let [topic] = &assignment.topic_partitions[..] else { panic!("one topic") };
        assert_eq!((topic.topic_name.as_str(), topic.partitions.len()), ("t", 6));
    }
    client.delete_topic("t");
    assert!(describe(&mut client, GROUP).members[0].assignment.topic_partitions.is_empty());
    let missing = describe(&mut client, "nobody");
    assert_eq!(ErrorCode::from_code(missing.error_code), ErrorCode::GroupIdNotFound);
    assert_eq!(missing.error_message.as_deref(), Some("Group nobody not found."));
}

/// Id, state and type.
fn list(client: &mut Client, states: &[&str], types: &[&str]) -> Vec<[String; 3]> {
    let texts = |them: &[&str]| them.iter().map(|it| text(it)).collect();
    let request = ListGroupsRequest::default()
        .with_states_filter(texts(states))
        .with_types_filter(texts(types));
    let listed = client.call(5, &request).groups.into_iter();
    let told = |it: &str| it.to_owned();
    let mut groups: Vec<_> = listed
        .map(|it| [told(&it.group_id), told(&it.group_state), told(&it.group_type)])
        .collect();
    groups.sort();
    groups
}

#[test]
fn a_list_tells_types_and_is_filtered_by_them() {
    let (broker, mut client) = start();
    let mut members = [Member::joined(&broker, GROUP, Wish::topic("t"))];
    settle(&mut members, 6);
    join_classic(&mut client, "of-old");
    let consumer = [GROUP, "Stable", "consumer"].map(str::to_owned);
    let classic = ["of-old", "CompletingRebalance", "classic"].map(str::to_owned);
    assert_eq!(list(&mut client, &[], &[]), [consumer.clone(), classic.clone()]);
    assert_eq!(list(&mut client, &[], &["Consumer"]), std::slice::from_ref(&consumer));
    assert_eq!(list(&mut client, &[], &["classic"]), [classic]);
    assert_eq!(list(&mut client, &["stable"], &["classic", "consumer"]), [consumer]);
    members[0].leave(-1);
    let empty = [GROUP, "Empty", "consumer"].map(str::to_owned);
    assert_eq!(list(&mut client, &["Empty"], &[]), [empty]);
}

#[test]
fn to_who_asks_for_classic_groups_it_is_dead() {
    let (broker, mut client) = start();
    Member::joined(&broker, GROUP, Wish::topic("t"));
    let request = DescribeGroupsRequest::default().with_groups(vec![text(GROUP).into()]);
    let of_old = client.call(5, &request).groups.remove(0);
    assert_eq!((of_old.error_code, &*of_old.group_state), (0, "Dead"));
    let told = client.call(6, &request).groups.remove(0);
    assert_eq!(ErrorCode::from_code(told.error_code), ErrorCode::GroupIdNotFound);
    let message = "Group billing is not a classic group.";
    assert_eq!((told.error_message.as_deref(), &*told.group_state), (Some(message), "Dead"));
    join_classic(&mut client, "of-old");
    let other = describe(&mut client, "of-old");
    assert_eq!(ErrorCode::from_code(other.error_code), ErrorCode::GroupIdNotFound);
    let message = "Group of-old is not a consumer group.";
    assert_eq!(other.error_message.as_deref(), Some(message));
}

#[test]
fn a_group_is_deleted_when_its_members_have_left() {
    let (broker, mut client) = start();
    let mut member = Member::joined(&broker, GROUP, Wish::topic("t"));
    let request = DeleteGroupsRequest::default().with_groups_names(vec![text(GROUP).into()]);
    let delete =
        |client: &mut Client| ErrorCode::from_code(client.call(2, &request).results[0].error_code);
    assert_eq!(commit(&mut client, 9, (&member.id, member.epoch), 5), ErrorCode::None);
    assert_eq!(delete(&mut client), ErrorCode::NonEmptyGroup);
    member.leave(-1);
    assert_eq!(delete(&mut client), ErrorCode::None);
    assert_eq!(delete(&mut client), ErrorCode::GroupIdNotFound);
    assert_eq!(committed(&mut client, None), Ok(-1));
    let gone = describe(&mut client, GROUP).error_code;
    assert_eq!(ErrorCode::from_code(gone), ErrorCode::GroupIdNotFound);
}

#[test]
fn a_group_without_members_changes_to_the_protocol_of_who_comes_and_keeps_its_offsets() {
    let (broker, mut client) = start();
    client.wait_for_coordinator(GROUP);
    let id = join_classic(&mut client, GROUP);
    leave_classic(&mut client, GROUP, &id);
    assert_eq!(commit(&mut client, 8, ("", -1), 5), ErrorCode::None);

    let mut members = [Member::joined(&broker, GROUP, Wish::topic("t"))];
    settle(&mut members, 6);
    assert_eq!(committed(&mut client, None), Ok(5));
    let beat = HeartbeatRequest::default()
        .with_group_id(text(GROUP).into())
        .with_member_id(text(&id))
        .with_generation_id(1);
    let code = client.call(3, &beat).error_code;
    assert_eq!(ErrorCode::from_code(code), ErrorCode::UnknownMemberId);
    members[0].leave(-1);

    join_classic(&mut client, GROUP);
    assert_eq!(list(&mut client, &[], &["classic"]).len(), 1);
    assert_eq!(committed(&mut client, None), Ok(5));
    let gone = describe(&mut client, GROUP).error_code;
    assert_eq!(ErrorCode::from_code(gone), ErrorCode::GroupIdNotFound);
}

/// As the only member, to no topic; its id.
#[track_caller]
fn join_classic(client: &mut Client, group: &str) -> String {
    client.wait_for_coordinator(group);
    let protocol = JoinGroupRequestProtocol::default()
        .with_name(text("range"))
        .with_metadata(b"\0\0\0\0\0\0\xff\xff\xff\xff"[..].into());
    let request = JoinGroupRequest::default()
        .with_group_id(text(group).into())
        .with_session_timeout_ms(300_000)
        .with_rebalance_timeout_ms(300_000)
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol]);
    let response = client.call(3, &request);
    assert_eq!(response.error_code, 0);
    response.member_id.to_string()
}

#[track_caller]
fn leave_classic(client: &mut Client, group: &str, id: &str) {
    let request = LeaveGroupRequest::default()
        .with_group_id(text(group).into())
        .with_members(vec![MemberIdentity::default().with_member_id(text(id))]);
    assert_eq!(client.call(3, &request).members[0].error_code, 0);
}
