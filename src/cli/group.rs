//! `klamm group`: lists, describes and deletes consumer groups, and alters their configs.

use std::io::Write as _;

use anyhow::Context as _;
use kafka_protocol::messages::{DeleteGroupsRequest, ListGroupsRequest};

use super::{
    arguments::Group,
    client::{Client, check, text},
    configs::{self, GROUP},
    coordinator::{coordinator, patiently},
    group_description,
    output::{output, print},
};

pub(super) fn run(command: Group) -> anyhow::Result<()> {
    match command {
        Group::List { at } => list(&mut Client::connect(&at.bootstrap)?),
        Group::Describe { name, http, at } => group_description::print(&name, http.as_deref(), &at),
        Group::Alter { name, config, delete_config, at } => {
            let client = &mut Client::connect(&at.bootstrap)?;
            configs::alter(client, GROUP, &name, &config, &delete_config)
        }
        Group::Delete { name, at } => delete(&mut Client::connect(&at.bootstrap)?, &name),
    }
}

fn list(client: &mut Client) -> anyhow::Result<()> {
    let answer = client.call(5, &ListGroupsRequest::default())?;
    check("groups", answer.error_code, None)?;
    let mut out = output();
    for group in answer.groups {
        writeln!(out, "{} {} {}", &*group.group_id, group.group_state, group.group_type)?;
    }
    Ok(out.flush()?)
}

fn delete(client: &mut Client, name: &str) -> anyhow::Result<()> {
    coordinator(client, name)?;
    let request = DeleteGroupsRequest::default().with_groups_names(vec![text(name).into()]);
    let code = patiently(|| {
        let result = client.call(2, &request)?.results.pop();
        let code = result.context("the broker did not answer for the group")?.error_code;
        Ok((code, code))
    })?;
    check(name, code, None)?;
    Ok(print(format_args!("{name}: deleted"))?)
}
