//! Whether groups of the consumer protocol (KIP-848) are served, and which assignors their members may name.

use std::collections::BTreeSet;

use super::Rooms;
use crate::{base::PluginName, config::RebalanceProtocol, plugin::HookKind};

/// Not while `group.version` is 0, nor where the node's settings leave the protocol out.
pub(super) fn is_served(rooms: &Rooms) -> bool {
    rooms.config.group.serves(RebalanceProtocol::Consumer)
        && rooms.quorum.image().features.serves_consumer_groups()
}

/// Those that are built in, and plugins.
pub(super) fn assignors(rooms: &Rooms) -> BTreeSet<PluginName> {
    let configured = rooms.config.group.consumer.assignors.iter().cloned();
    configured.chain(rooms.plugins.names(HookKind::Assignor)).collect()
}
