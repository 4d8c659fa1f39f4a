//! Client quotas: checked as Kafka's `ClientQuotaControlManager` does, and changed.

use std::{collections::BTreeSet, net::IpAddr};

use super::ControllerError;
use crate::{
    machine::Decision,
    metadata::{MetadataImage, MetadataRecord, QuotaEntity, QuotaEntityType, QuotaValue, Quotas},
};

/// A change of an entity's quotas.
#[derive(Clone, Debug, PartialEq)]
pub struct QuotaAlteration {
    /// Type and name as they came; `None` is the default entity.
    pub entity: Vec<(String, Option<String>)>,
    /// Key and value; `None` removes it.
    pub ops: Vec<(String, Option<f64>)>,
}

/// What the value of a quota must be, in Kafka's words for types.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    /// A whole number.
    Long,
    /// A smaller one.
    Int,
    Double,
}

/// The quotas that users and client ids can have.
const OF_CLIENTS: [(&str, Value); 4] = [
    ("producer_byte_rate", Value::Long),
    ("consumer_byte_rate", Value::Long),
    ("controller_mutation_rate", Value::Double),
    ("request_percentage", Value::Double),
];

/// The quotas that addresses can have.
const OF_IPS: [(&str, Value); 1] = [("connection_creation_rate", Value::Int)];

/// Changes the quotas of each entity; a result for each, in their order.
pub fn alter_client_quotas(
    image: &MetadataImage,
    alterations: &[QuotaAlteration],
) -> Decision<MetadataRecord, Vec<Result<(), ControllerError>>> {
    let mut seen = BTreeSet::new();
    let mut records = Vec::new();
    let results = alterations.iter().map(|alteration| {
        let entity = entity(&alteration.entity)?;
        if !seen.insert(entity.clone()) {
            let reason = format!("Ignoring duplicate entity {}", show(&entity));
            return Err(ControllerError::InvalidRequest(reason));
        }
        records.extend(altered(image, &entity, &alteration.ops)?);
        Ok(())
    });
    let results = results.collect();
    Decision::new(records, results)
}

fn entity(parts: &[(String, Option<String>)]) -> Result<QuotaEntity, ControllerError> {
    let mut entity = QuotaEntity::new();
    for (kind, name) in parts {
        let Some(of) = QuotaEntityType::of_name(kind) else {
            return refuse(format!("Unhandled client quota entity type: {kind}"));
        };
        if name.as_ref().is_some_and(String::is_empty) {
            return refuse(format!("Empty {kind} not supported"));
        }
        if entity.insert(of, name.clone()).is_some() {
            return refuse(format!("Invalid client quota entity, duplicate entity entry {kind}"));
        }
    }
    if entity.is_empty() {
        return refuse("Invalid empty client quota entity".into());
    }
    let Some(ip) = entity.get(&QuotaEntityType::Ip) else { return Ok(entity) };
    if entity.len() > 1 {
        return refuse(
            "Invalid quota entity combination, IP entity should not be combined with User or ClientId".into(),
        );
    }
    match ip {
        // Kafka would ask the name service, which a decision does not.
        Some(ip) if ip.parse::<IpAddr>().is_err() => {
            refuse(format!("{ip} is not a valid IP or resolvable host."))
        }
        _ => Ok(entity),
    }
}

fn altered(
    image: &MetadataImage,
    entity: &QuotaEntity,
    ops: &[(String, Option<f64>)],
) -> Result<Vec<MetadataRecord>, ControllerError> {
    let none = Quotas::new();
    let current = image.client_quotas.get(entity).map_or(&none, |it| it);
    let mut seen = BTreeSet::new();
    let mut records = Vec::new();
    for (key, value) in ops {
        if !seen.insert(key) {
            return refuse(format!(
                "Duplicate quota key {key} not updating quota for this entity {}",
                show(entity)
            ));
        }
        let value = value.map(|it| check(entity, key, it)).transpose()?;
        if current.get(key).copied() != value {
            records.push(MetadataRecord::ClientQuota {
                entity: entity.clone(),
                key: key.clone(),
                value,
            });
        }
    }
    Ok(records)
}

fn check(entity: &QuotaEntity, key: &str, value: f64) -> Result<QuotaValue, ControllerError> {
    let keys: &[(&str, Value)] =
        if entity.contains_key(&QuotaEntityType::Ip) { &OF_IPS } else { &OF_CLIENTS };
    let Some((_, kind)) = keys.iter().find(|(it, _)| *it == key) else {
        return refuse(format!("Invalid configuration key {key}"));
    };
    // Infinity and NaN limit nothing.
    if value <= 0.0 || !value.is_finite() {
        return refuse(format!("Quota {key} must be greater than 0"));
    }
    match kind {
        Value::Long if value > i64::MAX as f64 => {
            refuse(format!("Proposed value for {key} is too large for a LONG."))
        }
        Value::Int if value > f64::from(i32::MAX) => {
            refuse(format!("Proposed value for {key} is too large for an INT."))
        }
        Value::Long | Value::Int if value.fract() > 1e-6 => {
            refuse(format!("{key} cannot be a fractional value."))
        }
        Value::Long | Value::Int | Value::Double => Ok(QuotaValue(value)),
    }
}

fn refuse<T>(reason: String) -> Result<T, ControllerError> {
    Err(ControllerError::InvalidRequest(reason))
}

fn show(entity: &QuotaEntity) -> String {
    let part = |(kind, name): (&QuotaEntityType, &Option<String>)| {
        format!("{}={}", kind.name(), name.as_deref().unwrap_or("<default>"))
    };
    entity.iter().map(part).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    type Part = (&'static str, Option<&'static str>);

    fn alteration(entity: &[Part], ops: &[(&str, Option<f64>)]) -> QuotaAlteration {
        QuotaAlteration {
            entity: entity.iter().map(|&(kind, it)| (kind.into(), it.map(Into::into))).collect(),
            ops: ops.iter().map(|&(key, value)| (key.into(), value)).collect(),
        }
    }

    fn alter(
        image: &mut MetadataImage,
        entity: &[Part],
        ops: &[(&str, Option<f64>)],
    ) -> Result<(), ControllerError> {
        let mut decision = alter_client_quotas(image, &[alteration(entity, ops)]);
        image.replay_all(&decision.records);
        decision.response.remove(0)
    }

    #[test]
    fn quotas_are_set_changed_and_removed() {
        let mut image = MetadataImage::default();
        let app: &[Part] = &[("client-id", Some("app"))];
        let (produce, consume) = ("producer_byte_rate", "consumer_byte_rate");
        alter(&mut image, app, &[(produce, Some(1024.0)), (consume, Some(1.0))]).unwrap();
        alter(&mut image, app, &[(produce, Some(2048.0)), (consume, None)]).unwrap();
        let quotas = image.client_quotas.values().next().unwrap();
        assert_eq!(**quotas, Quotas::from([(produce.into(), QuotaValue(2048.0))]));
        let same = alter_client_quotas(&image, &[alteration(app, &[(produce, Some(2048.0))])]);
        assert!(same.records.is_empty());
        let before = image.clone();
        alter(&mut image, &[("client-id", Some("other"))], &[(produce, Some(1.0))]).unwrap();
        let of_app = |it: &MetadataImage| Arc::clone(it.client_quotas.values().next().unwrap());
        assert!(Arc::ptr_eq(&of_app(&before), &of_app(&image)), "what did not change is shared");
        alter(&mut image, &[("client-id", Some("other"))], &[(produce, None)]).unwrap();
        alter(&mut image, app, &[(produce, None)]).unwrap();
        assert!(image.client_quotas.is_empty());
    }

    #[test]
    fn what_is_wrong_is_told_in_kafkas_words() {
        let app: &[Part] = &[("client-id", Some("app"))];
        let good: &[(&str, Option<f64>)] = &[("producer_byte_rate", Some(1.0))];
        for (entity, ops, reason) in [
            (&[][..], good, "Invalid empty client quota entity"),
            (&[("user", Some(""))], good, "Empty user not supported"),
            (&[("group", None)], good, "Unhandled client quota entity type: group"),
            (&[("user", None), ("user", None)], good, "duplicate entity entry user"),
            (&[("ip", None), ("user", None)], good, "IP entity should not be combined"),
            (&[("ip", Some("nowhere"))], good, "not a valid IP"),
            (&[("ip", None)], good, "Invalid configuration key producer_byte_rate"),
            (&[("ip", None)], &[("connection_creation_rate", Some(0.5))], "fractional value"),
            (&[("ip", None)], &[("connection_creation_rate", Some(3e9))], "too large for an INT"),
            (app, &[("connection_creation_rate", Some(1.0))], "Invalid configuration key"),
            (app, &[("request_percentage", Some(0.0))], "must be greater than 0"),
            (app, &[("producer_byte_rate", Some(0.0))], "must be greater than 0"),
            (app, &[("producer_byte_rate", Some(f64::NAN))], "must be greater than 0"),
            (app, &[("producer_byte_rate", Some(1.5))], "cannot be a fractional value"),
            (app, &[("producer_byte_rate", Some(1e19))], "too large for a LONG"),
            (app, &[("no_rate", Some(1.0))], "Invalid configuration key no_rate"),
            (app, &[good[0], good[0]], "Duplicate quota key producer_byte_rate"),
        ] {
            let mut image = MetadataImage::default();
            let told = alter(&mut image, entity, ops).unwrap_err().to_string();
            assert!(told.contains(reason), "{told}");
            assert!(image.client_quotas.is_empty());
        }
    }

    #[test]
    fn every_quota_of_kafka_can_be_set() {
        let mut image = MetadataImage::default();
        for (key, _) in OF_CLIENTS {
            let user: &[Part] = &[("user", Some("u")), ("client-id", None)];
            alter(&mut image, user, &[(key, Some(1.0))]).unwrap();
        }
        for name in [None, Some("10.0.0.1"), Some("::1")] {
            let ip: &[Part] = &[("ip", name)];
            alter(&mut image, ip, &[("connection_creation_rate", Some(5.0))]).unwrap();
        }
        let sizes: Vec<_> = image.client_quotas.values().map(|it| it.len()).collect();
        assert_eq!(sizes, [4, 1, 1, 1]);
    }

    #[test]
    fn an_entity_is_changed_once_in_a_request() {
        let once = alteration(&[("user", None)], &[("controller_mutation_rate", Some(0.5))]);
        let decision = alter_client_quotas(&MetadataImage::default(), &[once.clone(), once]);
        assert_eq!(decision.records.len(), 1);
        assert!(decision.response[0].is_ok() && decision.response[1].is_err());
    }
}
