//! `klamm group describe`: a group's state, who assigns, its members, and how far they have read, in the columns of
//! Kafka's `kafka-consumer-groups`.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
};

use anyhow::Context as _;
use kafka_protocol::messages::{
    DescribeGroupsRequest, OffsetFetchRequest,
    describe_groups_response::{DescribedGroup, DescribedGroupMember},
};

use super::{
    arguments::{BOOTSTRAP, Bootstrap, HTTP},
    client::{Client, check, text},
    configs::{self, BROKER, Config, GROUP},
    coordinator::{coordinator, patiently},
    offsets::{LATEST, offsets},
    output::{output, tell},
    plugin,
    table::Table,
};
use crate::{base::ErrorCode, config::group::ASSIGNOR, group::classic::decode_assignment};

/// Whose protocols an assignor plugin answers for.
const ASSIGNOR_PROTOCOLS: &str = "klamm.assignor.protocols";

type Partition = (String, i32);

/// All that is shown.
struct Description {
    group: DescribedGroup,
    coordinator: String,
    configs: Vec<Config>,
    /// Protocols that a plugin may answer for, by the coordinator's settings.
    assignor_protocols: Vec<String>,
    committed: BTreeMap<Partition, i64>,
    log_ends: BTreeMap<Partition, i64>,
}

/// `http` is where the node tells its plugins; without it, and with another broker than the default, nobody is asked.
pub(super) fn print(name: &str, http: Option<&str>, at: &Bootstrap) -> anyhow::Result<()> {
    let description = Description::ask(&mut Client::connect(&at.bootstrap)?, name)?;
    let http = http.or((at.bootstrap == BOOTSTRAP).then_some(HTTP));
    let version = description.plugin().zip(http).and_then(|(it, http)| version(http, it));
    if is_missing(&description.group) {
        tell(format_args!("there is no group {name} yet, but configs of it"));
    } else if description.group.members.is_empty() {
        tell(format_args!("group {name} has no members"));
    }
    let mut out = output();
    description.write(version.as_deref(), &mut out)?;
    Ok(out.flush()?)
}

fn is_missing(group: &DescribedGroup) -> bool {
    ErrorCode::from_code(group.error_code) == ErrorCode::GroupIdNotFound
}

/// Of the assignor as it runs; `None` if the node does not tell.
fn version(http: &str, plugin: &str) -> Option<String> {
    let plugins = plugin::ask(http).ok()?;
    plugins.into_iter().find(|it| it.name == plugin)?.version
}

impl Description {
    fn ask(client: &mut Client, name: &str) -> anyhow::Result<Self> {
        let (node_id, coordinator) = coordinator(client, name)?;
        let request = DescribeGroupsRequest::default().with_groups(vec![text(name).into()]);
        let group = patiently(|| {
            let group = client.call(6, &request)?.groups.pop();
            group.context("the broker did not answer for the group").map(|it| (it.error_code, it))
        })?;
        let configs = configs::describe(client, GROUP, name)?;
        // Configs may be set before the first member comes.
        let is_set_ahead = is_missing(&group) && configs.iter().any(|it| !it.is_default);
        if !is_set_ahead {
            check(name, group.error_code, group.error_message.as_ref())?;
        }
        let assignor_protocols = configs::describe(client, BROKER, &node_id.to_string())?
            .into_iter()
            .find(|it| it.name == ASSIGNOR_PROTOCOLS)
            .map(|it| it.value.split(',').map(|it| it.trim().to_owned()).collect());
        let committed = committed(client, name)?;
        let assigned = group.members.iter().flat_map(assignment);
        let partitions: BTreeSet<Partition> = committed.keys().cloned().chain(assigned).collect();
        let log_ends = offsets(client, partitions, LATEST)?;
        let assignor_protocols = assignor_protocols.unwrap_or_default();
        Ok(Self { group, coordinator, configs, assignor_protocols, committed, log_ends })
    }

    /// The plugin that its configs name.
    fn plugin(&self) -> Option<&str> {
        let config = self.configs.iter().find(|it| it.name == ASSIGNOR);
        config.map(|it| it.value.as_str()).filter(|it| !it.is_empty())
    }

    fn write(&self, version: Option<&str>, out: &mut impl Write) -> anyhow::Result<()> {
        let group = &self.group;
        writeln!(out, "{}", &*group.group_id)?;
        writeln!(out, "  state: {}", group.group_state)?;
        writeln!(out, "  coordinator: {}", self.coordinator)?;
        let protocol = format!("{} {}", group.protocol_type, group.protocol_data);
        writeln!(out, "  protocol: {}", or_dash(protocol.trim()))?;
        writeln!(out, "  assignor: {}", self.assignor(version))?;
        for config in self.configs.iter().filter(|it| !it.is_default) {
            writeln!(out, "  {}={}", config.name, config.value)?;
        }
        if !group.members.is_empty() {
            writeln!(out)?;
            self.members().write(out)?;
        }
        if !(self.committed.is_empty() && self.log_ends.is_empty()) {
            writeln!(out)?;
            self.partitions().write(out)?;
        }
        Ok(())
    }

    /// Who assigns: the plugin that the configs name, unless the protocol of the members is not one that plugins answer for.
    fn assignor(&self, version: Option<&str>) -> String {
        let protocol = &*self.group.protocol_data;
        let is_for_plugins = &*self.group.protocol_type == "consumer"
            && self.assignor_protocols.iter().any(|it| it == protocol);
        match self.plugin() {
            Some(name) if protocol.is_empty() || is_for_plugins => match version {
                Some(version) => format!("{name} {version} (plugin)"),
                None => format!("{name} (plugin)"),
            },
            Some(name) => {
                format!("{protocol} (the group's leader; {name} does not answer for this protocol)")
            }
            None if protocol.is_empty() => "-".into(),
            None => format!("{protocol} (the group's leader)"),
        }
    }

    fn members(&self) -> Table<5> {
        let mut table =
            Table::new(["CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "ASSIGNMENT"]);
        for member in &self.group.members {
            let assigned = assignment(member);
            let count = assigned.len().to_string();
            let [id, host, client] = identity(member);
            table.row([id, host, client, count, listed(assigned)]);
        }
        table
    }

    /// Partitions with a committed offset, and those that a member has.
    fn partitions(&self) -> Table<8> {
        let mut owners: BTreeMap<Partition, &DescribedGroupMember> = BTreeMap::new();
        for member in &self.group.members {
            owners.extend(assignment(member).into_iter().map(|it| (it, member)));
        }
        let mut table = Table::new([
            "TOPIC",
            "PARTITION",
            "CURRENT-OFFSET",
            "LOG-END-OFFSET",
            "LAG",
            "CONSUMER-ID",
            "HOST",
            "CLIENT-ID",
        ]);
        let all: BTreeSet<&Partition> = self.committed.keys().chain(owners.keys()).collect();
        for partition in all {
            let (current, end) = (self.committed.get(partition), self.log_ends.get(partition));
            let lag = end.zip(current).map(|(end, current)| (end - current).max(0));
            let owner = owners.get(partition).map(|it| identity(it));
            let [id, host, client] = owner.unwrap_or_else(|| std::array::from_fn(|_| "-".into()));
            let (topic, index) = partition;
            let [current, end, lag] = [current.copied(), end.copied(), lag].map(number);
            table.row([topic.clone(), index.to_string(), current, end, lag, id, host, client]);
        }
        table
    }
}

fn committed(client: &mut Client, group: &str) -> anyhow::Result<BTreeMap<Partition, i64>> {
    let request = OffsetFetchRequest::default().with_group_id(text(group).into()).with_topics(None);
    let answer = client.call(7, &request)?;
    check(group, answer.error_code, None)?;
    let mut committed = BTreeMap::new();
    for topic in answer.topics {
        for it in topic.partitions {
            let partition = (topic.name.to_string(), it.partition_index);
            check(&format!("{}-{}", partition.0, partition.1), it.error_code, None)?;
            committed.insert(partition, it.committed_offset);
        }
    }
    committed.retain(|_, offset| *offset >= 0);
    Ok(committed)
}

/// Empty for what is no assignment of a consumer.
fn assignment(member: &DescribedGroupMember) -> Vec<Partition> {
    let topics = decode_assignment(member.member_assignment.clone()).unwrap_or_default();
    let partitions = topics.into_iter().flat_map(|(topic, partitions)| {
        partitions.into_iter().map(move |it| (topic.to_string(), it))
    });
    partitions.collect()
}

/// As `topic(0,1) other(2)`.
fn listed(partitions: Vec<Partition>) -> String {
    let mut topics: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (topic, partition) in partitions {
        topics.entry(topic).or_default().push(partition.to_string());
    }
    let topics = topics.iter().map(|(topic, them)| format!("{topic}({})", them.join(",")));
    or_dash(&topics.collect::<Vec<_>>().join(" ")).to_owned()
}

/// Id, host and client id.
fn identity(member: &DescribedGroupMember) -> [String; 3] {
    [&member.member_id, &member.client_host, &member.client_id].map(|it| or_dash(it).to_owned())
}

fn number(it: Option<i64>) -> String {
    it.map_or_else(|| "-".into(), |it| it.to_string())
}

fn or_dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

#[cfg(test)]
mod tests;
