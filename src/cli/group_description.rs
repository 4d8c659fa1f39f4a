//! `klamm group describe`: a group's state, who assigns, its members, and how far they have read, in the columns of
//! Kafka's `kafka-consumer-groups`.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
};

use kafka_protocol::messages::OffsetFetchRequest;

use super::{
    arguments::{BOOTSTRAP, Bootstrap, HTTP},
    client::{Client, check, text},
    configs::{self, BROKER, Config, GROUP},
    coordinator::coordinator,
    described_group::{Group, Member, Partition, Protocol},
    offsets::{LATEST, offsets},
    output::{output, tell},
    plugin,
    table::Table,
};
use crate::config::group::ASSIGNOR;

/// Whose protocols an assignor plugin answers for.
const ASSIGNOR_PROTOCOLS: &str = "klamm.assignor.protocols";

/// All that is shown.
struct Description {
    name: String,
    /// `None` while it has configs and nothing else.
    group: Option<Group>,
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
    match &description.group {
        None => tell(format_args!("there is no group {name} yet, but configs of it")),
        Some(it) if it.members.is_empty() => tell(format_args!("group {name} has no members")),
        Some(_) => {}
    }
    let mut out = output();
    description.write(version.as_deref(), &mut out)?;
    Ok(out.flush()?)
}

/// Of the assignor as it runs; `None` if the node does not tell.
fn version(http: &str, plugin: &str) -> Option<String> {
    let plugins = plugin::ask(http).ok()?;
    plugins.into_iter().find(|it| it.name == plugin)?.version
}

impl Description {
    fn ask(client: &mut Client, name: &str) -> anyhow::Result<Self> {
        let (node_id, coordinator) = coordinator(client, name)?;
        let group = Group::ask(client, name)?;
        let configs = configs::describe(client, GROUP, name)?;
        // Configs may be set before the first member comes.
        let is_set_ahead = configs.iter().any(|it| !it.is_default);
        anyhow::ensure!(group.is_some() || is_set_ahead, "{name}: Group {name} not found.");
        let assignor_protocols = configs::describe(client, BROKER, &node_id.to_string())?
            .into_iter()
            .find(|it| it.name == ASSIGNOR_PROTOCOLS)
            .map(|it| it.value.split(',').map(|it| it.trim().to_owned()).collect());
        let committed = committed(client, name)?;
        let members = group.iter().flat_map(|it| &it.members);
        let assigned = members.flat_map(|it| it.assigned.iter().cloned());
        let partitions: BTreeSet<Partition> = committed.keys().cloned().chain(assigned).collect();
        let log_ends = offsets(client, partitions, LATEST)?;
        let assignor_protocols = assignor_protocols.unwrap_or_default();
        let name = name.to_owned();
        Ok(Self { name, group, coordinator, configs, assignor_protocols, committed, log_ends })
    }

    /// The plugin that its configs name.
    fn plugin(&self) -> Option<&str> {
        let config = self.configs.iter().find(|it| it.name == ASSIGNOR);
        config.map(|it| it.value.as_str()).filter(|it| !it.is_empty())
    }

    fn write(&self, version: Option<&str>, out: &mut impl Write) -> anyhow::Result<()> {
        writeln!(out, "{}", self.name)?;
        writeln!(out, "  state: {}", self.group.as_ref().map_or("Dead", |it| &it.state))?;
        writeln!(out, "  coordinator: {}", self.coordinator)?;
        writeln!(out, "  protocol: {}", self.protocol())?;
        writeln!(out, "  assignor: {}", self.assignor(version))?;
        for config in self.configs.iter().filter(|it| !it.is_default) {
            writeln!(out, "  {}={}", config.name, config.value)?;
        }
        if self.group.as_ref().is_some_and(|it| !it.members.is_empty()) {
            writeln!(out)?;
            self.members().write(out)?;
        }
        if !(self.committed.is_empty() && self.log_ends.is_empty()) {
            writeln!(out)?;
            self.partitions().write(out)?;
        }
        Ok(())
    }

    fn protocol(&self) -> String {
        match self.group.as_ref().map(|it| &it.protocol) {
            None => "-".into(),
            Some(Protocol::Classic(kind, name)) => or_dash(format!("{kind} {name}").trim()).into(),
            Some(Protocol::Consumer { group_epoch, assignment_epoch, .. }) => {
                format!(
                    "consumer (KIP-848), epoch {group_epoch}, assigned in epoch {assignment_epoch}"
                )
            }
        }
    }

    fn members_of_group(&self) -> impl Iterator<Item = &Member> {
        self.group.iter().flat_map(|it| &it.members)
    }

    /// Who assigns: the plugin that the configs name, unless the protocol of the members is not one that plugins answer for.
    fn assignor(&self, version: Option<&str>) -> String {
        let (kind, protocol) = match self.group.as_ref().map(|it| &it.protocol) {
            None => ("", ""),
            Some(Protocol::Classic(kind, name)) => (kind.as_str(), name.as_str()),
            Some(Protocol::Consumer { assignor, .. }) => return or_dash(assignor).into(),
        };
        let is_for_plugins =
            kind == "consumer" && self.assignor_protocols.iter().any(|it| it == protocol);
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
        for member in self.members_of_group() {
            let count = member.assigned.len().to_string();
            let [id, host, client] = identity(member);
            table.row([id, host, client, count, listed(&member.assigned)]);
        }
        table
    }

    /// Partitions with a committed offset, and those that a member has.
    fn partitions(&self) -> Table<8> {
        let mut owners: BTreeMap<&Partition, &Member> = BTreeMap::new();
        for member in self.members_of_group() {
            owners.extend(member.assigned.iter().map(|it| (it, member)));
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
        let all: BTreeSet<&Partition> =
            self.committed.keys().chain(owners.keys().copied()).collect();
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

/// As `topic(0,1) other(2)`.
fn listed(partitions: &[Partition]) -> String {
    let mut topics: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (topic, partition) in partitions {
        topics.entry(topic).or_default().push(partition.to_string());
    }
    let topics = topics.iter().map(|(topic, them)| format!("{topic}({})", them.join(",")));
    or_dash(&topics.collect::<Vec<_>>().join(" ")).to_owned()
}

/// Id, host and client id.
fn identity(member: &Member) -> [String; 3] {
    [&member.id, &member.host, &member.client_id].map(|it| or_dash(it).to_owned())
}

fn number(it: Option<i64>) -> String {
    it.map_or_else(|| "-".into(), |it| it.to_string())
}

fn or_dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

#[cfg(test)]
mod tests;
