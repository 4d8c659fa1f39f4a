//! `AlterConfigs` (key 33), versions 0 to 2 (KIP-133; 2 is flexible): replaces *all* configs of a resource, which is why Kafka
//! has `IncrementalAlterConfigs`. Served for topics, groups, client-metrics subscriptions, this node and the
//! defaults of all nodes.

use std::ops::RangeInclusive;

use kafka_protocol::messages::{
    AlterConfigsRequest, AlterConfigsResponse, alter_configs_request::AlterConfigsResource,
    alter_configs_response::AlterConfigsResourceResponse,
};

use super::{
    Context, Rooms,
    altered_configs::{Asked, TIMEOUT_MS, alter},
    config_resource::resource,
    metadata_change::{MetadataChange, loaded_plugins},
    refusal::{Refusal, code_and_message},
};
use crate::{
    base::BrokerId,
    config::TopicConfigs,
    controller::{LoadedPlugins, replace_configs},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=2;

pub async fn handle(
    rooms: &Rooms,
    _context: &Context,
    request: AlterConfigsRequest,
) -> AlterConfigsResponse {
    let change = MetadataChange::new(rooms, request.validate_only, TIMEOUT_MS);
    answer(&change, &loaded_plugins(&rooms.plugins), &request).await
}

async fn answer(
    change: &MetadataChange<'_>,
    plugins: &LoadedPlugins,
    request: &AlterConfigsRequest,
) -> AlterConfigsResponse {
    let asked = request.resources.iter().map(|it| configs(change.config.node.id, it)).collect();
    let results =
        alter(change, asked, |image, good| replace_configs(image, change.config, plugins, good))
            .await;
    let responses = request.resources.iter().zip(results).map(|(resource, result)| {
        let (error_code, message) = code_and_message(&result);
        AlterConfigsResourceResponse::default()
            .with_resource_type(resource.resource_type)
            .with_resource_name(resource.resource_name.clone())
            .with_error_code(error_code)
            .with_error_message(message)
    });
    AlterConfigsResponse::default().with_responses(responses.collect())
}

fn configs(node: BrokerId, asked: &AlterConfigsResource) -> Asked<TopicConfigs> {
    let resource = resource(node, asked.resource_type, &asked.resource_name)?;
    let mut configs = TopicConfigs::new();
    for config in &asked.configs {
        let name = config.name.to_string();
        let Some(value) = &config.value else {
            return Err(Refusal::invalid_request(format!("Null value not supported for : {name}")));
        };
        if configs.insert(name, value.to_string()).is_some() {
            return Err(Refusal::invalid_request("Error due to duplicate config keys"));
        }
    }
    Ok((resource, configs))
}

#[cfg(test)]
mod tests;
