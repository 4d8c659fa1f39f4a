//! What a config is of, as requests number it.

use super::refusal::Refusal;
use crate::metadata::ConfigResource;

pub(super) const TOPIC: i8 = 2;
pub(super) const BROKER: i8 = 4;
pub(super) const GROUP: i8 = 32;

/// The resource of a request to change configs. Changes to brokers are refused later, by the controller.
pub(super) fn resource(kind: i8, name: &str) -> Result<ConfigResource, Refusal> {
    match kind {
        TOPIC => Ok(ConfigResource::Topic(name.into())),
        BROKER => Ok(ConfigResource::Broker(None)),
        GROUP => Ok(ConfigResource::Group(name.into())),
        other => Err(unsupported(other)),
    }
}

pub(super) fn unsupported(kind: i8) -> Refusal {
    let name = match kind {
        8 => "BROKER_LOGGER",
        16 => "CLIENT_METRICS",
        _ => "UNKNOWN",
    };
    Refusal::invalid_request(format!("Unsupported resource type: {name} ({kind})"))
}
