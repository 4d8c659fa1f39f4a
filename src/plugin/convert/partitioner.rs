//! The partitioner's batch in columns, and the partitions that come back.

use std::ops::Range;

use super::{field, records, wit_len};
use crate::{
    plugin::{
        bindings::partitioner::exports::klamm::plugin::partitioner::Batch, convert::Needs,
        failure::CallFailure, hook::PartitionerInput,
    },
    wire::record_batch::{DecodedBatch, RecordView},
};

/// One call's columns; those that the plugin does not need stay empty.
#[derive(Debug, Default)]
pub(in crate::plugin) struct PlaceColumns {
    keys: Column,
    values: Column,
    headers: Vec<u8>,
    header_lens: Vec<i32>,
}

#[derive(Debug, Default)]
struct Column {
    bytes: Vec<u8>,
    lens: Vec<i32>,
}

impl Column {
    /// −1 stands for null.
    fn push(&mut self, batch: &DecodedBatch, range: Option<Range<u32>>) {
        let Some(range) = range else { return self.lens.push(-1) };
        self.bytes.extend_from_slice(field(batch, &range));
        self.lens.push(wit_len(range.len()));
    }
}

impl PlaceColumns {
    pub(in crate::plugin) fn new(batch: &DecodedBatch, range: &Range<usize>, needs: Needs) -> Self {
        let mut columns = Self::default();
        for (index, record) in records(batch, range).enumerate() {
            if needs.keys {
                columns.keys.push(batch, record.key_range());
            }
            if needs.values {
                columns.values.push(batch, record.value_range());
            }
            if needs.headers {
                columns.push_headers(index, record);
            }
        }
        columns
    }

    fn push_headers(&mut self, index: usize, record: RecordView<'_>) {
        for header in record.headers() {
            self.headers.extend_from_slice(header.name);
            self.headers.extend_from_slice(header.value.unwrap_or_default());
            let value_len = header.value.map_or(-1, |value| wit_len(value.len()));
            self.header_lens.extend([wit_len(index), wit_len(header.name.len()), value_len]);
        }
    }

    /// The call's argument. Sequence numbers go on from part to part of a batch.
    pub(in crate::plugin) fn batch<'a>(
        &'a self,
        input: &'a PartitionerInput,
        range: &Range<usize>,
    ) -> Batch<'a> {
        Batch {
            topic: input.topic.as_str(),
            partitions: input.partitions,
            count: range.len() as u32,
            keys: &self.keys.bytes,
            key_lens: &self.keys.lens,
            values: &self.values.bytes,
            value_lens: &self.values.lens,
            headers: &self.headers,
            header_lens: &self.header_lens,
            sequence: input.sequence.wrapping_add(range.start as u32),
            seed: input.seed,
        }
    }
}

/// One partition for each record, each in range.
pub(in crate::plugin) fn targets(
    answer: Result<Vec<u32>, String>,
    count: usize,
    partitions: u32,
) -> Result<Vec<u32>, CallFailure> {
    let targets = answer.map_err(super::error_answer)?;
    if targets.len() != count {
        return Err(CallFailure::malformed(format!(
            "returned {} partitions for {count} records",
            targets.len()
        )));
    }
    match targets.iter().find(|&&target| target >= partitions) {
        Some(target) => Err(CallFailure::malformed(format!(
            "returned partition {target}, the topic has {partitions}"
        ))),
        None => Ok(targets),
    }
}
