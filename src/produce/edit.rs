//! What transforms made of a batch, record by record. Pure.

use serde::{Deserialize, Serialize};

use crate::{
    plugin::hook::{RecordAction, Replacement},
    wire::record_batch::{
        Batch, BatchBuilder, Codec, ControlType, DecodedBatch, Header, RecordParts, RecordView,
        control_batch,
    },
};

/// New contents of a record; its timestamp stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Changed {
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) value: Option<Vec<u8>>,
    /// `None`: the record's own.
    pub(crate) headers: Option<Vec<ChangedHeader>>,
}

/// Name and value of a header.
type ChangedHeader = (Vec<u8>, Option<Vec<u8>>);

impl From<Replacement> for Changed {
    fn from(it: Replacement) -> Self {
        Self { key: it.key, value: it.value, headers: it.headers }
    }
}

/// What becomes of one record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Fate {
    #[default]
    Kept,
    Dropped,
    /// In a box: a batch has many records, and most are kept.
    Changed(Box<Changed>),
}

/// The fates of a batch's records, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edit(pub(crate) Vec<Fate>);

impl Edit {
    /// Everything stays as it is.
    pub(crate) fn none(count: usize) -> Self {
        Self(vec![Fate::Kept; count])
    }

    pub(crate) fn drop_all(&mut self) {
        self.0.fill(Fate::Dropped);
    }

    pub(crate) fn is_none(&self) -> bool {
        self.0.iter().all(|it| *it == Fate::Kept)
    }

    /// Indices of the records that are left, in order: what the next transform is shown.
    pub(crate) fn left(&self) -> Vec<usize> {
        self.0
            .iter()
            .enumerate()
            .filter(|(_, it)| **it != Fate::Dropped)
            .map(|(at, _)| at)
            .collect()
    }

    /// Bytes of the records that are left, uncompressed and less what frames them; 0 if the batch stays as it is.
    pub(crate) fn new_bytes(&self, batch: &DecodedBatch) -> usize {
        if self.is_none() {
            return 0;
        }
        records_left(batch, self).map(|it| size_bytes(&it)).sum()
    }

    /// Takes over a transform's actions on the records `shown`; rejections are the caller's.
    pub(crate) fn apply(&mut self, shown: &[usize], actions: Vec<RecordAction>) {
        for (&index, action) in shown.iter().zip(actions) {
            let Some(fate) = self.0.get_mut(index) else { continue };
            match action {
                RecordAction::Keep | RecordAction::Reject(_) => {}
                RecordAction::Drop => *fate = Fate::Dropped,
                RecordAction::Replace(replacement) => {
                    *fate = Fate::Changed(Box::new(fate.merge(*replacement)));
                }
            }
        }
    }
}

impl Fate {
    /// A second change keeps the first one's headers where it has none of its own.
    fn merge(&self, replacement: Replacement) -> Changed {
        let mut changed = Changed::from(replacement);
        if let (None, Self::Changed(earlier)) = (&changed.headers, self) {
            changed.headers.clone_from(&earlier.headers);
        }
        changed
    }

    /// The record as it is now, under the original's deltas; `None` when it was dropped.
    pub(crate) fn parts<'a>(&'a self, original: RecordView<'a>) -> Option<RecordParts<'a>> {
        match self {
            Self::Kept => Some(original.into()),
            Self::Dropped => None,
            Self::Changed(changed) => Some(RecordParts {
                offset_delta: original.offset_delta(),
                timestamp_delta: original.timestamp_delta(),
                key: changed.key.as_deref(),
                value: changed.value.as_deref(),
                headers: match &changed.headers {
                    None => original.headers().collect(),
                    Some(headers) => headers
                        .iter()
                        .map(|(name, value)| Header { name, value: value.as_deref() })
                        .collect(),
                },
            }),
        }
    }
}

fn size_bytes(record: &RecordParts<'_>) -> usize {
    let field = |it: Option<&[u8]>| it.map_or(0, <[u8]>::len);
    let header = |it: &Header<'_>| it.name.len() + field(it.value);
    field(record.key) + field(record.value) + record.headers.iter().map(header).sum::<usize>()
}

/// The records that are left, as they are now.
pub(crate) fn records_left<'a>(
    batch: &'a DecodedBatch,
    edit: &'a Edit,
) -> impl Iterator<Item = RecordParts<'a>> {
    batch.records().zip(&edit.0).filter_map(|(record, fate)| fate.parts(record))
}

/// The batch to store in the place of the received one: same producer, base sequence and last offset delta.
///
/// Kept records keep their deltas, except that the last one takes the final delta: kafkajs crawls over a gap at the
/// end. If nothing is left a control batch stands for it: empty batches hang kafkajs and make librdkafka err.
pub(crate) fn filtered(batch: &DecodedBatch, edit: &Edit, codec: Codec) -> Batch {
    let mut builder = BatchBuilder::rebuild(&batch.header, codec);
    let mut records = records_left(batch, edit).peekable();
    while let Some(mut record) = records.next() {
        if records.peek().is_none() {
            record.offset_delta = batch.header.last_offset_delta;
        }
        builder.push(&record);
    }
    builder.build().unwrap_or_else(|| control_batch(&batch.header, ControlType::Empty, &[]))
}

/// The offset delta under which [`filtered`] stores each record, `None` for dropped ones.
pub(crate) fn stored_deltas(batch: &DecodedBatch, edit: &Edit) -> Vec<Option<i32>> {
    let last = edit.0.iter().rposition(|it| *it != Fate::Dropped);
    batch
        .records()
        .zip(&edit.0)
        .enumerate()
        .map(|(index, (record, fate))| match fate {
            Fate::Dropped => None,
            _ if Some(index) == last => Some(batch.header.last_offset_delta),
            _ => Some(record.offset_delta()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::{
        base::{ProducerEpoch, ProducerId, TimestampMs},
        wire::record_batch::Compression,
    };

    /// A batch of an idempotent producer with values `0`, `1`, …, and a header in each record.
    fn batch(records: usize) -> DecodedBatch {
        let builder = BatchBuilder::new(TimestampMs(5), Compression::None);
        let mut builder = builder.producer(ProducerId(7), ProducerEpoch(1), 40);
        for at in 0..records {
            builder.push(&RecordParts {
                offset_delta: at as i32,
                timestamp_delta: at as i64,
                key: None,
                value: Some(at.to_string().as_bytes()),
                headers: vec![Header { name: b"own", value: None }],
            });
        }
        builder.build().unwrap().decode(usize::MAX).unwrap()
    }

    fn changed(value: &str) -> Fate {
        Fate::Changed(Box::new(Changed { key: None, value: Some(value.into()), headers: None }))
    }

    fn fate() -> impl Strategy<Value = Fate> {
        prop_oneof![Just(Fate::Kept), Just(Fate::Dropped), Just(changed("changed"))]
    }

    proptest! {
        #[test]
        fn a_filtered_batch_stands_for_all_that_was_sent(fates in vec(fate(), 1..12)) {
            let (sent, edit) = (batch(fates.len()), Edit(fates));
            let stored = filtered(&sent, &edit, Compression::Gzip.into());
            prop_assert_eq!(stored.header.base_sequence, 40);
            prop_assert_eq!(stored.header.last_offset_delta, sent.header.last_offset_delta);
            let stored = stored.decode(usize::MAX).unwrap();
            if edit.left().is_empty() {
                prop_assert!(stored.header.attributes.is_control());
                return Ok(());
            }
            let deltas: Vec<i32> = stored_deltas(&sent, &edit).into_iter().flatten().collect();
            let found: Vec<i32> = stored.records().map(|it| it.offset_delta()).collect();
            prop_assert_eq!(&found, &deltas);
            prop_assert_eq!(found.last(), Some(&sent.header.last_offset_delta));
            for (record, index) in stored.records().zip(edit.left()) {
                prop_assert_eq!(record.timestamp_delta(), index as i64);
                prop_assert_eq!(record.headers().count(), 1);
                let own = index.to_string();
                let want = if edit.0[index] == Fate::Kept { own.as_str() } else { "changed" };
                prop_assert_eq!(record.value(), Some(want.as_bytes()));
            }
        }
    }

    #[test]
    fn a_second_transform_acts_on_what_it_was_shown() {
        let mut edit = Edit(vec![Fate::Dropped, Fate::Kept, changed("first")]);
        let shown = edit.left();
        assert_eq!(shown, [1, 2]);
        let replacement = Replacement { key: None, value: Some(b"second".into()), headers: None };
        edit.apply(&shown, vec![RecordAction::Drop, RecordAction::Replace(Box::new(replacement))]);
        assert_eq!(edit.0, [Fate::Dropped, Fate::Dropped, changed("second")]);
    }

    #[test]
    fn a_second_change_keeps_the_headers_of_the_first() {
        let headers = Some(vec![(b"a".to_vec(), None)]);
        let first = Replacement { key: None, value: None, headers: headers.clone() };
        let second = Replacement { key: None, value: Some(b"v".into()), headers: None };
        let mut edit = Edit::none(1);
        edit.apply(&[0], vec![RecordAction::Replace(Box::new(first))]);
        edit.apply(&[0], vec![RecordAction::Replace(Box::new(second))]);
        let want = Changed { key: None, value: Some(b"v".into()), headers };
        assert_eq!(edit.0, [Fate::Changed(Box::new(want))]);
    }

    #[test]
    fn what_a_batch_grows_to_is_counted() {
        let sent = batch(2);
        let edit = Edit(vec![Fate::Dropped, changed("0123456789")]);
        assert_eq!(edit.new_bytes(&sent), "0123456789".len() + "own".len());
        assert_eq!(Edit::none(2).new_bytes(&sent), 0);
    }
}
