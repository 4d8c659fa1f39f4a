//! The only conversions between the WIT's flat lists and the broker's words.
//!
//! Everything that comes back from a guest is checked here: every length, every index, every sum. What does not
//! add up is a [`CallFailure`] of kind `malformed`.

mod assignor;
mod partitioner;
mod transform;

use std::ops::Range;

use super::{
    bindings,
    failure::{CallFailure, FailureKind, cut},
    limits::{CALL_BYTES_MAX, CALL_RECORDS_MAX},
};
use crate::wire::record_batch::DecodedBatch;

pub(super) use assignor::{assignments, group};
pub(super) use partitioner::{PlaceColumns, targets};
pub(super) use transform::{ProcessColumns, Processed, processed};

/// What a plugin says of itself, in the broker's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Description {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) summary: String,
    pub(super) needs: Needs,
    pub(super) key_pure: bool,
    /// Defaults as a JSON object.
    pub(super) settings: String,
}

/// The columns that a plugin reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of the WIT, one a column")]
pub(super) struct Needs {
    pub(super) keys: bool,
    pub(super) values: bool,
    pub(super) headers: bool,
    pub(super) timestamps: bool,
}

/// Cuts what people are shown, and checks what machines read.
pub(super) fn description(it: bindings::Description) -> Result<Description, CallFailure> {
    let settings: serde_json::Value = serde_json::from_str(&it.settings)
        .map_err(|error| CallFailure::malformed(format!("its settings are no JSON: {error}")))?;
    if !settings.is_object() {
        return Err(CallFailure::malformed("its settings are no JSON object"));
    }
    if it.version.is_empty() {
        return Err(CallFailure::malformed("describes itself without a version"));
    }
    Ok(Description {
        name: cut(&it.name, 128),
        version: cut(&it.version, 64),
        summary: cut(&it.summary, 512),
        needs: Needs {
            keys: it.needs.contains(bindings::Needs::KEYS),
            values: it.needs.contains(bindings::Needs::VALUES),
            headers: it.needs.contains(bindings::Needs::HEADERS),
            timestamps: it.needs.contains(bindings::Needs::TIMESTAMPS),
        },
        key_pure: it.key_pure,
        settings: it.settings,
    })
}

/// Cuts a batch into calls: at most 1,000 records or 256 KiB each, one larger record alone.
pub(super) fn calls(batch: &DecodedBatch) -> Vec<Range<usize>> {
    let mut calls = Vec::new();
    let (mut start, mut bytes) = (0, 0_usize);
    for (at, record) in batch.records().enumerate() {
        let size = record_bytes(&record);
        let full = at - start == CALL_RECORDS_MAX || bytes.saturating_add(size) > CALL_BYTES_MAX;
        if full && at > start {
            calls.push(start..at);
            (start, bytes) = (at, 0);
        }
        bytes = bytes.saturating_add(size);
    }
    if start < batch.len() {
        calls.push(start..batch.len());
    }
    calls
}

fn record_bytes(record: &crate::wire::record_batch::RecordView<'_>) -> usize {
    let field = |range: Option<Range<u32>>| range.map_or(0, |it| it.len());
    field(record.key_range()) + field(record.value_range()) + record.span.headers.len()
}

/// The bytes of a field that the decoder has checked to lie inside the data.
fn field<'a>(batch: &'a DecodedBatch, range: &Range<u32>) -> &'a [u8] {
    batch.data.get(range.start as usize..range.end as usize).unwrap_or_default()
}

/// A length as the WIT has it. The host's columns are at most 256 KiB or one record.
fn wit_len(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(i32::MAX)
}

/// `err` of a guest always means failure.
fn error_answer(text: String) -> CallFailure {
    CallFailure::new(FailureKind::Error, format!("answered an error: {text}"))
}

/// Records `range` of a batch.
fn records<'a>(
    batch: &'a DecodedBatch,
    range: &Range<usize>,
) -> impl Iterator<Item = crate::wire::record_batch::RecordView<'a>> {
    range.clone().filter_map(|index| batch.record(index))
}

#[cfg(test)]
mod tests;
