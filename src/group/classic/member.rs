//! One member of a classic group.

use std::sync::Arc;

use bytes::Bytes;

use crate::{
    base::MemberId,
    group::{MemberMetadata, Ticket, session::Session},
};

/// An assignment protocol that a member supports, with what it tells its leader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol {
    pub name: Arc<str>,
    pub metadata: Bytes,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    pub id: MemberId,
    /// A static member (KIP-345): its id changes when its process restarts, its place does not.
    pub group_instance_id: Option<Arc<str>>,
    pub client_id: Arc<str>,
    pub client_host: Arc<str>,
    pub rebalance_timeout_ms: i32,
    pub session_timeout_ms: i32,
    /// In order of preference.
    pub protocols: Vec<Protocol>,
    /// Of the last finished generation.
    pub assignment: Bytes,
    pub(super) awaiting_join: Option<Ticket>,
    pub(super) awaiting_sync: Option<Ticket>,
    /// Its first join has not been answered: it cannot know its id, so it cannot send heartbeats.
    pub(super) is_new: bool,
    pub(super) session: Session,
}

impl Member {
    /// The member's metadata for a protocol; empty for one that it does not have.
    pub fn metadata(&self, protocol: &str) -> Bytes {
        self.protocols
            .iter()
            .find(|it| *it.name == *protocol)
            .map(|it| it.metadata.clone())
            .unwrap_or_default()
    }

    pub(super) fn metadata_bytes(&self) -> usize {
        self.protocols.iter().map(|it| it.metadata.len()).sum()
    }

    pub(super) fn supports(&self, protocol: &str) -> bool {
        self.protocols.iter().any(|it| *it.name == *protocol)
    }

    /// Whether a session that ran out is forgiven: the member waits for us, not we for it. A new member
    /// may have gone without a sign, so it is not.
    pub(super) fn waits_for_us(&self) -> bool {
        !self.is_new && (self.awaiting_join.is_some() || self.awaiting_sync.is_some())
    }

    pub(super) fn stored(&self, protocol: Option<&str>) -> MemberMetadata {
        MemberMetadata {
            member_id: self.id.clone(),
            group_instance_id: self.group_instance_id.clone(),
            client_id: self.client_id.clone(),
            client_host: self.client_host.clone(),
            rebalance_timeout_ms: self.rebalance_timeout_ms,
            session_timeout_ms: self.session_timeout_ms,
            subscription: protocol.map(|it| self.metadata(it)).unwrap_or_default(),
            assignment: self.assignment.clone(),
        }
    }

    pub(super) fn load(stored: &MemberMetadata, protocol: Option<&Arc<str>>) -> Self {
        let protocols = protocol
            .map(|name| Protocol { name: name.clone(), metadata: stored.subscription.clone() });
        Self {
            id: stored.member_id.clone(),
            group_instance_id: stored.group_instance_id.clone(),
            client_id: stored.client_id.clone(),
            client_host: stored.client_host.clone(),
            rebalance_timeout_ms: stored.rebalance_timeout_ms,
            session_timeout_ms: stored.session_timeout_ms,
            protocols: protocols.into_iter().collect(),
            assignment: stored.assignment.clone(),
            awaiting_join: None,
            awaiting_sync: None,
            is_new: false,
            session: Session::default(),
        }
    }
}
