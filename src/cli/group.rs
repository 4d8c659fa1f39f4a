//! `klamm group`: lists consumer groups and alters their configs.

use std::io::{Write as _, stdout};

use kafka_protocol::messages::ListGroupsRequest;

use super::{
    arguments::Group,
    client::{Client, check},
    topic::{GROUP, alter_configs},
};

pub(super) fn run(command: Group) -> anyhow::Result<()> {
    match command {
        Group::List { at } => list(&mut Client::connect(&at.bootstrap)?),
        Group::Alter { name, config, delete_config, at } => {
            let client = &mut Client::connect(&at.bootstrap)?;
            alter_configs(client, GROUP, &name, &config, &delete_config)
        }
    }
}

fn list(client: &mut Client) -> anyhow::Result<()> {
    let answer = client.call(4, &ListGroupsRequest::default())?;
    check("groups", answer.error_code, None)?;
    for group in answer.groups {
        writeln!(stdout(), "{} {}", &*group.group_id, group.group_state)?;
    }
    Ok(())
}
