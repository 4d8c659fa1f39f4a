//! Groups of the consumer protocol (KIP-848) over the wire: members tell what they want, and the coordinator assigns.

mod admin;
mod assignors;
mod commits;
mod lives;
mod member;
mod restarts;

use member::{Member, Wish, assert_disjoint, settle, text};

use crate::support::{Broker, Client};

const GROUP: &str = "billing";

/// A broker with the topic `t` of six partitions.
#[track_caller]
fn start() -> (Broker, Client) {
    start_with(&[])
}

#[track_caller]
fn start_with(settings: &[(&str, &str)]) -> (Broker, Client) {
    let broker = Broker::with(settings);
    let mut client = broker.client();
    client.create_topic("t", 6, &[]);
    (broker, client)
}
