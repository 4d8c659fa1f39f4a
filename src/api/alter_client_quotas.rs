//! `AlterClientQuotas` (key 49), versions 0 to 1 (KIP-546, of addresses KIP-612; 1 is flexible).

use std::ops::RangeInclusive;

use kafka_protocol::{
    messages::{
        AlterClientQuotasRequest, AlterClientQuotasResponse,
        alter_client_quotas_request::EntryData as Entry,
        alter_client_quotas_response::{EntityData, EntryData},
    },
    protocol::StrBytes,
};

use super::{
    Context, Rooms,
    altered_configs::TIMEOUT_MS,
    metadata_change::MetadataChange,
    refusal::{Refusal, code_and_message},
};
use crate::controller::{QuotaAlteration, alter_client_quotas};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=1;

pub async fn handle(
    rooms: &Rooms,
    _context: &Context,
    request: AlterClientQuotasRequest,
) -> AlterClientQuotasResponse {
    answer(&MetadataChange::new(rooms, request.validate_only, TIMEOUT_MS), &request).await
}

async fn answer(
    change: &MetadataChange<'_>,
    request: &AlterClientQuotasRequest,
) -> AlterClientQuotasResponse {
    let alterations: Vec<_> = request.entries.iter().map(alteration).collect();
    let decide = |image: &_| alter_client_quotas(image, &alterations);
    let results = change.make(alterations.len(), decide).await;
    let entries = request.entries.iter().zip(results).map(|(asked, it)| result(asked, &it));
    AlterClientQuotasResponse::default().with_entries(entries.collect())
}

fn alteration(asked: &Entry) -> QuotaAlteration {
    let name = |it: &Option<StrBytes>| it.as_ref().map(ToString::to_string);
    QuotaAlteration {
        entity: asked
            .entity
            .iter()
            .map(|it| (it.entity_type.to_string(), name(&it.entity_name)))
            .collect(),
        ops: asked
            .ops
            .iter()
            .map(|it| (it.key.to_string(), (!it.remove).then_some(it.value)))
            .collect(),
    }
}

fn result(asked: &Entry, result: &Result<(), Refusal>) -> EntryData {
    let (error_code, message) = code_and_message(result);
    let entity = asked.entity.iter().map(|it| {
        EntityData::default()
            .with_entity_type(it.entity_type.clone())
            .with_entity_name(it.entity_name.clone())
    });
    EntryData::default()
        .with_error_code(error_code)
        .with_error_message(message)
        .with_entity(entity.collect())
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::alter_client_quotas_request::{EntityData as Entity, OpData};

    use super::*;
    use crate::{
        api::test_node::{TestNode, encodes},
        base::ErrorCode,
    };

    fn entry(of: &'static str, key: &'static str, value: f64) -> Entry {
        let entity = Entity::default()
            .with_entity_type(StrBytes::from_static_str(of))
            .with_entity_name(None);
        let op = OpData::default().with_key(StrBytes::from_static_str(key)).with_value(value);
        Entry::default().with_entity(vec![entity]).with_ops(vec![op])
    }

    #[tokio::test]
    async fn each_entity_has_its_own_answer_in_the_order_of_the_request() {
        let node = TestNode::start().await;
        let request = AlterClientQuotasRequest::default().with_entries(vec![
            entry("client-id", "producer_byte_rate", 1024.0),
            entry("group", "producer_byte_rate", 1024.0),
            entry("user", "controller_mutation_rate", 0.5),
        ]);
        let response = answer(&node.validating(), &request).await;
        assert!(node.quorum.image().client_quotas.is_empty());
        assert_eq!(response, answer(&node.change(), &request).await);
        VERSIONS.for_each(|it| encodes(&response, it));
        let codes: Vec<_> = response.entries.iter().map(|it| it.error_code).collect();
        let want = [ErrorCode::None, ErrorCode::InvalidRequest, ErrorCode::None];
        assert_eq!(codes, want.map(ErrorCode::code));
        assert_eq!(&*response.entries[1].entity[0].entity_type, "group");
        assert_eq!(node.quorum.image().client_quotas.len(), 2);
    }
}
