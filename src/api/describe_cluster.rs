//! `DescribeCluster` (key 60), versions 0 to 2.
//!
//! | version | adds                         | source   |
//! |---------|------------------------------|----------|
//! | 1       | the type of the endpoint     | KIP-919  |
//! | 2       | fenced brokers, when asked   | KIP-1073 |
//!
//! Not served: the endpoints of controllers.

use std::ops::RangeInclusive;

use kafka_protocol::{
    messages::{
        DescribeClusterRequest, DescribeClusterResponse,
        describe_cluster_response::DescribeClusterBroker,
    },
    protocol::StrBytes,
};

use super::{Context, Rooms, authorized_operations};
use crate::{
    base::{BrokerId, ErrorCode},
    metadata::{BrokerImage, MetadataImage},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=2;

const BROKERS: i8 = 1;
const CONTROLLERS: i8 = 2;

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: DescribeClusterRequest,
) -> DescribeClusterResponse {
    answer(&rooms.quorum.image(), rooms.config.node.id, context, &request)
}

fn answer(
    image: &MetadataImage,
    controller: BrokerId,
    context: &Context,
    request: &DescribeClusterRequest,
) -> DescribeClusterResponse {
    match request.endpoint_type {
        BROKERS => {}
        CONTROLLERS => {
            return refusal(
                ErrorCode::MismatchedEndpointType,
                "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER",
            );
        }
        _ => return refusal(ErrorCode::UnsupportedEndpointType, "Unsupported endpoint type"),
    }
    let shown = |it: &&BrokerImage| !it.fenced || request.include_fenced_brokers;
    let brokers = image.brokers.iter().filter(|(_, it)| shown(it));
    let operations = if request.include_cluster_authorized_operations {
        authorized_operations::CLUSTER
    } else {
        authorized_operations::OMITTED
    };
    DescribeClusterResponse::default()
        .with_cluster_id(StrBytes::from_string(image.cluster_id.to_string()))
        .with_controller_id(controller.0.into())
        .with_cluster_authorized_operations(operations)
        .with_brokers(brokers.filter_map(|(&id, it)| broker(context, id, it)).collect())
}

fn refusal(code: ErrorCode, message: &'static str) -> DescribeClusterResponse {
    DescribeClusterResponse::default()
        .with_error_code(code.code())
        .with_error_message(Some(StrBytes::from_static_str(message)))
}

/// `None` when the broker has no listener of the caller's name.
fn broker(context: &Context, id: BrokerId, image: &BrokerImage) -> Option<DescribeClusterBroker> {
    let listener = image.listener(&context.listener)?;
    let broker = DescribeClusterBroker::default()
        .with_broker_id(id.0.into())
        .with_host(StrBytes::from_string(listener.host.clone()))
        .with_port(listener.port.into())
        .with_rack(image.rack.clone().map(StrBytes::from_string));
    Some(if context.api_version >= 2 { broker.with_is_fenced(image.fenced) } else { broker })
}

#[cfg(test)]
mod tests;
