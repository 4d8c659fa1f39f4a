//! Whether groups of the consumer protocol (KIP-848) are served, and which assignors their members may name.

use std::collections::BTreeSet;

use super::Rooms;
use crate::{base::PluginName, plugin::HookKind};

/// Not while `group.version` is 0.
pub(super) fn is_served(rooms: &Rooms) -> bool {
    rooms.quorum.image().features.serves_consumer_groups()
}

/// Those that are built in, and plugins.
pub(super) fn assignors(rooms: &Rooms) -> BTreeSet<PluginName> {
    let built_in = BUILT_IN.into_iter().map(PluginName::from);
    built_in.chain(rooms.plugins.names(HookKind::Assignor)).collect()
}

const BUILT_IN: [&str; 2] = ["range", "uniform"];
