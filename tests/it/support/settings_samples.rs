//! Samples of the requests about what a node is told and tells of itself: configs, quotas, telemetry, quorum, features.

use bytes::BytesMut;
use kafka_protocol::{
    messages::{
        AlterClientQuotasRequest, ApiKey, DescribeClientQuotasRequest, DescribeQuorumRequest,
        GetTelemetrySubscriptionsRequest, ListConfigResourcesRequest, PushTelemetryRequest,
        UpdateFeaturesRequest, alter_client_quotas_request, describe_client_quotas_request,
        describe_quorum_request, update_features_request,
    },
    protocol::StrBytes,
};

use super::samples::encoded;

/// `None` for another API.
pub(super) fn settings_sample(key: ApiKey, version: i16) -> Option<BytesMut> {
    Some(match key {
        ApiKey::ListConfigResources => encoded(version, &list_config_resources(version)),
        ApiKey::DescribeClientQuotas => encoded(version, &describe_client_quotas()),
        ApiKey::AlterClientQuotas => encoded(version, &alter_client_quotas()),
        ApiKey::GetTelemetrySubscriptions => {
            encoded(version, &GetTelemetrySubscriptionsRequest::default())
        }
        ApiKey::PushTelemetry => encoded(version, &PushTelemetryRequest::default()),
        ApiKey::DescribeQuorum => encoded(version, &describe_quorum()),
        ApiKey::UpdateFeatures => encoded(version, &update_features()),
        _ => return None,
    })
}

fn text(it: &'static str) -> StrBytes {
    StrBytes::from_static_str(it)
}

fn list_config_resources(version: i16) -> ListConfigResourcesRequest {
    let types = if version == 0 { Vec::new() } else { vec![2] };
    ListConfigResourcesRequest::default().with_resource_types(types)
}

fn describe_client_quotas() -> DescribeClientQuotasRequest {
    let component = describe_client_quotas_request::ComponentData::default()
        .with_entity_type(text("user"))
        .with_match(Some(text("hostile")));
    DescribeClientQuotasRequest::default().with_components(vec![component])
}

/// Of a type that no broker has, so that nobody is held to it.
fn alter_client_quotas() -> AlterClientQuotasRequest {
    let entity = alter_client_quotas_request::EntityData::default()
        .with_entity_type(text("hostile"))
        .with_entity_name(Some(text("hostile")));
    let op = alter_client_quotas_request::OpData::default().with_key(text("producer_byte_rate"));
    let entry = alter_client_quotas_request::EntryData::default()
        .with_entity(vec![entity])
        .with_ops(vec![op]);
    AlterClientQuotasRequest::default().with_entries(vec![entry])
}

fn describe_quorum() -> DescribeQuorumRequest {
    let topic = describe_quorum_request::TopicData::default()
        .with_topic_name(text("hostile").into())
        .with_partitions(vec![describe_quorum_request::PartitionData::default()]);
    DescribeQuorumRequest::default().with_topics(vec![topic])
}

fn update_features() -> UpdateFeaturesRequest {
    let update = update_features_request::FeatureUpdateKey::default().with_feature(text("hostile"));
    UpdateFeaturesRequest::default().with_feature_updates(vec![update])
}
