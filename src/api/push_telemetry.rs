//! `PushTelemetry` (key 72), version 0 (KIP-714): a client's metrics, which `/metrics` then tells.
//!
//! Not served: histograms, of which Kafka's clients send none.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{PushTelemetryRequest, PushTelemetryResponse};

use super::{
    Context, Rooms,
    telemetry::{ClientDetails, Telemetry, error_code},
};
use crate::{
    base::ErrorCode,
    client_metrics::{Push, is_reserved},
};

/// The version Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=0;

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: PushTelemetryRequest,
) -> PushTelemetryResponse {
    answer(&rooms.telemetry, context, &request)
}

fn answer(
    telemetry: &Telemetry,
    context: &Context,
    request: &PushTelemetryRequest,
) -> PushTelemetryResponse {
    let response = PushTelemetryResponse::default();
    let id = request.client_instance_id;
    if is_reserved(id) {
        return response.with_error_code(ErrorCode::InvalidRequest.code());
    }
    let push = Push {
        subscription_id: request.subscription_id,
        terminating: request.terminating,
        compression_type: request.compression_type,
        metrics: &request.metrics,
    };
    let now_ms = telemetry.now_ms();
    let taken = ClientDetails::with_client(context, id, |client| {
        telemetry.clients.push(client, &push, now_ms)
    });
    match taken {
        Ok(()) => response,
        Err(error) => response.with_error_code(error_code(error).code()),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{api::test_node::encodes, telemetry::Metrics};

    #[test]
    fn a_push_needs_an_id_and_the_subscription_that_it_was_given() {
        let telemetry = Telemetry::new(1 << 20, &Metrics::default());
        let context = Context::of_version(0);
        let push = |id| {
            let request =
                PushTelemetryRequest::default().with_client_instance_id(Uuid::from_u128(id));
            let response = answer(&telemetry, &context, &request);
            encodes(&response, 0);
            ErrorCode::from_code(response.error_code)
        };
        assert_eq!(push(0), ErrorCode::InvalidRequest);
        assert_eq!(push(1), ErrorCode::InvalidRequest);
        assert_eq!(push(2), ErrorCode::UnknownSubscriptionId);
    }
}
