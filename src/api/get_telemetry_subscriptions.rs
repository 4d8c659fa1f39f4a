//! `GetTelemetrySubscriptions` (key 71), version 0 (KIP-714): which metrics a client is to push, and how often.
//!
//! Without a subscription it is none, every five minutes: clients then ask again after that time and are quiet.

use std::ops::RangeInclusive;

use kafka_protocol::{
    messages::{GetTelemetrySubscriptionsRequest, GetTelemetrySubscriptionsResponse},
    protocol::StrBytes,
};
use uuid::Uuid;

use super::{
    Context, Rooms,
    telemetry::{ClientDetails, Telemetry, error_code},
};

/// The version Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=0;

/// zstd, lz4, gzip, snappy: what Kafka prefers first.
const COMPRESSION_TYPES: [i8; 4] = [4, 3, 1, 2];

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: GetTelemetrySubscriptionsRequest,
) -> GetTelemetrySubscriptionsResponse {
    answer(&rooms.telemetry, context, &request)
}

fn answer(
    telemetry: &Telemetry,
    context: &Context,
    request: &GetTelemetrySubscriptionsRequest,
) -> GetTelemetrySubscriptionsResponse {
    let id = request.client_instance_id;
    let id = if id.is_nil() { Uuid::new_v4() } else { id };
    let now_ms = telemetry.now_ms();
    let subscribed = ClientDetails::with_client(context, id, |client| {
        telemetry.clients.subscribe(client, now_ms)
    });
    match subscribed {
        Ok(granted) => GetTelemetrySubscriptionsResponse::default()
            .with_client_instance_id(id)
            .with_subscription_id(granted.subscription_id)
            .with_accepted_compression_types(COMPRESSION_TYPES.into())
            .with_push_interval_ms(granted.interval_ms)
            .with_telemetry_max_bytes(telemetry.clients.max_bytes() as i32)
            .with_delta_temporality(true)
            .with_requested_metrics(
                granted.metrics.into_iter().map(StrBytes::from_string).collect(),
            ),
        Err(error) => {
            GetTelemetrySubscriptionsResponse::default().with_error_code(error_code(error).code())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{api::test_node::encodes, base::ErrorCode, telemetry::Metrics};

    #[test]
    fn without_a_subscription_a_client_gets_an_id_and_nothing_to_push() {
        let telemetry = Telemetry::new(1 << 20, &Metrics::default());
        let context = Context::of_version(0);
        let response = answer(&telemetry, &context, &GetTelemetrySubscriptionsRequest::default());
        encodes(&response, 0);
        assert_eq!((response.error_code, response.push_interval_ms), (0, 300_000));
        assert_eq!(response.telemetry_max_bytes, 1 << 20);
        assert!(response.requested_metrics.is_empty() && !response.client_instance_id.is_nil());

        let again = GetTelemetrySubscriptionsRequest::default()
            .with_client_instance_id(response.client_instance_id);
        let refused = answer(&telemetry, &context, &again);
        encodes(&refused, 0);
        assert_eq!(refused.error_code, ErrorCode::ThrottlingQuotaExceeded.code());
    }
}
