//! Topics that are the broker's own, as clients are told.

use crate::{
    base::TopicName,
    controller::{ALERTS_TOPIC, OFFSETS_TOPIC},
};

/// Topics that clients leave out of patterns, and whose records no client may delete.
pub(super) fn is_internal(name: &TopicName) -> bool {
    [OFFSETS_TOPIC, ALERTS_TOPIC, "__transaction_state"].contains(&name.as_str())
}
