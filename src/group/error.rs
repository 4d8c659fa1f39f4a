//! Why a group refuses a request, as decisions of the client.

use crate::base::MemberId;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// The shard of this group is being loaded, or its last append was lost: the client retries.
    #[error("the group's coordinator is not available")]
    CoordinatorNotAvailable,
    #[error("the group's coordinator is loading")]
    CoordinatorLoadInProgress,
    /// The client looks up the coordinator again.
    #[error("this node does not coordinate the group")]
    NotCoordinator,
    #[error("not a group id")]
    InvalidGroupId,
    #[error(
        "the session timeout is outside group.min.session.timeout.ms ..= group.max.session.timeout.ms"
    )]
    InvalidSessionTimeout,
    /// The client joins again as a new member.
    #[error("no such member")]
    UnknownMemberId,
    /// The client joins again under this id (KIP-394).
    #[error("join again as {0}")]
    MemberIdRequired(MemberId),
    /// Another client has taken over this `group.instance.id` (KIP-345): the client stops.
    #[error("another member has this group.instance.id")]
    FencedInstanceId,
    /// A static member has not left yet (KIP-848): the client tries again.
    #[error("another member still has this group.instance.id")]
    UnreleasedInstanceId,
    /// To who asks for a group of one type it is as if there were none.
    #[error("the group is of another type")]
    OtherGroupType,
    /// The version of the request has no way to say what a member of a consumer group must say.
    #[error("{0}")]
    UnsupportedVersion(&'static str),
    /// The client gives up what it owns and joins again as a new member (KIP-848).
    #[error("the member epoch is not the member's")]
    FencedMemberEpoch,
    /// The client learns its new epoch with a heartbeat, and commits again (KIP-848).
    #[error("the member epoch is not the member's newest")]
    StaleMemberEpoch,
    #[error("no such assignor is built in or loaded")]
    UnsupportedAssignor,
    #[error("{0}")]
    InvalidRegularExpression(String),
    #[error("{0}")]
    InvalidRequest(String),
    #[error("the generation is not the group's")]
    IllegalGeneration,
    #[error("no protocol in common with the group")]
    InconsistentGroupProtocol,
    /// The client joins again.
    #[error("the group rebalances")]
    RebalanceInProgress,
    #[error("the group has group.max.size members")]
    GroupMaxSizeReached,
    #[error("no such group")]
    GroupIdNotFound,
    #[error("the group has members")]
    NonEmptyGroup,
    #[error("members of the group read the topic")]
    SubscribedToTopic,
    #[error("the offset's metadata is larger than offset.metadata.max.bytes")]
    OffsetMetadataTooLarge,
    /// The records do not fit a batch: nothing that a retry would change.
    #[error("the group's record is too large to store")]
    RecordTooLarge,
}

impl GroupError {
    /// Whether nobody can do it now, and the group has no part in that.
    pub fn is_of_the_coordinator(&self) -> bool {
        use GroupError::{CoordinatorLoadInProgress, CoordinatorNotAvailable, NotCoordinator};
        matches!(self, CoordinatorNotAvailable | CoordinatorLoadInProgress | NotCoordinator)
    }
}
