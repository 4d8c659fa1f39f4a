//! `klamm group`: lists and describes consumer groups, and alters their configs.

use std::io::Write as _;

use kafka_protocol::messages::ListGroupsRequest;

use super::{
    arguments::Group,
    client::{Client, check},
    configs::{self, GROUP},
    group_description,
    output::output,
};

pub(super) fn run(command: Group) -> anyhow::Result<()> {
    match command {
        Group::List { at } => list(&mut Client::connect(&at.bootstrap)?),
        Group::Describe { name, http, at } => group_description::print(&name, http.as_deref(), &at),
        Group::Alter { name, config, delete_config, at } => {
            let client = &mut Client::connect(&at.bootstrap)?;
            configs::alter(client, GROUP, &name, &config, &delete_config)
        }
    }
}

fn list(client: &mut Client) -> anyhow::Result<()> {
    let answer = client.call(4, &ListGroupsRequest::default())?;
    check("groups", answer.error_code, None)?;
    let mut out = output();
    for group in answer.groups {
        writeln!(out, "{} {}", &*group.group_id, group.group_state)?;
    }
    Ok(out.flush()?)
}
