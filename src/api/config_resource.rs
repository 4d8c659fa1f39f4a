//! What a config is of, as requests number it.

use super::refusal::Refusal;
use crate::{base::BrokerId, metadata::ConfigResource};

pub(super) const TOPIC: i8 = 2;
pub(super) const BROKER: i8 = 4;
pub(super) const BROKER_LOGGER: i8 = 8;
pub(super) const CLIENT_METRICS: i8 = 16;
pub(super) const GROUP: i8 = 32;

/// The resource of a request to change configs that came to `node`: a node takes changes of its own settings and of the
/// defaults of all nodes, whose name is empty.
pub(super) fn resource(node: BrokerId, kind: i8, name: &str) -> Result<ConfigResource, Refusal> {
    match kind {
        TOPIC => Ok(ConfigResource::Topic(name.into())),
        BROKER if name.is_empty() => Ok(ConfigResource::Broker(None)),
        BROKER => broker(node, name).map(|it| ConfigResource::Broker(Some(it))),
        CLIENT_METRICS => Ok(ConfigResource::ClientMetrics(name.into())),
        GROUP => Ok(ConfigResource::Group(name.into())),
        other => Err(unsupported(other)),
    }
}

fn broker(node: BrokerId, name: &str) -> Result<BrokerId, Refusal> {
    let id: i32 = name.parse().map_err(|_| {
        Refusal::invalid_request(format!("Node id must be an integer, but it is: {name}"))
    })?;
    if id == node.0 {
        return Ok(node);
    }
    let expected = node.0;
    let reason = format!("Unexpected broker id, expected {expected}, but received {name}");
    Err(Refusal::invalid_request(reason))
}

pub(super) fn unsupported(kind: i8) -> Refusal {
    let name = match kind {
        BROKER_LOGGER => "BROKER_LOGGER",
        _ => "UNKNOWN",
    };
    Refusal::invalid_request(format!("Unsupported resource type: {name} ({kind})"))
}
