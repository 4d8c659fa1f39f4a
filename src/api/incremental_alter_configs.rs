//! `IncrementalAlterConfigs` (key 44), versions 0 to 1 (KIP-339; 1 is flexible).
//!
//! Served for topics, groups, client-metrics subscriptions, this node and the defaults of all nodes; which settings of nodes can be
//! altered is `config::dynamic`'s to say.

use std::{collections::BTreeSet, ops::RangeInclusive};

use kafka_protocol::messages::{
    IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse,
    incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig},
    incremental_alter_configs_response::AlterConfigsResourceResponse,
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
    controller::{ConfigChange, ConfigOp, LoadedPlugins, alter_configs},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=1;

pub async fn handle(
    rooms: &Rooms,
    _context: &Context,
    request: IncrementalAlterConfigsRequest,
) -> IncrementalAlterConfigsResponse {
    let change = MetadataChange::new(rooms, request.validate_only, TIMEOUT_MS);
    answer(&change, &loaded_plugins(&rooms.plugins), &request).await
}

async fn answer(
    change: &MetadataChange<'_>,
    plugins: &LoadedPlugins,
    request: &IncrementalAlterConfigsRequest,
) -> IncrementalAlterConfigsResponse {
    let config = change.config;
    let asked = request.resources.iter().map(|it| changes(config.node.id, it)).collect();
    let results =
        alter(change, asked, |image, good| alter_configs(image, config, plugins, good)).await;
    let responses = request.resources.iter().zip(results).map(|(resource, result)| {
        let (error_code, message) = code_and_message(&result);
        AlterConfigsResourceResponse::default()
            .with_resource_type(resource.resource_type)
            .with_resource_name(resource.resource_name.clone())
            .with_error_code(error_code)
            .with_error_message(message)
    });
    IncrementalAlterConfigsResponse::default().with_responses(responses.collect())
}

fn changes(node: BrokerId, asked: &AlterConfigsResource) -> Asked<Vec<ConfigChange>> {
    let resource = resource(node, asked.resource_type, &asked.resource_name)?;
    let mut seen = BTreeSet::new();
    if asked.configs.iter().any(|it| !seen.insert(&*it.name)) {
        return Err(Refusal::invalid_request("Error due to duplicate config keys"));
    }
    Ok((resource, asked.configs.iter().map(change).collect::<Result<_, _>>()?))
}

fn change(config: &AlterableConfig) -> Result<ConfigChange, Refusal> {
    let name = config.name.to_string();
    let value = || match &config.value {
        Some(value) => Ok(value.to_string()),
        None => Err(Refusal::invalid_request(format!("Null value not supported for : {name}"))),
    };
    let op = match config.config_operation {
        0 => ConfigOp::Set(value()?),
        1 => ConfigOp::Delete,
        2 => ConfigOp::Append(value()?),
        3 => ConfigOp::Subtract(value()?),
        other => {
            return Err(Refusal::invalid_request(format!("Unknown AlterConfigOp type: {other}")));
        }
    };
    Ok(ConfigChange { name, op })
}

#[cfg(test)]
mod tests;
