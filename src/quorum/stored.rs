//! What stands in the frames, in types of our own: openraft may change its structs, files must not.
//!
//! Fields and variants are persisted in this order (postcard); a change raises the frame's version.

use std::collections::{BTreeMap, BTreeSet};

use openraft::{EntryPayload, impls::BasicNode};
use serde::{Deserialize, Serialize};

use super::consensus::{
    Change, Entry, EntryId, LeaderId, Members, SnapshotMeta, StoredMembership, Vote,
};
use crate::metadata::MetadataRecord;

/// A frame of the log file: the first says where the log begins, each other is one group commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum LogFrame {
    /// Entries up to and including this one are in the snapshot.
    Start {
        purged: Option<StoredId>,
    },
    Entries(Vec<StoredEntry>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredId {
    pub(super) epoch: u64,
    pub(super) leader: u64,
    pub(super) index: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredEntry {
    pub(super) id: StoredId,
    pub(super) payload: StoredPayload,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum StoredPayload {
    /// A new leader's first entry.
    Blank,
    Records(Vec<MetadataRecord>),
    Members(StoredMembers),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredMembers {
    /// Two sets while the members change.
    voters: Vec<BTreeSet<u64>>,
    /// Address of each member, empty where none is needed.
    addresses: BTreeMap<u64, String>,
}

/// The vote file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredVote {
    epoch: u64,
    voted_for: u64,
    /// A quorum has granted it: this node leads.
    committed: bool,
}

/// The file that a clean stop leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredEnd {
    /// All of the log file, whose last byte is that of a frame.
    pub(super) log_bytes: u64,
}

/// The snapshot file: records that lead to the image, and where the log goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredSnapshot {
    pub(super) last: Option<StoredId>,
    pub(super) members_at: Option<StoredId>,
    pub(super) members: StoredMembers,
    pub(super) records: Vec<MetadataRecord>,
}

impl From<EntryId> for StoredId {
    fn from(id: EntryId) -> Self {
        Self { epoch: id.leader_id.term, leader: id.leader_id.node_id, index: id.index }
    }
}

impl From<StoredId> for EntryId {
    fn from(id: StoredId) -> Self {
        Self { leader_id: LeaderId { term: id.epoch, node_id: id.leader }, index: id.index }
    }
}

impl From<&Entry> for StoredEntry {
    fn from(entry: &Entry) -> Self {
        let payload = match &entry.payload {
            EntryPayload::Blank => StoredPayload::Blank,
            EntryPayload::Normal(Change(records)) => StoredPayload::Records(records.clone()),
            EntryPayload::Membership(members) => StoredPayload::Members(members.into()),
        };
        Self { id: entry.log_id.into(), payload }
    }
}

impl From<StoredEntry> for Entry {
    fn from(entry: StoredEntry) -> Self {
        let payload = match entry.payload {
            StoredPayload::Blank => EntryPayload::Blank,
            StoredPayload::Records(records) => EntryPayload::Normal(Change(records)),
            StoredPayload::Members(members) => EntryPayload::Membership(members.into()),
        };
        Self { log_id: entry.id.into(), payload }
    }
}

impl From<&Members> for StoredMembers {
    fn from(members: &Members) -> Self {
        Self {
            voters: members.get_joint_config().clone(),
            addresses: members.nodes().map(|(&id, node)| (id, node.addr.clone())).collect(),
        }
    }
}

impl From<StoredMembers> for Members {
    /// A set that openraft finds invalid (no file that we wrote holds one) reads as no members.
    fn from(members: StoredMembers) -> Self {
        let nodes: BTreeMap<_, _> =
            members.addresses.into_iter().map(|(id, addr)| (id, BasicNode { addr })).collect();
        Self::new(members.voters, nodes).unwrap_or_default()
    }
}

impl From<&Vote> for StoredVote {
    fn from(vote: &Vote) -> Self {
        let LeaderId { term, node_id } = vote.leader_id;
        Self { epoch: term, voted_for: node_id, committed: vote.committed }
    }
}

impl From<StoredVote> for Vote {
    fn from(vote: StoredVote) -> Self {
        let leader_id = LeaderId { term: vote.epoch, node_id: vote.voted_for };
        Self { leader_id, committed: vote.committed }
    }
}

impl StoredSnapshot {
    pub(super) fn new(meta: &SnapshotMeta, records: Vec<MetadataRecord>) -> Self {
        Self {
            last: meta.last_log_id.map(Into::into),
            members_at: meta.last_membership.log_id().map(Into::into),
            members: meta.last_membership.membership().into(),
            records,
        }
    }

    pub(super) fn meta(&self) -> SnapshotMeta {
        let at = self.members_at.map(Into::into);
        SnapshotMeta {
            last_log_id: self.last.map(Into::into),
            last_membership: StoredMembership::new(at, self.members.clone().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(index: u64) -> StoredId {
        StoredId { epoch: 3, leader: 1, index }
    }

    #[test]
    fn entries_come_back_from_their_stored_form() {
        let members =
            StoredMembers { voters: vec![[1].into()], addresses: [(1, String::new())].into() };
        let records = vec![MetadataRecord::Cluster { cluster_id: "c".into() }];
        for payload in
            [StoredPayload::Blank, StoredPayload::Records(records), StoredPayload::Members(members)]
        {
            let stored = StoredEntry { id: id(9), payload };
            assert_eq!(StoredEntry::from(&Entry::from(stored.clone())), stored);
        }
    }

    #[test]
    fn a_vote_comes_back_from_its_stored_form() {
        let stored = StoredVote { epoch: 4, voted_for: 2, committed: true };
        assert_eq!(StoredVote::from(&Vote::from(stored)), stored);
    }
}
