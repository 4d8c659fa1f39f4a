//! What openraft is told of Klamm: the types of an entry, a vote and a member. Kafka's *epoch* is openraft's *term*.

use std::fmt;

use openraft::{LogId, impls::BasicNode, type_config::alias};
use serde::{Deserialize, Serialize};

use crate::metadata::MetadataRecord;

openraft::declare_raft_types!(
    /// The metadata quorum's choice of types.
    pub(super) Consensus:
        D = Change,
        R = (),
        NodeId = u64,
        Node = BasicNode,
);

pub(super) type LeaderId = alias::LeaderIdOf<Consensus>;
pub(super) type EntryId = LogId<alias::CommittedLeaderIdOf<Consensus>>;
pub(super) type Entry = alias::EntryOf<Consensus>;
pub(super) type Vote = alias::VoteOf<Consensus>;
pub(super) type Members = openraft::Membership<u64, BasicNode>;
pub(super) type StoredMembership = alias::StoredMembershipOf<Consensus>;
pub(super) type SnapshotMeta = alias::SnapshotMetaOf<Consensus>;
pub(super) type Snapshot = alias::SnapshotOf<Consensus, Vec<MetadataRecord>>;

/// Records that are committed together: one decision's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Change(pub(super) Vec<MetadataRecord>);

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} records", self.0.len())
    }
}
