//! Registration of brokers.

use crate::{
    base::BrokerId,
    config::Listener,
    machine::Decision,
    metadata::{MetadataImage, MetadataRecord},
};

/// What a broker says of itself when it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    pub broker_id: BrokerId,
    /// Where clients reach it: advertised, with the ports as bound.
    pub listeners: Vec<Listener>,
    pub rack: Option<String>,
}

/// Registers a broker under a new epoch, which is the response. It rises with every registration, since it is taken from the
/// log's position; Kafka takes it from the record's offset.
pub fn register_broker(
    image: &MetadataImage,
    registration: Registration,
) -> Decision<MetadataRecord, i64> {
    let before = image.brokers.get(&registration.broker_id).map_or(-1, |it| it.epoch);
    let epoch = i64::try_from(image.version).unwrap_or(i64::MAX - 1).max(before) + 1;
    let record = MetadataRecord::RegisterBroker {
        broker_id: registration.broker_id,
        epoch,
        listeners: registration
            .listeners
            .into_iter()
            .map(|it| (it.name, it.host, it.port))
            .collect(),
        rack: registration.rack,
    };
    Decision::new(vec![record], epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_registration_has_a_higher_epoch() {
        let mut image = MetadataImage { version: 5, ..MetadataImage::default() };
        let registration =
            Registration { broker_id: BrokerId(1), listeners: Vec::new(), rack: None };
        let mut last = 0;
        for _ in 0..3 {
            let decision = register_broker(&image, registration.clone());
            assert!(decision.response > last);
            last = decision.response;
            image.replay_all(&decision.records);
            assert_eq!(image.brokers[&BrokerId(1)].epoch, last);
        }
    }
}
