//! `ListConfigResources` (key 74), versions 0 to 1: the names that configs can be asked for.
//!
//! | version | adds                                                      | source   |
//! |--------:|-----------------------------------------------------------|----------|
//! |       0 | client-metrics subscriptions                              | KIP-1000 |
//! |       1 | topics, brokers and groups, by type or all of them        | KIP-1142 |
//!
//! Groups are those with configs of their own, as in Kafka. Not served: the loggers of brokers, of which Klamm has none.

use std::ops::RangeInclusive;

use kafka_protocol::{
    messages::{
        ListConfigResourcesRequest, ListConfigResourcesResponse,
        list_config_resources_response::ConfigResource as Listed,
    },
    protocol::StrBytes,
};

use super::{
    Context, Rooms,
    config_resource::{BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC},
};
use crate::{
    base::ErrorCode,
    metadata::{ConfigResource, MetadataImage},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=1;

/// In Kafka's order.
const TYPES: [i8; 5] = [GROUP, CLIENT_METRICS, BROKER_LOGGER, BROKER, TOPIC];

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    rooms: &Rooms,
    context: &Context,
    request: ListConfigResourcesRequest,
) -> ListConfigResourcesResponse {
    answer(&rooms.quorum.image(), context, &request)
}

fn answer(
    image: &MetadataImage,
    context: &Context,
    request: &ListConfigResourcesRequest,
) -> ListConfigResourcesResponse {
    let asked = &request.resource_types;
    if asked.iter().any(|it| !TYPES.contains(it)) {
        return ListConfigResourcesResponse::default()
            .with_error_code(ErrorCode::UnsupportedVersion.code());
    }
    if context.api_version == 0 {
        return response(names(image, context, CLIENT_METRICS).map(entry));
    }
    let is_asked = |it: &i8| asked.is_empty() || asked.contains(it);
    response(TYPES.into_iter().filter(is_asked).flat_map(|kind| {
        names(image, context, kind).map(move |name| entry(name).with_resource_type(kind))
    }))
}

fn response(resources: impl Iterator<Item = Listed>) -> ListConfigResourcesResponse {
    ListConfigResourcesResponse::default().with_config_resources(resources.collect())
}

fn entry(name: String) -> Listed {
    Listed::default().with_resource_name(StrBytes::from_string(name))
}

fn names(image: &MetadataImage, context: &Context, kind: i8) -> std::vec::IntoIter<String> {
    let configured = |name: fn(&ConfigResource) -> Option<&str>| {
        image.configs.keys().filter_map(name).map(String::from).collect()
    };
    let names: Vec<String> = match kind {
        TOPIC => image.topics.keys().map(ToString::to_string).collect(),
        BROKER => image
            .active_brokers()
            .filter(|(_, it)| it.listener(&context.listener).is_some())
            .map(|(id, _)| id.0.to_string())
            .collect(),
        GROUP => configured(|it| match it {
            ConfigResource::Group(id) => Some(id.as_str()),
            _ => None,
        }),
        CLIENT_METRICS => configured(|it| match it {
            ConfigResource::ClientMetrics(name) => Some(name),
            _ => None,
        }),
        _ => Vec::new(),
    };
    names.into_iter()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{
        api::test_node::encodes,
        base::{BrokerId, TopicId},
        metadata::MetadataRecord,
    };

    fn image() -> MetadataImage {
        let mut image = MetadataImage::default();
        let config = |resource, name: &str, value: &str| MetadataRecord::Config {
            resource,
            name: name.into(),
            value: Some(value.into()),
        };
        image.replay_all(&[
            MetadataRecord::RegisterBroker {
                broker_id: BrokerId(1),
                epoch: 1,
                listeners: vec![("PLAINTEXT".into(), "h".into(), 9092)],
                rack: None,
            },
            MetadataRecord::Topic { topic_id: TopicId(Uuid::from_u128(1)), name: "t".into() },
            config(ConfigResource::Group("g".into()), "klamm.assignor", "sticky"),
            config(ConfigResource::ClientMetrics("s".into()), "interval.ms", "100"),
            config(ConfigResource::Broker(None), "log.retention.ms", "1"),
        ]);
        image
    }

    fn listed(version: i16, types: &[i8]) -> Vec<(i8, String)> {
        let request = ListConfigResourcesRequest::default().with_resource_types(types.into());
        let response = answer(&image(), &Context::of_version(version), &request);
        encodes(&response, version);
        assert_eq!(response.error_code, 0);
        let listed = response.config_resources.iter();
        listed.map(|it| (it.resource_type, it.resource_name.to_string())).collect()
    }

    #[test]
    fn all_types_are_listed_unless_some_are_asked_for() {
        let named = |kind: i8, name: &str| (kind, name.to_owned());
        assert_eq!(listed(0, &[]), [named(CLIENT_METRICS, "s")]);
        assert_eq!(
            listed(1, &[]),
            [named(GROUP, "g"), named(CLIENT_METRICS, "s"), named(BROKER, "1"), named(TOPIC, "t")]
        );
        assert_eq!(listed(1, &[TOPIC, TOPIC]), [named(TOPIC, "t")]);
        assert_eq!(listed(1, &[BROKER_LOGGER]), []);
    }

    #[test]
    fn an_unknown_type_is_refused() {
        let request = ListConfigResourcesRequest::default().with_resource_types(vec![TOPIC, 99]);
        let response = answer(&image(), &Context::of_version(1), &request);
        assert_eq!(response.error_code, ErrorCode::UnsupportedVersion.code());
        assert!(response.config_resources.is_empty());
    }
}
