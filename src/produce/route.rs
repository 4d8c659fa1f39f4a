//! Where the records of a batch go, written down before any of them leaves. Pure.
//!
//! The value of a route record, version 0, is a version byte and a postcard body: one [`Destination`] a record.
//! Together with the batch as the producer sends it (again), it says what every part holds: a retry follows it and
//! asks no plugin, whatever was reloaded, reconfigured or grown in between.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    derived::derived_id,
    edit::{Edit, Fate},
};
use crate::{
    base::ProducerId,
    wire::record_batch::{Batch, BatchBuilder, Codec, ControlType, DecodedBatch},
};

/// Version byte of the route records that this code writes.
const VERSION: u8 = 0;

/// Where one record goes, and what it is by then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Destination {
    /// Meaningless for a dropped record.
    pub(crate) target: u32,
    pub(crate) fate: Fate,
}

/// The decision on one batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route(pub(crate) Vec<Destination>);

/// A stored route that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RouteError {
    #[error("the stored route is of version {0}")]
    UnknownVersion(u8),
    #[error("the stored route is unreadable")]
    Unreadable,
    #[error(
        "the batch has {got} records, its stored route {stored}: it is not the batch that was sent first"
    )]
    OtherBatch { got: usize, stored: usize },
}

/// The records of one target.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) target: i32,
    pub(crate) batch: Batch,
    /// For each record of the part, its index in the received batch; they rise.
    pub(crate) indices: Vec<usize>,
}

impl Route {
    /// Whether a record is dropped, and told of with the receiving partition's control batch.
    pub(crate) fn is_dropped(&self, index: usize) -> bool {
        self.0.get(index).is_some_and(|it| it.fate == Fate::Dropped)
    }

    /// `targets` has one entry for each record that is left.
    pub(crate) fn new(edit: Edit, targets: &[u32]) -> Self {
        let mut targets = targets.iter();
        let destinations = edit.0.into_iter().map(|fate| {
            let target = if fate == Fate::Dropped { None } else { targets.next() };
            Destination { target: target.copied().unwrap_or(0), fate }
        });
        Self(destinations.collect())
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        postcard::to_extend(&self.0, vec![VERSION]).expect("plain data serializes into memory")
    }

    pub(crate) fn decode(value: &[u8]) -> Result<Self, RouteError> {
        match value.split_first() {
            Some((&VERSION, body)) => {
                postcard::from_bytes(body).map(Self).map_err(|_| RouteError::Unreadable)
            }
            Some((&version, _)) => Err(RouteError::UnknownVersion(version)),
            None => Err(RouteError::Unreadable),
        }
    }

    /// The route that a route record holds.
    pub(crate) fn of_record(record: &Batch) -> Result<Self, RouteError> {
        match record.control() {
            Some((ControlType::Route, value)) => Self::decode(&value),
            _ => Err(RouteError::Unreadable),
        }
    }

    /// Every target that gets a record.
    pub(crate) fn targets(&self) -> impl Iterator<Item = u32> {
        let left = self.0.iter().filter(|it| it.fate != Fate::Dropped);
        left.map(|it| it.target).collect::<std::collections::BTreeSet<_>>().into_iter()
    }

    /// The parts, one a target, in order of targets; under derived ids if the batch has a producer.
    ///
    /// # Errors
    ///
    /// [`RouteError::OtherBatch`] when `batch` cannot be the one that this route is of.
    pub(crate) fn parts(
        &self,
        batch: &DecodedBatch,
        receiving_partition: i32,
        codec: Codec,
    ) -> Result<Vec<Part>, RouteError> {
        if batch.len() != self.0.len() {
            return Err(RouteError::OtherBatch { got: batch.len(), stored: self.0.len() });
        }
        let producer = batch.header.producer_id.and_then(|id| derived_id(id, receiving_partition));
        let mut targets: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, destination) in self.0.iter().enumerate() {
            if destination.fate != Fate::Dropped {
                targets.entry(destination.target).or_default().push(index);
            }
        }
        let part = |(target, indices): (u32, Vec<usize>)| {
            let batch = self.part(batch, &indices, producer, codec)?;
            Some(Part { target: target as i32, batch, indices })
        };
        Ok(targets.into_iter().filter_map(part).collect())
    }

    /// The base sequence is that of the whole batch: a producer's parts rise at a target, with gaps.
    fn part(
        &self,
        batch: &DecodedBatch,
        indices: &[usize],
        producer: Option<ProducerId>,
        codec: Codec,
    ) -> Option<Batch> {
        let header = &batch.header;
        let mut builder = BatchBuilder::new(header.base_timestamp, codec);
        if let Some(id) = producer {
            builder = builder.producer(id, header.producer_epoch, header.base_sequence);
        }
        for (delta, &index) in indices.iter().enumerate() {
            let mut record = self.0.get(index)?.fate.parts(batch.record(index)?)?;
            record.offset_delta = delta as i32;
            builder.push(&record);
        }
        builder.build()
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::{
        base::{ProducerEpoch, TimestampMs},
        produce::edit::Changed,
        wire::record_batch::{Compression, RecordParts},
    };

    fn batch(records: usize) -> DecodedBatch {
        let builder = BatchBuilder::new(TimestampMs(5), Compression::None);
        let mut builder = builder.producer(ProducerId(7), ProducerEpoch(1), 40);
        for at in 0..records {
            builder.push(&RecordParts {
                offset_delta: at as i32,
                timestamp_delta: 0,
                key: None,
                value: Some(at.to_string().as_bytes()),
                headers: Vec::new(),
            });
        }
        builder.build().unwrap().decode(usize::MAX).unwrap()
    }

    fn destination() -> impl Strategy<Value = Destination> {
        let changed = any::<(Option<Vec<u8>>, Option<Vec<u8>>)>().prop_map(|(key, value)| {
            Fate::Changed(Box::new(Changed { key, value, headers: None }))
        });
        let fate = prop_oneof![Just(Fate::Kept), Just(Fate::Dropped), changed];
        (0_u32..4, fate).prop_map(|(target, fate)| Destination { target, fate })
    }

    proptest! {
        #[test]
        fn a_route_is_read_back_as_it_was_written(route in vec(destination(), 0..20)) {
            let route = Route(route);
            prop_assert_eq!(Route::decode(&route.encode()), Ok(route));
        }

        #[test]
        fn bytes_that_are_no_route_are_an_error_and_no_panic(bytes in vec(any::<u8>(), 0..200)) {
            let _ = Route::decode(&bytes);
        }

        #[test]
        fn each_record_that_is_left_is_in_its_targets_part_in_order(
            route in vec(destination(), 1..20),
        ) {
            let route = Route(route);
            let parts = route.parts(&batch(route.0.len()), 3, Compression::Lz4.into()).unwrap();
            let targets: Vec<u32> = parts.iter().map(|it| it.target as u32).collect();
            prop_assert_eq!(targets, route.targets().collect::<Vec<_>>());
            for part in &parts {
                let is_its = |it: &usize| {
                    let destination = &route.0[*it];
                    destination.fate != Fate::Dropped && destination.target as i32 == part.target
                };
                let want: Vec<usize> = (0..route.0.len()).filter(is_its).collect();
                prop_assert_eq!(&part.indices, &want);
                prop_assert_eq!(part.batch.header.records_count as usize, want.len());
                prop_assert_eq!(part.batch.header.base_sequence, 40);
                prop_assert_eq!(part.batch.header.producer_id, derived_id(ProducerId(7), 3));
            }
        }
    }

    #[test]
    fn a_route_of_another_version_or_batch_is_not_followed() {
        assert_eq!(Route::decode(&[1, 0]), Err(RouteError::UnknownVersion(1)));
        assert_eq!(Route::decode(&[]), Err(RouteError::Unreadable));
        let route = Route::new(Edit::none(2), &[1, 1]);
        let parts = route.parts(&batch(3), 0, Compression::None.into());
        assert_eq!(parts.unwrap_err(), RouteError::OtherBatch { got: 3, stored: 2 });
    }

    #[test]
    fn targets_are_those_of_the_records_that_are_left() {
        let edit = Edit(vec![Fate::Kept, Fate::Dropped, Fate::Kept]);
        let route = Route::new(edit, &[2, 1]);
        let targets: Vec<u32> = route.0.iter().map(|it| it.target).collect();
        assert_eq!(targets, [2, 0, 1]);
        assert_eq!(route.targets().collect::<Vec<_>>(), [1, 2]);
    }
}
