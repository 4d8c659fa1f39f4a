//! The classic protocol: members join, a leader assigns, members sync (Kafka's `ClassicGroup`).
//!
//! A [`ClassicGroup`] is soft state: who waits, until when, and the generation in the making. What a restart
//! must not forget is the `GroupMetadata` record that a finished generation emits; [`ClassicGroup::loaded`]
//! makes the group again from it. The request that changes a group emits records and answers together, and
//! the runtime holds the answers back until the records are committed; if that fails, the whole shard is dropped
//! and loaded again, so nothing here is ever rolled back.
//!
//! ```text
//!            join                 all joined              leader synced
//!   Empty ─────────▶ Preparing ───────────────▶ Completing ───────────▶ Stable
//!     ▲                │   ▲                        │                     │
//!     └── all left ────┘   └──── join, leave, timeout ────────────────────┘
//! ```

mod answers;
mod assign;
mod claims;
mod group;
mod heartbeat;
mod join;
mod leave;
mod member;
mod phase;
mod requests;
mod state;
mod static_member;
mod subscription;
mod sync;
mod target;
mod timers;

pub use answers::{Joined, JoinedMember, Synced};
pub use group::ClassicGroup;
pub use member::{Member, Protocol};
pub use requests::{AssignorAnswer, HeartbeatRequest, JoinRequest, LeavingMember, SyncRequest};
pub use state::State;
pub use subscription::Subscribed;
pub(crate) use subscription::decode_assignment;
pub use target::{Assignments, Target, TargetInputs};

use super::Effects;
use crate::{base::TimestampMs, config::GroupConfig};

/// What every step of a group gets: the settings, the time, and where its effects go.
pub struct Step<'a> {
    pub settings: &'a GroupConfig,
    pub now: TimestampMs,
    pub effects: &'a mut Effects,
}

impl Step<'_> {
    /// `ms` from now.
    fn after(&self, ms: i64) -> TimestampMs {
        TimestampMs(self.now.0.saturating_add(ms))
    }
}

#[cfg(test)]
mod tests;
