//! `ApiVersions` (key 18), versions 0 to 4: what this node serves, so that a client can choose.
//!
//! | version | adds                                                     | source  |
//! |--------:|----------------------------------------------------------|---------|
//! |       0 | the list                                                 | KIP-35  |
//! |       1 | throttle time                                            | KIP-219 |
//! |       3 | flexible; the client's software name and version; features | KIP-511, KIP-584 |
//! |       4 | features that begin at version 0                         | KIP-584 |
//!
//! The response's header never has tagged fields, and a request of an unknown version is answered in version 0: a client
//! asks this before it knows anything.
//!
//! Features are announced whose meaning is served; before version 4 only those that do not begin at version 0, as in Kafka.

use std::ops::RangeInclusive;

use kafka_protocol::{
    messages::{
        ApiKey, ApiVersionsRequest, ApiVersionsResponse,
        api_versions_response::{ApiVersion, FinalizedFeatureKey, SupportedFeatureKey},
    },
    protocol::StrBytes,
};

use super::{Api, Context, Rooms, TABLE};
use crate::{
    base::ErrorCode,
    metadata::{FEATURES, MetadataImage},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=4;

/// librdkafka takes a broker that does not announce version 0 for one without message format 2 (KAFKA-18659), so it is
/// announced, as in Kafka; versions 0 to 2 are refused like any that is not served.
const PRODUCE_ANNOUNCED_FROM: i16 = 0;

/// First version in which a client tells its software.
const SOFTWARE_SINCE: i16 = 3;

/// First version that has features.
const FEATURES_SINCE: i16 = 3;

/// First version in which a feature may begin at 0: Java's clients of before refuse the whole answer for it (KAFKA-17011).
const FEATURES_FROM_0_SINCE: i16 = 4;

#[expect(clippy::unused_async, reason = "all handlers have one shape")]
pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: ApiVersionsRequest,
) -> ApiVersionsResponse {
    let named = [&request.client_software_name, &request.client_software_version];
    if context.api_version >= SOFTWARE_SINCE && !named.iter().all(|text| is_software(text)) {
        return ApiVersionsResponse::default().with_error_code(ErrorCode::InvalidRequest.code());
    }
    if context.api_version >= SOFTWARE_SINCE {
        let [name, version] = named;
        context.details.tell_software(name, version);
    }
    let response = ApiVersionsResponse::default();
    let response = response.with_api_keys(TABLE.iter().map(announced).collect());
    with_features(response, context.api_version, &rooms.quorum.image())
}

/// A feature whose finalized version is 0 is not finalized.
fn with_features(
    response: ApiVersionsResponse,
    version: i16,
    image: &MetadataImage,
) -> ApiVersionsResponse {
    if version < FEATURES_SINCE {
        return response;
    }
    let lowest = i16::from(version < FEATURES_FROM_0_SINCE);
    let supported = FEATURES.iter().filter(|it| it.min >= lowest).map(|it| {
        SupportedFeatureKey::default()
            .with_name(StrBytes::from_static_str(it.name))
            .with_min_version(it.min)
            .with_max_version(it.max)
    });
    let levels = FEATURES.iter().map(|it| (it.name, image.features.of(it)));
    let finalized = levels.filter(|it| it.1 > 0).map(|(name, level)| {
        FinalizedFeatureKey::default()
            .with_name(StrBytes::from_static_str(name))
            .with_min_version_level(level)
            .with_max_version_level(level)
    });
    response
        .with_supported_features(supported.collect())
        .with_finalized_features(finalized.collect())
        .with_finalized_features_epoch(i64::try_from(image.version).unwrap_or(i64::MAX))
}

/// What a client that asks in an unknown version is told: the versions of this API alone (KIP-511).
pub(super) fn unsupported_version() -> ApiVersionsResponse {
    let this = TABLE.iter().filter(|api| api.key == ApiKey::ApiVersions).map(announced);
    ApiVersionsResponse::default()
        .with_error_code(ErrorCode::UnsupportedVersion.code())
        .with_api_keys(this.collect())
}

fn announced(api: &Api) -> ApiVersion {
    let min_version = match api.key {
        ApiKey::Produce => PRODUCE_ANNOUNCED_FROM,
        _ => *api.versions.start(),
    };
    ApiVersion::default()
        .with_api_key(api.key as i16)
        .with_min_version(min_version)
        .with_max_version(*api.versions.end())
}

/// A name or version as KIP-511 allows it: letters, digits, and between them dots and hyphens.
fn is_software(text: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let ends = [text.bytes().next(), text.bytes().next_back()];
    text.bytes().all(inside)
        && ends.iter().all(|end| end.is_some_and(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{api::test_node::encodes, metadata::MetadataRecord};

    #[test]
    fn software_names_are_letters_and_digits_with_dots_and_hyphens_between() {
        for good in ["librdkafka", "apache-kafka-java", "2.8.0-SNAPSHOT", "1", "a.-b"] {
            assert!(is_software(good), "{good}");
        }
        for bad in ["", "-", "a-", ".a", "a b", "kafka_python", "näme", "a\n"] {
            assert!(!is_software(bad), "{bad}");
        }
    }

    #[test]
    fn produce_alone_is_announced_wider_than_it_is_served() {
        for api in TABLE {
            let announced = announced(api);
            let served = announced.min_version == *api.versions.start();
            assert_eq!(served, api.key != ApiKey::Produce, "{}", api.name);
            assert_eq!(announced.max_version, *api.versions.end());
        }
    }

    #[test]
    fn features_are_told_as_far_as_a_version_can_tell_them() {
        let mut image = MetadataImage { version: 9, ..MetadataImage::default() };
        let told = |image: &MetadataImage, version| {
            let response = with_features(ApiVersionsResponse::default(), version, image);
            encodes(&response, version);
            let supported = response.supported_features.iter().map(|it| it.name.to_string());
            let finalized = response.finalized_features.iter();
            let finalized = finalized.map(|it| (it.name.to_string(), it.max_version_level));
            (supported.collect::<Vec<_>>(), finalized.collect::<Vec<_>>())
        };
        let (group, metadata) = ("group.version".to_owned(), "metadata.version".to_owned());
        let both = vec![(group.clone(), 1), (metadata.clone(), 27)];
        assert_eq!(told(&image, 2), (vec![], vec![]));
        assert_eq!(told(&image, 3), (vec![metadata.clone()], both.clone()));
        assert_eq!(told(&image, 4), (vec![group.clone(), metadata.clone()], both));
        image.replay(&MetadataRecord::FeatureLevel { name: group.clone(), level: 0 });
        assert_eq!(told(&image, 4), (vec![group, metadata.clone()], vec![(metadata, 27)]));
    }

    #[test]
    fn an_unknown_version_is_told_the_versions_of_this_api() {
        let response = unsupported_version();
        assert_eq!(response.error_code, 35);
        assert_eq!(response.api_keys.len(), 1);
        assert_eq!((response.api_keys[0].api_key, response.api_keys[0].max_version), (18, 4));
    }
}
