//! Plugins as `group.remote.assignor`, and by the group's config.

use std::{collections::BTreeSet, fs};

use klamm::base::ErrorCode;

use super::{GROUP, Member, Wish, settle, start};
use crate::support::{Broker, Client, Session, eventually};

fn wasm(path: &str) -> Vec<u8> {
    fs::read(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// All of the lag is in one partition: who gets it by lag gets little else.
fn lag_in_partition_3(client: &mut Client) {
    let session = Session::new(client);
    client.must_produce("t", 3, session.batch(0, &[(None, Some("a")); 500]));
}

fn with_partition_3(members: &[Member]) -> Vec<i32> {
    members.iter().map(Member::partitions).find(|it| it.contains(&3)).unwrap()
}

fn load_by_lag(broker: &Broker) {
    broker.load_plugin("mine", &wasm("examples/assignor-by-lag/assignor-by-lag.wasm"));
}

#[test]
fn a_plugin_that_members_name_assigns_and_its_reload_assigns_anew() {
    let (broker, mut client) = start();
    lag_in_partition_3(&mut client);
    load_by_lag(&broker);
    let wish = Wish::topic("t").assigned_by("mine");
    let mut members = [(); 2].map(|()| Member::joined(&broker, GROUP, wish.clone()));
    settle(&mut members, 6);
    assert_eq!(with_partition_3(&members), [3]);

    broker.load_plugin("mine", &wasm("plugins/roundrobin/roundrobin.wasm"));
    eventually("the new version has assigned", || {
        settle(&mut members, 6);
        let dealt: BTreeSet<_> = members.iter().map(Member::partitions).collect();
        (dealt == [vec![0, 2, 4], vec![1, 3, 5]].into()).then_some(())
    });
}

#[test]
fn an_assignor_that_is_not_there_is_refused() {
    let (broker, _) = start();
    let mut member = Member::new(&broker, GROUP, Wish::topic("t").assigned_by("nobody"));
    let refused = member.try_beat();
    assert_eq!(ErrorCode::from_code(refused.error_code), ErrorCode::UnsupportedAssignor);
    let message = refused.error_message.unwrap();
    assert!(message.starts_with("ServerAssignor nobody is not supported."), "{message}");
    assert!(message.contains("sticky") && message.contains("uniform"), "{message}");
}

#[test]
fn range_gives_each_member_a_stretch() {
    let (broker, _) = start();
    let wish = Wish::topic("t").assigned_by("range");
    let mut members = [(); 2].map(|()| Member::joined(&broker, GROUP, wish.clone()));
    settle(&mut members, 6);
    let stretches: BTreeSet<_> = members.iter().map(Member::partitions).collect();
    assert_eq!(stretches, [vec![0, 1, 2], vec![3, 4, 5]].into());
}

#[test]
fn the_config_of_a_group_names_its_assignor_also_while_it_has_members() {
    let (broker, mut client) = start();
    lag_in_partition_3(&mut client);
    let mut members = [(); 2].map(|()| Member::joined(&broker, GROUP, Wish::topic("t")));
    settle(&mut members, 6);
    assert_eq!(with_partition_3(&members).len(), 3);
    load_by_lag(&broker);
    client.set_group_config(GROUP, "klamm.assignor", "mine");
    eventually("the plugin has assigned", || {
        settle(&mut members, 6);
        (with_partition_3(&members) == [3]).then_some(())
    });
}
