//! What transforms made of a batch, record by record. Pure.

use serde::{Deserialize, Serialize};

use crate::{
    plugin::hook::{RecordAction, Replacement},
    wire::record_batch::{
        Batch, BatchBuilder, Compression, ControlType, DecodedBatch, Header, RecordParts,
        RecordView, control_batch,
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
    Changed(Changed),
}

/// The fates of a batch's records, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
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

    /// Bytes of the records that are left, uncompressed and less what frames them.
    pub(crate) fn size_bytes(&self, batch: &DecodedBatch) -> usize {
        if self.is_none() {
            return batch.data.len();
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
                    *fate = Fate::Changed(fate.merge(replacement));
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
pub(crate) fn filtered(batch: &DecodedBatch, edit: &Edit, compression: Compression) -> Batch {
    let mut builder = BatchBuilder::rebuild(&batch.header, compression);
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
