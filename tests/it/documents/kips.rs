//! The KIPs that shaped what clients ask for, and what Klamm serves of each. Which APIs a KIP touches is read from the
//! headers of their files, so that the two cannot tell different stories.

use std::{collections::BTreeMap, fmt::Write as _};

use klamm::api::TABLE;

use super::{cell, compatibility};

/// What is served of a KIP.
enum State {
    Served,
    /// What is missing.
    Partly(&'static str),
    NotYet,
    /// For brokers among themselves.
    BetweenNodes,
}

use State::{BetweenNodes, NotYet, Partly, Served};

/// By number. One that no header names is of no API that is served.
const KIPS: &[(u32, &str, State)] = &[
    (4, "Topics by request, the controller in Metadata", Served),
    (12, "SASL", NotYet),
    (13, "Quotas", Served),
    (32, "Timestamps in records", Served),
    (33, "An index by time", Served),
    (35, "ApiVersions", Served),
    (43, "SASL mechanisms", NotYet),
    (48, "Delegation tokens", NotYet),
    (62, "A rebalance timeout of its own", Served),
    (74, "Fetch: limits in bytes", Served),
    (78, "A cluster id", Served),
    (79, "Offsets by timestamp", Served),
    (82, "Headers of records", Served),
    (84, "SCRAM", NotYet),
    (88, "All offsets of a group", Served),
    (98, "Idempotence and transactions", Partly("transactions")),
    (101, "Leader epochs", Served),
    (107, "DeleteRecords", Served),
    (110, "zstd", Served),
    (112, "A log directory that fails", Partly("placing elsewhere what was in it")),
    (113, "Log directories, and moves between them", Served),
    (124, "Quotas on request time", Served),
    (133, "DescribeConfigs and AlterConfigs", Served),
    (140, "ACLs by request", NotYet),
    (152, "SaslAuthenticate", NotYet),
    (183, "Election of preferred leaders", Served),
    (195, "CreatePartitions", Served),
    (211, "Expiry of offsets", Served),
    (219, "Throttling after the answer", Served),
    (222, "Groups listed and deleted", Served),
    (226, "Dynamic broker configs, synonyms", Partly("listeners")),
    (227, "Fetch sessions", Served),
    (229, "DeleteGroups", Served),
    (255, "SASL/OAUTHBEARER", NotYet),
    (320, "Fencing by leader epoch, detection of truncation", Served),
    (322, "A code for topics that cannot be deleted", Served),
    (339, "IncrementalAlterConfigs", Served),
    (345, "Static members", Served),
    (360, "Safer epochs of idempotent producers", Served),
    (368, "Re-authentication", NotYet),
    (392, "Reading from the nearest replica", Partly("another replica to read from")),
    (394, "Member ids before members", Served),
    (405, "Tiered storage", Partly("tiered storage: −4 is what −2 is")),
    (429, "Cooperative rebalances", Served),
    (430, "Authorized operations", Partly("ACLs: everything is allowed")),
    (447, "require_stable", Partly("transactions")),
    (455, "Reassignments by request", Partly("a move to another node")),
    (460, "Election of unclean leaders", Served),
    (464, "Defaults for partitions and replicas", Served),
    (467, "Errors of single records", Served),
    (482, "Tagged fields", Served),
    (496, "OffsetDelete", Served),
    (511, "The client's name and version", Served),
    (516, "Topic ids", Served),
    (518, "Groups by state", Served),
    (525, "Configs in the answer to CreateTopics", Served),
    (526, "Fewer topics in a producer's Metadata", Served),
    (546, "Client quotas by request", Served),
    (554, "SCRAM by request", NotYet),
    (559, "Protocols told to proxies", Served),
    (569, "Types and documentation in DescribeConfigs", Served),
    (584, "Features", Served),
    (588, "Recovery from fencing", Partly("transactions")),
    (595, "Raft: diverging epochs", Served),
    (599, "Quotas on mutations", Served),
    (612, "Rates of connections", Served),
    (664, "DescribeProducers, transactions listed", Partly("transactions")),
    (699, "Coordinators of many groups at once", Served),
    (700, "DescribeCluster", Served),
    (709, "Offsets of many groups at once", Served),
    (714, "Metrics of clients", Served),
    (734, "The record with the largest timestamp", Served),
    (778, "Upgrades and downgrades of features", Served),
    (784, "A code for the whole of DescribeLogDirs", Served),
    (800, "Reasons for joining and leaving", Served),
    (814, "Static members and the leader's assignment", Served),
    (827, "Bytes of log directories", Served),
    (836, "When replicas of the metadata were caught up", Served),
    (
        848,
        "The consumer protocol of groups",
        Partly("a change of the protocol of groups with members"),
    ),
    (853, "Changes of the quorum's voters", Partly("a second voter")),
    (860, "Reassignments that keep the number of replicas", Served),
    (881, "Racks in assignments", Served),
    (890, "Defence against hanging transactions", Partly("transactions")),
    (903, "Followers of an older epoch", BetweenNodes),
    (919, "Admin requests to controllers", Partly("the endpoints of controllers")),
    (932, "Share groups", NotYet),
    (951, "The new leader beside an error", Partly("another leader to name")),
    (966, "DescribeTopicPartitions, eligible leaders", Partly("eligible leaders")),
    (994, "ListTransactions by duration", NotYet),
    (1000, "Client metrics resources listed", Served),
    (1005, "The latest tiered offset", Partly("tiered storage: nothing is found")),
    (1022, "Versions of features by themselves", Partly("features whose APIs are not served")),
    (1043, "DescribeGroups tells of missing groups", Served),
    (1071, "Streams groups", NotYet),
    (1073, "Fenced brokers in DescribeCluster", Served),
    (1075, "A timeout for tiered lookups", Partly("tiered storage")),
    (1082, "Ids of members that clients make", Served),
    (1099, "Types of members told", Served),
    (1102, "Clients that begin anew", Served),
    (1142, "ListConfigResources", Partly("loggers of brokers")),
    (1166, "Followers of the metadata log", BetweenNodes),
];

pub(super) fn kips() -> String {
    let apis = apis_by_kip();
    let mut out = "| KIP | brought | APIs | state |\n|--:|---|---|---|\n".to_owned();
    for (number, title, state) in KIPS {
        let apis = apis.get(number).map(|it| it.join(", ")).unwrap_or_default();
        let state = match state {
            Served => "served".to_owned(),
            Partly(lacks) => format!("partly; not: {}", cell(lacks)),
            NotYet => "not yet".to_owned(),
            BetweenNodes => "not yet; between nodes".to_owned(),
        };
        // Writing to a string does not fail.
        let _ = writeln!(out, "| {number} | {} | {apis} | {state} |", cell(title));
    }
    out.replace("|  |", "| |") + "\n"
}

/// The served APIs whose headers name a KIP.
fn apis_by_kip() -> BTreeMap<u32, Vec<&'static str>> {
    let mut apis = BTreeMap::<_, Vec<_>>::new();
    for api in TABLE {
        for kip in kips_of(&compatibility::header(api.name)) {
            let names = apis.entry(kip).or_default();
            if !names.contains(&api.name) {
                names.push(api.name);
            }
        }
    }
    apis
}

fn kips_of(header: &str) -> Vec<u32> {
    let number = |rest: &str| {
        let digits = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse().ok()
    };
    header.split("KIP-").skip(1).filter_map(number).collect()
}

#[test]
fn the_kips_of_a_header_are_found() {
    assert_eq!(kips_of("adds | KIP-98, KIP-1005 |\nKIP-4"), [98, 1005, 4]);
    assert!(kips_of("none, KIP-, KIPs").is_empty());
}

#[test]
fn every_kip_that_an_api_names_is_in_the_table_and_the_table_is_sorted() {
    let known: Vec<u32> = KIPS.iter().map(|it| it.0).collect();
    assert!(known.is_sorted_by(|a, b| a < b), "by number, each once");
    for (kip, apis) in apis_by_kip() {
        assert!(known.contains(&kip), "KIP-{kip} of {apis:?} is missing");
    }
}
