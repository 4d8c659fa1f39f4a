//! The way to other voters. There are none yet, so nobody is reachable, and openraft is told so. A transport takes this file's
//! place; nothing else changes.

use openraft::{
    AnyError, OptionalSend, RaftNetworkFactory, RaftNetworkV2,
    errors::{RPCError, ReplicationClosed, StreamingError, Unreachable},
    impls::BasicNode,
    network::RPCOption,
    raft::{
        AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse,
    },
};

use super::consensus::{Consensus, Snapshot, Vote};
use crate::metadata::MetadataRecord;

/// A quorum of one voter.
#[derive(Clone, Copy, Debug)]
pub(super) struct SingleVoter;

impl RaftNetworkFactory<Consensus> for SingleVoter {
    type Network = Nobody;

    async fn new_client(&mut self, target: u64, _node: &BasicNode) -> Nobody {
        Nobody { target }
    }
}

/// Another voter, if there were one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nobody {
    target: u64,
}

impl Nobody {
    fn unreachable(self) -> Unreachable<Consensus> {
        let message = format!("voter {}: this quorum has one voter", self.target);
        Unreachable::new(&AnyError::error(message))
    }
}

impl RaftNetworkV2<Consensus> for Nobody {
    type SnapshotData = Vec<MetadataRecord>;

    async fn append_entries(
        &mut self,
        _rpc: AppendEntriesRequest<Consensus>,
        _option: RPCOption,
    ) -> Result<AppendEntriesResponse<Consensus>, RPCError<Consensus>> {
        Err(self.unreachable().into())
    }

    async fn vote(
        &mut self,
        _rpc: VoteRequest<Consensus>,
        _option: RPCOption,
    ) -> Result<VoteResponse<Consensus>, RPCError<Consensus>> {
        Err(self.unreachable().into())
    }

    async fn pre_vote(
        &mut self,
        _rpc: VoteRequest<Consensus>,
        _option: RPCOption,
    ) -> Result<VoteResponse<Consensus>, RPCError<Consensus>> {
        Err(self.unreachable().into())
    }

    async fn full_snapshot(
        &mut self,
        _vote: Vote,
        _snapshot: Snapshot,
        _cancel: impl Future<Output = ReplicationClosed> + OptionalSend + 'static,
        _option: RPCOption,
    ) -> Result<SnapshotResponse<Consensus>, StreamingError<Consensus>> {
        Err(self.unreachable().into())
    }
}
