//! What the host keeps for each guest.

use super::{guest_log::GuestLog, memory::MemoryLimit};

/// In the guest's store.
pub(super) struct GuestState {
    pub(super) memory: MemoryLimit,
    pub(super) log: GuestLog,
}
