//! `UpdateFeatures` (key 57), versions 0 to 2 (KIP-584; 1: KIP-778; 2: one result for all, KIP-1022).
//!
//! Changes the finalized versions of features, all that a request names or none. A refusal is one error for the whole request, in every
//! version, as Kafka's.

use std::ops::RangeInclusive;

use kafka_protocol::{
    messages::{
        UpdateFeaturesRequest, UpdateFeaturesResponse, update_features_request::FeatureUpdateKey,
        update_features_response::UpdatableFeatureResult,
    },
    protocol::StrBytes,
};

use super::{
    Context, Rooms,
    metadata_change::MetadataChange,
    refusal::{Refusal, sentence},
};
use crate::{
    base::BrokerId,
    controller::{FeatureUpdate, UpdateKind, update_features},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=2;

/// What Kafka says of a feature with which all is well.
const NO_ERROR: &str = "NONE";

/// From here on a success is one for all.
const ONE_RESULT_SINCE: i16 = 2;

pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: UpdateFeaturesRequest,
) -> UpdateFeaturesResponse {
    let change = MetadataChange::new(rooms, request.validate_only, request.timeout_ms);
    let result = update(&change, rooms.config.node.id, &request).await;
    answer(context.api_version, &request, result)
}

async fn update(
    change: &MetadataChange<'_>,
    controller: BrokerId,
    request: &UpdateFeaturesRequest,
) -> Result<(), Refusal> {
    let updates: Vec<_> = request.feature_updates.iter().map(read).collect();
    let mut results = change.make(1, |image| update_features(image, controller, &updates)).await;
    results.pop().unwrap_or(Ok(()))
}

fn read(update: &FeatureUpdateKey) -> FeatureUpdate {
    let kind = match update.upgrade_type {
        _ if update.allow_downgrade => Some(UpdateKind::Downgrade),
        1 => Some(UpdateKind::Upgrade),
        2 | 3 => Some(UpdateKind::Downgrade),
        _ => None,
    };
    FeatureUpdate { feature: update.feature.to_string(), level: update.max_version_level, kind }
}

fn answer(
    version: i16,
    request: &UpdateFeaturesRequest,
    result: Result<(), Refusal>,
) -> UpdateFeaturesResponse {
    let response = UpdateFeaturesResponse::default().with_error_message(None);
    match result {
        Ok(()) if version >= ONE_RESULT_SINCE => response,
        Ok(()) => {
            let done = |it: &FeatureUpdateKey| {
                UpdatableFeatureResult::default()
                    .with_feature(it.feature.clone())
                    .with_error_message(Some(StrBytes::from_static_str(NO_ERROR)))
            };
            response.with_results(request.feature_updates.iter().map(done).collect())
        }
        Err(it) => {
            let reason = format!(
                "The update failed for all features since the following feature had an error: {}",
                it.message
            );
            response.with_error_code(it.code.code()).with_error_message(Some(sentence(reason)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::test_node::{TestNode, encodes},
        base::ErrorCode,
    };

    fn request(level: i16, upgrade_type: i8) -> UpdateFeaturesRequest {
        let update = FeatureUpdateKey::default()
            .with_feature(StrBytes::from_static_str("group.version"))
            .with_max_version_level(level)
            .with_upgrade_type(upgrade_type);
        UpdateFeaturesRequest::default().with_feature_updates(vec![update])
    }

    #[tokio::test]
    async fn a_downgrade_is_committed_and_a_validated_one_is_not() {
        let node = TestNode::start().await;
        let is_served = || node.quorum.image().features.serves_consumer_groups();
        let down = request(0, 2);
        assert_eq!(update(&node.validating(), BrokerId(1), &down).await, Ok(()));
        assert!(is_served());
        assert_eq!(update(&node.change(), BrokerId(1), &down).await, Ok(()));
        assert!(!is_served());
        let refused = update(&node.change(), BrokerId(1), &request(1, 2)).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidUpdateVersion);
    }

    #[test]
    fn older_versions_may_tell_of_each_feature_and_newer_ones_of_all() {
        for version in VERSIONS {
            let request = request(1, 1);
            let done = answer(version, &request, Ok(()));
            assert_eq!(done.results.len(), usize::from(version < 2));
            encodes(&done, version);
            let refusal = Refusal::new(ErrorCode::InvalidUpdateVersion, "no");
            let refused = answer(version, &request, Err(refusal));
            assert!(refused.error_message.as_ref().unwrap().ends_with("had an error: no"));
            encodes(&refused, version);
        }
    }

    #[test]
    fn a_flag_of_old_or_a_type_says_which_way_it_goes() {
        let of_old = |allow| FeatureUpdateKey::default().with_allow_downgrade(allow);
        let [down, up] = [true, false].map(|it| read(&of_old(it)).kind);
        assert_eq!((down, up), (Some(UpdateKind::Downgrade), Some(UpdateKind::Upgrade)));
        let kinds = [0, 1, 2, 3, 4].map(|it| read(&request(1, it).feature_updates[0]).kind);
        let (upgrade, downgrade) = (Some(UpdateKind::Upgrade), Some(UpdateKind::Downgrade));
        assert_eq!(kinds, [None, upgrade, downgrade, downgrade, None]);
    }
}
