//! `UpdateFeatures` (key 57), versions 0 to 2 (KIP-584; 1: KIP-778; 2: one result for all, KIP-1022).
//!
//! Klamm has no feature whose version could be changed (`ApiVersions` announces none), so every update is refused as Kafka refuses
//! one of a feature that its controller does not support: with one error for the whole request, in every version.

use std::ops::RangeInclusive;

use kafka_protocol::{
    messages::{
        UpdateFeaturesRequest, UpdateFeaturesResponse, update_features_request::FeatureUpdateKey,
    },
    protocol::StrBytes,
};

use super::{Context, Rooms, refusal::sentence};
use crate::base::{BrokerId, ErrorCode};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=2;

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    rooms: &Rooms,
    _context: &Context,
    request: UpdateFeaturesRequest,
) -> UpdateFeaturesResponse {
    answer(rooms.config.node.id, &request)
}

fn answer(node: BrokerId, request: &UpdateFeaturesRequest) -> UpdateFeaturesResponse {
    let response = UpdateFeaturesResponse::default().with_error_message(None);
    match request.feature_updates.first() {
        Some(first) => response
            .with_error_code(ErrorCode::InvalidUpdateVersion.code())
            .with_error_message(Some(refusal(node, first))),
        None => response,
    }
}

fn refusal(node: BrokerId, update: &FeatureUpdateKey) -> StrBytes {
    sentence(format!(
        "The update failed for all features since the following feature had an error: Invalid update version {} for feature {}. \
         Local controller {} does not support this feature.",
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
        let response = answer(BrokerId(1), &request);
        let empty = answer(BrokerId(1), &UpdateFeaturesRequest::default());
        for version in VERSIONS {
            encodes(&response, version);
            encodes(&empty, version);
        }
        assert_eq!(response.error_code, ErrorCode::InvalidUpdateVersion.code());
        assert!(response.results.is_empty());
        assert_eq!((empty.error_code, empty.error_message), (0, None));
    }
}
