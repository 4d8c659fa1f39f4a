//! The table against what stands around it: the crate's messages, the guard, the protocol guide.

use std::collections::BTreeSet;

use kafka_protocol::messages::ApiKey;

use super::{TABLE, served};
use crate::wire::{DecodeError, guard};

#[test]
fn no_api_stands_in_the_table_twice() {
    let keys: BTreeSet<_> = TABLE.iter().map(|api| api.key as i16).collect();
    assert_eq!(keys.len(), TABLE.len());
}

#[test]
fn every_served_version_is_one_that_the_messages_have() {
    for api in TABLE {
        let known = api.key.valid_versions();
        assert!(known.min <= *api.versions.start(), "{}", api.name);
        assert!(known.max >= *api.versions.end(), "{}", api.name);
    }
}

#[test]
fn every_served_version_is_guarded() {
    for api in TABLE {
        for version in api.versions.clone() {
            // Empty for ApiVersions before version 3 and for ListGroups; elsewhere the first field is missed.
            let outcome = guard::check(api.key, version, &[]);
            assert!(!matches!(outcome, Err(DecodeError::UnknownApi(_))), "{}", api.name);
        }
    }
}

#[test]
fn what_is_not_served_is_not_found() {
    assert!(served(ApiKey::Produce, 3).is_some());
    assert!(served(ApiKey::Produce, 2).is_none());
    assert!(served(ApiKey::InitProducerId, 6).is_none());
    assert!(served(ApiKey::Vote, 0).is_none());
    assert!(served(ApiKey::Fetch, i16::MIN).is_none());
}
