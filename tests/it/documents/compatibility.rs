//! Which APIs Kafka 4.1 has, and what Klamm serves of each: from the table that dispatches requests, and from the header of each
//! API's file.

use std::{fmt::Write as _, fs, ops::RangeInclusive, path::Path};

use kafka_protocol::messages::ApiKey;
use klamm::api::{Api, TABLE};

use super::cell;

/// Versions that the message crate knows and that Kafka 4.1 keeps unstable and does not announce.
const UNSTABLE: [(ApiKey, i16); 3] =
    [(ApiKey::OffsetCommit, 10), (ApiKey::OffsetFetch, 10), (ApiKey::InitProducerId, 6)];

/// Asked by brokers and controllers of each other, never by clients.
const BETWEEN_NODES: [ApiKey; 17] = [
    ApiKey::Vote,
    ApiKey::BeginQuorumEpoch,
    ApiKey::EndQuorumEpoch,
    ApiKey::AlterPartition,
    ApiKey::Envelope,
    ApiKey::FetchSnapshot,
    ApiKey::BrokerRegistration,
    ApiKey::BrokerHeartbeat,
    ApiKey::AllocateProducerIds,
    ApiKey::ControllerRegistration,
    ApiKey::AssignReplicasToDirs,
    ApiKey::UpdateRaftVoter,
    ApiKey::InitializeShareGroupState,
    ApiKey::ReadShareGroupState,
    ApiKey::WriteShareGroupState,
    ApiKey::DeleteShareGroupState,
    ApiKey::ReadShareGroupStateSummary,
];

pub(super) fn apis() -> String {
    let mut out =
        "| key | API | Kafka 4.1 | Klamm | state | not served of it |\n|--:|---|---|---|---|---|\n"
            .to_owned();
    for key in ApiKey::iter() {
        let row = match TABLE.iter().find(|api| api.key == key) {
            Some(api) => served(api),
            None => not_served(key),
        };
        // Writing to a string does not fail.
        let _ = writeln!(out, "| {} | {row} |", key as i16);
    }
    out + "\n"
}

fn served(api: &Api) -> String {
    let lacks = lacks(api.name);
    let whole = kafkas(api.key) == api.versions && lacks.is_empty();
    let state = if whole { "served" } else { "partly" };
    let versions = [kafkas(api.key), api.versions.clone()].map(|it| text(&it));
    format!("{} | {} | {} | {state} | {}", api.name, versions[0], versions[1], cell(&lacks))
        .trim_end()
        .to_owned()
}

fn not_served(key: ApiKey) -> String {
    let state = if BETWEEN_NODES.contains(&key) { "not yet; between nodes" } else { "not yet" };
    format!("{key:?} | {} | | {state} |", text(&kafkas(key)))
}

/// The versions that Kafka 4.1 serves.
fn kafkas(key: ApiKey) -> RangeInclusive<i16> {
    let known = key.valid_versions();
    let unstable = UNSTABLE.contains(&(key, known.max));
    known.min..=known.max - i16::from(unstable)
}

fn text(versions: &RangeInclusive<i16>) -> String {
    let (first, last) = (versions.start(), versions.end());
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}

/// What the header of an API's file says after `Not served:`.
fn lacks(api: &str) -> String {
    lacks_of(&header(api))
}

/// The header of an API's file, as one line.
pub(super) fn header(api: &str) -> String {
    let path = format!("src/api/{}.rs", snake(api));
    let file = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path)).expect(&path);
    header_of(&file)
}

fn header_of(file: &str) -> String {
    let header = file.lines().map_while(|it| it.strip_prefix("//!")).map(str::trim);
    // A paragraph ends at an empty line, which becomes two spaces.
    header.collect::<Vec<_>>().join(" ")
}

fn lacks_of(header: &str) -> String {
    let (_, rest) = header.split_once("Not served: ").unwrap_or_default();
    rest.split("  ").next().unwrap_or_default().trim().to_owned()
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

#[test]
fn an_api_lacks_what_its_header_says() {
    let file =
        "//! `A` (key 1).\n//!\n//! Does. Not served: this,\n//! and that.\n//!\n//! More.\nuse x;";
    assert_eq!(lacks_of(&header_of(file)), "this, and that.");
    assert_eq!(lacks_of(&header_of("//! `B` (key 2).\nuse x;")), "");
}

#[test]
fn a_file_is_named_after_its_api() {
    assert_eq!(snake("ListOffsets"), "list_offsets");
    for api in TABLE {
        lacks(api.name);
    }
}
