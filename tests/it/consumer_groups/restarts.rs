//! What a group is outlives the broker, stopped or killed; and so does the feature that allows such groups.

use kafka_protocol::messages::{
    ApiVersionsRequest, UpdateFeaturesRequest, update_features_request::FeatureUpdateKey,
};
use klamm::base::ErrorCode;

use super::{GROUP, Member, Wish, admin::describe, settle, start, text};
use crate::support::{Broker, Client};

#[test]
fn members_go_on_where_they_were_after_a_stop_and_after_a_kill() {
    let (mut broker, _) = start();
    let mut members = [(); 2].map(|()| Member::joined(&broker, GROUP, Wish::topic("t")));
    settle(&mut members, 6);
    for restart in [Broker::terminate_and_restart, Broker::kill_and_restart] {
        let before = describe(&mut broker.client(), GROUP);
        let had: Vec<_> = members.iter().map(|it| (it.epoch, it.owned.clone())).collect();
        restart(&mut broker);
        for member in &mut members {
            member.reconnect(&broker);
            member.beat();
        }
        settle(&mut members, 6);
        let has: Vec<_> = members.iter().map(|it| (it.epoch, it.owned.clone())).collect();
        assert_eq!(has, had);
        assert_eq!(describe(&mut broker.client(), GROUP), before);
    }
}

#[test]
fn a_kill_in_the_middle_of_a_handover_lets_no_partition_have_two_owners() {
    let (mut broker, _) = start();
    let mut members = vec![Member::joined(&broker, GROUP, Wish::topic("t"))];
    settle(&mut members, 6);
    members.push(Member::joined(&broker, GROUP, Wish::topic("t")));
    // It has given up, and the coordinator has not heard of it.
    members[0].beat();
    broker.kill_and_restart();
    for member in &mut members {
        member.reconnect(&broker);
    }
    settle(&mut members, 6);
    assert!(members.iter().all(|it| it.owned.len() == 3));
}

#[test]
fn without_the_feature_there_are_no_such_groups_also_after_a_restart() {
    let (mut broker, mut client) = start();
    let mut member = Member::joined(&broker, GROUP, Wish::topic("t"));
    assert_eq!(finalized(&mut client), [("group.version".to_owned(), 1), metadata_version()]);
    assert_eq!(set_group_version(&mut client, 0, 1), ErrorCode::InvalidUpdateVersion);
    assert_eq!(set_group_version(&mut client, 0, 2), ErrorCode::None);
    for restarts in 0..2 {
        let refused = member.try_beat();
        assert_eq!(ErrorCode::from_code(refused.error_code), ErrorCode::UnsupportedVersion);
        assert_eq!(finalized(&mut broker.client()), [metadata_version()]);
        if restarts == 0 {
            broker.terminate_and_restart();
            member.reconnect(&broker);
        }
    }
    let mut client = broker.client();
    assert_eq!(set_group_version(&mut client, 1, 1), ErrorCode::None);
    settle(std::slice::from_mut(&mut member), 6);
}

fn metadata_version() -> (String, i16) {
    ("metadata.version".to_owned(), 27)
}

fn finalized(client: &mut Client) -> Vec<(String, i16)> {
    let request = ApiVersionsRequest::default()
        .with_client_software_name(text("it"))
        .with_client_software_version(text("1"));
    let features = client.call(4, &request).finalized_features;
    features.iter().map(|it| (it.name.to_string(), it.max_version_level)).collect()
}

fn set_group_version(client: &mut Client, level: i16, upgrade_type: i8) -> ErrorCode {
    let update = FeatureUpdateKey::default()
        .with_feature(text("group.version"))
        .with_max_version_level(level)
        .with_upgrade_type(upgrade_type);
    let request =
        UpdateFeaturesRequest::default().with_feature_updates(vec![update]).with_timeout_ms(30_000);
    ErrorCode::from_code(client.call(2, &request).error_code)
}
