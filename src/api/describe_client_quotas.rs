//! `DescribeClientQuotas` (key 48), versions 0 to 1 (KIP-546; 1 is flexible): the quotas of the entities that a filter matches.

use std::{collections::BTreeMap, ops::RangeInclusive};

use kafka_protocol::{
    messages::{
        DescribeClientQuotasRequest, DescribeClientQuotasResponse,
        describe_client_quotas_request::ComponentData,
        describe_client_quotas_response::{EntityData, EntryData, ValueData},
    },
    protocol::StrBytes,
};

use super::{
    Context, Rooms,
    refusal::{Refusal, sentence},
};
use crate::{
    base::ErrorCode,
    metadata::{MetadataImage, QuotaEntity, QuotaEntityType, Quotas},
};

/// The versions Klamm answers.
pub const VERSIONS: RangeInclusive<i16> = 0..=1;

#[expect(clippy::unused_async, reason = "every handler is called alike")]
pub async fn handle(
    rooms: &Rooms,
    _context: &Context,
    request: DescribeClientQuotasRequest,
) -> DescribeClientQuotasResponse {
    answer(&rooms.quorum.image(), &request)
}

fn answer(
    image: &MetadataImage,
    request: &DescribeClientQuotasRequest,
) -> DescribeClientQuotasResponse {
    let response = DescribeClientQuotasResponse::default();
    let filter = match filter(&request.components) {
        Ok(filter) => filter,
        Err(refusal) => {
            return response
                .with_error_code(refusal.code.code())
                .with_error_message(Some(sentence(refusal.message)))
                .with_entries(None);
        }
    };
    let matched =
        image.client_quotas.iter().filter(|(entity, _)| matches(entity, &filter, request.strict));
    response.with_entries(Some(matched.map(|(entity, quotas)| entry(entity, quotas)).collect()))
}

/// What an entity's part of a type must be.
#[derive(Debug, PartialEq, Eq)]
enum Match {
    Exact(String),
    Default,
    Any,
}

type Filter = BTreeMap<QuotaEntityType, Match>;

fn filter(components: &[ComponentData]) -> Result<Filter, Refusal> {
    let mut filter = Filter::new();
    for it in components {
        let kind = it.entity_type.as_str();
        if kind.is_empty() {
            return Err(Refusal::invalid_request("Invalid empty entity type."));
        }
        let of = QuotaEntityType::of_name(kind).ok_or_else(|| {
            let reason = format!("Unsupported entity type {kind}");
            Refusal::new(ErrorCode::UnsupportedVersion, reason)
        })?;
        if filter.insert(of, matching(it)?).is_some() {
            return Err(Refusal::invalid_request(format!(
                "Entity type {kind} cannot appear more than once in the filter."
            )));
        }
    }
    if filter.contains_key(&QuotaEntityType::Ip) && filter.len() > 1 {
        return Err(Refusal::invalid_request(
            "Invalid entity filter component combination. IP filter component should not be used with user or clientId filter component.",
        ));
    }
    Ok(filter)
}

fn matching(component: &ComponentData) -> Result<Match, Refusal> {
    let refuse =
        |reason: &str| Err(Refusal::invalid_request(format!("Request specified {reason}")));
    match (component.match_type, &component._match) {
        (0, Some(name)) => Ok(Match::Exact(name.to_string())),
        (0, None) => refuse("MATCH_TYPE_EXACT, but set match string to null."),
        (1, None) => Ok(Match::Default),
        (1, Some(_)) => refuse("MATCH_TYPE_DEFAULT, but also specified a match string."),
        (2, None) => Ok(Match::Any),
        (2, Some(_)) => refuse("MATCH_TYPE_SPECIFIED, but also specified a match string."),
        (other, _) => Err(Refusal::invalid_request(format!("Unknown match type {other}"))),
    }
}

/// A strict filter names every part of an entity.
fn matches(entity: &QuotaEntity, filter: &Filter, is_strict: bool) -> bool {
    let is_matched = |(of, wanted): (&QuotaEntityType, &Match)| {
        entity.get(of).is_some_and(|name| match wanted {
            Match::Exact(wanted) => name.as_ref() == Some(wanted),
            Match::Default => name.is_none(),
            Match::Any => true,
        })
    };
    filter.iter().all(is_matched) && (!is_strict || entity.len() == filter.len())
}

fn entry(entity: &QuotaEntity, quotas: &Quotas) -> EntryData {
    let parts = entity.iter().map(|(of, name)| {
        EntityData::default()
            .with_entity_type(StrBytes::from_static_str(of.name()))
            .with_entity_name(name.clone().map(StrBytes::from_string))
    });
    let values = quotas.iter().map(|(key, value)| {
        ValueData::default().with_key(StrBytes::from_string(key.clone())).with_value(value.0)
    });
    EntryData::default().with_entity(parts.collect()).with_values(values.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::test_node::encodes,
        metadata::{MetadataRecord, QuotaValue},
    };

    type Part = (&'static str, Option<&'static str>);

    const ENTITIES: [&[Part]; 4] = [
        &[("user", Some("u"))],
        &[("user", None)],
        &[("client-id", Some("c"))],
        &[("user", Some("u")), ("client-id", Some("c"))],
    ];

    fn image() -> MetadataImage {
        let mut image = MetadataImage::default();
        for (value, parts) in (1_u32..).zip(ENTITIES) {
            let of = |&(kind, name): &Part| {
                (QuotaEntityType::of_name(kind).unwrap(), name.map(String::from))
            };
            image.replay(&MetadataRecord::ClientQuota {
                entity: parts.iter().map(of).collect(),
                key: "producer_byte_rate".into(),
                value: Some(QuotaValue(value.into())),
            });
        }
        image
    }

    fn ask(filter: &[(&'static str, i8, Option<&'static str>)]) -> DescribeClientQuotasRequest {
        let components = filter.iter().map(|&(of, match_type, name)| {
            ComponentData::default()
                .with_entity_type(StrBytes::from_static_str(of))
                .with_match_type(match_type)
                .with_match(name.map(StrBytes::from_static_str))
        });
        DescribeClientQuotasRequest::default().with_components(components.collect())
    }

    /// The values tell which entities were matched.
    fn matched(request: &DescribeClientQuotasRequest) -> String {
        let response = answer(&image(), request);
        VERSIONS.for_each(|it| encodes(&response, it));
        assert_eq!(response.error_code, 0);
        let entries = response.entries.unwrap();
        let mut values: Vec<_> = entries.iter().map(|it| it.values[0].value as u32).collect();
        values.sort_unstable();
        format!("{values:?}")
    }

    #[test]
    fn filters_match_names_defaults_and_whatever_is_there() {
        assert_eq!(matched(&ask(&[])), "[1, 2, 3, 4]");
        assert_eq!(matched(&ask(&[]).with_strict(true)), "[]");
        assert_eq!(matched(&ask(&[("user", 0, Some("u"))])), "[1, 4]");
        assert_eq!(matched(&ask(&[("user", 0, Some("u"))]).with_strict(true)), "[1]");
        assert_eq!(matched(&ask(&[("user", 1, None)])), "[2]");
        assert_eq!(matched(&ask(&[("user", 2, None)])), "[1, 2, 4]");
        assert_eq!(matched(&ask(&[("user", 2, None), ("client-id", 2, None)])), "[4]");
        assert_eq!(matched(&ask(&[("ip", 2, None)])), "[]");
    }

    #[test]
    fn a_bad_filter_is_refused_in_kafkas_words() {
        for (filter, code, reason) in [
            (&[("", 2, None)][..], ErrorCode::InvalidRequest, "Invalid empty entity type."),
            (&[("group", 2, None)], ErrorCode::UnsupportedVersion, "Unsupported entity type group"),
            (&[("user", 0, None)], ErrorCode::InvalidRequest, "set match string to null"),
            (&[("user", 1, Some("u"))], ErrorCode::InvalidRequest, "MATCH_TYPE_DEFAULT"),
            (&[("user", 9, None)], ErrorCode::InvalidRequest, "Unknown match type 9"),
            (&[("user", 2, None), ("user", 1, None)], ErrorCode::InvalidRequest, "more than once"),
            (&[("ip", 2, None), ("user", 1, None)], ErrorCode::InvalidRequest, "combination"),
        ] {
            let response = answer(&image(), &ask(filter));
            VERSIONS.for_each(|it| encodes(&response, it));
            assert_eq!(response.error_code, code.code());
            assert!(response.error_message.unwrap().contains(reason));
            assert!(response.entries.is_none());
        }
    }
}
