//! `UpdateFeatures` (key 57), versions 0 to 2 (KIP-584; 1: KIP-778; 2: one result for all, KIP-1022).
//!
//! Klamm has no feature whose version could be changed (`ApiVersions` announces none), so every update is refused as Kafka refuses
//! one of a feature that its controller does not support.

use std::ops::RangeInclusive;

use kafka_protocol::{
    messages::{
        UpdateFeaturesRequest, UpdateFeaturesResponse, update_features_request::FeatureUpdateKey,
        update_features_response::UpdatableFeatureResult,
    },
    protocol::StrBytes,
};

use super::{Context, Rooms, refusal::sentence};
use crate::base::{BrokerId, ErrorCode};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=2;

/// The first version that has no results for each feature.
const ONE_RESULT_SINCE: i16 = 2;

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: UpdateFeaturesRequest,
) -> UpdateFeaturesResponse {
    answer(rooms.config.node.id, context.api_version, &request)
}

fn answer(node: BrokerId, version: i16, request: &UpdateFeaturesRequest) -> UpdateFeaturesResponse {
    let updates = &request.feature_updates;
    let code = ErrorCode::InvalidUpdateVersion.code();
    let response = UpdateFeaturesResponse::default().with_error_message(None);
    if version < ONE_RESULT_SINCE {
        let results = updates.iter().map(|it| {
            UpdatableFeatureResult::default()
                .with_feature(it.feature.clone())
                .with_error_code(code)
                .with_error_message(Some(refusal(node, it)))
        });
        return response.with_results(results.collect());
    }
    match updates.first() {
        Some(first) => {
            response.with_error_code(code).with_error_message(Some(refusal(node, first)))
        }
        None => response,
    }
}

fn refusal(node: BrokerId, update: &FeatureUpdateKey) -> StrBytes {
    sentence(format!(
        "Invalid update version {} for feature {}. Controller {} does not support this feature.",
        update.max_version_level, &*update.feature, node.0
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::test_node::encodes;

    #[test]
    fn every_update_is_refused_and_none_is_none() {
        let update = FeatureUpdateKey::default()
            .with_feature(StrBytes::from_static_str("metadata.version"))
            .with_max_version_level(27);
        let request = UpdateFeaturesRequest::default().with_feature_updates(vec![update]);
        for version in VERSIONS {
            let response = answer(BrokerId(1), version, &request);
            encodes(&response, version);
            let one = response.results.first();
            let code = one.map_or(response.error_code, |it| it.error_code);
            assert_eq!(code, ErrorCode::InvalidUpdateVersion.code());
            assert_eq!(response.results.len(), usize::from(version < 2));
            let empty = answer(BrokerId(1), version, &UpdateFeaturesRequest::default());
            assert_eq!(empty.error_code, 0);
        }
    }
}
